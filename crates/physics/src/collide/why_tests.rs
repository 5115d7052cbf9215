//! Why points are contacts: against the rule of the reduction, told point by point, and in worlds whose contacts are
//! chosen by known rules.

use super::{
    ChosenAs, FoundAs, Manifold, Persistence, Point,
    convex::{Solid, hull_at_plane},
    reduce, tangents,
};
use crate::{
    Body, ContactsId, Family, World, WorldSettings,
    svo::leaf_sample,
    testing::{ball, block, body, by_octrees, grid, world},
};
use glam::{DQuat, DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use std::{collections::BTreeMap, sync::Arc};

/// By key of each candidate that the rule keeps: its reason. Every candidate is compared with all others in every
/// direction.
fn by_the_rule(points: &[Point], known: &[u64], cell: f64) -> BTreeMap<u64, ChosenAs> {
    let bonus = |i: usize| if known.contains(&points[i].key) { 0.15 * cell } else { 0.0 };
    let depth = |i: usize| points[i].separation - 0.1 * bonus(i);
    let mut open: Vec<usize> = (0..points.len()).collect();
    let mut out = BTreeMap::new();
    for _ in 0..6 {
        // Of equal ones the first.
        let is_deepest =
            |i: usize| open.iter().all(|&j| depth(i) < depth(j) || (depth(i) == depth(j) && i <= j));
        let Some(deepest) = open.iter().copied().find(|&i| is_deepest(i)) else { break };
        let normal = points[deepest].normal;
        let group: Vec<usize> =
            open.iter().copied().filter(|&i| points[i].normal.dot(normal) > 0.85).collect();
        open.retain(|i| !group.contains(i));
        let (t, u) = tangents(normal);
        let touching = points[deepest].separation.max(0.0);
        let mut outermost = Vec::new();
        for d in 0..8 {
            let (s, c) = libm::sincos(std::f64::consts::TAU * (f64::from(d) + 0.5) / 8.0);
            let reach = |i: usize| {
                let apart = (points[i].separation - touching).max(0.0);
                (points[i].position - points[deepest].position).dot(t * c + u * s) + bonus(i) - 10.0 * apart
            };
            let is_outermost =
                |i: usize| group.iter().all(|&j| reach(i) > reach(j) || (reach(i) == reach(j) && i <= j));
            outermost.extend(group.iter().copied().filter(|&i| is_outermost(i)));
        }
        outermost.sort_unstable();
        outermost.dedup();
        out.extend(outermost.iter().map(|&i| (points[i].key, ChosenAs::Outermost)));
        let stands_out =
            outermost.iter().all(|&i| points[deepest].separation < points[i].separation - 0.02 * cell);
        if (outermost.len() < 3 || stands_out) && !outermost.contains(&deepest) {
            out.insert(points[deepest].key, ChosenAs::Deepest);
        }
    }
    out
}

fn reasons(points: &[Point]) -> BTreeMap<u64, ChosenAs> {
    points.iter().map(|p| (p.key, p.why.chosen_as)).collect()
}

/// A world in which contacts are found by the generator of this name.
fn by(contacts: &str) -> World {
    let contacts = ContactsId::named(contacts).expect("it is in the table");
    world(WorldSettings { contacts, ..WorldSettings::default() })
}

#[test]
fn reasons_are_those_of_the_rule() {
    let (mut deepest, mut outermost, mut planted) = (0, 0, 0);
    for seed in 0..200u64 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let count = [1, 2, 3, 5, 9, 40, 120][seed as usize % 7];
        let cell = 0.1;
        let points: Vec<Point> = (0..count)
            .map(|key| {
                let mut number = |most: f64| rng.random_range(-most..most);
                let way = [DVec3::Y, DVec3::X, DVec3::NEG_Z][(seed + key) as usize % 3];
                let way = if seed % 2 == 0 { DVec3::Y } else { way };
                let normal = (way + DVec3::new(number(0.1), number(0.1), number(0.1))).normalize();
                let position = DVec3::new(number(1.0), number(0.02), number(1.0));
                Point::new(key, [None, None], position, normal, number(0.03))
            })
            .collect();
        let known: Vec<Point> = points.iter().copied().filter(|p| p.key % 3 == seed % 3).collect();
        let names: Vec<u64> = known.iter().map(|p| p.key).collect();
        let got = reasons(&reduce(&points, &known, cell));
        assert_eq!(got, by_the_rule(&points, &names, cell), "seed {seed}");
        deepest += got.values().filter(|why| **why == ChosenAs::Deepest).count();
        outermost += got.values().filter(|why| **why == ChosenAs::Outermost).count();
        // A rule without the last contacts is another one.
        planted += usize::from(got != by_the_rule(&points, &[], cell));
    }
    println!("{outermost} outermost, {deepest} deepest, {planted} of 200 differ without loyalty");
    assert!(deepest > 20 && outermost > 200 && planted > 10);
}

