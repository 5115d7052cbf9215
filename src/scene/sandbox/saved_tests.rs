//! Whatever is done, the scene can be saved, and what was saved opens again.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use glam::DVec3;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{PieceEdit, Pose, Sandbox};
use crate::{
    compute::{Choice, Compute},
    mesh::Up,
    render::Camera,
    scene::{Scene, SceneBody, Tuning, load_scene, parse_scene, save_scene},
};

/// Seeds that stay, without a pinned impact; a body that is about to leave the range of a scene; and a third that falls.
const SCENE: &str = r#"
name = "restless"
floor = false
[[body]]
file = "builtin:box"
level = 3
[body.fracture]
seeds = 40
keep = [35]
[[body]]
file = "builtin:box"
level = 3
position = [999990.0, 0.0, 0.0]
linear_velocity = [9999.9, 0.0, 0.0]
[[body]]
file = "builtin:box"
level = 4
position = [0.0, 3.0, 0.0]
"#;

fn settle(sandbox: &mut Sandbox) {
    let start = Instant::now();
    loop {
        // A blow that makes no crack, or a merge that is refused, changes nothing.
        let _ = sandbox.poll();
        if !sandbox.is_busy() && sandbox.opening().is_none() {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "it never ends");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn opened(scene: Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    sandbox.open_scene(scene);
    settle(&mut sandbox);
    sandbox
}

fn tuned(sandbox: &mut Sandbox, change: impl FnOnce(&mut Tuning)) {
    let mut tuning = sandbox.tuning().clone();
    change(&mut tuning);
    sandbox.tune("random", tuning);
    sandbox.end_gesture();
}

/// Does one thing that the window can do; says what.
fn act(sandbox: &mut Sandbox, random: &mut ChaCha8Rng, number: u64) -> &'static str {
    let bodies: Vec<_> = sandbox.bodies().iter().map(|body| (body.id, body.state.position)).collect();
    let (body, at) = bodies[random.random_range(0..bodies.len())];
    match random.random_range(0..18) {
        0 => {
            tuned(sandbox, |tuning| tuning.fracture.seeds = random.random_range(1..40));
            "seeds"
        }
        1 => {
            let rows = sandbox.bodies_of_scene();
            tuned(sandbox, |tuning| {
                tuning.density = random.random_range(1.0..20_000.0);
                tuning.break_threshold = random.random_bool(0.5).then_some(0.01);
                tuning.physics_level = random.random_range(1..=6);
                tuning.gravity = random.random_range(-30.0..30.0);
                let pair = crate::scene::PairLevel { bodies: [0, rows - 1], level: 3 };
                tuning.pairs = if random.random_bool(0.5) { vec![pair] } else { Vec::new() };
            });
            "values"
        }
        2 | 3 if bodies.len() < 25 => {
            sandbox.break_at(body, at, DVec3::NEG_Z);
            "break"
        }
        2..5 => {
            for _ in 0..random.random_range(1..6) {
                sandbox.step().unwrap();
                settle(sandbox);
            }
            "steps"
        }
        5 => {
            sandbox.throw(DVec3::new(0.0, 0.0, 1e7), DVec3::NEG_Z);
            "throw"
        }
        6 | 7 => {
            let chosen: Vec<_> =
                bodies.iter().map(|(id, _)| *id).filter(|_| random.random_bool(0.2)).collect();
            if chosen.len() < bodies.len() {
                sandbox.select(chosen);
                let edits = [
                    PieceEdit::Hide,
                    PieceEdit::Lock,
                    PieceEdit::Delete,
                    PieceEdit::Merge,
                    PieceEdit::ShowAll,
                ];
                let _ = sandbox.edit(edits[random.random_range(0..edits.len())]);
            }
            "edit"
        }
        8 => {
            sandbox.undo();
            "undo"
        }
        9 => {
            sandbox.redo();
            "redo"
        }
        10 => {
            sandbox.reset();
            "reset"
        }
        11 => {
            sandbox.set_level(random.random_range(2..=4), Camera::default());
            "level"
        }
        12 => {
            let object = random.random_range(0..=sandbox.bodies_of_scene());
            sandbox.set_import(object, Up::Z, random.random_range(0.01..100.0), Camera::default());
            "size"
        }
        13 | 14 => {
            let far = |random: &mut ChaCha8Rng| {
                random.random_range(-3.0..3.0) * 1e6_f64.powi(random.random_range(0..2))
            };
            let poses: Vec<_> =
                bodies.iter().filter(|_| random.random_bool(0.4)).map(|(id, _)| *id).collect();
            let poses: Vec<_> = poses
                .into_iter()
                .map(|body| Pose {
                    body,
                    position: DVec3::new(far(random), far(random), far(random)),
                    rotation: glam::DQuat::from_xyzw(0.5, far(random), 0.1, 0.2),
                })
                .collect();
            sandbox.place(&poses);
            if random.random_bool(0.7) {
                sandbox.end_gesture();
            }
            "place"
        }
        15 => {
            if sandbox.objects().len() < 6 {
                sandbox.add(SceneBody::standing("builtin:box", 3));
            }
            "add"
        }
        16 => {
            let object = random.random_range(0..=sandbox.objects().len());
            match random.random_range(0..4) {
                0 if sandbox.objects().len() < 6 => sandbox.duplicate(object),
                1 => sandbox.name_object(object, ["", "a", "it's", "a"][random.random_range(0..4)]),
                2 => sandbox.focus_on(Some(object).filter(|_| random.random_bool(0.8))),
                _ if sandbox.bodies_of(object).count() < bodies.len() => {
                    sandbox.remove_object(object).unwrap()
                }
                _ => {}
            }
            "object"
        }
        _ => {
            sandbox.show_recorded((number % 7) as usize);
            "recorded"
        }
    }
}

#[test]
fn whatever_is_done_the_scene_can_be_saved_and_opens_again() {
    let scene = parse_scene(SCENE, "test").unwrap();
    let path: PathBuf = std::env::temp_dir().join(format!("kintsugi-saved-{}.toml", std::process::id()));
    let (mut brought, mut reopened) = (0, 0);
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sandbox = opened(scene.clone());
        let mut done = Vec::new();
        for number in 0..30 {
            done.push(act(&mut sandbox, &mut random, number));
            settle(&mut sandbox);
            let camera = Camera::default();
            for scene in [sandbox.scene_to_keep(camera).0, sandbox.as_it_stands(camera)] {
                let saved =
                    save_scene(&path, &scene).unwrap_or_else(|error| panic!("{seed}: {done:?}: {error}"));
                brought += saved.remarks.len();
                load_scene(&path).unwrap_or_else(|error| panic!("{seed}: {done:?}: {error}"));
            }
            if number % 15 == 14 {
                // Not only read, but opened, breaks included.
                let again = opened(load_scene(&path).unwrap());
                assert!(!again.is_remade_in_part(), "{seed}: {done:?}");
                assert_eq!(again.bodies().len(), sandbox.bodies().len(), "{seed}: {done:?}");
                reopened += 1;
            }
        }
    }
    std::fs::remove_file(path).unwrap();
    assert!(
        brought > 3 && reopened == 12,
        "{brought} values were out of range, {reopened} scenes opened again"
    );
}
