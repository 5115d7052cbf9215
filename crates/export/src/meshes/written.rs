//! A piece's mesh for formats, with data that several formats write.
//!
//! # Distances of points to a piece's crack faces, flat ones by their borders, for masks of worn or dusty edges
//!
//! # Nearest-triangle queries by a tree of boxes
//!
//! # A piece's mesh for renderers: a list of vertices per side, each with all attributes
//!
//! In: a [`WrittenMesh`]. Out: vertices and indices for each material of the outside, and for the inside. A point has a
//! vertex per combination of attributes, so that no attribute is interpolated over an edge between inside and outside.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
    ops::Deref,
    sync::{Arc, OnceLock},
};

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{PieceMesh, Side, simplify_outside};
use crate::{
    geometry::{
        Aabb, BoxTree,
        triangle::{distance_squared, nearest_on_segment},
    },
    svo::morton,
};

/// How far the outside of a smooth mesh moves where nobody asks for another error, voxels.
const OUTSIDE_ERROR: f64 = 0.5;

/// A mesh, and the distances of its points from its crack faces, measured on first use.
#[derive(Clone, Debug, Default)]
pub struct WrittenMesh {
    mesh: Arc<PieceMesh>,
    axes: Vec<Vec3>,
    /// Triangles before its outside was simplified; `None` if it was not.
    full: Option<u64>,
    crack_distances: OnceLock<Vec<f32>>,
}

impl WrittenMesh {
    /// A mesh whose crack faces have textures: with the unit u axis of each triangle's texture coordinates there, shape
    /// space.
    #[must_use]
    pub fn unwrapped(mesh: Arc<PieceMesh>, axes: Vec<Vec3>) -> Self {
        Self { axes, ..mesh.into() }
    }

    /// A mesh with its outside simplified by half a voxel, units of its positions, if a voxel is given and it can be.
    #[must_use]
    pub fn with_simple_outside(mesh: PieceMesh, voxel: Option<f64>) -> Self {
        let full = mesh.triangles.len() as u64;
        match voxel.and_then(|voxel| simplify_outside(&mesh, OUTSIDE_ERROR * voxel)) {
            Some(simpler) => Self { full: Some(full), ..Arc::new(simpler).into() },
            None => Arc::new(mesh).into(),
        }
    }

    /// Triangles before its outside was simplified without being asked for; `None` if it was not.
    #[must_use]
    pub fn full(&self) -> Option<u64> {
        self.full
    }

    /// The mesh itself.
    #[must_use]
    pub fn mesh(&self) -> &Arc<PieceMesh> {
        &self.mesh
    }

    /// The unit u axis of the texture of each triangle's crack face, zero outside; empty without such textures.
    #[must_use]
    pub fn axes(&self) -> &[Vec3] {
        &self.axes
    }

    /// Distance of each point from the nearest crack face, m; -1 if the mesh has none.
    pub fn crack_distances(&self) -> &[f32] {
        self.crack_distances.get_or_init(|| CrackDistance::of_mesh(&self.mesh))
    }
}

impl From<Arc<PieceMesh>> for WrittenMesh {
    fn from(mesh: Arc<PieceMesh>) -> Self {
        Self { mesh, axes: Vec::new(), full: None, crack_distances: OnceLock::new() }
    }
}

impl Deref for WrittenMesh {
    type Target = PieceMesh;

    fn deref(&self) -> &PieceMesh {
        &self.mesh
    }
}

/// A piece's crack faces, searchable by distance.
///
/// A flat crack through a fine mesh consists of slivers, each with a box nearly as large as the face, so that boxes rule
/// nothing out. What is nearest on a flat face is the foot on its plane, or lies on its border, whose edges are short.
#[derive(Default)]
pub struct CrackDistance {
    flat: BoxTree<FlatFace>,
    /// Edges of the borders of flat faces, as triangles whose last corners are one, and the triangles of other faces.
    rest: TriangleTree,
}

