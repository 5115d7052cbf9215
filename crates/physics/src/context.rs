//! What a step tells its finder and its response beside the bodies.

use super::{Detail, StepReport, WorldSettings};
use crate::{
    gpu::{Gpu, StageTiming},
    svo::Arena,
};
use std::time::Instant;

/// The stage in which finders follow what broke since the step before.
pub const FOLLOW: &str = "contacts of what broke";

/// A device, and where on it shapes lie.
pub type OnGpu<'a> = Option<(&'a Gpu, &'a Arena)>;

/// What a step tells its finder and its response beside the bodies.
pub struct StepContext<'a> {
    /// The device; none: everything is worked out on the CPU.
    pub gpu: OnGpu<'a>,
    /// Settings, all of them usable; `dt` is the part of the step that is being worked out.
    pub settings: &'a WorldSettings,
    /// How finely bodies meet.
    pub detail: Detail<'a>,
    /// What is filled in on the way.
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
        add_ms(report, stage, self.0.elapsed().as_secs_f64() * 1e3);
        self.0 = Instant::now();
    }
}

/// Adds so much to a stage of the report.
pub fn add_ms(report: &mut StepReport, stage: &str, ms: f64) {
    match report.timings.iter_mut().find(|t| t.stage == stage) {
        Some(timing) => timing.ms += ms,
        None => report.timings.push(StageTiming { stage: stage.to_owned(), ms }),
    }
}

impl Default for StageClock {
    fn default() -> Self {
        Self::new()
    }
}
