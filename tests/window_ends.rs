//! How the window ends when nobody closes it: signals and panics. What was unsaved is kept, nothing lies about half
//! written, and the next window says what happened.
//!
//! Needs Xvfb, openbox, xdotool and ImageMagick's `import`, as `tests/window.rs` does.

#![cfg(unix)]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use kintsugi::scene::load_scene;
use serde_json::Value;
use support::window::{Display, Program, wait, want_of_tools};

/// Files in the state folder that begin and end so.
fn kept(display: &Display, beginning: &str, end: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(display.folder.join("kintsugi")).into_iter().flatten().flatten();
    let is_one = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(beginning) && name.ends_with(end)
    };
    all.map(|entry| entry.path()).filter(|path| is_one(path)).collect()
}

fn density(session: &Path) -> f64 {
    load_scene(session).unwrap().bodies[0].density
}

fn choose(program: &mut Program<'_>, preset: &str, weighs: f64) {
    program.until("the materials", |s| s["rects"][format!("preset: {preset}")].is_array());
    program.press(&format!("preset: {preset}"));
    program.until("its values", |s| s["tuning"]["density"] == weighs && s["unsaved"] == true);
}

/// Makes a change, waits until it is kept, and makes another one, which is kept only ten seconds later.
fn change_twice(display: &Display, program: &mut Program<'_>) -> PathBuf {
    choose(program, "Glass", 2500.0);
    let session = wait("a session", || kept(display, "session-", ".toml").pop());
    wait("the first change in it", || (density(&session) == 2500.0).then_some(()));
    choose(program, "Concrete", 2400.0);
    session
}

fn errors(state: &Value) -> String {
    state["errors"].to_string()
}

#[test]
fn a_signal_ends_the_window_with_the_session_kept_and_no_half_results() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let display = Display::open();
        let mut program = display.start("signal", &["builtin:vase", "--level", "8", "--compute", "cpu"]);
        let exports = signal != "INT";
        let session = change_twice(&display, &mut program);
        if exports {
            program.keys("ctrl+e");
            program.until("a folder", |s| s["export"]["folder"].as_str().is_some_and(|f| !f.is_empty()));
            // On a busy machine the panel moves once more after the button was found.
            let has_begun = |s: &Value| s["export"]["running"].is_number() || s["export"]["done"].is_object();
            let begins = |program: &mut Program<'_>| {
                program.press("export_go");
                program.soon(has_begun)
            };
            assert!((0..5).any(|_| begins(&mut program)), "no export begins");
        }
        program.signal(signal);
        assert_eq!(program.ended(), Some(code), "{signal}");
        assert_eq!(density(&session), 2400.0, "{signal}: the session holds the last change");
        assert_eq!(kept(&display, "session-", ".lock").len(), 0, "{signal}");
        let names: Vec<String> = fs::read_dir(&display.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        assert!(!names.iter().any(|name| name.contains("being-written")), "{signal}: {names:?}");
        let results = names.iter().filter(|name| name.ends_with("-pieces"));
        for folder in results {
            assert!(display.folder.join(folder).join("report.json").is_file(), "{signal}: half of {folder}");
        }
    }
}

fn start<'a>(display: &'a Display, name: &str) -> Program<'a> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kintsugi"));
    command.env("KINTSUGI_MISHAPS", format!("stop={}", display.folder.display()));
    display.start_by(command, name, &["builtin:box", "--level", "5", "--compute", "cpu"])
}

#[test]
fn a_panic_leaves_a_report_and_the_session_and_the_next_window_says_so() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let display = Display::open();
    let mut program = start(&display, "worker");
    // A worker: the window goes on and says it.
    fs::write(display.folder.join("worker"), "").unwrap();
    program.keys("F12");
    let state = program.until("what happened", |s| errors(s).contains("a worker stopped unexpectedly"));
    let reports = kept(&display, "crash-", ".txt");
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(errors(&state).contains(&reports[0].display().to_string()), "{}", errors(&state));
    let report = fs::read_to_string(&reports[0]).unwrap();
    let version = format!("version:  {}", env!("CARGO_PKG_VERSION"));
    for part in
        [version.as_str(), "a test asked for", "mishaps.rs:", "a worker", "open:     box", "send this file"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    choose(&mut program, "Glass", 2500.0);
    program.close();
    // The window's own thread: the program ends, and what was kept stays.
    let mut program = start(&display, "own");
    let state = program.until("a window", |s| s["refined"].as_u64() > Some(1));
    assert!(!errors(&state).contains("unexpectedly"), "the window before has told it: {}", errors(&state));
    choose(&mut program, "Concrete", 2400.0);
    let holds = |weighs: f64| {
        let sessions = kept(&display, "session-", ".toml");
        sessions.iter().any(|session| density(session) == weighs).then_some(())
    };
    wait("the change in a session", || holds(2400.0));
    fs::write(display.folder.join("window"), "").unwrap();
    // The window may be gone before the pointer has moved, so nothing may wait for the window.
    display.tool("xdotool", &["mousemove", "500", "400", "mousemove", "550", "450"]);
    assert_eq!(program.ended(), Some(101));
    assert!(holds(2400.0).is_some());
    let reports = kept(&display, "crash-", ".txt");
    let own: Vec<_> =
        reports.iter().filter(|r| fs::read_to_string(r).unwrap().contains("the window's")).collect();
    assert_eq!((reports.len(), own.len()), (2, 1), "{reports:?}");
    let mut program = start(&display, "next");
    let state = program.until("what happened", |s| errors(s).contains("ended unexpectedly"));
    let said = errors(&state);
    assert!(
        said.contains(&own[0].display().to_string()) && said.contains("unsaved changes are kept"),
        "{said}"
    );
    std::thread::sleep(Duration::from_millis(300));
    program.close();
}
