//! Mesh simplification with bounded error.
//!
//! In: a piece's mesh of any kind, and how far its surface may move. Out: the same with fewer triangles, by the edge
//! collapses of meshoptimizer (quadrics: Garland & Heckbert 1997), or nothing if the result is not a closed 2-manifold
//! that faces outward, or has another volume. The borders between outside and inside, between cells beyond and between
//! materials stay borders: there a point has a vertex for each of its sides, which move together.
//!
//! By default the outside of smooth meshes alone is simplified, by half a voxel: all corners of crack faces stay, so that the
//! two sides of a crack still match, and so do edges between colours.
//!
//! meshoptimizer tests normals but not intersections, so a collapse may turn a triangle over or push it through another
//! part. Then the vertices round it are locked, and the simplification is repeated.
//!
//! Measured (bunny, planar, level 8, 60 seeds, 1.37 million triangles): 0.02 voxels leave 305,000, 0.1 voxels 79,000;
//! the sum of volumes moves by 0.002 % and 0.05 %, that of a piece by 0.005 % and 0.09 % (median).

use std::collections::{HashMap, HashSet};

use crate::geometry::Aabb;
use glam::DVec3;
use meshopt::{SimplifyOptions, VertexDataAdapter};

use super::{Corner, Face, MeshCheck, PieceMesh, Side, world_uv};

/// Most repetitions with locked vertices round defects; then the error is halved.
const TRIES: usize = 6;
/// Errors tried, as shares of the allowed one.
const SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.125];
/// Largest relative change of a piece's volume: a piece hardly thicker than the error would become flat.
const VOLUME_MOVED: f64 = 0.1;
/// The same of an outside that is simplified without being asked for.
const OUTSIDE_VOLUME_MOVED: f64 = 0.01;
/// Share of black to white that counts as much as the largest error, where colours are kept.
const COLOR_OFF: f64 = 0.06;
/// Radius round defective triangles in which vertices are locked, mean edge lengths of the mesh; doubled with every
/// repetition.
const ROUND: f64 = 1.0;

/// `mesh` with fewer triangles; its surface moves by at most about `error`, units of its positions. `None` if it cannot
/// be simplified without defects.
#[must_use]
pub fn simplify(mesh: &PieceMesh, error: f64) -> Option<PieceMesh> {
    simplified(mesh, error, &vec![false; mesh.positions.len()], false)
}

/// `mesh` with fewer triangles outside, which keep their colours; the crack faces are the same. The surface moves by at most
/// about `error`, units of its positions. `None` if it cannot be simplified without defects.
#[must_use]
pub fn simplify_outside(mesh: &PieceMesh, error: f64) -> Option<PieceMesh> {
    let mut kept = vec![false; mesh.positions.len()];
    for (triangle, _) in mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side.is_crack()) {
        triangle.iter().for_each(|v| kept[*v as usize] = true);
    }
    simplified(mesh, error, &kept, true)
}

/// `mesh` with fewer triangles, with the vertices that are `kept`; with its colours, too, if it is `unasked`, and then with
/// hardly another volume.
fn simplified(mesh: &PieceMesh, error: f64, kept: &[bool], unasked: bool) -> Option<PieceMesh> {
    let error = if error.is_finite() { error.max(0.0) } else { return None };
    let points = Points::of(mesh);
    let volume = MeshCheck::of(mesh).volume;
    let volume_moved = if unasked { OUTSIDE_VOLUME_MOVED } else { VOLUME_MOVED };
    SHARES.iter().find_map(|share| {
        let mut kept = kept.to_vec();
        let mut round = ROUND * mean_edge(mesh);
        for _ in 0..TRIES {
            let simpler = points.collapsed(mesh, error * share, &kept, unasked)?;
            let check = MeshCheck::of(&simpler);
            if check.holds() {
                let is_whole = (check.volume - volume).abs() <= volume_moved * volume;
                return is_whole.then_some(simpler);
            }
            keep_near(mesh, &simpler, &wrong(&simpler), round, &mut kept);
            round *= 2.0;
        }
        None
    })
}

