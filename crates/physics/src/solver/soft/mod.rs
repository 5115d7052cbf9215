//! Soft contact constraints in substeps.
//!
//! Each contact is a damped spring whose stiffness follows from a frequency and the masses of its bodies, so that
//! crumbs and slabs behave alike, solved as an impulse with warm starting; a second, rigid pass removes the velocity
//! that the spring added to undo overlap. Friction is a Coulomb cone. The paper's penalty (sec. 5.2) has one stiffness
//! for all and never sticks; `docs/physics.md` compares the two.
//!
//! [`SoftStep`] answers on the cores; the response of the table ([`response`]) answers large heaps on a device, if there is one.

mod response;

use super::{
    ContactSolver, SolverEntry,
    sequential::{
        Batch, ContactEdge, IslandSplit, Pass, Soft, SolverBodies, Sweep, each, for_groups, look, note,
        pressing, rounds, solved, substep_secs, sweep_groups,
    },
    wide,
};
use crate::gpu::GpuError;
use crate::{
    Body, WorldSettings,
    collide::Manifold,
    context::{StepContext, SubstepImpulses},
    scale::Scale,
};
use glam::DVec3;

/// How the table has it.
pub const ENTRY: SolverEntry = SolverEntry {
    name: "soft",
    label: "soft",
    about: "Soft constraints in substeps; stacks stand and come to rest.",
    options: &[],
    make: || Box::new(response::SoftResponse::default()),
};

/// Frequency and damping of contacts, and the limits of what they do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftStep {
    /// Hz, for objects of `stiff_size` or more; smaller ones have more of it, or their own weight would press them in
    /// by a greater share of their size. At most a quarter of the substep rate is used.
    pub hertz: f64,
    /// m.
    pub stiff_size: f64,
    /// 1 is critical.
    pub damping_ratio: f64,
    /// Overlap is undone at most this fast, m/s. This and the following speeds and times are those of objects of a metre
    /// on the Earth (`Scale`).
    pub push_out: f64,
    /// Slower impacts do not bounce, m/s.
    pub bounce_threshold: f64,
    /// How fast what has slipped while friction held is drawn back, 1/s: else heaps creep.
    pub stick: f64,
    /// How fast the motion of a leaning piece that turns a little dies, 1/s.
    pub wobble_damping: f64,
    /// Largest number of iterations over all contacts in each pass of a substep. With few, heavy pieces creep into
    /// light ones whose contacts work against each other.
    pub iterations: u32,
    /// A pass ends earlier once no contact changes a speed by more than this, m/s.
    pub settled: f64,
    /// Heaps of at least this many contacts are solved eight manifolds at a time, or in compute passes, with fewer iterations.
    pub wide_from: usize,
    /// Iterations of their substeps: with springs, and without.
    pub wide_iterations: [u32; 2],
}

impl Default for SoftStep {
    fn default() -> Self {
        Self {
            hertz: 40.0,
            stiff_size: 0.2,
            damping_ratio: 3.0,
            push_out: 3.0,
            bounce_threshold: 0.5,
            stick: 5.0,
            wobble_damping: 15.0,
            iterations: 16,
            settled: 0.01,
            wide_from: 3000,
            wide_iterations: [8, 4],
        }
    }
}

/// A body bears another where a normal between them points this steeply at it, as a share of straight down.
const BEARS: f64 = 0.3;
/// Bodies count as of unequal mass from the first ratio on, and by the second at most.
const UNEQUAL: [f64; 2] = [30.0, 1e4];
/// Points that a pass of a heap of unequal bodies may visit in all its iterations, and the most iterations.
const MOST_VISITS: usize = 16_000;
const MOST_ROUNDS: usize = 640;

/// Rounds of the bounce: a box that lands flat has to agree among its corners.
const BOUNCE_ROUNDS: usize = 8;

