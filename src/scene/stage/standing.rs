//! Snapshots of a stage, and restoring them.
//!
//! In: a stage. Out: a [`Standing`], which shares unchanged parts with an earlier one; and a stage restored from one.

use std::sync::Arc;

use super::{BodyInfo, Projectile, Runs, Stage};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState, StepReport},
    shape::Shape,
};

/// How a body moves at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::scene) struct Motion {
    /// Pose and velocities.
    pub state: BodyState,
    asleep: bool,
    /// Whether its numbers ran away, so that it stands still ever since.
    frozen: bool,
}

impl Motion {
    fn of(body: &Body) -> Self {
        Self { state: body.state, asleep: body.asleep, frozen: body.frozen }
    }

    /// Gives a body this motion, as if it had rested for no time.
    fn give(&self, body: &mut Body) {
        (body.state, body.asleep, body.frozen) = (self.state, self.asleep, self.frozen);
        (body.still_secs, body.slow_secs) = (0.0, 0.0);
    }
}

/// Properties of a body that do not depend on its motion.
#[derive(Clone)]
struct Known {
    id: BodyId,
    /// The initial state in it is unused.
    def: BodyDef,
    info: BodyInfo,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.info) == (other.id, other.info) && self.def.is_like(&other.def)
    }
}

/// A snapshot of a stage. It shares unchanged parts with earlier snapshots.
#[derive(Clone, Default)]
pub(in crate::scene) struct Standing {
    bodies: Runs<Known>,
    /// Motions of the bodies, in the same order.
    motions: Runs<Motion>,
    projectiles: Runs<Arc<Projectile>>,
    time: f64,
}

impl Standing {
    /// Memory not shared with `other`, without octrees, bytes.
    pub fn bytes_beside(&self, other: Option<&Self>) -> usize {
        let projectiles = other.map(|other| &other.projectiles);
        self.bodies.bytes_beside(other.map(|other| &other.bodies))
            + self.motions.bytes_beside(other.map(|other| &other.motions))
            + self.projectiles.bytes_beside(projectiles)
            + self.projectiles.beside(projectiles, Arc::ptr_eq).count() * size_of::<Projectile>()
    }

    /// The ids of its bodies, ascending.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> {
        self.bodies.iter().map(|body| body.id)
    }

    /// Whether it has just these bodies, with the structures that they have.
    pub fn has_bodies(&self, bodies: &[Body]) -> bool {
        let structures = |a: &Known, b: &Body| match (&a.def.structure, &b.def.structure) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let mut others = bodies.iter();
        self.bodies.iter().all(|a| others.next().is_some_and(|b| a.id == b.id && structures(a, b)))
            && others.next().is_none()
    }

    /// The ids of its bodies with their shapes, in their order.
    pub fn shapes(&self) -> impl Iterator<Item = (BodyId, &Arc<Shape>)> {
        self.bodies.iter().map(|body| (body.id, &body.def.shape))
    }

    /// Its bodies and what the stage knew of them, in their order. The initial states in the definitions are unused.
    pub fn known(&self) -> impl Iterator<Item = (BodyId, &BodyDef, &BodyInfo)> {
        self.bodies.iter().map(|body| (body.id, &body.def, &body.info))
    }

    /// What the stage knew of its bodies.
    pub fn infos(&self) -> impl Iterator<Item = &BodyInfo> {
        self.bodies.iter().map(|body| &body.info)
    }

    /// The first body of an object in its state at that time.
    pub fn body_of(&self, object: usize) -> Option<BodyDef> {
        let mut all = self.bodies.iter().zip(self.motions.iter());
        let (body, motion) = all.find(|(body, _)| body.info.object == object)?;
        Some(BodyDef { state: motion.state, ..body.def.clone() })
    }

    /// A snapshot of bodies without further data.
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

/// Motions of bodies, in their order.
pub(in crate::scene) fn motions(bodies: &[Body]) -> impl Iterator<Item = Motion> {
    bodies.iter().map(Motion::of)
}

impl Stage {
    /// A snapshot of the stage, which shares unchanged parts with `like`.
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

    /// Restores a snapshot, with the old ids, so that a pinned impact finds its body again. Nothing is grabbed.
    pub fn put_back(&mut self, standing: &Standing) {
        self.world.drag = None;
        self.clear_bodies();
        for (body, motion) in standing.bodies.iter().zip(standing.motions.iter()) {
            let id = self.world.add_as(body.id, BodyDef { state: motion.state, ..body.def.clone() });
            if let Some(new) = self.world.body_mut(id) {
                motion.give(new);
            }
            self.info.insert(id, body.info);
        }
        self.hold_what_is_locked();
        self.projectiles = standing.projectiles.iter().cloned().collect();
        self.time = standing.time;
        self.last_step = StepReport::default();
        self.revision += 1;
    }

    /// Copies the bodies of the stage `there`, except that the objects in `whole` are whole and in the given states.
    /// Settings and pair levels are copied, too; bodies still to be thrown and octrees are not.
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
                (new.asleep, new.frozen) = (body.asleep, body.frozen);
            }
            self.info.insert(id, info);
        }
        // Ids of bodies that are not copied may be given to others here, which must not get their statuses.
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

    /// Sets the bodies' states, in their order, to those at `time` (s). Nothing is grabbed.
    pub fn go_to(&mut self, time: f64, motions: &Runs<Motion>) {
        self.world.drag = None;
        self.world.forget_loads();
        for (body, motion) in self.world.bodies.iter_mut().zip(motions.iter()) {
            motion.give(body);
        }
        self.hold_what_is_locked();
        self.time = time;
        self.last_step = StepReport { time, ..StepReport::default() };
        self.revision += 1;
    }
}