impl CrackDistance {
    /// The crack faces of `mesh`.
    pub fn of(mesh: &PieceMesh) -> Self {
        let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side.is_crack());
        let triangles: Vec<[u32; 3]> = inside.map(|(t, _)| *t).collect();
        let at = |i: u32| mesh.positions[i as usize];
        let (mut flat, mut rest) = (Vec::new(), Vec::new());
        for (plane, group, border) in flat_groups(&triangles, &at) {
            match plane.filter(|_| group.len() >= MANY) {
                Some(plane) => {
                    rest.extend(border.iter().map(|[a, b]| [*a, *b, *b]));
                    flat.push(FlatFace::new(plane, border.iter().map(|edge| edge.map(at))));
                }
                None => rest.extend(group.iter().map(|t| triangles[*t as usize])),
            }
        }
        let rest = rest.into_iter().map(|t| Tagged { corners: t.map(at), tag: 0 }).collect();
        let flat = BoxTree::by_middles(flat, 1, |face: &FlatFace| face.bounds);
        Self { flat, rest: TriangleTree::new(rest) }
    }

    /// The distance of each point of `mesh`; -1 if there is no crack face.
    fn of_mesh(mesh: &PieceMesh) -> Vec<f32> {
        let mut distances = Self::of(mesh).of_points(&mesh.positions);
        // Points of crack faces lie on them, whatever is rounded.
        for (t, _) in mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side.is_crack()) {
            t.iter().for_each(|i| distances[*i as usize] = 0.0);
        }
        distances
    }

    /// The distance of each point; -1 if there is no crack face.
    ///
    /// Points are visited along a curve through space: a point is no farther than the one before it and the way between
    /// both, which rules out most of the tree at once.
    pub fn of_points(&self, points: &[DVec3]) -> Vec<f32> {
        let mut distances = vec![-1.0; points.len()];
        let Some(bounds) = self.rest.0.bounds() else { return distances };
        let bounds = points.iter().copied().fold(bounds, Aabb::with);
        let slack = SLACK * bounds.low.abs().max(bounds.high.abs()).max_element();
        let per_length = f64::from(PLACES) / bounds.size().max_element().max(f64::MIN_POSITIVE);
        let code = |p: DVec3| morton::encode(((p - bounds.low) * per_length).as_uvec3().to_array());
        let mut order: Vec<(u64, u32)> =
            (0..points.len() as u32).into_par_iter().map(|i| (code(points[i as usize]), i)).collect();
        order.par_sort_unstable();
        let found: Vec<(u32, f32)> = order
            .par_chunks(RUN)
            .flat_map_iter(|run| {
                let mut last: Option<(DVec3, f64)> = None;
                run.iter().map(move |(_, i)| {
                    let p = points[*i as usize];
                    let within = last.map_or(f64::INFINITY, |(q, far)| far + p.distance(q) + slack);
                    let far = self.least(p, within, slack);
                    let far = far.or_else(|| self.least(p, f64::INFINITY, slack));
                    last = far.map(|far| (p, far));
                    (*i, far.map_or(-1.0, |far| far as f32))
                })
            })
            .collect();
        for (i, far) in found {
            distances[i as usize] = far;
        }
        distances
    }

    /// The distance of the nearest face, if it is below `within`; `slack` is that of [`TriangleTree::least`].
    fn least(&self, p: DVec3, within: f64, slack: f64) -> Option<f64> {
        let mut reach = within * within;
        let over = self.flat.nearest(p, reach, |_, face| {
            let foot = face.plane.local(p);
            let squared = foot.z * foot.z;
            if squared >= reach || !face.covers(foot) {
                return None;
            }
            reach = squared;
            Some((squared, ()))
        });
        let over = over.map(|(squared, ())| squared.sqrt());
        self.rest.least(p, over.unwrap_or(within), slack).or(over)
    }
}

/// Boxes are ruled out only if they are farther by this share of the largest coordinate, which is far more than the
/// rounding of a distance: what is found is then the same whichever point was visited before.
const SLACK: f64 = 1e-5;
/// Places along the longest side by which points are ordered.
const PLACES: u32 = 1023;
/// Points of a run, whose first one is searched for in the whole tree.
const RUN: usize = 512;

/// Largest number of triangles in a leaf of the tree.
const LEAF: usize = 8;

/// A triangle of the tree, with a tag.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    /// Its corners.
    pub corners: [DVec3; 3],
    /// The caller's tag.
    pub tag: u32,
}

/// A tree of boxes round triangles.
#[derive(Default)]
pub struct TriangleTree(BoxTree<Tagged>);