fn mean_edge(mesh: &PieceMesh) -> f64 {
    let length = |t: &[u32; 3]| mesh.positions[t[0] as usize].distance(mesh.positions[t[1] as usize]);
    mesh.triangles.iter().map(length).sum::<f64>() / mesh.triangles.len().max(1) as f64
}

/// Indices of defective triangles.
fn wrong(mesh: &PieceMesh) -> Vec<u32> {
    MeshCheck::where_wrong(&mesh.positions, &mesh.triangles)
}

/// Locks the vertices round the defective triangles of the simplified mesh.
fn keep_near(mesh: &PieceMesh, simpler: &PieceMesh, wrong: &[u32], round: f64, kept: &mut [bool]) {
    let cell = |p: DVec3| (p / round).floor().as_i64vec3().to_array();
    let corners = wrong.iter().flat_map(|t| simpler.triangles[*t as usize]);
    let cells: HashSet<[i64; 3]> = corners.map(|v| cell(simpler.positions[v as usize])).collect();
    for (kept, p) in kept.iter_mut().zip(&mesh.positions) {
        let at = cell(*p);
        *kept |=
            (0..27).any(|i| cells.contains(&[at[0] + i % 3 - 1, at[1] + i / 3 % 3 - 1, at[2] + i / 9 - 1]));
    }
}

/// A position with its side; outside with exact texture coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Point {
    position: u32,
    side: Side,
    beyond: Option<u32>,
    uv: [[u32; 2]; 2],
}

struct Points {
    /// Vertices in the order of first use.
    points: Vec<Point>,
    /// Attributes of the corners at each vertex.
    corners: Vec<Vec<Corner>>,
    /// Triangles as vertex indices.
    indices: Vec<u32>,
}

impl Points {
    fn of(mesh: &PieceMesh) -> Self {
        let mut known: HashMap<Point, u32> = HashMap::new();
        let mut out = Self { points: Vec::new(), corners: Vec::new(), indices: Vec::new() };
        for ((triangle, face), corners) in mesh.triangles.iter().zip(&mesh.faces).zip(&mesh.corners) {
            for (position, corner) in triangle.iter().zip(corners) {
                let uv = match face.side.is_crack() {
                    true => [[0; 2]; 2],
                    false => [corner.uv, corner.uv2].map(|uv| uv.map(f32::to_bits)),
                };
                let point = Point { position: *position, side: face.side, beyond: face.beyond, uv };
                let index = *known.entry(point).or_insert_with(|| {
                    out.points.push(point);
                    out.corners.push(Vec::new());
                    out.points.len() as u32 - 1
                });
                out.corners[index as usize].push(*corner);
                out.indices.push(index);
            }
        }
        out
    }

    /// The mean colour of each vertex, as shares of white.
    fn colors(&self) -> Vec<[f32; 3]> {
        let mean = |corners: &Vec<Corner>| {
            let sum = |k: usize| corners.iter().map(|corner| f32::from(corner.color[k])).sum::<f32>();
            [0, 1, 2].map(|k| sum(k) / (255.0 * corners.len().max(1) as f32))
        };
        self.corners.iter().map(mean).collect()
    }

