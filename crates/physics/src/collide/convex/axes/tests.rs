//! Against every axis that there is: the normal of every triangle and the cross product of every two edges, none left
//! out and all asked of all corners.

use super::*;
use crate::shape::Hull;
use rand::{RngExt, SeedableRng};

type Rng = rand_chacha::ChaCha8Rng;

fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from([0; 3].map(|_| rng.random_range(-1.0..1.0f64)))
}

fn turn(rng: &mut Rng) -> DQuat {
    let [x, y, z, w] = [0; 4].map(|_| rng.random_range(-1.0..1.0f64));
    DQuat::from_xyzw(x, y, z, w).normalize()
}

/// Points of a ball, or of a box: few, many, flat and long ones.
fn cloud(rng: &mut Rng) -> Vec<DVec3> {
    let count = [4, 5, 8, 12, 30][rng.random_range(0..5usize)];
    let size = DVec3::from([0; 3].map(|_| rng.random_range(0.2..1.0f64)));
    if rng.random_range(0..3u32) == 0 {
        return (0..8u32)
            .map(|c| (DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) - 0.5) * size)
            .collect();
    }
    (0..count).map(|_| vector(rng) * size).collect()
}

/// The greatest separation, by all axes; without edges where `edges` is false.
fn brute(points: [&[DVec3]; 2], relative: Relative, edges: bool) -> f64 {
    let second: Vec<DVec3> = points[1].iter().map(|p| relative.place(*p)).collect();
    let corners = [points[0].to_vec(), second];
    let through = |k: usize| Hull::through(points[k], 1000, [0.0, f64::MAX]).expect("it has a volume");
    let hulls = [0, 1].map(|k| through(k).hull);
    let place = |k: usize, v: u32| {
        if k == 0 { hulls[0].points[v as usize] } else { relative.place(hulls[1].points[v as usize]) }
    };
    let sides = |k: usize| -> Vec<DVec3> {
        let all = hulls[k].triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
        all.map(|[a, b]| place(k, b) - place(k, a)).collect()
    };
    let mut axes: Vec<DVec3> = Vec::new();
    for (k, hull) in hulls.iter().enumerate() {
        for t in &hull.triangles {
            let [a, b, c] = t.map(|v| place(k, v));
            axes.push((b - a).cross(c - a).normalize());
        }
    }
    if edges {
        for u in sides(0) {
            for v in sides(1) {
                let cross = u.cross(v);
                if cross.length_squared() > PARALLEL * u.length_squared() * v.length_squared() {
                    axes.push(cross.normalize());
                }
            }
        }
    }
    let range = |points: &[DVec3], way: DVec3| {
        points.iter().map(|p| p.dot(way)).fold((f64::MAX, f64::MIN), |(l, h), d| (l.min(d), h.max(d)))
    };
    let gap = |way: &DVec3| {
        let [(a, b), (c, d)] = [range(&corners[0], *way), range(&corners[1], *way)];
        (a - d).max(c - b)
    };
    axes.iter().map(gap).fold(f64::MIN, f64::max)
}

/// Two clouds that nearly touch, overlap or are apart.
fn two(rng: &mut Rng) -> ([Vec<DVec3>; 2], Relative) {
    let clouds = [cloud(rng), cloud(rng)];
    let rotation = if rng.random_range(0..8u32) == 0 { DQuat::IDENTITY } else { turn(rng) };
    (clouds, Relative { rotation, position: vector(rng) * 0.7 })
}

