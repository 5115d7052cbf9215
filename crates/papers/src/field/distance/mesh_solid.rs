//! Nearest-surface queries of a closed triangle mesh.
//!
//! In: points in the shape's local space. Out: the nearest point of the triangles, and whether the point is inside: by
//! the angle-weighted pseudonormal of the face, edge or corner that is nearest (Bærentzen & Aanæs 2005, IEEE
//! Transactions on Visualization and Computer Graphics 11). A mesh that is open or turned inside out gives results of
//! that kind, too, but without guarantee. Triangles are found by a hierarchy of boxes, halved at the median along the
//! longest side.

use super::leaf::Foot;
use crate::geometry::{
    Aabb, BoxTree,
    triangle::{Part, nearest},
};
use glam::DVec3;
use std::collections::HashMap;

/// Boxes with this number of triangles are not split.
const FEW: usize = 4;

/// A closed mesh with its hierarchy.
#[derive(Clone, Debug)]
pub struct MeshSolid {
    positions: Vec<DVec3>,
    triangles: BoxTree<[u32; 3]>,
    /// In the order of the hierarchy.
    normals: Vec<DVec3>,
    corner_normals: Vec<DVec3>,
    edge_normals: HashMap<[u32; 2], DVec3>,
}

impl MeshSolid {
    /// Makes the solid of points (local space) and counter-clockwise triangles; triangles with an invalid index are
    /// skipped.
    #[must_use]
    pub fn new(positions: Vec<DVec3>, triangles: &[[u32; 3]]) -> Self {
        let there =
            |t: &&[u32; 3]| t.iter().all(|i| positions.get(*i as usize).is_some_and(|p| p.is_finite()));
        let corners = |t: &[u32; 3]| t.map(|i| positions[i as usize]);
        let tree = BoxTree::new(
            triangles.iter().filter(there).copied().collect(),
            FEW,
            |t| Aabb::of(corners(t)),
            |run, sides| {
                let axis = (0..3).max_by(|a, b| sides[*a].total_cmp(&sides[*b])).unwrap_or(0);
                let middle = |t: &[u32; 3]| corners(t).iter().map(|p| p[axis]).sum::<f64>();
                // By corners where middles are equal, so that the order of the input decides nothing.
                run.sort_by(|a, b| middle(a).total_cmp(&middle(b)).then(a.cmp(b)));
            },
        );
        let mut solid = Self {
            triangles: tree,
            positions,
            normals: Vec::new(),
            corner_normals: Vec::new(),
            edge_normals: HashMap::new(),
        };
        solid.weigh_normals();
        solid
    }

    fn corners(&self, triangle: [u32; 3]) -> [DVec3; 3] {
        triangle.map(|i| self.positions[i as usize])
    }

    /// Normals of faces, and sums of them at corners (weighted by their angles there) and edges.
    fn weigh_normals(&mut self) {
        let mut at_corners = vec![DVec3::ZERO; self.positions.len()];
        let mut at_edges: HashMap<[u32; 2], DVec3> = HashMap::new();
        for triangle in self.triangles.items() {
            let p = self.corners(*triangle);
            let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
            self.normals.push(normal);
            for k in 0..3 {
                let (to, back) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                let angle = libm::atan2(to.cross(back).length(), to.dot(back));
                at_corners[triangle[k] as usize] += normal * angle;
                *at_edges.entry(edge(*triangle, k)).or_default() += normal;
            }
        }
        self.corner_normals = at_corners;
        self.edge_normals = at_edges;
    }

    /// The point of the surface nearest to `p`, where it is nearer than `within`; with the pseudonormal
    /// there.
    #[must_use]
    pub fn nearest(&self, p: DVec3, within: f64) -> Option<Foot> {
        let (k, point, part, distance) = self.nearest_triangle(p, within)?;
        let triangle = self.triangles.items()[k];
        let normal = match part {
            Part::Face => self.normals[k],
            Part::Edge(e) => self.edge_normals.get(&edge(triangle, e as usize)).copied().unwrap_or_default(),
            Part::Corner(c) => self.corner_normals[triangle[c as usize] as usize],
        };
        Some(Foot { point, normal: normal.normalize_or(self.normals[k]), distance })
    }

    fn nearest_triangle(&self, p: DVec3, within: f64) -> Option<(usize, DVec3, Part, f64)> {
        if !p.is_finite() {
            return None;
        }
        let look = |k: usize, t: &[u32; 3]| {
            let (q, part) = nearest(p, self.corners(*t));
            Some((q.distance_squared(p), (k, q, part)))
        };
        let (squared, (k, q, part)) = self.triangles.nearest(p, within * within, look)?;
        Some((k, q, part, squared.sqrt()))
    }

    /// Whether a point is inside.
    #[must_use]
    pub fn inside(&self, p: DVec3) -> bool {
        let is_near = self.triangles.bounds().is_some_and(|all| all.distance(p) == 0.0);
        is_near && self.nearest(p, f64::INFINITY).is_some_and(|foot| (p - foot.point).dot(foot.normal) < 0.0)
    }

    /// Bounds of every triangle.
    pub fn triangle_bounds(&self) -> impl Iterator<Item = Aabb> + '_ {
        self.triangles.items().iter().map(|t| Aabb::of(self.corners(*t)))
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let points = size_of_val(&self.positions[..]) + size_of_val(&self.corner_normals[..]);
        let faces = self.triangles.bytes() + size_of_val(&self.normals[..]);
        let edges = self.edge_normals.capacity() * (size_of::<[u32; 2]>() + size_of::<DVec3>() + 1);
        points + faces + edges
    }
}

/// The edge from corner `k` to the next, the same for both its triangles.
fn edge(triangle: [u32; 3], k: usize) -> [u32; 2] {
    let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
    [a.min(b), a.max(b)]
}
