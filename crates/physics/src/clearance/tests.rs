use super::*;
use crate::svo::leaf_sample;
use crate::{
    WorldSettings,
    broad_phase::closer,
    support::SupportPoints,
    testing::{ball, block, body, grid, steps, world},
    tests::pile,
    world::World,
};
use glam::{DQuat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Surface samples of a body, world, m.
fn samples(body: &Body) -> Vec<DVec3> {
    let octree = body.def.octree();
    let place = body.world_from_grid();
    octree
        .leaves()
        .map(|leaf| place.transform_point3(leaf_sample(&octree.forest, leaf).0.as_dvec3()))
        .collect()
}

/// The distance of the nearest two samples of two bodies, m.
fn nearest(a: &[DVec3], b: &[DVec3]) -> f64 {
    let far = |p: &DVec3| b.iter().map(|q| q.distance_squared(*p)).fold(f64::MAX, f64::min);
    a.iter().map(far).fold(f64::MAX, f64::min).sqrt()
}

fn all_pairs(world: &World) -> Vec<NearPair> {
    let n = world.bodies.len();
    let pair = |i, j| NearPair { bodies: [i, j], way: 0.0, resolution_m: 1.0 };
    (0..n).flat_map(|i| (i + 1..n).map(move |j| pair(i, j))).collect()
}

/// A heap that is stirred: how many pairs were left out, and how many of them came nearer than that allows. What is
/// kept is said to be so much farther apart than it is, m.
fn left_out(farther: f64) -> (usize, usize) {
    let mut w = pile(5, 5, 4);
    for (i, body) in w.bodies.iter_mut().enumerate() {
        let angle = 2.4 * i as f64;
        body.state.linear_velocity += DVec3::new(angle.cos(), 0.3 * (0.7 * angle).sin(), angle.sin());
        body.state.angular_velocity = DVec3::new(angle.sin(), 1.0, angle.cos()) * 3.0;
    }
    let mut clearances = Clearances::default();
    let (mut out, mut wrong) = (0, 0);
    for _ in 0..40 {
        let reach = w.generators.reach(&w.bodies, w.detail());
        let all = all_pairs(&w);
        let stays = clearances.narrow(&w.bodies, all.clone(), &reach, 0.01);
        clearances.known.iter_mut().for_each(|known| {
            known.least += farther;
            known.gap.least += farther;
        });
        let of: Vec<Vec<DVec3>> = w.bodies.iter().map(samples).collect();
        for pair in all.iter().filter(|pair| !stays.iter().any(|kept| kept.bodies == pair.bodies)) {
            let [i, j] = pair.bodies;
            let enough = reach[i] + reach[j] + closer(&w.bodies[i], &w.bodies[j], 0.01);
            out += 1;
            wrong += usize::from(nearest(&of[i], &of[j]) <= enough);
        }
        if farther > 0.0 && wrong > 0 {
            // An error that is planted is found by now.
            break;
        }
        steps(&mut w, 0.01);
    }
    (out, wrong)
}

#[test]
fn nobody_is_left_out_who_may_touch() {
    let (out, wrong) = left_out(0.0);
    println!("{out} left out");
    assert!(out > 1_000, "{out}");
    assert_eq!(wrong, 0);
    // What is said to be a twentieth farther apart than it is must not pass.
    let (_, wrong) = left_out(0.05);
    assert!(wrong > 0, "nobody notices");
}

/// Random corners round a middle.
fn outline(rng: &mut ChaCha8Rng, count: usize) -> (Outline, Vec<DVec3>) {
    let mut v = || rng.random_range(-1.0..1.0f64);
    let corners: Vec<DVec3> = (0..count).map(|_| DVec3::new(v(), v(), v())).collect();
    (Outline { corners: SupportPoints::new(&corners), slack: 0.0 }, corners)
}

/// The distance of two outlines by going again and again a part of the way to the farthest difference (Frank & Wolfe):
/// slow, and of another kind. Bounds of it.
fn slowly(a: &[DVec3], b: &[DVec3]) -> (f64, f64) {
    let differences: Vec<DVec3> = a.iter().flat_map(|p| b.iter().map(move |q| *p - *q)).collect();
    let mut at = differences[0];
    let mut least = 0.0f64;
    for _ in 0..3_000 {
        let to = differences.iter().copied().min_by(|p, q| p.dot(at).total_cmp(&q.dot(at))).unwrap_or(at);
        least = least.max(to.dot(at) / at.length().max(1e-12));
        let way = to - at;
        let share = (-at.dot(way) / way.length_squared().max(1e-300)).clamp(0.0, 1.0);
        at += way * share;
    }
    (least, at.length())
}

#[test]
fn bounds_hold_the_distance() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut apart, mut over, mut early) = (0, 0, 0);
    for k in 0..400 {
        let count = [1, 2, 3, 4, 9, 40][k % 6];
        let [(a, corners), (b, others)] = [outline(&mut rng, count), outline(&mut rng, 12)];
        let mut v = || rng.random_range(-1.0..1.0f64);
        let turn = DQuat::from_xyzw(v(), v(), v(), v()).normalize();
        let place = DVec3::new(v(), v(), v()) * 2.0;
        let lie = Relative::new([(DVec3::ZERO, DQuat::IDENTITY), (place, turn)]);
        let there: Vec<DVec3> = others.iter().map(|p: &DVec3| place + turn * *p).collect();
        let (least, most) = slowly(&corners, &there);
        let known = DVec3::new(v(), v(), v());
        for first in [DVec3::ZERO, known] {
            let found = gap([&a, &b], &lie, first, f64::MAX);
            assert!(
                found.least <= most + 1e-9 && found.most >= least - 1e-9,
                "{k}: {found:?} {least} {most}"
            );
            if least > 1e-3 {
                assert!(found.most - found.least < 1e-6 * found.most, "{k}: {found:?}");
                let along = |p: &DVec3| p.dot(turn * found.direction);
                let low = corners.iter().map(along).fold(f64::MAX, f64::min);
                let high = there.iter().map(along).fold(f64::MIN, f64::max);
                assert!((low - high - found.least).abs() < 1e-9);
                apart += 1;
                // Half is enough, and is found no later.
                let half = gap([&a, &b], &lie, first, 0.5 * least);
                assert!(half.least > 0.5 * least && half.least <= most + 1e-9);
                early += u32::from(half.most > 1.001 * most);
            } else if most < 1e-3 {
                over += 1;
                assert!(found.least <= 1e-3);
            }
        }
        let slack = gap([&Outline { slack: 0.25, ..a.clone() }, &b], &lie, known, f64::MAX);
        assert!(slack.least <= most - 0.25 + 1e-9 && slack.most >= least - 0.25 - 1e-9);
    }
    println!("{apart} apart, {over} overlap, {early} times half was said sooner");
    assert!(apart > 300 && over > 30 && early > 100);
}

