//! Sequential impulses: rigid contacts.
//!
//! In every substep the solver iterates over all contacts, each with the impulse that stops its two bodies at the
//! contact; its accumulated impulse never pulls, and warm starts the next substep (projected Gauss-Seidel; Catto 2005,
//! Iterative Dynamics with Temporal Coherence). Friction is a Coulomb cone across two tangents. Overlap does not affect
//! velocities: a separate pass moves the bodies apart afterwards ("split impulses").
//!
//! The soft response (`solver/soft/`) differs in that its contacts are springs, which share a load among many and hold
//! heaps more evenly; here a contact is as hard as the number of rounds makes it.

#[cfg(test)]
mod tests;

use super::{
    ContactSolver, SolverEntry,
    sequential::{
        Batch, IslandSplit, Parting, Pass, Soft, SolverBodies, Sweep, each, for_groups, look, note, pressing,
        rounds, solved, substep_secs, sweep_groups,
    },
};
use crate::gpu::GpuError;
use crate::{
    Body, WorldSettings,
    collide::Manifold,
    context::{StepContext, SubstepImpulses},
};

/// How the table has it.
pub const ENTRY: SolverEntry = SolverEntry {
    name: "impulse",
    label: "impulses",
    about: "Sequential impulses: contacts are hard, and overlap is undone without giving anybody a speed.",
    options: &[],
    make: || Box::new(ImpulseStep::default()),
};

/// How often, how hard, how fast. Speeds and lengths are those of objects of a metre on the Earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseStep {
    /// Rounds over all contacts in a substep, at most.
    pub iterations: u32,
    /// Iterations end once no contact changes a speed by more than this, m/s.
    pub settled: f64,
    /// Rounds in which overlap is undone, at most.
    pub partings: u32,
    /// Overlap that stays, m: contacts that part altogether would be lost and found again.
    pub slop: f64,
    /// How much of the rest is undone in a substep.
    pub share: f64,
    /// How fast, at most, m/s.
    pub push_out: f64,
    /// Slower impacts do not bounce, m/s.
    pub bounce_threshold: f64,
}

impl Default for ImpulseStep {
    fn default() -> Self {
        Self {
            iterations: 24,
            settled: 0.01,
            partings: 8,
            slop: 1e-4,
            share: 0.1,
            push_out: 3.0,
            bounce_threshold: 0.5,
        }
    }
}

/// Rounds of the bounce: a box that lands flat has to agree among its corners.
const BOUNCE_ROUNDS: usize = 8;

impl ContactSolver for ImpulseStep {
    fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError> {
        let (settings, record) = (cx.settings, cx.substeps.as_deref_mut());
        let springs = |_, _| Soft { bias_rate: 0.0, softness: 0.0, push_out: 0.0 };
        let edges = pressing(bodies, manifolds, settings);
        solved((bodies, manifolds, edges), settings, springs, |whole, batches, solver_bodies| {
            self.solve(whole, batches, solver_bodies, (settings, record));
        });
        Ok(())
    }
}

impl ImpulseStep {
    /// One step of a heap in parts. `record` gets the impulses of each substep.
    fn solve(
        &self,
        whole: &IslandSplit,
        batches: &mut [Batch<'_, '_>],
        solver_bodies: &mut SolverBodies,
        (settings, mut record): (&WorldSettings, Option<&mut SubstepImpulses>),
    ) {
        let (h, substeps) = (substep_secs(settings), settings.substeps.clamp(1, 64));
        for substep in 0..substeps {
            solver_bodies.accelerate(settings.gravity, h);
            for_groups(batches, |group| group.prepare(solver_bodies, h));
            let all = &mut solver_bodies.share();
            each(whole, batches, all, |group, share| group.warm_start(share));
            each(whole, batches, all, |group, share| group.warm_roll(share));
            look(batches, |group| group.foresee(solver_bodies, Pass::Rigid, h));
            let about = Sweep { pass: Pass::Rigid, h, stick: 0.0 };
            rounds(whole, batches, solver_bodies, about, (self.iterations, self.settled));
            solver_bodies.advance(h);
            look(batches, |group| group.aim(solver_bodies));
            self.part(whole, batches, solver_bodies, h);
            for_groups(batches, |group| group.sum_up());
            note(batches, substep, record.as_deref_mut());
        }
        for _ in 0..BOUNCE_ROUNDS {
            let all = &mut solver_bodies.share();
            sweep_groups(whole, batches, all, &|group, share| group.bounce(share, self.bounce_threshold));
        }
        // The bounce belongs to the last substep.
        note(batches, substeps - 1, record);
    }

    /// Undoes overlap: moves the bodies and leaves their speeds.
    fn part(
        &self,
        whole: &IslandSplit,
        batches: &mut [Batch<'_, '_>],
        solver_bodies: &mut SolverBodies,
        h: f64,
    ) {
        let parting = Parting { slop: self.slop, share: self.share, most: self.push_out * h };
        // Every row is tested, whatever the results of the others.
        let groups = batches.iter_mut().flat_map(|batch| &mut *batch.groups);
        let any = groups.map(|group| group.parts(parting)).filter(|parts| *parts).count() > 0;
        if !any {
            return;
        }
        solver_bodies.displace(|solver_bodies| {
            let all = &mut solver_bodies.share();
            for _ in 0..self.partings {
                let moved = sweep_groups(whole, batches, all, &|group, share| group.part(share, parting));
                if moved < self.settled * h {
                    break;
                }
            }
        });
        look(batches, |group| group.aim(solver_bodies));
    }
}
