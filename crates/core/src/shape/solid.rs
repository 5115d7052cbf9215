//! A body that is a closed triangle mesh.

use super::{MassProperties, Octree, PieceMesh, mesh_tree::MeshTree};
use crate::geometry::{Aabb, triangle};
use crate::mesh::Material;
use glam::{DMat4, DVec3};
use std::sync::{Arc, OnceLock};

/// A closed surface, what it shows, and the voxels that stand in for it where somebody asks for an octree.
///
/// The surface is in shape space. Where there are voxels, local space is theirs, so that whatever works on octrees
/// finds the body where it is; else it is shape space.
#[derive(Clone, Debug)]
pub struct SolidMesh {
    surface: Arc<PieceMesh>,
    materials: Arc<[Material]>,
    voxels: Option<Octree>,
    bounds: Aabb,
    /// Made when somebody first asks; copies share it.
    tree: Arc<OnceLock<MeshTree>>,
}

impl SolidMesh {
    /// Of a surface, whose outside shows `materials`.
    #[must_use]
    pub fn new(surface: Arc<PieceMesh>, materials: Arc<[Material]>) -> Self {
        let bounds = Aabb::of(surface.positions.iter().copied());
        let bounds = if bounds.low.cmple(bounds.high).all() { bounds } else { Aabb::default() };
        Self { surface, materials, voxels: None, bounds, tree: Arc::default() }
    }

    /// The same, with an octree of its voxels in shape space.
    #[must_use]
    pub fn with_voxels(self, voxels: Octree) -> Self {
        Self { voxels: Some(voxels), ..self }
    }

    /// Its surface, shape space.
    #[must_use]
    pub fn surface(&self) -> &Arc<PieceMesh> {
        &self.surface
    }

    /// What the outside shows.
    #[must_use]
    pub fn materials(&self) -> &Arc<[Material]> {
        &self.materials
    }

    /// The octree of its voxels, where it has one. Its sums are those of the voxels, not of the surface.
    #[must_use]
    pub fn voxels(&self) -> Option<&Octree> {
        self.voxels.as_ref()
    }

    /// Point of shape space to local space.
    #[must_use]
    pub fn to_local(&self, p: DVec3) -> DVec3 {
        self.voxels.as_ref().map_or(p, |octree| octree.grid.from_mesh(p))
    }

    /// Edge of a unit of local space, m.
    #[must_use]
    pub fn unit_m(&self) -> f64 {
        self.voxels.as_ref().map_or(1.0, |octree| octree.grid.h)
    }

    fn to_shape(&self, p: DVec3) -> DVec3 {
        self.voxels.as_ref().map_or(p, |octree| octree.grid.origin + octree.grid.h * p)
    }

    /// Bounds, local space.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.bounds.placed(|p| self.to_local(p))
    }

    /// Bounds, shape space, m.
    #[must_use]
    pub fn bounds_m(&self) -> Aabb {
        self.bounds
    }

    /// Vertices, local space.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = DVec3> {
        self.surface.positions.iter().map(|p| self.to_local(*p))
    }

    /// The hierarchy over its triangles, which picking and pictures walk. The first to ask makes it: 0.11 s
    /// for 70,000 triangles on two cores that had other work as well.
    pub fn tree(&self) -> &MeshTree {
        let surface = &self.surface;
        self.tree.get_or_init(|| MeshTree::new(&surface.positions, &surface.triangles, self.bounds))
    }

    /// Tree space to local space.
    pub fn local_from_tree(&self) -> DMat4 {
        let tree = self.tree();
        let (unit, middle) = (self.unit_m(), self.to_local(tree.centre));
        DMat4::from_translation(middle) * DMat4::from_scale(DVec3::splat(1.0 / (tree.scale * unit)))
    }

    /// The same for what shows the same triangles in the same materials, while either is there.
    pub fn key(&self) -> (usize, usize) {
        (Arc::as_ptr(&self.surface).addr(), Arc::as_ptr(&self.materials).cast::<()>().addr())
    }

    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.surface.triangles[triangle as usize].map(|i| self.surface.positions[i as usize])
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        MassProperties::of_triangles(self.surface.corners_of_triangles(), density)
    }

    /// The smallest ray parameter, not below 0, at which a ray (local space) meets a triangle from either side.
    #[must_use]
    pub fn pick(&self, origin: DVec3, direction: DVec3) -> Option<f64> {
        let (origin, along) = (self.to_shape(origin), direction * self.unit_m());
        let hit = self.tree().first_hit(origin, along, |i| meets_triangle(self.corners(i), origin, along));
        hit.map(|(t, _)| t)
    }

    /// The voxel of its stand-in that holds a point of the surface, which a ray met (local space).
    pub(super) fn voxel_at(&self, point: DVec3, direction: DVec3) -> Option<[u32; 3]> {
        let last = f64::from(self.voxels.as_ref()?.grid.side().saturating_sub(1));
        // A hair along the ray, or a hit on a voxel's face would lie in two; pictures do the same.
        let inside = point + direction.normalize_or_zero() * 0.02;
        Some(inside.clamp(DVec3::ZERO, DVec3::splat(last)).as_uvec3().to_array())
    }

    /// Distance of a point (local space) from the solid, local units: 0 inside (by the solid angle of all triangles),
    /// infinite for a mesh without any.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> f64 {
        let point = self.to_shape(point);
        // Nothing outside the bounds is inside, which spares a look at every triangle.
        let is_near = self.bounds.holds(point) && !self.surface.triangles.is_empty();
        if is_near && winding_number(self.surface.corners_of_triangles(), point) > 0.5 {
            return 0.0;
        }
        self.tree().nearest(point, |i| triangle::distance(point, self.corners(i))) / self.unit_m()
    }
}

/// The nearest of all triangles that a ray meets from either side.
pub(super) fn nearest_hit(
    triangles: impl Iterator<Item = [DVec3; 3]>,
    origin: DVec3,
    direction: DVec3,
) -> Option<f64> {
    triangles.filter_map(|corners| meets_triangle(corners, origin, direction)).min_by(f64::total_cmp)
}

/// Where a ray meets a triangle from either side: Möller and Trumbore's test (1997, Journal of Graphics Tools 2).
fn meets_triangle([a, b, c]: [DVec3; 3], origin: DVec3, direction: DVec3) -> Option<f64> {
    let (u, v) = (b - a, c - a);
    let p = direction.cross(v);
    let det = u.dot(p);
    if det == 0.0 {
        return None;
    }
    let from = (origin - a) / det;
    let q = from.cross(u);
    let (s, t) = (from.dot(p), direction.dot(q));
    let at = v.dot(q);
    (s >= 0.0 && t >= 0.0 && s + t <= 1.0 && at >= 0.0).then_some(at)
}

/// Generalised winding number of `point`: the solid angle of all triangles over 4 pi (Jacobson and others
/// 2013, ACM Transactions on Graphics 32; the solid angle of one is van Oosterom and Strackee's).
fn winding_number(triangles: impl Iterator<Item = [DVec3; 3]>, point: DVec3) -> f64 {
    let angle = |corners: [DVec3; 3]| {
        let [a, b, c] = corners.map(|p| p - point);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * libm::atan2(a.dot(b.cross(c)), below)
    };
    triangles.map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}