#[test]
fn separating_axes_find_what_all_axes_find() {
    let mut rng = Rng::seed_from_u64(4);
    let (mut apart, mut overlap, mut by_edges) = (0, 0, 0);
    for _ in 0..3000 {
        let ([p, q], relative) = two(&mut rng);
        let [Some(a), Some(b)] = [&p, &q].map(|points| Solid::through(points)) else { continue };
        let pair = Pair::new([&a, &b], relative);
        let axis = pair.axis(f64::MAX, None, 0.0);
        let wanted = brute([&p, &q], relative, true);
        if wanted < 0.0 {
            assert!((axis.separation - wanted).abs() < 1e-6, "{axis:?}, {wanted} wanted");
        } else {
            // Pairs of edges that make no face of the Minkowski difference can tell of a wider gap, never of the only
            // one.
            assert!(axis.separation > -1e-9 && axis.separation < wanted + 1e-9, "{axis:?}, {wanted} wanted");
        }
        assert!((pair.along(axis.normal) - axis.separation).abs() < 1e-9, "the normal is that of the gap");
        // Moved by the gap along the normal, they just touch.
        let moved = Relative { position: relative.position + axis.normal * axis.separation, ..relative };
        let touching = Pair::new([&a, &b], moved).along(axis.normal);
        assert!(touching.abs() < 1e-9, "{touching}");
        *if axis.separation > 0.0 { &mut apart } else { &mut overlap } += 1;
        // The planted error: without pairs of edges others come out.
        by_edges += u32::from(wanted < 0.0 && wanted - brute([&p, &q], relative, false) > 1e-4);
    }
    println!("{apart} apart, {overlap} overlap, of these {by_edges} less by edges");
    assert!(apart > 500 && overlap > 500 && by_edges > 100);
}

#[test]
fn crossed_bars_are_apart_only_along_their_edges() {
    let bar = |half: DVec3| {
        let points: Vec<DVec3> = (0..8u32)
            .map(|c| (DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) * 2.0 - 1.0) * half)
            .collect();
        Solid::through(&points).expect("a box")
    };
    let bar = bar(DVec3::new(2.0, 0.5, 0.5));
    assert_eq!((bar.corners.len(), bar.faces.len(), bar.edges.len()), (8, 6, 12));
    assert!(bar.faces.iter().all(|face| face.corners.len() == 4));
    // Each turned by an eighth about its length, and across each other: edge over edge.
    let tilt = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    let across = tilt.inverse() * DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2) * tilt;
    for gap in [-0.1, 0.05] {
        let up = tilt.inverse() * DVec3::Y * -(2.0f64.sqrt() + gap);
        let pair = Pair::new([&bar, &bar], Relative { rotation: across, position: up });
        let axis = pair.axis(f64::MAX, None, 0.0);
        assert!(
            matches!(axis.feature, Feature::Edges(_)) && (axis.separation - gap).abs() < 1e-9,
            "{axis:?}"
        );
        assert!(axis.normal.dot(tilt.inverse() * DVec3::Y) > 0.999, "from the second to the first");
        let touches = super::super::clip::touches(&pair, &axis, 0.1, 0.01);
        assert_eq!(touches.len(), 1);
        let middle = (touches[0].on[0] + touches[0].on[1]) * 0.5;
        assert!((middle - up * 0.5).length() < 1e-9, "{middle} {up}");
    }
}

#[test]
fn one_that_is_far_enough_is_found_at_once_and_what_is_known_stays() {
    let cube: Vec<DVec3> =
        (0..8u32).map(|c| DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) - 0.5).collect();
    let solid = Solid::through(&cube).expect("a cube");
    let at = |position: DVec3| Pair::new([&solid, &solid], Relative { rotation: DQuat::IDENTITY, position });
    let axis = at(DVec3::new(3.0, 5.0, 0.2)).axis(1.0, None, 0.0);
    assert!(axis.separation > 1.0);
    // Both cubes' faces say the same; the second's stays where it served before.
    let resting = at(DVec3::Y * -0.999);
    let second = resting.axis(f64::MAX, Some(Feature::Face { of: 1, face: 2 }), 0.01);
    assert!(matches!(second.feature, Feature::Face { of: 1, .. }), "{second:?}");
    assert!(matches!(resting.axis(f64::MAX, None, 0.01).feature, Feature::Face { of: 0, .. }));
    assert!((second.separation + 0.001).abs() < 1e-12 && second.normal == DVec3::Y);
}
