//! How far each body has moved in all.
//!
//! In: bodies, at any steps. Out: for every body a length that grows between two calls by at least as much as any of
//! its points has moved. The common motion of all bodies is left out, otherwise no distance could be cached for bodies
//! that fall side by side.

use crate::{Body, BodyId, rotation::angle_between};
use glam::{DQuat, DVec3};

/// One body.
#[derive(Clone, Copy, Debug)]
struct Followed {
    id: BodyId,
    position: DVec3,
    rotation: DQuat,
    /// m.
    travelled: f64,
}

/// All bodies, in their order.
#[derive(Default)]
pub struct Travel(Vec<Followed>);

impl Travel {
    /// Adds the motion of the bodies since the last call.
    pub fn follow(&mut self, bodies: &[Body]) {
        let was = |known: &[Followed], at: usize, id: BodyId| match known.get(at) {
            Some(followed) if followed.id == id => Some(*followed),
            _ => known.binary_search_by_key(&id, |followed| followed.id).ok().map(|at| known[at]),
        };
        let before: Vec<Option<Followed>> =
            bodies.iter().enumerate().map(|(at, body)| was(&self.0, at, body.id)).collect();
        let moved =
            |body: &Body, before: &Option<Followed>| before.map(|was| body.state.position - was.position);
        let moving = || bodies.iter().zip(&before).filter(|(body, _)| body.moves());
        let (sum, count) = moving()
            .filter_map(|(body, before)| moved(body, before))
            .fold((DVec3::ZERO, 0u32), |(sum, count), travelled| (sum + travelled, count + 1));
        let common = sum / f64::from(count.max(1));
        let follow = |(body, before): (&Body, &Option<Followed>)| {
            let (position, rotation) = (body.state.position, body.state.rotation);
            let travelled = before.map_or(0.0, |was| {
                let turned = angle_between(rotation, was.rotation);
                was.travelled + (position - was.position - common).length() + turned * body.def.radius()
            });
            Followed { id: body.id, position, rotation, travelled }
        };
        self.0 = bodies.iter().zip(&before).map(follow).collect();
    }

    /// The sum of those of two bodies, by their numbers, m.
    #[must_use]
    pub fn of(&self, [i, j]: [usize; 2]) -> f64 {
        self.0[i].travelled + self.0[j].travelled
    }
}
