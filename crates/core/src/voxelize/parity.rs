//! The inside test for surfaces without a consistent orientation: a point is inside if a ray from it crosses them an
//! odd number of times.
//!
//! In: the triangles of such parts, closed modulo two. Out: the solid fraction of any cell, from four rays along x.
//! Each edge is evaluated with its ends in one fixed order, so that of two triangles beside it exactly one counts a
//! ray.

use std::collections::HashMap;

use rayon::prelude::*;

use super::rasterise::Face;
use crate::mesh::{Mesh, topology};

/// Rays per cell edge.
const RAYS: usize = 2;
/// Offsets of rays from the centre of their stripes, to avoid edges along the grid; any small numbers work.
const OFF_MIDDLE: [f64; 2] = [0.007_071_067_8, 0.017_320_508_1];

/// Intersections of the surfaces with the rays.
pub(super) struct Parity {
    /// Number of rays along a side of the grid.
    rays: usize,
    /// Number of rays + 1 offsets into `crossings`.
    starts: Vec<u32>,
    /// x in voxels, ascending along a ray.
    crossings: Vec<f32>,
}

impl Parity {
    /// `None` if every face has a meaningful orientation.
    pub(super) fn new(faces: &[Face], level: u32) -> Option<Self> {
        if faces.iter().all(|face| face.signed) {
            return None;
        }
        let rays = RAYS << level;
        let mut hits: Vec<u64> = faces
            .par_iter()
            .filter(|face| !face.signed)
            .flat_map_iter(|face| {
                let mut hits = Vec::new();
                cross(face, rays, |ray, x| hits.push((ray as u64) << 32 | u64::from((x as f32).to_bits())));
                hits
            })
            .collect();
        // Coordinates are positive, and the bits of positive floats sort like the floats.
        hits.par_sort_unstable();
        let mut starts = vec![0u32; rays * rays + 1];
        for hit in &hits {
            starts[(hit >> 32) as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let crossings = hits.iter().map(|hit| f32::from_bits(*hit as u32)).collect();
        Some(Self { rays, starts, crossings })
    }

    /// The fraction of a cell with odd parity; 0 outside the grid.
    pub(super) fn fraction(&self, cell: [u32; 3]) -> f32 {
        let [x, y, z] = cell.map(|v| v as usize);
        if [x, y, z].iter().any(|v| v * RAYS >= self.rays) {
            return 0.0;
        }
        let mut sum = 0.0;
        for ray in 0..RAYS * RAYS {
            let ray = (z * RAYS + ray / RAYS) * self.rays + y * RAYS + ray % RAYS;
            sum += self.along(ray, x as f32);
        }
        sum / (RAYS * RAYS) as f32
    }

    /// Length of the odd parts of `ray` in `low..low + 1`.
    fn along(&self, ray: usize, low: f32) -> f32 {
        let hits = &self.crossings[self.starts[ray] as usize..self.starts[ray + 1] as usize];
        let first = hits.partition_point(|x| *x <= low);
        let (mut odd, mut from, mut length) = ((hits.len() - first) % 2 == 1, low, 0.0);
        for &x in &hits[first..] {
            let to = x.min(low + 1.0);
            if odd {
                length += to - from;
            }
            if x >= low + 1.0 {
                return length;
            }
            (odd, from) = (!odd, to);
        }
        length
    }
}

/// Visits every ray that crosses `face`.
fn cross(face: &Face, rays: usize, mut visit: impl FnMut(usize, f64)) {
    let [a, b, c] = &face.corners;
    if face.normal[0] == 0.0 {
        return;
    }
    let at = |k: usize, axis: usize| (k as f64 + 0.5 + OFF_MIDDLE[axis]) / RAYS as f64;
    let range = |axis: usize| {
        let (low, high) = (a[axis].min(b[axis]).min(c[axis]), a[axis].max(b[axis]).max(c[axis]));
        let scaled = |v: f64| (v * RAYS as f64) as usize;
        scaled(low).saturating_sub(1)..(scaled(high) + 1).min(rays)
    };
    let (low, high) = (a[0].min(b[0]).min(c[0]), a[0].max(b[0]).max(c[0]));
    for rz in range(2) {
        for ry in range(1) {
            let (y, z) = (at(ry, 0), at(rz, 1));
            let sides = [(a, b), (b, c), (c, a)].map(|(p, q)| is_left(p, q, y, z));
            if sides[0] == sides[1] && sides[1] == sides[2] {
                let n = &face.normal;
                let x = a[0] - (n[1] * (y - a[1]) + n[2] * (z - a[2])) / n[0];
                visit(rz * rays + ry, x.clamp(low, high));
            }
        }
    }
}

/// Whether (y, z) lies left of the edge from `p` to `q`; exactly opposite for the edge from `q` to `p`.
fn is_left(p: &[f64; 3], q: &[f64; 3], y: f64, z: f64) -> bool {
    let swapped = p > q;
    let (p, q) = if swapped { (q, p) } else { (p, q) };
    let area = (q[1] - p[1]) * (z - p[2]) - (q[2] - p[2]) * (y - p[1]);
    (area > 0.0) != swapped
}

/// For every triangle of a checked mesh, whether its part (connected by edges of two triangles) has no
/// consistent orientation.
pub(super) fn without_orientation(mesh: &Mesh) -> Vec<bool> {
    let triangles = topology(mesh).triangles(mesh);
    let mut edges: HashMap<(u32, u32), Vec<(u32, bool)>> = HashMap::new();
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for (p, q) in [(a, b), (b, c), (c, a)] {
            edges.entry((p.min(q), p.max(q))).or_default().push((t as u32, p < q));
        }
    }
    let mut beside: Vec<Vec<u32>> = vec![Vec::new(); triangles.len()];
    let mut flagged = vec![false; triangles.len()];
    let mut stack = Vec::new();
    for around in edges.values() {
        if let [(s, along), (t, other)] = around[..] {
            beside[s as usize].push(t);
            beside[t as usize].push(s);
            if along == other {
                stack.push(s);
            }
        }
    }
    while let Some(t) = stack.pop() {
        if !std::mem::replace(&mut flagged[t as usize], true) {
            stack.extend(&beside[t as usize]);
        }
    }
    flagged
}
