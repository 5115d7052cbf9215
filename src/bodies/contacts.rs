//! The contacts of the last step, to look at.

use super::{BodyId, World, collide::cell_size};
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
    /// Edge of a cell of the coarser level at which they meet, m.
    pub cell: f64,
    /// Normal impulse of the last step, N s.
    pub impulse: f64,
}

impl World {
    /// All contacts of the last step, those between sleepers too, in order of pair. Points that are near and do not press are among them.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        let mut out = Vec::new();
        for manifold in &self.manifolds {
            let Some(a) = self.body(manifold.first) else { continue };
            let b = manifold.second.and_then(|id| self.body(id));
            let cell =
                b.map_or(0.0, |b| cell_size(b, manifold.levels[1])).max(cell_size(a, manifold.levels[0]));
            out.extend(manifold.points.iter().map(|p| Contact {
                bodies: (manifold.first, manifold.second),
                position: p.position,
                normal: p.normal,
                separation: p.separation,
                cell,
                impulse: p.total_impulse,
            }));
        }
        out
    }
}
