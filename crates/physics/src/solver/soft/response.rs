//! The soft response of a world: on the cores, and of large heaps in compute passes where the settings want them.
//!
//! In: bodies and manifolds at the start of a step, and perhaps a device. Out: as of [`SoftStep`]. The compiled passes and their
//! buffers are kept from step to step, as long as the device is the same.

use super::{SoftStep, SolverBodies, pressing};
use crate::{
    Body,
    collide::Manifold,
    context::StepContext,
    gpu::{Gpu, GpuError},
    solver::{ContactSolver, sequential::ContactEdge, wide::passes::SolverPasses},
};

/// See the head of the module.
#[derive(Default)]
pub(super) struct SoftResponse {
    pub(super) step: SoftStep,
    passes: Option<(Gpu, SolverPasses)>,
}

impl SoftResponse {
    /// The passes of this device.
    fn passes(&mut self, gpu: &Gpu) -> &mut SolverPasses {
        let known = self.passes.take().filter(|(of, _)| of.is_same(gpu));
        &mut self.passes.insert(known.unwrap_or_else(|| (gpu.clone(), SolverPasses::new(gpu)))).1
    }
}

/// Contacts of one body are solved one after another, each of them a dispatch on a device where it does not fit in a row.
const MOST_PARTNERS: u16 = 64;

/// Whether no body touches so many that a device would solve them in too many turns.
fn is_shallow(bodies: usize, edges: &[ContactEdge]) -> bool {
    let mut partners = vec![0u16; bodies];
    edges.iter().flat_map(|edge| edge.bodies).for_each(|k| partners[k] = partners[k].saturating_add(1));
    partners.iter().all(|count| *count <= MOST_PARTNERS)
}

impl ContactSolver for SoftResponse {
    fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError> {
        let (step, settings) = (self.step, cx.settings);
        let device = cx.gpu.map(|(gpu, _)| gpu).filter(|gpu| settings.narrow.wants(gpu));
        if device.is_none() {
            // A device that was lost, or is no longer wanted, gets its memory back.
            self.passes = None;
        }
        let edges = pressing(bodies, manifolds, settings);
        let record = cx.substeps.as_deref_mut();
        // Few contacts take more iterations, in double precision: what a device would save there, waiting for it costs.
        let Some(gpu) =
            device.filter(|_| !edges.is_empty() && step.is_large(&edges) && is_shallow(bodies.len(), &edges))
        else {
            step.answer((bodies, manifolds, edges), settings, record);
            return Ok(());
        };
        let springs = |scale, h| step.soft(scale, h);
        let settle =
            |leans: &[f64], solver_bodies: &mut SolverBodies| step.settle(leans, solver_bodies, settings);
        let heap = (bodies, manifolds, &edges[..]);
        self.passes(gpu).solve(gpu, heap, (settings, record), &step.passes(), springs, settle)
    }

    fn cleared(&mut self) {
        self.passes = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BodyState, ContactsId, Narrow, World,
        solver::ActiveSolver,
        svo::Arena,
        tests::{digest, pile},
    };
    use glam::DVec3;

    /// A pile of eight blocks that meet by hulls, for which no other stage asks the device. `wide_from`: see [`SoftStep`].
    fn falling(narrow: Narrow, wide_from: usize) -> World {
        let mut w = pile(5, 4, 2);
        w.settings.contacts = ContactsId::named("hull").expect("it is in the table");
        w.settings.narrow = narrow;
        let mut response = SoftResponse::default();
        response.step.wide_from = wide_from;
        w.responder = ActiveSolver::of(w.settings.response, Box::new(response));
        w
    }

    /// How often steps wait for the device.
    fn waits(gpu: &Gpu, arena: &Arena, w: &mut World, steps: usize) -> u64 {
        let _ = gpu.take_traffic();
        (0..steps).for_each(|_| _ = w.step(Some((gpu, arena))).expect("a step"));
        gpu.take_traffic().iter().map(|(_, traffic)| traffic.waits).sum()
    }

