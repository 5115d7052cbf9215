//! Steps that fail: what they put back, and that those which do not fail copy no contacts for it.

use super::{digest, free, pile};
use crate::{
    Body, Drag, Family, World, WorldSettings,
    collide::Manifold,
    context::StepContext,
    gpu::GpuError,
    snapshot::COPIES,
    solver::{ActiveSolver, ContactSolver},
    step::has_room,
    testing::{block, body, cuboid, grid, low_y, steps, world},
};
use glam::DVec3;
use std::sync::Arc;

/// A response that moves all bodies and fails.
struct Fails;

impl ContactSolver for Fails {
    fn advance(
        &mut self,
        _: &mut StepContext<'_>,
        bodies: &mut [Body],
        _: &mut [Manifold],
    ) -> Result<(), GpuError> {
        bodies.iter_mut().for_each(|body| body.state.position.y += 1.0);
        Err(GpuError::Driver("planted".to_owned()))
    }
}

/// A step with this response.
fn fail(w: &mut World) {
    w.responder = ActiveSolver::of(w.settings.response, Box::new(Fails));
    assert!(matches!(w.step(None), Err(GpuError::Driver(_))));
    w.responder = ActiveSolver::default();
}

#[test]
fn a_step_that_fails_where_contacts_are_copied_changes_nothing() {
    let [mut w, mut other] = [(); 2].map(|()| pile(5, 5, 2));
    for w in [&mut w, &mut other] {
        steps(w, 0.4);
    }
    w.settings.measure_volume = true;
    fail(&mut w);
    w.settings.measure_volume = false;
    assert!(!w.manifolds.is_empty() && w.manifolds == other.manifolds);
    for w in [&mut w, &mut other] {
        steps(w, 0.4);
    }
    assert_eq!(digest(&w), digest(&other));
}

/// Two cubes on each other, of which the lower one sleeps: neither may hang on contacts that are gone.
#[test]
fn a_step_that_fails_without_a_copy_leaves_bodies_in_place_and_wakes_them() {
    let forest = Arc::new(block(5, [4; 3], [20; 3]));
    let mut w = world(WorldSettings::default());
    for k in 0..2 {
        let mut def = body(&forest, 0, grid(5, 1.0), 5, DVec3::ZERO);
        def.state.position.y += 0.5 * f64::from(k) - low_y(&def);
        def.family = Family::unique();
        w.add(def);
    }
    assert_eq!(steps(&mut w, 4.0).awake, 0);
    w.bodies[1].wake();
    let states = |w: &World| w.bodies.iter().map(|b| b.state).collect::<Vec<_>>();
    let (before, time) = (states(&w), w.time());
    fail(&mut w);
    assert!(states(&w) == before && w.time() == time);
    assert!(w.manifolds.is_empty() && w.bodies.iter().all(|b| !b.asleep));
    assert_eq!(steps(&mut w, 4.0).awake, 0);
    let after = states(&w);
    let sunk = after.iter().zip(&before).map(|(now, then)| (now.position - then.position).length());
    let most = sunk.fold(0.0, f64::max);
    println!("moved by {most} m since");
    assert!(most < 1e-3);
}

#[test]
fn steps_on_the_cores_copy_no_contacts() {
    let mut w = pile(5, 5, 2);
    steps(&mut w, 0.2);
    let before = COPIES.get();
    steps(&mut w, 0.2);
    assert_eq!(COPIES.get(), before);
    // The measure may fail when contacts are new.
    w.settings.measure_volume = true;
    steps(&mut w, 0.1);
    assert_eq!(COPIES.get(), before + 10);
}

/// A wall flies into cubes that sleep in one place and wakes them all within a step, so that there are too many pairs
/// for its next search.
#[test]
fn a_step_that_wakes_a_crowd_ends_and_the_next_one_fails() {
    let mut w = world(free());
    let one = cuboid(DVec3::splat(-0.5), DVec3::ONE);
    let ids: Vec<_> = (0..3000).map(|_| w.add(one.clone())).collect();
    w.bodies.iter_mut().for_each(|body| body.asleep = true);
    let mut wall = one.clone();
    wall.family = Family::unique();
    wall.state.position.x = 1.02;
    wall.state.linear_velocity.x = -60.0;
    w.add(wall);
    let report = w.step(None).expect("the pairs of its start are few");
    println!("{} awake", report.awake);
    assert_eq!(report.awake, ids.len() + 1);
    let states = |w: &World| w.bodies.iter().map(|b| (b.state, b.asleep)).collect::<Vec<_>>();
    let (before, time) = (states(&w), w.time());
    assert!(matches!(w.step(None), Err(GpuError::Crowded { .. })));
    assert!(states(&w) == before && w.time() == time);
}

/// More pairs than fit into a list, and a hand that pulls before they are counted: without a snapshot the pull of every
/// try stayed in the speeds.
#[test]
fn a_crowded_step_leaves_the_bodies_as_they_were_on_the_cores() {
    let mut w = world(free());
    let one = cuboid(DVec3::splat(-0.5), DVec3::ONE);
    let ids: Vec<_> = (0..3000).map(|_| w.add(one.clone())).collect();
    w.drag = Some(Drag { body: ids[7], anchor: DVec3::ZERO, target: DVec3::new(3.0, 1.0, 0.0) });
    let states = |w: &World| w.bodies.iter().map(|b| (b.state, b.asleep, b.frozen)).collect::<Vec<_>>();
    let (before, hand) = (states(&w), w.drag);
    for _ in 0..2 {
        assert!(matches!(w.step(None), Err(GpuError::Crowded { .. })));
        assert!(states(&w) == before && w.drag == hand && w.time() == 0.0);
    }
}

/// The contacts of a crowd of fewer bodies need memory all at once: lists that would not fit end the program.
#[test]
fn a_crowd_whose_contacts_would_not_fit_into_memory_is_refused() {
    assert!(has_room(1 << 10, 1 << 10).is_ok());
    // Elsewhere nobody tells what is free.
    if cfg!(target_os = "linux") {
        let said = has_room(usize::MAX, 3000).unwrap_err().to_string();
        assert!(said.contains("GB of memory are needed") && said.contains("move bodies apart"), "{said}");
    }
}
