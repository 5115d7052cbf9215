//! P22: what is small and fast does not pass a wall, from wherever and however askew it comes.

use glam::DVec3;
use kintsugi::scene::{Scene, SceneBody};

use super::{
    Ways,
    support::{
        program,
        stage::{open, steps},
    },
};

/// A wall of 0.1 x 2 x 2 m in the plane x = 0, as a mesh file.
const WALL: &str = "\
v -0.05 -1 -1\nv 0.05 -1 -1\nv 0.05 1 -1\nv -0.05 1 -1\n\
v -0.05 -1 1\nv 0.05 -1 1\nv 0.05 1 1\nv -0.05 1 1\n\
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 4 8 7 3\nf 1 5 8 4\nf 2 3 7 6\n";

/// Balls of 6 cm, one above the other, so that none meets another: each from its own distance.
fn shots(wall: &str, speed: f64, aside: f64) -> Scene {
    let wall = SceneBody { file: wall.into(), fixed: true, level: 7, ..SceneBody::default() };
    let way = DVec3::new(1.0, 0.0, aside).normalize();
    let balls = (0..7).map(|k| {
        let far = -0.3 - 0.1137 * f64::from(k);
        SceneBody {
            file: "builtin:sphere".into(),
            level: 5,
            physics_level: Some(5),
            size: Some(0.06),
            // They come to the middle of the wall.
            position: DVec3::new(far, 0.25 * f64::from(k) - 0.78, far * aside),
            linear_velocity: way * speed,
            restitution: 0.2,
            ..SceneBody::default()
        }
    });
    let bodies = std::iter::once(wall).chain(balls).collect();
    Scene { bodies, gravity: DVec3::ZERO, floor: false, ..Scene::default() }
}

#[test]
fn fast_balls_never_pass_a_wall() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let folder = program::folder(&format!("p22-wall-{}-{}", ways.contacts, ways.response));
    let path = folder.join("wall.obj");
    std::fs::write(&path, WALL).unwrap();
    let (mut shot, mut passed) = (0, Vec::new());
    for speed in [20.0, 70.0, 130.0, 200.0] {
        for aside in [0.0, 0.3, 0.6, 1.0] {
            let Some(mut sandbox) = open(ways.of(shots(&path.to_string_lossy(), speed, aside))) else {
                return;
            };
            steps(&mut sandbox, (3.0 / (speed * 0.01)).ceil() as u32);
            for body in sandbox.bodies().iter().filter(|body| !body.def.fixed) {
                shot += 1;
                if body.state.position.x > 0.0 {
                    passed.push((speed, aside));
                }
            }
        }
    }
    println!("P22: {} of {shot} balls passed: {passed:?}", passed.len());
    assert!(shot == 112 && passed.is_empty());
}
