//! A stage is set by hand in the real window: an object is added, dragged by its handles, placed by numbers, named; what is
//! saved has it there.

mod support;

use serde_json::Value;
use support::window::{Display, Program, pair, rect, want_of_tools};

/// Where the last body stands, m.
fn foot(state: &Value) -> [f64; 3] {
    let feet = state["feet"].as_array().unwrap();
    let last = &feet[feet.len() - 1];
    [0, 1, 2].map(|axis| last[axis].as_f64().unwrap())
}

/// Drags from the middle of a named handle.
fn drag(program: &Program<'_>, name: &str, by: [f64; 2]) {
    std::thread::sleep(std::time::Duration::from_millis(600));
    let [x, y, w, h] = rect(&program.state().unwrap(), name);
    let (x, y) = (x + w / 2.0, y + h / 2.0);
    program.point(x, y);
    program.xdotool(&["mousedown", "1"]);
    for step in 1..=5 {
        let share = f64::from(step) / 5.0;
        program.point(x + by[0] * share, y + by[1] * share);
    }
    program.xdotool(&["mouseup", "1"]);
    std::thread::sleep(std::time::Duration::from_millis(400));
}

/// Types a number into a named field.
fn enter(program: &Program<'_>, name: &str, text: &str) {
    program.press(name);
    std::thread::sleep(std::time::Duration::from_millis(500));
    program.keys("ctrl+a");
    program.xdotool(&["type", "--delay", "40", "--", text]);
    program.keys("Return");
}

#[test]
fn objects_are_added_moved_turned_and_named_and_the_scene_has_them_there() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let display = Display::open();
    let mut program = display.start("stage", &["builtin:box", "--level", "5"]);
    program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    program.keys("space");
    program.until("time standing still", |s| s["playing"] == false);
    program.press("add_menu");
    program.until("the list of shapes", |s| s["rects"]["add: vase"].is_array());
    program.press("add: vase");
    let added = program.until("a second object", |s| s["objects"] == serde_json::json!(["box", "vase"]));
    assert_eq!((&added["focus"], &added["selected"], &added["tool"]), (&1.into(), &1.into(), &"move".into()));
    program.until("the handles", |s| s["rects"]["gizmo_x"].is_array() && s["busy"] == false);

    // The arrow moves along x alone, the ring turns where it stands.
    let before = foot(&program.state().unwrap());
    drag(&program, "gizmo_x", [90.0, 20.0]);
    let moved = program.until("a moved vase", |s| (foot(s)[0] - before[0]).abs() > 0.05);
    let after = foot(&moved);
    assert!(
        (after[1] - before[1]).abs() < 1e-9 && (after[2] - before[2]).abs() < 1e-9,
        "{before:?} {after:?}"
    );
    assert_eq!(moved["undo"], "move vase");
    drag(&program, "gizmo_turn", [-40.0, 30.0]);
    program.until("a turned vase", |s| s["undo"] == "move vase" && foot(s) != after);
    program.keys("ctrl+z");
    program.until("the turn taken back", |s| foot(s) == after);

    // By numbers, and back down to the floor.
    enter(&program, "place_z", "-0.5");
    program.until("a vase farther back", |s| (foot(s)[2] + 0.5).abs() < 1e-9);
    enter(&program, "place_y", "0.25");
    program.until("a vase in the air", |s| (foot(s)[1] - 0.25).abs() < 1e-9);
    enter(&program, "turn_x", "90");
    program.until("a lying vase", |s| foot(s)[1].abs() > 1e-3 && (foot(s)[1] - 0.25).abs() > 1e-3);
    program.press("put_on_floor");
    let lies = program.until("a vase on the floor", |s| foot(s)[1].abs() < 1e-9);
    enter(&program, "object_name", "urn");
    program.until("its name", |s| s["objects"] == serde_json::json!(["box", "urn"]));
    assert_eq!(lies["errors"], Value::Array(Vec::new()));

    // The scene of an export has it there, and opens with it there.
    let (folder, _) = program.export("a stage");
    let text = std::fs::read_to_string(folder.join("scene.toml")).unwrap();
    let scene: toml::Table = text.parse().unwrap();
    let bodies = scene["body"].as_array().unwrap();
    assert_eq!(bodies[1]["name"].as_str(), Some("urn"));
    let [x, _, z] = foot(&lies);
    let position: Vec<f64> =
        bodies[1]["position"].as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect();
    assert!(bodies[1]["on_floor"].as_bool().unwrap());
    assert!((position[0] - x).abs() < 1e-9 && (position[2] - z).abs() < 1e-9, "{position:?}");
    program.keys("Escape");
    program.close();

    let mut again = display.start("stage again", &[folder.join("scene.toml").to_str().unwrap()]);
    let state = again.until("the scene", |s| s["refined"].as_u64() > Some(2));
    assert_eq!(state["objects"], serde_json::json!(["box", "urn"]));
    let there = foot(&state);
    assert!((0..3).all(|axis| (there[axis] - foot(&lies)[axis]).abs() < 1e-9), "{there:?}");
    let [x, y] = pair(&state["object_centre"]);
    assert!(x > 0.0 && y > 0.0);
    again.close();
}
