//! A closed mesh that cuts: its bodies, and where they stand.
//!
//! In: a mesh as read; later the bounds of what is cut, and how the mesh is moved. Out: closed surfaces in a grid.

use std::fmt;

use glam::DVec3;

use crate::{fracture::solid::closed_bodies, geometry::Aabb, mesh::Mesh, shape::PieceMesh};

/// Most bodies of a cutter.
const MOST: usize = 256;

/// A closed mesh to cut with. Each of its bodies cuts a piece.
#[derive(Clone, PartialEq)]
pub struct CutterMesh {
    /// Closed, outward.
    solids: Vec<PieceMesh>,
}

impl fmt::Debug for CutterMesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CutterMesh of {} bodies", self.solids.len())
    }
}

/// How a cutter stands to what it cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placing {
    /// Whether its box is moved to the middle of the object's box, and is made as long as that.
    pub fits: bool,
    /// Times its own size, or that of the object's box.
    pub scale: f64,
    /// Degrees about x, then y, then z, round the middle of its box.
    pub turn: [f64; 3],
    /// Longest sides of the object.
    pub shift: DVec3,
}

impl CutterMesh {
    /// A mesh as read, in its file's units.
    ///
    /// # Errors
    /// One line that says what is wrong and what to do.
    pub fn new(mesh: &Mesh) -> Result<Self, String> {
        let mut solids = closed_bodies(mesh, 1.0).map_err(|(i, error)| {
            format!("body {} of the cutter has no inside: {error}; close its holes", i + 1)
        })?;
        if solids.is_empty() || solids.len() > MOST {
            return Err(format!(
                "the cutter has {} closed bodies; 1 to {MOST} are wanted: join some of them, or leave some out",
                solids.len()
            ));
        }
        let origin = DVec3::from_array(mesh.origin);
        solids.iter_mut().flat_map(|solid| &mut solid.positions).for_each(|p| *p += origin);
        Ok(Self { solids })
    }

    /// Number of closed bodies.
    #[must_use]
    pub fn bodies(&self) -> usize {
        self.solids.len()
    }

    /// The same, with other coordinates.
    #[must_use]
    pub fn placed(&self, place: impl Fn(DVec3) -> DVec3) -> Self {
        let solid = |solid: &PieceMesh| PieceMesh {
            positions: solid.positions.iter().map(|p| place(*p)).collect(),
            ..solid.clone()
        };
        Self { solids: self.solids.iter().map(solid).collect() }
    }

    /// Its bodies beside an object with these `bounds`, in the same space.
    pub(super) fn beside(&self, bounds: Aabb, placing: &Placing) -> Vec<PieceMesh> {
        let own = Aabb::of(self.solids.iter().flat_map(|solid| solid.positions.iter().copied()));
        let (middle, longest) = (own.middle(), bounds.size().max_element());
        let (to, factor) = match placing.fits {
            true => (bounds.middle(), longest / own.size().max_element().max(f64::MIN_POSITIVE)),
            false => (middle, 1.0),
        };
        let (to, factor) = (to + placing.shift * longest, factor * placing.scale);
        self.placed(|p| to + turned((p - middle) * factor, placing.turn)).solids
    }
}

/// A point turned by degrees about x, then y, then z.
fn turned(p: DVec3, degrees: [f64; 3]) -> DVec3 {
    let mut p = p.to_array();
    for (k, degrees) in degrees.into_iter().enumerate().filter(|(_, degrees)| *degrees != 0.0) {
        let (sin, cos) = libm::sincos(degrees.to_radians());
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        (p[i], p[j]) = (cos * p[i] - sin * p[j], sin * p[i] + cos * p[j]);
    }
    DVec3::from_array(p)
}

/// The part of a closed surface within the cube from `low` to `high` along every axis, as a closed surface: triangles are
/// divided where they leave the cube, and what lies beyond is moved to the border, where it bounds nothing.
pub(super) fn within(surface: &PieceMesh, low: f64, high: f64) -> PieceMesh {
    let bounds = Aabb::of(surface.positions.iter().copied());
    if bounds.low.cmpge(DVec3::splat(low)).all() && bounds.high.cmple(DVec3::splat(high)).all() {
        return surface.clone();
    }
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for corners in surface.corners_of_triangles() {
        let mut polygons = vec![corners.to_vec()];
        for (axis, at) in (0..3).flat_map(|axis| [(axis, low), (axis, high)]) {
            polygons = polygons.iter().flat_map(|polygon| divided(polygon, axis, at)).collect();
        }
        for polygon in polygons {
            let base = positions.len() as u32;
            let moved = |p: DVec3| p.clamp(DVec3::splat(low), DVec3::splat(high));
            positions.extend(polygon.iter().map(|p| moved(*p)));
            triangles.extend((2..polygon.len() as u32).map(|k| [base, base + k - 1, base + k]));
        }
    }
    PieceMesh::flat(positions, triangles, |_| crate::shape::CLAY)
}

