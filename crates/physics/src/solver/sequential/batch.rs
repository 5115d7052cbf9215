//! Groups that are solved at once, up to four, one per lane: they share no body that moves.
//!
//! In: groups whose rows are prepared for the pass. Out: their impulses. Each row needs the result of the row before,
//! so solving one by one waits for each; four lanes wait once. A batch gathers its rows when it first has work in a
//! pass (`lanes.rs`), and writes the impulses back after it. A single group is solved without lanes.

use super::{
    lanes::{Gathered, LANES, Motions, Wide, gather, scatter},
    manifold_constraint::{ManifoldConstraint, Sweep},
    solver_bodies::BodiesMut,
};
use crate::geometry::simd::{F64x4, Simd, Vectors, Width, Work};

/// Batches are gathered only after this number of iterations: gathering costs about as much as a few iterations, so
/// batches that converge earlier skip it.
const FIRST_ROUNDS: u32 = 2;

/// Groups that share no body that moves.
pub(in crate::solver) struct Batch<'b, 'a> {
    /// The groups, at least one.
    pub groups: &'b mut [ManifoldConstraint<'a>],
    /// Whether all manifolds of the batch are deactivated and had no work since: then it skips preparation, warm start
    /// and summing up.
    is_left: bool,
    /// Groups without work in this round, by lane.
    rests: u32,
    /// Their gathered rows.
    wide: Option<Box<Wide>>,
}

