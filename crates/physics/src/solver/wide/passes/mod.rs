//! Large heaps in compute passes: the counterpart of the batches of `wide/`, with the same equations.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds, after one submission
//! and one wait for all substeps. Manifolds of one colour share no body that moves ([`colours`]), so each has a thread, and its
//! contacts follow one another as in a lane of a batch. Sums are made in one order: the same device gives the same bytes. What the
//! cores do between two passes of a substep in double precision, `advance.wgsl` does in single precision, on displacements and turns
//! since the start of the step. Bodies that touch nothing are moved on the cores and keep every bit.

mod colours;
mod data;
#[cfg(test)]
mod tests;
mod upload;

use glam::DVec3;

use super::heap::Passes;
use crate::{
    Body, WorldSettings,
    collide::Manifold,
    context::SubstepImpulses,
    gpu::{
        AnyReadback, Buffer, Dispatch, Gpu, GpuError, Kernel, Named, PendingTimings, Readback, Recorder,
        bind, kernels,
    },
    integrate::{self, MAX_ARC, MAX_SPEED, MAX_TURN, MOST_ARCS},
    scale::Scale,
    solver::sequential::{ContactEdge, Soft, SolverBodies, WARM_SPEED, WEIGHT, substep_secs},
};
use colours::Run;
use data::{
    ContactAnswer, ContactGeometry, SolverBody, SolverContact, SolverManifold, SolverMotion, SolverParams,
    SolverPose,
};
#[cfg(test)]
pub(crate) use tests::run_every_kernel;
use upload::{Home, Upload};

kernels! {
    struct Kernels {
        accelerate: "bodies/solver/wide/passes/accelerate",
        warm_start: "bodies/solver/wide/passes/warm_start",
        press: "bodies/solver/wide/passes/press",
        advance: "bodies/solver/wide/passes/advance",
        aim: "bodies/solver/wide/passes/aim",
        sum_up: "bodies/solver/wide/passes/sum_up",
        bounce: "bodies/solver/wide/passes/bounce",
    }
}

/// The compiled passes, and their buffers.
pub struct SolverPasses {
    kernels: Kernels,
    lists: Option<Lists>,
}

/// Buffers that are kept from step to step.
struct Lists {
    motions: Buffer<SolverMotion>,
    poses: Buffer<SolverPose>,
    bodies: Buffer<SolverBody>,
    manifolds: Buffer<SolverManifold>,
    contacts: Buffer<SolverContact>,
    geometry: Buffer<ContactGeometry>,
    answers: Buffer<ContactAnswer>,
    colours: Buffer<u32>,
}

impl Lists {
    /// With room for a heap, and up to as much again.
    fn new(gpu: &Gpu, heap: &Upload) -> Result<Self, GpuError> {
        let [bodies, manifolds, contacts, colours] = Self::needed(heap).map(usize::next_power_of_two);
        Ok(Self {
            motions: Buffer::zeroed(gpu, "motions of bodies", bodies)?,
            poses: Buffer::zeroed(gpu, "poses of bodies", bodies)?,
            bodies: Buffer::zeroed(gpu, "masses of bodies", bodies)?,
            manifolds: Buffer::zeroed(gpu, "manifolds", manifolds)?,
            contacts: Buffer::zeroed(gpu, "contacts", contacts)?,
            geometry: Buffer::zeroed(gpu, "geometry of contacts", contacts)?,
            answers: Buffer::zeroed(gpu, "impulses of contacts", contacts)?,
            colours: Buffer::zeroed(gpu, "colours of contacts", colours)?,
        })
    }

    /// Elements of bodies, manifolds, contacts and colours.
    fn needed(heap: &Upload) -> [usize; 4] {
        [heap.motions.len(), heap.manifolds.len(), heap.contacts.len(), heap.colours.starts.len()]
    }

    fn hold(&self, heap: &Upload) -> bool {
        let room = [self.motions.len(), self.manifolds.len(), self.contacts.len(), self.colours.len()];
        room.iter().zip(Self::needed(heap)).all(|(room, needed)| needed <= *room)
    }