/// The parts of a convex polygon on both sides of a plane square to an axis: one, or two.
fn divided(polygon: &[DVec3], axis: usize, at: f64) -> Vec<Vec<DVec3>> {
    let is_apart =
        |is_below: bool| polygon.iter().all(|p| if is_below { p[axis] <= at } else { p[axis] >= at });
    if is_apart(true) || is_apart(false) {
        return vec![polygon.to_vec()];
    }
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for (i, p) in polygon.iter().enumerate() {
        let next = polygon[(i + 1) % polygon.len()];
        if p[axis] <= at {
            below.push(*p);
        }
        if p[axis] >= at {
            above.push(*p);
        }
        let (low, high) = if p[axis] < next[axis] { (*p, next) } else { (next, *p) };
        if low[axis] < at && at < high[axis] {
            // The same for both triangles at the edge.
            let mut cut = low + (high - low) * ((at - low[axis]) / (high[axis] - low[axis]));
            cut[axis] = at;
            below.push(cut);
            above.push(cut);
        }
    }
    vec![below, above]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mesh::builtin, shape::MassProperties};

    fn cube() -> CutterMesh {
        CutterMesh::new(&builtin("box").unwrap()).unwrap()
    }

    fn volume(surface: &PieceMesh) -> f64 {
        MassProperties::of_triangles(surface.corners_of_triangles(), 1.0).volume_m3
    }

    #[test]
    fn a_cutter_fits_the_box_of_what_it_cuts() {
        let bounds = Aabb::new(DVec3::new(10.0, 20.0, 30.0), DVec3::new(18.0, 36.0, 34.0));
        let placing = Placing { fits: true, scale: 0.5, turn: [0.0; 3], shift: DVec3::new(0.25, 0.0, 0.0) };
        let fitted = cube().beside(bounds, &placing);
        let found = Aabb::of(fitted[0].positions.iter().copied());
        assert!((found.size().max_element() - 8.0).abs() < 1e-9, "{found:?}");
        assert!(found.middle().distance(bounds.middle() + DVec3::X * 4.0) < 1e-9, "{found:?}");
        let stays = Placing { fits: false, scale: 1.0, shift: DVec3::ZERO, ..placing };
        let (own, same) = (cube().solids, cube().beside(bounds, &stays));
        let off = own[0].positions.iter().zip(&same[0].positions).map(|(a, b)| a.distance(*b));
        assert!(off.fold(0.0, f64::max) < 1e-12);
        // A quarter turn about z takes x to y.
        assert!(turned(DVec3::X, [0.0, 0.0, 90.0]).distance(DVec3::Y) < 1e-12);
        assert!(turned(DVec3::Y, [90.0, 0.0, 0.0]).distance(DVec3::Z) < 1e-12);
    }

    #[test]
    fn what_lies_beyond_a_cube_bounds_nothing() {
        for (name, size) in [("box", 3.0), ("sphere", 1.4), ("vase", 1.3)] {
            let mesh = CutterMesh::new(&builtin(name).unwrap()).unwrap();
            let own = Aabb::of(mesh.solids[0].positions.iter().copied());
            let half = own.size().max_element() / 2.0;
            // The cube from -1 to 1, and the mesh so large that it leaves the cube.
            let surface =
                &mesh.placed(|p| (p - own.middle()) / half * size + DVec3::new(0.3, -0.2, 0.1)).solids[0];
            let found = within(surface, -1.0, 1.0);
            assert!(found.positions.iter().all(|p| p.abs().max_element() <= 1.0));
            // Beside it the volume by points on a grid.
            let (steps, mut inside): (i32, i32) = (14, 0);
            for k in 0..steps * steps * steps {
                let at = |k: i32| (f64::from(k % steps) + 0.5) / f64::from(steps) * 2.0 - 1.0;
                let p = DVec3::new(at(k), at(k / steps), at(k / steps / steps));
                let turns = crate::geometry::triangle::winding_number(surface.corners_of_triangles(), p);
                inside += i32::from(turns > 0.5);
            }
            let wanted = 8.0 * f64::from(inside) / f64::from(steps.pow(3));
            assert!((volume(&found) - wanted).abs() < 0.25, "{name}: {} and {wanted}", volume(&found));
        }
    }
}