    #[test]
    fn large_heaps_are_answered_by_a_device_that_is_wanted_and_small_ones_on_the_cores() {
        let Some(gpu) = Gpu::for_test() else { return };
        let arena = Arena::new(&gpu).expect("an arena");
        let [mut small, mut unwanted] = [falling(Narrow::Gpu, 3000), falling(Narrow::Cpu, 1)];
        let asked = [&mut small, &mut unwanted].map(|w| waits(&gpu, &arena, w, 70));
        assert_eq!(asked, [0, 0]);
        let [mut large, mut cores] = [falling(Narrow::Gpu, 1), falling(Narrow::Cpu, 1)];
        let asked = waits(&gpu, &arena, &mut large, 70);
        (0..70).for_each(|_| _ = cores.step_on_cpu());
        assert!(digest(&cores) == digest(&unwanted) && digest(&cores) != digest(&large));
        let places = |w: &World| w.bodies.iter().map(|body| body.state.position).collect::<Vec<_>>();
        let both = [&large, &cores].map(places);
        let apart = both[0].iter().zip(&both[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let middle = |places: &Vec<DVec3>| places.iter().sum::<DVec3>() / places.len() as f64;
        let shifted = middle(&both[0]).distance(middle(&both[1]));
        println!("{asked} waits in 70 steps; apart by {apart:.2e} m, the middle by {shifted:.2e} m");
        // Contacts are looked for up to four times a step, and each time answered with one wait.
        assert!((10..=280).contains(&asked), "{asked}");
        assert!(apart < 0.1 && shifted < 0.05, "{apart} {shifted}");
    }

    #[test]
    fn a_heap_comes_to_rest_on_a_device_and_then_asks_it_nothing() {
        let Some(gpu) = Gpu::for_test() else { return };
        let arena = Arena::new(&gpu).expect("an arena");
        let mut w = falling(Narrow::Gpu, 1);
        let mut steps = 0;
        while w.bodies.iter().any(Body::moves) && steps < 1500 {
            waits(&gpu, &arena, &mut w, 10);
            steps += 10;
        }
        println!("asleep after {:.1} s", w.time());
        assert!(w.bodies.iter().all(|body| body.asleep), "awake after {:.1} s", w.time());
        let lowest = w.bodies.iter().map(|body| body.state.position.y).fold(f64::MAX, f64::min);
        assert!(lowest > 0.05, "{lowest}");
        assert_eq!(waits(&gpu, &arena, &mut w, 5), 0);
    }

    #[test]
    fn a_body_that_touches_many_others_keeps_a_heap_on_the_cores() {
        let edges = |count: usize| -> Vec<ContactEdge> {
            (0..count).map(|k| ContactEdge { manifold: k, bodies: [0, k + 1], points: 4 }).collect()
        };
        assert!(is_shallow(70, &edges(64)) && !is_shallow(70, &edges(65)));
    }

    #[test]
    fn impulses_of_substeps_change_no_motion() {
        let Some(gpu) = Gpu::for_test() else { return };
        let arena = Arena::new(&gpu).expect("an arena");
        let [mut plain, mut recorded] = [(); 2].map(|()| falling(Narrow::Gpu, 1));
        recorded.contact_substeps = true;
        for w in [&mut plain, &mut recorded] {
            waits(&gpu, &arena, w, 80);
        }
        assert_eq!(digest(&plain), digest(&recorded));
        assert!(recorded.substep_contacts().iter().any(|contact| contact.substep_impulse > 0.0));
    }

    fn states(w: &World) -> Vec<BodyState> {
        w.bodies.iter().map(|body| body.state).collect()
    }

    #[test]
    fn a_device_that_is_lost_in_a_step_changes_nothing_and_another_goes_on() {
        let Some(gpu) = Gpu::for_test() else { return };
        let arena = Arena::new(&gpu).expect("an arena");
        let mut w = falling(Narrow::Gpu, 1);
        waits(&gpu, &arena, &mut w, 80);
        let before = states(&w);
        gpu.mishaps().lose_at_wait(1);
        let lost = w.step(Some((&gpu, &arena))).expect_err("the device is lost");
        assert!(lost.is_loss() && states(&w) == before, "{lost}");
        let other = Gpu::headless().expect("there is one");
        let arena = Arena::new(&other).expect("an arena");
        w.run_on(Some(&other)).expect("passes");
        assert!(waits(&other, &arena, &mut w, 1) > 0);
        assert_ne!(states(&w), before);
        w.run_on(None).expect("the cores");
        w.step_on_cpu();
    }

    #[test]
    fn memory_that_is_refused_anywhere_in_a_step_changes_nothing() {
        let Some(gpu) = Gpu::for_test() else { return };
        let arena = Arena::new(&gpu).expect("an arena");
        let mut w = falling(Narrow::Gpu, 1);
        w.contact_substeps = true;
        (0..80).for_each(|_| _ = w.step_on_cpu());
        let before = states(&w);
        let mut refused = 0;
        loop {
            gpu.mishaps().refuse_allocation(refused + 1);
            let stepped = w.step(Some((&gpu, &arena)));
            if gpu.mishaps().call_off() {
                stepped.expect("nothing was refused");
                break;
            }
            let error = stepped.expect_err("memory was refused");
            assert!(error.is_about_memory() && states(&w) == before, "{error}");
            refused += 1;
        }
        println!("{refused} allocations in a step");
        assert!(refused > 12 && states(&w) != before, "{refused}");
    }
}
