//! The state of all moving bodies at one moment, to be restored.

use super::{
    Body, BodyId, BodyState, Plane, World,
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

impl World {
    /// The state of everything.
    #[must_use]
    pub fn snapshot(&self) -> WorldSnapshot {
        let state = |b: &Body| BodySnapshot {
            id: b.id,
            state: b.state,
            asleep: b.asleep,
            frozen: b.frozen,
            still_secs: b.still_secs,
            slow_secs: b.slow_secs,
            rest_pose: b.rest_pose,
        };
        WorldSnapshot {
            time: self.time,
            bodies: self.bodies.iter().map(state).collect(),
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
        for then in &snapshot.bodies {
            if let Some(body) = self.body_mut(then.id) {
                (body.state, body.asleep, body.frozen) = (then.state, then.asleep, then.frozen);
                body.still_secs = then.still_secs;
                body.slow_secs = then.slow_secs;
                body.rest_pose = then.rest_pose;
            }
        }
    }
}