    fn write(&self, gpu: &Gpu, heap: &Upload) {
        self.motions.write(gpu, 0, &heap.motions);
        self.poses.write(gpu, 0, &heap.poses);
        self.bodies.write(gpu, 0, &heap.bodies);
        self.manifolds.write(gpu, 0, &heap.manifolds);
        self.contacts.write(gpu, 0, &heap.contacts);
        self.geometry.write(gpu, 0, &heap.geometry);
        self.answers.write(gpu, 0, &heap.answers);
        self.colours.write(gpu, 0, &heap.colours.starts);
    }
}

/// Dispatches of a stage for all colours, and how often they are recorded.
struct Sweep<'k> {
    dispatches: Vec<Dispatch<'k>>,
    times: u32,
}

impl<'k> Sweep<'k> {
    fn new(
        rec: &Recorder<'_>,
        kernel: &'k Kernel,
        (runs, rounds): (&[Run], u32),
        params: &SolverParams,
        given: &[Named<'_>],
    ) -> Result<Self, GpuError> {
        // One dispatch does all rounds by itself.
        let (at_once, times) = if runs.len() == 1 { (rounds, 1) } else { (1, rounds) };
        let dispatch = |run: &Run| {
            let params = SolverParams { first: run.first, end: run.end, rounds: at_once, ..*params };
            rec.prepare(kernel, run.threads, &params, given)
        };
        let dispatches = runs.iter().map(dispatch).collect::<Result<_, _>>()?;
        Ok(Self { dispatches, times })
    }

    fn record(&self, rec: &mut Recorder<'_>) {
        for _ in 0..self.times {
            self.dispatches.iter().for_each(|dispatch| rec.repeat(dispatch));
        }
    }
}

impl SolverPasses {
    /// Compiles the passes.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self { kernels: Kernels::new(gpu), lists: None }
    }

    /// Moves the bodies of a heap through a step, as [`super::solve`] does on the cores. There is at least one edge.
    ///
    /// # Errors
    /// [`GpuError`]; nothing has changed then.
    pub fn solve(
        &mut self,
        gpu: &Gpu,
        (bodies, manifolds, edges): (&mut [Body], &mut [Manifold], &[ContactEdge]),
        (settings, record): (&WorldSettings, Option<&mut SubstepImpulses>),
        passes: &Passes,
        springs: impl Fn(Scale, f64) -> Soft,
        settle: impl FnOnce(&[f64], &mut SolverBodies),
    ) -> Result<(), GpuError> {
        let h = substep_secs(settings);
        let substeps = settings.substeps.clamp(1, 64);
        let mut touches = vec![false; bodies.len()];
        edges.iter().flat_map(|edge| edge.bodies).for_each(|k| touches[k] = true);
        let (touching, free): (Vec<usize>, Vec<usize>) =
            (0..bodies.len()).filter(|k| bodies[*k].moves()).partition(|k| touches[*k]);
        let mut solver_bodies = SolverBodies::new(bodies, &touching, settings.gravity, h);
        let heap = (&*bodies, &*manifolds);
        let heap = Upload::new(heap, edges, (&solver_bodies, touching.len()), |scale| springs(scale, h));
        let home = self.run(gpu, &heap, (settings, h, substeps), passes, record.is_some())?;

        solver_bodies.carry(home.carried(&heap));
        home.finish(&heap, manifolds);
        if let Some(record) = record {
            home.note(&heap, record);
        }
        let mut leans = vec![f64::MAX; solver_bodies.frames.len()];
        home.lean_on(&heap, &mut leans);
        settle(&leans, &mut solver_bodies);
        let mut alone = SolverBodies::new(bodies, &free, settings.gravity, h);
        for _ in 0..substeps {
            alone.accelerate(settings.gravity, h);
            alone.advance(h);
        }
        for (k, state) in solver_bodies.states().chain(alone.states()) {
            bodies[k].state = state;
            integrate::velocity(&mut bodies[k].state, DVec3::ZERO, h);
        }
        Ok(())
    }

