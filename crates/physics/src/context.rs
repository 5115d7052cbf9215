//! Input of generator and response in a step, beside the bodies.

use super::{LevelOfDetail, StepReport, WorldSettings};
use crate::{
    gpu::{Gpu, StageTiming},
    svo::Arena,
};
use std::time::Instant;

/// The stage in which generators follow what broke since the step before.
pub const FOLLOW: &str = "contacts of what broke";

/// A device, and where on it shapes lie.
pub type OnGpu<'a> = Option<(&'a Gpu, &'a Arena)>;

/// Input of generator and response in a step, beside the bodies.
pub struct StepContext<'a> {
    /// The device; `None`: everything runs on the CPU.
    pub gpu: OnGpu<'a>,
    /// Settings, all of them usable; `dt` is the part of the step that is being worked out.
    pub settings: &'a WorldSettings,
    /// Collision levels of bodies.
    pub detail: LevelOfDetail<'a>,
    /// The report, filled in during the step.
    pub report: &'a mut StepReport,
    /// Wall-clock time of the stages.
    pub clock: &'a mut StageClock,
}

impl StepContext<'_> {
    /// Adds the time since the last lap to a stage of the report.
    pub fn lap(&mut self, stage: &str) {
        self.clock.lap(self.report, stage);
    }
}

/// Wall-clock time of the stages.
pub struct StageClock(Instant);

impl StageClock {
    /// Starts now.
    #[must_use]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// Adds the time since the last lap to a stage of the report.
    pub fn lap(&mut self, report: &mut StepReport, stage: &str) {
        StageTiming::since(stage, self.0).add_to(&mut report.timings);
        self.0 = Instant::now();
    }
}

/// Adds `ms` to a stage of the report.
pub fn add_ms(report: &mut StepReport, stage: &str, ms: f64) {
    StageTiming { stage: stage.to_owned(), ms }.add_to(&mut report.timings);
}

impl Default for StageClock {
    fn default() -> Self {
        Self::new()
    }
}
