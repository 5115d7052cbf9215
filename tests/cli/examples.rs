//! The scripts of `examples/` on what the program writes, and on the same with one number changed.

use std::{
    path::Path,
    process::{Command, Output},
};

use super::support::{
    program::{folder, outcome, run, text},
    skip,
};

/// Python with this script of `examples/`.
fn python(script: &str, arguments: &[String]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(script);
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(arguments).output().expect("python3 starts")
}

/// Whether these modules are there; else it is noted.
pub fn has(modules: &str) -> bool {
    let there = Command::new("python3").args(["-c", &format!("import {modules}")]).output();
    if there.is_ok_and(|output| output.status.success()) {
        return true;
    }
    skip::note(&format!(
        "the examples need Python with {modules}: apt-get install python3-scipy, or pip install {}",
        modules.replace(',', "")
    ));
    false
}

/// Runs a script that must find everything right, and gives what it said.
fn holds(script: &str, arguments: &[String]) -> String {
    let (code, out, err) = outcome(&python(script, arguments));
    assert_eq!(code, 0, "{script} {arguments:?}: {out}{err}");
    out
}

/// Rewrites arrays of an archive by lines of Python, in which `a` has them by name.
pub fn change(archive: &Path, lines: &str) {
    let code = format!(
        "import numpy as np\na = dict(np.load({0:?}))\n{lines}\nnp.savez({0:?}, **a)",
        archive.display().to_string()
    );
    let (status, _, err) = outcome(&Command::new("python3").args(["-c", &code]).output().unwrap());
    assert_eq!(status, 0, "{err}");
}

const SURFACES: [&str; 3] = ["planar", "rough", "dusty"];

#[test]
fn arrays_and_overlays_are_what_numpy_and_scipy_find() {
    if !has("numpy, scipy") {
        return;
    }
    for surface in SURFACES {
        let out = folder(&format!("examples-{surface}"));
        let overlays = if surface == "planar" {
            "faces,labels,flood"
        } else {
            "transition,triangles,points,faces,labels,flood"
        };
        let arguments = [
            "fracture",
            "builtin:vase",
            "--level",
            "6",
            "--seeds",
            "30",
            "--rng",
            "7",
            "--surface",
            surface,
            "--overlays",
            overlays,
            "--out",
            &text(&out),
        ];
        if run(arguments).is_none() {
            return;
        }
        let said = holds("check_voxels.py", &[text(&out)]);
        for part in ["F1 holds", "F2 holds", "as reported", "F4 holds"] {
            assert!(said.contains(part), "{surface}: no {part} in {said}");
        }
        let said = holds("check_overlays.py", &[text(&out)]);
        let of_cracks: &[&str] =
            if surface == "planar" { &[] } else { &["transition holds", "points hold", "triangles hold"] };
        for part in [&["faces hold", "labels hold", "flood hold", "islands hold"], of_cracks].concat() {
            assert!(said.contains(part), "{surface}: no {part} in {said}");
        }
        print!("{surface}: {said}");
    }
}

/// Every break of a run has overlays of its own, which hold what broke: it is in no other file.
#[test]
fn overlays_of_later_breaks_are_what_numpy_and_scipy_find() {
    if !has("numpy, scipy") {
        return;
    }
    for (turn, surface) in SURFACES.into_iter().enumerate() {
        let out = folder(&format!("examples-again-{surface}"));
        let overlays =
            if surface == "planar" { "faces,labels" } else { "transition,triangles,points,faces,labels" };
        let arguments = [
            "fracture",
            "builtin:vase",
            "--level",
            "6",
            "--seeds",
            "9",
            "--rng",
            "7",
            "--generations",
            "2",
            "--surface",
            surface,
            "--overlays",
            overlays,
            "--out",
            &text(&out),
        ];
        if run(arguments).is_none() {
            return;
        }
        let second = out.join("overlays_001.npz");
        assert!(out.join("overlays/001/faces.ply").is_file() && second.is_file(), "{surface}");
        let said = holds("check_overlays.py", &[text(&out)]);
        let (first, later) = said.split_once("overlays_001.npz:").unwrap();
        for said in [first, later] {
            for part in ["source holds", "faces hold", "labels hold", "islands hold"] {
                assert!(said.contains(part), "{surface}: no {part} in {said}");
            }
            assert!(surface == "planar" || said.contains("triangles hold"), "{surface}: {said}");
        }
        let sound = std::fs::read(&second).unwrap();
        let errors = [
            ("a['source_inside'] = a['source_inside'][:1]", "source"),
            ("a['first_seed'] += 1", "first_seed"),
            ("a['face_corners'][4] += 0.01", "faces"),
            ("a['label_cell'] -= a['first_seed']", "label_cell"),
            ("a['labels'][2, 40] += 1", "labels"),
            (
                "a['crack_voxels'] = a['crack_voxels'][9:]; a['crack_cells'] = a['crack_cells'][9:]",
                "triangles",
            ),
        ];
        // All on rough cracks, half of the others each on planar and dusty ones.
        let is_due = |k: usize| surface == "rough" || k < 5 && k % 2 == turn / 2;
        for (_, (error, names)) in errors.iter().enumerate().filter(|(k, _)| is_due(*k)) {
            change(&second, error);
            let (code, said, err) = outcome(&python("check_overlays.py", &[text(&out)]));
            assert_ne!(code, 0, "{surface}: nobody notices {error}: {said}");
            assert!(err.contains(names), "{surface}: {error} is found as {err}");
            std::fs::write(&second, &sound).unwrap();
        }
    }
}