    /// All passes of a step, in order, with one wait at the end.
    fn run(
        &mut self,
        gpu: &Gpu,
        heap: &Upload,
        (settings, h, substeps): (&WorldSettings, f64, u32),
        passes: &Passes,
        records: bool,
    ) -> Result<Home, GpuError> {
        let lists = match self.lists.take().filter(|lists| lists.hold(heap)) {
            Some(lists) => lists,
            None => Lists::new(gpu, heap)?,
        };
        let lists = &*self.lists.insert(lists);
        lists.write(gpu, heap);
        let Lists { motions, poses, bodies, manifolds, contacts, geometry, answers, colours } = lists;
        let [body_count, manifold_count, contact_count, _] = Lists::needed(heap);
        let params = SolverParams {
            gravity: settings.gravity.as_vec3().to_array(),
            h: h as f32,
            bodies: body_count as u32,
            manifolds: manifold_count as u32,
            contacts: contact_count as u32,
            stick: passes.stick as f32,
            threshold: passes.bounce_threshold as f32,
            per_weight: (1.0 / (WEIGHT * h)) as f32,
            warm_speed: WARM_SPEED as f32,
            most_speed: MAX_SPEED as f32,
            most_spin: (MAX_TURN / h.max(1e-9)) as f32,
            most_arc: MAX_ARC as f32,
            most_arcs: MOST_ARCS as f32,
            ..SolverParams::default()
        };
        let mut rec = Recorder::with_room(gpu, "solver", 0);
        rec.stage("solver");
        let (kernels, runs, [springs, rigid]) = (&self.kernels, heap.colours.runs(), passes.iterations);
        let accelerate = rec.prepare(&kernels.accelerate, body_count, &params, bind![motions])?;
        let advance = rec.prepare(&kernels.advance, body_count, &params, bind![motions, poses, bodies])?;
        let given = bind![poses, bodies, manifolds, contacts, geometry];
        let aim = rec.prepare(&kernels.aim, manifold_count, &params, given)?;
        let sum_up = rec.prepare(&kernels.sum_up, contact_count, &params, bind![answers])?;
        let given = bind![colours, motions, bodies, manifolds, contacts, geometry, answers];
        let warm_start = Sweep::new(&rec, &kernels.warm_start, (&runs[..], 1), &params, given)?;
        let bounces = if heap.bounces { passes.bounces as u32 } else { 0 };
        let bounce = Sweep::new(&rec, &kernels.bounce, (&runs[..], bounces), &params, given)?;
        let given = bind![colours, motions, bodies, manifolds, contacts, answers];
        let with_springs = SolverParams { springs: 1, ..params };
        let press_softly = Sweep::new(&rec, &kernels.press, (&runs[..], springs), &with_springs, given)?;
        let press = Sweep::new(&rec, &kernels.press, (&runs[..], rigid), &params, given)?;

        let mut noted = Vec::new();
        rec.repeat(&aim);
        for substep in 0..substeps {
            rec.repeat(&accelerate);
            warm_start.record(&mut rec);
            press_softly.record(&mut rec);
            rec.repeat(&advance);
            rec.repeat(&aim);
            press.record(&mut rec);
            rec.repeat(&sum_up);
            // The bounce belongs to the last substep.
            if substep + 1 == substeps {
                bounce.record(&mut rec);
            }
            if records {
                noted.push(Readback::copy(&mut rec, answers, 0, contact_count));
            }
        }
        let motions = Readback::copy(&mut rec, motions, 0, body_count);
        let poses = Readback::copy(&mut rec, poses, 0, body_count);
        let manifolds = Readback::copy(&mut rec, manifolds, 0, manifold_count);
        let answers = Readback::copy(&mut rec, answers, 0, contact_count);
        let last: [&dyn AnyReadback; 4] = [&motions, &poses, &manifolds, &answers];
        let copies: Vec<&dyn AnyReadback> =
            noted.iter().map(|copy| copy as &dyn AnyReadback).chain(last).collect();
        PendingTimings::collect_with(gpu, vec![rec.submit_pending()], &copies)?;
        Ok(Home {
            motions: motions.to_vec()?,
            poses: poses.to_vec()?,
            manifolds: manifolds.to_vec()?,
            answers: answers.to_vec()?,
            substeps: noted.iter().map(Readback::to_vec).collect::<Result<_, _>>()?,
        })
    }
}

/// Types that the kernels share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::Shared;
    vec![
        SolverParams::LAYOUT,
        SolverMotion::LAYOUT,
        SolverPose::LAYOUT,
        SolverBody::LAYOUT,
        SolverManifold::LAYOUT,
        SolverContact::LAYOUT,
        ContactGeometry::LAYOUT,
        ContactAnswer::LAYOUT,
    ]
}
