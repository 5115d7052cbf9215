//! Gives the crack faces of pieces the relief of their material, as geometry.
//!
//! In: the mesh of a piece, the material inside, the outside of the whole object, the longest edge that is wanted. Out: the
//! mesh with smaller triangles on its cracks, whose vertices are displaced ([`Volume::relief_at`]).
//!
//! Every step is a function of positions alone, so both sides of a crack, which have the same triangles, get the same
//! triangles again. The longest edge of a triangle is halved until none is too long; an edge is therefore halved in all of
//! its triangles or in none. The displacement vanishes towards the outside, so the outside keeps its form; its triangles are
//! only halved where an edge of a crack is.

use std::collections::{BTreeSet, HashMap};

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    Corner, Face, PieceMesh, Side,
    written::{Tagged, TriangleTree},
};
use crate::{
    fracture::{UNIT_BITS, Volume},
    svo::Grid,
};

/// Displacements are at most twice this share of the distance from the outside.
const REACH: f64 = 0.35;
/// Crack faces whose planes differ by less than 50 degrees (cosine) are shaded as one.
const CREASE: f64 = 0.64;
/// Memory of a triangle while meshes are made, bytes.
const TRIANGLE_BYTES: f64 = 220.0;

/// The relief that the crack faces of an object get.
pub struct Relief<'a> {
    /// Its material, and those of later breaks, the numbers of [`Side::Later`]; at least one.
    pub volumes: &'a [Volume],
    /// The grid of its shape space.
    pub grid: Grid,
    /// Longest edge on crack faces, m of shape space.
    pub edge: f64,
    /// All outside triangles of the object.
    pub outside: &'a TriangleTree,
}

/// The outside triangles of some meshes of one shape space.
pub fn outside_of<'a>(meshes: impl Iterator<Item = &'a PieceMesh>) -> TriangleTree {
    let triangles = meshes.flat_map(|mesh| {
        let outside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| !face.side.is_crack());
        outside.map(|(t, _)| Tagged { corners: t.map(|v| mesh.positions[v as usize]), tag: 0 })
    });
    TriangleTree::new(triangles.collect())
}

/// Estimated memory of a mesh with triangles of this edge on its cracks, bytes.
pub fn bytes_of(mesh: &PieceMesh, edge: f64) -> u64 {
    let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side.is_crack());
    let area: f64 = inside.map(|(t, _)| area(t.map(|v| mesh.positions[v as usize]))).sum();
    // Halved triangles have an eighth of the square of the longest edge, on average.
    (area / (0.125 * edge * edge) * TRIANGLE_BYTES) as u64
}

fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// The mesh with relief on its crack faces.
#[must_use]
pub fn with_relief(mesh: &PieceMesh, of: &Relief<'_>) -> PieceMesh {
    halved(mesh, of.volumes, of.edge).map_or_else(|| mesh.clone(), |fine| displaced(fine, of))
}

/// The mesh with the triangles of [`with_relief`] before they are displaced; `None` if none would be.
pub(super) fn halved(mesh: &PieceMesh, volumes: &[Volume], edge: f64) -> Option<PieceMesh> {
    let is_flat = volumes.iter().all(|volume| volume.relief_strength() == 0.0);
    if is_flat || !mesh.faces.iter().any(|face| face.side.is_crack()) {
        return None;
    }
    let mut fine = Halving::of(mesh, edge);
    for (t, face) in mesh.faces.iter().enumerate() {
        fine.halve(mesh.triangles[t], *face, mesh.corners[t]);
    }
    Some(fine.mesh)
}

/// The number of a crack face's material.
pub(super) fn number_of(side: Side) -> usize {
    if let Side::Later(number) = side { usize::from(number) } else { 0 }
}

/// A mesh in the middle of being halved.
struct Halving {
    mesh: PieceMesh,
    longest_squared: f64,
    /// The middle of an edge, by its ends in ascending order.
    middles: HashMap<[u32; 2], u32>,
    /// Edges between crack and outside, as above.
    rim: BTreeSet<[u32; 2]>,
}

fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

