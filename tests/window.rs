//! The window from outside: the real program on a display of its own, a mouse, keys and a window manager.
//!
//! Needs Xvfb, openbox, xdotool and ImageMagick's `import`; without them the test fails and says what to
//! install, unless KINTSUGI_ALLOW_SKIP=1, when it says that it was skipped.

mod support;

use std::{path::Path, time::Duration};

use serde_json::Value;
use support::window::{Display, Program, changed, pair, rect, want_of_tools};

#[test]
fn the_window_does_what_a_person_asks() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let display = Display::open();
    breaks_and_takes_back(&display);
    drags_a_slider(&display);
    keeps_a_material_and_writes_a_picture(&display);
    selects_merges_and_goes_on_from_before(&display);
    previews_tunes_and_breaks(&display);
    breaks_side_by_side(&display);
    opens_resizes_and_closes(&display);
}

/// A click on the object breaks it where everyone can see it; Ctrl+Z makes it whole.
fn breaks_and_takes_back(display: &Display) {
    let mut program = display.start("break", &["builtin:vase", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let centre = pair(&state["object_centre"]);
    program.point(centre[0], centre[1]);
    program.until("the spheres under the pointer", |s| s["hover"] == true);
    let before = program.pixels(centre, 60.0);
    program.xdotool(&["click", "1"]);
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(1) && s["busy"] == false);
    let error = broken["mass_error"].as_f64().unwrap();
    assert!(error.abs() < 1e-6, "the pieces weigh {error:e} more than the vase");
    assert_eq!(broken["errors"], Value::Array(Vec::new()));
    let compared = program.until("every voxel compared", |s| s["conserved"]["all"] == true);
    assert_eq!(compared["conserved"]["first_wrong"], Value::Null, "{:#}", compared["conserved"]);
    program.until("a new picture", |s| {
        s["window"]["frames"].as_u64() > broken["window"]["frames"].as_u64().map(|f| f + 3)
    });
    let share = changed(&before, &program.pixels(centre, 60.0));
    assert!(share > 0.05, "only {:.1} % of the picture changed where the vase was hit", share * 100.0);
    println!(
        "{} pieces in {:.0} ms; {:.0} % of the picture there changed",
        broken["pieces"],
        broken["break_ms"].as_f64().unwrap(),
        share * 100.0
    );
    program.keys("ctrl+z");
    let whole = program.until("the whole vase", |s| s["bodies"] == 1 && s["pieces"] == 0);
    assert_eq!(whole["redo"], "break vase");
    program.keys("ctrl+shift+z");
    program.until("the pieces again", |s| s["pieces"] == broken["pieces"]);
    // The recording again: nothing is simulated, and nothing of it is lost.
    program.until("a recording", |s| s["recorded"].as_u64() > Some(10));
    program.keys("r");
    let begun = program.until("the recording again", |s| s["replaying"] == true);
    let over = program.until("its end", |s| s["replaying"] == false);
    assert_eq!(over["playing"], false);
    assert_eq!([&over["recorded"], &over["take"]], [&begun["recorded"], &begun["take"]]);
    rests(&program);
    program.close();
}

/// Once the picture is as fine as it gets and nothing moves, the window draws nothing.
fn rests(program: &Program<'_>) {
    let frames = || program.state().unwrap()["window"]["frames"].as_u64().unwrap();
    let second = Duration::from_secs(1);
    let mut last = frames();
    for _ in 0..60 {
        std::thread::sleep(second);
        let now = frames();
        // A remark that goes and an autosave are a frame each.
        if now <= last + 3 {
            return;
        }
        last = now;
    }
    panic!("{last} frames, and the window still draws");
}

/// A drag on the seeds' slider changes the number of seeds and is one step of undo.
fn drags_a_slider(display: &Display) {
    let mut program = display.start("slider", &["builtin:box", "--level", "5"]);
    let state = program.until("the slider", |s| s["rects"]["seeds"].is_array());
    let first = state["tuning"]["fracture"]["seeds"].as_u64().unwrap();
    program.slide("seeds", &[0.4, 0.6, 0.8, 0.9]);
    let state = program.until("more seeds", |s| s["tuning"]["fracture"]["seeds"].as_u64() > Some(first + 50));
    println!("seeds from {first} to {}", state["tuning"]["fracture"]["seeds"]);
    program.keys("ctrl+z");
    program.until("the first number", |s| s["tuning"]["fracture"]["seeds"].as_u64() == Some(first));
    program.close();
}

/// A material is chosen by its picture, is one step of undo, and is kept under a name; the next object begins with defaults; F12
/// writes what the window shows at the size that it has there.
fn keeps_a_material_and_writes_a_picture(display: &Display) {
    let mut program = display.start("material", &["builtin:vase", "--level", "5"]);
    let pattern = |s: &Value| s["tuning"]["fracture"]["preset"].clone();
    let state = program.until("the materials", |s| s["rects"]["preset: Glass"].is_array());
    assert_eq!(pattern(&state), "spheres");
    program.press("preset: Glass");
    let glass = program.until("glass", |s| pattern(s) == "radial");
    assert_eq!((&glass["undo"], &glass["tuning"]["density"]), (&"preset".into(), &2500.0.into()));
    program.point(pair(&glass["object_centre"])[0], pair(&glass["object_centre"])[1]);
    program.until("seams of it", |s| s["preview"]["showing"] == "seams");
    program.keys("ctrl+z");
    program.until("what was before", |s| pattern(s) == "spheres");
    program.keys("ctrl+shift+z");
    program.until("glass again", |s| pattern(s) == "radial");

    let is_kept = |s: &Value| s["presets"].as_array().unwrap().contains(&"Pane".into());
    let kept = (0..5).any(|_| {
        program.press("preset_name");
        std::thread::sleep(Duration::from_secs(1));
        program.keys("ctrl+a");
        program.xdotool(&["type", "--delay", "40", "Pane"]);
        std::thread::sleep(Duration::from_secs(1));
        program.press("preset_save");
        program.soon(is_kept)
    });
    assert!(kept, "{}", program.state().unwrap());
    assert!(display.folder.join("kintsugi/presets/pane.toml").is_file());

    program.keys("ctrl+p");
    std::thread::sleep(Duration::from_millis(800));
    program.xdotool(&["type", "--delay", "40", "open sphere"]);
    std::thread::sleep(Duration::from_millis(800));
    program.keys("Return");
    let other = program.until("a ball", |s| s["file"] == "builtin:sphere" && s["busy"] == false);
    assert_eq!(
        (pattern(&other), &other["tuning"]["density"]),
        ("spheres".into(), &state["tuning"]["density"])
    );
    assert!(is_kept(&other), "{}", other["presets"]);

    program.keys("F12");
    let file = display.folder.join("kintsugi-1.png");
    program.until("a picture", |s| {
        s["remarks"].as_array().unwrap().iter().any(|r| r.as_str().unwrap().contains("kintsugi-1.png"))
    });
    let picture = image::open(&file).unwrap().into_rgb8();
    let place = [2, 3].map(|i| other["viewport"][i].as_f64().unwrap().round() as u32);
    assert_eq!([picture.width(), picture.height()], place, "as large as in the window");
    program.close();
}

/// A rubber band selects pieces, what is selected is merged and hidden, each a step of undo; going on from an earlier
/// moment keeps what came after it as a take.
fn selects_merges_and_goes_on_from_before(display: &Display) {
    let mut program = display.start("select", &["builtin:vase", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    program.keys("space");
    program.until("no time", |s| s["playing"] == false);
    let centre = pair(&state["object_centre"]);
    program.point(centre[0], centre[1]);
    program.xdotool(&["click", "1"]);
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(8) && s["busy"] == false);
    program.keys("s");
    let state = program.until("the list", |s| s["tool"] == "select" && s["rects"]["pieces_merge"].is_array());
    let [x, y, w, _] = [0, 1, 2, 3].map(|i| state["viewport"][i].as_f64().unwrap());
    let band = |program: &Program<'_>, from: [f64; 2], to: [f64; 2]| {
        program.point(from[0], from[1]);
        program.xdotool(&["mousedown", "1"]);
        for share in [0.2, 0.5, 0.8, 1.0] {
            // A frame of its own, on a busy machine too: else the whole drag is none.
            std::thread::sleep(Duration::from_millis(350));
            program.point(from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]));
        }
        program.xdotool(&["mouseup", "1"]);
    };
    let camera = state["camera"].clone();
    let chosen = (0..5).any(|_| {
        // Below the message about the last session.
        band(&program, [x + 30.0, y + 180.0], centre);
        program.soon(|s| s["selected"].as_u64() > Some(0))
    });
    let some = program.state().unwrap();
    assert!(chosen, "{some}");
    assert!(some["selected"].as_u64() < broken["pieces"].as_u64(), "{}", some["selected"]);
    assert_eq!(some["camera"], camera, "the eye stays");
    program.xdotool(&["keydown", "shift"]);
    let added = (0..5).any(|_| {
        band(&program, [x + w - 30.0, y + 60.0], centre);
        program.soon(|s| s["selected"].as_u64() > some["selected"].as_u64())
    });
    program.xdotool(&["keyup", "shift"]);
    assert!(added, "{}", program.state().unwrap());

    program.keys("ctrl+a");
    program.until("all", |s| s["selected"] == broken["bodies"]);
    program.press("pieces_merge");
    let one = program.until("one body", |s| s["bodies"] == 1 && s["busy"] == false);
    assert!(one["undo"].as_str().unwrap().starts_with("merge "), "{}", one["undo"]);
    program.keys("ctrl+z");
    program.until("the pieces again", |s| s["bodies"] == broken["bodies"]);
    program.keys("ctrl+a");
    program.until("all again", |s| s["selected"] == broken["bodies"]);
    program.press("pieces_hide");
    program.until("nothing to see", |s| s["hidden"] == broken["bodies"]);
    program.keys("ctrl+z");
    program.until("everything", |s| s["hidden"] == 0);

    program.keys("space");
    program.until("a recording", |s| s["recorded"].as_u64() > Some(30));
    program.keys("space");
    let first = program.until("no time", |s| s["playing"] == false);
    let [x, y, w, h] = rect(&first, "timeline");
    program.point(x + 0.3 * w, y + h / 2.0);
    program.xdotool(&["mousedown", "1"]);
    std::thread::sleep(Duration::from_millis(500));
    program.xdotool(&["mouseup", "1"]);
    program.until("an earlier moment", |s| s["shown_record"].as_u64() < Some(25));
    program.keys("space");
    let second = program.until("another take", |s| s["take"] != first["take"]);
    assert!(second["takes"].as_array().unwrap().contains(&first["take"]), "{}", second["takes"]);
    assert_eq!(second["errors"], Value::Array(Vec::new()));
    program.close();
}

