//! Where a body is weak whatever loads it: `kintsugi stress --modes`, breaks that follow it, and pictures in its colours.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::read_npz,
};

/// Square sections along x, each from one place to the next with half a side, as one closed surface.
fn stepped_bar(sections: &[[f64; 3]]) -> String {
    let (mut out, mut rings) = (String::new(), 0);
    for [from, to, half] in sections {
        for x in [from, to] {
            for [y, z] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
                out += &format!("v {x} {} {}\n", y * half, z * half);
            }
            rings += 1;
        }
    }
    // Corners count from 1 and go round once about x, seen from its far end.
    let face =
        |corners: [usize; 4]| format!("f {} {} {} {}\n", corners[0], corners[1], corners[2], corners[3]);
    for ring in 0..rings - 1 {
        for k in 0..4 {
            let (here, next) = (4 * ring + 1, 4 * ring + 5);
            out += &face([here + k, here + (k + 1) % 4, next + (k + 1) % 4, next + k]);
        }
    }
    let last = 4 * (rings - 1) + 1;
    out + &face([4, 3, 2, 1]) + &face([last, last + 1, last + 2, last + 3])
}

fn report(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("report.json")).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} in {value}"))
}

/// Two lumps of 3 m with a neck of 2 m between them, a quarter as thick, as a file in a folder.
fn dumbbell(home: &Path) -> PathBuf {
    let mesh = home.join("dumbbell.obj");
    std::fs::write(&mesh, stepped_bar(&[[0.0, 3.0, 1.6], [3.0, 5.0, 0.4], [5.0, 8.0, 1.6]])).unwrap();
    mesh
}

#[test]
fn the_neck_of_a_dumbbell_is_where_it_is_weak() {
    let home = folder("stress-modes");
    let mesh = dumbbell(&home);
    let solve = |name: &str| {
        let out = home.join(name);
        let fixed = ["--level", "6", "--cells", "5", "--modes", "4", "--parts", "16"];
        let said = run([&["stress", &text(&mesh), "--out", &text(&out)][..], &fixed].concat())?;
        Some((said, report(&out), read_npz(&out.join("stress.npz"))))
    };
    let Some((said, report, arrays)) = solve("one") else { return };
    let found = &report["fracture_modes"];
    let (parts, bonds, modes) = (list(found, "parts"), list(found, "bonds"), list(found, "modes"));
    assert_eq!((parts.len(), modes.len()), (16, 4));
    let cells: u64 = parts.iter().map(|part| part["cells"].as_u64().unwrap()).sum();
    assert_eq!(Some(cells), report["cells"].as_u64());
    assert_eq!(found["strength"], 3e6, "concrete");

    let weakest = list(found, "weakest");
    assert!(!weakest.is_empty(), "{found}");
    for bond in weakest {
        let centre = &bonds[bond.as_u64().unwrap() as usize]["centre"];
        assert!((2.9..5.1).contains(&centre[0].as_f64().unwrap()), "{centre}");
    }
    assert!(said.contains("4 modes of 16 parts") && said.contains("weakest at "), "{said}");

    let energies: Vec<f64> = modes.iter().map(|mode| mode["energy"].as_f64().unwrap()).collect();
    assert!(energies.is_sorted() && energies[0] > 0.0, "{energies:?}");
    for mode in modes {
        assert_eq!((list(mode, "motions").len(), list(mode, "jumps").len()), (parts.len(), bonds.len()));
    }
    let weakness: Vec<f64> = bonds.iter().map(|bond| bond["weakness"].as_f64().unwrap()).collect();
    assert!(weakness.iter().any(|weakness| *weakness > 1.0 - 1e-9), "{weakness:?}");
    assert!(weakness.iter().all(|weakness| (0.0..=1.0).contains(weakness)));

    let count = cells as usize;
    assert_eq!((&arrays["part"].shape, arrays["part"].descr.as_str()), (&vec![count], "<u4"));
    let of_cells = arrays["weakness"].floats();
    assert!(of_cells.len() == count && of_cells.iter().any(|weakness| *weakness > 1.0 - 1e-6));

    let (_, again, others) = solve("two").unwrap();
    assert_eq!(found, &again["fracture_modes"], "the same input gives the same numbers");
    assert!(arrays.iter().all(|(name, array)| array.bytes == others[name].bytes));
}

#[test]
fn a_cube_is_told_to_have_no_weakest_place() {
    let out = folder("stress-modes-cube");
    let asked = ["--level", "5", "--cells", "4", "--modes", "4", "--parts", "27"];
    let Some(said) = run([&["stress", "builtin:box", "--out", &text(&out)][..], &asked].concat()) else {
        return;
    };
    assert!(said.contains("no place is clearly the weakest"), "{said}");
    assert_eq!(list(&report(&out)["fracture_modes"], "weakest").len(), 0);
}

