//! A researcher looks inside a break in the real window: a slice by cells with its legend, a probed voxel with its labels, a
//! second method beside it, and a figure in a file.

mod support;

use serde_json::{Value, json};
use support::window::{Display, Program, pair, rect, want_of_tools};

/// Chooses a line of a list.
fn choose(program: &mut Program<'_>, list: &str, line: &str) {
    program.press(list);
    program.until("the open list", |s| s["rects"][line].is_array());
    program.press(line);
}

/// Scrolls the right panel until a named widget is well inside the window.
fn scroll_to(program: &mut Program<'_>, name: &str) {
    const TOP: f64 = 90.0;
    const BOTTOM: f64 = 620.0;
    for _ in 0..40 {
        let [_, y, ..] = rect(&program.state().unwrap(), name);
        if (TOP..BOTTOM).contains(&y) {
            return;
        }
        // Beside the rows, where no slider takes the wheel.
        program.point(1274.0, 400.0);
        let wheel = if y < TOP { "4" } else { "5" };
        program.xdotool(&["click", "--repeat", "5", "--delay", "30", wheel]);
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    panic!("{name} does not come into sight");
}

/// The two seeds nearest to the centre of a voxel, with squared distances in units of 1 / 2^14 of the grid's side, from the
/// arrays of an export, by NumPy.
fn nearest_by_numpy(arrays: &std::path::Path, voxel: &Value, level: u64) -> Value {
    const SCRIPT: &str = "
import json, sys
import numpy as np
arrays, voxel, level = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
unit = 1 << (14 - level)
seeds = np.rint(np.load(arrays)['seeds'] * unit).astype(np.int64)
centre = np.array(voxel, dtype=np.int64) * unit + unit // 2
squares = ((seeds - centre) ** 2).sum(axis=1)
order = np.argsort(squares, kind='stable')[:2]
code = 0
for bit in range(level):
    for axis in range(3):
        code |= (voxel[axis] >> bit & 1) << (3 * bit + axis)
print(json.dumps({'seeds': [[int(k), int(squares[k])] for k in order], 'morton': code}))
";
    let output = std::process::Command::new("python3")
        .args(["-c", SCRIPT])
        .arg(arrays)
        .args([voxel.to_string(), level.to_string()])
        .output()
        .expect("python3 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_break_is_sliced_probed_compared_and_drawn_into_a_figure() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let display = Display::open();
    let mut program = display.start("inside", &["builtin:box", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let [x, y] = pair(&state["object_centre"]);
    program.keys("space");
    program.until("time standing still", |s| s["playing"] == false);
    program.point(x, y);
    program.xdotool(&["click", "1"]);
    program.until("pieces", |s| s["pieces"].as_u64() > Some(3) && s["busy"] == false);

    // A slice through the middle shows cells, and says which colour is which.
    scroll_to(&mut program, "section_slices");
    program.press("section_slices");
    program.until("the section", |s| s["rects"]["add_slice"].is_array());
    scroll_to(&mut program, "add_slice");
    program.press("add_slice");
    program.until("a slice", |s| s["tuning"]["slices"].as_array().is_some_and(|all| all.len() == 1));
    let material = program.until("a drawn slice", |s| s["refined"].as_u64() > Some(2));
    let before = program.pixels([x, y], 60.0);
    scroll_to(&mut program, "slice_show");
    choose(&mut program, "slice_show", "slice_shows: cell");
    program.until("its legend", |s| s["legends"] == json!(["Cell"]));
    program.until("a drawn slice", |s| s["refined"].as_u64() > Some(2));
    let cells = program.pixels([x, y], 60.0);
    assert!(support::window::changed(&before, &cells) > 0.3, "the cut has the colours of cells");
    assert_eq!(material["errors"], json!([]));

    // The handle moves it.
    let at = |s: &Value| s["tuning"]["slices"][0]["at"].as_f64().unwrap();
    let stood = at(&program.state().unwrap());
    let [hx, hy, hw, hh] = rect(&program.state().unwrap(), "slice_handle_0");
    let (hx, hy) = (hx + hw / 2.0, hy + hh / 2.0);
    program.point(hx, hy);
    program.xdotool(&["mousedown", "1"]);
    for step in 1..=4 {
        program.point(hx - 8.0 * f64::from(step), hy + 5.0 * f64::from(step));
    }
    program.xdotool(&["mouseup", "1"]);
    let moved = program.until("a moved slice", |s| (at(s) - stood).abs() > 0.01);
    assert_eq!(moved["undo"], "slices");
    program.keys("ctrl+z");
    program.until("the slice where it was", |s| (at(s) - stood).abs() < 1e-9);

    // A voxel of the cut, beside the handle: what NumPy finds in the arrays of the same break.
    program.press("probe");
    program.until("the probe", |s| s["tool"] == "probe");
    program.point(x + 45.0, y + 30.0);
    program.xdotool(&["click", "1"]);
    let probed = program.until("a probed voxel", |s| s["probe"].is_object());
    let probe = &probed["probe"];
    assert!(probe["piece"].is_u64() && probe["generation"] == 1, "{probe}");
    let (folder, _) = program.export("inside");
    program.keys("Escape");
    let arrays = folder.parent().unwrap().join("arrays");
    let scene = folder.join("scene.toml");
    let told = std::process::Command::new(env!("CARGO_BIN_EXE_kintsugi"))
        .args([
            "fracture",
            scene.to_str().unwrap(),
            "--placed",
            "fitted",
            "--format",
            "npz",
            "--out",
            arrays.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let found = nearest_by_numpy(&arrays.join("voxels.npz"), &probe["voxel"], 6);
    assert_eq!(found["morton"], probe["morton"]);
    let seeds: Vec<Value> = probe["seeds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| json!([s["seed"], s["squared_distance"]]))
        .collect();
    assert_eq!(found["seeds"], Value::Array(seeds));

    // With the published labelling on display the probe has the label of every iteration.
    scroll_to(&mut program, "section_inside");
    program.press("section_inside");
    program.until("the section", |s| s["rects"]["labels"].is_array());
    scroll_to(&mut program, "labels");
    let unlabelled = program.pixels([x, y], 60.0);
    choose(&mut program, "labels", "labels: published");
    let labelled = program
        .until("labels", |s| s["probe"]["label"]["iterations"].as_array().is_some_and(|all| all.len() > 2));
    let labels = labelled["probe"]["label"]["iterations"].as_array().unwrap();
    let rising = labels.windows(2).all(|pair| pair[0].as_u64() <= pair[1].as_u64());
    assert!(rising, "labels only rise: {labels:?}");
    program.until("drawn labels", |s| s["refined"].as_u64() > Some(2));
    let coloured = support::window::changed(&unlabelled, &program.pixels([x, y], 60.0));
    assert!(coloured > 0.005, "voxels have the colours of their labels: {coloured} of the picture changed");

    // Two views of one blow, with the number of crack voxels that differ.
    scroll_to(&mut program, "beside");
    program.press("beside");
    program.until("the methods", |s| s["rects"]["beside: octree-rough"].is_array());
    // Box cutting, the first choice, has no crack voxels.
    scroll_to(&mut program, "beside: octree-rough");
    program.press("beside: octree-rough");
    let compared = program.until("two views with counts", |s| {
        s["columns"].as_array().is_some_and(|all| all.iter().any(|column| column["differing"].is_array()))
    });
    let differing =
        compared["columns"].as_array().unwrap().iter().find_map(|c| c["differing"].as_array()).unwrap();
    assert!(differing[0].as_u64() > Some(0), "{differing:?}");
    scroll_to(&mut program, "beside");
    program.press("beside");
    program.until("one view", |s| s["columns"] == json!([]));

    // A figure in a file.
    program.keys("F12");
    let written = program.until("the picture", |s| {
        s["remarks"].as_array().unwrap().iter().any(|r| r.as_str().unwrap().contains("kintsugi-1.png"))
    });
    let picture = std::fs::read(display.folder.join("kintsugi-1.png")).unwrap();
    let picture = kintsugi::export::read_signed(&picture).unwrap();
    assert!(picture.size.iter().all(|side| *side > 200));
    let colours: std::collections::BTreeSet<&[u8]> = picture.rgba.chunks_exact(4).collect();
    assert!(colours.len() > 100, "{} colours are no picture of a cut", colours.len());
    // What it was made from has the slice as it is shown.
    let scene = picture.signature.unwrap().scene;
    assert!(scene.contains("[[slice]]") && scene.contains("show = \"cell\""), "{scene}");
    assert_eq!(written["errors"], json!([]));
    program.close();
}
