//! The hierarchy against plain loops over all triangles.

use crate::geometry::Aabb;
use glam::DVec3;

use super::*;
use crate::{
    mesh::builtin,
    shape::{PieceMesh, SolidMesh},
};
use std::sync::Arc;

/// Small triangles all over the place, `count` of them.
fn scattered(count: usize) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let unit = |i: usize, salt: usize| ((i * 7919 + salt * 104_729) % 10_007) as f64 / 10_007.0;
    let at = |i: usize| DVec3::new(unit(i, 1), unit(i * i, 2), unit(i * 31 + 5, 3));
    let points = (0..count).flat_map(|i| {
        let p = at(i) * 5.0 + 100.0;
        [p, p + at(i + 1) * 0.1, p + at(i + 2) * 0.1]
    });
    (points.collect(), (0..count as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect())
}

fn tree_of(points: &[DVec3], triangles: &[[u32; 3]]) -> MeshTree {
    MeshTree::new(points, triangles, Aabb::of(points.iter().copied()))
}

/// Every triangle is in one leaf, every box holds what is below it, and no way is too long for a walk's stack.
fn assert_whole(tree: &MeshTree, count: usize) {
    let mut seen = vec![0; count];
    let mut work: Vec<(u32, usize)> = if tree.nodes.is_empty() { vec![] } else { vec![(0, 0)] };
    while let Some((at, depth)) = work.pop() {
        assert!(depth < DEEPEST, "{depth}");
        let node = &tree.nodes[at as usize];
        let holds = |p: [f32; 3]| (0..3).all(|k| node.low[k] < p[k] && p[k] < node.high[k]);
        for triangle in &tree.triangles[node.triangles()] {
            seen[triangle.index as usize] += 1;
            assert!(holds(triangle.a) && holds(triangle.b) && holds(triangle.c));
        }
        if !node.is_leaf() {
            for child in [node.first, node.first + 1] {
                let of = &tree.nodes[child as usize];
                assert!((0..3).all(|k| node.low[k] <= of.low[k] && of.high[k] <= node.high[k]));
                work.push((child, depth + 1));
            }
        }
    }
    assert!(seen.iter().all(|n| *n == 1), "{count}");
    assert!(tree.nodes.len() <= (2 * count).saturating_sub(1));
}

#[test]
fn every_triangle_is_in_one_leaf_and_every_box_holds_it() {
    for count in [0, 1, 2, 7, 8, 9, 10, 1000, 40_000] {
        let (points, triangles) = scattered(count);
        assert_whole(&tree_of(&points, &triangles), count);
    }
    // All in one place, and along a line with steps that halve.
    let (points, triangles) = scattered(1);
    assert_whole(&tree_of(&points, &vec![triangles[0]; 20_000]), 20_000);
    let halving = |i: u32| DVec3::splat(0.5f64.powi(i as i32));
    let points: Vec<DVec3> = (0..120).map(halving).collect();
    let triangles: Vec<[u32; 3]> = (0..118).map(|i| [i, i + 1, i + 2]).collect();
    assert_whole(&tree_of(&points, &triangles), 118);
}

#[test]
fn it_is_the_same_on_any_number_of_threads() {
    let (points, triangles) = scattered(40_000);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| tree_of(&points, &triangles))
    };
    let (one, many) = (on(1), on(4));
    assert!(one.nodes == many.nodes && one.triangles == many.triangles);
}

#[test]
fn what_is_not_finite_is_left_out() {
    let (mut points, triangles) = scattered(20);
    points[4] = DVec3::NAN;
    let tree = MeshTree::new(&points, &triangles, Aabb::new(DVec3::splat(100.0), DVec3::splat(106.0)));
    assert_eq!(tree.triangles.len(), 19);
}

#[test]
fn rays_and_points_find_what_plain_loops_find() {
    let mesh = builtin("statue").unwrap();
    let surface = PieceMesh::of_mesh(&mesh, 0.7, [9; 3]);
    let solid = SolidMesh::new(Arc::new(surface), Arc::new([]));
    let triangles: Vec<[DVec3; 3]> = solid.surface().corners_of_triangles().collect();
    let mut hits = 0;
    for i in 0..200 {
        let a = f64::from(i) * 2.399_963;
        let from = DVec3::new(a.sin(), 0.3 + 0.3 * (a * 0.7).sin(), a.cos()) * 1.2;
        let to = DVec3::new(0.1 * (a * 3.0).sin(), 0.35 + 0.3 * (a * 5.0).cos(), 0.1 * (a * 7.0).sin());
        let expected = crate::shape::solid::nearest_hit(triangles.iter().copied(), from, to - from);
        assert_eq!(solid.pick(from, to - from), expected);
        hits += usize::from(expected.is_some());
        if i % 10 == 0 {
            let far = |t: &[DVec3; 3]| crate::geometry::triangle::distance(from, *t);
            let plain = triangles.iter().map(far).fold(f64::INFINITY, f64::min);
            assert!((solid.distance(from) - plain).abs() < 1e-12, "{} {plain}", solid.distance(from));
        }
    }
    assert!(hits > 150, "{hits}");
    assert_eq!(solid.distance(DVec3::new(0.0, 0.3, 0.0)), 0.0);
    // A point of an edge, which is as near to two triangles.
    for [a, b, _] in triangles.iter().step_by(499) {
        let p = 0.5 * (*a + *b);
        let far = |t: &[DVec3; 3]| crate::geometry::triangle::distance(p, *t);
        let plain = triangles.iter().map(far).zip(0u32..).min_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(solid.nearest_triangle(p), plain);
    }
}

/// Of all triangles that a plane cuts none is left out, and of the others few are met.
#[test]
fn a_plane_meets_what_it_cuts() {
    let surface = PieceMesh::of_mesh(&builtin("statue").unwrap(), 0.7, [9; 3]);
    let solid = SolidMesh::new(Arc::new(surface), Arc::new([]));
    let triangles: Vec<[DVec3; 3]> = solid.surface().corners_of_triangles().collect();
    let mut cut = 0;
    for (i, normal) in
        [DVec3::Y, DVec3::new(0.6, 0.0, -0.8), DVec3::new(-0.48, 0.6, 0.64)].into_iter().enumerate()
    {
        let at = normal.dot(DVec3::new(0.0, 0.3, 0.0)) + 0.01 * i as f64;
        let mut met = std::collections::BTreeSet::new();
        solid.cut_by(normal, at, |triangle| {
            met.insert(triangle.index as usize);
        });
        let is_cut = |t: &[DVec3; 3]| {
            let heights = t.map(|p| normal.dot(p) - at);
            heights.iter().any(|height| *height < 0.0) && heights.iter().any(|height| *height >= 0.0)
        };
        let wanted: Vec<usize> = (0..triangles.len()).filter(|k| is_cut(&triangles[*k])).collect();
        assert!(wanted.iter().all(|k| met.contains(k)));
        assert!(met.len() < triangles.len() / 2, "{} of {}", met.len(), triangles.len());
        cut += wanted.len();
    }
    assert!(cut > 30, "{cut}");
}
