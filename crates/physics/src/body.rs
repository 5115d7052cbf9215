//! A body's definition, its state, and the body in the world.

use crate::{
    shape::{Octree, Shape},
    structure::Structure,
    svo::{Grid, Key, Leaves, MAX_LEVEL, build},
};
use glam::{DMat3, DMat4, DQuat, DVec3};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

/// Id of a body, unique for the life of a world; only the same body, restored, gets its id again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub u32);

/// Where a body is among `bodies`, which are in ascending order of name.
#[must_use]
pub fn index_of(bodies: &[Body], id: BodyId) -> Option<usize> {
    // Ids are assigned in turn, and pieces get successive ids, so the guess by difference of ids is mostly right.
    let first = bodies.first()?.id;
    let far = (id.0.checked_sub(first.0)? as usize).min(bodies.len() - 1);
    if bodies[far].id == id {
        return Some(far);
    }
    bodies[..far].binary_search_by(|body| body.id.cmp(&id)).ok()
}

/// Id of an object and all its pieces: pieces inherit it. A body made of something new gets a new family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family(pub(super) u64);

impl Family {
    /// A family id that is unique within this process.
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
    /// Velocity of the centre of mass, m/s.
    pub linear_velocity: DVec3,
    /// Angular velocity, rad/s.
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

/// A body before it is in a world: its shape, what it is like to touch, and where it starts.
#[derive(Clone, Debug)]
pub struct BodyDef {
    /// Its shape. Several bodies may share parts of it (pieces of one fracture share a forest).
    pub shape: Arc<Shape>,
    /// Metres for one unit of the mesh that the object was imported from.
    pub meters_per_unit: f64,
    /// Longest side of the unbroken object that it is or was a part of, m: tolerances of speed, depth and time scale
    /// with it, not with the size of a crumb.
    pub object_size_m: f64,
    /// Bodies of one family with equal grids are pieces of one object: overlap where their grids coincide causes no
    /// contact.
    pub family: Family,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Resistance to rolling: the torque for a newton of load, as a share of half the thickness (m). A contact of two
    /// bodies uses the geometric mean, as for friction; at most a cell of thickness counts.
    pub rolling_resistance: f64,
    /// The body never moves.
    pub fixed: bool,
    /// Octree level for collision; clamped to the forest's.
    pub physics_level: u32,
    /// What holds its parts together, if it is made of parts.
    pub structure: Option<Arc<Structure>>,
    /// State at the start.
    pub state: BodyState,
}

impl BodyDef {
    /// Whether everything but the state is equal; shapes and structures are compared by address.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let Self {
            shape,
            meters_per_unit,
            object_size_m,
            family,
            friction,
            restitution,
            rolling_resistance,
            fixed,
            physics_level,
            structure,
            state: _,
        } = other;
        Arc::ptr_eq(&self.shape, shape)
            && (self.meters_per_unit, self.object_size_m) == (*meters_per_unit, *object_size_m)
            && (self.friction, self.restitution) == (*friction, *restitution)
            && self.rolling_resistance == *rolling_resistance
            && (self.family, self.fixed, self.physics_level) == (*family, *fixed, *physics_level)
            && self.structure.as_ref().map(Arc::as_ptr) == structure.as_ref().map(Arc::as_ptr)
    }

    /// Its octree; for a shape without one, an empty octree, which touches nothing.
    #[must_use]
    pub fn octree(&self) -> &Octree {
        self.shape.as_octree().unwrap_or_else(|| nothing())
    }

    /// Gives it another density, kg/m^3.
    pub fn set_density(&mut self, density: f64) {
        self.shape = Arc::new(self.shape.with_density(density));
    }

    /// Transform of the geometry's own coordinates (voxels of an octree) to world metres for a body in `state`.
    #[must_use]
    pub fn world_from_grid(&self, state: &BodyState) -> DMat4 {
        self.shape.world_from_local(state.position, state.rotation)
    }

    #[cfg(any(test, feature = "testing"))]
    /// The resting state in which the body lies exactly where its shape space says, moved by `world` (a
    /// rotation and translation).
    #[must_use]
    pub fn state_in_place(&self, world: DMat4) -> BodyState {
        let (_, rotation, _) = world.to_scale_rotation_translation();
        BodyState { rotation, ..BodyState::at(world.transform_point3(self.shape.mass().centre)) }
    }

    /// kg. Never zero, even for a body without voxels.
    #[must_use]
    pub fn mass_kg(&self) -> f64 {
        self.shape.mass_kg()
    }

    /// kg m^2 about the centre of mass, body axes.
    #[must_use]
    pub fn inertia(&self) -> DMat3 {
        self.shape.inertia()
    }

    /// Level at which it collides: an octree's own, so far as it has that level.
    #[must_use]
    pub fn collision_level(&self) -> u32 {
        let finest = self.shape.as_octree().map_or(MAX_LEVEL, Octree::level);
        self.physics_level.clamp(1, finest.max(1))
    }

    /// Size of its collision cells, m: the edge of a cell of its collision level. A shape without cells counts as if
    /// its bounding sphere lay in a grid of that level.
    #[must_use]
    pub fn resolution_m(&self) -> f64 {
        let level = self.collision_level();
        match self.shape.as_octree() {
            Some(octree) => octree.cell_size(level),
            None => 2.0 * self.radius() / f64::from(1u32 << level),
        }
    }

    /// Whether it has so few voxels that one sample per voxel says little about its shape.
    #[must_use]
    pub fn is_crumb(&self) -> bool {
        self.shape.as_octree().is_some_and(|octree| octree.mass.voxels <= 27)
    }

    /// Edge of the smallest part of its shape, m: of a voxel; 0 for a shape without such parts.
    #[must_use]
    pub fn grain_m(&self) -> f64 {
        self.shape.as_octree().map_or(0.0, |octree| octree.grid.h)
    }

    /// The shortest edge of the box with the same moments, m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.shape.thickness()
    }

    /// Metres from the centre of mass to the farthest corner of its bounds.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.shape.radius()
    }
}