/// A report names all that was asked for, and `repeat` solves it again.
#[test]
fn a_report_of_stress_is_repeated_with_all_that_was_asked_for() {
    let out = folder("stress-repeat");
    let asked =
        ["--level", "4", "--cells", "3", "--modes", "3", "--parts", "8", "--acceleration", "0,-9.81,1"];
    if run([&["stress", "builtin:box", "--out", &text(&out)][..], &asked].concat()).is_none() {
        return;
    }
    let file = out.join("report.json");
    let whole = report(&out);
    let of = &whole["asked"];
    assert_eq!([&of["level"], &of["cells"], &of["modes"], &of["parts"]], [4, 3, 3, 8]);
    assert_eq!((&of["objects"], &of["units"]), (&"touching".into(), &Value::Null));
    let again = ["repeat".to_owned(), text(&file)];
    assert_eq!(run(&again).unwrap(), "the same\n");
    // Planted error: a command that asks for another load.
    let other = std::fs::read_to_string(&file).unwrap().replace("\"0,-9.81,1\"", "\"0,-9.81,2\"");
    std::fs::write(&file, other).unwrap();
    let (code, said, _) = outcome(&kintsugi(&again).output().unwrap());
    assert!(code == 1 && said.contains("stress.npz"), "{code} {said}");
}

#[test]
fn files_have_no_modes_unless_they_are_asked_for() {
    let out = folder("stress-plain");
    let asked = ["stress", "builtin:box", "--level", "4", "--cells", "3", "--out", &text(&out)];
    let Some(_) = run(asked) else { return };
    assert!(report(&out).get("fracture_modes").is_none());
    let arrays = read_npz(&out.join("stress.npz"));
    assert!(!arrays.contains_key("part") && !arrays.contains_key("weakness"));
}

#[test]
fn numbers_of_modes_and_parts_are_checked() {
    let out = text(&folder("stress-modes-wrong"));
    for (wrong, says) in [
        (&["--modes", "0"][..], "--modes"),
        (&["--modes", "25"], "--modes"),
        (&["--modes", "3", "--parts", "1"], "--parts"),
        (&["--modes", "3", "--parts", "129"], "--parts"),
        (&["--parts", "8"], "--modes"),
    ] {
        let asked = [&["stress", "builtin:box", "--level", "4", "--out", &out][..], wrong].concat();
        let (code, said, err) = outcome(&kintsugi(asked).output().unwrap());
        assert!(
            code == 2 && said.is_empty() && err.contains(says) && err.lines().count() == 1,
            "{wrong:?}: {err}"
        );
    }
}

#[test]
fn a_break_that_follows_the_weakness_has_twice_the_seeds_and_the_same_bytes_again() {
    let home = folder("follow-weakness");
    let mesh = text(&dumbbell(&home));
    let broken = |name: &str, more: &[&str]| {
        let out = home.join(name);
        let fixed = ["fracture", &mesh, "--level", "5", "--pattern", "uniform", "--seeds", "12"];
        let said = run([&fixed[..], &["--out", &text(&out)], more].concat())?;
        let seeds = report(&out)["parameters"]["seeds"].as_u64();
        Some((said, seeds, std::fs::read(out.join("voxels.npz")).unwrap()))
    };
    let Some((plain, own, _)) = broken("plain", &[]) else { return };
    assert!(own == Some(12) && !plain.contains("weak places"), "{plain}");
    let (said, seeds, bytes) = broken("one", &["--follow", "weakness"]).unwrap();
    assert!(seeds == Some(24) && said.contains("12 seeds more at "), "{said}");
    let (.., again) = broken("two", &["--follow", "weakness"]).unwrap();
    assert!(bytes == again, "the same input gives the same bytes");
}

#[test]
fn what_cannot_follow_the_weakness_is_refused_in_a_line() {
    let home = folder("follow-wrong");
    let (mesh, out) = (text(&dumbbell(&home)), text(&home.join("out")));
    let scene = home.join("scene.toml");
    let body = "[[body]]\nfile = \"dumbbell.obj\"\nlevel = 5\nfollow = \"weakness\"\nfracture = { method = \"parts\" }\n";
    std::fs::write(&scene, body).unwrap();
    let scene = text(&scene);
    for (wrong, says) in [
        (vec!["fracture", &mesh, "--follow", "stress"], "--follow"),
        (vec!["fracture", &mesh, "--follow", "weakness", "--method", "parts"], "--follow adds seeds"),
        (vec!["fracture", &mesh, "--follow", "weakness", "--seeds-file", "a.txt"], "--seeds-file"),
        (vec!["fracture", &scene, "--follow", "weakness"], "--follow is for meshes"),
        (vec!["fracture", &scene], "follow"),
    ] {
        let (code, said, err) = outcome(&kintsugi([&wrong[..], &["--out", &out]].concat()).output().unwrap());
        assert!(
            code == 2 && said.is_empty() && err.contains(says) && err.lines().count() == 1,
            "{wrong:?}: {err}"
        );
    }
}

/// Where the colours were those of whole bodies, the dumbbell would have one colour, and the slice none.
#[test]
fn pictures_and_slices_have_the_colours_of_the_weakness() {
    let home = folder("color-weakness");
    let mesh = text(&dumbbell(&home));
    let legend = home.join("legend.svg");
    for (colors, has_weakest) in
        [(&["--color-by", "weakness"][..], true), (&["--slice", "z50%:weakness"], false)]
    {
        let (picture, told) = (text(&home.join("picture.png")), text(&legend));
        let fixed = ["render", &mesh, "--level", "6", "--size", "160x120", "--out", &picture];
        let Some(_) = run([&fixed[..], &["--legend-file", &told], colors].concat()) else { return };
        let svg = std::fs::read_to_string(&legend).unwrap();
        assert!(svg.contains(">Weakness<") && svg.contains(">0<"), "{svg}");
        assert!(svg.contains(">1<") || !has_weakest, "{svg}");
        std::fs::remove_file(&legend).unwrap();
    }
}