/// The scripts are not blind: each planted error is found by the check that is its own.
#[test]
fn the_examples_find_planted_errors() {
    if !has("numpy, scipy") {
        return;
    }
    for (turn, surface) in SURFACES.into_iter().enumerate() {
        let out = folder(&format!("examples-planted-{surface}"));
        let overlays =
            if surface == "planar" { "faces,labels" } else { "transition,triangles,points,labels" };
        let arguments = [
            "fracture",
            "builtin:box",
            "--level",
            "5",
            "--seeds",
            "9",
            "--rng",
            "3",
            "--surface",
            surface,
            "--overlays",
            overlays,
            "--out",
            &text(&out),
        ];
        if run(arguments).is_none() {
            return;
        }
        let of_voxels = [
            ("a['coverage'][5] *= 0.5", "F2"),
            ("a['crack'][np.flatnonzero(a['crack'])[3]] = 0", "F1"),
            ("a['piece'][a['piece'] == 1] = 0; a['piece_inside'][a['piece_inside'][:, 4] == 1, 4] = 0", ""),
            ("a['source_plane'][7] *= [-1, -1, -1, 1]", "plane"),
            ("a['dust'] = a['source'][:1]", "F2"),
        ];
        let of_overlays = [
            ("a['labels'][2, 40] += 1", "labels"),
            ("a['label_piece'][:] = 0", "label_piece"),
            ("a['face_corners'][4] += 0.01", "faces"),
            ("a['points'][9] += 3.0", "points"),
            ("a['triangles'][:60] = a['triangles'][60:120]", "triangles"),
            ("a['triangle_cells'] = a['triangle_cells'][:, ::-1]", "triangles"),
            ("a['transition_voxels'] = a['transition_voxels'][1:]", ""),
            ("a['transition_objects'][3, 2] += 1", "transition"),
        ];
        let archives = [
            ("check_voxels.py", "voxels.npz", &of_voxels[..]),
            ("check_overlays.py", "overlays.npz", &of_overlays),
        ];
        for (script, archive, errors) in archives {
            let path = out.join(archive);
            let sound = std::fs::read(&path).unwrap();
            // All on rough cracks, every second one on planar and the others on dusty ones.
            let is_due = |k: usize| surface == "rough" || k % 2 == turn / 2;
            for (k, (error, names)) in errors.iter().enumerate() {
                let array = error.split('\'').nth(1).unwrap();
                let there = ["label", "face"].iter().any(|name| array.starts_with(name));
                let is_there =
                    archive != "overlays.npz" || (surface == "planar") == there || array.starts_with("label");
                if !is_there || !is_due(k) {
                    continue;
                }
                change(&path, error);
                let (code, said, err) = outcome(&python(script, &[text(&out)]));
                assert_ne!(code, 0, "{surface}: nobody notices {error}: {said}");
                assert!(err.contains(names), "{surface}: {error} is found as {err}");
                std::fs::write(&path, &sound).unwrap();
            }
            holds(script, &[text(&out)]);
        }
    }
}

#[test]
fn steps_are_drawn_with_lines_in_which_nothing_was_measured() {
    if !has("csv") {
        return;
    }
    let home = folder("examples-steps");
    let (out, plot) = (home.join("out"), home.join("plot.svg"));
    let arguments =
        ["simulate", "builtin:box", "--seconds", "0.2", "--volume-every", "3", "--out", &text(&out)];
    if run(arguments).is_none() {
        return;
    }
    holds("plot_steps.py", &[text(&plot), format!("box={}", text(&out.join("steps.csv")))]);
    let drawn = std::fs::read_to_string(plot).unwrap();
    assert!(drawn.matches("<polyline").count() == 3 && !drawn.contains("nan"), "{drawn}");
}

