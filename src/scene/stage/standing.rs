//! What stood there at one moment, and a stage that is put back to it.
//!
//! In: a stage. Out: a [`Standing`], of which what has not changed since an earlier one is shared with it; and the stage as
//! one says.

use std::sync::Arc;

use super::{BodyInfo, Projectile, Runs, Stage};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState, StepReport},
    shape::Shape,
};

/// Where a body was and how it moved, and whether it slept.
pub(in crate::scene) type Motion = (BodyState, bool);

/// What a body is, whatever it does.
#[derive(Clone)]
struct Known {
    id: BodyId,
    /// Its start is any.
    def: BodyDef,
    info: BodyInfo,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.info) == (other.id, other.info) && self.def.is_like(&other.def)
    }
}

/// What stood there at one moment. What has not changed since an earlier one is shared with it.
#[derive(Clone, Default)]
pub(in crate::scene) struct Standing {
    bodies: Runs<Known>,
    /// As many as bodies, in the same order.
    motions: Runs<Motion>,
    projectiles: Runs<Arc<Projectile>>,
    time: f64,
}

impl Standing {
    /// Memory of it that `other` does not share, bytes; octrees are not counted.
    pub fn bytes_beside(&self, other: Option<&Self>) -> usize {
        let projectiles = other.map(|other| &other.projectiles);
        self.bodies.bytes_beside(other.map(|other| &other.bodies))
            + self.motions.bytes_beside(other.map(|other| &other.motions))
            + self.projectiles.bytes_beside(projectiles)
            + self.projectiles.beside(projectiles, Arc::ptr_eq).count() * size_of::<Projectile>()
    }

    /// The names of its bodies, ascending.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> {
        self.bodies.iter().map(|body| body.id)
    }

    /// The names of its bodies with their shapes, in their order.
    pub fn shapes(&self) -> impl Iterator<Item = (BodyId, &Arc<Shape>)> {
        self.bodies.iter().map(|body| (body.id, &body.def.shape))
    }

    /// The first body of an object: what it was, and where.
    pub fn body_of(&self, object: usize) -> Option<BodyDef> {
        let mut all = self.bodies.iter().zip(self.motions.iter());
        let (body, (state, _)) = all.find(|(body, _)| body.info.object == object)?;
        Some(BodyDef { state: *state, ..body.def.clone() })
    }

    /// Of bodies that nothing else is known of.
    #[cfg(test)]
    pub fn of(bodies: &[Body]) -> Self {
        let known = |b: &Body| Known { id: b.id, def: b.def.clone(), info: BodyInfo::default() };
        Self {
            bodies: Runs::of(bodies.iter().map(known), None),
            motions: Runs::of(motions(bodies), None),
            ..Self::default()
        }
    }
}

/// How bodies move, in their order.
pub(in crate::scene) fn motions(bodies: &[Body]) -> impl Iterator<Item = Motion> {
    bodies.iter().map(|body| (body.state, body.asleep))
}

impl Stage {
    /// What stands there now; what stood so in `like` is shared with it.
    pub fn standing(&self, like: Option<&Standing>) -> Standing {
        let known = |b: &Body| Some(Known { id: b.id, def: b.def.clone(), info: *self.info.get(&b.id)? });
        let bodies = &self.world.bodies;
        Standing {
            bodies: Runs::of(bodies.iter().filter_map(known), like.map(|like| &like.bodies)),
            motions: Runs::of(motions(bodies), like.map(|like| &like.motions)),
            projectiles: Runs::of_same(&self.projectiles, like.map(|like| &like.projectiles)),
            time: self.time,
        }
    }

    /// Puts back what stood there, under the old names, so that a pinned impact finds its body again. Nothing
    /// is held.
    pub fn put_back(&mut self, standing: &Standing) {
        self.world.drag = None;
        self.clear_bodies();
        for (body, (state, asleep)) in standing.bodies.iter().zip(standing.motions.iter()) {
            let id = self.world.add_as(body.id, BodyDef { state: *state, ..body.def.clone() });
            if let Some(new) = self.world.body_mut(id) {
                new.asleep = *asleep;
            }
            self.info.insert(id, body.info);
        }
        self.hold_what_is_locked();
        self.projectiles = standing.projectiles.iter().cloned().collect();
        self.time = standing.time;
        self.last_step = StepReport::default();
        self.revision += 1;
    }

    /// Lets everything stand here as it stands there, but those objects whole that `whole` has, as they were. Settings and
    /// levels of pairs are those of there; what is still to be thrown is not taken over, nor octrees.
    pub fn stand_as(&mut self, there: &Self, whole: &[(usize, BodyDef)]) {
        self.clear();
        self.look_for_contacts(there.narrow);
        self.world.settings = there.world.settings.clone();
        self.world.pair_levels = there.world.pair_levels.clone();
        self.world.eye = there.world.eye;
        (self.time, self.next_color) = (there.time, there.next_color);
        for body in &there.world.bodies {
            let info = there.info_or_whole(body.id);
            if whole.iter().any(|(object, _)| *object == info.object) {
                continue;
            }
            let id = self.world.add_as(body.id, BodyDef { state: body.state, ..body.def.clone() });
            if let Some(new) = self.world.body_mut(id) {
                new.asleep = body.asleep;
            }
            self.info.insert(id, info);
        }
        // Names of what is not taken over are free for others here.
        let known =
            there.statuses.iter().filter(|(id, _)| self.info.contains_key(id)).map(|(id, s)| (*id, *s));
        self.statuses = Arc::new(known.collect());
        for (object, def) in whole {
            let id = self.world.add(def.clone());
            let info = BodyInfo { object: *object, color_id: *object as u32, ..BodyInfo::default() };
            self.info.insert(id, info);
        }
        self.hold_what_is_locked();
    }

    /// Moves the bodies, in their order, to where they were at `time` (s), asleep or not. Nothing is held.
    pub fn go_to(&mut self, time: f64, motions: &Runs<Motion>) {
        self.world.drag = None;
        for (body, (state, asleep)) in self.world.bodies.iter_mut().zip(motions.iter()) {
            (body.state, body.asleep) = (*state, *asleep);
            (body.still_secs, body.slow_secs) = (0.0, 0.0);
        }
        self.hold_what_is_locked();
        self.time = time;
        self.last_step = StepReport { time, ..StepReport::default() };
        self.revision += 1;
    }
}
