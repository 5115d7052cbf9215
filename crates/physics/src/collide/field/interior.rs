//! What contact queries ask of a body: the three elementary queries of Glondu et al. 2012, sec. 3, and the
//! distance from outside.

use super::distance::Foot;
use glam::DVec3;

/// How far a point is from a surface, and which way leads out of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Local units. Of [`Interior::penetration`] the depth below the surface, of
    /// [`Interior::outside_distance`] the height above it: never negative.
    pub distance: f64,
    /// Unit vector that points out of the solid: from a point inside to the nearest surface, from the nearest
    /// surface to a point outside.
    pub direction: DVec3,
}

/// What says which way leads out of a solid. Of most points that are met nobody asks that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Along this unit vector.
    Along(DVec3),
    /// As [`Interior::direction`] works it out from the nearest point of the surface.
    By(Foot),
}

/// How far a point is from a surface, before anybody asks for the direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Depth below the surface, local units; negative: height above it.
    pub depth: f64,
    /// The way out.
    pub way: Way,
}

/// What is known of a point that counts only where it is deeper than something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared {
    /// It may be deeper: what [`Interior::reach`] says.
    Deeper(Reached),
    /// It is inside, and no deeper than this, local units.
    AtMost(f64),
    /// It is outside, and no nearer than what was asked for.
    Away,
}

/// What a query asks of a body, in the body's local space (voxels of an octree's grid; metres of what has no
/// grid).
pub trait Interior: Sync {
    /// Whether `p` lies in the solid.
    fn inside(&self, p: DVec3) -> bool;

    /// Depth (not below 0) of `p` beneath the nearest surface, and the way out; `None` where `p` is outside.
    fn penetration(&self, p: DVec3) -> Option<Depth>;

    /// Whether the ball of radius `r` round `p` may meet the body; never false where it does.
    fn sphere_meets(&self, p: DVec3, r: f64) -> bool;

    /// Height of `p` above the nearest surface (not below 0), exact up to `within`, with the outward
    /// direction there; for contacts that touch within a tolerance. `None` where `p` is inside, or farther
    /// away than `within`.
    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth>;

    /// Depth of `p` as [`Interior::penetration`] has it, or its height as [`Interior::outside_distance`], and what the
    /// direction follows from.
    fn reach(&self, p: DVec3, within: f64) -> Option<Reached> {
        if let Some(inside) = self.penetration(p) {
            return Some(Reached { depth: inside.distance, way: Way::Along(inside.direction) });
        }
        let outside = (within > 0.0).then(|| self.outside_distance(p, within)).flatten()?;
        Some(Reached { depth: -outside.distance, way: Way::Along(outside.direction) })
    }

    /// The same where only depths above `least` count: of what is not so deep it is enough to know that.
    fn reach_beyond(&self, p: DVec3, within: f64, least: f64) -> Compared {
        let _ = least;
        self.reach(p, within).map_or(Compared::Away, Compared::Deeper)
    }

    /// The way out of the solid from `p`, unit, where [`Interior::reach`] said `way`.
    fn direction(&self, p: DVec3, way: &Way) -> DVec3 {
        let _ = p;
        match way {
            Way::Along(direction) => *direction,
            Way::By(foot) => foot.normal,
        }
    }

    /// The same, as good as it comes without work.
    fn quick_direction(&self, p: DVec3, way: &Way) -> DVec3 {
        self.direction(p, way)
    }

    /// A ball that holds the body: its middle and radius, local units.
    fn ball(&self) -> Option<(DVec3, f64)> {
        None
    }

    /// How far `p` is from the body at least, local units, as far as that can be said at once; negative where it cannot.
    fn apart(&self, p: DVec3) -> f64 {
        let _ = p;
        f64::NEG_INFINITY
    }

    /// To which depth [`Interior::penetration`] is exact, local units; what is deeper is said to be at least so deep.
    fn exact_to(&self) -> f64 {
        0.0
    }

    /// How far `p` may move, local units, before it may come to lie inside without passing through the surface, and how near
    /// to the surface that happens: between the polygons of neighbouring leaves are steps that count for nothing.
    fn step(&self, p: DVec3) -> (f64, f64) {
        let _ = p;
        (f64::INFINITY, 0.0)
    }

    /// By at most how much a depth of [`Interior::penetration`] differs from the true one, local units;
    /// infinite where nobody knows, and then a query must not leave anything out for its depth.
    fn depth_error(&self) -> f64 {
        f64::INFINITY
    }
}
