//! The crack faces of an object's pieces, and which of them lie opposite to each other.
//!
//! In: the meshes of the pieces, in shape space. Out: [`CrackFaces`], which finds the face opposite to a point of a
//! crack face: the nearest one of another piece that faces the other way. Bonds are found by it, and the piece beyond
//! each crack face.

use std::sync::Arc;

use glam::DVec3;

use super::written::{Tagged, TriangleTree, WrittenMesh};

/// Distance between sample points on a crack face, voxels.
const STEP: f64 = 2.0;
/// Most sample points along a triangle's side.
const MOST_ALONG: f64 = 24.0;
/// Faces farther apart are not neighbours, voxels: cubes of both sides overlap in the crack's voxel, and dust leaves a
/// gap.
const REACH: f64 = 2.0;
/// Largest cosine between the normals of opposite faces: teeth of rough cracks need not be parallel.
const AGAINST: f64 = -0.3;
/// A face nearer than this touches, voxels: both sides of a flat crack are cut at the same plane, up to rounding.
const TOUCHES: f64 = 1e-9;
/// Triangles between two checks for cancellation.
const AT_ONCE: usize = 1 << 16;

/// A triangle on a crack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrackFace {
    /// Id of its piece.
    pub piece: u32,
    /// Index in the piece's mesh.
    pub triangle: u32,
    /// The cell beyond, as a number over all breaks of its object, if known.
    pub beyond: Option<u32>,
}

/// The crack faces of pieces of one object, in a tree.
pub struct CrackFaces {
    /// The tag of a triangle is its index in `faces`.
    tree: TriangleTree,
    faces: Vec<CrackFace>,
    /// Unit normals of the faces; 0 for those without area.
    normals: Vec<DVec3>,
    voxel: f64,
    reach: f64,
}

impl CrackFaces {
    /// The crack faces of `meshes`, each with the id of its piece. `voxel` is the edge of a voxel and `gap` the widest
    /// layer of dust, both in units of shape space.
    #[must_use]
    pub fn of(meshes: &[(usize, Arc<WrittenMesh>)], voxel: f64, gap: f64) -> Self {
        let (mut triangles, mut faces, mut normals) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, mesh) in meshes {
            for (k, (triangle, face)) in mesh.triangles.iter().zip(&mesh.faces).enumerate() {
                if face.side.is_crack() {
                    let corners = triangle.map(|i| mesh.positions[i as usize]);
                    let [a, b, c] = corners;
                    normals.push((b - a).cross(c - a).normalize_or_zero());
                    triangles.push(Tagged { corners, tag: faces.len() as u32 });
                    faces.push(CrackFace { piece: *piece as u32, triangle: k as u32, beyond: face.beyond });
                }
            }
        }
        Self { tree: TriangleTree::new(triangles), faces, normals, voxel, reach: REACH * voxel + gap }
    }

    /// All triangles in a fixed order, in runs between which the user can cancel.
    pub fn runs(&self) -> impl Iterator<Item = &[Tagged]> {
        self.tree.triangles().chunks(AT_ONCE)
    }

    /// The face that a triangle of the tree is.
    #[must_use]
    pub fn face(&self, triangle: &Tagged) -> CrackFace {
        self.faces[triangle.tag as usize]
    }

    /// Edge of a voxel, units of shape space.
    #[must_use]
    pub fn voxel(&self) -> f64 {
        self.voxel
    }

    /// Distance at which faces are no longer opposite to each other, units of shape space.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Into how many parts the sides of a triangle are divided for its sample points, so that these lie about two
    /// voxels apart: 1 for a triangle of a voxel's size. Slivers, in which points would lie closer across than along, have
    /// no more points than a compact triangle of four times their area.
    #[must_use]
    pub fn along(&self, triangle: &Tagged) -> u32 {
        let [a, b, c] = triangle.corners;
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let compact = (2.0 * (b - a).cross(c - a).length()).sqrt();
        let step = STEP * self.voxel;
        (longest / step).min(compact / step + 1.0).ceil().clamp(1.0, MOST_ALONG) as u32
    }

    /// The nearest face opposite to the point `place` of a triangle with the unit normal `normal`, and its squared
    /// distance: nearer than `within`, of another piece that is `wanted`, facing the other way. Of faces that touch, the
    /// first that is found. A triangle without a normal accepts every direction.
    pub fn opposite(
        &self,
        (triangle, normal): (&Tagged, Option<DVec3>),
        place: DVec3,
        within: f64,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(f64, CrackFace)> {
        let own = self.face(triangle).piece;
        let found = self.tree.nearest_until(place, (within, TOUCHES * self.voxel), |other| {
            let piece = self.face(other).piece;
            let turned = |normal: DVec3| self.normals[other.tag as usize].dot(normal) < AGAINST;
            piece != own && wanted(piece) && normal.is_none_or(turned)
        });
        found.map(|(squared, other)| (squared, self.face(other)))
    }
}

/// Centres of the n^2 triangles of equal area that result from dividing a triangle's sides into n parts.
pub fn places([a, b, c]: [DVec3; 3], along: u32) -> impl Iterator<Item = DVec3> {
    let n = f64::from(along);
    (0..along).flat_map(move |row| {
        // Per row: triangles oriented like the whole one, and upside-down ones between them.
        (0..2 * (along - row) - 1).map(move |k| {
            let (column, third) = (f64::from(k / 2), f64::from(1 + k % 2) / 3.0);
            let (u, v) = ((column + third) / n, (f64::from(row) + third) / n);
            a + (b - a) * u + (c - a) * v
        })
    })
}
