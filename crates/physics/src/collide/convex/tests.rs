//! Bodies that are met by their hulls, in worlds made in code.

use super::*;
use crate::{
    BodyDef, BodyId, ContactsId, PairLevels, ResponseId, StepReport, World, WorldSettings,
    broad_phase::{NearPair, bounds},
    collide::{ContactGenerator, ContactQuery, LevelOfDetail, manifold},
    context::{StageClock, StepContext},
    integrate::turned_by,
    shape::ShapeHull,
    testing::{ball, block, body, cuboid, grid},
};
use glam::{DQuat, DVec3, Vec3};
use std::sync::Arc;

fn hulls() -> ContactsId {
    ContactsId::named("hull").expect("it is in the table")
}

fn world(response: ResponseId, pulled: bool) -> World {
    let settings = WorldSettings { contacts: hulls(), response, ..WorldSettings::default() };
    let free = WorldSettings { gravity: DVec3::ZERO, floor: None, sleeping: false, ..settings.clone() };
    World::on_cpu(if pulled { settings } else { free })
}

fn steps(world: &mut World, count: u32) {
    (0..count).for_each(|_| _ = world.step_on_cpu());
}

const BOTH: [ResponseId; 2] = [ResponseId::SOFT, ResponseId::IMPULSE];

#[test]
fn hulls_hold_all_samples_and_flat_sides_are_one_face() {
    let forest = Arc::new(block(5, [4; 3], [20, 12, 28]));
    let def = body(&forest, 0, grid(5, 1.0), 4, DVec3::ZERO);
    let solid = Solid::of(def.shape.convex_hull());
    assert!(
        solid.faces.len() >= 6 && solid.corners.len() <= ShapeHull::MOST_CORNERS,
        "{}",
        solid.corners.len()
    );
    // Each side of the block is a face, as wide as the block but for its rounded edges.
    for way in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z] {
        let half = DVec3::new(8.0, 4.0, 12.0).dot(way.abs()) / 32.0;
        let face = solid.faces.iter().find(|face| face.normal.dot(way) > 0.9999).expect("a side");
        assert!((face.reach - half).abs() < 0.1 / 32.0, "{way}: {} {half}", face.reach);
    }
    let round = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
    let def = body(&round, 0, grid(5, 1.0), 4, DVec3::ZERO);
    let solid = Solid::of(def.shape.convex_hull());
    assert_eq!(solid.corners.len(), ShapeHull::MOST_CORNERS);
    let least = solid.faces.iter().map(|face| face.reach).fold(f64::MAX, f64::min) * 32.0;
    println!("a ball of 12 voxels: its hull's faces are {least:.2} voxels from the middle or more");
    assert!(least > 10.5);
    // What is as thin as nothing has the hull of its bounds; of every edge both faces are known.
    for solid in [&solid, &Solid::of(cuboid(DVec3::ZERO, DVec3::new(1.0, 1e-9, 1.0)).shape.convex_hull())] {
        assert_eq!(solid.corners.len() + solid.faces.len(), solid.edges.len() + 2, "Euler's formula");
    }
}

#[test]
fn boxes_of_any_kind_stand_on_each_other() {
    for response in BOTH {
        let mut w = world(response, true);
        // Voxels at the bottom, a convex body above.
        let forest = Arc::new(block(5, [8; 3], [24; 3]));
        w.add(body(&forest, 0, grid(5, 0.4), 4, DVec3::NEG_Y * 0.1));
        w.add(cuboid(DVec3::new(-0.1, 0.2, -0.09), DVec3::splat(0.2)));
        w.add(cuboid(DVec3::new(-0.1, 0.4, -0.1), DVec3::new(0.15, 0.1, 0.15)));
        let start: Vec<DVec3> = w.bodies.iter().map(|b| b.state.position).collect();
        steps(&mut w, 200);
        let moved =
            w.bodies.iter().zip(&start).map(|(b, was)| b.state.position.distance(*was)).fold(0.0, f64::max);
        println!("{response:?}: moved {:.3} mm", moved * 1e3);
        assert!(moved < 1e-3 && w.bodies.iter().all(|b| b.asleep), "{moved}");
    }
}