/// A body that sinks faster than this tips over and does not wobble, m/s for objects of a metre.
const TIP_SPEED: f64 = 0.002;

/// Rotation slower than the first, at the rim, is a wobble, m/s for objects of a metre; slower than the second, it is
/// none.
const WOBBLE_SPEED: f64 = 0.25;
const LEAST_WOBBLE: f64 = 1e-4;

impl SoftStep {
    /// The springs of contacts between objects of this scale, in substeps of `h` seconds.
    pub(super) fn soft(&self, scale: Scale, h: f64) -> Soft {
        let hertz = self.hertz * (self.stiff_size / scale.length).sqrt().max(1.0);
        let omega = std::f64::consts::TAU * hertz.min(0.25 / h);
        let a1 = 2.0 * self.damping_ratio + h * omega;
        Soft {
            bias_rate: omega / a1,
            softness: 1.0 / (h * omega * a1),
            push_out: self.push_out * scale.speed,
        }
    }
}

impl ContactSolver for SoftStep {
    fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError> {
        let edges = pressing(bodies, manifolds, cx.settings);
        self.answer((bodies, manifolds, edges), cx.settings, cx.substeps.as_deref_mut());
        Ok(())
    }
}

impl SoftStep {
    /// Whether so many contacts are solved with few iterations.
    fn is_large(&self, edges: &[ContactEdge]) -> bool {
        edges.iter().map(|edge| edge.points).sum::<usize>() >= self.wide_from
    }

    /// One step on the cores. `record` gets the impulses of each substep.
    fn answer(
        &self,
        heap: (&mut [Body], &mut [Manifold], Vec<ContactEdge>),
        settings: &WorldSettings,
        record: Option<&mut SubstepImpulses>,
    ) {
        if self.is_large(&heap.2) {
            self.solve_wide(heap, settings, record);
            return;
        }
        let step = self.for_masses((&*heap.0, &*heap.1, &heap.2), settings.gravity);
        let springs = |scale, h| step.soft(scale, h);
        solved(heap, settings, springs, |whole, batches, solver_bodies| {
            step.solve(whole, batches, solver_bodies, (settings, record));
        });
    }

    /// The same with as many iterations as the masses of a heap need. An iteration moves a light body that bears a heavy one, and the
    /// heavy body follows by the ratio of their masses only. Where no body bears a much heavier one, nothing changes.
    fn for_masses(&self, heap: (&[Body], &[Manifold], &[ContactEdge]), gravity: DVec3) -> Self {
        let (bodies, manifolds, edges) = heap;
        let points: usize = edges.iter().map(|edge| edge.points).sum();
        let iterations = (MOST_VISITS / points.max(1)).min(MOST_ROUNDS) as u32;
        let down = gravity.normalize_or_zero();
        // A body and what cannot move are one body twice here: what cannot move bears any mass. Normals point at the first body.
        let borne = |edge: &ContactEdge| {
            let [first, second] = edge.bodies.map(|k| bodies[k].def.mass_kg());
            let (ratio, way) = if second > first { (second / first, down) } else { (first / second, -down) };
            let bears = || manifolds[edge.manifold].points.iter().any(|p| p.normal.dot(way) > BEARS);
            (ratio >= UNEQUAL[0] && bears()).then_some(ratio.min(UNEQUAL[1]))
        };
        match edges.iter().filter_map(borne).reduce(f64::max) {
            Some(ratio) if iterations > self.iterations => {
                Self { iterations, settled: self.settled / ratio, ..*self }
            }
            _ => *self,
        }
    }

    /// One step of a large heap. `record` gets the impulses of each substep.
    pub(super) fn solve_wide(
        &self,
        heap: (&mut [Body], &mut [Manifold], Vec<ContactEdge>),
        settings: &WorldSettings,
        record: Option<&mut SubstepImpulses>,
    ) {
        let springs = |scale, h| self.soft(scale, h);
        wide::solve(heap, (settings, record), &self.passes(), springs, |leans, solver_bodies| {
            self.settle(leans, solver_bodies, settings);
        });
    }

