//! All forces between two bodies: the points of one manifold, and rolling resistance.
//!
//! Most manifolds of falling pieces and of a heap carry no impulse for many substeps. Such a group is *deactivated*: a
//! lower bound of its points' distances is known, and no point is read or tested before its bodies may have approached
//! by that much. The result is the same.

use super::{
    contact_constraint::{ContactConstraint, Parting, SURE, Soft},
    rolling_constraint::RollingConstraint,
    solver_bodies::{BodiesMut, Frame, SolverBodies},
};
use crate::scale::Scale;
use glam::DVec3;

/// Overlap up to this counts as touching, m for objects of a metre: rounding.
pub(super) const HAIR: f64 = 1e-9;

/// The two passes of a substep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::solver) enum Pass {
    /// With springs, which undo overlap and draw back what has slipped.
    Springs,
    /// Without: takes out the velocity that the springs put in.
    Rigid,
}

/// Parameters of a pass.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Sweep {
    pub pass: Pass,
    /// Length of a substep, s.
    pub h: f64,
    /// Rate at which slip is drawn back, 1/s for objects of a metre.
    pub stick: f64,
}

/// Whether no group is deactivated: tests compare with heaps in which all points are tested in every pass.
#[cfg(test)]
pub static STAY: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

pub(super) fn may_leave() -> bool {
    #[cfg(test)]
    return !STAY.load(std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(test))]
    true
}

/// One manifold being solved.
pub(in crate::solver) struct ManifoldConstraint<'a> {
    /// Which.
    pub manifold: usize,
    /// Its points.
    pub rows: &'a mut [ContactConstraint],
    pub roll: RollingConstraint,
    /// Scale of the smaller of the two objects.
    scale: Scale,
    /// Its springs.
    soft: Soft,
    /// Longest arms of its points, m; an upper bound while it is deactivated.
    pub(super) reach: [f64; 2],
    /// Smallest distance of its points, m, while it is deactivated.
    apart: f64,
    /// Whether it is deactivated: the positions of its points are not up to date then.
    pub is_left: bool,
    /// It has no work before the velocities of its bodies change by this, m/s.
    pub(super) until: f64,
    /// Whether it has no work in this round.
    rests: bool,
    /// Impulse of its points in this round, N s.
    pub(super) load: f64,
    /// Whether it had any work since the begin of the substep.
    pub(super) worked: bool,
    /// Whether it had any work since the begin of the step.
    pub(super) has_worked: bool,
}

impl<'a> ManifoldConstraint<'a> {
    /// A group of these rows, all of one manifold.
    pub fn new(
        manifold: usize,
        rows: &'a mut [ContactConstraint],
        roll: RollingConstraint,
        scale: Scale,
        soft: Soft,
    ) -> Self {
        Self {
            manifold,
            rows,
            roll,
            scale,
            soft,
            reach: [0.0; 2],
            apart: 0.0,
            is_left: false,
            until: f64::MIN,
            rests: false,
            load: 0.0,
            worked: true,
            has_worked: false,
        }
    }

    /// Its springs, if the pass has them.
    pub(super) fn soft(&self, pass: Pass) -> Option<Soft> {
        (pass == Pass::Springs).then_some(self.soft)
    }

    /// Factor from m/s to speeds for objects of its size.
    pub(super) fn speed(&self) -> f64 {
        self.scale.speed
    }

    /// At what rate slip is drawn back, 1/s, where it is `stick` for objects of a metre.
    pub(super) fn stick(&self, stick: f64) -> f64 {
        stick / self.scale.time
    }

    /// Whether it has no impulse: then it skips the warm start.
    fn is_idle(&self) -> bool {
        self.until > f64::MIN
    }

    /// Before a substep.
    pub fn prepare(&mut self, solver_bodies: &SolverBodies, h: f64) {
        if std::mem::take(&mut self.worked) {
            let unit = self.scale.speed;
            // Springs that press against each other carry no load. If their stiffness followed from that impulse, they
            // would press ever harder.
            let carried = self.rows.iter().map(ContactConstraint::pressed).sum::<DVec3>();
            self.rows.iter_mut().for_each(|row| row.prepare(solver_bodies, unit, carried, h));
        }
    }

    /// Begins with what was pressed in the last substep.
    pub fn warm_start(&self, share: &mut BodiesMut<'_>) {
        if !self.is_idle() {
            self.rows.iter().for_each(|row| row.warm_start(share));
        }
    }

    /// And with the rolling resistance of the last substep.
    pub fn warm_roll(&mut self, share: &mut BodiesMut<'_>) {
        if !self.is_idle() {
            let load = self.rows.iter().map(|row| row.normal_impulse).sum();
            self.roll.warm_start(share, load);
        }
    }

    /// When the bodies have moved.
    pub fn aim(&mut self, solver_bodies: &SolverBodies) {
        if self.is_left {
            self.apart -= solver_bodies.came_closer(self.roll.solver_bodies, self.reach);
            if self.apart >= -HAIR * self.scale.length {
                return;
            }
        }
        self.look_again(&solver_bodies.frames);
    }

    /// Brings its points up to date.
    pub(super) fn look_again(&mut self, frames: &[Frame]) {
        self.is_left = false;
        self.roll.aim();
        self.rows.iter_mut().for_each(|row| row.aim(frames));
    }

