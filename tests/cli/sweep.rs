//! `kintsugi sweep`: killed and begun again, in shards, with jobs that fail, and beside `kintsugi fracture`.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::read_report,
};

/// Three meshes, four random seeds, two surfaces of the second.
const JOBS: &str = "meshes = ['builtin:vase', 'builtin:box', 'builtin:statue']\nlevels = [5]\nrng = [1, 2, 3, 4]\n\
                    [fracture]\nseeds = 12\nsurface = 'dusty'\ncrack.dusty.width = 1.0\n";

/// The rows of a table by job, each by the names of its columns.
type Rows = Vec<BTreeMap<String, String>>;

fn rows(out: &Path) -> Rows {
    let mut reader = csv::Reader::from_path(out.join("table.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let of =
        |record: csv::StringRecord| header.iter().zip(&record).map(|(n, c)| (n.into(), c.into())).collect();
    reader.records().map(|record| of(record.unwrap())).collect()
}

/// The same without what differs from run to run: times.
fn without_times(mut rows: Rows) -> Rows {
    for row in &mut rows {
        let before = row.len();
        row.retain(|name, _| {
            !name.starts_with("timings_ms.") && name != "seconds" && name != "import_seconds"
        });
        assert!(before > row.len(), "no times in {row:?}");
    }
    rows
}

fn sweep(jobs: &Path, out: &Path, more: &[&str]) -> Output {
    let (jobs, out) = (text(jobs), text(out));
    let arguments = ["sweep", &jobs, "--out", &out, "--compute", "cpu"];
    kintsugi(arguments.iter().chain(more)).output().unwrap()
}

#[track_caller]
fn ends_well(output: &Output) {
    let (code, _, err) = outcome(output);
    assert_eq!((code, err.as_str()), (0, ""));
}

fn job_file(home: &Path, content: &str) -> std::path::PathBuf {
    let path = home.join("jobs.toml");
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_with_the_same_table() {
    let home = folder("sweep-killed");
    let jobs = job_file(&home, JOBS);
    let (whole, killed) = (home.join("whole"), home.join("killed"));
    ends_well(&sweep(&jobs, &whole, &[]));
    let lines =
        || std::fs::read(killed.join("table.csv")).map_or(0, |b| b.iter().filter(|b| **b == b'\n').count());
    for round in 1..=3 {
        let mut child =
            kintsugi(["sweep", &text(&jobs), "--out", &text(&killed), "--compute", "cpu"]).spawn().unwrap();
        let (wanted, start) = (1 + 3 * round, Instant::now());
        while lines() < wanted
            && child.try_wait().unwrap().is_none()
            && start.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // A fast machine may have been through; the row that was being written had got as far as this.
        let table = std::fs::read_to_string(killed.join("table.csv")).unwrap();
        let mut table: String = table.split_inclusive('\n').take(wanted).collect();
        table += "11,builtin:sta";
        std::fs::write(killed.join("table.csv"), table).unwrap();
    }
    ends_well(&sweep(&jobs, &killed, &[]));
    let (whole, killed) = (without_times(rows(&whole)), without_times(rows(&killed)));
    assert_eq!(whole.len(), 12);
    let numbers: Vec<usize> = whole.iter().map(|row| row["job"].parse().unwrap()).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    assert_eq!(whole, killed);
    let pieces: Vec<&String> = whole.iter().map(|row| &row["pieces.largest_voxels"]).collect();
    assert!(pieces.windows(2).all(|pair| pair[0] != pair[1]), "other seeds, other pieces: {pieces:?}");
}

#[test]
fn a_job_that_fails_its_checks_or_panics_has_its_row_and_the_sweep_goes_on() {
    let home = folder("sweep-mishaps");
    let jobs = job_file(&home, "meshes = ['builtin:box']\nlevels = [3]\nrng = [1, 2, 3]\n");
    for (mishap, why) in [("2", "its checks do not hold"), ("panic 2", "panicked: a check that panics")] {
        let out = home.join(mishap.replace(' ', "-"));
        let words = ["sweep", &text(&jobs), "--out", &text(&out), "--compute", "cpu"];
        let output = kintsugi(words).env("KINTSUGI_BROKEN_CHECK", mishap).output().unwrap();
        let (code, said, err) = outcome(&output);
        assert_eq!(code, 1, "{mishap}: {err}");
        assert!(said.contains("3 jobs, 1 failed") && err.contains("1 of 3 jobs failed"), "{said}{err}");
        let rows = rows(&out);
        let failed: Vec<&str> = rows.iter().map(|row| &*row["error"]).filter(|e| !e.is_empty()).collect();
        assert!(rows.len() == 3 && failed.len() == 1 && failed[0].starts_with(why), "{failed:?}");
        // Begun again, the sweep has nothing to do, and says the same.
        assert_eq!(outcome(&sweep(&jobs, &out, &[])).0, 1);
    }
}

/// A mesh of many bytes: a tetrahedron, and a triangle again and again or lines that say nothing.
fn large_mesh(file: &Path, line: &str, bytes: usize) {
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(file, corners.to_owned() + &line.repeat(bytes / line.len())).unwrap();
}

#[test]
fn a_mesh_that_does_not_fit_into_memory_is_a_failed_row() {
    let home = folder("sweep-memory");
    large_mesh(&home.join("large.obj"), "# nothing\n", 14 << 20);
    let jobs = job_file(&home, "meshes = ['large.obj', 'builtin:box']\nlevels = [3]\n");
    let words = ["sweep", &text(&jobs), "--out", &text(&home.join("out")), "--compute", "cpu"];
    let output = kintsugi(words).env("KINTSUGI_FREE_BYTES", "150000000").output().unwrap();
    let (code, said, err) = outcome(&output);
    assert!(code == 1 && said.starts_with("2 jobs, 1 failed"), "{code}: {said}{err}");
    let rows = rows(&home.join("out"));
    let error = &rows[0]["error"];
    assert!(error.contains("0.18 GB of memory are needed and 0.15 GB are free"), "{error}");
    assert_eq!(rows[1]["error"], "");
    // With room it is read.
    let output = kintsugi(["fracture", &text(&home.join("large.obj")), "--level", "3", "--compute", "cpu"])
        .args(["--out", &text(&home.join("alone"))])
        .env("KINTSUGI_FREE_BYTES", "200000000")
        .output()
        .unwrap();
    assert_eq!(outcome(&output).0, 0);
}

/// A machine that claims memory which it has not got: the allocator ends the program in the first mesh.
#[cfg(target_os = "linux")]
#[test]
fn a_job_that_ends_the_program_twice_is_a_failed_row_and_the_sweep_goes_on() {
    let home = folder("sweep-ended");
    large_mesh(&home.join("large.obj"), "f 1 2 3\n", 20_000_000);
    let jobs = job_file(&home, "meshes = ['large.obj', 'builtin:box']\nlevels = [3]\nrng = [1, 2]\n");
    let out = home.join("out");
    let run = || {
        let program = kintsugi(["sweep", &text(&jobs), "--out", &text(&out), "--compute", "cpu"]);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -v 220000; exec \"$0\" \"$@\""]);
        command.arg(program.get_program()).args(program.get_args());
        command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
        command.env("KINTSUGI_FREE_BYTES", "1000000000000").output().unwrap()
    };
    for _ in 0..2 {
        let ended = run();
        assert_eq!(ended.status.code(), None, "{}", String::from_utf8_lossy(&ended.stderr));
        assert!(rows(&out).is_empty());
    }
    let (code, said, err) = outcome(&run());
    assert!(code == 1 && said.starts_with("4 jobs, 2 failed"), "{code}: {said}{err}");
    let rows = rows(&out);
    let errors: Vec<&str> = rows.iter().map(|row| row["error"].as_str()).collect();
    assert!(
        errors[0].starts_with("the program ended twice in this job") && errors[1] == errors[0],
        "{errors:?}"
    );
    assert_eq!(errors[2..], ["", ""]);
    let mut left = std::fs::read_dir(&out).unwrap().map(|entry| text(&entry.unwrap().path()));
    assert!(!left.any(|name| name.contains("begun")), "the note is gone");
}

#[test]
fn shards_put_together_are_the_whole() {
    let home = folder("sweep-shards");
    let jobs = job_file(&home, &JOBS.replace("[1, 2, 3, 4]", "[1, 2]"));
    let folders: Vec<_> = (1..=3).map(|k| home.join(format!("shard-{k}"))).collect();
    for (k, out) in folders.iter().enumerate().take(2) {
        ends_well(&sweep(&jobs, out, &["--shard", &format!("{}/3", k + 1)]));
    }
    let list = |n: usize| folders[..n].iter().map(|f| text(f)).collect::<Vec<_>>().join(",");
    let (code, _, err) = outcome(&sweep(&jobs, &home.join("joined"), &["--merge", &list(2)]));
    assert!(code == 2 && err.contains("2 jobs, the first of them number 2"), "{code} {err}");
    ends_well(&sweep(&jobs, &folders[2], &["--shard", "3/3"]));
    assert_eq!(rows(&folders[2]).iter().map(|row| row["job"].clone()).collect::<Vec<_>>(), ["2", "5"]);
    ends_well(&sweep(&jobs, &home.join("joined"), &["--merge", &list(3)]));
    ends_well(&sweep(&jobs, &home.join("whole"), &[]));
    let of = |name: &str| without_times(rows(&home.join(name)));
    assert_eq!(of("joined").len(), 6);
    assert_eq!(of("joined"), of("whole"));
}

#[test]
fn a_job_that_fails_is_a_row_and_the_others_go_on() {
    let home = folder("sweep-errors");
    std::fs::write(home.join("broken.obj"), "v 0 0 0\nf 1 2 3\n").unwrap();
    let jobs = job_file(
        &home,
        "meshes = ['missing.obj', 'broken.obj', 'builtin:box']\nlevels = [4, 13]\n[grid]\nseeds = [6, 99999]\n\
         [[job]]\nmesh = 'builtin:box'\nlevel = 4\n[job.fracture]\nseeds_file = 'none.txt'\n",
    );
    let (code, out, err) = outcome(&sweep(&jobs, &home.join("out"), &[]));
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("13 jobs, 12 failed"), "{out}");
    assert!(err.lines().last().unwrap().starts_with("error: 12 of 13 jobs failed"), "{err}");
    assert_eq!(err.lines().filter(|line| line.starts_with("warning: job ")).count(), 12, "{err}");
    let rows = rows(&home.join("out"));
    let good: Vec<&str> = rows.iter().filter(|r| r["error"].is_empty()).map(|r| r["job"].as_str()).collect();
    assert_eq!(good, ["8"]);
    for (job, what) in
        [(0, "missing.obj"), (4, "broken.obj"), (9, "seeds is 99999"), (10, "level is 13"), (12, "none.txt")]
    {
        assert!(rows[job]["error"].contains(what), "{job}: {}", rows[job]["error"]);
    }
    assert_eq!((rows[9]["parameters.seeds"].as_str(), rows[9]["counts.pieces"].as_str()), ("99999", ""));
}