/// What `examples/dataset_dask.py` uses of Dask. Clusters themselves are tried by hand (docs/lab/dataset.md).
#[cfg(unix)]
const DASK: &str = "
class Done:
    def __init__(self, value): self.value = value
    def result(self): return self.value

class Client:
    def __init__(self, *scheduler, threads_per_worker=None): pass
    def __enter__(self): return self
    def __exit__(self, *error): return False
    def submit(self, work, *arguments, pure): return Done(work(*arguments))

as_completed = reversed
";

/// The same of Ray.
#[cfg(unix)]
const RAY: &str = "
class remote:
    def __init__(self, work): self.work = work
    def options(self, num_cpus): return self
    def remote(self, *arguments): return self.work(*arguments)

def init(address, log_to_driver): pass
def get(value): return value
def wait(waiting): return waiting[-1:], waiting[:-1]
def shutdown(): pass
";

#[cfg(unix)]
#[test]
fn the_scripts_for_clusters_make_the_set_that_one_machine_makes() {
    if !has("csv") {
        return;
    }
    let home = folder("examples-clusters");
    let write = |name: &str, content: &str| {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        text(&path)
    };
    let jobs = "meshes = ['builtin:box', 'builtin:shell']\nlevels = [4]\n[fracture]\nseeds = 5\n\
                [dataset]\nbreaks = 3\npoints = 20\n";
    let jobs = write("jobs.toml", jobs);
    let whole = text(&home.join("whole"));
    run(["dataset", &jobs, "--compute", "cpu", "--out", &whole]).unwrap();
    let is_that = |set: &Path| {
        let [ours, theirs] =
            [Path::new(&whole), set].map(|set| std::fs::read(set.join("recipe.json")).unwrap());
        assert!(ours == theirs, "{}", set.display());
        let said = run(["dataset", &jobs, "--compute", "cpu", "--verify", "--out", &text(set)]).unwrap();
        assert!(said.contains("6 of 6 breaks have the recipe's hash"), "{said}");
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let good = |command: &mut Command| {
        let (code, out, err) = outcome(&command.current_dir(&home).output().unwrap());
        assert_eq!(code, 0, "{command:?}: {out}{err}");
        out
    };
    let program = env!("CARGO_BIN_EXE_kintsugi");

    write("libraries/dask/__init__.py", "");
    write("libraries/dask/distributed.py", DASK);
    write("libraries/ray.py", RAY);
    for name in ["dask", "ray"] {
        let mut script = Command::new("python3");
        script.arg("-B").arg(examples.join(format!("dataset_{name}.py")));
        script.args([jobs.as_str(), name, "--shards", "2", "--program", program]);
        let said = good(script.env("PYTHONPATH", home.join("libraries")));
        assert!(said.contains("shard 1 of 2: done") && said.contains("shard 2 of 2: done"), "{said}");
        is_that(&home.join(name).join("whole"));
    }

    // A task for each shard, and when all are done what the script's head says.
    std::fs::create_dir_all(home.join("bin")).unwrap();
    std::os::unix::fs::symlink(program, home.join("bin/kintsugi")).unwrap();
    let path = format!("{}:{}", text(&home.join("bin")), std::env::var("PATH").unwrap());
    let script = examples.join("dataset_slurm.sh");
    for task in ["1", "2"] {
        let mut one = Command::new("bash");
        one.arg(&script).args([jobs.as_str(), "set"]).env("PATH", &path).env("SLURM_CPUS_PER_TASK", "1");
        good(one.env("SLURM_ARRAY_TASK_ID", task).env("SLURM_ARRAY_TASK_COUNT", "2"));
    }
    let head = std::fs::read_to_string(&script).unwrap();
    let said = head.lines().filter_map(|line| line.strip_prefix("#   "));
    let after: Vec<&str> = said.filter(|line| !line.starts_with("sbatch")).collect();
    assert_eq!(after.len(), 2, "{after:?}");
    let after = after.join("\n").replace("examples/dataset.toml", &jobs);
    good(Command::new("bash").args(["-ec", &after]).env("PATH", &path));
    is_that(&home.join("set/whole"));
}
