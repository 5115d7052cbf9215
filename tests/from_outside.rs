//! A method and a generator that the program does not have, in the window: chosen in its panels or by a scene, they
//! break, hold apart, are taken back, played back and exported like the others.
//!
//! A window wants the main thread, and the program as it is shipped does not have the two. So this file is a test
//! program and, when it is called with the word [`AS_PROGRAM`], Kintsugi with two lines more.

mod support;

use std::{ffi::OsStr, process::Command};

use kintsugi::{bodies::register_generator, fracture::register};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use support::{
    plane_cut, spheres,
    window::{Display, Program, pair, want_of_tools},
};

/// Called with this word first, it is the program.
const AS_PROGRAM: &str = "as-program";

fn main() -> std::process::ExitCode {
    let mut words = std::env::args_os();
    let name = words.next();
    if words.next().as_deref() == Some(OsStr::new(AS_PROGRAM)) {
        register(&plane_cut::ENTRY).expect("its name is free");
        register_generator(&spheres::ENTRY).expect("its name is free");
        let result = kintsugi::cli::run(name.into_iter().chain(words));
        result.expect("the program ends well");
        return std::process::ExitCode::SUCCESS;
    }
    let test = |name: &str, run: fn()| Trial::test(name, move || (run(), Ok(())).1);
    let tests = vec![
        test("a_method_from_outside_is_chosen_in_the_panel_and_breaks", chosen_in_the_panel),
        test("a_scene_brings_a_finder_and_a_method_from_outside_to_the_window", chosen_by_a_scene),
    ];
    // One window after the other: where there is no graphics card, each draws on all cores.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn program<'a>(display: &'a Display, name: &str, arguments: &[&str]) -> Program<'a> {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.arg(AS_PROGRAM);
    display.start_by(command, name, arguments)
}

/// A display; none, noted, where its tools are missing.
fn display() -> Option<Display> {
    match want_of_tools() {
        Some(line) => {
            support::skip::note(&line);
            None
        }
        None => Some(Display::open()),
    }
}

fn chosen_in_the_panel() {
    let Some(display) = display() else { return };
    let mut program = program(&display, "method", &["builtin:column", "--level", "6"]);
    let state = program.until("the list of methods", |s| s["rects"]["method"].is_array());
    assert_ne!(state["tuning"]["fracture"]["method"], "plane-cut");
    program.press("method");
    program.until("its entries", |s| s["rects"]["method: in two"].is_array());
    program.press("method: in two");
    program.until("the method", |s| s["tuning"]["fracture"]["method"] == "plane-cut");
    breaks_and_exports(&mut program);
    program.close();
}

fn chosen_by_a_scene() {
    let Some(display) = display() else { return };
    let file = display.folder.join("spheres.toml");
    let text = "contacts = \"spheres\"\n[[body]]\nfile = \"builtin:box\"\nlevel = 5\non_floor = false\n\
                position = [0.0, 1.5, 0.0]\n[body.fracture]\nmethod = \"plane-cut\"\noptions = { share = 0.4 }\n";
    std::fs::write(&file, text).expect("it is written");
    let mut program = program(&display, "finder", &[&file.to_string_lossy()]);
    let state = program.until("the scene", |s| s["tuning"]["contacts"] == "spheres");
    assert_eq!(state["tuning"]["fracture"]["method"], "plane-cut");
    assert_eq!(state["tuning"]["fracture"]["options"]["share"], 0.4);
    // A cube of 1 m lies with its centre at 0.5 m; the sphere round it, at half its diagonal.
    let still = program.until("rest", |s| s["awake"] == 0 && s["time"].as_f64() > Some(1.0));
    let (height, radius) = (still["highest"].as_f64().expect("a height"), 0.75f64.sqrt());
    assert!((height - radius).abs() < 0.05, "the centre rests {height} m over the floor");
    breaks_and_exports(&mut program);
    program.close();
}

/// A click breaks the object in two; undo, redo and the timeline go back and forth; both parts are exported.
fn breaks_and_exports(program: &mut Program<'_>) {
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let centre = pair(&state["object_centre"]);
    program.point(centre[0], centre[1]);
    program.until("the object under the pointer", |s| s["hover"] == true);
    program.xdotool(&["click", "1"]);
    let parts = |s: &Value| s["pieces"] == 2 && s["busy"] == false;
    let broken = program.until("two parts", parts);
    assert!(broken["mass_error"].as_f64().expect("a number").abs() < 1e-6);
    assert_eq!(broken["errors"], Value::Array(Vec::new()));
    program.until("time to pass", |s| s["recorded"].as_u64() > broken["recorded"].as_u64().map(|n| n + 10));

    program.keys("space");
    let still = program.until("time standing still", |s| s["playing"] == false);
    let [x, y, w, h] = support::window::rect(&still, "timeline");
    let last = still["recorded"].as_u64().expect("a number") - 1;
    // What stood still until it broke was not recorded before.
    let first_bodies = if state["time"].as_f64() > Some(0.0) { 1 } else { 2 };
    for (place, moment, bodies) in [(x + 1.0, 0, first_bodies), (x + w - 1.0, last, 2)] {
        program.point(place, y + h / 2.0);
        // A slider moves while the button is held.
        program.xdotool(&["mousedown", "1"]);
        program.until("the recorded past", |s| s["shown_record"] == moment && s["bodies"] == bodies);
        program.xdotool(&["mouseup", "1"]);
    }

    program.keys("ctrl+z");
    program.until("the whole", |s| s["bodies"] == 1 && s["pieces"] == 0);
    program.keys("ctrl+shift+z");
    program.until("the parts again", parts);

    let (folder, done) = program.export("parts to take away");
    assert_eq!(
        (&done["errors"], &done["export"]["done"]["pieces"]),
        (&Value::Array(Vec::new()), &Value::from(2))
    );
    let (document, ..) = gltf::import(folder.join("pieces.glb")).expect("a GLB");
    assert_eq!(document.meshes().count(), 2);
    let report = std::fs::read(folder.join("report.json")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["pieces"].as_array().map(Vec::len), Some(2));
    assert!(report["checks"].as_array().expect("checks").iter().all(|check| check["ok"] == true));
}
