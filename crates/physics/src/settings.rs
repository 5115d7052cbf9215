//! Gravity, time step, planes, and which methods find and answer contacts.

use super::{Adaptive, ContactMethod, FIELD_LEVEL, MAX_FIELD_LEVEL, Penalty, Response, Walls};
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
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
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
    pub contacts: ContactMethod,
    /// How contacts are answered.
    pub response: Response,
    /// Octree level of the cells of distance fields, 1..=7, unless a body collides at a coarser one.
    pub field_level: u32,
    /// Constants of [`Response::PENALTY`].
    pub penalty: Penalty,
    /// Coarser levels far from [`World::eye`]; none: levels stay.
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
            contacts: ContactMethod::default(),
            response: Response::default(),
            field_level: FIELD_LEVEL,
            penalty: Penalty::default(),
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
    pub fn sane(self) -> Self {
        let mut settings = self;
        let finite = |v: f64, fallback: f64| if v.is_finite() { v } else { fallback };
        settings.dt = finite(settings.dt, 0.01).clamp(1e-6, 0.1);
        settings.substeps = settings.substeps.clamp(1, 64);
        settings.field_level = settings.field_level.clamp(1, MAX_FIELD_LEVEL);
        if !settings.gravity.is_finite() {
            settings.gravity = DVec3::ZERO;
        }
        settings.floor = settings.floor.filter(|height| height.is_finite());
        settings.walls = settings.walls.filter(Walls::is_sound);
        settings.penalty.stiffness = finite(settings.penalty.stiffness, 0.0).max(0.0);
        settings.penalty.friction = finite(settings.penalty.friction, 0.0).max(0.0);
        settings
    }
}
