//! The queries of contacts to a body: the three elementary queries of Glondu et al. 2012, sec. 3, and the distance from
//! outside.

use super::distance::Foot;
use glam::DVec3;

/// Distance of a point from a surface, and the direction out of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Local units. Of [`Interior::penetration`] the depth below the surface, of
    /// [`Interior::outside_distance`] the height above it: never negative.
    pub distance: f64,
    /// Unit vector that points out of the solid: from a point inside to the nearest surface, from the nearest
    /// surface to a point outside.
    pub direction: DVec3,
}

/// Source of the direction out of a solid. Most points never need the direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Along this unit vector.
    Along(DVec3),
    /// Computed by [`Interior::direction`] from the nearest point of the surface.
    By(Foot),
}

/// Distance of a point from a surface, before the direction is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Depth below the surface, local units; negative: height above it.
    pub depth: f64,
    /// The direction out.
    pub way: Way,
}

/// Result for a point that counts only above a depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared {
    /// It may be deeper: the result of [`Interior::reach`].
    Deeper(Reached),
    /// It is inside, and no deeper than this, local units.
    AtMost(f64),
    /// It is outside, and farther away than `within`.
    Away,
}

/// The queries of a body, in the body's local space (voxels of an octree's grid, else metres).
pub trait Interior: Sync {
    /// Whether `p` lies in the solid.
    fn inside(&self, p: DVec3) -> bool;

    /// Depth (not below 0) of `p` beneath the nearest surface, and the direction out; `None` if `p` is outside.
    fn penetration(&self, p: DVec3) -> Option<Depth>;

    /// Whether the ball of radius `r` round `p` may touch the body; never false if it does.
    fn sphere_meets(&self, p: DVec3, r: f64) -> bool;

    /// Height of `p` above the nearest surface (not below 0), exact up to `within`, with the outward
    /// direction there; for contacts that touch within a tolerance. `None` where `p` is inside, or farther
    /// away than `within`.
    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth>;

    /// Depth of `p` like [`Interior::penetration`], or its height like [`Interior::outside_distance`], and the source
    /// of the direction.
    fn reach(&self, p: DVec3, within: f64) -> Option<Reached> {
        if let Some(inside) = self.penetration(p) {
            return Some(Reached { depth: inside.distance, way: Way::Along(inside.direction) });
        }
        let outside = (within > 0.0).then(|| self.outside_distance(p, within)).flatten()?;
        Some(Reached { depth: -outside.distance, way: Way::Along(outside.direction) })
    }

    /// Like [`Interior::reach`] if only depths above `least` count: for others an upper bound is enough.
    fn reach_beyond(&self, p: DVec3, within: f64, least: f64) -> Compared {
        let _ = least;
        self.reach(p, within).map_or(Compared::Away, Compared::Deeper)
    }

    /// Unit direction out of the solid from `p`, where [`Interior::reach`] returned `way`.
    fn direction(&self, p: DVec3, way: &Way) -> DVec3 {
        let _ = p;
        match way {
            Way::Along(direction) => *direction,
            Way::By(foot) => foot.normal,
        }
    }

    /// Like [`Interior::direction`], but only as good as it is without further work.
    fn quick_direction(&self, p: DVec3, way: &Way) -> DVec3 {
        self.direction(p, way)
    }

    /// A ball that contains the body: its middle and radius, local units.
    fn ball(&self) -> Option<(DVec3, f64)> {
        None
    }

    /// Lower bound of the distance of `p` from the body, local units, as far as it is cheap to find; negative if
    /// unknown.
    fn apart(&self, p: DVec3) -> f64 {
        let _ = p;
        f64::NEG_INFINITY
    }

    /// Depth up to which [`Interior::penetration`] is exact, local units; for deeper points it returns at least this
    /// depth.
    fn exact_to(&self) -> f64 {
        0.0
    }

    /// How far `p` may move, local units, before it may lie inside without having crossed the surface, and how near to
    /// the surface that happens: the steps between the polygons of neighbouring leaves have no surface.
    fn step(&self, p: DVec3) -> (f64, f64) {
        let _ = p;
        (f64::INFINITY, 0.0)
    }

    /// Largest error of a depth of [`Interior::penetration`], local units; infinite if unknown: then a query must not
    /// skip anything by depth.
    fn depth_error(&self) -> f64 {
        f64::INFINITY
    }
}
