//! Levels 11 and 12, which are for the processor's cores: a thin object, so that a test takes seconds.

use std::{collections::BTreeSet, path::Path};

use super::support::{
    program::{finish, folder, kintsugi, outcome, run, text},
    results::{checked_report, read_npz},
};

/// A rod from one corner of the grid to the opposite one: every bit of the coordinates, few voxels.
fn rod(folder: &Path) -> String {
    let mut lines = String::from("OFF 8 6 0\n");
    for i in 0..8 {
        let side = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
        let (along, u, v) = (side(0), side(1) * 0.003, side(2) * 0.002);
        lines += &format!("{} {} {}\n", along + v, 0.9 * along + u - v, 0.95 * along - u);
    }
    lines += "4 0 4 6 2\n4 1 3 7 5\n4 0 1 5 4\n4 2 6 7 3\n4 0 2 3 1\n4 4 5 7 6\n";
    let path = folder.join("rod.off");
    std::fs::write(&path, lines).unwrap();
    text(&path)
}

/// What the report checks (copies of every voxel, space, masses, dust, one island a piece, sound octrees) is found on
/// the processor by other code than breaks.
#[test]
fn the_finest_levels_break_and_every_check_holds() {
    let home = folder("fine");
    let mesh = rod(&home);
    // The last two have the lowest transition level of their level: leaves eight levels below it.
    for (level, surface, transition, least) in [
        ("11", "planar", None, 10),
        ("12", "planar", None, 10),
        ("12", "dusty", None, 10),
        ("11", "dusty", None, 10),
        ("12", "rough", Some("4"), 10),
        ("11", "rough", Some("3"), 4),
    ] {
        let out = home.join(format!("{surface}-{level}"));
        let arguments =
            ["fracture", &mesh, "--compute", "cpu", "--level", level, "--surface", surface, "--seeds", "60"];
        let pattern = ["--pattern", "uniform", "--out", &text(&out)];
        let transition = transition.into_iter().flat_map(|level| ["--transition-level", level]);
        run(arguments.into_iter().chain(pattern).chain(transition)).expect("no adapter is needed");
        let report = checked_report(&out);
        let pieces = report["counts"]["pieces"].as_u64().unwrap();
        println!("level {level}, {surface}: {pieces} pieces, {}", report["counts"]);
        assert!(pieces >= least, "{pieces} pieces");
        assert_eq!(report["dust_voxels"].as_u64().unwrap() > 0, surface == "dusty");

        let arrays = read_npz(&out.join("voxels.npz"));
        let (source, coords) = (arrays["source"].rows::<3>(), arrays["coords"].rows::<3>());
        let side = 1 << level.parse::<u32>().unwrap();
        for k in 0..3 {
            let (low, high) = (source.iter().map(|c| c[k]).min(), source.iter().map(|c| c[k]).max());
            assert!(
                low < Some(side / 8) && high > Some(side * 7 / 8) && high < Some(side),
                "{low:?} {high:?}"
            );
        }
        let copies: BTreeSet<[i32; 3]> = coords.iter().copied().collect();
        let kept = source.iter().filter(|cell| copies.contains(*cell)).count();
        assert!(kept == source.len() || surface == "dusty", "{kept} of {}", source.len());
        assert_eq!(arrays["piece"].ints().len(), coords.len());
        assert!(coords.len() > copies.len(), "voxels on a crack have a copy on each side");
    }
}

#[test]
fn the_finest_levels_are_drawn_and_play() {
    let home = folder("fine-drawn");
    let mesh = rod(&home);
    let picture = home.join("rod.png");
    for more in
        [&["--explode", "0.2"][..], &["--seams"], &["--seams", "--surface", "rough"], &["--show", "fbs"]]
    {
        let arguments = [
            "render",
            &mesh,
            "--compute",
            "cpu",
            "--level",
            "12",
            "--size",
            "96x64",
            "--out",
            &text(&picture),
        ];
        run(arguments.iter().chain(more)).expect("no adapter is needed");
        let image = image::open(&picture).unwrap().to_rgb8();
        let first = *image.get_pixel(0, 0);
        let drawn =
            image.pixels().filter(|p| p.0.iter().zip(first.0).any(|(a, b)| a.abs_diff(b) > 24)).count();
        assert!(drawn > 60, "{more:?}: {drawn} pixels of the rod");
    }
    let scene = home.join("falls.toml");
    let body =
        format!("[[body]]\nfile = {mesh:?}\nlevel = 12\nphysics_level = 7\nfracture = {{ seeds = 12 }}\n");
    let blow =
        "[[event]]\nkind = \"impact\"\ntime = 0.02\npoint = [0.0, 0.5, 0.0]\ndirection = [0.0, -1.0, 0.0]\n";
    std::fs::write(&scene, format!("{body}{blow}")).unwrap();
    let out = text(&home.join("played"));
    let arguments = ["simulate", &text(&scene), "--compute", "cpu", "--seconds", "0.05", "--out", &out];
    finish(&mut kintsugi(arguments)).expect("no adapter is needed");
}

#[test]
fn the_finest_levels_are_refused_for_passes_in_one_line() {
    let home = folder("fine-refused");
    let mesh = rod(&home);
    let (scene, picture) = (home.join("fine.toml"), text(&home.join("no.png")));
    std::fs::write(&scene, format!("[[body]]\nfile = {mesh:?}\nlevel = 11\n")).unwrap();
    let (scene, out) = (text(&scene), text(&home.join("out")));
    for arguments in [
        &["fracture", &mesh, "--level", "11", "--out", &out][..],
        &["render", &mesh, "--level", "12", "--out", &picture],
        &["bench", &mesh, "--level", "8,12"],
        &["simulate", &scene, "--seconds", "0.01", "--out", &out],
        &["render", &scene, "--out", &picture],
    ] {
        let (code, _, err) =
            outcome(&kintsugi(arguments.iter().chain(&["--compute", "gpu"])).output().unwrap());
        if super::support::program::lacks_adapter(code, &err) {
            continue;
        }
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert_eq!(err.trim().lines().count(), 1, "{err}");
        assert!(err.contains("--compute cpu") && err.contains("level 10 or lower"), "{err}");
    }
    for level in ["0", "13"] {
        let arguments = ["fracture", &mesh, "--compute", "cpu", "--level", level, "--out", &out];
        let (code, _, err) = outcome(&kintsugi(arguments).output().unwrap());
        assert!(code == 2 && err.contains("12"), "{code} {err}");
    }
    // A transition voxel has no room for leaves nine levels below it.
    let arguments =
        ["fracture", &mesh, "--compute", "cpu", "--level", "12", "--surface", "rough", "--out", &out];
    let (code, _, err) =
        outcome(&kintsugi(arguments.iter().chain(&["--transition-level", "3"])).output().unwrap());
    assert!(code == 2 && err.contains("transition level 3 is outside 4"), "{code} {err}");
}