impl<'b, 'a> Batch<'b, 'a> {
    /// A batch of these groups.
    pub fn new(groups: &'b mut [ManifoldConstraint<'a>]) -> Self {
        Self { groups, is_left: false, rests: 0, wide: None }
    }

    /// Calls `work` for its groups, unless all are deactivated.
    pub fn each(&mut self, work: impl FnMut(&mut ManifoldConstraint<'a>)) {
        if !self.is_left {
            self.groups.iter_mut().for_each(work);
        }
    }

    /// Calls `work` for all its groups, after which others may be deactivated.
    pub fn look(&mut self, work: impl FnMut(&mut ManifoldConstraint<'a>)) {
        self.groups.iter_mut().for_each(work);
        self.is_left = self.groups.iter().all(|group| group.is_left && !group.worked);
    }

    fn is_one_by_one(&self, round: u32) -> bool {
        round < first_rounds() || self.groups.len() == 1
    }

    /// Like [`ManifoldConstraint::press`], in this round.
    pub fn press(&mut self, share: &mut BodiesMut<'_>, sweep: Sweep, round: u32) -> f64 {
        if self.is_one_by_one(round) {
            let press = |group: &mut ManifoldConstraint<'_>| group.press(share, sweep.pass, sweep.h);
            let most = self.groups.iter_mut().map(press).fold(0.0, f64::max);
            self.is_left = self.is_left && self.groups.iter().all(|group| group.is_left);
            return most;
        }
        let (mut total_change, mut rests) = ([0.0; LANES], 0);
        for (lane, group) in self.groups.iter().enumerate() {
            total_change[lane] = share.total_change(group.roll.solver_bodies, group.reach);
            rests |= u32::from(total_change[lane] < group.until) << lane;
        }
        self.rests = rests;
        if self.all_rest() {
            return 0.0;
        }
        self.is_left = false;
        let groups = &mut *self.groups;
        let wide = self.wide.get_or_insert_default();
        let is_short =
            total_change.iter().zip(&wide.beyond).take(groups.len()).any(|(by, beyond)| by >= beyond);
        if !wide.is_filled || is_short {
            if wide.is_filled {
                wide.empty(groups);
            }
            wide.fill(groups, share, total_change, sweep);
            self.in_fours(share, Step::Weigh);
        }
        if let Some(wide) = &mut self.wide {
            wide.worked |= !rests;
        }
        self.in_fours(share, Step::Press)
    }

    /// Like [`ManifoldConstraint::drag`].
    pub fn drag(&mut self, share: &mut BodiesMut<'_>, sweep: Sweep, round: u32) -> f64 {
        if self.is_left {
            return 0.0;
        }
        if self.is_one_by_one(round) {
            let drag = |group: &mut ManifoldConstraint<'_>| group.drag(share, sweep.stick);
            return self.groups.iter_mut().map(drag).fold(0.0, f64::max);
        }
        if self.all_rest() {
            return 0.0;
        }
        self.in_fours(share, Step::Drag)
    }

    fn all_rest(&self) -> bool {
        self.rests.count_ones() as usize == self.groups.len()
    }

    /// Ends a pass: writes the impulses back to the groups.
    pub fn end(&mut self) {
        if let Some(wide) = self.wide.as_mut().filter(|wide| wide.is_filled) {
            wide.empty(self.groups);
        }
    }

    fn in_fours(&mut self, share: &mut BodiesMut<'_>, step: Step) -> f64 {
        width().run(InFours { batch: self, share, step })
    }

    #[inline(always)]
    fn at_once<F: F64x4>(&mut self, share: &mut BodiesMut<'_>, step: Step) -> f64 {
        // Callers have gathered the rows.
        let Some(wide) = &mut self.wide else { return 0.0 };
        if let Step::Weigh = step {
            wide.weigh::<F>();
            return 0.0;
        }
        let gathered = gather(self.groups, share);
        let mut motions = Motions {
            linear: [Vectors::of(&gathered.linear[0]), Vectors::of(&gathered.linear[1])],
            angular: [Vectors::of(&gathered.angular[0]), Vectors::of(&gathered.angular[1])],
            total_change: [
                [F::of(gathered.total_change[0][0]), F::of(gathered.total_change[0][1])],
                [F::of(gathered.total_change[1][0]), F::of(gathered.total_change[1][1])],
            ],
        };
        let change = match step {
            Step::Weigh => 0.0,
            Step::Press => {
                let mut reach = [[0.0; LANES]; 2];
                for (lane, group) in self.groups.iter().enumerate() {
                    (reach[0][lane], reach[1][lane]) = (group.reach[0], group.reach[1]);
                }
                let (change, until) = wide.press(&mut motions, [F::of(reach[0]), F::of(reach[1])]);
                let rolls = wide.roll.impulse;
                for (lane, group) in self.groups.iter_mut().enumerate() {
                    let is_idle = rolls.iter().all(|axis| axis[lane] == 0.0);
                    let until = until[lane].min(wide.beyond[lane]);
                    group.until = if is_idle { until } else { f64::MIN };
                }
                change
            }
            Step::Drag => wide.drag(&mut motions),
        };
        let [[a, b], [c, d]] = motions.total_change;
        let moved = Gathered {
            linear: [motions.linear[0].arrays(), motions.linear[1].arrays()],
            angular: [motions.angular[0].arrays(), motions.angular[1].arrays()],
            total_change: [[a.array(), b.array()], [c.array(), d.array()]],
        };
        scatter(self.groups, share, &moved);
        change
    }
}

/// Something done to the rows of a batch, four at once.
struct InFours<'w, 'b, 'a, 's> {
    batch: &'w mut Batch<'b, 'a>,
    share: &'w mut BodiesMut<'s>,
    step: Step,
}

impl Work for InFours<'_, '_, '_, '_> {
    type Out = f64;
    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        self.batch.at_once::<S::F64x4>(self.share, self.step)
    }
}

/// The vectors that rows are solved with; tests may want those of every processor.
fn width() -> Width {
    #[cfg(test)]
    if tests::PLAIN.load(std::sync::atomic::Ordering::Relaxed) {
        return Width::PLAIN;
    }
    Width::widest()
}

/// Rounds in which groups are solved one by one.
fn first_rounds() -> u32 {
    #[cfg(test)]
    if super::lanes::FEW.load(std::sync::atomic::Ordering::Relaxed) {
        return 0;
    }
    FIRST_ROUNDS
}

/// Work on the rows of a batch.
#[derive(Clone, Copy)]
enum Step {
    /// Computes the effective masses.
    Weigh,
    Press,
    Drag,
}

#[cfg(test)]
mod tests;
