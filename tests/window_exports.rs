//! What is broken in the real window leaves it by the export panel: pieces where they lie, the mesh in pieces, and a
//! blow that a command repeats.
//!
//! Needs Xvfb, openbox, xdotool and ImageMagick's `import`, as `tests/window.rs` does.

mod support;

use std::time::Duration;

use serde_json::Value;
use support::window::{Display, Program, changed, pair, rect, want_of_tools};

#[test]
fn what_is_broken_in_the_window_leaves_by_the_export_panel() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let display = Display::open();
    exports_what_it_shows(&display);
    breaks_the_mesh_itself(&display);
    keeps_a_cell_and_breaks(&display);
}

/// The pieces that the window shows leave it through the export panel: as many, and where they lie.
fn exports_what_it_shows(display: &Display) {
    let mut program = display.start("export", &["builtin:vase", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let centre = pair(&state["object_centre"]);
    program.point(centre[0], centre[1]);
    program.until("the spheres under the pointer", |s| s["hover"] == true);
    program.xdotool(&["click", "1"]);
    program.until("pieces", |s| s["pieces"].as_u64() > Some(1) && s["busy"] == false);
    program.keys("space");
    let broken = program.until("time standing still", |s| s["playing"] == false && s["busy"] == false);
    let bodies = broken["bodies"].as_u64().unwrap() as usize;

    let (folder, done) = program.export("pieces to take away");
    assert_eq!(done["errors"], Value::Array(Vec::new()));
    assert_eq!(done["export"]["done"]["pieces"].as_u64(), Some(bodies as u64));

    let (document, buffers, _) = gltf::import(folder.join("pieces.glb")).unwrap();
    let nodes: Vec<_> = document.default_scene().unwrap().nodes().collect();
    assert_eq!((nodes.len(), document.meshes().len()), (bodies, bodies), "a node and a mesh a body");
    let report = std::fs::read(folder.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert!(
        report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true),
        "{}",
        report["checks"]
    );
    assert_eq!(std::fs::read_dir(folder.join("ply")).unwrap().count(), bodies);
    let pieces = report["pieces"].as_array().unwrap();
    assert_eq!(pieces.len(), bodies);
    let mut highest = f64::NEG_INFINITY;
    for (node, piece) in nodes.iter().zip(pieces) {
        let (translation, ..) = node.transform().decomposed();
        for (k, at) in translation.into_iter().enumerate() {
            let centre = piece["centre"][k].as_f64().unwrap();
            assert!((f64::from(at) - centre).abs() < 1e-5, "{:?} lies at {translation:?}", node.name());
        }
        highest = highest.max(f64::from(translation[1]));
        let primitive = node.mesh().unwrap().primitives().next().unwrap();
        let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(|data| &data.0[..]));
        assert!(reader.read_positions().unwrap().count() > 3);
    }
    let shown = done["highest"].as_f64().unwrap();
    assert!((highest - shown).abs() < 1e-5, "the highest lies at {highest}, in the window at {shown}");
    println!("{bodies} pieces exported where they lie");
    let left: Vec<_> = std::fs::read_dir(&display.folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("being-written")), "{left:?}");
    program.close();
}

/// The mesh's own triangles in pieces: chosen in the panel, with seams under the pointer; they fall, break again, are taken
/// back and exported.
fn breaks_the_mesh_itself(display: &Display) {
    let mut program = display.start("mesh", &["builtin:vase", "--level", "6"]);
    program.until("the list of methods", |s| s["rects"]["method"].is_array());
    program.press("method");
    program.until("its entries", |s| s["rects"]["method: Mesh, box cutting"].is_array());
    program.press("method: Mesh, box cutting");
    let state = program.until("the method", |s| s["tuning"]["fracture"]["method"] == "box-cut");
    let centre = pair(&state["object_centre"]);
    program.point(centre[0], centre[1]);
    program.until("seams under the pointer", |s| s["preview"]["showing"] == "seams");
    let before = program.pixels(centre, 60.0);
    program.xdotool(&["click", "1"]);
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(10) && s["busy"] == false);
    assert!(broken["mass_error"].as_f64().unwrap().abs() < 1e-6);
    assert_eq!(broken["errors"], Value::Array(Vec::new()));
    program.until("them moving", |s| s["time"].as_f64() > broken["time"].as_f64().map(|t| t + 0.3));
    let share = changed(&before, &program.pixels(centre, 60.0));
    assert!(share > 0.05, "only {:.1} % of the picture changed where the vase was hit", share * 100.0);
    program.keys("ctrl+z");
    program.until("the whole vase", |s| s["bodies"] == 1 && s["pieces"] == 0);
    program.keys("ctrl+shift+z");
    program.until("the pieces again", |s| s["pieces"] == broken["pieces"]);
    let (folder, done) = program.export("meshes to take away");
    assert_eq!((&done["errors"], &done["export"]["done"]["pieces"]), (&broken["errors"], &broken["pieces"]));
    let report = std::fs::read(folder.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!((&report["meshes"]["kind"], &report["meshes"]["open_edges"]), (&"original".into(), &0.into()));
    assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{report}");
    program.close();
}