#[test]
fn what_overlapped_at_birth_pushes_nobody_and_does_not_go_back_in() {
    for response in BOTH {
        let (small, large) =
            (cuboid(DVec3::ZERO, DVec3::splat(0.1)), cuboid(DVec3::splat(-0.2), DVec3::splat(0.45)));
        // Of strangers the same overlap is undone.
        let mut strangers = world(response, false);
        let in_it = strangers.add(small.clone());
        strangers.add(large.clone());
        steps(&mut strangers, 50);
        let way = strangers.body(in_it).map(|b| b.state.position.distance(small.state.position));
        assert!(way > Some(0.1), "{way:?}");

        let mut w = world(response, false);
        let inner = w.add(small.clone());
        w.add(BodyDef { family: small.family, fixed: true, ..large });
        steps(&mut w, 100);
        let fastest = w.bodies.iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max);
        assert!(fastest < 1e-9, "{response:?}: {fastest}");
        // Half out, it may go on; it may not go back.
        let body = w.body_mut(inner).expect("it is there");
        body.state.position.x += 0.2;
        steps(&mut w, 1);
        let at = w.bodies[0].state.position.x;
        w.body_mut(inner).expect("it is there").state.linear_velocity.x = -1.0;
        steps(&mut w, 30);
        let back = at - w.bodies[0].state.position.x;
        println!("{response:?}: it went back by {:.3} mm", back * 1e3);
        assert!(back < 2e-3, "{back}");
    }
}

#[test]
fn what_is_fast_meets_a_thin_wall_and_not_the_plane_beside_it() {
    for response in BOTH {
        let mut w = world(response, false);
        w.add(BodyDef { fixed: true, ..cuboid(DVec3::new(-0.05, -1.0, -1.0), DVec3::new(0.1, 2.0, 2.0)) });
        for (k, y) in [0.0, 0.5, 1.2].into_iter().enumerate() {
            let mut shot = cuboid(DVec3::new(-0.7 - 0.2 * k as f64, y, 0.0), DVec3::splat(0.06));
            shot.state.linear_velocity = DVec3::new(200.0, 0.0, 0.0);
            shot.state.rotation = DQuat::from_rotation_z(0.3);
            w.add(shot);
        }
        steps(&mut w, 3);
        let x: Vec<f64> = w.bodies.iter().map(|b| b.state.position.x).collect();
        assert!(x[1] < 0.0 && x[2] < 0.0, "{response:?}: through the wall: {x:?}");
        assert!((w.bodies[3].state.linear_velocity.x - 200.0).abs() < 1e-9, "stopped by nothing: {x:?}");
    }
}

#[test]
fn hulls_are_made_once_and_forgotten_with_their_bodies() {
    let mut generator = Hulls::default();
    let mut w = world(ResponseId::SOFT, true);
    let ids: Vec<BodyId> =
        (0..3).map(|k| w.add(cuboid(DVec3::Y * f64::from(k), DVec3::splat(0.5)))).collect();
    generator.prepare(w.bodies.iter());
    generator.prepare(w.bodies.iter().chain(&w.bodies));
    assert_eq!(generator.cache.len(), 3);
    let gone = w.remove(ids[1]).expect("it was there");
    generator.keep(&w.bodies);
    assert!(generator.cache.len() == 2 && generator.cache.of(&gone).is_none());
    assert!(generator.cache.of(&w.bodies[0]).is_some());
}

#[test]
fn a_snapshot_brings_back_what_was_forgiven() {
    let mut w = world(ResponseId::SOFT, true);
    let first = cuboid(DVec3::ZERO, DVec3::splat(0.1));
    w.add(BodyDef { family: first.family, ..cuboid(DVec3::new(0.02, 0.05, 0.0), DVec3::splat(0.1)) });
    w.add(first);
    steps(&mut w, 20);
    let then = w.snapshot();
    let run = |w: &mut World| {
        steps(w, 60);
        w.bodies.iter().map(|b| b.state).collect::<Vec<_>>()
    };
    let once = run(&mut w);
    w.restore(&then);
    assert_eq!(run(&mut w), once);
}

