//! Energies and contacts of past steps, for the charts of the window.
//!
//! In: the report of each step. Out: figures in the order of time; where there are very many, the older ones less finely.

use crate::bodies::StepReport;

/// Most moments that are kept.
pub(super) const MOST_MOMENTS: usize = 20_000;

/// Figures of the bodies after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepFigures {
    /// Simulated time, s.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy, J, above y = 0.
    pub potential: f64,
    /// Contact points that were solved.
    pub contacts: usize,
    /// Contact points of bodies that sleep, which are kept and not solved.
    pub resting: usize,
}

/// Figures of the steps since the scene was opened.
#[derive(Default)]
pub(super) struct StepTrace(Vec<StepFigures>);

impl StepTrace {
    /// Notes a step that ended at `time`, s. Figures of that time and of later ones go: those steps are taken again.
    pub fn note(&mut self, time: f64, report: &StepReport) {
        self.0.truncate(self.0.partition_point(|figures| figures.time < time - 1e-9));
        let StepReport { kinetic, potential, contacts, resting, .. } = *report;
        push_thinned(&mut self.0, StepFigures { time, kinetic, potential, contacts, resting });
    }

    /// Forgets the steps after `time`, s: they are of a future that was left.
    pub fn forget_after(&mut self, time: f64) {
        self.0.truncate(self.0.partition_point(|figures| figures.time <= time + 1e-9));
    }

    /// Figures in the order of time.
    pub fn all(&self) -> &[StepFigures] {
        &self.0
    }
}

/// Adds what came last. In a full list every second one of the older half goes before, so that what is recent stays
/// fine.
pub(super) fn push_thinned<T>(list: &mut Vec<T>, new: T) {
    if list.len() >= MOST_MOMENTS {
        let mut at = 0;
        list.retain(|_| {
            at += 1;
            at > MOST_MOMENTS / 2 || at % 2 == 0
        });
    }
    list.push(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(trace: &mut StepTrace, step: usize, kinetic: f64) {
        let report = StepReport { contacts: step, kinetic, ..StepReport::default() };
        trace.note(step as f64 / 120.0, &report);
    }

    #[test]
    fn steps_that_are_taken_again_take_the_place_of_the_earlier_ones() {
        let mut trace = StepTrace::default();
        (1..=10).for_each(|step| note(&mut trace, step, 0.0));
        note(&mut trace, 4, 5.0);
        let steps: Vec<usize> = trace.all().iter().map(|figures| figures.contacts).collect();
        // Planted error to see this fail: keep what is later.
        assert_eq!((steps, trace.all()[3].kinetic), (vec![1, 2, 3, 4], 5.0));
    }

    #[test]
    fn steps_of_a_future_that_was_left_go() {
        let mut trace = StepTrace::default();
        (1..=10).for_each(|step| note(&mut trace, step, 0.0));
        for (time, left) in [(11.0, 10), (7.0, 7), (6.5, 6), (0.0, 0)] {
            trace.forget_after(time / 120.0);
            assert_eq!(trace.all().len(), left, "{time}");
        }
    }

    #[test]
    fn a_long_run_stays_within_its_bound_and_recent_steps_stay() {
        let mut trace = StepTrace::default();
        (1..=3 * MOST_MOMENTS).for_each(|step| note(&mut trace, step, 0.0));
        let steps: Vec<usize> = trace.all().iter().map(|figures| figures.contacts).collect();
        assert!(steps.len() <= MOST_MOMENTS && steps.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            steps.ends_with(&(3 * MOST_MOMENTS - MOST_MOMENTS / 4..=3 * MOST_MOMENTS).collect::<Vec<_>>())
        );
    }
}
