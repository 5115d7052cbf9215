//! Volumes that are known, gradients against differences, and planted errors.

use super::{Overlap, of_bodies, of_plane};
use crate::bodies::{
    BodyDef, BodyId, Plane, World, WorldSettings,
    octrees::Surfels,
    pair_data,
    testing::{ball, block, body, grid, world},
};
use glam::{DQuat, DVec3, Vec3};
use std::sync::Arc;

/// Two blocks of 16 voxels, 1 m a side at level 5; the second is moved and turned about its middle.
fn boxes(level: u32, shift: DVec3, turn: DQuat) -> World {
    let forest = Arc::new(block(5, [8; 3], [24; 3]));
    let mut w = world(WorldSettings::default());
    for k in 0..2 {
        let mut def: BodyDef = body(&forest, 0, grid(5, 2.0), level, DVec3::ZERO);
        if k == 1 {
            def.state.position += shift;
            def.state.rotation = turn;
        }
        w.add(def);
    }
    w
}

fn overlap(w: &World, level: u32) -> Overlap {
    let surfels = Surfels::build(&w.bodies[0].def.octree().forest, level);
    of_bodies([&w.bodies[0], &w.bodies[1]], [level; 2], [&surfels; 2])
}

/// Shared volume of two unit cubes of which one is moved.
fn analytic(shift: DVec3) -> f64 {
    (DVec3::ONE - shift.abs()).max(DVec3::ZERO).element_product()
}

#[test]
fn two_boxes_share_what_geometry_says() {
    let shifts = [
        DVec3::new(0.0, 0.9, 0.0),
        DVec3::new(0.0, 0.995, 0.0),
        DVec3::new(0.31, 0.73, 0.0),
        DVec3::new(-0.31, -0.73, 0.55),
        DVec3::new(0.52, 0.47, -0.61),
        DVec3::new(0.0, 1.01, 0.0),
    ];
    for level in [4, 5] {
        let cell = 2.0 / f64::from(1u32 << level);
        for shift in shifts {
            let o = overlap(&boxes(level, shift, DQuat::IDENTITY), level);
            let want = analytic(shift);
            // A voxel more or less all round: half of one on either side.
            let edges = (DVec3::ONE - shift.abs()).max(DVec3::ZERO);
            let bound = (edges + cell).element_product() - edges.element_product();
            println!(
                "level {level} {shift}: {:.5} want {want:.5} (+- {bound:.5}), axes {:?}",
                o.volume, o.volumes
            );
            assert!((o.volume - want).abs() <= bound);
            assert_eq!(o.volume > 0.0, want > 0.0);
        }
    }
}

#[test]
fn a_flat_contact_is_exact_to_a_hundredth_of_a_voxel() {
    // Shallow: both surfaces lie in one cell of the lattice.
    for depth in [0.001, 0.01, 0.05] {
        let o = overlap(&boxes(5, DVec3::Y * (1.0 - depth), DQuat::IDENTITY), 5);
        println!("depth {depth}: volume {:.6}, gradient {}", o.volume, o.gradient);
        assert!((o.volume / depth - 1.0).abs() < 0.07, "{}", o.volume);
        // The first lies below: upwards the volume grows by the area.
        assert!((o.gradient.y - 1.0).abs() < 0.07 && o.gradient.x.abs() + o.gradient.z.abs() < 0.01);
    }
}

#[test]
fn turned_boxes_and_balls_come_near() {
    crate::register();
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.5, 0.9, -0.3);
    // One box wholly inside a larger one has its own volume.
    let large = Arc::new(block(6, [8; 3], [56; 3]));
    let small = Arc::new(block(5, [8; 3], [24; 3]));
    let mut w = world(WorldSettings::default());
    w.add(body(&large, 0, grid(6, 3.2), 6, DVec3::ZERO));
    let mut def = body(&small, 0, grid(5, 1.6), 5, DVec3::ZERO);
    (def.state.position, def.state.rotation) = (w.bodies[0].state.position, turn);
    w.add(def);
    let ids = [0, 1].map(|k| w.bodies[k].id);
    let o = pair_data(&mut w, ids[0], ids[1]).expect("both are there");
    println!("inside: {:.4} of {:.4}, gradient {}", o.volume, 0.512, o.gradient);
    // Half a voxel less all round would be 0.422.
    assert!((o.volume / 0.512 - 1.0).abs() < 0.1);
    assert!(o.gradient.length() < 1e-9, "whatever is wholly inside is pushed nowhere");
    // Two balls: the lens.
    let forest = Arc::new(ball(6, Vec3::splat(32.0), 24.0));
    let mut w = world(WorldSettings::default());
    let r = 0.75;
    for gap in [0.0, 1.0] {
        let lift = DVec3::new(0.36, 0.48, 0.8) * gap;
        w.add(body(&forest, 0, grid(6, 2.0), 6, lift));
    }
    let ids = [0, 1].map(|k| w.bodies[k].id);
    let o = pair_data(&mut w, ids[0], ids[1]).expect("both are there");
    let d = 1.0_f64;
    let lens = std::f64::consts::PI * (4.0 * r + d) * (2.0 * r - d).powi(2) / 12.0;
    let disc = std::f64::consts::PI * (r * r - d * d / 4.0);
    let along = o.gradient.dot(DVec3::new(0.36, 0.48, 0.8));
    println!("lens {:.4} want {lens:.4}; gradient {along:.4} want {disc:.4}", o.volume);
    assert!((o.volume / lens - 1.0).abs() < 0.1 && (along / disc - 1.0).abs() < 0.1);
}

