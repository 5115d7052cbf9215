//! What a run may not do to somebody's files: replace or remove what the program did not write, mix two results, leave
//! half of one.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::read_report,
};

/// Breaks a box on the cores; exit code and stderr.
fn fracture(input: &str, out: &Path, more: &[&str]) -> (i32, String) {
    let words = ["fracture", input, "--compute", "cpu", "--out", &text(out)];
    let (code, _, err) = outcome(&kintsugi(words.iter().chain(more)).output().unwrap());
    (code, err)
}

fn box_into(out: &Path, format: &str) -> String {
    let (code, err) = fracture("builtin:box", out, &["--level", "3", "--format", format]);
    assert_eq!(code, 0, "{err}");
    err
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).into()
}

/// Names in a folder that begin with a dot, but for the list of what was written.
fn hidden(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let all = all.map(|name| name.to_string_lossy().into_owned());
    all.filter(|name| name.starts_with('.') && name != ".kintsugi-files.json").collect()
}

/// Every file that the list names has the size that it says, and a report is there with its files.
fn is_whole(out: &Path) -> serde_json::Value {
    let list: serde_json::Value = serde_json::from_str(&read(&out.join(".kintsugi-files.json"))).unwrap();
    for (name, mark) in list["files"].as_object().unwrap() {
        let size = std::fs::metadata(out.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")).len();
        assert_eq!(mark["bytes"], size, "{name}");
    }
    let report = read_report(out);
    for name in report["files"].as_array().into_iter().flatten() {
        assert!(list["files"][name.as_str().unwrap()].is_object(), "{name}");
    }
    report
}

#[test]
fn files_of_somebody_s_own_are_kept_or_stay() {
    let home = folder("kept-by-exports");
    let own = home.join("own");
    ["report.json", "pieces.obj", "voxels.npz"].iter().for_each(|name| write(&own.join(name), "mine"));
    let said = box_into(&own, "obj");
    for (name, kept) in [
        ("report.json", "report.before.json"),
        ("pieces.obj", "pieces.before.obj"),
        ("voxels.npz", "voxels.before.npz"),
    ] {
        assert_eq!(read(&own.join(kept)), "mine");
        assert!(read(&own.join(name)) != "mine" && said.contains(&format!("kept as {kept}")), "{said}");
    }
    assert_eq!(box_into(&own, "obj"), "", "nothing is in the way");

    let edited = home.join("edited");
    box_into(&edited, "obj");
    write(&edited.join("pieces.obj"), "mine, edited for an hour");
    let said = box_into(&edited, "glb");
    assert!(said.contains("pieces.obj was changed") && edited.join("pieces.glb").is_file(), "{said}");
    assert_eq!(read(&edited.join("pieces.obj")), "mine, edited for an hour");
    assert!(!edited.join("pieces.mtl").exists(), "an earlier result goes");

    let other = home.join("other");
    write(&other.join("thesis.tex"), "mine");
    write(&other.join("report.json"), r#"{"version":"1","provenance":{},"files":["thesis.tex"]}"#);
    box_into(&other, "glb");
    assert_eq!(read(&other.join("thesis.tex")), "mine");
    assert!(read(&other.join("report.before.json")).contains("thesis.tex"));
}

#[test]
fn what_a_run_reads_is_not_replaced() {
    let home = folder("inputs");
    let scene = home.join("s.toml");
    write(&scene, "name=\"s\"\n[[body]]\nfile=\"builtin:box\"\nlevel=3\n");
    let out = home.join("out");
    let (code, err) = fracture(&text(&scene), &out, &["--format", "glb,obj"]);
    assert_eq!(code, 0, "{err}");
    let mine = "name=\"MY WORK\"\n[[body]]\nfile=\"builtin:box\"\nlevel=3\n";
    write(&out.join("scene.toml"), mine);
    let before = read(&out.join("pieces.obj"));
    for (input, format) in [("scene.toml", "glb"), ("pieces.obj", "obj")] {
        let (code, err) = fracture(&text(&out.join(input)), &out, &["--format", format]);
        assert!(code == 2 && err.contains(input) && err.contains("what this run reads"), "{code}: {err}");
        let errors = err.lines().filter(|line| !line.starts_with("warning: "));
        assert_eq!(errors.count(), 1, "{err}");
    }
    assert_eq!((read(&out.join("scene.toml")), read(&out.join("pieces.obj"))), (mine.into(), before));
    assert!(hidden(&home).is_empty() && hidden(&out).is_empty());
    // Elsewhere the same scene is one of somebody's own; a second one is kept, too.
    let twice = home.join("twice");
    for (name, kept) in [("first", "scene.before.toml"), ("second", "scene.before-2.toml")] {
        write(&twice.join("scene.toml"), name);
        let (code, err) = fracture(&text(&scene), &twice, &[]);
        assert!(code == 0 && err.contains(&format!("kept as {kept}")), "{err}");
        assert_eq!(read(&twice.join(kept)), name);
    }
    let mesh = out.join("pieces.obj");
    let bench = ["bench", &text(&mesh), "--level", "3", "--json", &text(&mesh)];
    let (code, _, err) = outcome(&kintsugi(bench).output().unwrap());
    assert!(code == 2 && err.contains("what the run reads"), "{code}: {err}");
}

#[test]
fn pictures_of_the_program_make_room_and_others_are_kept() {
    let home = folder("kept-pictures");
    let picture = home.join("a.png");
    write(&picture, "mine");
    let render = |explode: &str| {
        let words = ["render", "builtin:box", "--level", "3", "--size", "32x32", "--explode", explode];
        let mut command = kintsugi(words);
        let (code, _, err) =
            outcome(&command.args(["--compute", "cpu", "--out", &text(&picture)]).output().unwrap());
        assert_eq!(code, 0, "{err}");
        err
    };
    assert!(render("0.1").contains("kept as a.before.png"));
    let first = std::fs::read(&picture).unwrap();
    assert_eq!((read(&home.join("a.before.png")), render("0.5")), ("mine".into(), String::new()));
    assert_ne!(std::fs::read(&picture).unwrap(), first);
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 2);
    // A table says nothing of who wrote it.
    let table = home.join("t.json");
    write(&table, "mine");
    let words = ["compare", "builtin:box", "--level", "3", "--repeat", "1", "--methods", "octree", "--json"];
    let (code, _, err) = outcome(&kintsugi(words).arg(&table).args(["--compute", "cpu"]).output().unwrap());
    assert!(code == 0 && err.contains("kept as t.before.json"), "{code}: {err}");
    assert_eq!(read(&home.join("t.before.json")), "mine");
    // The program's own tables make room, since a list beside them has their digests; an edited one is kept.
    let bench = |table: &Path, csv: &Path| {
        let words = ["bench", "builtin:box", "--level", "3", "--repeat", "1", "--compute", "cpu"];
        let words = words.map(str::to_owned).into_iter();
        let words = words.chain(["--json".into(), text(table), "--csv".into(), text(csv)]);
        let (code, _, err) = outcome(&kintsugi(words).output().unwrap());
        assert_eq!(code, 0, "{err}");
        err
    };
    let csv = home.join("t.csv");
    assert_eq!((bench(&table, &csv), bench(&table, &csv)), (String::new(), String::new()));
    write(&csv, "mine, edited");
    assert!(bench(&table, &csv).contains("kept as t.before.csv"));
    assert_eq!(read(&home.join("t.before.csv")), "mine, edited");
    let mut names: Vec<_> = std::fs::read_dir(&home).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    let wanted = [
        ".kintsugi-written.json",
        "a.before.png",
        "a.png",
        "t.before.csv",
        "t.before.json",
        "t.csv",
        "t.json",
    ];
    assert_eq!(names, wanted);
}

#[cfg(unix)]
#[test]
fn a_simulation_that_cannot_begin_leaves_the_earlier_one_whole() {
    let home = folder("kept-by-simulate");
    let scene = home.join("s.toml");
    write(&scene, "[[body]]\nfile=\"builtin:box\"\nlevel=3\nposition=[0,1,0]\n");
    let out = home.join("out");
    let words = ["simulate", &text(&scene), "--compute", "cpu", "--seconds", "0.2", "--out", &text(&out)];
    if run(words).is_none() {
        return;
    }
    is_whole(&out);
    let all = || -> BTreeMap<String, Vec<u8>> {
        let names = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        names.map(|path| (text(&path), std::fs::read(&path).unwrap())).collect()
    };
    let before = all();
    // No file may grow: a disk that is full from the first byte on.
    let program = text(Path::new(kintsugi([""; 0]).get_program()));
    let full = format!("trap '' XFSZ; ulimit -f 0; exec {program} {}", words.join(" "));
    let (code, _, err) = outcome(&Command::new("sh").args(["-c", &full]).output().unwrap());
    assert!(code == 2 && err.contains("has room") && err.contains(&text(&out)), "{code}: {err}");
    assert_eq!(all(), before);

    let own = home.join("own");
    write(&own.join("steps.csv"), "my own measurements");
    let words = ["simulate", &text(&scene), "--compute", "cpu", "--seconds", "0.02", "--out", &text(&own)];
    for round in 0..2 {
        let (code, _, err) = outcome(&kintsugi(words).output().unwrap());
        assert!(code == 0 && (round == 1 || err.contains("kept as steps.before.csv")), "{err}");
        assert_eq!(read(&own.join("steps.before.csv")), "my own measurements");
        assert!(!own.join("steps.before-2.csv").exists(), "a run's own logs make room");
    }
}

#[cfg(unix)]
#[test]
fn a_killed_export_leaves_one_result_whole() {
    let out = folder("killed-exports").join("out");
    box_into(&out, "obj,glb");
    let mut left = 0;
    for millis in 0..25 {
        let words = [
            "fracture",
            "builtin:box",
            "--level",
            "3",
            "--compute",
            "cpu",
            "--format",
            "obj,glb",
            "--rng",
            "2",
        ];
        let mut running = kintsugi(words)
            .args(["--out", &text(&out)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        // From the moment at which something is in the folder.
        while hidden(&out).is_empty() && running.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_micros(400 * millis));
        running.kill().unwrap();
        running.wait().unwrap();
        left += usize::from(!hidden(&out).is_empty());
        assert!(start.elapsed() < Duration::from_secs(60));
        let said = box_into(&out, "glb");
        assert!(!said.contains("kept as"), "{said}");
        assert!(hidden(&out).is_empty(), "{:?}", hidden(&out));
        is_whole(&out);
        assert!(!out.join("pieces.obj").exists());
        box_into(&out, "obj,glb");
    }
    println!("{left} of 25 left something half done");
}

/// Waits until something hidden is in the folder, and sends a signal; the exit code.
#[cfg(unix)]
fn signalled(mut running: Child, is_there: impl Fn() -> bool, signal: &str) -> Option<i32> {
    let start = Instant::now();
    while !is_there() {
        assert!(running.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(100));
        std::thread::sleep(Duration::from_millis(1));
    }
    let told = Command::new("kill").args([signal, &running.id().to_string()]).status().unwrap();
    assert!(told.success());
    running.wait().unwrap().code()
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_half_results() {
    let home = folder("signals");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let out = home.join("out");
        let words =
            ["fracture", "builtin:statue", "--level", "9", "--compute", "cpu", "--format", "obj", "--out"];
        let mut command = kintsugi(words);
        let running = command.arg(&out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert_eq!(signalled(running, || !hidden(&home).is_empty(), signal), Some(code));
        assert!(hidden(&home).is_empty() && !out.exists(), "{:?}", hidden(&home));
    }
    // A simulation ends with what it has.
    let out = home.join("log");
    let words = ["simulate", "builtin:box", "--seconds", "100000", "--compute", "cpu", "--out", &text(&out)];
    let running = kintsugi(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let steps = || std::fs::read_to_string(out.join("steps.csv")).is_ok_and(|text| text.lines().count() > 3);
    assert_eq!(signalled(running, steps, "-TERM"), Some(143));
    let report = is_whole(&out);
    let lines = read(&out.join("steps.csv")).lines().count();
    assert_eq!(report["counts"]["steps"], lines - 1);
    assert!(hidden(&out).is_empty() && hidden(&home).is_empty());
}
