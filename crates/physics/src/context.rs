//! Input of generator and response in a step, beside the bodies.

use super::{LevelOfDetail, StepReport, WorldSettings};
use crate::{
    gpu::{Gpu, StageTiming},
    svo::Arena,
};
use glam::DVec3;
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
    /// Where a response notes the impulses of each substep; `None`: nobody reads them.
    pub substeps: Option<&'a mut SubstepImpulses>,
}

impl StepContext<'_> {
    /// Adds the time since the last lap to a stage of the report.
    pub fn lap(&mut self, stage: &str) {
        self.clock.lap(self.report, stage);
    }
}

/// Impulses of contact points in each substep of an advance.
#[derive(Clone, Debug, Default)]
pub struct SubstepImpulses {
    /// The first point of each manifold among all points, and how many points there are.
    starts: Vec<usize>,
    /// By substep, then by point: along the normal, and friction on the first body.
    impulses: Vec<(f64, DVec3)>,
    substeps: usize,
}

impl SubstepImpulses {
    /// Forgets everything. `points`: how many points each manifold has.
    pub fn begin(&mut self, points: impl IntoIterator<Item = usize>) {
        *self = Self { starts: vec![0], ..Self::default() };
        let mut all = 0;
        for count in points {
            all += count;
            self.starts.push(all);
        }
    }

    /// Begins a substep, from 0: impulses that no call of [`SubstepImpulses::note`] names are zero in it.
    pub fn open(&mut self, substep: u32) {
        self.substeps = self.substeps.max(substep as usize + 1);
        let all = self.starts.last().copied().unwrap_or(0);
        self.impulses.resize(self.substeps * all, (0.0, DVec3::ZERO));
    }

    /// Notes the impulses of a point in an open substep: along the normal, and friction on the first body, world; N s.
    /// `place` is the manifold and which of its points. What was noted before is written over, and a place that does not
    /// exist is left out.
    pub fn note(&mut self, substep: u32, place: [u32; 2], impulses: (f64, DVec3)) {
        if let Some(own) = self.index(substep, place).and_then(|at| self.impulses.get_mut(at)) {
            *own = impulses;
        }
    }

    /// The impulses of a point in a substep, as [`SubstepImpulses::note`] has them; zero where there are none.
    #[must_use]
    pub fn get(&self, substep: u32, place: [u32; 2]) -> (f64, DVec3) {
        let at = self.index(substep, place);
        at.and_then(|at| self.impulses.get(at)).copied().unwrap_or((0.0, DVec3::ZERO))
    }

    /// How many substeps were noted; 0 where the response has no impulses of substeps at points.
    #[must_use]
    pub fn substeps(&self) -> u32 {
        u32::try_from(self.substeps).unwrap_or(u32::MAX)
    }

    fn index(&self, substep: u32, [manifold, point]: [u32; 2]) -> Option<usize> {
        let (first, end) = (*self.starts.get(manifold as usize)?, *self.starts.get(manifold as usize + 1)?);
        let at = first + point as usize;
        (at < end).then(|| substep as usize * self.starts.last().copied().unwrap_or(0) + at)
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