/// Cuboids that drift and turn among each other: how many pairs that touch were missed, of how many, and how many times
/// a pair was passed over; the generator believes pairs to be clear by so much more than they are, m.
fn drifting(farther: f64) -> (usize, usize, usize) {
    let mut w = world(ResponseId::SOFT, false);
    for k in 0..24u32 {
        let place = DVec3::from([k % 3, k / 3 % 3, k / 9].map(f64::from)) * 0.45;
        let mut def = cuboid(place, DVec3::new(0.2, 0.3, 0.25));
        let (sin, cos) = libm::sincos(2.4 * f64::from(k));
        def.state.linear_velocity = DVec3::new(sin, 0.5 * cos * sin, cos) * 0.1;
        def.state.angular_velocity = DVec3::new(cos, 1.0, sin) * 0.1;
        w.add(def);
    }
    let (dt, detail) = (0.01, PairLevels::default());
    let detail = LevelOfDetail { pairs: &detail, far: None };
    let mut generator = HullGenerator::default();
    let (mut old, mut missed, mut all, mut spared) = (Vec::new(), 0, 0, 0);
    for _ in 0..400 {
        let bodies = &mut w.bodies;
        for body in bodies.iter_mut() {
            let state = &mut body.state;
            state.position += state.linear_velocity * dt;
            state.rotation = (turned_by(state.angular_velocity * dt) * state.rotation).normalize();
        }
        let boxes: Vec<_> = bodies.iter().map(|b| bounds(b, 0.01, dt, DVec3::ZERO)).collect();
        let each = (0..24).flat_map(|i| (i + 1..24).map(move |j| [i, j]));
        let mut pairs: Vec<NearPair> =
            each.map(|bodies| NearPair { bodies, way: 0.0, resolution_m: f64::MAX }).collect();
        generator.begin(bodies, &mut pairs, detail);
        let (mut report, mut clock) = (StepReport::default(), StageClock::new());
        let settings = WorldSettings { dt, ..w.settings.clone() };
        let mut cx = StepContext {
            gpu: None,
            settings: &settings,
            detail,
            report: &mut report,
            clock: &mut clock,
            substeps: None,
        };
        let query =
            ContactQuery { bodies, pairs: &pairs, at_planes: &[], planes: &[], old: &old, boxes: &boxes, dt };
        let found = generator.find(&mut cx, &query).expect("on the CPU nothing fails");
        // All that is near is looked at, carried along, or passed over.
        let near = pairs.iter().filter(|pair| query.may_meet(pair.bodies)).count();
        spared += near.saturating_sub(report.pairs + found.carried.len());
        old = found.with_old(std::mem::take(&mut old), bodies);
        for pair in &pairs {
            let [a, b] = pair.bodies.map(|k| &bodies[k]);
            let at = |body: &Body| (body.state.position, body.state.rotation);
            let solids = [a, b].map(|body| Solid::of(body.def.shape.convex_hull()));
            let lie = axes::Relative::new(at(a), at(b));
            let apart = axes::Pair::new([&solids[0], &solids[1]], lie).axis(f64::MAX, None, 0.0).separation;
            if apart < 0.9 * meeting::margin(generator.narrow.resolution(a)) {
                all += 1;
                missed += usize::from(manifold::find(&old, a.id, Some(b.id)).is_none());
            }
        }
        generator.records.iter_mut().for_each(|(_, r)| r.clear_m = r.clear_m.map(|clear| clear + farther));
    }
    (missed, all, spared)
}

#[test]
fn pairs_that_are_clear_of_each_other_are_passed_over_and_none_is_missed() {
    let (missed, all, spared) = drifting(0.0);
    println!("{missed} of {all} missed, {spared} passed over");
    assert!(missed == 0 && all > 300 && spared > 100);
    // Who is passed over for too long must not pass.
    let (missed, all, _) = drifting(0.05);
    println!("passed over for too long: {missed} of {all} missed");
    assert!(missed > 0);
}