/// Pixels that turned yellower: gold on the vase's orange, black and white, also where a coarse picture blurs it.
fn yellower(before: &[u8], after: &[u8]) -> usize {
    let yellow = |p: &[u8]| (i32::from(p[0]) + i32::from(p[1])) / 2 - i32::from(p[2]);
    let pairs = before.chunks_exact(3).zip(after.chunks_exact(3));
    pairs.filter(|(before, after)| yellow(after) > yellow(before) + 20).count()
}

/// Hovering shows seams, Ctrl+click pins an impact whose handles and sliders compute the preview anew, Enter
/// breaks it for good, and the whole and its pieces are never there together.
fn previews_tunes_and_breaks(display: &Display) {
    let mut program = display.start("preview", &["builtin:vase", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let centre = pair(&state["object_centre"]);
    let recomputed = |s: &Value| s["preview"]["recomputed"].as_u64().unwrap();
    assert_eq!((&state["preview"]["showing"], &state["tool"]), (&Value::Null, &Value::from("hammer")));
    let plain = program.pixels(centre, 100.0);

    program.point(centre[0], centre[1] + 12.0);
    let seen = |s: &Value| s["preview"]["showing"] == "seams" && s["refined"].as_u64() > Some(2);
    let hovered = program.until("seams under the pointer", seen);
    assert!(hovered["preview"]["level"].as_u64() >= Some(5), "{}", hovered["preview"]);
    let gilded = program.pixels(centre, 100.0);
    let gold = yellower(&plain, &gilded);
    assert!(gold > 800, "{gold} of 40000 pixels turned golden");
    println!(
        "{gold} pixels turned golden; level {}, {:.0} ms",
        hovered["preview"]["level"],
        hovered["preview"]["ms"].as_f64().unwrap()
    );

    program.xdotool(&["keydown", "ctrl"]);
    program.xdotool(&["click", "1"]);
    program.xdotool(&["keyup", "ctrl"]);
    let pinned = program.until("a pinned impact", |s| s["pinned"] == true && s["rects"]["pin"].is_array());
    assert_eq!(pinned["pieces"], 0, "a pinned impact has not broken anything");

    let [x, y, w, h] = rect(&pinned, "radius_0");
    let radius = |s: &Value| s["tuning"]["fracture"]["radii"][0].as_f64().unwrap();
    program.point(x + w / 2.0, y + h / 2.0);
    program.xdotool(&["mousedown", "1"]);
    std::thread::sleep(Duration::from_millis(400));
    for step in 1..=4 {
        program.point(x + w / 2.0 + 8.0 * f64::from(step), y + h / 2.0 - 6.0 * f64::from(step));
    }
    program.xdotool(&["mouseup", "1"]);
    let tuned = program.until("a larger radius", |s| radius(s) > radius(&pinned) * 1.2);
    assert_eq!(tuned["camera"], pinned["camera"], "a dragged handle does not turn the eye");

    program.slide("seeds", &[0.4, 0.5, 0.6]);
    let seeds = |s: &Value| s["tuning"]["fracture"]["seeds"].as_u64();
    let more = program.until("the preview of more seeds", |s| {
        seeds(s) > seeds(&tuned) && recomputed(s) > recomputed(&tuned) && seen(s)
    });
    assert_eq!((&more["bodies"], &more["pinned"]), (&Value::from(1), &Value::from(true)));

    program.keys("Escape");
    program.until("no impact", |s| s["pinned"] == false && s["preview"]["showing"].is_null());
    program.point(centre[0], centre[1] + 12.0);
    program.keys("i");
    program.until("the impact tool", |s| s["tool"] == "impact" && s["hover"] == true);
    program.xdotool(&["click", "1"]);
    program.until("another pinned impact", |s| s["pinned"] == true);
    program.keys("Return");
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(1) && s["busy"] == false);
    let broken = program.until("a picture of them", |s| {
        s["shown_bodies"].as_array().and_then(|a| a.last()) == Some(&broken["bodies"])
    });
    let counts: Vec<u64> =
        broken["shown_bodies"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let from_one = &counts[counts.iter().position(|n| *n == 1).unwrap()..];
    assert_eq!(from_one, [1, broken["bodies"].as_u64().unwrap()], "all pieces come in one picture");
    assert_eq!(broken["pinned"], false);
    assert_eq!(broken["errors"], Value::Array(Vec::new()));
    program.keys("ctrl+z");
    program.until("the whole vase", |s| s["bodies"] == 1 && s["pieces"] == 0);
    program.close();
}

/// One blow by three methods next to each other: chosen in the panel, seen in every view, and gone when it is turned off.
fn breaks_side_by_side(display: &Display) {
    let mut program = display.start("beside", &["builtin:box", "--level", "6"]);
    let alone = program.until("the checkbox", |s| {
        s["rects"]["beside"].is_array() && s["views"].as_array().map(Vec::len) == Some(1)
    });
    assert_eq!(alone["columns"], Value::Array(Vec::new()));
    program.press("beside");
    program.until("a second view", |s| {
        s["views"].as_array().map(Vec::len) == Some(2) && s["rects"]["beside: planes"].is_array()
    });
    program.press("beside: planes");
    let state = program.until("a third view", |s| {
        s["views"].as_array().map(Vec::len) == Some(3) && s["refined"].as_u64() > Some(2)
    });
    let ways = |s: &Value| -> Vec<Value> {
        s["columns"].as_array().unwrap().iter().map(|column| column["way"].clone()).collect()
    };
    assert_eq!(ways(&state), ["octree-planar", "box-cut", "planes"]);
    let view = |s: &Value, k: usize| [0, 1, 2, 3].map(|i| s["views"][k][i].as_f64().unwrap());
    for k in 0..3 {
        let ([x, y, w, h], [left, top, width, height]) =
            (rect(&state, &format!("caption_{k}")), view(&state, k));
        assert!(x >= left && y >= top && x + w <= left + width && y + h <= top + height, "caption {k}");
    }

    // A click in the last view means the same place as one in the first.
    let centre = pair(&state["object_centre"]);
    let across = view(&state, 2)[0] - view(&state, 0)[0];
    let before = [1, 2].map(|k| {
        let at = view(&state, k)[0] - view(&state, 0)[0];
        program.pixels([centre[0] + at, centre[1]], 50.0)
    });
    program.point(centre[0] + across, centre[1]);
    program.until("the object under the pointer", |s| s["hover"] == true);
    program.xdotool(&["click", "1"]);
    let all = |s: &Value, good: fn(&Value) -> bool| s["columns"].as_array().unwrap().iter().all(good);
    let broken = program.until("pieces in every view", |s| all(s, |column| column["closed"].is_u64()));
    println!("side by side: {}", broken["columns"]);
    assert_eq!(broken["columns"][0]["pieces"], broken["pieces"]);
    assert!(all(&broken, |column| column["pieces"].as_u64() > Some(10)));
    assert!(all(&broken, |column| column["closed"] == column["pieces"]));
    assert!(all(&broken, |column| column["volume_error"].as_f64().unwrap().abs() < 1e-5));
    assert_eq!(broken["errors"], Value::Array(Vec::new()));
    program.until("them moving", |s| s["time"].as_f64() > broken["time"].as_f64().map(|t| t + 0.3));
    for (k, before) in (1..3).zip(before) {
        let at = view(&state, k)[0] - view(&state, 0)[0];
        let share = changed(&before, &program.pixels([centre[0] + at, centre[1]], 50.0));
        assert!(share > 0.05, "only {:.1} % of view {k} changed", share * 100.0);
    }
    program.keys("ctrl+z");
    program.until("whole in every view", |s| s["pieces"] == 0 && all(s, |c| c["state"] == "whole"));

    program.xdotool(&["windowsize", &program.window, "700", "800"]);
    let small = program.until("views one below the other", |s| {
        s["window"]["size"][0] == 700 && s["views"][0][0] == s["views"][2][0] && s["views"][2][0].is_f64()
    });
    for k in 0..3 {
        let ([x, _, w, _], [left, _, width, _]) = (rect(&small, &format!("caption_{k}")), view(&small, k));
        assert!(x >= left && x + w <= left + width, "caption {k} is cut off");
    }
    program.xdotool(&["windowsize", &program.window, "1280", "800"]);
    program.until("the first size", |s| s["window"]["size"][0] == 1280);
    program.press("beside");
    program.until("one view", |s| s["views"].as_array().map(Vec::len) == Some(1));
    program.close();
}

/// A file from the command line opens; the window survives being minimised and resized, and closes with exit code 0.
fn opens_resizes_and_closes(display: &Display) {
    let path = display.folder.join("cube.obj");
    write_cube(&path);
    let mut program = display.start("cube", &[&path.to_string_lossy(), "--level", "5"]);
    let state = program.until("the cube", |s| s["object"] == "cube");
    assert_eq!(state["file"].as_str(), Some(&*path.to_string_lossy()));
    program.xdotool(&["windowminimize", "--sync", &program.window]);
    std::thread::sleep(Duration::from_millis(500));
    program.xdotool(&["windowmap", "--sync", &program.window]);
    program.xdotool(&["windowactivate", "--sync", &program.window]);
    let frames = program.state().unwrap()["window"]["frames"].as_u64();
    program.xdotool(&["windowsize", &program.window, "1024", "700"]);
    let state = program.until("the new size", |s| {
        s["window"]["size"][0] == 1024
            && s["window"]["size"][1] == 700
            && s["window"]["frames"].as_u64() > frames
    });
    let rects = state["rects"].as_object().unwrap();
    assert!(rects.len() > 3, "only {} rectangles", rects.len());
    for (name, _) in rects {
        let [x, _, w, _] = rect(&state, name);
        assert!(x >= 0.0 && x + w <= 1024.5, "{name} is cut off at 1024 x 700: {x} + {w}");
    }
    program.xdotool(&["windowsize", &program.window, "420", "300"]);
    program.until("a small window", |s| s["window"]["size"][0].as_u64() < Some(700));
    program.close();
}

fn write_cube(path: &Path) {
    let mut text = String::new();
    for i in 0..8 {
        text += &format!("v {} {} {}\n", i & 1, i >> 1 & 1, i >> 2);
    }
    for face in ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"] {
        text += &format!("f {face}\n");
    }
    std::fs::write(path, text).unwrap();
}