fn edges_of([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [ascending(a, b), ascending(b, c), ascending(c, a)]
}

impl Halving {
    fn of(mesh: &PieceMesh, edge: f64) -> Self {
        let mut sides: Vec<([u32; 2], bool)> = Vec::with_capacity(3 * mesh.triangles.len());
        for (triangle, face) in mesh.triangles.iter().zip(&mesh.faces) {
            sides.extend(edges_of(*triangle).map(|ends| (ends, face.side.is_crack())));
        }
        sides.sort_unstable();
        let mixed = sides
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|all| all.iter().any(|s| s.1) && all.iter().any(|s| !s.1));
        let rim = mixed.map(|all| all[0].0).collect();
        let start = PieceMesh { positions: mesh.positions.clone(), ..PieceMesh::default() };
        Self { mesh: start, longest_squared: edge * edge, middles: HashMap::new(), rim }
    }

    /// Adds a triangle, halved until its edges are short enough.
    fn halve(&mut self, triangle: [u32; 3], face: Face, corners: [Corner; 3]) {
        let mut waiting = vec![(triangle, corners)];
        while let Some((triangle, corners)) = waiting.pop() {
            let Some(k) = self.longest(triangle, face.side.is_crack()) else {
                self.mesh.triangles.push(triangle);
                self.mesh.faces.push(face);
                self.mesh.corners.push(corners);
                continue;
            };
            // The edge from corner k to the next one.
            let [a, b, c] = [triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]];
            let [at_a, at_b, at_c] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
            let (middle, at_middle) = (self.middle(a, b), between(&at_a, &at_b));
            waiting.push(([middle, b, c], [at_middle, at_b, at_c]));
            waiting.push(([a, middle, c], [at_a, at_middle, at_c]));
        }
    }

    /// The edge to be halved: the longest of those that are too long. Equal ones are decided by positions, which both sides
    /// of a crack have. On the outside only edges of cracks are halved.
    fn longest(&self, triangle: [u32; 3], is_inside: bool) -> Option<usize> {
        let place = |v: u32| self.mesh.positions[v as usize];
        let key = |k: usize| {
            let [a, b] = [place(triangle[k]), place(triangle[(k + 1) % 3])];
            let [first, second] = [a.to_array(), b.to_array()];
            let low = if first < second { first } else { second };
            (a.distance_squared(b), low)
        };
        (0..3)
            .filter(|k| is_inside || self.rim.contains(&ascending(triangle[*k], triangle[(k + 1) % 3])))
            .map(|k| (k, key(k)))
            .filter(|(_, (squared, _))| *squared > self.longest_squared)
            .max_by(|(_, a), (_, b)| {
                let of = |x: &(f64, [f64; 3])| [x.0, x.1[0], x.1[1], x.1[2]];
                of(a)
                    .iter()
                    .zip(of(b))
                    .map(|(a, b)| a.total_cmp(&b))
                    .find(|o| o.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
            .map(|(k, _)| k)
    }

    fn middle(&mut self, a: u32, b: u32) -> u32 {
        let ends = ascending(a, b);
        let positions = &mut self.mesh.positions;
        let middle = *self.middles.entry(ends).or_insert_with(|| {
            let middle = (positions[a as usize] + positions[b as usize]) * 0.5;
            positions.push(middle);
            positions.len() as u32 - 1
        });
        if self.rim.contains(&ends) {
            self.rim.extend([ascending(a, middle), ascending(middle, b)]);
        }
        middle
    }
}

fn between(a: &Corner, b: &Corner) -> Corner {
    Corner {
        normal: (a.normal + b.normal).normalize_or(a.normal),
        color: [0, 1, 2].map(|k| ((u16::from(a.color[k]) + u16::from(b.color[k])).div_ceil(2)) as u8),
        uv: [0, 1].map(|k| 0.5 * (a.uv[k] + b.uv[k])),
        uv2: [0, 1].map(|k| 0.5 * (a.uv2[k] + b.uv2[k])),
    }
}

/// What the relief makes of a vertex on faces with one normal.
#[derive(Clone, Copy)]
struct Shown {
    normal: Vec3,
    bent: Vec3,
    color: [u8; 3],
}

/// Units of reliefs per metre of shape space.
pub(super) fn units_per_metre(grid: &Grid) -> f64 {
    f64::from(1u32 << (UNIT_BITS - grid.level)) / grid.h
}

/// Displaces the vertices of crack faces.
fn displaced(mut mesh: PieceMesh, of: &Relief<'_>) -> PieceMesh {
    let units = units_per_metre(&of.grid);
    // Vertices show what is coarser than edges; places need more of them than normals, or thin edges of pieces would pass
    // through themselves.
    let finest = (of.edge * units) as f32;
    let in_units = |p: DVec3| ((p - of.grid.origin) * units).as_vec3();
    let normals = smooth_normals(&mesh);
    let volume = |number: usize| of.volumes.get(number).or(of.volumes.first()).copied().unwrap_or_default();
    // The material whose relief displaces a vertex: where cracks of several breaks meet, that of the first of them, since its
    // other side may have no vertex there.
    let mut on_crack: Vec<Option<usize>> = vec![None; mesh.positions.len()];
    for (triangle, face) in mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side.is_crack()) {
        let own = number_of(face.side);
        for v in triangle {
            let number = &mut on_crack[*v as usize];
            *number = Some(number.map_or(own, |known| known.min(own)));
        }
    }
    // Displacement of each vertex, and the share of the relief that is left there.
    let moved: Vec<(DVec3, f32)> = mesh
        .positions
        .par_iter()
        .zip(&on_crack)
        .map(|(p, on_crack)| {
            let Some(number) = *on_crack else { return (DVec3::ZERO, 0.0) };
            let shift =
                volume(number).relief_at(in_units(*p), Vec3::Y, 2.0 * finest).shift.as_dvec3() / units;
            let share = share_of(shift.length(), *p, of.outside);
            (shift * share, share as f32)
        })
        .collect();
    let mut shown: Vec<Option<(usize, Shown)>> = vec![None; mesh.positions.len()];
    let inside = mesh.triangles.iter().zip(&mesh.faces).zip(&mut mesh.corners).zip(normals);
    for (((triangle, face), corners), normals) in inside {
        if !face.side.is_crack() {
            continue;
        }
        for (k, v) in triangle.iter().map(|v| *v as usize).enumerate() {
            let number = number_of(face.side);
            let look = match shown[v] {
                Some((known, look)) if known == number && look.normal == normals[k] => look,
                _ => {
                    let volume = volume(number);
                    let relief = volume.relief_at(in_units(mesh.positions[v]), normals[k], finest);
                    let bent = normals[k] + (relief.normal - normals[k]) * moved[v].1;
                    let color = volume.color_on(&relief);
                    Shown { normal: normals[k], bent: bent.normalize_or(normals[k]), color }
                }
            };
            shown[v] = Some((number, look));
            (corners[k].normal, corners[k].color) = (look.bent, look.color);
        }
    }
    for (position, (shift, _)) in mesh.positions.iter_mut().zip(&moved) {
        *position += *shift;
    }
    mesh
}

/// Share of a displacement of this length at a point: none at the outside, all of it far from there, and smooth between.
pub(super) fn share_of(length: f64, p: DVec3, outside: &TriangleTree) -> f64 {
    if length == 0.0 {
        return 0.0;
    }
    let Some((squared, _)) = outside.nearest(p, length / REACH, |_| true) else { return 1.0 };
    let near = (squared.sqrt() * REACH / length).min(1.0);
    near * (2.0 - near)
}

/// Normals at the corners of crack faces before they are displaced: the mean of the faces round a vertex that are bent
/// little against the own one, weighed by their areas.
pub(super) fn smooth_normals(mesh: &PieceMesh) -> Vec<[Vec3; 3]> {
    let corners = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize]);
    let doubled: Vec<DVec3> = mesh
        .triangles
        .par_iter()
        .map(|t| {
            let [a, b, c] = corners(t);
            (b - a).cross(c - a)
        })
        .collect();
    let mut round: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
    for (t, (triangle, _)) in
        mesh.triangles.iter().zip(&mesh.faces).enumerate().filter(|(_, (_, face))| face.side.is_crack())
    {
        triangle.iter().for_each(|v| round[*v as usize].push(t as u32));
    }
    mesh.triangles
        .par_iter()
        .zip(&mesh.corners)
        .enumerate()
        .map(|(t, (triangle, corners))| {
            let own = doubled[t].normalize_or_zero();
            std::array::from_fn(|k| {
                let alike = round[triangle[k] as usize].iter().map(|other| doubled[*other as usize]);
                let sum: DVec3 = alike.filter(|other| other.dot(own) > CREASE * other.length()).sum();
                sum.normalize_or_zero().as_vec3().normalize_or(corners[k].normal)
            })
        })
        .collect()
}
