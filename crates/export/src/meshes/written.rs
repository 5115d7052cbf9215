//! A piece's mesh for formats, with data that several formats write.
//!
//! # Distances of points to a piece's crack faces, for masks of worn or dusty edges
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
    geometry::{Aabb, BoxTree, triangle::distance_squared},
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
        self.crack_distances.get_or_init(|| CrackDistance::of(&self.mesh).of_points(&self.mesh.positions))
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
#[derive(Default)]
pub struct CrackDistance(TriangleTree);

impl CrackDistance {
    /// The crack faces of `mesh`.
    pub fn of(mesh: &PieceMesh) -> Self {
        let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
        let corners = inside.map(|(t, _)| t.map(|i| mesh.positions[i as usize]));
        Self(TriangleTree::new(corners.map(|corners| Tagged { corners, tag: 0 }).collect()))
    }

    /// The distance of each point; -1 if there is no crack face.
    ///
    /// Points are visited along a curve through space: a point is no farther than the one before it and the way between
    /// both, which rules out most of the tree at once.
    pub fn of_points(&self, points: &[DVec3]) -> Vec<f32> {
        let mut distances = vec![-1.0; points.len()];
        let Some(bounds) = self.0.0.bounds() else { return distances };
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
                    let far = self.0.least(p, within, slack);
                    let far = far.or_else(|| self.0.least(p, f64::INFINITY, slack));
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
            let axis =
                if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
            let middle = |t: &Tagged| t.corners.iter().map(|p| p[axis]).sum::<f64>();
            run.select_nth_unstable_by(run.len() / 2, |a, b| middle(a).total_cmp(&middle(b)));
        };
        Self(BoxTree::new(triangles, LEAF, |triangle| Aabb::of(triangle.corners), part))
    }

    /// The nearest of the triangles that are `wanted`, nearer than `within`: its squared distance and itself.
    pub fn nearest(&self, p: DVec3, within: f64, wanted: impl Fn(&Tagged) -> bool) -> Option<(f64, &Tagged)> {
        self.0.nearest(p, within * within, |_, triangle| {
            wanted(triangle).then(|| (distance_squared(p, triangle.corners), triangle))
        })
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
            let squared = distance_squared(p, triangle.corners);
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

/// The parts of a mesh: the outside's in the order of their materials, then the inside. `beyond` numbers what is beyond each
/// triangle; it may be empty.
#[must_use]
pub fn primitives(mesh: &WrittenMesh, beyond: &[i32]) -> Vec<Primitive> {
    let mut sides: Vec<Side> = mesh.faces.iter().map(|face| face.side).collect();
    let order = |side: &Side| match side {
        Side::Outside { material } => *material,
        Side::Inside => u32::MAX,
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
        let axis = mesh.axes.get(t).filter(|_| face.side == Side::Inside);
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
                    Side::Inside => 0.0,
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
mod tests {
    use super::*;
    use crate::{
        geometry::triangle::distance_squared,
        meshes::{Corner, Face},
    };
    use glam::Vec3;

    #[test]
    fn the_tree_finds_what_all_triangles_give() {
        let at = |i: u32| {
            let v = |k: u32| {
                let mixed = (i * 3 + k).wrapping_mul(2_654_435_761);
                f64::from((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 24)
            };
            DVec3::new(v(0), v(1), v(2))
        };
        let count = 300;
        let triangles: Vec<[u32; 3]> =
            (0..count).map(|i| [i, (i * 3 + 1) % count, (i * 5 + 2) % count]).collect();
        let face = |i: usize| Face {
            side: if i.is_multiple_of(3) { Side::Outside { material: 0 } } else { Side::Inside },
            beyond: None,
        };
        let corner = Corner { normal: Vec3::Y, color: [0; 3], uv: [0.0; 2], uv2: [0.0; 2] };
        let mesh = PieceMesh {
            positions: (0..count).map(at).collect(),
            faces: (0..triangles.len()).map(face).collect(),
            corners: vec![[corner; 3]; triangles.len()],
            triangles,
        };
        let tree = CrackDistance::of(&mesh);
        let points: Vec<DVec3> = (1000..1100).map(|i| at(i) * 2.0 - 0.5).collect();
        for (p, found) in points.iter().zip(tree.of_points(&points)) {
            let all = tree
                .0
                .triangles()
                .iter()
                .map(|t| distance_squared(*p, t.corners))
                .fold(f64::INFINITY, f64::min);
            assert_eq!(found, all.sqrt() as f32);
        }
        let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for (p, wanted) in [
            (DVec3::new(0.2, 0.2, 3.0), 3.0),
            (DVec3::new(-3.0, 0.5, 4.0), 5.0),
            (DVec3::new(0.5, -2.0, 0.0), 2.0),
            (DVec3::new(2.0, 0.0, 0.0), 1.0),
        ] {
            assert!((distance_squared(p, triangle).sqrt() - wanted).abs() < 1e-12, "{p}");
        }
        let sliver = [DVec3::ZERO, DVec3::splat(0.1), DVec3::splat(0.3)];
        assert!((distance_squared(DVec3::splat(1.3), sliver).sqrt() - 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(CrackDistance::default().of_points(&[DVec3::ZERO]), [-1.0]);
    }
}

#[cfg(test)]
mod vertices_tests {
    use std::sync::Arc;

    use super::*;
    use crate::meshes::{Corner, Face, PieceMesh};

    #[test]
    fn a_point_has_a_vertex_for_everything_that_is_shown_there() {
        let corner = |x: f32| Corner { normal: Vec3::X, color: [9; 3], uv: [x, 0.0], uv2: [0.0; 2] };
        let outside = Face { side: Side::Outside { material: 3 }, beyond: None };
        let inside = Face { side: Side::Inside, beyond: Some(7) };
        let mesh = PieceMesh {
            positions: (0..4).map(|i| DVec3::splat(f64::from(i) * f64::from(i))).collect(),
            triangles: vec![[0, 1, 2], [0, 2, 3], [0, 1, 3]],
            faces: vec![outside, outside, inside],
            corners: vec![[corner(0.0); 3], [corner(0.0), corner(1.0), corner(0.0)], [corner(0.0); 3]],
        };
        let mesh = WrittenMesh::from(Arc::new(mesh));
        let parts = primitives(&mesh, &[]);
        assert_eq!(parts.iter().map(|p| p.side.unwrap()).collect::<Vec<_>>(), [outside.side, inside.side]);
        assert_eq!(parts[0].indices, [0, 1, 2, 0, 3, 4], "point 2 shows two coordinates");
        assert_eq!(
            (parts[1].positions.len(), parts[1].cell_beyond[0], parts[1].crack_distance[2]),
            (3, 7.0, 0.0)
        );
        assert_eq!(parts[0].cell_beyond, [-1.0; 5]);
        assert!(parts[0].beyond.is_empty() && parts[1].beyond.is_empty());
        let parts_of = primitives(&mesh, &[-1, 4, 2]);
        assert_eq!(
            (&parts_of[0].beyond[..], &parts_of[1].beyond[..]),
            (&[-1.0, -1.0, -1.0, 4.0, 4.0, 4.0][..], &[2.0; 3][..])
        );
        assert_eq!(parts[0].crack_distance[0], 0.0, "a point that a crack shares lies at it");
        assert!(primitives(&WrittenMesh::default(), &[]).is_empty());
    }
}