impl TriangleTree {
    /// The tree of these triangles.
    #[must_use]
    pub fn new(triangles: Vec<Tagged>) -> Self {
        let part = |run: &mut [Tagged], size: DVec3| {
            let axis = size.max_position();
            let middle = |t: &Tagged| t.corners.iter().map(|p| p[axis]).sum::<f64>();
            run.select_nth_unstable_by(run.len() / 2, |a, b| middle(a).total_cmp(&middle(b)));
        };
        Self(BoxTree::new(triangles, LEAF, |triangle| Aabb::of(triangle.corners), part))
    }

    /// The nearest of the triangles that are `wanted`, nearer than `within`: its squared distance and itself.
    pub fn nearest(&self, p: DVec3, within: f64, wanted: impl Fn(&Tagged) -> bool) -> Option<(f64, &Tagged)> {
        self.nearest_until(p, (within, 0.0), wanted)
    }

    /// The distance of the nearest triangle, if it is below `within`. Triangles whose boxes are farther than the nearest
    /// known one by more than `slack` are not measured.
    fn least(&self, p: DVec3, within: f64, slack: f64) -> Option<f64> {
        let mut reach = within * within;
        let found = self.0.nearest(p, reach, |_, triangle| {
            let [a, b, c] = triangle.corners;
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            if (low - p).max(p - high).max(DVec3::ZERO).length_squared() > reach {
                return None;
            }
            // Edges are triangles whose last corners are one.
            let squared = if b == c {
                p.distance_squared(nearest_on_segment(p, a, b))
            } else {
                distance_squared(p, triangle.corners)
            };
            if squared < reach {
                let beyond = squared.sqrt() + slack;
                reach = reach.min(beyond * beyond);
            }
            Some((squared, ()))
        });
        found.map(|(squared, ())| squared.sqrt())
    }

    /// Like [`TriangleTree::nearest`], but the first triangle within `enough` is as good as the nearest.
    pub fn nearest_until(
        &self,
        p: DVec3,
        (within, enough): (f64, f64),
        wanted: impl Fn(&Tagged) -> bool,
    ) -> Option<(f64, &Tagged)> {
        self.0.nearest_until(p, within * within, enough * enough, |_, triangle| {
            wanted(triangle).then(|| (distance_squared(p, triangle.corners), triangle))
        })
    }

    /// All triangles, in the tree's order.
    #[must_use]
    pub fn triangles(&self) -> &[Tagged] {
        self.0.items()
    }
}

/// Fewest triangles of a flat face that are measured as one.
const MANY: usize = 16;
/// Corners of a flat face are no farther from its plane than this share of the longest side of the box of all.
const FLAT: f64 = 1e-9;

/// Connected triangles in the plane of the first one that turn the same way, and the edges round them, with the triangles
/// at the left. The plane is `None` if the first one has none.
type Group = (Option<Plane>, Vec<u32>, Vec<[u32; 2]>);

/// Groups of triangles; every triangle is in one. The first one of a group is the largest, since the plane of a sliver is
/// only rounding.
fn flat_groups(triangles: &[[u32; 3]], at: &impl Fn(u32) -> DVec3) -> Vec<Group> {
    let corners = |t: u32| triangles[t as usize].map(at);
    let count = triangles.len() as u32;
    let tolerance = FLAT * Aabb::of((0..count).flat_map(corners)).size().max_element();
    let across = &across(triangles);
    let edges = |t: u32| {
        let own = triangles[t as usize];
        (0..3).map(move |k| ([own[k], own[(k + 1) % 3]], across[3 * t as usize + k]))
    };
    let area = |t: u32| area_vector(corners(t)).length_squared();
    let mut order: Vec<(f64, u32)> = (0..count).map(|t| (area(t), t)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut group_of = vec![u32::MAX; triangles.len()];
    let mut groups: Vec<Group> = Vec::new();
    for (_, first) in order {
        let own = groups.len() as u32;
        if group_of[first as usize] != u32::MAX {
            continue;
        }
        group_of[first as usize] = own;
        let (plane, mut group, mut reached) = (Plane::of(corners(first), tolerance), vec![first], 0);
        while let (Some(plane), Some(t)) = (&plane, group.get(reached).copied()) {
            for other in edges(t).filter_map(|(_, other)| other) {
                if group_of[other as usize] == u32::MAX && plane.holds(corners(other), tolerance) {
                    group_of[other as usize] = own;
                    group.push(other);
                }
            }
            reached += 1;
        }
        let is_beyond = |other: u32| group_of[other as usize] != own;
        let border = group.iter().flat_map(|t| edges(*t)).filter(|(_, other)| other.is_none_or(is_beyond));
        let border = border.map(|(ends, _)| ends).collect();
        groups.push((plane, group, border));
    }
    groups
}

/// For each edge (3 t + k from corner k of triangle t to the next corner) the triangle beyond, if there is one, which turns
/// the same way.
fn across(triangles: &[[u32; 3]]) -> Vec<Option<u32>> {
    let ends = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let mut edges: Vec<([u32; 2], bool, u32)> = (triangles.iter().flat_map(ends).zip(0..))
        .map(|([a, b], edge)| ([a.min(b), a.max(b)], a < b, edge))
        .collect();
    edges.par_sort_unstable();
    let mut across = vec![None; edges.len()];
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, false, down), (_, true, up)] = same {
            (across[*down as usize], across[*up as usize]) = (Some(up / 3), Some(down / 3));
        }
    }
    across
}

fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// A plane with coordinates: two along it, and the height.
struct Plane {
    origin: DVec3,
    axes: [DVec3; 3],
}

impl Plane {
    /// The plane of a triangle, whose front is above; `None` if the triangle is no higher than `thinnest`.
    fn of(corners: [DVec3; 3], thinnest: f64) -> Option<Self> {
        let area = area_vector(corners);
        let least = thinnest * Aabb::of(corners).size().max_element();
        let normal = area.try_normalize().filter(|_| area.length() > least)?;
        let (u, v) = normal.any_orthonormal_pair();
        Some(Self { origin: corners[0], axes: [u, v, normal] })
    }

    fn local(&self, p: DVec3) -> DVec3 {
        DVec3::from_array(self.axes.map(|axis| axis.dot(p - self.origin)))
    }

    /// Whether a triangle lies in it with the same front, or is a sliver, which has hardly any.
    fn holds(&self, corners: [DVec3; 3], tolerance: f64) -> bool {
        corners.iter().all(|p| self.local(*p).z.abs() <= tolerance)
            && area_vector(corners).dot(self.axes[2]) >= -tolerance * Aabb::of(corners).size().max_element()
    }
}

/// A face in one plane.
struct FlatFace {
    plane: Plane,
    bounds: Aabb,
    /// Edges round it and round its holes, coordinates of the plane.
    border: BoxTree<[DVec3; 2]>,
}

impl FlatFace {
    fn new(plane: Plane, border: impl Iterator<Item = [DVec3; 2]> + Clone) -> Self {
        let edges = border.clone().map(|edge| edge.map(|p| plane.local(p))).collect();
        let bounds = Aabb::of(border.flatten());
        let border = BoxTree::by_middles(edges, LEAF, |edge| Aabb::of(*edge));
        Self { border, bounds, plane }
    }

    /// Whether a point of the plane is on it: whether its triangles, which turn the same way, go round the point, which
    /// the edges at the right of the point say.
    fn covers(&self, p: DVec3) -> bool {
        let mut turns = 0;
        self.border.visit(
            |bounds| bounds.low.y <= p.y && p.y <= bounds.high.y && p.x <= bounds.high.x,
            |[a, b]| {
                let rises = a.y <= p.y;
                let is_left = (b.x - a.x) * (p.y - a.y) > (b.y - a.y) * (p.x - a.x);
                if rises != (b.y <= p.y) && is_left == rises {
                    turns += if rises { 1 } else { -1 };
                }
            },
        );
        turns != 0
    }
}

