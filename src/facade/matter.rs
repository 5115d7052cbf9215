//! What bodies are made of and like to touch.

use std::sync::Arc;

use glam::DVec3;

use super::{Object, Pieces};
use crate::{
    bodies::{BodyDef, BodyState, Family},
    scene::SceneBody,
    shape::Shape,
};

/// What bodies are made of and like to touch. The defaults are those of scene files. One unit of the mesh is a metre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matter {
    /// kg/m^3.
    pub density: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Share of the speed with which bodies rebound, 0 to 1.
    pub restitution: f64,
    /// Torque against rolling for a newton of load, as a share of half the thickness.
    pub rolling_resistance: f64,
    /// Octree level at which bodies collide (2016, sec. 5.1); `None`: one coarser than the leaves.
    pub physics_level: Option<u32>,
    /// Whether bodies never move.
    pub fixed: bool,
}

impl Default for Matter {
    fn default() -> Self {
        let SceneBody { density, friction, restitution, rolling_resistance, physics_level, fixed, .. } =
            SceneBody::default();
        Self { density, friction, restitution, rolling_resistance, physics_level, fixed }
    }
}

impl Matter {
    /// A body at rest of a shape of `object`, moved by `shift` from where the mesh has it.
    pub(super) fn body(&self, shape: &Shape, object: &Object, family: Family, shift: DVec3) -> BodyDef {
        let shape = Arc::new(shape.with_density(self.density));
        BodyDef {
            meters_per_unit: 1.0,
            object_size_m: object.bounds.size().max_element(),
            family,
            friction: self.friction,
            restitution: self.restitution,
            rolling_resistance: self.rolling_resistance,
            fixed: self.fixed,
            physics_level: self.physics_level.unwrap_or(object.grid.level.saturating_sub(1).max(1)),
            structure: None,
            state: BodyState::at(shape.mass().centre + shift),
            shape,
        }
    }
}

impl Object {
    /// A body of the whole object, moved by `shift` (m) from where the mesh has it. [`Object::on_floor`] gives a shift.
    #[must_use]
    pub fn body(&self, matter: &Matter, shift: DVec3) -> BodyDef {
        matter.body(&self.shape, self, Family::unique(), shift)
    }

    /// The shift that stands the object on a floor of this height, with the middle of its bounds over the origin.
    #[must_use]
    pub fn on_floor(&self, height: f64) -> DVec3 {
        let bounds = self.mass.bounds.placed(|p| self.grid.origin + self.grid.h * p);
        let middle = bounds.middle();
        DVec3::new(-middle.x, height - bounds.low.y, -middle.z)
    }
}

impl Pieces {
    /// A body at rest of piece number `id`, moved by `shift` (m) from where the mesh has it. Bodies of one `family` do not
    /// push each other where they overlap as they broke.
    #[must_use]
    pub fn body(&self, id: usize, matter: &Matter, family: Family, shift: DVec3) -> Option<BodyDef> {
        Some(matter.body(self.get(id)?.shape(), self.object(), family, shift))
    }

    /// A body at rest of each piece, in the order of the pieces, moved by `shift` (m) from where the mesh has it. The
    /// bodies are one family: where they overlap as they broke, they do not push each other.
    ///
    /// ```
    /// use kintsugi::{Fracture, Matter, Object, World, WorldSettings};
    ///
    /// let column = Object::open("builtin:column", 4)?;
    /// let pieces = column.fracture(&Fracture::new().cells(4))?;
    /// let mut world = World::on_cpu(WorldSettings::default());
    /// for body in pieces.bodies(&Matter::default(), column.on_floor(0.5)) {
    ///     world.add(body);
    /// }
    /// let report = world.step_on_cpu();
    /// assert!(report.awake > 0 && world.time() == 0.01);
    /// # Ok::<(), kintsugi::Error>(())
    /// ```
    #[must_use]
    pub fn bodies(&self, matter: &Matter, shift: DVec3) -> Vec<BodyDef> {
        let family = Family::unique();
        self.iter().map(|piece| matter.body(piece.shape(), self.object(), family, shift)).collect()
    }
}