#[test]
fn a_body_lies_in_its_outline() {
    for forest in [ball(6, Vec3::splat(32.0), 28.0), ball(4, Vec3::splat(8.0), 6.0), block(4, [7; 3], [9; 3])]
    {
        let level = forest.level;
        let mut w = world(WorldSettings::default());
        w.add(body(&Arc::new(forest), 0, grid(level, 1.0), level, DVec3::ZERO));
        let body = &w.bodies[0];
        let outline = Outline::of(&body.def.shape);
        let samples = samples(body);
        let out = samples.iter().map(|p| distance::outside(&outline.corners, *p - body.state.position));
        let most = out.fold(0.0, f64::max);
        println!("slack {:.5} m, {most:.5} m outside", outline.slack);
        assert!(most <= outline.slack + 1e-9);
        assert!(outline.slack < 0.1 * body.def.radius());
    }
}

#[test]
fn ways_are_no_shorter_than_what_bodies_come_closer() {
    let mut w = pile(4, 4, 2);
    let mut ways = Travel::default();
    ways.follow(&w.bodies);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let apart = |w: &World| nearest(&samples(&w.bodies[0]), &samples(&w.bodies[1]));
    let (first, begun) = (apart(&w), ways.of([0, 1]));
    for _ in 0..20 {
        let common = DVec3::new(0.0, -rng.random_range(0.0..1.0f64), 0.0);
        for body in &mut w.bodies {
            let mut v = || rng.random_range(-0.01..0.01f64);
            body.state.position += common + DVec3::new(v(), v(), v());
            body.state.rotation =
                (DQuat::from_xyzw(v(), v(), v(), 1.0).normalize() * body.state.rotation).normalize();
        }
        ways.follow(&w.bodies);
        let (way, now) = (ways.of([0, 1]) - begun, apart(&w));
        assert!((now - first).abs() <= way + 1e-12, "{way} {now} {first}");
    }
    // The fall that all have in common is no part of it.
    assert!(ways.of([0, 1]) - begun < 2.0);
    let gone = w.bodies.remove(0).id;
    ways.follow(&w.bodies);
    assert!(w.bodies[0].id != gone && ways.of([0, 0]) > 0.0, "the others are still known");
}

#[test]
fn who_comes_back_with_another_shape_is_measured_again() {
    let mut w = pile(5, 5, 4);
    let reach = w.generators.reach(&w.bodies, w.detail());
    let mut clearances = Clearances::default();
    let asked =
        |clearances: &mut Clearances, w: &World| clearances.narrow(&w.bodies, all_pairs(w), &reach, 0.0);
    let far = |stays: &[NearPair]| !stays.iter().any(|pair| pair.bodies == [0, 63]);
    assert!(far(&asked(&mut clearances, &w)), "the first and the last lie at opposite corners");
    let last = w.bodies.pop().unwrap();
    clearances.keep(&w.bodies);
    let mut larger = body(&Arc::new(ball(5, Vec3::splat(16.0), 15.0)), 0, grid(5, 9.0), 5, DVec3::ZERO);
    larger.state = last.state;
    w.bodies.push(Body { def: larger, ..last });
    assert!(!far(&asked(&mut clearances, &w)));
}
