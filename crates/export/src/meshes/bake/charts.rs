//! Charts of crack faces: parts of a mesh that lie in a plane without folds.
//!
//! In: a mesh. Out: [`Chart`]s, in which every crack triangle is once. A chart is connected, borders on one cell, and is
//! projected along its axis. A triangle joins if it leans less than 72 degrees against the axis, so that it keeps its
//! winding, and if it overlaps no triangle of the chart in the plane: surfaces that wind like a staircase keep their winding
//! and overlap nevertheless.

use std::collections::HashMap;

use glam::{DVec2, DVec3};

use crate::meshes::PieceMesh;

/// Least cosine between the normal of a triangle and the axis of its chart.
const LEAST_COSINE: f64 = 0.3;
/// Mean normals that are shorter than this come from surfaces that bend too much to have one axis.
const LEAST_MEAN: f64 = 0.5;
/// Triangles that share less than this part of a usual edge touch each other.
const TOUCHING: f64 = 1e-6;
/// Triangles whose height is a smaller part of their longest edge have no direction, and join any chart.
const LEAST_HEIGHT: f64 = 1e-12;
/// Number of directions of the u axis that are tried, within a quarter turn.
const DIRECTIONS: u32 = 16;
const NONE: u32 = u32::MAX;

/// A part of a mesh in the plane of its texture.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its triangles.
    pub triangles: Vec<u32>,
    /// Unit vectors of the texture's u and v; their cross product is the axis of the projection, outward.
    pub axes: [DVec3; 2],
    /// Low corner along the axes, m.
    low: DVec2,
    /// Extent along the axes, m.
    pub extent: DVec2,
}

impl Chart {
    /// A point of shape space in the plane, m from the chart's low corner.
    pub fn point(&self, p: DVec3) -> DVec2 {
        in_plane(&self.axes, p) - self.low
    }
}

fn in_plane([u, v]: &[DVec3; 2], p: DVec3) -> DVec2 {
    DVec2::new(p.dot(*u), p.dot(*v))
}

/// The charts of all crack triangles, from large to small seeds.
pub fn charts(mesh: &PieceMesh) -> Vec<Chart> {
    let corners = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize]);
    let doubled: Vec<DVec3> = mesh.triangles.iter().map(|t| doubled_area(corners(t))).collect();
    let mut links = Links::of(mesh);
    let mut seeds: Vec<u32> =
        (0..).zip(&links.is_left).filter(|(_, is_left)| **is_left).map(|(t, _)| t).collect();
    let area = |t: &u32| doubled[*t as usize].length_squared();
    seeds.sort_by(|a, b| area(b).total_cmp(&area(a)).then(a.cmp(b)));
    let mut charts = Vec::new();
    for seed in seeds {
        if links.is_left[seed as usize] {
            charts.push(chart(mesh, &doubled, &mut links, seed));
        }
    }
    charts
}