    /// Before a pass, when no velocity has changed yet.
    pub fn foresee(&mut self, solver_bodies: &SolverBodies, pass: Pass, h: f64) {
        if self.is_left {
            match self.spare(solver_bodies, h) {
                Some(spare) => return self.until = spare,
                None => self.look_again(&solver_bodies.frames),
            }
        }
        let soft = self.soft(pass);
        let (mut reach, mut longest, mut apart) = ([0.0f64; 2], [0.0f64; 2], f64::MAX);
        self.until = if self.roll.is_idle() { f64::MAX } else { f64::MIN };
        for row in &mut *self.rows {
            row.foresee(solver_bodies, soft, h);
            let own = row.reach_squared();
            reach = [reach[0].max(own[0]), reach[1].max(own[1])];
            let own = row.longest_squared();
            longest = [longest[0].max(own[0]), longest[1].max(own[1])];
            apart = apart.min(row.apart());
            self.until = self.until.min(row.rests_until());
        }
        self.reach = reach.map(f64::sqrt);
        if !self.is_idle() {
            self.roll.look(&solver_bodies.frames);
        } else if apart >= -HAIR * self.scale.length {
            self.leave(solver_bodies, (apart, longest), h);
        }
    }

    /// Deactivates its points, which have no impulse and are at this distance, m, unless its bodies move too fast for
    /// that. `longest`: squares of the largest distances of the points from the bodies' centres.
    fn leave(&mut self, solver_bodies: &SolverBodies, (apart, longest): (f64, [f64; 2]), h: f64) {
        let reach = self.reach;
        // Until the next test they move sideways by no more than their bodies may approach.
        self.reach = longest.map(|square| square.sqrt() + apart.max(0.0));
        self.apart = apart;
        match self.spare(solver_bodies, h).filter(|_| may_leave()) {
            // The points' own bound is larger.
            Some(spare) => (self.is_left, self.until) = (true, self.until.max(spare)),
            None => self.reach = reach,
        }
    }

    /// How much the velocities of a deactivated group's bodies may change in this pass before it gets work, m/s; `None`
    /// if it may have work now.
    fn spare(&self, solver_bodies: &SolverBodies, h: f64) -> Option<f64> {
        let spare =
            self.apart.max(0.0) / h - solver_bodies.closing_speed(self.roll.solver_bodies, self.reach);
        // If the bodies move as one, there is no work until a velocity changes.
        (spare >= 0.0).then(|| (SURE * spare).max(f64::MIN_POSITIVE))
    }

    /// Solves its normal constraints. Returns the largest change of a speed, m/s for objects of a metre.
    pub fn press(&mut self, share: &mut BodiesMut<'_>, pass: Pass, h: f64) -> f64 {
        let soft = self.soft(pass);
        self.rests = share.total_change(self.roll.solver_bodies, self.reach) < self.until;
        if self.rests {
            return 0.0;
        }
        if self.is_left {
            self.look_again(share.frames);
        }
        (self.worked, self.has_worked) = (true, true);
        let (mut change, mut load) = (0.0f64, 0.0);
        self.until = if self.roll.is_idle() { f64::MAX } else { f64::MIN };
        for row in &mut *self.rows {
            change = change.max(row.solve(share, self.reach, soft, h));
            self.until = self.until.min(row.rests_until());
            load += row.normal_impulse;
        }
        self.load = load;
        change / self.scale.speed
    }

    /// Resists rolling and sliding; what has slipped is drawn back at `stick`, 1/s for objects of a metre. Gives how
    /// much it changed a speed, at most, m/s for such.
    pub fn drag(&mut self, share: &mut BodiesMut<'_>, stick: f64) -> f64 {
        if self.rests {
            return 0.0;
        }
        // Friction comes last, or it would answer turns that rolling resistance then takes out, and small
        // pieces would creep.
        let mut change = self.roll.resist(share, self.load);
        let stick = self.stick(stick);
        for row in &mut *self.rows {
            change = change.max(row.rub(share, stick));
        }
        change / self.scale.speed
    }

    /// Whether its bodies overlap by more than may stay; after they have moved. `parting` is that of objects of a
    /// metre.
    pub fn parts(&mut self, parting: Parting) -> bool {
        if self.is_left {
            return false;
        }
        let parting = self.parting(parting);
        // Every row is tested, whatever the results of the others.
        self.rows.iter_mut().map(|row| row.parts(parting)).filter(|parts| *parts).count() > 0
    }

    /// Moves its bodies apart; their motions are displacements here. Returns the largest displacement of a point, m for
    /// objects of a metre.
    pub fn part(&mut self, share: &mut BodiesMut<'_>, parting: Parting) -> f64 {
        if self.is_left {
            return 0.0;
        }
        let parting = self.parting(parting);
        let moved = self.rows.iter_mut().fold(0.0, |most, row| f64::max(most, row.part(share, parting)));
        moved / self.scale.speed
    }

    fn parting(&self, parting: Parting) -> Parting {
        let Scale { length, speed, .. } = self.scale;
        Parting { slop: parting.slop * length.min(1.0), most: parting.most * speed, ..parting }
    }

    /// After the last substep: applies restitution above the threshold, m/s for objects of a metre. Returns 0.
    pub fn bounce(&mut self, share: &mut BodiesMut<'_>, threshold: f64) -> f64 {
        if self.has_worked {
            let threshold = threshold * self.scale.speed;
            self.rows.iter_mut().for_each(|row| row.bounce(share, threshold));
        }
        0.0
    }

    /// After a substep.
    pub fn sum_up(&mut self) {
        if self.worked {
            self.rows.iter_mut().for_each(ContactConstraint::sum_up);
        }
    }
}