    /// What a step of a large heap does.
    pub(super) fn passes(&self) -> wide::Passes {
        wide::Passes {
            iterations: self.wide_iterations,
            stick: self.stick,
            bounce_threshold: self.bounce_threshold,
            bounces: BOUNCE_ROUNDS,
        }
    }

    /// One step of a heap in parts. `record` gets the impulses of each substep.
    fn solve(
        &self,
        whole: &IslandSplit,
        batches: &mut [Batch<'_, '_>],
        solver_bodies: &mut SolverBodies,
        (settings, mut record): (&WorldSettings, Option<&mut SubstepImpulses>),
    ) {
        let (h, substeps) = (substep_secs(settings), settings.substeps.clamp(1, 64));
        let most = (self.iterations, self.settled);
        for substep in 0..substeps {
            solver_bodies.accelerate(settings.gravity, h);
            for_groups(batches, |group| group.prepare(solver_bodies, h));
            let all = &mut solver_bodies.share();
            each(whole, batches, all, |group, share| group.warm_start(share));
            each(whole, batches, all, |group, share| group.warm_roll(share));
            look(batches, |group| group.foresee(solver_bodies, Pass::Springs, h));
            rounds(whole, batches, solver_bodies, Sweep { pass: Pass::Springs, h, stick: self.stick }, most);
            solver_bodies.advance(h);
            look(batches, |group| {
                group.aim(solver_bodies);
                group.foresee(solver_bodies, Pass::Rigid, h);
            });
            rounds(whole, batches, solver_bodies, Sweep { pass: Pass::Rigid, h, stick: 0.0 }, most);
            for_groups(batches, |group| group.sum_up());
            note(batches, substep, record.as_deref_mut());
        }
        for _ in 0..BOUNCE_ROUNDS {
            let all = &mut solver_bodies.share();
            sweep_groups(whole, batches, all, &|group, share| group.bounce(share, self.bounce_threshold));
        }
        // The bounce belongs to the last substep.
        note(batches, substeps - 1, record);
        let mut leans = vec![f64::MAX; solver_bodies.motions.len()];
        let groups = batches.iter().flat_map(|batch| &*batch.groups);
        let rows = groups.flat_map(|group| group.rows.iter());
        for row in rows.filter(|row| row.normal_impulse > 0.0) {
            for k in row.pair() {
                leans[k] = row.size.min(leans[k]);
            }
        }
        self.settle(&leans, solver_bodies, settings);
    }

    /// Damps the wobble of pieces that lean on something and hardly turn. On rounded corners of voxels they would rock
    /// for ever.
    /// `leans`: the smallest radius of the bodies that each leans on, m; [`f64::MAX`] where it leans on none.
    fn settle(&self, leans: &[f64], solver_bodies: &mut SolverBodies, settings: &WorldSettings) {
        // Without weight no body leans, and only collisions remain, which must conserve momentum.
        if settings.gravity == DVec3::ZERO {
            return;
        }
        let down = settings.gravity.normalize_or_zero();
        let moving = solver_bodies
            .motions
            .iter_mut()
            .zip(&solver_bodies.frames)
            .zip(leans)
            .filter(|((m, _), _)| m.moves());
        for ((motion, frame), arm) in moving {
            let Scale { speed, time, .. } = frame.scale;
            let wobble = motion.angular.length() * arm;
            let wobbles = wobble > LEAST_WOBBLE * speed && wobble < WOBBLE_SPEED * speed;
            if wobbles && motion.linear.dot(down) < TIP_SPEED * speed {
                let keep = 1.0 / (1.0 + self.wobble_damping / time * settings.dt);
                motion.angular *= keep;
                if motion.linear.length() < WOBBLE_SPEED * speed {
                    motion.linear *= keep;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_tests;
