//! Heaps of many contacts, solved eight manifolds at a time in single precision, with few iterations a substep.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds.
//!
//! The equations are those of the sequential solver. It takes up to sixteen iterations in each pass of a substep and stores a
//! contact in 440 bytes, so that a thousand pieces cost a sixth of a second a step. Substeps make iterations unnecessary
//! (Macklin and others 2019, "Small steps in physics simulation"): impulses are warm-started from substep to substep. Of a
//! heap in parts ([`IslandSplit`]) two threads solve two halves at once; within a part the batches follow each other in a
//! fixed order, so the result is the same on any number of threads. `passes/` does the same on a device, by colours.

mod batch;
mod bodies;
mod heap;
pub(super) mod passes;
mod sweeps;
mod vectors;

use batch::{Contact, Geometry, WideBatch};
use bodies::{Moving, WideBodies};
use glam::DVec3;
use heap::Filling;
pub use heap::Passes;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use sweeps::Stage;
use vectors::LANES;

use super::sequential::{self, ContactEdge, IslandSplit, RollingArms, Soft, SolverBodies};
use crate::{
    Body, WorldSettings,
    collide::Manifold,
    context::SubstepImpulses,
    geometry::simd::{Simd, Work, wide},
    integrate,
    scale::Scale,
};

/// Contacts of all batches.
#[derive(Default)]
struct Memory {
    contacts: Vec<Contact>,
    geometry: Vec<Geometry>,
}

/// Memory of the last step, for reuse: new memory costs more than filling it.
static SPARE: Mutex<Memory> = Mutex::new(Memory { contacts: Vec::new(), geometry: Vec::new() });

/// More contacts of batches are not kept.
const MOST_SPARE: usize = 1 << 15;

/// Moves the bodies of a heap through a step. `springs` are those of contacts between objects of a size; `settle` gets what
/// each body leans on at the end (the smallest radius, m), and may change velocities. `record` gets the impulses of each
/// substep.
pub fn solve(
    (bodies, manifolds, edges): (&mut [Body], &mut [Manifold], Vec<ContactEdge>),
    (settings, record): (&WorldSettings, Option<&mut SubstepImpulses>),
    passes: &Passes,
    springs: impl Fn(Scale, f64) -> Soft + Send + Sync,
    settle: impl FnOnce(&[f64], &mut SolverBodies) + Send,
) {
    let h = sequential::substep_secs(settings);
    let (mut whole, moving, mut edges) = sequential::parts(bodies, edges);
    let sizes = sequential::batches(&mut whole, &mut edges, LANES);
    let (fixed, points) = (&*bodies, &*manifolds);
    let own = of_batches(&edges, &sizes);
    let mut memory = std::mem::take(&mut *SPARE.lock().unwrap_or_else(PoisonError::into_inner));
    let (own, moving, room) = (&own, &moving, &mut memory);
    let prepare = move || {
        let memory = room;
        let solver_bodies = SolverBodies::new(fixed, moving, settings.gravity, h);
        let batches = batches(fixed, points, own, (&solver_bodies, memory), |scale| springs(scale, h));
        (solver_bodies, batches)
    };
    let mut solved = None;
    sequential::with_helpers(whole.leaves() - 1, prepare, |(mut solver_bodies, mut batches)| {
        Heap { passes, whole: &whole, settings, h }.solve(&mut solver_bodies, &mut batches, record);
        let mut leans = vec![f64::MAX; solver_bodies.frames.len()];
        batches.iter().for_each(|batch| batch.lean_on(&mut leans));
        settle(&leans, &mut solver_bodies);
        solved = Some((solver_bodies, batches));
    });
    let Some((solver_bodies, batches)) = solved else { return };
    finish(&batches, manifolds);
    drop(batches);
    if memory.contacts.len() <= MOST_SPARE {
        *SPARE.lock().unwrap_or_else(PoisonError::into_inner) = memory;
    }
    for (k, state) in solver_bodies.states() {
        bodies[k].state = state;
        integrate::velocity(&mut bodies[k].state, DVec3::ZERO, h);
    }
}

struct Heap<'a> {
    passes: &'a Passes,
    whole: &'a IslandSplit,
    settings: &'a WorldSettings,
    h: f64,
}

impl Heap<'_> {
    fn solve(
        &self,
        solver_bodies: &mut SolverBodies,
        batches: &mut [WideBatch<'_>],
        mut record: Option<&mut SubstepImpulses>,
    ) {
        let Self { passes, whole, settings, h } = *self;
        let substeps = settings.substeps.clamp(1, 64);
        let mut bodies = WideBodies::new(solver_bodies);
        aim(batches, &bodies, h);
        for substep in 0..substeps {
            solver_bodies.accelerate(settings.gravity, h);
            bodies.begin(solver_bodies);
            sweep(whole, batches, &mut bodies.share(), Stage::WarmStart(h));
            for _ in 0..passes.iterations[0] {
                sweep(whole, batches, &mut bodies.share(), Stage::Springs(passes.stick));
            }
            bodies.end(solver_bodies);
            solver_bodies.advance(h);
            bodies.place(solver_bodies);
            aim(batches, &bodies, h);
            bodies.begin(solver_bodies);
            for _ in 0..passes.iterations[1] {
                sweep(whole, batches, &mut bodies.share(), Stage::Rigid);
            }
            bodies.end(solver_bodies);
            batches.par_iter_mut().with_min_len(64).for_each(WideBatch::sum_up);
            note(batches, substep, record.as_deref_mut());
        }
        bodies.begin(solver_bodies);
        for _ in 0..passes.bounces {
            sweep(whole, batches, &mut bodies.share(), Stage::Bounce(passes.bounce_threshold));
        }
        bodies.end(solver_bodies);
        // The bounce belongs to the last substep.
        note(batches, substeps - 1, record);
    }
}

