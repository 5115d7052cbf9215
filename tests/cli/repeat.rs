//! `kintsugi repeat`: reports, pictures and scenes that are the same, and such that are not.

use std::path::Path;

use serde_json::{Value, json};

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::read_report,
};

/// Exit code, stdout and stderr of `kintsugi repeat FILE`, started elsewhere.
fn repeat(file: &Path) -> (i32, String, String) {
    outcome(&kintsugi(["repeat", &text(file)]).output().unwrap())
}

#[track_caller]
fn is_the_same(file: &Path) {
    let (code, out, err) = repeat(file);
    assert_eq!((code, out.as_str()), (0, "the same\n"), "{err}");
    assert!(err.starts_with("runs: kintsugi ") && err.lines().count() == 1, "{err}");
}

fn fracture(arguments: &str, out: &Path) -> Value {
    run(["fracture"].into_iter().chain(arguments.split_whitespace()).chain([
        "--compute",
        "cpu",
        "--out",
        &text(out),
    ]));
    read_report(out)
}

fn write(path: &Path, report: &Value) {
    std::fs::write(path, serde_json::to_vec(report).unwrap()).unwrap();
}

#[test]
fn a_report_says_what_made_it_and_is_made_again() {
    let home = folder("repeat-report");
    let arguments = "builtin:vase --level 5 --seeds 12 --rng 3 --surface rough --format glb --up z";
    let mut report = fracture(arguments, &home);
    let made = &report["provenance"];
    let command: Vec<&str> =
        made["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(command[..3], ["kintsugi", "fracture", "builtin:vase"]);
    assert_eq!(command.last(), Some(&text(&home).as_str()));
    let sha = made["mesh_sha256"].as_str().unwrap();
    assert!(sha.len() == 64 && sha.bytes().all(|digit| digit.is_ascii_hexdigit()), "{sha}");
    assert!(!made["commit"].as_str().unwrap().is_empty());
    assert_eq!(made["up"], "z");
    is_the_same(&home.join("report.json"));

    report["counts"]["pieces"] = json!(1);
    report["pieces"][0]["mass"] = json!(0.25);
    write(&home.join("report.json"), &report);
    std::fs::write(home.join("pieces.glb"), "another").unwrap();
    let (code, out, err) = repeat(&home.join("report.json"));
    assert_eq!(code, 1, "{out}{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines.len() == 3 && lines[0] == "pieces.glb: its bytes differ", "{out}");
    assert!(lines[1].starts_with("report.json: counts.pieces was 1, is "), "{out}");
    assert!(lines[2].starts_with("report.json: pieces[0].mass was 0.25, is "), "{out}");
    assert!(err.lines().count() == 2 && err.contains("3 lines"), "{err}");
}

/// Every option that a report tells of, in a few cases.
#[test]
fn a_report_of_before_is_made_again_from_its_parameters() {
    for (name, arguments) in [
        ("plain", "builtin:cavity --level 5 --seeds 9"),
        (
            "blow",
            "builtin:statue --level 5 --impact 0.1,1.2,0.3 --direction=-0.3,-0.7,0.2 --pattern inward --blow-strength 0.8",
        ),
        (
            "rings",
            "builtin:box --level 5 --pattern radial --radii 0.2,0.4 --counts 5,7 --smallest 0.3%,drop --interior wood:#80ff00",
        ),
        (
            "dusty",
            "builtin:vase --level 6 --surface dusty --dust 2,0.25 --noise 0.4,9,2 --local 0.4 --generations 2 --seeds 15",
        ),
        (
            "rough",
            "builtin:vase --level 5 --surface rough --strength 0.5 --displacement 0.1,0.3 --sides votes --offset balance --transition-level 4",
        ),
        (
            "aimed",
            "builtin:box --level 5 --pieces 9 --island-level 4 --labelling iterative --keep 1,2 --interior-scale 2",
        ),
    ] {
        let home = folder(&format!("repeat-old-{name}"));
        let mut report = fracture(arguments, &home);
        assert!(report.as_object_mut().unwrap().remove("provenance").is_some());
        write(&home.join("report.json"), &report);
        let (code, out, err) = repeat(&home.join("report.json"));
        assert_eq!((code, out.as_str()), (0, "the same\n"), "{name}: {err}");
        report["parameters"]["rng"] = json!(99);
        write(&home.join("report.json"), &report);
        let (code, out, _) = repeat(&home.join("report.json"));
        assert!(code == 1 && out.contains("voxels.npz: "), "{name}: {code} {out}");
    }
}

#[test]
fn a_kept_report_of_a_sweep_is_made_again() {
    let home = folder("repeat-sweep");
    let jobs = home.join("jobs.toml");
    std::fs::write(&jobs, "meshes = ['builtin:vase']\nlevels = [4]\nup = 'z'\nfracture.seeds = 8\n").unwrap();
    run([
        "sweep",
        &text(&jobs),
        "--out",
        &text(&home.join("out")),
        "--compute",
        "cpu",
        "--keep",
        "report,voxels",
    ])
    .unwrap();
    is_the_same(&home.join("out/breaks/000000/report.json"));
    // Numbers of cracks that play no part on a surface: `fracture` refuses the options, and nothing differs.
    let text_of = "meshes = ['builtin:box']\nlevels = [4]\n[fracture]\nseeds = 8\ncrack.dusty.width = 2.5\n\
                   crack.dusty.irregularity = 0.2\ncrack.displacement.face = 0.1\ncrack.sides = 'votes'\n\
                   [grid]\nsurface = ['planar', 'rough', 'dusty']\n";
    std::fs::write(&jobs, text_of).unwrap();
    let (file, kept) = (text(&jobs), text(&home.join("cracks")));
    run(["sweep", &file, "--out", &kept, "--compute", "cpu", "--keep", "report,voxels"]).unwrap();
    let report = |job: u32| home.join(format!("cracks/breaks/00000{job}/report.json"));
    (0..3).for_each(|job| is_the_same(&report(job)));
    // Those that do play one are told.
    let mut other: Value = serde_json::from_slice(&std::fs::read(report(2)).unwrap()).unwrap();
    assert_eq!(other["parameters"]["surface"], "dusty");
    other["parameters"]["crack"]["dusty"]["width"] = 1.0.into();
    write(&report(2), &other);
    assert_eq!(repeat(&report(2)).0, 1);
    let table = std::fs::read_to_string(home.join("out/table.csv")).unwrap();
    assert!(table.contains(r#""[""kintsugi"",""sweep"","#), "{table}");
}

#[test]
fn a_picture_says_what_made_it_and_is_drawn_again() {
    let home = folder("repeat-picture");
    let picture = home.join("a.png");
    let arguments = "render builtin:vase --level 5 --explode 0.2 --size 96x64 --compute cpu --out";
    run(arguments.split_whitespace().chain([text(&picture).as_str()])).unwrap();
    is_the_same(&picture);
    // A pixel that somebody painted over: the texts have to be kept, so the file is put together anew.
    let bytes = std::fs::read(&picture).unwrap();
    let read = kintsugi::export::read_signed(&bytes).unwrap();
    let mut signature = read.signature.unwrap();
    assert!(signature.scene.contains("builtin:vase"), "{}", signature.scene);
    let mut rgba = read.rgba.clone();
    rgba[4 * 96 * 32] ^= 0x40;
    kintsugi::export::write_signed(&picture, read.size, &rgba, &signature).unwrap();
    let (code, out, _) = repeat(&picture);
    assert!(code == 1 && out.starts_with("the picture: 1 of 6144 pixels differ"), "{code} {out}");

    // As the window writes it: a scene, and a command that opens a window.
    let scene = home.join("scene.toml");
    std::fs::write(&scene, "[[body]]\nfile = 'builtin:box'\nlevel = 4\non_floor = true\n[camera]\ntarget = [0, 0.5, 0]\ndistance = 4\nyaw = 0.5\npitch = 0.3\nfov_y = 0.6\n")
        .unwrap();
    run(["render", &text(&scene), "--size", "80x60", "--compute", "cpu", "--out", &text(&picture)]).unwrap();
    is_the_same(&picture);
    let read = kintsugi::export::read_signed(&std::fs::read(&picture).unwrap()).unwrap();
    signature = read.signature.unwrap();
    signature.provenance.command = vec!["kintsugi".into()];
    kintsugi::export::write_signed(&picture, read.size, &read.rgba, &signature).unwrap();
    is_the_same(&picture);

    let frames = home.join("film");
    let arguments = [
        "simulate",
        &text(&scene),
        "--seconds",
        "0.1",
        "--frames",
        "25",
        "--size",
        "48x32",
        "--compute",
        "cpu",
    ];
    run(arguments.into_iter().chain(["--out", &text(&frames)])).unwrap();
    is_the_same(&frames.join("frames/00001.png"));
}

#[test]
fn a_scene_is_played_twice_and_an_export_once_more() {
    let home = folder("repeat-scene");
    let scene = home.join("vase.toml");
    std::fs::write(
        &scene,
        "[[body]]\nfile = 'builtin:vase'\nlevel = 5\non_floor = true\nfracture = { seeds = 9 }\n",
    )
    .unwrap();
    is_the_same(&scene);
    let out = home.join("out");
    run(["fracture", &text(&scene), "--compute", "cpu", "--format", "obj", "--out", &text(&out)]).unwrap();
    is_the_same(&out.join("report.json"));
    is_the_same(&out.join("scene.toml"));
    let mut report = read_report(&out);
    assert!(report.as_object_mut().unwrap().remove("provenance").is_some());
    report["pieces"][0]["voxels"] = json!(3);
    write(&out.join("report.json"), &report);
    let (code, told, _) = repeat(&out.join("scene.toml"));
    assert!(code == 1 && told.starts_with("report.json: pieces[0].voxels was 3, is "), "{code} {told}");
}

#[test]
fn a_simulation_is_played_again() {
    let home = folder("repeat-simulation");
    let out = home.join("out");
    let arguments = ["simulate", "builtin:box", "--compute", "cpu", "--seconds", "0.1", "--frames", "50"];
    run(arguments.into_iter().chain(["--size", "64x48", "--out", &text(&out)])).unwrap();
    let file = out.join("report.json");
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let sha = report["objects"][0]["mesh_sha256"].as_str().unwrap();
    assert_eq!((sha.len(), report["provenance"]["command"][1].as_str()), (64, Some("simulate")));
    assert!(report["provenance"]["commit"].is_string());
    is_the_same(&file);
    let steps = out.join("steps.csv");
    let table = std::fs::read_to_string(&steps).unwrap();
    std::fs::write(&steps, table.replacen("0.02,1,", "0.02,2,", 1)).unwrap();
    let (code, said, _) = repeat(&file);
    assert!(code == 1 && said.contains("steps.csv: 1 of "), "{code} {said}");
}

#[test]
fn what_cannot_be_repeated_says_so_in_one_line() {
    let home = folder("repeat-refused");
    let file = |name: &str, content: &[u8]| {
        let path = home.join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let plain = home.join("plain.png");
    kintsugi::export::write_png(&plain, [2, 2], &[0; 16]).unwrap();
    let gone = json!({ "provenance": { "command": ["kintsugi", "fracture", "gone.obj", "--out", "x"] } });
    let old = json!({ "input": { "file": "gone.obj" }, "parameters": { "level": 4 } });
    for (path, what) in [
        (home.join("none.json"), "not found"),
        (file("a.json", b"{"), "it is no report"),
        (file("b.json", b"{}"), "no report of a break"),
        (file("c.json", &serde_json::to_vec(&gone).unwrap()), "gone.obj"),
        (file("d.json", &serde_json::to_vec(&old).unwrap()), "lack impact"),
        (file("e.json", br#"{ "placed": "fitted" }"#), "scene.toml, is not beside it"),
        (file("f.json", br#"{ "stages": [] }"#), "it holds times"),
        (file("a.obj", b"v 0 0 0"), "none of the files"),
        (file("bad.png", b"PNG"), "it is no picture"),
        (file("bad.toml", b"[[body]]\nfile = 3\n"), "run again, it ends with an error"),
        (plain, "does not say how it was made"),
    ] {
        let (code, out, err) = repeat(&path);
        let lines = err.lines().filter(|line| !line.starts_with("runs: ")).count();
        assert!(code == 2 && out.is_empty() && lines == 1 && err.contains(what), "{what}: {code} {out}{err}");
    }
}

/// A picture of one pixel that says to be made by `command`.
fn signed(file: &Path, command: &[&str], output: Option<&str>) {
    let mut signature = kintsugi::export::Signature::default();
    signature.provenance.command = command.iter().map(|word| (*word).to_owned()).collect();
    signature.provenance.output = output.map(str::to_owned);
    kintsugi::export::write_signed(file, [1, 1], &[0, 0, 0, 255], &signature).unwrap();
}

/// Somebody else's picture may say anything: nothing is written but into the folder that `repeat` makes.
#[test]
fn a_hostile_picture_writes_nothing_and_runs_nothing_that_it_may_not() {
    let home = folder("repeat-hostile");
    let (victim, evil) = (home.join("victim"), home.join("evil.png"));
    let (out, json) = (text(&victim), format!("--json={}", text(&victim)));
    let box_and = |more: &[&'static str]| [&["kintsugi"][..], more].concat();
    for (command, output) in [
        (
            vec!["kintsugi", "fracture", "builtin:box", "--level", "3", "--compute", "cpu", "--out", &out],
            Some("x.png"),
        ),
        (vec!["kintsugi", "repeat", "evil.png"], Some("x.png")),
        (vec!["kintsugi", "sweep", "jobs.toml", "--out", &out], Some("x.png")),
        (vec!["kintsugi", "presets", "--pictures", &out], Some("x.png")),
        (vec!["kintsugi", "bench", "builtin:box", &json], Some("x.png")),
        (vec!["kintsugi", "--frame-log", &out], Some("x.png")),
        (vec!["kintsugi", "builtin:box", "--outside-references"], Some("x.png")),
        (box_and(&["builtin:box", "--level", "3", "--compute", "cpu"]), Some("../../evil.png")),
        (box_and(&["simulate", "builtin:box", "--seconds", "0.02", "--out", "y"]), Some("/etc/passwd")),
    ] {
        signed(&evil, &command, output);
        let (code, said, err) = repeat(&evil);
        assert!(code == 2 && said.is_empty() && err.lines().count() == 1, "{command:?}: {code} {said}{err}");
        assert!(!victim.exists(), "{command:?} wrote it");
    }
}

/// The table that an honest comparison wrote beside its picture is somebody's file by now.
#[test]
fn repeating_a_picture_leaves_the_table_beside_it_alone() {
    let home = folder("repeat-json");
    let (picture, table) = (home.join("m.png"), home.join("t.json"));
    run([
        "compare",
        "builtin:box",
        "--level",
        "3",
        "--repeat",
        "1",
        "--methods",
        "octree",
        "--size",
        "64x48",
        "--compute",
        "cpu",
        "--picture",
        &text(&picture),
        &format!("--json={}", text(&table)),
    ])
    .unwrap();
    std::fs::write(&table, "mine").unwrap();
    is_the_same(&picture);
    assert_eq!(std::fs::read_to_string(&table).unwrap(), "mine");
}

/// A pipe beside a report waits for ever, and an archive may unpack to any size.
#[cfg(unix)]
#[test]
fn what_lies_beside_a_report_is_read_within_bounds() {
    let home = folder("repeat-pipe");
    fracture("builtin:box --level 3 --seeds 5", &home);
    std::fs::remove_file(home.join("voxels.npz")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.join("voxels.npz")).status().unwrap();
    assert!(made.success());
    let (code, _, err) = repeat(&home.join("report.json"));
    assert!(code == 2 && err.contains("voxels.npz: is not a regular file"), "{code} {err}");
}
