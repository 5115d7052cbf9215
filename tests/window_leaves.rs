//! A shot leaves the real window: broken, dragged and thrown at, then exported as motion, as a scene that plays the same,
//! and as a film.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{
    program::run,
    results::{read_npz, read_report},
    window::{Display, Program, pair, want_of_tools},
};

#[test]
fn what_was_played_leaves_as_motion_as_a_scene_and_as_a_film() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let display = Display::open();
    let mut program = display.start("leaves", &["builtin:vase", "--level", "6"]);
    let state = program.until("a drawn object", |s| s["refined"].as_u64() > Some(2));
    let [x, y] = pair(&state["object_centre"]);

    // The hand lifts the whole vase a little, a blow breaks it, a ball flies into the pieces.
    program.keys("g");
    program.point(x, y);
    program.xdotool(&["mousedown", "1"]);
    for step in 1..=8 {
        program.point(x + 4.0 * f64::from(step), y - 6.0 * f64::from(step));
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    program.xdotool(&["mouseup", "1"]);
    program.keys("h");
    program.until("the vase at rest", |s| s["awake"] == 0);
    let state = program.state().unwrap();
    let [x, y] = pair(&state["object_centre"]);
    program.point(x, y);
    program.until("the spheres under the pointer", |s| s["hover"] == true);
    program.xdotool(&["click", "1"]);
    let broken = program.until("pieces", |s| s["pieces"].as_u64() > Some(1) && s["busy"] == false);
    program.keys("t");
    program.point(x, y);
    program.xdotool(&["click", "1"]);
    let bodies = |s: &Value| s["bodies"].as_u64().unwrap_or(0);
    program.until("a ball", |s| bodies(s) > bodies(&broken));
    let thrown = program.state().unwrap()["time"].as_f64().unwrap();
    program.until("half a second", |s| s["time"].as_f64() > Some(thrown + 0.5));
    program.keys("space");
    let still = program.until("time standing still", |s| s["playing"] == false && s["busy"] == false);
    assert_eq!(still["errors"], Value::Array(Vec::new()));

    let moved = leaves_as_motion(&mut program, &still);
    plays_the_same(&moved, &still);
    leaves_as_a_film(&mut program);
    program.close();
}

/// Chooses what is exported, exports it and waits; gives its folder and the state then.
fn export(program: &mut Program<'_>, kind: &str, name: &str) -> (std::path::PathBuf, Value) {
    let folder = program.open_export(name);
    program.press(&format!("export_kind_{kind}"));
    program.until("that kind of export", |s| s["export"]["kind"] == kind);
    if kind == "film" {
        program.press("export_film_draft");
    }
    let before = folder.exists();
    assert!(!before);
    program.press("export_go");
    let done = program.until("the export", |s| s["export"]["done"]["folder"] == folder.to_str().unwrap());
    assert_eq!(done["errors"], Value::Array(Vec::new()));
    program.keys("Escape");
    program.until("the panel closed", |s| s["export"]["open"] == false);
    (folder, done)
}

/// The last key of every node that is there at the end is where the window has it.
fn leaves_as_motion(program: &mut Program<'_>, still: &Value) -> std::path::PathBuf {
    let (folder, _) = export(program, "motion", "a shot");
    let report = read_report(&folder);
    let (document, buffers, _) = gltf::import(folder.join("animation.glb")).unwrap();
    let data = |buffer: gltf::Buffer<'_>| buffers.get(buffer.index()).map(|data| &data.0[..]);
    let mut last: Vec<[f32; 3]> = document.nodes().map(|node| node.transform().decomposed().0).collect();
    let mut keys = 0;
    for channel in document.animations().flat_map(|animation| animation.channels().collect::<Vec<_>>()) {
        if let gltf::animation::util::ReadOutputs::Translations(all) =
            channel.reader(data).read_outputs().unwrap()
        {
            let all: Vec<_> = all.collect();
            keys += all.len();
            last[channel.target().node().index()] = *all.last().unwrap();
        }
    }
    let told = report["bodies"].as_array().unwrap();
    assert_eq!(told.len(), last.len());
    let there: Vec<f32> =
        told.iter().zip(&last).filter(|(body, _)| body["died"].is_null()).map(|(_, at)| at[1]).collect();
    assert_eq!(there.len() as u64, still["bodies"].as_u64().unwrap());
    let highest = there.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shown = still["highest"].as_f64().unwrap();
    assert!(
        (f64::from(highest) - shown).abs() < 1e-5,
        "the highest ends at {highest}, in the window at {shown}"
    );
    let whole = told.iter().find(|body| body["name"] == "whole_000").expect("the vase until it breaks");
    assert!(whole["born"].is_null() && whole["keys"].as_u64() > Some(3), "the hand moved it: {whole}");
    println!("{} nodes with {keys} keys left the window", last.len());
    folder
}

/// The scene beside the motion plays the same without a window.
fn plays_the_same(folder: &Path, still: &Value) {
    let (scene, out) = (folder.join("scene.toml"), folder.join("again"));
    let text = std::fs::read_to_string(&scene).unwrap();
    for kind in ["hand", "impact", "projectile"] {
        assert!(text.contains(&format!("kind = \"{kind}\"")), "no {kind} in the scene");
    }
    let seconds = still["time"].as_f64().unwrap().to_string();
    let arguments =
        ["simulate", scene.to_str().unwrap(), "--seconds", &seconds, "--out", out.to_str().unwrap()];
    run(arguments.into_iter().chain(["--volume-every", "0", "--compute", "cpu"])).unwrap();
    let arrays = read_npz(&out.join("trajectory.npz"));
    let bodies = arrays["mass"].floats().len();
    let positions = arrays["position"].floats();
    let last = positions[positions.len() - 3 * bodies..].chunks_exact(3);
    let there: Vec<f64> = last.map(|p| p[1]).filter(|y| y.is_finite()).collect();
    assert_eq!(there.len() as u64, still["bodies"].as_u64().unwrap());
    let highest = there.into_iter().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(highest, still["highest"].as_f64().unwrap(), "what played again ends elsewhere");
}

/// As many pictures as the panel says, of the size that it says; a film where ffmpeg is installed.
fn leaves_as_a_film(program: &mut Program<'_>) {
    let (folder, done) = export(program, "film", "a film");
    let report = read_report(&folder);
    let frames = report["frames"].as_u64().unwrap();
    assert_eq!(done["export"]["done"]["pieces"].as_u64(), Some(frames));
    let span: Vec<f64> = serde_json::from_value(report["time"].clone()).unwrap();
    assert_eq!(frames, ((span[1] - span[0]) * 30.0 + 1e-6).floor() as u64 + 1);
    let picture =
        |number: u64| image::open(folder.join(format!("frames/{number:05}.png"))).unwrap().into_rgba8();
    assert_eq!(std::fs::read_dir(folder.join("frames")).unwrap().count() as u64, frames);
    let (first, last) = (picture(0), picture(frames - 1));
    assert_eq!(first.dimensions(), (1280, 720));
    let differ = first.as_raw().iter().zip(last.as_raw()).filter(|(a, b)| a.abs_diff(**b) > 40).count();
    assert!(differ > 10_000, "the vase is whole in the first frame and broken in the last: {differ}");
    let film = ["film.mp4", "film.webm"].iter().any(|name| folder.join(name).exists());
    println!("{frames} frames left the window, {}", if film { "and a film" } else { "no ffmpeg for a film" });
}
