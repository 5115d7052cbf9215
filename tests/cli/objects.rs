//! Files of several objects: which object each command takes, and what it says of the others.

use std::path::{Path, PathBuf};

use kintsugi::export::{Signature, read_signed};
use serde_json::Value;

use super::{
    back::{TABLE, VASE, boxes},
    support::{
        program::{folder, kintsugi, outcome, text},
        results::{checked_report, read_report},
    },
};

/// A file of a table and a vase that hangs above it, and one of the vase alone.
fn files(home: &Path) -> [PathBuf; 2] {
    let [set, vase] = ["set.obj", "vase.obj"].map(|name| home.join(name));
    boxes(&set, &[TABLE, VASE]);
    boxes(&vase, &[VASE]);
    [set, vase]
}

/// Runs to a good end on the cores; stderr.
#[track_caller]
fn said(words: &[&str]) -> String {
    let (code, _, err) = outcome(&kintsugi(words).output().unwrap());
    assert_eq!(code, 0, "{words:?}: {err}");
    err
}

fn json(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn signature(picture: &Path) -> Signature {
    read_signed(&std::fs::read(picture).unwrap()).unwrap().signature.unwrap()
}

/// What `probe`, `sheet` and `compare` say and draw of a file of two objects is of the pieces that `fracture` writes: the same
/// object of the file, the same mesh, the same numbers of pieces, to which the report gives name and origin.
#[test]
fn probe_sheet_and_compare_take_the_object_whose_pieces_fracture_names() {
    let home = folder("objects-taken");
    let [set, _] = files(&home).map(|file| text(&file));
    let [out, probes, table, picture, sheet] =
        ["out", "probes.json", "table.json", "picture.png", "sheet.png"].map(|name| home.join(name));
    let shared = ["--level", "5", "--seeds", "6", "--pattern", "uniform", "--compute", "cpu"];
    let hit = ["--impact", "1.5,2.4,0.9"];
    let by = |command: &str, more: &[&str]| said(&[&[command, &set][..], &shared, &hit, more].concat());

    by("fracture", &["--prefix", "shard", "--format", "glb", "--out", &text(&out)]);
    let report = checked_report(&out);
    let objects: Vec<&Value> = list(&report, "objects").iter().map(|object| &object["name"]).collect();
    assert_eq!(objects, ["Vase", "Table"]);
    let (_, pieces) = list(&report, "pieces").split_last().unwrap();
    assert!(pieces.len() > 3 && report["objects"][0]["pieces"] == pieces.len());
    for (id, piece) in pieces.iter().enumerate() {
        assert_eq!((&piece["name"], &piece["object"]), (&format!("shard_{id:03}").into(), &"Vase".into()));
    }

    // The middle of each piece, which is convex, is a voxel of that piece and of no other.
    let middle = |piece: &Value| {
        let numbers: Vec<String> = list(piece, "centre").iter().map(ToString::to_string).collect();
        format!("--at={}", numbers.join(","))
    };
    let places: Vec<String> = pieces.iter().map(middle).collect();
    let mut more: Vec<&str> = places.iter().map(String::as_str).collect();
    let place = text(&probes);
    more.extend(["--no-labels", "--out", &place]);
    let line = "of its 2 objects Vase is hit and taken";
    assert!(by("probe", &more).contains(line));
    let probes = json(&probes);
    assert_eq!(probes.as_array().map(Vec::len), Some(pieces.len()));
    for (probe, piece) in probes.as_array().unwrap().iter().zip(pieces) {
        assert_eq!((&probe["piece"], &probe["cell"]), (&piece["id"], &piece["cell"]), "{piece}");
    }

    let more = ["--methods", "octree", "--repeat", "1", "--size", "160x120"];
    let places = ["--json", &text(&table), "--picture", &text(&picture)];
    assert!(by("compare", &[&more[..], &places].concat()).contains(line));
    assert_eq!(json(&table)["methods"][0]["pieces"], pieces.len());
    let more = ["--vary", "rng=1", "--size", "96x80", "--out", &text(&sheet)];
    assert!(by("sheet", &more).contains(line));
    for picture in [&picture, &sheet] {
        let signature = signature(picture);
        assert_eq!(report["provenance"]["mesh_sha256"], *signature.provenance.mesh_sha256.unwrap());
        let scene = signature.scene;
        assert!(scene.contains("objects = \"touching\"") && scene.contains("object = 1"), "{scene}");
    }
    // An edge of a voxel is one of that object, of 1 m; the file, of 4 m, would need level 6.
    let words = ["sheet", &set, "--voxel-size", "0.1m", "--vary", "rng=1", "--compute", "cpu", "--out"];
    let place = text(&sheet);
    said(&[&words[..], &[place.as_str()], &hit].concat());
    let scene = signature(&sheet).scene;
    assert!(scene.contains("\nlevel = 4\n"), "{scene}");
    // They write no pieces, so that there is nothing to name.
    for command in ["probe", "sheet", "compare"] {
        let (code, _, err) = outcome(&kintsugi([command, &set, "--prefix", "shard"]).output().unwrap());
        assert!(code == 2 && err.contains("--prefix"), "{command}: {code} {err}");
    }
}

/// The stress of one body is that of the object that is hit, as if the file had no other; cells that hang on nothing
/// are left out only where all objects are asked for as one.
#[test]
fn stress_is_of_the_object_that_the_blow_hits() {
    let home = folder("objects-stress");
    let [set, vase] = files(&home).map(|file| text(&file));
    let stress = |name: &str, file: &str, more: &[&str]| {
        let out = home.join(name);
        let (place, fixed) = (text(&out), ["--level", "5", "--cells", "4", "--out"]);
        let err = said(&[&["stress", file][..], &fixed, &[place.as_str()], more].concat());
        (read_report(&out), err)
    };
    let blow = ["--blow", "1.5,2.4,0.9", "--force", "50", "--held=-9,-9,-9,9,1.7,9"];
    let ((own, err), (alone, _)) = (stress("own", &set, &blow), stress("alone", &vase, &blow));
    let line = "of its 2 objects Vase is hit and taken";
    assert!(
        err.contains(line) && list(&own, "warnings")[0].as_str().unwrap().starts_with(line),
        "{err} {own}"
    );
    for figure in ["cells", "cell", "at", "cells_left_out"] {
        assert_eq!(own[figure], alone[figure], "{figure}");
    }
    let tension = |report: &Value| report["greatest_tension"].as_f64().unwrap();
    assert!((tension(&own) / tension(&alone) - 1.0).abs() < 1e-9, "{own} {alone}");
    assert_eq!(own["cells_left_out"], 0);
    // The axis along -z through the middle of the file passes between both; the table is nearer to where it begins. A cell of
    // its upper side, whose centre `at` is, reaches out of the table, but not to the vase.
    let (table, err) = stress("table", &set, &[]);
    assert!(err.contains("of its 2 objects Table is hit") && table["at"][1].as_f64().unwrap() < 1.5, "{err}");
    let (together, err) = stress("together", &set, &["--objects", "together"]);
    assert!(
        !err.contains("of its 2 objects") && together["cells_left_out"].as_u64().unwrap() > 0,
        "{err} {together}"
    );
}

/// The library takes a file as one object, and its warnings say of how many.
#[test]
fn an_opened_object_says_of_how_many_it_is() {
    let [set, vase] = files(&folder("objects-opened"));
    let told = |file: &Path| kintsugi::Object::open(file, 4).unwrap().warnings.clone();
    let of_both = told(&set);
    assert!(of_both.len() == 1 && of_both[0].starts_with("its 2 objects (Table, Vase)"), "{of_both:?}");
    assert!(told(&vase).is_empty());
}

/// The page of a document says, as stderr does, how many objects became the mesh that it was made with.
#[test]
fn paper_says_how_many_objects_its_mesh_joins() {
    let home = folder("objects-paper");
    let [set, vase] = files(&home).map(|file| text(&file));
    let line = "its 2 objects (Table, Vase), which do not touch, are joined to one";
    for (mesh, count) in [(&set, 1), (&vase, 0)] {
        let out = home.join(format!("papers-{count}"));
        let words =
            ["paper", "2016", "section-3.2", "--level", "4", "--compute", "cpu", "--mesh", mesh, "--out"];
        let err = said(&[&words[..], &[text(&out).as_str()]].concat());
        let notes = json(&out.join("papers.json"))["entries"][0]["notes"].to_string();
        assert_eq!([&err, &notes].map(|told| told.matches(line).count()), [count; 2], "{err} {notes}");
    }
}

/// Commands that take a file as one object say on stderr and in their results how many objects became one.
#[test]
fn bench_sweep_and_dataset_say_how_many_objects_are_joined() {
    let home = folder("objects-joined");
    let [set, vase] = files(&home).map(|file| text(&file));
    let line = "its 2 objects (Table, Vase), which do not touch, are joined to one";
    let says = |value: &Value| {
        value.as_array().unwrap().iter().any(|warning| warning.as_str().unwrap().starts_with(line))
    };

    let file = home.join("bench.json");
    let fixed = ["--repeat", "1", "--only", "fracture", "--compute", "cpu", "--json", &text(&file)];
    let bench = |of: &str, more: &[&str]| said(&[&["bench", of][..], &fixed, more].concat());
    assert!(bench(&set, &["--level", "4"]).contains(line));
    let results = json(&file);
    assert!(says(&results["input"]["warnings"]) && results["input"]["triangles"] == 24, "{results}");
    assert!(!bench(&vase, &["--level", "4"]).contains("are joined"));
    // A scene whose body is parted has a measurement for each object.
    let scene = home.join("set.toml");
    let body = "[[body]]\nfile = \"set.obj\"\nlevel = 4\nobjects = \"touching\"\n";
    std::fs::write(&scene, format!("name = \"set\"\n{body}")).unwrap();
    assert!(!bench(&text(&scene), &[]).contains("are joined"));
    let results = json(&file);
    let triangles = results.as_array().unwrap().iter().map(|result| &result["input"]["triangles"]);
    assert_eq!(triangles.collect::<Vec<_>>(), [12, 12]);

    let jobs = "meshes = ['set.obj', 'vase.obj']\nlevels = [5]\n[fracture]\nseeds = 6\n";
    for (command, more, options) in [
        ("sweep", "", &["--keep", "report"][..]),
        ("dataset", "[dataset]\nbreaks = 1\npoints = 20\n", &[][..]),
    ] {
        let (file, out) = (home.join(format!("{command}.toml")), home.join(command));
        std::fs::write(&file, format!("{jobs}{more}")).unwrap();
        let words = [command, &text(&file), "--out", &text(&out), "--compute", "cpu"];
        let err = said(&[&words[..], options].concat());
        assert_eq!(err.matches(line).count(), 1, "{command}: {err}");
        let mut table = csv::Reader::from_path(out.join("table.csv")).unwrap();
        let at = table.headers().unwrap().iter().position(|name| name == "warnings").unwrap();
        let cells: Vec<String> = table.records().map(|record| record.unwrap()[at].to_owned()).collect();
        assert!(says(&serde_json::from_str(&cells[0]).unwrap()) && cells[1].is_empty(), "{cells:?}");
    }
    assert!(says(&read_report(&home.join("sweep/breaks/000000"))["input"]["warnings"]));
}
