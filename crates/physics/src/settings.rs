//! Gravity, time step, planes, and which methods find and answer contacts.
//!
//! Names of the generator and the response that settings choose. [`super::generators`] and [`super::solvers`] are the
//! tables that the names are read from.
//!
//! # Numbers that a generator or a response lets its user choose, beyond the settings that all share

use std::collections::BTreeMap;

use glam::DVec3;

use super::{Adaptive, Plane, Walls};
use crate::{
    compute::Choice,
    fracture::MethodOption,
    gpu::Gpu,
    parameter::{Parameter, parameters},
};

parameters! {
    /// Downward gravity, m/s^2.
    pub GRAVITY = Parameter::number("Gravity", (-1e4, 1e4), "Downward pull; the Earth's is 9.8").slider(0.0, 25.0)
        .unit(" m/s²", 1).undo("gravity");
    /// Time step, s.
    pub DT = Parameter::number("Time step", (1e-5, 0.1), "time step").unit("s", 3);
    /// Solver substeps in a step.
    pub SUBSTEPS = Parameter::whole("Substeps", (1.0, 64.0), "solver substeps in one step");
    /// Octree level of contacts.
    pub PHYSICS_LEVEL = Parameter::whole("Contact level", (1.0, crate::svo::MAX_LEVEL as f64), "How finely things \
         feel each other. Lower is faster; raise it if pieces sink in or hover").undo("contact level")
        .at("physics_level").unset("level - 1")
        .more("the octree level of contacts, at most `level`; pieces thinner than a cell of it collide at a finer one");
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

/// Which implementation looks for contacts, and answers those of large heaps. Contacts are the same, but for what
/// rounding decides; a device solves the pairs of a heap in another order.
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
    /// Who looks for contacts, and answers those of large heaps.
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

/// Names the generator that looks at all pairs of kinds that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactsId(pub(super) &'static str);

/// Names a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseId(pub(super) &'static str);

impl ResponseId {
    /// Soft constraints in substeps, the default.
    pub const SOFT: Self = Self("soft");
    /// Sequential impulses.
    pub const IMPULSE: Self = Self("impulse");
}

/// Values of options by name. An option without a value has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(BTreeMap<&'static str, f64>);

impl Options {
    /// Sets a value.
    pub fn set(&mut self, option: &MethodOption, value: f64) {
        self.0.insert(option.name, value);
    }

    /// The value of an option, within the range of the option.
    #[must_use]
    pub fn value(&self, option: &MethodOption) -> f64 {
        let (low, high) = option.range;
        let value = self.0.get(option.name).copied().filter(|value| value.is_finite());
        let value = value.unwrap_or(option.default).clamp(low, high);
        if option.whole { value.round() } else { value }
    }
}

impl<const N: usize> From<[(&'static str, f64); N]> for Options {
    fn from(values: [(&'static str, f64); N]) -> Self {
        Self(values.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_its_table() {
        assert_eq!(ResponseId::default(), ResponseId::SOFT);
        for id in [ResponseId::SOFT, ResponseId::IMPULSE] {
            assert_eq!(ResponseId::named(id.name()), Ok(id));
        }
    }

    /// This crate never has those entries, as little as a build without kintsugi-papers.
    #[test]
    fn finders_and_responses_of_the_papers_are_refused_with_the_way_to_get_them() {
        let finder = ContactsId::named("field").unwrap_err().to_string();
        assert!(finder.starts_with("there is no contact finder field in this build"), "{finder}");
        assert!(finder.ends_with("there are mixed, octree, hull"), "{finder}");
        let response = ResponseId::named("penalty").unwrap_err().to_string();
        assert!(response.starts_with("there is no response penalty in this build"), "{response}");
        assert!(response.ends_with("there are soft, impulse"), "{response}");
        for message in [finder, response] {
            assert!(message.contains("kintsugi-papers") && message.contains("cargo build"), "{message}");
        }
    }
}

#[cfg(test)]
mod options_tests {
    use super::*;

    const LEVEL: MethodOption =
        MethodOption { name: "level", help: "A level.", default: 5.0, range: (1.0, 7.0), whole: true };

    #[test]
    fn a_value_is_within_the_range_and_a_missing_one_is_the_default() {
        let value = |value: f64| Options::from([("level", value)]).value(&LEVEL);
        assert_eq!([3.0, 3.4, 0.0, 9.0, -1e300].map(value), [3.0, 3.0, 1.0, 7.0, 1.0]);
        assert_eq!([f64::NAN, f64::INFINITY].map(value), [5.0, 5.0]);
        assert_eq!(Options::default().value(&LEVEL), 5.0);
        let mut options = Options::from([("other", 2.0)]);
        assert_eq!(options.value(&LEVEL), 5.0);
        options.set(&LEVEL, 4.0);
        assert_eq!(options.value(&LEVEL), 4.0);
    }
}
