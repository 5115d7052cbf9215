//! The state of all moving bodies at one moment, to be restored; and what a step that fails puts back.

use super::{
    Body, BodyId, BodyState, Drag, Plane, World,
    collide::{GeneratorMemories, Manifold},
    structure_step::Memories,
};
use glam::{DQuat, DVec3};

/// Poses, velocities and sleep of all bodies at one moment, and their contacts.
#[derive(Clone, Debug)]
pub struct WorldSnapshot {
    time: f64,
    bodies: Vec<BodySnapshot>,
    manifolds: Vec<Manifold>,
    structures: Memories,
    planes: Vec<Plane>,
    generators: GeneratorMemories,
}

#[derive(Clone, Debug, PartialEq)]
struct BodySnapshot {
    id: BodyId,
    state: BodyState,
    asleep: bool,
    frozen: bool,
    still_secs: f64,
    slow_secs: f64,
    rest_pose: (DVec3, DQuat),
}

impl BodySnapshot {
    fn of(b: &Body) -> Self {
        Self {
            id: b.id,
            state: b.state,
            asleep: b.asleep,
            frozen: b.frozen,
            still_secs: b.still_secs,
            slow_secs: b.slow_secs,
            rest_pose: b.rest_pose,
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How many snapshots this thread has made.
    pub static COPIES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl World {
    /// The state of everything.
    #[must_use]
    pub fn snapshot(&self) -> WorldSnapshot {
        #[cfg(test)]
        COPIES.set(COPIES.get() + 1);
        WorldSnapshot {
            time: self.time,
            bodies: self.bodies.iter().map(BodySnapshot::of).collect(),
            manifolds: self.manifolds.clone(),
            structures: self.structure_memories.clone(),
            planes: self.planes.clone(),
            generators: self.generators.memories(),
        }
    }

    /// Restores the bodies that still exist; other bodies stay unchanged.
    pub fn restore(&mut self, snapshot: &WorldSnapshot) {
        self.time = snapshot.time;
        self.manifolds.clone_from(&snapshot.manifolds);
        self.structure_memories.clone_from(&snapshot.structures);
        self.planes.clone_from(&snapshot.planes);
        self.generators.recall(&snapshot.generators);
        self.put_back(&snapshot.bodies);
    }

    fn put_back(&mut self, bodies: &[BodySnapshot]) {
        for then in bodies {
            if let Some(body) = self.body_mut(then.id) {
                (body.state, body.asleep, body.frozen) = (then.state, then.asleep, then.frozen);
                body.still_secs = then.still_secs;
                body.slow_secs = then.slow_secs;
                body.rest_pose = then.rest_pose;
            }
        }
    }
}

/// What a step puts back if it fails. Bodies are cheap to copy. The contacts are not, nor is what generators know of
/// them: with a thousand pieces in free fall the copy took a sixth of the step. So they are copied only where the step
/// may still fail after it has replaced them.
pub(super) struct BeforeStep {
    bodies: Vec<BodySnapshot>,
    drag: Option<Drag>,
    contacts: OldContacts,
}

/// The contacts of the step before.
enum OldContacts {
    /// They are still those of the world.
    InPlace,
    /// The step replaces them.
    Copied(Box<WorldSnapshot>),
    /// The step replaces them, and there is no copy.
    Gone,
}

impl BeforeStep {
    /// At the start of a step, before any body changes.
    pub fn new(world: &World) -> Self {
        let bodies = world.bodies.iter().map(BodySnapshot::of).collect();
        Self { bodies, drag: world.drag, contacts: OldContacts::InPlace }
    }

    /// To be called before the step replaces the contacts of `world`; `copy`: whether it may fail afterwards.
    pub fn replace_contacts(&mut self, world: &World, copy: bool) {
        self.contacts = match copy {
            true => OldContacts::Copied(Box::new(world.snapshot())),
            false => OldContacts::Gone,
        };
    }

    /// Puts the world back. Contacts of which there is no copy are forgotten, and all bodies wake, to find them anew.
    pub fn put_back(self, world: &mut World) {
        if let OldContacts::Copied(then) = &self.contacts {
            world.restore(then);
        }
        world.put_back(&self.bodies);
        world.drag = self.drag;
        if matches!(self.contacts, OldContacts::Gone) {
            world.manifolds.clear();
            world.generators.recall(&GeneratorMemories::default());
            world.wake_all();
        }
    }
}