#[test]
fn what_is_no_sweep_s_own_is_refused_in_one_line() {
    let home = folder("sweep-refused");
    let jobs = job_file(&home, "meshes = ['builtin:box']\nlevels = [3]\n");
    let out = home.join("out");
    ends_well(&sweep(&jobs, &out, &[]));
    let before = std::fs::read(out.join("table.csv")).unwrap();
    ends_well(&sweep(&jobs, &out, &[]));
    assert!(std::fs::read(out.join("table.csv")).unwrap() == before, "nothing was left to do");
    let refused = |jobs: &Path, out: &Path, more: &[&str], what: &str| {
        let (code, _, err) = outcome(&sweep(jobs, out, more));
        assert!(code == 2 && err.lines().count() == 1 && err.contains(what), "{code} {err}");
    };
    refused(&jobs, &out, &["--shard", "1/2"], "all jobs, this is shard 1/2");
    refused(&jobs, &out, &["--keep", "report"], "keeping nothing, not report");
    refused(&jobs, &out, &["--shard", "3/2"], "K from 1 to N");
    refused(&home.join("none.toml"), &out, &[], "not found");
    refused(&jobs, &home.join("joined"), &["--merge", &text(&home)], "there is no sweep in it");
    assert!(!home.join("joined").exists());
    let other = home.join("other.toml");
    std::fs::write(&other, "meshes = ['builtin:box']\nlevels = [4]\n").unwrap();
    refused(&other, &out, &[], "another job file");
    assert!(std::fs::read(out.join("table.csv")).unwrap() == before);
}

