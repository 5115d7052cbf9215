//! The floor and the walls: a half-space answers the elementary queries exactly, so that a body that lies on
//! it keeps a few contacts, however many of its points are below it (Glondu et al. 2012, fig. 5).

use glam::DVec3;

use super::interior::{Depth, Interior};

/// The half-space `normal . p < offset` is solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// Unit, out of the solid; world.
    pub normal: DVec3,
    /// World, m.
    pub offset: f64,
}

impl HalfSpace {
    /// How far `p` is out of the solid, m.
    #[must_use]
    pub fn height(&self, p: DVec3) -> f64 {
        p.dot(self.normal) - self.offset
    }
}

/// Its local space is the world, so a placement for it is that of the body in the world.
impl Interior for HalfSpace {
    fn inside(&self, p: DVec3) -> bool {
        self.height(p) < 0.0
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        let height = self.height(p);
        (height < 0.0).then_some(Depth { distance: -height, direction: self.normal })
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        self.height(p) < r
    }

    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth> {
        let distance = self.height(p);
        (0.0..=within).contains(&distance).then_some(Depth { distance, direction: self.normal })
    }

    fn depth_error(&self) -> f64 {
        0.0
    }
}
