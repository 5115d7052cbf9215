//! The contacts of the last step, to look at.

use super::{BodyId, World};
use glam::DVec3;

/// A point that holds two bodies, or one and a plane, apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The bodies; the second is absent for the floor and the walls.
    pub bodies: (BodyId, Option<BodyId>),
    /// World, m.
    pub position: DVec3,
    /// From the second body to the first; world, unit.
    pub normal: DVec3,
    /// m; negative where they overlap.
    pub separation: f64,
    /// How finely they were looked for, m: of octrees the edge of a cell of the coarser level at which they
    /// meet.
    pub cell: f64,
    /// Normal impulse of the last step, N s.
    pub impulse: f64,
}

impl World {
    /// All contacts of the last step, those between sleepers too, in order of pair. Points that are near and
    /// do not press are among them.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        let mut out = Vec::new();
        for manifold in &self.manifolds {
            if self.body(manifold.first).is_none() {
                continue;
            }
            out.extend(manifold.points.iter().map(|p| Contact {
                bodies: (manifold.first, manifold.second),
                position: p.position,
                normal: p.normal,
                separation: p.separation,
                cell: manifold.resolution_m,
                impulse: p.total_impulse,
            }));
        }
        out
    }
}