/// A normal that is twice as long as the triangle is large.
fn doubled_area([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// The chart of `seed`, which is the largest triangle that has none.
fn chart(mesh: &PieceMesh, doubled: &[DVec3], links: &mut Links, seed: u32) -> Chart {
    let corners = |t: u32| mesh.triangles[t as usize].map(|v| mesh.positions[v as usize]);
    let longest_squared = |t: u32| {
        let p = corners(t);
        (0..3).map(|k| p[k].distance_squared(p[(k + 1) % 3])).fold(0.0, f64::max)
    };
    let part = links.connected(seed, |_| true);
    let all = || part.iter().map(|t| doubled[*t as usize]);
    let own = doubled[seed as usize].normalize_or(DVec3::Y);
    let (sum, area) = (all().sum::<DVec3>(), all().map(DVec3::length).sum::<f64>());
    let mean = sum.normalize_or(own);
    let has_mean = sum.length() > LEAST_MEAN * area && mean.dot(own) > LEAST_COSINE;
    let axis = if has_mean { mean } else { own };
    let axes = right_handed(axis, axis.any_orthonormal_vector());
    let edge = (part.iter().map(|t| longest_squared(*t)).sum::<f64>() / part.len() as f64).sqrt();
    let mut plane = Plane { cell: edge, ..Plane::default() };
    let triangles = links.connected(seed, |t| {
        let normal = doubled[t as usize];
        normal.length() <= LEAST_HEIGHT * longest_squared(t)
            || normal.dot(axis) > LEAST_COSINE * normal.length()
                && plane.add(corners(t).map(|p| in_plane(&axes, p)))
    });
    triangles.iter().for_each(|t| links.is_left[*t as usize] = false);
    let points: Vec<DVec3> = triangles.iter().flat_map(|t| corners(*t)).collect();
    let axes = lengthwise(axis, axes, &points);
    let [low, high] = bounds(&axes, &points);
    Chart { triangles, axes, low, extent: high - low }
}

fn right_handed(axis: DVec3, u: DVec3) -> [DVec3; 2] {
    [u, axis.cross(u)]
}

fn bounds(axes: &[DVec3; 2], points: &[DVec3]) -> [DVec2; 2] {
    let nothing = [DVec2::INFINITY, DVec2::NEG_INFINITY];
    points.iter().map(|p| in_plane(axes, *p)).fold(nothing, |[low, high], p| [low.min(p), high.max(p)])
}

/// The axes, turned so that the box round the points is small, and longer along u.
fn lengthwise(axis: DVec3, axes: [DVec3; 2], points: &[DVec3]) -> [DVec3; 2] {
    let turned = |k: u32| {
        let (sin, cos) = libm::sincos(f64::from(k) * std::f64::consts::FRAC_PI_2 / f64::from(DIRECTIONS));
        right_handed(axis, axes[0] * cos + axes[1] * sin)
    };
    let extent = |axes: &[DVec3; 2]| {
        let [low, high] = bounds(axes, points);
        high - low
    };
    let area = |axes: &[DVec3; 2]| extent(axes).element_product();
    let smallest = (0..DIRECTIONS).map(turned).min_by(|a, b| area(a).total_cmp(&area(b))).unwrap_or(axes);
    let DVec2 { x, y } = extent(&smallest);
    if y > x { right_handed(axis, smallest[1]) } else { smallest }
}

/// Which crack triangles lie next to which, and which of them have no chart yet.
struct Links {
    beside: Vec<[u32; 3]>,
    is_left: Vec<bool>,
    /// The last search that came to each triangle.
    seen: Vec<u32>,
    search: u32,
}

impl Links {
    /// Links over edges that two crack triangles towards the same cell have in common.
    fn of(mesh: &PieceMesh) -> Self {
        let is_left: Vec<bool> = mesh.faces.iter().map(|face| face.side.is_crack()).collect();
        let mut sides = Vec::new();
        for (t, triangle) in (0u32..).zip(&mesh.triangles).filter(|(t, _)| is_left[*t as usize]) {
            sides.extend((0..3).map(|k| {
                let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
                ([a.min(b), a.max(b)], t, k)
            }));
        }
        sides.sort_unstable();
        let mut beside = vec![[NONE; 3]; mesh.triangles.len()];
        for run in sides.chunk_by(|a, b| a.0 == b.0) {
            let &[(_, a, at_a), (_, b, at_b)] = run else { continue };
            if mesh.faces[a as usize].beyond == mesh.faces[b as usize].beyond {
                (beside[a as usize][at_a], beside[b as usize][at_b]) = (b, a);
            }
        }
        Self { beside, seen: vec![0; is_left.len()], is_left, search: 0 }
    }

    /// The triangles without a chart that `joins` accepts one by one, from `seed` on, each next to one before it.
    fn connected(&mut self, seed: u32, mut joins: impl FnMut(u32) -> bool) -> Vec<u32> {
        self.search += 1;
        self.seen[seed as usize] = self.search;
        let mut all: Vec<u32> = Some(seed).filter(|t| joins(*t)).into_iter().collect();
        let mut done = 0;
        while let Some(at) = all.get(done) {
            for other in self.beside[*at as usize] {
                if other == NONE || !self.is_left[other as usize] || self.seen[other as usize] == self.search
                {
                    continue;
                }
                self.seen[other as usize] = self.search;
                if joins(other) {
                    all.push(other);
                }
            }
            done += 1;
        }
        all
    }
}

/// Triangles in a plane, found by the square cells that they touch.
#[derive(Default)]
struct Plane {
    cell: f64,
    triangles: Vec<[DVec2; 3]>,
    cells: HashMap<[i32; 2], Vec<u32>>,
}

impl Plane {
    /// Adds a triangle, unless it overlaps another.
    fn add(&mut self, triangle: [DVec2; 3]) -> bool {
        let [a, b, c] = triangle;
        let [from, to] = [a.min(b).min(c), a.max(b).max(c)].map(|p| (p / self.cell).floor().as_ivec2());
        let touched = || (from.y..=to.y).flat_map(|y| (from.x..=to.x).map(move |x| [x, y]));
        let mut near = touched().filter_map(|cell| self.cells.get(&cell)).flatten();
        if near.any(|i| overlap(&triangle, &self.triangles[*i as usize], TOUCHING * self.cell)) {
            return false;
        }
        for cell in touched() {
            self.cells.entry(cell).or_default().push(self.triangles.len() as u32);
        }
        self.triangles.push(triangle);
        true
    }
}

/// Whether no side of one of two triangles, which wind the same way, separates them but for `least`.
fn overlap(a: &[DVec2; 3], b: &[DVec2; 3], least: f64) -> bool {
    let reaches_in = |a: &[DVec2; 3], b: &[DVec2; 3]| {
        (0..3).all(|k| {
            let inward = (a[(k + 1) % 3] - a[k]).perp().normalize_or_zero();
            b.iter().any(|p| inward.dot(*p - a[k]) > least)
        })
    };
    reaches_in(a, b) && reaches_in(b, a)
}