/// A part of a piece's surface that has one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Its side; `None` for an empty mesh.
    pub side: Option<Side>,
    /// Positions, shape space.
    pub positions: Vec<DVec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Colours, sRGB.
    pub colors: Vec<[u8; 3]>,
    /// Texture coordinates, v up.
    pub uvs: Vec<[f32; 2]>,
    /// The second set of texture coordinates, v up; zeros where there is none.
    pub uvs2: Vec<[f32; 2]>,
    /// Unit tangents along u with the sign of the bitangent; empty unless crack faces have textures, or they were asked for
    /// ([`Primitive::with_tangents`]).
    pub tangents: Vec<[f32; 4]>,
    /// Cell beyond the crack; -1 if there is none or it is unknown.
    pub cell_beyond: Vec<f32>,
    /// What the caller says is beyond the triangle; empty if it says nothing.
    pub beyond: Vec<f32>,
    /// Distance to the piece's nearest crack face, m; -1 for a piece without any.
    pub crack_distance: Vec<f32>,
    /// Triangles, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
}

/// Key of a vertex: its attributes, floats by their bits.
#[derive(PartialEq, Eq)]
struct Shown {
    point: u32,
    normal: [u32; 3],
    color: [u8; 3],
    uv: [u32; 2],
    uv2: [u32; 2],
    beyond: (Option<u32>, Option<i32>),
}

impl Hash for Shown {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let words = [self.normal[0], self.normal[1], self.normal[2], self.uv[0], self.uv[1]];
        let mixed = words.into_iter().fold(u64::from(self.point), |sum, word| {
            (sum.rotate_left(26) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        state.write_u64(mixed ^ mixed >> 32);
    }
}

/// Takes the one word that a [`Shown`] gives, which is mixed already, for its hash.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

/// The unit vector across a unit normal that is nearest to an axis.
pub(super) fn tangent(axis: Vec3, normal: Vec3) -> Vec3 {
    (axis - normal * normal.dot(axis)).normalize_or(normal.any_orthonormal_vector())
}

/// The parts of a mesh: the outside's in the order of their materials, then the inside, that of the first break before others.
/// `beyond` numbers what is beyond each triangle; it may be empty.
#[must_use]
pub fn primitives(mesh: &WrittenMesh, beyond: &[i32]) -> Vec<Primitive> {
    let mut sides: Vec<Side> = mesh.faces.iter().map(|face| face.side).collect();
    let order = |side: &Side| match side {
        Side::Outside { material } => (false, *material),
        Side::Inside => (true, 0),
        Side::Later(number) => (true, u32::from(*number)),
    };
    sides.sort_unstable_by_key(order);
    sides.dedup();
    let mut parts: Vec<Primitive> =
        sides.iter().map(|side| Primitive { side: Some(*side), ..Primitive::default() }).collect();
    let mut known: Vec<HashMap<Shown, u32, BuildHasherDefault<Mixed>>> =
        sides.iter().map(|_| HashMap::default()).collect();
    let distances = mesh.crack_distances();
    for (t, ((triangle, face), corners)) in
        mesh.triangles.iter().zip(&mesh.faces).zip(&mesh.corners).enumerate()
    {
        let axis = mesh.axes.get(t).filter(|_| face.side.is_crack());
        let Ok(at) = sides.binary_search_by_key(&order(&face.side), order) else { continue };
        let (part, known) = (&mut parts[at], &mut known[at]);
        for (point, corner) in triangle.iter().zip(corners) {
            let shown = Shown {
                point: *point,
                normal: corner.normal.to_array().map(f32::to_bits),
                color: corner.color,
                uv: corner.uv.map(f32::to_bits),
                uv2: corner.uv2.map(f32::to_bits),
                beyond: (face.beyond, beyond.get(t).copied()),
            };
            let index = *known.entry(shown).or_insert_with(|| {
                part.positions.push(mesh.positions[*point as usize]);
                part.normals.push(corner.normal);
                part.colors.push(corner.color);
                part.uvs.push(corner.uv);
                part.uvs2.push(corner.uv2);
                part.tangents.extend(axis.map(|axis| tangent(*axis, corner.normal).extend(1.0).to_array()));
                part.cell_beyond.push(face.beyond.map_or(-1.0, |cell| cell as f32));
                part.beyond.extend(beyond.get(t).map(|piece| *piece as f32));
                part.crack_distance.push(match face.side {
                    Side::Inside | Side::Later(_) => 0.0,
                    Side::Outside { .. } => distances[*point as usize],
                });
                part.positions.len() as u32 - 1
            });
            part.indices.push(index);
        }
    }
    parts
}

#[cfg(test)]
mod tests;
