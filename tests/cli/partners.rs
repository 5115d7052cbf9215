//! Correspondences of a data set: each point on a crack knows the nearest point of the piece beyond.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::{Array, read_npz},
};

const JOBS: &str = "meshes = ['builtin:vase']\nlevels = [5]\n[fracture]\nseeds = 7\n[dataset]\nname = 'small'\n\
                    breaks = 1\npoints = 90\n";

/// The set of [`JOBS`] and these lines.
fn made(home: &Path, name: &str, more: &str) -> PathBuf {
    let (jobs, out) = (home.join(format!("{name}.toml")), home.join(name));
    fs::write(&jobs, format!("{JOBS}{more}")).unwrap();
    run(["dataset", &text(&jobs), "--compute", "cpu", "--out", &text(&out)]).unwrap();
    out
}

/// Arrays of the one break, and their names in the order of the file.
fn arrays(out: &Path) -> (BTreeMap<String, Array>, Vec<String>) {
    let path = out.join("arrays/small/vase/fractured_0/pieces.npz");
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    let count = archive.len();
    let mut name = |i: usize| {
        let entry = archive.by_index(i).unwrap();
        entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned()
    };
    let names = (0..count).map(&mut name).collect();
    (read_npz(&path), names)
}

#[test]
fn a_point_on_a_crack_has_the_nearest_of_the_piece_beyond_and_other_arrays_stay_as_they_are() {
    let home = folder("dataset-partners");
    let matched = made(&home, "matched", "keep = ['points', 'meshes', 'correspondences']\n");
    let (ours, names) = arrays(&matched);
    let (theirs, before) = arrays(&made(&home, "plain", ""));
    // What a set without them has, in its order, and so with its digest, and both arrays after that.
    let (shared, last) = names.split_at(before.len());
    assert_eq!((shared, last), (&before[..], &["partner".to_owned(), "partner_distance".to_owned()][..]));
    for name in &before {
        assert!(ours[name].bytes == theirs[name].bytes, "{name} differs");
    }

    let points: Vec<[f64; 3]> = ours["points"].floats().chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
    let (start, beyond) = (ours["point_start"].ints(), ours["beyond"].ints());
    let (partner, distance) = (ours["partner"].ints(), ours["partner_distance"].floats());
    assert_eq!([partner.len(), distance.len()], [points.len(); 2]);
    assert_eq!(ours["partner_distance"].descr, "<f4");
    let mut apart = Vec::new();
    for (k, point) in points.iter().enumerate() {
        let Ok(other) = usize::try_from(beyond[k]) else {
            assert_eq!((partner[k], distance[k]), (-1, -1.0), "point {k} has no piece beyond");
            continue;
        };
        let squared =
            |row: usize| -> f64 { points[row].iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum() };
        let rows = start[other] as usize..start[other + 1] as usize;
        let wanted = rows.min_by(|a, b| squared(*a).total_cmp(&squared(*b))).unwrap();
        assert_eq!(partner[k] as usize, wanted, "point {k}");
        assert!((distance[k] - squared(wanted).sqrt()).abs() < 1e-6 * (1.0 + distance[k]), "point {k}");
        apart.push(distance[k]);
    }
    apart.sort_by(f64::total_cmp);
    // Both sides of a crack are at one place before the break: partners lie no farther apart than points of one piece.
    let (low, high) = (ours["bounds"].floats()[1], ours["bounds"].floats()[4]);
    assert!(apart.len() > 50 && apart[apart.len() / 2] < 0.3 * (high - low), "{apart:?}");

    // The recipe makes them again, and its digest is of them, too.
    let recipe = text(&matched.join("recipe.json"));
    let words = ["dataset", &recipe, "--verify", "1", "--compute", "cpu"];
    let (code, out, err) = outcome(&kintsugi(words).output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("1 of 1 breaks have the recipe's hash"), "{out}");
    let [ours, theirs] =
        [&matched, &home.join("plain")].map(|out| fs::read(out.join("recipe.json")).unwrap());
    assert_ne!(ours, theirs);
}
