//! P12: ninety and five hundred pieces come to rest on a floor within ten seconds.

use std::time::Instant;

use kintsugi::{bodies::StepReport, scene::Scene};

use super::{
    Ways,
    support::stage::{fastest, open, physics_cell, shipped, step},
};

/// Deepest that a contact at rest may be, cells of the physics level.
const DEEP: f64 = 0.5;

/// Plays until all pieces, `least` or more, sleep, or for ten seconds. What presses at the end, sleepers
/// included, is less than half a cell deep.
fn settles(what: &str, least: usize, scene: Scene) {
    let Some(mut sandbox) = open(scene) else { return };
    let clock = Instant::now();
    let (mut r, mut deepest, mut fast) = (StepReport::default(), 0.0f64, 0.0f64);
    let mut steps = 0;
    while sandbox.time() < 9.995 {
        r = step(&mut sandbox);
        assert!(sandbox.bodies().iter().all(|b| b.state.is_finite()) && r.frozen == 0);
        (deepest, fast, steps) = (deepest.max(r.deepest), fast.max(fastest(&sandbox)), steps + 1);
        // The last blow of these scenes falls at half a second.
        if r.awake == 0 && sandbox.time() > 1.0 {
            break;
        }
    }
    let cell = physics_cell(&sandbox.bodies()[0]);
    let rest = r.deepest / cell;
    println!(
        "P12: {what}: {} pieces, {} awake at {:.2} s; deepest {:.2} cells, at rest {rest:.2} ({DEEP}); fastest {fast:.1} m/s; \
         {:.1} ms a step",
        sandbox.bodies().len(),
        r.awake,
        sandbox.time(),
        deepest / cell,
        clock.elapsed().as_secs_f64() * 1e3 / f64::from(steps)
    );
    assert!(sandbox.bodies().len() >= least && r.awake == 0 && fast < 15.0);
    assert!(sandbox.bodies().iter().all(|b| b.state.position.y > -0.5 * cell));
    assert!(rest < DEEP, "a contact at rest is deeper than {DEEP} cells");
}

#[test]
fn ninety_pieces_come_to_rest() {
    holds(Ways::default());
    for rng in [1, 2, 3] {
        let mut scene = shipped("vase");
        let body = &mut scene.bodies[0];
        (body.level, body.physics_level) = (7, Some(6));
        (body.fracture.seeds, body.fracture.rng) = (90, rng);
        settles(&format!("vase, seed {rng}"), 40, scene);
    }
}

/// Ninety pieces of a block.
pub fn holds(ways: Ways) {
    settles("block", 80, ways.of(shipped("p12-pile")));
}

#[test]
fn five_hundred_pieces_come_to_rest() {
    let mut scene = shipped("p12-pile");
    scene.bodies[0].fracture.seeds = 500;
    settles("block", 400, scene);
}
