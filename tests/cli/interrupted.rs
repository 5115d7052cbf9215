//! Runs that end before their time: what they had until then is on the disk, and can be read.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::support::{
    program::{folder, kintsugi, outcome, text},
    results::read_npz,
    skip,
};

/// Steps that `steps.csv` tells of, every line of which is whole, and states in `trajectory.npz`.
fn logged(out: &Path) -> (usize, usize) {
    let table = std::fs::read_to_string(out.join("steps.csv")).unwrap();
    assert!(table.ends_with('\n'), "the last line is torn");
    let columns: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
    let (first, odd) = (columns[0], columns.iter().find(|count| **count != columns[0]));
    assert!(first >= 16 && odd.is_none(), "{first} columns, and a line of {odd:?}");
    let arrays = read_npz(&out.join("trajectory.npz"));
    let times = arrays["time"].floats();
    assert_eq!(arrays["position"].shape, [times.len(), arrays["mass"].shape[0], 3]);
    assert!(times.is_sorted() && times[0] == 0.0);
    (columns.len() - 1, times.len())
}

fn long_run(out: &Path) -> Vec<String> {
    ["simulate", "builtin:box", "--seconds", "100000", "--out", &text(out)].map(str::to_owned).to_vec()
}

/// Waits until the arrays have been written again: at first they hold the state before the first step alone.
fn until(running: &mut Child, out: &Path) {
    let start = Instant::now();
    let size = || std::fs::metadata(out.join("trajectory.npz")).map_or(0, |file| file.len());
    let mut first = 0;
    while first == 0 || size() <= first {
        first = if first == 0 { size() } else { first };
        assert!(running.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(100));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_simulation_leaves_what_it_had() {
    let out = folder("killed-simulation");
    let mut running = kintsugi(long_run(&out)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(&mut running, &out);
    std::thread::sleep(Duration::from_millis(300));
    running.kill().unwrap();
    running.wait().unwrap();
    let (steps, states) = logged(&out);
    println!("{steps} steps, {states} states");
    assert!(states > 1 && steps + 1 >= states);
    // The states that waited had no name; half of an archive goes with the next run.
    let (code, _, err) = outcome(
        &kintsugi(["simulate", "builtin:box", "--seconds", "0.1", "--out", &text(&out)]).output().unwrap(),
    );
    assert_eq!(code, 0, "{err}");
    let names = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name());
    let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert_eq!(hidden, [".kintsugi-files.json"]);
}

/// The greatest resident memory of a simulation of 100 boxes at rest, MiB.
#[cfg(target_os = "linux")]
fn greatest_memory(home: &Path, seconds: u32) -> u64 {
    use std::fmt::Write as _;
    let mut scene = String::new();
    for i in 0..100 {
        let [x, z] = [i % 10, i / 10].map(|k| 1.5 * f64::from(k));
        write!(scene, "[[body]]\nfile = \"builtin:box\"\nlevel = 2\nposition = [{x}, 0.6, {z}]\n").unwrap();
    }
    let (file, out) = (home.join("boxes.toml"), home.join(seconds.to_string()));
    std::fs::write(&file, scene).unwrap();
    let words = ["simulate", &text(&file), "--seconds", &seconds.to_string(), "--volume-every", "0"];
    let mut command = kintsugi(words);
    command.args(["--compute", "cpu", "--out", &text(&out)]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut most, status) = (0, format!("/proc/{}/status", running.id()));
    while running.try_wait().unwrap().is_none() {
        let told = std::fs::read_to_string(&status).unwrap_or_default();
        let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(most);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(running.wait().unwrap().success());
    let states = read_npz(&out.join("trajectory.npz"))["time"].shape[0];
    assert_eq!(states, 100 * seconds as usize + 1);
    most / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn ten_times_the_steps_take_no_more_memory() {
    let home = folder("memory-of-simulation");
    let [short, long] = [20, 200].map(|seconds| greatest_memory(&home, seconds));
    println!("{short} MiB for 2,000 steps, {long} MiB for 20,000");
    // All states are 200 MiB.
    assert!(short > 0 && long < short + 32, "{short} MiB, {long} MiB");
}

#[cfg(unix)]
#[test]
fn a_simulation_without_room_says_so_and_leaves_what_it_had() {
    let out = folder("simulation-without-room");
    let program = kintsugi([""; 0]);
    let arguments = long_run(&out).join(" ");
    // Blocks of 512 bytes; what would be larger is an error and no signal.
    let limited =
        format!("trap '' XFSZ; ulimit -f 600; exec {} {arguments}", text(Path::new(program.get_program())));
    let output = Command::new("sh").args(["-c", &limited]).env_remove("DISPLAY").output().unwrap();
    let (code, _, err) = outcome(&output);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("has room") && err.contains("the log up to then is written"), "{err}");
    let (steps, states) = logged(&out);
    println!("{steps} steps, {states} states");
    assert!(states > 1 && steps > 100);
    let mut names = std::fs::read_dir(&out).unwrap().map(|entry| text(&entry.unwrap().path()));
    assert!(names.all(|name| !name.ends_with(".part")), "nothing half done is left");
}

#[test]
fn a_simulation_whose_device_is_lost_leaves_what_it_had_and_ends_with_3() {
    let out = folder("lost-simulation");
    let scene = out.join("falls.toml");
    // By octrees every step asks the device; by hulls it has nothing to do here.
    let text_of_scene =
        "contacts = \"octree\"\n[[body]]\nfile = \"builtin:box\"\nlevel = 4\nposition = [0.0, 1.0, 0.0]\n";
    std::fs::write(&scene, text_of_scene).unwrap();
    let mut command = kintsugi(["simulate", &text(&scene), "--seconds", "5", "--compute", "gpu"]);
    let output = command.args(["--out", &text(&out)]).env("KINTSUGI_MISHAPS", "lose=20").output().unwrap();
    let (code, _, err) = outcome(&output);
    if err.contains("mesa-vulkan-drivers") {
        return skip::note(err.trim());
    }
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("was lost") && !err.contains("panicked"), "{err}");
    let (steps, states) = logged(&out);
    println!("{steps} steps, {states} states: {err}");
    assert!(steps > 1 && states == steps + 1);
}
