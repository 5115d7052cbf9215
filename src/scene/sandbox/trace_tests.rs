//! Figures of steps are those of the way to the state that is shown: undo, another scene and another take.

use super::{Arrived, Sandbox, testing};
use crate::{
    compute::Compute,
    fracture::{FractureParams, Surface},
    scene::{Scene, SceneBody},
};

/// A box that falls from far above the floor.
fn falling(height: f64) -> Scene {
    let body = SceneBody {
        on_floor: false,
        position: glam::DVec3::Y * height,
        fracture: FractureParams { seeds: 20, surface: Surface::Planar, ..FractureParams::default() },
        ..SceneBody::standing("builtin:box", 5)
    };
    Scene { bodies: vec![body], ..Scene::default() }
}

fn open(sandbox: &mut Sandbox, scene: Scene) {
    sandbox.open_scene(scene);
    testing::until(sandbox, Arrived::Opened);
}

fn opened(scene: Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    open(&mut sandbox, scene);
    sandbox
}

fn steps(sandbox: &mut Sandbox, count: usize) {
    (0..count).for_each(|_| sandbox.step().unwrap());
}

#[test]
fn undo_of_a_break_takes_the_steps_after_it_back() {
    let mut sandbox = opened(falling(20.0));
    steps(&mut sandbox, 5);
    let before = sandbox.step_figures().to_vec();
    assert_eq!(before.len(), 5);
    let (id, place) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
    sandbox.break_at(id, place, glam::DVec3::NEG_Z);
    testing::until(&mut sandbox, Arrived::Broke);
    steps(&mut sandbox, 4);
    assert_eq!(sandbox.step_figures().len(), 9);
    assert!(sandbox.undo().is_some());
    // Planted error to see this fail: leave the figures as they are.
    assert_eq!(sandbox.step_figures(), before);
}

#[test]
fn undo_of_an_open_forgets_the_steps_of_the_other_scene() {
    let mut sandbox = opened(falling(20.0));
    steps(&mut sandbox, 3);
    open(&mut sandbox, falling(30.0));
    assert!(sandbox.step_figures().is_empty());
    steps(&mut sandbox, 6);
    assert_eq!(sandbox.step_figures().len(), 6);
    assert!(sandbox.undo().is_some());
    assert!(sandbox.step_figures().is_empty(), "{:?}", sandbox.step_figures());
    steps(&mut sandbox, 1);
    assert!((sandbox.step_figures()[0].time - sandbox.time()).abs() < 1e-12);
}

#[test]
fn another_take_keeps_what_both_takes_share() {
    let mut sandbox = opened(falling(20.0));
    steps(&mut sandbox, 8);
    let first = sandbox.step_figures().to_vec();
    let take = sandbox.timeline().take();
    let parting = sandbox.timeline().frame_at(first[2].time);
    assert!(sandbox.show_recorded(parting));
    assert_eq!(sandbox.step_figures(), first, "a look at an earlier state forgets nothing");
    // A break there begins another take; what came after it is of the first take.
    let (id, place) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
    sandbox.break_at(id, place, glam::DVec3::NEG_Z);
    testing::until(&mut sandbox, Arrived::Broke);
    assert_eq!(sandbox.step_figures(), &first[..3]);
    steps(&mut sandbox, 2);
    assert_eq!(sandbox.step_figures().len(), 5);
    assert!(sandbox.show_take(take));
    assert_eq!(sandbox.step_figures(), &first[..3]);
}

#[test]
fn steps_without_motion_have_figures() {
    let mut sandbox = opened(Scene {
        bodies: vec![SceneBody { fixed: true, ..falling(2.0).bodies[0].clone() }],
        ..Scene::default()
    });
    assert!(!sandbox.has_motion());
    steps(&mut sandbox, 3);
    assert_eq!(sandbox.step_figures().len(), 3);
}
