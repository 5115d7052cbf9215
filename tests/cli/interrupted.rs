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
    assert!(!out.join("trajectory.part").exists() && !out.join("steps.part").exists());
}

#[test]
fn a_simulation_whose_device_is_lost_leaves_what_it_had_and_ends_with_3() {
    let out = folder("lost-simulation");
    let scene = out.join("falls.toml");
    let text_of_scene = "[[body]]\nfile = \"builtin:box\"\nlevel = 4\nposition = [0.0, 1.0, 0.0]\n";
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
