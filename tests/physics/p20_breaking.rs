//! P20: what breaks by a collision breaks where the contact was, and every piece and every body has a pattern of its
//! own.

use glam::DVec3;
use kintsugi::scene::{BreakRecord, Scene, SceneBody};

use super::{
    Ways,
    support::stage::{open, step},
};

/// A slab that floats, and a ball that comes from above and meets it `aside` m from its middle.
fn off_centre(aside: f64) -> Scene {
    let mut slab = SceneBody::standing("builtin:box", 6);
    (slab.on_floor, slab.position, slab.break_threshold) = (false, DVec3::ZERO, Some(0.05));
    slab.fracture.seeds = 30;
    let mut ball = SceneBody::standing("builtin:sphere", 5);
    (ball.on_floor, ball.size, ball.density) = (false, Some(0.2), 3000.0);
    ball.position = DVec3::new(aside, 1.1, 0.0);
    ball.linear_velocity = DVec3::NEG_Y * 8.0;
    Scene { bodies: vec![slab, ball], gravity: DVec3::ZERO, floor: false, ..Scene::default() }
}

fn breaks(scene: Scene, most_steps: u32) -> Option<Vec<BreakRecord>> {
    let mut sandbox = open(scene)?;
    for _ in 0..most_steps {
        step(&mut sandbox);
    }
    Some(sandbox.breaks().records().map(|(_, record)| record.clone()).collect())
}

#[test]
fn a_body_breaks_where_the_contact_was() {
    holds(Ways::default());
}

/// What the search for contacts has to do with it; which patterns come of it has nothing to do with that.
pub fn holds(ways: Ways) {
    for aside in [-0.35, 0.0, 0.2, 0.35] {
        let Some(records) = breaks(ways.of(off_centre(aside)), 20) else { return };
        let at = records.first().expect("it broke").impact.point;
        // The origin of the box is in the middle of its foot.
        println!("P20: struck {aside} m aside, broke at {at}");
        assert!((at.x - aside).abs() < 0.03 && at.z.abs() < 0.03);
    }
}

#[test]
fn every_pattern_is_unique() {
    let falling = |x: f64| {
        let mut body = SceneBody::standing("builtin:box", 5);
        (body.on_floor, body.size, body.break_threshold) = (false, Some(0.4), Some(0.5));
        body.position = DVec3::new(x, 1.5, 0.0);
        body.fracture.seeds = 6;
        body
    };
    let scene = || Scene {
        bodies: vec![falling(-2.0), falling(0.0), falling(2.0)],
        break_generations: 2,
        ..Scene::default()
    };
    let Some(records) = breaks(scene(), 110) else { return };
    let numbers: Vec<u64> = records.iter().map(|record| record.params.rng).collect();
    let mut different = numbers.clone();
    different.sort_unstable();
    different.dedup();
    println!(
        "P20: {} breaks, {} of them of pieces",
        numbers.len(),
        records.iter().filter(|r| r.generation > 1).count()
    );
    assert!(records.iter().filter(|record| record.generation == 1).count() == 3);
    assert!(records.iter().any(|record| record.generation > 1));
    assert_eq!(different.len(), numbers.len(), "{numbers:?}");
    let first = records.iter().find(|record| record.object == 0).expect("all three broke");
    assert_eq!(first.params.rng, scene().bodies[0].fracture.rng, "the first as its scene says");
    let Some(again) = breaks(scene(), 110) else { return };
    assert!(again.iter().map(|record| record.params.rng).eq(numbers), "played again it breaks the same way");
}
