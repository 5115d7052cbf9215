//! What moves: a body's definition, its state, and the body in the world.

use super::{MassProperties, collide::octree};
use crate::svo::{Forest, Grid, Slot};
use glam::{DMat3, DMat4, DQuat, DVec3};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Names a body for the life of a world; only the same body, put back, has it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub u32);

/// Names an object and all that it breaks into: pieces inherit it. Whoever makes a body of something new takes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family(pub(super) u64);

impl Family {
    /// One that no other body of this process has.
    #[must_use]
    pub fn unique() -> Self {
        // Only ever compared for equality, so the order in which they are handed out does not matter.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Pose and velocity. World space, metres, seconds; position is that of the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Centre of mass.
    pub position: DVec3,
    /// World from body axes (body axes = grid axes).
    pub rotation: DQuat,
    /// m/s.
    pub linear_velocity: DVec3,
    /// rad/s.
    pub angular_velocity: DVec3,
}

impl BodyState {
    /// At rest at `position`, unturned.
    #[must_use]
    pub fn at(position: DVec3) -> Self {
        Self {
            position,
            rotation: DQuat::IDENTITY,
            linear_velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
        }
    }

    /// Whether every number is one.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite()
            && self.rotation.is_finite()
            && self.linear_velocity.is_finite()
            && self.angular_velocity.is_finite()
    }
}

/// What a body is made of. Several bodies may share one forest (pieces of one fracture) and one slot.
#[derive(Clone, Debug)]
pub struct BodyDef {
    /// The forest.
    pub forest: Arc<Forest>,
    /// Its place on the GPU.
    pub slot: Slot,
    /// Which tree of it.
    pub tree: u32,
    /// The grid in metres (mesh grid times meters_per_unit).
    pub grid: Grid,
    /// Metres for one unit of the mesh.
    pub meters_per_unit: f64,
    /// Bodies of one family with equal grids are pieces of one object: what overlaps where their grids coincide pushes nobody.
    pub family: Family,
    /// From [`super::mass_properties`], so that callers who know it need not sum again.
    pub mass: MassProperties,
    /// kg/m^3.
    pub density: f64,
    /// Coulomb friction.
    pub friction: f64,
    /// Restitution.
    pub restitution: f64,
    /// Never moves.
    pub fixed: bool,
    /// Octree level at which it collides; clamped to the forest's.
    pub physics_level: u32,
    /// Where it starts.
    pub state: BodyState,
}

impl BodyDef {
    /// Whether both are pieces of one object.
    #[must_use]
    pub fn is_sibling(&self, other: &Self) -> bool {
        self.family == other.family && self.grid == other.grid
    }

    /// Grid coordinates (voxels) to world metres for a body in `state`.
    #[must_use]
    pub fn world_from_grid(&self, state: &BodyState) -> DMat4 {
        DMat4::from_scale_rotation_translation(DVec3::splat(self.grid.h), state.rotation, state.position)
            * DMat4::from_translation(-self.mass.centre)
    }

    /// The resting state in which the body lies exactly where its grid says, moved by `world` (a rotation and translation).
    #[must_use]
    pub fn state_in_place(&self, world: DMat4) -> BodyState {
        let (_, rotation, _) = world.to_scale_rotation_translation();
        let in_metres = self.grid.origin + self.grid.h * self.mass.centre;
        BodyState { rotation, ..BodyState::at(world.transform_point3(in_metres)) }
    }

    /// kg. Never zero, even for a body without voxels.
    #[must_use]
    pub fn mass_kg(&self) -> f64 {
        let kg = self.mass.volume * self.grid.h.powi(3) * self.density;
        if kg.is_finite() && kg > 0.0 { kg } else { f64::MIN_POSITIVE.sqrt() }
    }

    /// kg m^2 about the centre of mass, body axes.
    #[must_use]
    pub fn inertia(&self) -> DMat3 {
        let inertia = self.mass.inertia * (self.grid.h.powi(5) * self.density);
        // What has no inertia does not turn.
        if inertia.is_finite() { inertia } else { DMat3::ZERO }
    }

    /// Level at which it collides.
    #[must_use]
    pub fn collision_level(&self) -> u32 {
        self.physics_level.clamp(1, self.forest.level.max(1))
    }

    /// Edge of a cell of the level at which it collides, m.
    #[must_use]
    pub fn resolution_m(&self) -> f64 {
        self.grid.h * f64::from(1u32 << (self.forest.level - self.collision_level()))
    }

    /// Edge of the smallest part of its shape, m: of a voxel.
    #[must_use]
    pub fn grain_m(&self) -> f64 {
        self.grid.h
    }

    /// Whether it has so few voxels that one sample a voxel says little about its shape.
    #[must_use]
    pub fn is_crumb(&self) -> bool {
        self.mass.voxels <= 27
    }

    /// The shortest edge of the box with the same moments, m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        octree::thickness(&self.mass) * self.grid.h
    }

    /// Metres from the centre of mass to the farthest corner of its bounds.
    #[must_use]
    pub fn radius(&self) -> f64 {
        let (low, high) = self.mass.bounds;
        (low - self.mass.centre).abs().max((high - self.mass.centre).abs()).length() * self.grid.h
    }
}

/// A body in the world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub id: BodyId,
    /// What it is made of.
    pub def: BodyDef,
    /// Where it is now.
    pub state: BodyState,
    /// Resting, velocity exactly zero.
    pub asleep: bool,
    /// Taken out of the simulation because its numbers ran away; fixed at the last good pose.
    pub frozen: bool,
    /// How long it has been slow, s.
    pub still_secs: f64,
    /// How long it has touched something and been slow, s; a restored snapshot begins anew.
    pub slow_secs: f64,
    /// Where it was when it was last seen to move.
    pub(super) rest_pose: (DVec3, DQuat),
}

impl Body {
    /// Grid coordinates (voxels) to world metres.
    #[must_use]
    pub fn world_from_grid(&self) -> DMat4 {
        self.def.world_from_grid(&self.state)
    }

    /// Whether anything can push it.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.def.fixed || self.frozen
    }

    /// Whether it moves now.
    #[must_use]
    pub fn moves(&self) -> bool {
        !self.is_static() && !self.asleep
    }

    /// Wakes it.
    pub fn wake(&mut self) {
        self.asleep = false;
        self.still_secs = 0.0;
        self.slow_secs = 0.0;
    }

    /// Inertia about the centre of mass, world axes, kg m^2.
    #[must_use]
    pub fn inertia_in_world(&self) -> DMat3 {
        let r = DMat3::from_quat(self.state.rotation);
        r * self.def.inertia() * r.transpose()
    }
}
