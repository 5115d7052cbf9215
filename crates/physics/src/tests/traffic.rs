//! What a step asks of the device: waits, submissions and bytes, by the settings that a world begins with, on an adapter that
//! counts as real.
//!
//! The bounds are what holds today. The aim is one wait a step with any number of moving bodies, and none when all sleep;
//! `docs/lab/waits.md` has both in a table.

use crate::{
    BodyDef, Family, Narrow, World, WorldSettings,
    gpu::{Gpu, Traffic},
    svo::Arena,
    testing::{ball, block, body, carved, grid, low_y},
};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// Bytes that a step moves up or down for each wait at most, whatever it does, and for each body.
const BYTES: [u64; 2] = [64 << 10, 16 << 10];

struct Scene {
    bodies: usize,
    /// How fast bodies fall at first, and how fast neighbours of a layer part, m/s.
    speed: f64,
    steps: usize,
    /// Waits of a step: one for each search for contacts of octrees, of which there is one for a body alone, and up to four
    /// where bodies pass each other fast; and one for each answer to 3,000 contacts or more.
    most_waits: u64,
}

const SCENES: [Scene; 4] = [
    Scene { bodies: 1, speed: 0.3, steps: 6, most_waits: 1 },
    Scene { bodies: 70, speed: 0.3, steps: 6, most_waits: 4 },
    Scene { bodies: 70, speed: 4.0, steps: 4, most_waits: 4 },
    Scene { bodies: 300, speed: 0.3, steps: 4, most_waits: 8 },
];

/// A ball, a cube and a channel of 0.875 m, 5 mm above the floor: octrees look at the first, hulls at the second, both at the
/// third.
fn kinds(arena: &mut Arena) -> [BodyDef; 3] {
    let trees = [
        (6, 1.0, ball(6, Vec3::splat(32.0), 28.0)),
        (5, 7.0 / 6.0, block(5, [4; 3], [28; 3])),
        (5, 7.0 / 6.0, carved(5, [[4; 3], [28; 3]], [[12, 14, 4], [20, 28, 28]])),
    ];
    trees.map(|(level, metres, forest)| {
        let forest = Arc::new(forest);
        arena.insert(&forest).expect("room");
        let mut def = body(&forest, 0, grid(level, metres), level - 1, DVec3::ZERO);
        def.state.position.y += 0.005 - low_y(&def);
        def
    })
}

/// So many of these in layers of 49, which part from each other while they fall.
fn falling(gpu: &Gpu, kinds: &[BodyDef; 3], scene: &Scene) -> World {
    let mut w = World::new(Some(gpu), WorldSettings::default()).expect("kernels");
    for k in 0..scene.bodies {
        let place = DVec3::from([k % 7, k / 49, k / 7 % 7].map(|i| i as f64));
        let mut def = BodyDef { family: Family::unique(), ..kinds[k % 3].clone() };
        def.state.position += 0.88 * place;
        def.state.linear_velocity = scene.speed * DVec3::new(place.x - 3.0, -1.0, place.z - 3.0);
        w.add(def);
    }
    w
}

#[test]
fn a_step_by_default_settings_waits_once_a_search_and_for_nothing_where_all_sleep() {
    let Some(gpu) = Gpu::for_test().map(Gpu::counted_as_real) else { return };
    assert!(Narrow::default().wants(&gpu));
    let mut arena = Arena::new(&gpu).expect("an arena");
    let kinds = kinds(&mut arena);
    // All at once: kernels are compiled once as long as a world holds them.
    let worlds = SCENES.each_ref().map(|scene| falling(&gpu, &kinds, scene));
    let on = Some((&gpu, &arena));
    for (scene, mut w) in SCENES.iter().zip(worlds) {
        let Scene { bodies, speed, steps, most_waits } = *scene;
        let what = format!("{bodies} bodies at {speed} m/s");
        // The first time samples are made and lists grow, which costs more waits.
        let then = w.snapshot();
        (0..steps).for_each(|_| _ = w.step(on).expect("a step"));
        w.restore(&then);
        let first = gpu.take_all_traffic();
        let mut sum = Traffic::default();
        for step in 0..steps {
            let report = w.step(on).expect("a step");
            let of_step = gpu.take_all_traffic();
            let Traffic { waits, submissions, bytes_up, bytes_down, .. } = of_step;
            println!(
                "{what}, step {step}: {waits} waits, {submissions} submissions, {bytes_up} bytes up, {bytes_down} down, \
                 {} contacts",
                report.contacts
            );
            assert!(waits <= most_waits, "{what}, step {step}: {waits} waits");
            // A search is submitted, and so are the copies of what it found; an answer has its copies in its own.
            assert!(
                (waits..=2 * waits).contains(&submissions),
                "{what}, step {step}: {submissions} submissions"
            );
            let most = waits * (BYTES[0] + BYTES[1] * bodies as u64);
            assert!(
                bytes_up.max(bytes_down) <= most,
                "{what}, step {step}: {bytes_up} up, {bytes_down} down"
            );
            sum = sum.plus(of_step);
        }
        println!("{what}: {} waits in {steps} steps, {} where lists grow", sum.waits, first.waits);
        assert!(sum.waits > 0 && sum.bytes_down > 0, "{what}: nothing was counted");
        for body in &mut w.bodies {
            body.asleep = true;
            (body.state.linear_velocity, body.state.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        }
        let report = w.step(on).expect("a step");
        assert_eq!((report.awake, gpu.take_all_traffic()), (0, Traffic::default()), "{what}, asleep");
    }
}