/// The Keep tool: clicks choose the cells that stay, undo takes a click back, the panel's button breaks off
/// the rest in one piece, and undo brings the impact back with its cells.
fn keeps_a_cell_and_breaks(display: &Display) {
    let mut program = display.start("keep", &["builtin:vase", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let centre = pair(&state["object_centre"]);
    program.point(centre[0], centre[1]);
    program.keys("k");
    program.until("the keep tool", |s| s["tool"] == "keep" && s["hover"] == true);
    program.xdotool(&["click", "1"]);
    let seen = |s: &Value| s["preview"]["showing"] == "seams" && s["refined"].as_u64() > Some(2);
    program.until("the first click pins", |s| s["pinned"] == true && seen(s));
    program.until("a cell under the pointer", |s| s["hovered_cell"].is_u64());

    // Beside the impact's own handle.
    let mut chosen: Vec<u64> = Vec::new();
    for (x, y) in [(0.0, 40.0), (-50.0, 105.0)] {
        program.point(centre[0] + x, centre[1] + y);
        std::thread::sleep(Duration::from_millis(300));
        let over = program.until("a cell under the pointer", |s| s["hovered_cell"].is_u64() && seen(s));
        let cell = over["hovered_cell"].as_u64().unwrap();
        if chosen.contains(&cell) {
            continue;
        }
        let before = program.pixels([centre[0] + x, centre[1] + y], 6.0);
        program.xdotool(&["click", "1"]);
        chosen.push(cell);
        chosen.sort_unstable();
        program.until("a chosen cell", |s| s["kept"] == Value::from(chosen.clone()) && seen(s));
        let share = changed(&before, &program.pixels([centre[0] + x, centre[1] + y], 6.0));
        // The cell was lit under the pointer before, so it only changes its tint.
        assert!(share > 0.2, "only {:.0} % of the pixels at the click changed", share * 100.0);
    }
    assert_eq!(chosen.len(), 2, "the two places lie in two cells");
    program.keys("ctrl+z");
    program.until("one cell less", |s| s["kept"].as_array().map(Vec::len) == Some(1));
    program.keys("ctrl+shift+z");
    let kept = program.until("it is back", |s| s["kept"] == Value::from(chosen.clone()));
    assert_eq!((&kept["pieces"], &kept["errors"]), (&Value::from(0), &Value::Array(Vec::new())));

    let [x, y, w, h] = rect(&kept, "break");
    program.point(x + w / 2.0, y + h / 2.0);
    program.xdotool(&["click", "1"]);
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(1) && s["busy"] == false);
    assert_eq!(broken["kept_body"]["cells"], Value::from(chosen.clone()));
    assert_eq!(broken["kept_body"]["pieces"], 1, "cells side by side stay in one piece");
    assert_eq!(broken["pinned"], false);
    println!("cells {chosen:?} of {} stayed in one piece, {} pieces", kept["cells"], broken["pieces"]);
    program.keys("ctrl+z");
    program.until("the impact and its cells", |s| {
        s["pieces"] == 0 && s["pinned"] == true && s["kept"] == Value::from(chosen.clone())
    });
    repeats_by_command(program, centre);
}

/// What was pinned, tuned, kept and broken twice leaves by the export panel, and the command that the panel shows then
/// writes the same bytes.
fn repeats_by_command(mut program: Program<'_>, centre: [f64; 2]) {
    // The pin is back, and with it rows above the slider: where it is now, the next frames say.
    std::thread::sleep(Duration::from_millis(800));
    let state = program.until("the slider", |s| s["rects"]["seeds"].is_array());
    let first = state["tuning"]["fracture"]["seeds"].as_u64().unwrap();
    program.slide("seeds", &[0.5, 0.45]);
    program.until("another number of seeds", |s| s["tuning"]["fracture"]["seeds"].as_u64() != Some(first));
    program.press("break");
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(1) && s["busy"] == false);
    assert!(broken["kept_body"]["cells"].as_array().is_some_and(|cells| !cells.is_empty()));
    // What falls would be gone from under the pointer before the click.
    program.keys("space");
    program.until("time standing still", |s| s["playing"] == false && s["busy"] == false);
    program.keys("h");
    // The middle may be a gap by now.
    let places = [0.0, 40.0, -40.0, 80.0, 120.0].map(|down| [centre[0], centre[1] + down]);
    let over_piece = places.into_iter().find(|at| {
        program.point(at[0], at[1]);
        program.soon(|s| s["hover"] == true)
    });
    assert!(over_piece.is_some(), "no piece under the pointer");
    program.xdotool(&["click", "1"]);
    let twice = program.until("a piece of a piece", |s| {
        s["bodies"].as_u64() > broken["bodies"].as_u64() && s["busy"] == false
    });

    let (folder, done) = program.export("twice broken");
    assert_eq!(done["errors"], Value::Array(Vec::new()));
    let command = done["export"]["done"]["command"].as_str().unwrap().to_owned();
    let shown = command.strip_prefix("kintsugi ").unwrap();
    let shell = format!("{} {shown}", env!("CARGO_BIN_EXE_kintsugi"));
    let output = std::process::Command::new("sh").args(["-c", &shell]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    let again = folder.with_file_name("twice broken-again");
    let mut files: Vec<std::path::PathBuf> =
        std::fs::read_dir(folder.join("ply")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(folder.join("pieces.glb"));
    for file in &files {
        let other = again.join(file.strip_prefix(&folder).unwrap());
        assert!(
            std::fs::read(file).unwrap() == std::fs::read(&other).unwrap(),
            "{} differs",
            other.display()
        );
    }
    println!("{} bodies, {} files: the same by {command}", twice["bodies"], files.len());
    program.close();
}
