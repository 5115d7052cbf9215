//! The contacts of the last step, for display.

use super::{BodyId, collide::Manifold};
use glam::DVec3;

/// A contact point of two bodies, or of one and a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The bodies; the second is absent for the floor and the walls.
    pub bodies: (BodyId, Option<BodyId>),
    /// World, m.
    pub position: DVec3,
    /// From the second body to the first; world, unit.
    pub normal: DVec3,
    /// Distance of the surfaces, m; negative for overlap.
    pub separation: f64,
    /// Size of the search's cells, m: for octrees the edge of a cell of the coarser level of the pair.
    pub cell: f64,
    /// Normal impulse of the last step, N s.
    pub impulse: f64,
}

/// The impulse between two bodies, or a body and floor or walls, in the whole of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// The bodies; the second is absent for the floor and the walls.
    pub bodies: (BodyId, Option<BodyId>),
    /// On the first body, by the normals of its contacts alone, N s.
    pub impulse: DVec3,
    /// Where it acted: the mean of its contacts by impulse, world, m.
    pub position: DVec3,
}

/// Sums up pushes over the rounds of a step.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    /// By ascending manifold: impulse, impulse as a vector, place times impulse.
    sums: Vec<(Order, [f64; 7])>,
}

/// Sort key of manifolds.
type Order = (bool, BodyId, Option<BodyId>);

impl Pushes {
    /// Adds the impulses of a round's manifolds.
    pub fn add(&mut self, manifolds: &[Manifold]) {
        let mut new = Vec::new();
        let mut known = self.sums.iter_mut().peekable();
        for m in manifolds.iter().filter(|m| m.presses()) {
            let order = m.order();
            while known.next_if(|(name, _)| *name < order).is_some() {}
            let sum = match known.next_if(|(name, _)| *name == order) {
                Some((_, sum)) => sum,
                None => {
                    new.push((order, [0.0; 7]));
                    let last = new.len() - 1;
                    &mut new[last].1
                }
            };
            for p in &m.points {
                let (push, place) = (p.normal * p.total_impulse, p.position * p.total_impulse);
                let all = [p.total_impulse, push.x, push.y, push.z, place.x, place.y, place.z];
                sum.iter_mut().zip(all).for_each(|(sum, more)| *sum += more);
            }
        }
        if !new.is_empty() {
            self.sums.extend(new);
            // Two ascending runs, which the sort merges.
            self.sums.sort_by_key(|(order, _)| *order);
        }
    }

    /// By ascending pair.
    pub fn list(self) -> Vec<Push> {
        let push = |((_, first, second), [weight, a, b, c, x, y, z]): (Order, [f64; 7])| Push {
            bodies: (first, second),
            impulse: DVec3::new(a, b, c),
            position: DVec3::new(x, y, z) / weight,
        };
        let mut out: Vec<Push> = self.sums.into_iter().map(push).collect();
        out.sort_by_key(|push| push.bodies);
        out
    }
}
