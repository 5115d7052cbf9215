//! Gravity, time step, planes, and which methods find and answer contacts.

use super::{Adaptive, ContactsId, Options, Plane, ResponseId, Walls};
use crate::{compute::Choice, gpu::Gpu};
use glam::DVec3;

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
