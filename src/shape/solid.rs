//! A body that is a closed triangle mesh.

use super::MassProperties;
use crate::mesh::Mesh;
use glam::DVec3;
use std::sync::Arc;

/// A mesh in its own units, and how long those are. Local space is the mesh's, in metres.
#[derive(Clone, Debug)]
pub struct SolidMesh {
    mesh: Arc<Mesh>,
    meters_per_unit: f64,
    bounds: (DVec3, DVec3),
}

impl SolidMesh {
    /// `mesh` with `meters_per_unit`.
    #[must_use]
    pub fn new(mesh: &Arc<Mesh>, meters_per_unit: f64) -> Self {
        let mut solid = Self { mesh: Arc::clone(mesh), meters_per_unit, bounds: Default::default() };
        let whole = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = solid.vertices().fold(whole, |(low, high), p| (low.min(p), high.max(p)));
        if low.cmple(high).all() {
            solid.bounds = (low, high);
        }
        solid
    }

    /// The mesh, in its own units.
    #[must_use]
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// Metres for one unit of the mesh.
    #[must_use]
    pub fn meters_per_unit(&self) -> f64 {
        self.meters_per_unit
    }

    /// Bounds (low, high), m.
    #[must_use]
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.bounds
    }

    /// Vertices, m.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = DVec3> {
        self.mesh.positions.iter().map(|p| self.in_metres(*p))
    }

    /// Corners of the triangles, m.
    pub fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        let corner = |v: u32| self.mesh.positions.get(v as usize).map(|p| self.in_metres(*p));
        self.mesh.triangles.iter().filter_map(move |&[a, b, c]| Some([corner(a)?, corner(b)?, corner(c)?]))
    }

    fn in_metres(&self, p: [f32; 3]) -> DVec3 {
        DVec3::from_array(p.map(f64::from)) * self.meters_per_unit
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        MassProperties::of_triangles(self.triangles(), density)
    }

    /// The smallest ray parameter, not below 0, at which a ray meets a triangle from either side.
    #[must_use]
    pub fn pick(&self, origin: DVec3, direction: DVec3) -> Option<f64> {
        nearest_hit(self.triangles(), origin, direction)
    }

    /// Distance of a point from the solid, m: 0 inside (by the solid angle of all triangles), infinite for a
    /// mesh without any.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> f64 {
        let nearest = self.triangles().map(|t| distance_to_triangle(t, point)).fold(f64::INFINITY, f64::min);
        if nearest.is_finite() && winding_number(self.triangles(), point) > 0.5 { 0.0 } else { nearest }
    }
}

/// Möller and Trumbore's test (1997, Journal of Graphics Tools 2) over all triangles.
pub(super) fn nearest_hit(
    triangles: impl Iterator<Item = [DVec3; 3]>,
    origin: DVec3,
    direction: DVec3,
) -> Option<f64> {
    let hit = |[a, b, c]: [DVec3; 3]| {
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
    };
    triangles.filter_map(hit).min_by(f64::total_cmp)
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

/// Distance of `point` from a triangle: its plane where the foot lies inside, else the nearest edge.
pub(super) fn distance_to_triangle([a, b, c]: [DVec3; 3], point: DVec3) -> f64 {
    let normal = (b - a).cross(c - a);
    let edges = [(a, b), (b, c), (c, a)];
    let inside = |(from, to): (DVec3, DVec3)| normal.cross(to - from).dot(point - from) >= 0.0;
    if normal.length_squared() > 0.0 && edges.iter().all(|edge| inside(*edge)) {
        return normal.dot(point - a).abs() / normal.length();
    }
    let to_edge = |(from, to): (DVec3, DVec3)| {
        let along = to - from;
        let t = ((point - from).dot(along) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        point.distance(from + along * t)
    };
    edges.into_iter().map(to_edge).fold(f64::INFINITY, f64::min)
}