#[test]
fn a_block_on_the_floor_has_the_reasons_of_its_candidates() {
    let forest = Arc::new(block(5, [8, 0, 8], [24, 8, 24]));
    let mut w = by_octrees(world(WorldSettings::default()));
    w.add(body(&forest, 0, grid(5, 1.0), 5, DVec3::ZERO));
    let state = &mut w.bodies[0].state;
    state.rotation = DQuat::from_scaled_axis(DVec3::new(0.004, 0.0, 0.003));
    let cell = 1.0 / 32.0;
    let places = |body: &Body| -> Vec<DVec3> {
        let to_world = body.world_from_grid();
        let leaves = 0..forest.leaves.keys.len();
        leaves.map(|leaf| to_world.transform_point3(leaf_sample(&forest, leaf).0.as_dvec3())).collect()
    };
    let lowest = places(&w.bodies[0]).iter().map(|p| p.y).fold(f64::MAX, f64::min);
    w.bodies[0].state.position.y -= lowest + 0.3 * cell;
    let candidates: Vec<Point> = places(&w.bodies[0])
        .into_iter()
        .enumerate()
        .filter(|(_, p)| p.y < 0.25 * cell)
        .map(|(leaf, p)| Point::new(leaf as u64, [Some(&w.bodies[0]), None], p, DVec3::Y, p.y))
        .collect();
    w.step_on_cpu();
    let want = by_the_rule(&candidates, &[], cell);
    assert_eq!(reasons(&w.manifolds[0].points), want);
    assert!(candidates.len() > 100 && want.len() < 10, "{} of {}", want.len(), candidates.len());
    for contact in w.contacts() {
        assert_eq!((contact.found_by, contact.candidates), ("octree", candidates.len()));
        assert_eq!((contact.why.found_as, contact.why.persistence), (FoundAs::Place, Persistence::New));
        assert!(!contact.touches_later);
    }
}

#[test]
fn corners_of_a_hull_have_the_reasons_of_the_rule() {
    let forest = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
    let mut w = by("hull");
    w.add(body(&forest, 0, grid(5, 1.0), 4, DVec3::Y * -0.1));
    // So fast that many corners may touch in the step.
    w.bodies[0].state.linear_velocity = DVec3::NEG_Y * 20.0;
    let fallen = &w.bodies[0];
    let cell = fallen.def.resolution_m();
    let near = 0.25 * cell + 20.0 * w.settings.dt;
    let solid = Solid::of(fallen.def.shape.convex_hull());
    let candidates = hull_at_plane(fallen, &solid, (0, &w.settings.planes()[0]), near);
    let want = by_the_rule(&candidates, &[], cell);
    w.step_on_cpu();
    assert_eq!(reasons(&w.manifolds[0].points), want);
    assert!(candidates.len() > want.len(), "{} of {}", want.len(), candidates.len());
    let contact = w.contacts()[0];
    assert_eq!((contact.found_by, contact.candidates), ("hull", candidates.len()));
}

#[test]
fn smooth_bodies_touch_at_places_that_replace_others() {
    let forest = Arc::new(ball(6, Vec3::splat(32.0), 24.0));
    let mut w = by_octrees(world(WorldSettings::default()));
    // One lies on the floor, the other one is beside it.
    for x in [0.0, 47.9 / 64.0] {
        let mut def = body(&forest, 0, grid(6, 1.0), 6, DVec3::new(x, -8.0 / 64.0, 0.0));
        def.family = Family::unique();
        w.add(def);
    }
    w.step_on_cpu();
    let points = |is_plane: bool| -> Vec<Point> {
        let those = w.manifolds.iter().filter(|m: &&Manifold| m.second.is_none() == is_plane);
        those.flat_map(|m| m.points.clone()).collect()
    };
    let (at_floor, between) = (points(true), points(false));
    assert!(at_floor.iter().all(|p| p.ball.is_some() == (p.why.chosen_as == ChosenAs::Ball)));
    assert!(at_floor.iter().any(|p| p.ball.is_some()), "{at_floor:?}");
    assert!(between.iter().any(|p| p.why.chosen_as == ChosenAs::Nearest), "{between:?}");
}

#[test]
fn contacts_are_new_then_the_same_again_and_at_rest_carried() {
    let forest = Arc::new(block(5, [8, 0, 8], [24, 8, 24]));
    let mut w = by("hull");
    w.add(body(&forest, 0, grid(5, 1.0), 5, DVec3::Y * -0.0005));
    let persistence = |w: &World| -> Vec<Persistence> {
        let mut all: Vec<_> = w.contacts().iter().map(|contact| contact.why.persistence).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    w.step_on_cpu();
    assert_eq!(persistence(&w), [Persistence::New]);
    for _ in 0..300 {
        w.step_on_cpu();
    }
    assert!(w.bodies[0].asleep, "it rests");
    assert_eq!(persistence(&w), [Persistence::Carried]);
    // Farther than contacts are carried, and not so far that others would be found.
    w.bodies[0].state.position.x += 0.3 / 32.0;
    w.bodies[0].wake();
    w.step_on_cpu();
    assert_eq!(persistence(&w), [Persistence::Again]);
}

#[test]
fn mixed_contacts_name_the_generator_of_the_pair() {
    let plain = Arc::new(block(5, [8, 0, 8], [24, 8, 24]));
    let round = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
    for (forest, lift, name) in [(&plain, 0.0, "hull"), (&round, -4.0 / 32.0, "octree")] {
        let mut w = by("mixed");
        w.add(body(forest, 0, grid(5, 1.0), 5, DVec3::Y * (lift - 0.001)));
        w.step_on_cpu();
        let contacts = w.contacts();
        assert!(!contacts.is_empty());
        assert!(contacts.iter().all(|contact| contact.found_by == name), "{name}");
        assert!(contacts.iter().all(|contact| contact.candidates >= contacts.len()));
    }
}

/// A step reads every point often: the reasons take no room of their own. The sums of all substeps are the fifth line.
#[test]
fn a_point_takes_five_lines_of_the_cache() {
    assert_eq!((size_of::<super::Why>(), size_of::<Point>()), (3, 312));
}
