//! An object to its pieces: the recipe of a break, over as many generations as were asked for.

use super::{Engine, Error, Fracture, Object, Observer, Pieces, Quiet};
use crate::{
    fracture::{
        Cancel, FractureError,
        generations::{self, Plan},
    },
    gpu::StageTiming,
    svo::Arena,
};

impl Object {
    /// Breaks it on the processor's cores.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::Direction`] and [`Error::Fracture`].
    pub fn fracture(&self, how: &Fracture) -> Result<Pieces, Error> {
        self.fracture_on(&Engine::cores(), how, &Quiet)
    }

    /// Breaks it where the stages of `engine` run.
    ///
    /// # Errors
    /// As [`Object::fracture`], and [`Error::Gpu`].
    pub fn fracture_on(
        &self,
        engine: &Engine,
        how: &Fracture,
        observer: &impl Observer,
    ) -> Result<Pieces, Error> {
        how.check(self.grid.level)?;
        self.break_by(engine, self.plan(how)?, observer)
    }

    /// Breaks it as `plan` says.
    ///
    /// # Errors
    /// [`Error::Fracture`] and [`Error::Gpu`].
    pub fn break_by(&self, engine: &Engine, plan: Plan, observer: &impl Observer) -> Result<Pieces, Error> {
        if let Some(miss) = self.missed(&plan) {
            observer.note(&miss);
        }
        let (compute, passes, method) = (&engine.compute, &*engine.passes, plan.params.method.entry());
        let on_device = compute.gpu().is_some();
        if on_device {
            // By far the most of a small break's wait.
            observer.stage("compile the passes", |_| method.breaker.prepare(passes, compute))?;
        }
        let mut arena = observer.stage("upload", |_| -> Result<_, Error> {
            let mut arena = Arena::new(compute)?;
            arena.insert(&self.forest)?;
            Ok(arena)
        })?;
        let broken = observer.stage("fracture", |progress| -> Result<_, FractureError> {
            let mut watch = |done: f32, timings: &[StageTiming]| {
                timings
                    .iter()
                    .for_each(|timing| observer.timing(&measured(timing, method.of_voxels && on_device)));
                progress.set(done);
            };
            let cancel = Cancel::with(progress);
            generations::break_object_until(&mut arena, passes, &self.shape, &plan, &cancel, &mut watch)
        })?;
        compute.check()?;
        Ok(Pieces::new(self.clone(), plan, broken, compute.ran_on()))
    }
}

/// A stage of a break under a name that says whose clock it was measured by: the adapter's, or the processor's.
fn measured(timing: &StageTiming, in_passes: bool) -> StageTiming {
    let stage = match timing.stage.strip_suffix(" (CPU)") {
        Some(stage) => format!("cpu: {stage}"),
        None if in_passes => format!("gpu: {}", timing.stage),
        None => format!("cpu: {}", timing.stage),
    };
    StageTiming { stage, ms: timing.ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_says_whose_clock_it_was_measured_by() {
        let name = |stage: &str, in_passes| {
            let timing = StageTiming { stage: stage.into(), ms: 1.5 };
            let named = measured(&timing, in_passes);
            assert_eq!(named.ms, 1.5);
            named.stage
        };
        assert_eq!([name("islands", true), name("islands", false)], ["gpu: islands", "cpu: islands"]);
        for in_passes in [false, true] {
            assert_eq!(name("readback and masses (CPU)", in_passes), "cpu: readback and masses");
        }
    }
}
