//! Bodies for measurements without a scene.

use std::sync::Arc;

use glam::DVec3;

use crate::{
    bodies::{BodyDef, BodyState, Family},
    shape::Shape,
};

/// A body that rests with its centre of mass at a place, m, and collides at this level.
pub fn resting(shape: &Arc<Shape>, physics_level: u32, position: DVec3) -> BodyDef {
    BodyDef {
        shape: Arc::clone(shape),
        meters_per_unit: 1.0,
        object_size_m: 2.0 * shape.radius(),
        family: Family::unique(),
        friction: 0.5,
        restitution: 0.0,
        rolling_resistance: 0.0,
        fixed: false,
        physics_level,
        structure: None,
        state: BodyState::at(position),
    }
}