    fn collapsed(
        &self,
        mesh: &PieceMesh,
        error: f64,
        kept: &[bool],
        keeps_colors: bool,
    ) -> Option<PieceMesh> {
        let bounds = Aabb::of(mesh.positions.iter().copied());
        let middle = bounds.middle();
        // Relative to their centre, so that 32 bits are precise enough.
        let places: Vec<[f32; 3]> = self
            .points
            .iter()
            .map(|point| (mesh.positions[point.position as usize] - middle).as_vec3().to_array())
            .collect();
        let adapter = VertexDataAdapter::new(bytemuck::cast_slice(&places), size_of::<[f32; 3]>(), 0).ok()?;
        let options = SimplifyOptions::ErrorAbsolute;
        let locks: Vec<bool> = self.points.iter().map(|point| kept[point.position as usize]).collect();
        let indices = if keeps_colors {
            // meshoptimizer compares attributes with distances as shares of the longest side.
            let weight = error / bounds.size().max_element().max(f64::MIN_POSITIVE) / COLOR_OFF;
            meshopt::simplify_with_attributes_and_locks(
                &self.indices,
                &adapter,
                bytemuck::cast_slice(&self.colors()),
                &[weight as f32; 3],
                size_of::<[f32; 3]>(),
                &locks,
                0,
                error as f32,
                options,
                None,
            )
        } else {
            meshopt::simplify_with_locks(&self.indices, &adapter, &locks, 0, error as f32, options, None)
        };
        if indices.is_empty() || indices.len() >= self.indices.len() {
            return None;
        }
        let mut used = vec![u32::MAX; mesh.positions.len()];
        let mut out = PieceMesh::default();
        for triangle in indices.as_chunks::<3>().0 {
            let points = triangle.map(|i| &self.points[i as usize]);
            let [a, b, c] = points.map(|point| mesh.positions[point.position as usize]);
            let normal = (b - a).cross(c - a).normalize_or(DVec3::Y).as_vec3();
            let [first, ..] = points;
            let side = first.side;
            out.triangles.push(points.map(|point| {
                let new = &mut used[point.position as usize];
                if *new == u32::MAX {
                    *new = out.positions.len() as u32;
                    out.positions.push(mesh.positions[point.position as usize]);
                }
                *new
            }));
            out.faces.push(Face { side, beyond: first.beyond });
            // Of the attributes at the vertex, those of the face with the most similar normal.
            out.corners.push(triangle.map(|i| {
                let corners = &self.corners[i as usize];
                let likest =
                    corners.iter().max_by(|a, b| a.normal.dot(normal).total_cmp(&b.normal.dot(normal)));
                let plain = Corner { normal, color: [0; 3], uv: [0.0; 2], uv2: [0.0; 2] };
                let corner = likest.copied().unwrap_or(plain);
                let at = mesh.positions[self.points[i as usize].position as usize];
                let uv = if side.is_crack() { world_uv(at, normal) } else { corner.uv };
                Corner { uv, ..corner }
            }));
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::smooth, *};
    use crate::{import::import, voxelize::Progress};

    #[test]
    fn a_box_needs_few_triangles_and_stays_closed() {
        let object = import("builtin:box", 5, &Progress::default()).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let mesh = smooth(octree);
        let simpler = simplify(&mesh, 0.25 * octree.grid.h).unwrap();
        println!("{} of {} triangles", simpler.triangles.len(), mesh.triangles.len());
        assert!(simpler.triangles.len() < 100);
        let (before, after) = (MeshCheck::of(&mesh), MeshCheck::of(&simpler));
        assert!(after.holds() && (after.volume / before.volume - 1.0).abs() < 1e-3);
        assert_eq!(
            (simpler.faces.len(), simpler.corners.len()),
            (simpler.triangles.len(), simpler.triangles.len())
        );
    }

    #[test]
    fn a_round_thing_keeps_its_volume_and_its_two_sides() {
        let object = import("builtin:statue", 6, &Progress::default()).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let mut mesh = smooth(octree);
        // As if a crack had made the part above the middle.
        let middle = object.bounds.middle().y;
        for (triangle, face) in mesh.triangles.iter().zip(&mut mesh.faces) {
            if triangle.iter().all(|v| mesh.positions[*v as usize].y > middle) {
                face.side = Side::Inside;
            }
        }
        let simpler = simplify(&mesh, 0.25 * octree.grid.h).unwrap();
        println!("{} of {} triangles", simpler.triangles.len(), mesh.triangles.len());
        let (before, after) = (MeshCheck::of(&mesh), MeshCheck::of(&simpler));
        assert!(after.holds() && (after.volume / before.volume - 1.0).abs() < 0.03, "{before:?} {after:?}");
        assert!(simpler.triangles.len() * 2 < mesh.triangles.len());
        for (triangle, face) in simpler.triangles.iter().zip(&simpler.faces) {
            let above = triangle.iter().all(|v| simpler.positions[*v as usize].y > middle - octree.grid.h);
            assert!(!face.side.is_crack() || above);
        }
    }

    #[test]
    fn an_outside_gets_simpler_and_its_cracks_and_colours_stay() {
        let object = import("builtin:box", 6, &Progress::default()).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let mut mesh = smooth(octree);
        let middle = object.bounds.middle();
        let is_low =
            |mesh: &PieceMesh, t: &[u32; 3]| t.iter().all(|v| mesh.positions[*v as usize].y < middle.y);
        for t in 0..mesh.triangles.len() {
            let triangle = mesh.triangles[t];
            if is_low(&mesh, &triangle) {
                (mesh.faces[t].side, mesh.faces[t].beyond) = (Side::Inside, Some(3));
            }
            for (v, corner) in triangle.iter().zip(&mut mesh.corners[t]) {
                let is_right = mesh.positions[*v as usize].x > middle.x;
                corner.color = if is_right { [250, 20, 20] } else { [20, 20, 250] };
            }
        }
        let simpler = simplify_outside(&mesh, 0.5 * octree.grid.h).unwrap();
        let (before, after) = (MeshCheck::of(&mesh), MeshCheck::of(&simpler));
        println!("{} of {} triangles", after.triangles, before.triangles);
        assert!(after.holds() && (after.volume / before.volume - 1.0).abs() <= OUTSIDE_VOLUME_MOVED);
        // The crack faces by the bits of their corners, in any order.
        let cracks = |mesh: &PieceMesh| {
            let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side.is_crack());
            let mut all: Vec<_> = inside
                .map(|(t, _)| {
                    let mut corners = t.map(|v| mesh.positions[v as usize].to_array().map(f64::to_bits));
                    corners.sort_unstable();
                    corners
                })
                .collect();
            all.sort_unstable();
            all
        };
        assert_eq!(cracks(&simpler), cracks(&mesh));
        let outside = |mesh: &PieceMesh| mesh.faces.iter().filter(|face| !face.side.is_crack()).count();
        assert!(outside(&simpler) * 2 < outside(&mesh), "{} of {}", outside(&simpler), outside(&mesh));
        for (triangle, corners) in simpler.triangles.iter().zip(&simpler.corners) {
            for (v, corner) in triangle.iter().zip(corners) {
                let x = simpler.positions[*v as usize].x - middle.x;
                assert!(x.abs() < octree.grid.h || (corner.color[0] > 100) == (x > 0.0), "{x}: {corner:?}");
            }
            // No triangle bridges the two colours from far to far.
            let x = triangle.map(|v| simpler.positions[v as usize].x - middle.x);
            let far = |side: f64| x.iter().any(|x| x * side > 3.0 * octree.grid.h);
            assert!(!(far(1.0) && far(-1.0)), "{x:?}");
        }
    }

