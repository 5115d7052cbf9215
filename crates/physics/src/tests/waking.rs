//! Who wakes when, that nobody is passed through meanwhile, and that nobody looks at what rests.

use crate::{
    BodyId, Family, World, WorldSettings,
    testing::{ball, block, body, grid, low_y, push_by_a_wall, steps, world},
};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// Cubes of half a metre on each other, asleep; with these densities from below, kg/m^3.
fn tower(level: u32, densities: &[f64]) -> (World, Vec<BodyId>) {
    let scale = 1 << (level - 5);
    let forest = Arc::new(block(level, [4 * scale; 3], [20 * scale; 3]));
    let mut w = world(WorldSettings::default());
    let mut ids = Vec::new();
    for (i, density) in densities.iter().enumerate() {
        let mut def = body(&forest, 0, grid(level, 1.0), level, DVec3::ZERO);
        def.state.position.y += -low_y(&def) + 0.5 * i as f64;
        def.family = Family::unique();
        def.set_density(*density);
        ids.push(w.add(def));
    }
    let r = steps(&mut w, 4.0);
    assert_eq!(r.awake, 0);
    (w, ids)
}

#[test]
fn a_wall_that_is_moved_meets_what_lies_still() {
    ["mixed", "octree", "hull"].into_iter().for_each(push_by_a_wall);
}

#[test]
fn nothing_hangs_where_its_support_fell_away() {
    for (level, densities) in [(5, [1000.0; 4]), (6, [1000.0; 4]), (6, [1000.0, 100.0, 2000.0, 4000.0])] {
        let (mut w, ids) = tower(level, &densities);
        let before: Vec<f64> = w.bodies.iter().map(|b| b.state.position.y).collect();
        w.remove(ids[0]);
        steps(&mut w, 0.2);
        let fallen: Vec<f64> =
            w.bodies.iter().zip(&before[1..]).map(|(b, y)| y - b.state.position.y).collect();
        println!("level {level}, {densities:?}: fallen {fallen:.3?} m after 0.2 s");
        // Free fall is 0.196 m.
        assert!(fallen.iter().all(|way| *way > 0.12));
        let r = steps(&mut w, 5.0);
        let lowest = w.bodies.iter().zip(&before[1..]).map(|(b, y)| y - b.state.position.y - 0.5);
        assert!(r.awake == 0 && lowest.into_iter().all(|off| off.abs() < 0.02));
    }
}

#[test]
fn who_is_struck_keeps_its_contacts_with_sleepers() {
    let (mut w, ids) = tower(6, &[1000.0; 3]);
    let shot = Arc::new(ball(5, Vec3::splat(16.0), 10.0));
    let mut def = body(&shot, 0, grid(5, 0.5), 5, DVec3::new(-1.0, 0.0, 0.0));
    def.set_density(4000.0);
    def.state.position = w.bodies[1].state.position + DVec3::new(-0.9, 0.0, 0.0);
    def.state.linear_velocity = DVec3::X * 12.0;
    w.add(def);
    let struck = ids[1];
    let awake = |w: &World| w.body(struck).is_some_and(|b| !b.asleep);
    for _ in 0..30 {
        steps(&mut w, 0.01);
        if awake(&w) {
            break;
        }
    }
    assert!(awake(&w) && w.settings.substeps >= 2);
    for other in [ids[0], ids[2]] {
        let held = w.manifolds.iter().any(|m| m.touches(struck) && m.touches(other) && !m.points.is_empty());
        assert!(held, "{struck:?} has lost its contact with {other:?} in the step that woke it");
    }
}

/// What touches nothing costs nothing, however many voxels it has: contacts are only looked for where pairs
/// are near and move.
#[test]
fn far_and_resting_bodies_are_not_looked_at() {
    let mut w = world(WorldSettings::default());
    let small = Arc::new(block(4, [4; 3], [12; 3]));
    let large = Arc::new(ball(7, Vec3::splat(64.0), 60.0));
    for i in 0..3 {
        let mut def = body(&small, 0, grid(4, 1.0), 4, DVec3::ZERO);
        def.family = Family::unique();
        def.state.position.y += -low_y(&def) + f64::from(i) * 0.5;
        w.add(def);
    }
    let mut heavy = body(&large, 0, grid(7, 50.0), 7, DVec3::new(1000.0, 500.0, 0.0));
    heavy.state.linear_velocity.x = 3.0;
    let far = w.add(heavy);
    let first = w.step_on_cpu();
    let settled = steps(&mut w, 2.0);
    println!(
        "pairs looked at: {} at first, {} once they rest; {} awake",
        first.pairs, settled.pairs, settled.awake
    );
    assert_eq!((first.pairs, settled.pairs, settled.awake), (2, 0, 1));
    let touched = w.manifolds.iter().any(|m| m.touches(far));
    assert!(!touched);
}