/// Every number, word and list below `value`, as the table names and writes them.
fn cells(name: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(all) => {
            all.iter().for_each(|(key, value)| cells(&format!("{name}.{key}"), value, into))
        }
        Value::Array(point) if ["point", "direction", "grain_axis"].iter().any(|end| name.ends_with(end)) => {
            ["x", "y", "z"].iter().zip(point).for_each(|(axis, v)| cells(&format!("{name}.{axis}"), v, into));
        }
        Value::String(text) => drop(into.insert(name.into(), text.clone())),
        other => drop(into.insert(name.into(), other.to_string())),
    }
}

#[test]
fn a_row_is_what_fracture_reports_and_its_folder_what_fracture_writes() {
    let home = folder("sweep-row");
    let jobs = job_file(
        &home,
        "meshes = ['builtin:cavity']\nlevels = [5]\nrng = [3, 4]\nimpact = [0.1, 0.9, 0.3]\ngenerations = 2\nup = 'z'\n\
         [fracture]\nradii = [0.2, 0.4, 0.6]\nsmallest = { voxels = 5 }\n[grid]\nseeds = [9, 14]\nsurface = ['rough']\n",
    );
    ends_well(&sweep(&jobs, &home.join("out"), &["--keep", "report,voxels"]));
    let single = home.join("single");
    let arguments = "fracture builtin:cavity --level 5 --rng 4 --impact 0.1,0.9,0.3 --generations 2 --up z --radii 0.2,0.4,0.6 \
                     --smallest 5 --seeds 14 --surface rough --compute cpu --out";
    run(arguments.split_whitespace().chain([text(&single).as_str()])).unwrap();
    let (row, report) = (&rows(&home.join("out"))[3], read_report(&single));
    let mut wanted = BTreeMap::new();
    for part in [
        "parameters",
        "counts",
        "source_mass",
        "dust_mass",
        "dust_voxels",
        "dropped_mass",
        "stayed_whole",
        "compute",
    ] {
        cells(part, &report[part], &mut wanted);
    }
    assert!(wanted.len() > 40, "{}", wanted.len());
    for (name, value) in &wanted {
        assert_eq!(row.get(name), Some(value), "{name}");
    }
    assert_eq!(row["pieces.largest_mass"], report["pieces"][0]["mass"].to_string());
    for check in report["checks"].as_array().unwrap() {
        assert_eq!(row[&format!("checks.{}.ok", check["name"].as_str().unwrap())], check["ok"].to_string());
    }
    assert_eq!(row["checks.all_hold"], "true");
    let kept = home.join("out/breaks/000003");
    let voxels = |folder: &Path| std::fs::read(folder.join("voxels.npz")).unwrap();
    assert!(voxels(&kept) == voxels(&single), "voxels.npz differs");
    assert_eq!(read_report(&kept)["pieces"], report["pieces"]);
    assert_eq!(std::fs::read_dir(home.join("out/breaks")).unwrap().count(), 4);
}