/// The empty octree of shapes that have none.
fn nothing() -> &'static Octree {
    static NOTHING: OnceLock<Octree> = OnceLock::new();
    NOTHING.get_or_init(|| {
        let forest = Arc::new(build(1, Leaves::default(), &|_: Key, _: u32| false));
        Octree::new(&forest, 0, Grid { level: 1, origin: DVec3::ZERO, h: 1.0 })
    })
}

/// A body in the world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its id.
    pub id: BodyId,
    /// Its definition.
    pub def: BodyDef,
    /// Its current state.
    pub state: BodyState,
    /// Resting, velocity exactly zero.
    pub asleep: bool,
    /// Removed from the simulation because its state got invalid numbers; fixed at the last valid pose.
    pub frozen: bool,
    /// Locked in place by the user: it does not move, as if it were fixed.
    pub locked: bool,
    /// How long it has been slow, s.
    pub still_secs: f64,
    /// Time for which it has touched something and been slow, s; restoring a snapshot resets it.
    pub slow_secs: f64,
    /// Pose at which it was last seen to move.
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
        self.def.fixed || self.frozen || self.locked
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

    /// Energy of its motion, J.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let linear = self.def.mass_kg() * self.state.linear_velocity;
        let spin = self.inertia_in_world() * self.state.angular_velocity;
        0.5 * (linear.dot(self.state.linear_velocity) + spin.dot(self.state.angular_velocity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        WorldSettings,
        testing::{block, body, grid, world},
    };

    #[test]
    fn bodies_are_found_by_name_where_some_are_gone() {
        let forest = Arc::new(block(4, [4; 3], [12; 3]));
        let mut w = world(WorldSettings::default());
        let ids: Vec<BodyId> =
            (0..12).map(|_| w.add(body(&forest, 0, grid(4, 1.0), 4, DVec3::ZERO))).collect();
        for gone in [[0, 1, 2], [5, 6, 9], [11, 3, 10]].concat() {
            w.bodies.retain(|body| body.id != ids[gone]);
            for id in &ids {
                let at = w.bodies.iter().position(|body| body.id == *id);
                assert_eq!(index_of(&w.bodies, *id), at, "{id:?}");
            }
            assert_eq!(index_of(&w.bodies, BodyId(1 << 30)), None);
        }
        assert_eq!(index_of(&[], ids[0]), None);
    }
}
