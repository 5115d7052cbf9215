//! Gravity, time step, planes, and which methods find and answer contacts.

use super::{Adaptive, ContactsId, Options, Plane, ResponseId, Walls};
use crate::{
    compute::Choice,
    gpu::Gpu,
    parameter::{Parameter, parameters},
};
use glam::DVec3;

parameters! {
    /// Downward gravity, m/s^2.
    pub GRAVITY = Parameter::number("Gravity", (-1e4, 1e4), "Downward pull; the Earth's is 9.8").slider(0.0, 25.0)
        .unit(" m/s²", 1).undo("gravity");
    /// Time step, s.
    pub DT = Parameter::number("Time step", (1e-5, 0.1), "time step").unit("s", 3);
    /// Solver substeps in a step.
    pub SUBSTEPS = Parameter::whole("Substeps", (1.0, 64.0), "solver substeps in one step");
    /// Octree level of contacts.
    pub PHYSICS_LEVEL = Parameter::whole("Contact level", (1.0, crate::svo::MAX_LEVEL as f64), "Octree level at \
         which things touch; lower is faster, higher is more exact").undo("contact level").at("physics_level")
        .unset("level - 1").more("at most `level`; pieces thinner than a cell of it collide at a finer one");
    /// Density, kg/m^3.
    pub DENSITY = Parameter::number("Density", (1e-3, 1e6), "Mass of a cubic metre: wood 500, plaster 1100, glass \
         2500").logarithmic(10.0, 20_000.0).unit("kg/m³", 0).undo("density");
    /// Coulomb friction coefficient.
    pub FRICTION = Parameter::number("Friction", (0.0, 10.0), "Coulomb coefficient: 0 slides like ice, 1 grips like \
         rubber").slider(0.0, 1.5).undo("friction");
    /// Restitution.
    pub RESTITUTION = Parameter::number("Bounce", (0.0, 1.0), "Restitution: share of the speed that comes back")
        .slider(0.0, 0.95).undo("bounce");
    /// Rolling resistance.
    pub ROLLING_RESISTANCE = Parameter::number("Rolling", (0.0, 1.0), "0 rolls on like a billiard ball, 1 stops \
         soon: torque, as a share of half the thickness times the load").undo("rolling")
        .more("[how](physics.md#rolling-resistance)");
}

/// Which implementation looks for contacts. Both give the same ones, but for what rounding decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Narrow {
    /// Compute passes, but the CPU where the adapter is only software.
    #[default]
    Auto,
    /// Compute passes.
    Gpu,
    /// The CPU, on all cores.
    Cpu,
}

impl Narrow {
    /// Whether the compute passes of this adapter do it.
    #[must_use]
    pub fn wants(self, gpu: &Gpu) -> bool {
        match self {
            Self::Auto => !gpu.is_software(),
            Self::Gpu => true,
            Self::Cpu => false,
        }
    }
}

impl From<Choice> for Narrow {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Auto => Self::Auto,
            Choice::Gpu => Self::Gpu,
            Choice::Cpu => Self::Cpu,
        }
    }
}

/// Gravity, time step, floor.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldSettings {
    /// m/s^2.
    pub gravity: DVec3,
    /// Time step, s.
    pub dt: f64,
    /// Substeps a step.
    pub substeps: u32,
    /// Height of the floor plane (y up), or none.
    pub floor: Option<f64>,
    /// A box that nothing leaves, or none.
    pub walls: Option<Walls>,
    /// How contacts are found.
    pub contacts: ContactsId,
    /// How contacts are answered.
    pub response: ResponseId,
    /// Values of the options of the generator and the response.
    pub options: Options,
    /// Coarser levels far from [`World::eye`](crate::World::eye); none: levels stay.
    pub adaptive: Option<Adaptive>,
    /// Whether bodies at rest may sleep.
    pub sleeping: bool,
    /// Who looks for contacts.
    pub narrow: Narrow,
    /// Whether each step measures the volume that bodies share, which takes about as long as looking for contacts.
    pub measure_volume: bool,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            gravity: DVec3::new(0.0, -9.81, 0.0),
            dt: 0.01,
            substeps: 8,
            floor: Some(0.0),
            walls: None,
            contacts: ContactsId::default(),
            response: ResponseId::default(),
            options: Options::default(),
            adaptive: None,
            sleeping: true,
            narrow: Narrow::Auto,
            measure_volume: false,
        }
    }
}

impl WorldSettings {
    /// Settings with which a step is defined: a user may type anything.
    #[must_use]
    pub fn sane(&self) -> Self {
        let mut settings = self.clone();
        settings.dt = if settings.dt.is_finite() { settings.dt.clamp(1e-6, 0.1) } else { 0.01 };
        settings.substeps = settings.substeps.clamp(1, 64);
        if !settings.gravity.is_finite() {
            settings.gravity = DVec3::ZERO;
        }
        settings.floor = settings.floor.filter(|height| height.is_finite());
        settings.walls = settings.walls.filter(Walls::is_sound);
        settings
    }

    /// The floor first, if there is one, then the walls. A bottom at or below the floor is left out.
    #[must_use]
    pub fn planes(&self) -> Vec<Plane> {
        let mut out = Vec::new();
        let floor = self.floor.filter(|height| height.is_finite());
        out.extend(floor.map(|offset| Plane { normal: DVec3::Y, offset }));
        if let Some(walls) = self.walls.filter(Walls::is_sound) {
            for (axis, normal) in DVec3::AXES.into_iter().enumerate() {
                if axis != 1 || floor.is_none_or(|height| height < walls.low.y) {
                    out.push(Plane { normal, offset: walls.low[axis] });
                }
                out.push(Plane { normal: -normal, offset: -walls.high[axis] });
            }
        }
        out
    }
}