/// Relative difference between the gradient and what a step of one cell along each axis does to the volume.
fn gradient_error(gradient_of: impl Fn(&Overlap) -> DVec3) -> f64 {
    let level = 5;
    let step = 2.0 / 32.0;
    let mut worst: f64 = 0.0;
    for (shift, turn) in [
        (DVec3::new(0.2, 0.7, 0.1), DQuat::IDENTITY),
        (DVec3::new(-0.5, 0.55, 0.45), DQuat::IDENTITY),
        (DVec3::new(0.2, 0.8, 0.1), DQuat::from_euler(glam::EulerRot::XYZ, 0.2, 0.4, -0.1)),
    ] {
        let here = overlap(&boxes(level, shift, turn), level);
        let gradient = gradient_of(&here);
        let mut by_steps = DVec3::ZERO;
        for axis in 0..3 {
            // The first body moves one way as the second moves the other.
            let at =
                |sign: f64| overlap(&boxes(level, shift - DVec3::AXES[axis] * (sign * step), turn), level);
            by_steps[axis] = (at(1.0).volume - at(-1.0).volume) / (2.0 * step);
        }
        let error = (gradient - by_steps).length() / by_steps.length();
        println!("{shift}: gradient {gradient}, differences {by_steps}, off by {:.1} %", error * 100.0);
        worst = worst.max(error);
    }
    worst
}

#[test]
fn the_gradient_is_what_moving_does() {
    assert!(gradient_error(|o| o.gradient) < 0.15);
    // The paper as printed: every point, with its whole normal times a face.
    let printed = |o: &Overlap| {
        o.points.iter().filter(|p| p.owner == 0).map(|p| p.normal * (o.cell * o.cell)).sum::<DVec3>()
    };
    println!("as printed: off by {:.0} %", 100.0 * gradient_error(printed));
    // Planted: the wrong sign, and the columns of one axis only.
    assert!(gradient_error(|o| -o.gradient) > 0.5);
    let one_axis = |o: &Overlap| {
        let columns = o.columns.iter().filter(|c| c.axis == 0);
        columns.map(|c| c.direction * (c.sign() * c.area)).sum::<DVec3>()
    };
    assert!(gradient_error(one_axis) > 0.5);
}

#[test]
fn swapping_the_bodies_turns_the_gradient() {
    crate::register();
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.2, 0.4, -0.1);
    let mut w = boxes(5, DVec3::new(0.2, 0.8, 0.1), turn);
    let [a, b] = [w.bodies[0].id, w.bodies[1].id];
    let (ab, ba) = (pair_data(&mut w, a, b).expect("there"), pair_data(&mut w, b, a).expect("there"));
    println!("{:.4} {} and {:.4} {}", ab.volume, ab.gradient, ba.volume, ba.gradient);
    assert!((ab.volume / ba.volume - 1.0).abs() < 0.12);
    assert!((ab.gradient + ba.gradient).length() < 0.15 * ab.gradient.length());
    assert!(pair_data(&mut w, a, BodyId(77)).is_none());
}

#[test]
fn a_plane_cuts_off_what_lies_behind_it() {
    let forest = Arc::new(block(5, [8; 3], [24; 3]));
    for level in [4, 5] {
        let surfels = Surfels::build(&forest, level);
        // Above the leaves edges are round, as the samples there are means: some of the rim is not seen.
        let rim = if level == 5 { 0.0 } else { 0.3 };
        for (turn, tolerance) in [(DQuat::IDENTITY, 0.02 + rim), (DQuat::from_rotation_z(0.4), 0.12 + rim)] {
            for depth in [0.03, 0.3] {
                let mut def = body(&forest, 0, grid(5, 2.0), level, DVec3::ZERO);
                def.state.rotation = turn;
                // Lowest corner of the unit cube at -depth.
                let reach = 0.5 * (turn * DVec3::X).y.abs() + 0.5 * (turn * DVec3::Y).y.abs();
                def.state.position = DVec3::Y * (reach - depth);
                let mut w = world(WorldSettings::default());
                w.add(def);
                let plane = Plane { normal: DVec3::Y, offset: 0.0 };
                let o = of_plane(&w.bodies[0], level, &surfels, &plane);
                let want = if turn == DQuat::IDENTITY {
                    depth
                } else {
                    // A wedge: the triangle under the plane, a metre long.
                    depth * depth * 0.5 * (0.4_f64.tan() + 1.0 / 0.4_f64.tan())
                };
                println!(
                    "level {level}, turn {:.1}, depth {depth}: {:.4} want {want:.4}",
                    turn.to_axis_angle().1,
                    o.volume
                );
                let cell = o.cell;
                assert!((o.volume - want).abs() < tolerance * want + tolerance * cell, "{}", o.volume);
                if turn == DQuat::IDENTITY {
                    assert!(
                        (o.gradient + DVec3::Y).length() < 0.1 + rim,
                        "downwards it grows: {}",
                        o.gradient
                    );
                }
            }
        }
    }
}