    #[test]
    fn what_cannot_be_simpler_stays() {
        assert!(simplify(&PieceMesh::default(), 1.0).is_none());
        let object = import("builtin:box", 4, &Progress::default()).unwrap();
        let mesh = smooth(object.shape.as_octree().unwrap());
        assert!(simplify(&mesh, f64::NAN).is_none());
        // This error would leave nothing closed; a smaller one may.
        assert!(simplify(&mesh, 1e9).is_none_or(|simpler| MeshCheck::of(&simpler).holds()));
    }

    #[test]
    fn what_is_hardly_thicker_than_the_error_does_not_become_flat() {
        let object = import("builtin:plate", 5, &Progress::default()).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let mesh = smooth(octree);
        let before = MeshCheck::of(&mesh).volume;
        let mut simplified = 0;
        for voxels in [0.1, 0.5, 1.0, 2.0, 4.0, 16.0] {
            let Some(simpler) = simplify(&mesh, voxels * octree.grid.h) else { continue };
            simplified += 1;
            let share = MeshCheck::of(&simpler).volume / before;
            println!("{voxels} voxels: {} triangles, {share:.3} of the volume", simpler.triangles.len());
            assert!((share - 1.0).abs() <= VOLUME_MOVED, "{voxels} voxels: {share}");
        }
        assert!(simplified > 1);
    }
}
