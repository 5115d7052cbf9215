//! Distance-like functions (negative inside) that model the built-in figures, and the selection of their main surface.

use crate::geometry::UnionFind;
use glam::{Vec2, Vec3};

/// The largest connected part: pockets inside carved and blended shapes are dropped.
pub(super) fn largest_sheet(
    (positions, triangles): (Vec<Vec3>, Vec<[u32; 3]>),
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut sets = UnionFind::new(positions.len());
    for t in &triangles {
        sets.join(t[0], t[1]);
        sets.join(t[1], t[2]);
    }
    let roots: Vec<u32> = (0..positions.len() as u32).map(|v| sets.find(v)).collect();
    let mut sizes = vec![0u32; positions.len()];
    roots.iter().for_each(|&root| sizes[root as usize] += 1);
    let largest = (0..positions.len() as u32).max_by_key(|&v| sizes[v as usize]).unwrap_or(0);
    let mut number = vec![0; positions.len()];
    let mut kept = Vec::with_capacity(positions.len());
    for (vertex, &p) in positions.iter().enumerate().filter(|&(v, _)| roots[v] == largest) {
        number[vertex] = kept.len() as u32;
        kept.push(p);
    }
    let inside = |t: &&[u32; 3]| roots[t[0] as usize] == largest;
    (kept, triangles.iter().filter(inside).map(|t| t.map(|i| number[i as usize])).collect())
}

/// Smooth minimum: the two shapes blend over a width of about `k`.
pub(super) fn blend(a: f32, b: f32, k: f32) -> f32 {
    let overlap = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - overlap * overlap * k * 0.25
}

/// Smooth subtraction of `b` from `a`.
pub(super) fn carve(a: f32, b: f32, k: f32) -> f32 {
    -blend(-a, b, k)
}

/// Approximate distance to an ellipsoid, accurate near its surface.
pub(super) fn ellipsoid(p: Vec3, radii: Vec3) -> f32 {
    let k0 = (p / radii).length();
    let k1 = (p / (radii * radii)).length();
    if k1 > 0.0 { k0 * (k0 - 1.0) / k1 } else { -radii.min_element() }
}

/// A capsule whose radius changes linearly from `a` to `b`.
pub(super) fn taper(p: Vec3, a: Vec3, b: Vec3, radius_a: f32, radius_b: f32) -> f32 {
    let ab = b - a;
    let t = ((p - a).dot(ab) / ab.length_squared()).clamp(0.0, 1.0);
    (p - a - ab * t).length() - (radius_a + (radius_b - radius_a) * t)
}

/// A disc of `radius` and half height `half`, its edge rounded by `round`, axis y.
pub(super) fn drum(p: Vec3, radius: f32, half: f32, round: f32) -> f32 {
    let d = Vec2::new(Vec2::new(p.x, p.z).length() - radius + round, p.y.abs() - half + round);
    d.max(Vec2::ZERO).length() + d.max_element().min(0.0) - round
}
