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
    wide::{self, passes::SolverPasses},
};
use crate::{
    Body, WorldSettings,
    collide::Manifold,
    context::{StepContext, SubstepImpulses},
    gpu::{Gpu, GpuError},
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

/// A body bears what a normal against gravity, by at least this share, points at.
const BEARS: f64 = 0.3;
/// A body bears one of unequal mass from this ratio on; larger ratios than the second count as that.
const UNEQUAL: f64 = 30.0;
const MOST_UNEQUAL: f64 = 1e4;
/// Contacts that a pass of a heap of unequal bodies may visit, in all its iterations, and the most iterations.
const VISITS: usize = 16_000;
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
        let heap = (bodies, manifolds, edges);
        self.answer(heap, (cx.settings, cx.substeps.as_deref_mut()), None)
    }
}

impl SoftStep {
    /// Whether so many contacts are solved with few iterations.
    fn is_large(&self, edges: &[ContactEdge]) -> bool {
        edges.iter().map(|edge| edge.points).sum::<usize>() >= self.wide_from
    }

    /// One step: of a large heap on this device, if there is one, else on the cores. `record` gets the impulses of each substep.
    fn answer(
        &self,
        (bodies, manifolds, edges): (&mut [Body], &mut [Manifold], Vec<ContactEdge>),
        (settings, record): (&WorldSettings, Option<&mut SubstepImpulses>),
        device: Option<(&Gpu, &mut SolverPasses)>,
    ) -> Result<(), GpuError> {
        let springs = |scale, h| self.soft(scale, h);
        let leans = if let Some((gpu, passes)) = device.filter(|_| self.is_large(&edges)) {
            let heap = (&mut *bodies, manifolds, &edges[..]);
            passes.solve(gpu, heap, (settings, record), &self.passes(), springs)?
        } else if self.is_large(&edges) {
            self.solve_wide((&mut *bodies, manifolds, edges), settings, record)
        } else {
            let mut leans = vec![f64::MAX; bodies.len()];
            let most = self.rounds((&*bodies, &*manifolds, &edges), settings);
            solved((&mut *bodies, manifolds, edges), settings, springs, |whole, batches, solver_bodies| {
                self.solve(whole, batches, solver_bodies, (settings, record, most), &mut leans);
            });
            leans
        };
        // Without weight no body leans, and only collisions remain, which must conserve momentum.
        if settings.gravity != DVec3::ZERO {
            self.settle(&leans, bodies, settings);
        }
        Ok(())
    }

    /// One step of a large heap. `record` gets the impulses of each substep. Returns what each body leans on at the end, as
    /// [`wide::solve`] does.
    pub(super) fn solve_wide(
        &self,
        heap: (&mut [Body], &mut [Manifold], Vec<ContactEdge>),
        settings: &WorldSettings,
        record: Option<&mut SubstepImpulses>,
    ) -> Vec<f64> {
        let springs = |scale, h| self.soft(scale, h);
        wide::solve(heap, (settings, record), &self.passes(), springs)
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

    /// How many iterations a pass of a heap has at most, and the change of a speed at which it ends, m/s. Where a light body
    /// carries a heavy one, an iteration moves the light one alone, and the heavy one follows by the ratio of their masses:
    /// such heaps get as many iterations as they need, as long as they are small.
    fn rounds(
        &self,
        (bodies, manifolds, edges): (&[Body], &[Manifold], &[ContactEdge]),
        settings: &WorldSettings,
    ) -> (u32, f64) {
        let points: usize = edges.iter().map(|edge| edge.points).sum();
        let affordable = (VISITS / points.max(1)).min(MOST_ROUNDS) as u32;
        if affordable <= self.iterations {
            return (self.iterations, self.settled);
        }
        let down = settings.gravity.normalize_or_zero();
        let ratio = |edge: &ContactEdge| {
            let [a, b] = edge.bodies.map(|k| bodies[k].def.mass_kg());
            let manifold = &manifolds[edge.manifold];
            let is_of_first = bodies[edge.bodies[0]].id == manifold.first;
            // Normals point at the first body of the manifold: out of what bears it.
            let first_bears = manifold.points.iter().any(|p| p.normal.dot(down) > BEARS);
            let second_bears = manifold.points.iter().any(|p| p.normal.dot(down) < -BEARS);
            let (first, second) = if is_of_first { (a, b) } else { (b, a) };
            let of_first = if first_bears { second / first } else { 1.0 };
            let of_second = if second_bears { first / second } else { 1.0 };
            of_first.max(of_second)
        };
        let unequal = edges.iter().map(ratio).fold(1.0, f64::max);
        if unequal < UNEQUAL {
            return (self.iterations, self.settled);
        }
        (affordable, self.settled / unequal.min(MOST_UNEQUAL))
    }

    /// One step of a heap in parts. `record` gets the impulses of each substep, and `leans` what each body leans on at its end:
    /// the smallest radius of the pairs that press, m.
    fn solve(
        &self,
        whole: &IslandSplit,
        batches: &mut [Batch<'_, '_>],
        solver_bodies: &mut SolverBodies,
        (settings, mut record, most): (&WorldSettings, Option<&mut SubstepImpulses>, (u32, f64)),
        leans: &mut [f64],
    ) {
        let (h, substeps) = (substep_secs(settings), settings.substeps.clamp(1, 64));
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
        let groups = batches.iter().flat_map(|batch| &*batch.groups);
        for row in groups.flat_map(|group| group.rows.iter()).filter(|row| row.normal_impulse > 0.0) {
            for k in row.pair() {
                if let Some(least) = leans.get_mut(solver_bodies.frames[k].body) {
                    *least = row.size.min(*least);
                }
            }
        }
    }

    /// Damps the wobble of pieces that lean on something and hardly turn. On rounded corners of voxels they would rock
    /// for ever.
    /// `leans`: the smallest radius of the pairs in which each presses, m; [`f64::MAX`] where it presses on none.
    fn settle(&self, leans: &[f64], bodies: &mut [Body], settings: &WorldSettings) {
        let down = settings.gravity.normalize_or_zero();
        for (body, arm) in bodies.iter_mut().zip(leans).filter(|(body, _)| body.moves()) {
            let Scale { speed, time, .. } = Scale::of(&body.def, settings.gravity);
            let wobble = body.state.angular_velocity.length() * arm;
            let wobbles = wobble > LEAST_WOBBLE * speed && wobble < WOBBLE_SPEED * speed;
            let sinks = body.state.linear_velocity.dot(down) >= TIP_SPEED * speed;
            if wobbles && !sinks {
                let keep = 1.0 / (1.0 + self.wobble_damping / time * settings.dt);
                body.state.angular_velocity *= keep;
                if body.state.linear_velocity.length() < WOBBLE_SPEED * speed {
                    body.state.linear_velocity *= keep;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_tests;
