//! Methods that cut meshes, as a user of the commands sees them.

use serde_json::Value;

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::read_report,
};

fn read(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("JSON")
}

#[test]
fn a_mesh_is_cut_and_exported_as_it_is() {
    let out = folder("box-cut");
    let words = ["fracture", "builtin:vase", "--level", "6", "--method", "box-cut", "--seeds", "30"];
    let more = ["--format", "glb,obj,ply,usda", "--out", &text(&out)];
    let Some(said) = run(words.iter().chain(&more).copied()) else { return };
    assert!(said.contains("checks all hold"), "{said}");
    let report = read_report(&out);
    assert!(report["checks"].as_array().expect("checks").iter().all(|check| check["ok"] == true), "{report}");
    assert_eq!(report["parameters"]["method"], "box-cut");
    assert_eq!((&report["meshes"]["kind"], &report["meshes"]["open_edges"]), (&"original".into(), &0.into()));
    assert_eq!(report["meshes"]["watertight"], report["meshes"]["meshes"]);
    let pieces = report["pieces"].as_array().expect("pieces");
    assert!(pieces.len() > 15 && pieces.iter().all(|piece| piece["voxels"] == 0));
    let sum: f64 = pieces.iter().map(|piece| piece["volume"].as_f64().expect("a number")).sum();
    let before = report["checks"][0]["figures"]["before"].as_f64().expect("a number");
    assert!((sum / before - 1.0).abs() < 1e-9, "{sum} of {before}");
    let (document, ..) = gltf::import(out.join("pieces.glb")).expect("a GLB");
    assert_eq!(document.meshes().count(), pieces.len());
    assert_eq!(std::fs::read_dir(out.join("ply")).expect("a folder").count(), pieces.len());
    // A second run leaves nothing of the first one, and what fails leaves the second one as it is.
    let words = ["fracture", "builtin:vase", "--level", "5", "--method", "box-cut", "--seeds", "9"];
    let again = |format: &str| {
        let more = ["--format", format, "--mesh", "smooth", "--out", &text(&out)];
        kintsugi(words.iter().chain(&more).copied()).output().expect("it runs")
    };
    let (code, _, err) = outcome(&again("obj"));
    assert_eq!(code, 0, "{err}");
    assert_eq!(read_report(&out)["meshes"]["kind"], "original", "what is written, whatever was asked for");
    let names = || {
        let all = std::fs::read_dir(&out).expect("a folder").map(|e| e.expect("an entry").file_name());
        let all = all.map(|name| name.to_string_lossy().into_owned()).filter(|name| !name.starts_with('.'));
        all.collect::<std::collections::BTreeSet<_>>()
    };
    let there = names();
    assert!(there.contains("pieces.obj") && there.contains("report.json"), "{there:?}");
    assert!(!there.contains("ply") && !there.contains("pieces.glb"), "{there:?}");
    let (code, _, err) = outcome(&again("vox"));
    assert!(code == 2 && err.contains("no voxels") && err.contains("vox"), "{err}");
    assert_eq!(names(), there);
}

#[test]
fn what_a_method_cannot_break_is_refused_in_one_line() {
    let refused = |more: &[&str]| {
        let out = text(&folder("refused"));
        let words = ["fracture", "--level", "5", "--seeds", "9", "--out", &out];
        let output = kintsugi(words.iter().chain(more).copied()).output().expect("it runs");
        let (code, _, err) = outcome(&output);
        assert_eq!(code, 2, "{err}");
        err
    };
    let err = refused(&["builtin:vase", "--method", "planes"]);
    assert!(err.contains("round and fine") && err.contains("box-cut"), "{err}");
    let err = refused(&["builtin:vase", "--method", "box-cut", "--surface", "rough"]);
    assert!(err.contains("planar"), "{err}");
    let err = refused(&["builtin:box", "--method", "planes", "--local", "0.3"]);
    assert!(err.contains("--local") && err.contains("box-cut"), "{err}");
    let err = refused(&["builtin:box", "--method", "box-cut", "--option", "voxel_level=12"]);
    assert!(err.contains("voxel_level"), "{err}");
    let open = folder("open").join("open.obj");
    std::fs::write(&open, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n").expect("written");
    let err = refused(&[&text(&open), "--method", "box-cut"]);
    assert!(err.contains("not closed") && err.contains("octree"), "{err}");
}

#[test]
fn a_closed_mesh_cuts_and_a_mesh_comes_apart_into_its_parts() {
    let out = folder("cutter");
    let words =
        ["fracture", "builtin:box", "--level", "5", "--cutter", "builtin:sphere", "--out", &text(&out)];
    let more = ["--option", "fit=1", "--option", "scale=0.5"];
    let Some(said) = run(words.iter().chain(&more).copied()) else { return };
    assert!(said.starts_with("2 pieces from 2 cells") && said.contains("checks all hold"), "{said}");
    let report = read_report(&out);
    assert_eq!(report["parameters"]["method"], "cutter");
    assert_eq!(report["parameters"]["seeds_file"], "builtin:sphere");

    let apart = folder("parts");
    let file = apart.join("two.obj");
    let mut obj = String::new();
    for (number, left) in [0, 2].into_iter().enumerate() {
        let corner = |c: usize| format!("v {} {} {}\n", left + (c & 1), c >> 1 & 1, c >> 2 & 1);
        obj += &(0..8).map(corner).collect::<String>();
        for quad in [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]] {
            let [a, b, c, d] = quad.map(|i| i + 1 + 8 * number);
            obj += &format!("f {a} {b} {c} {d}\n");
        }
    }
    std::fs::write(&file, obj).expect("written");
    let out = apart.join("out");
    let words = [
        "fracture",
        &text(&file),
        "--level",
        "5",
        "--method",
        "parts",
        "--format",
        "obj",
        "--out",
        &text(&out),
    ];
    let Some(said) = run(words) else { return };
    assert!(said.starts_with("2 pieces from 2 cells") && said.contains("checks all hold"), "{said}");
    let volumes: Vec<_> = read_report(&out)["pieces"].as_array().expect("pieces").clone();
    assert!(
        volumes.iter().all(|piece| (piece["volume"].as_f64().expect("a number") - 1.0).abs() < 1e-9),
        "{volumes:?}"
    );
}

#[test]
fn methods_are_compared_on_one_blow() {
    let out = folder("compare");
    let (json, picture) = (out.join("table.json"), out.join("picture.png"));
    let words =
        ["compare", "builtin:box", "--level", "6", "--seeds", "24", "--repeat", "2", "--size", "320x160"];
    let (json_name, picture_name) = (text(&json), text(&picture));
    let more = ["--json", &json_name, "--picture", &picture_name];
    let Some(said) = run(words.iter().chain(&more).copied()) else { return };
    println!("{said}");
    let table = read(&json);
    let rows = table["methods"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|row| row["method"].as_str().expect("a name")).collect();
    assert_eq!(names, ["octree", "box-cut", "planes"]);
    for row in rows {
        let number = |name: &str| row[name].as_f64().expect("a number");
        assert!(
            number("median_ms") > 0.0 && number("pieces") > 15.0 && row["pieces"] == row["closed"],
            "{row}"
        );
        assert!(number("volume_error").abs() < 1e-6 && number("largest_difference") < 0.01, "{row}");
    }
    assert!(image::open(&picture).is_ok_and(|p| (p.width(), p.height()) == (320, 160)));
    // A method that cannot is told of in the table.
    let words = ["compare", "builtin:vase", "--level", "5", "--seeds", "9", "--repeat", "1"];
    let said = run(words).expect("it ran before");
    assert!(said.contains("planes     refused: the object is"), "{said}");
}