/// Notes the impulses of all contacts in a substep, where there is a record of them.
fn note(batches: &[WideBatch<'_>], substep: u32, record: Option<&mut SubstepImpulses>) {
    if let Some(record) = record {
        record.open(substep);
        batches.iter().for_each(|batch| batch.note(substep, record));
    }
}

/// The contacts of each batch.
fn of_batches<'a>(edges: &'a [ContactEdge], sizes: &[usize]) -> Vec<&'a [ContactEdge]> {
    let mut rest = edges;
    let split = |size: &usize| {
        let (own, later) = rest.split_at(*size);
        rest = later;
        own
    };
    sizes.iter().map(split).collect()
}

/// The batches of a heap, in the order of its parts.
fn batches<'a>(
    bodies: &[Body],
    manifolds: &[Manifold],
    own: &[&[ContactEdge]],
    (solver_bodies, memory): (&SolverBodies, &'a mut Memory),
    springs: impl Fn(Scale) -> Soft + Sync,
) -> Vec<WideBatch<'a>> {
    let arms = RollingArms::new(bodies, solver_bodies);
    let filling =
        |edge: &ContactEdge| Filling::new(edge, (bodies, manifolds), (solver_bodies, &arms), &springs);
    let rows = |edges: &&[ContactEdge]| edges.iter().map(|edge| edge.points).max().unwrap_or(0);
    let all: usize = own.iter().map(rows).sum();
    memory.contacts.resize(all.max(memory.contacts.len()), Contact::NONE);
    memory.geometry.resize(all.max(memory.geometry.len()), Geometry::NONE);
    let (mut contacts, mut geometry) = (&mut memory.contacts[..], &mut memory.geometry[..]);
    let split = |edges: &&'_ [ContactEdge]| {
        let rows = rows(edges);
        let (first, later) = std::mem::take(&mut contacts).split_at_mut(rows);
        let (second, rest) = std::mem::take(&mut geometry).split_at_mut(rows);
        (contacts, geometry) = (later, rest);
        (first, second)
    };
    let places: Vec<_> = own.iter().map(split).collect();
    let batch = |(edges, memory): (&&[ContactEdge], (&'a mut [Contact], &'a mut [Geometry]))| {
        let fillings: Vec<Filling<'_>> = edges.iter().filter_map(filling).collect();
        WideBatch::new(&fillings, memory)
    };
    own.par_iter().zip(places).with_min_len(16).map(batch).collect()
}

/// Writes all impulses back.
fn finish(batches: &[WideBatch<'_>], manifolds: &mut [Manifold]) {
    let mut places = vec![(u32::MAX, 0); manifolds.len()];
    for (batch, own) in (0u32..).zip(batches) {
        own.manifolds().iter().zip(0..).for_each(|(m, lane)| places[*m as usize] = (batch, lane));
    }
    manifolds.par_iter_mut().zip(places).with_min_len(64).for_each(|(manifold, (batch, lane))| {
        if let Some(batch) = batches.get(batch as usize) {
            batch.finish(lane, manifold);
        }
    });
}

/// Whether batches are solved as on a processor without wide vectors.
#[cfg(test)]
pub static PLAIN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Runs work with the widest vectors; tests may want those of every processor.
fn at_full_width<W: Work>(work: W) -> W::Out {
    #[cfg(test)]
    if PLAIN.load(std::sync::atomic::Ordering::Relaxed) {
        return crate::geometry::simd::Width::PLAIN.run(work);
    }
    wide(work)
}

/// Brings all batches up to date with how the bodies lie.
fn aim(batches: &mut [WideBatch<'_>], bodies: &WideBodies, h: f64) {
    batches.par_chunks_mut(32).for_each(|batches| at_full_width(Aim { batches, bodies, h }));
}

struct Aim<'a, 'm> {
    batches: &'a mut [WideBatch<'m>],
    bodies: &'a WideBodies,
    h: f64,
}

impl Work for Aim<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for batch in self.batches {
            batch.aim::<S::F32x8>(&self.bodies.frames, self.h);
        }
    }
}

/// Does a stage for every batch of a part, in parallel for its halves.
fn sweep(part: &IslandSplit, batches: &mut [WideBatch<'_>], moving: &mut Moving<'_>, stage: Stage) {
    let mut own = batches;
    if let Some(halves) = &part.halves {
        let [low, high] = &**halves;
        let [mut below, mut above] = moving.split(low.bodies.len());
        let (first, rest) = own.split_at_mut(low.batches.len());
        let (second, across) = rest.split_at_mut(high.batches.len());
        rayon::join(|| sweep(low, first, &mut below, stage), || sweep(high, second, &mut above, stage));
        own = across;
    }
    at_full_width(Sweep { batches: own, moving, stage });
}

struct Sweep<'a, 'b, 'm> {
    batches: &'a mut [WideBatch<'m>],
    moving: &'a mut Moving<'b>,
    stage: Stage,
}

impl Work for Sweep<'_, '_, '_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for batch in self.batches {
            batch.sweep::<S::F32x8>(self.moving, self.stage);
        }
    }
}
