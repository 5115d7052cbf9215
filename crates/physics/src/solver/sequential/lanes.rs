//! The contact constraints of up to four groups side by side, one group per lane.
//!
//! In: groups whose constraints are prepared for a pass. Out: their impulses, written back by [`Wide::empty`]. Each
//! lane gets the result that the group would get alone.

use super::{
    contact_constraint::{ContactConstraint, SURE, Soft},
    manifold_constraint::{ManifoldConstraint, Sweep},
    solver_bodies::BodiesMut,
};
use crate::geometry::simd::{F64x4, Matrices, Vectors, times};
use glam::{DMat3, DVec3};
use std::ops::{Add, Sub};

/// Most groups of a batch.
pub const LANES: usize = 4;

/// The first gathering takes the rows that may get work before the velocities of the bodies have changed by this
/// multiple of the change so far, plus the second value, m/s.
const AHEAD: f64 = 4.0;
const AT_LEAST: f64 = 0.2;

/// Whether groups are solved at once from the first round on, and rows taken out only when they have something to do.
#[cfg(test)]
pub static FEW: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// A number of each group.
pub(super) type Lane = [f64; LANES];

/// The rows of a batch side by side.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Wide {
    rows: Vec<WideContact>,
    /// Whether they are those of this pass.
    pub is_filled: bool,
    /// Which groups had something to do, by lane.
    pub worked: u32,
    /// The other rows have no work before the velocities change by this, by lane, m/s.
    pub beyond: Lane,
    inverse_mass: [Lane; 2],
    inverse_inertia: [Matrices; 2],
    /// Per group: factor from a speed to the speed for objects of a metre.
    per_speed: Lane,
    /// See [`ManifoldConstraint::load`].
    load: Lane,
    /// Rolling resistance: see `rolling_constraint.rs`.
    pub roll: Rolling,
    /// Indices of the gathered rows of one lane.
    taken: Vec<u16>,
}

#[derive(Default)]
pub(super) struct Rolling {
    arm: Lane,
    pub impulse: [Lane; 3],
    inertia: Matrices,
}

/// A row of each group. Its lanes cross no lines of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct WideContact {
    /// See [`ContactConstraint`]: what the velocities of its bodies may change by before it has anything to do.
    until: Lane,
    normal_impulse: Lane,
    most_impulse: Lane,
    /// kg, with the spring's softness.
    mass: Lane,
    /// m/s.
    bias: Lane,
    /// Speed for an impulse.
    softness: Lane,
    /// Inverse mass of the point along the normal, 1/kg.
    inverse_mass: Lane,
    way: [Lane; 3],
    arms: [[Lane; 3]; 2],
    /// First tangent; the second is perpendicular to it and the normal.
    tangent: [Lane; 3],
    /// kg.
    across: [Lane; 2],
    friction: Lane,
    friction_impulse: [Lane; 3],
    /// Speeds that draw back along both tangents, m/s.
    draw: [Lane; 2],
    /// Whether friction slid, by lane.
    slid: u32,
    /// Index of the row in its group; none if the group has fewer.
    of: [u16; LANES],
}

const NONE: u16 = u16::MAX;

impl WideContact {
    /// Rows without work.
    const BLANK: Self = Self {
        until: [f64::MAX; LANES],
        normal_impulse: [0.0; LANES],
        most_impulse: [0.0; LANES],
        mass: [0.0; LANES],
        bias: [0.0; LANES],
        softness: [0.0; LANES],
        inverse_mass: [0.0; LANES],
        way: [[0.0; LANES]; 3],
        arms: [[[0.0; LANES]; 3]; 2],
        tangent: [[0.0; LANES]; 3],
        across: [[0.0; LANES]; 2],
        friction: [0.0; LANES],
        friction_impulse: [[0.0; LANES]; 3],
        draw: [[0.0; LANES]; 2],
        slid: 0,
        of: [NONE; LANES],
    };
}

/// How the bodies of all lanes move: the first of each pair, and the second.
#[derive(Clone, Copy)]
pub(super) struct Motions<F> {
    pub linear: [Vectors<F>; 2],
    pub angular: [Vectors<F>; 2],
    /// See [`super::solver_bodies::Motion`].
    pub total_change: [[F; 2]; 2],
}

/// The motions as numbers, by body.
pub(super) struct Gathered {
    pub linear: [[Lane; 3]; 2],
    pub angular: [[Lane; 3]; 2],
    pub total_change: [[Lane; 2]; 2],
}

/// Gathers rows that may get work before the velocities of their bodies change by this, m/s, if they have changed by
/// that much.
fn limit(total_change: f64, unit: f64) -> f64 {
    #[cfg(test)]
    if FEW.load(std::sync::atomic::Ordering::Relaxed) {
        return total_change;
    }
    AHEAD * total_change + AT_LEAST * unit
}

#[inline(always)]
pub(super) fn gather(groups: &[ManifoldConstraint<'_>], share: &BodiesMut<'_>) -> Gathered {
    let mut out = Gathered {
        linear: [[[0.0; LANES]; 3]; 2],
        angular: [[[0.0; LANES]; 3]; 2],
        total_change: [[[0.0; LANES]; 2]; 2],
    };
    for (lane, group) in groups.iter().enumerate() {
        for side in 0..2 {
            let Some(motion) = share.motion(group.roll.solver_bodies[side]) else { continue };
            let (linear, angular) = (motion.linear.to_array(), motion.angular.to_array());
            for axis in 0..3 {
                out.linear[side][axis][lane] = linear[axis];
                out.angular[side][axis][lane] = angular[axis];
            }
            out.total_change[side][0][lane] = motion.total_change[0];
            out.total_change[side][1][lane] = motion.total_change[1];
        }
    }
    out
}

#[inline(always)]
pub(super) fn scatter(groups: &[ManifoldConstraint<'_>], share: &mut BodiesMut<'_>, moved: &Gathered) {
    for (lane, group) in groups.iter().enumerate() {
        for side in 0..2 {
            let Some(motion) = share.motion_mut(group.roll.solver_bodies[side]) else { continue };
            let of = |all: &[Lane; 3]| DVec3::new(all[0][lane], all[1][lane], all[2][lane]);
            motion.linear = of(&moved.linear[side]);
            motion.angular = of(&moved.angular[side]);
            motion.total_change = [moved.total_change[side][0][lane], moved.total_change[side][1][lane]];
        }
    }
}

/// Writes a symmetric matrix into a lane.
fn put(into: &mut Matrices, lane: usize, m: DMat3) {
    let all = [m.x_axis.x, m.y_axis.x, m.z_axis.x, m.y_axis.y, m.z_axis.y, m.z_axis.z];
    into.iter_mut().zip(all).for_each(|(into, value)| into[lane] = value);
}

fn put_vector(into: &mut [Lane; 3], lane: usize, v: DVec3) {
    into.iter_mut().zip(v.to_array()).for_each(|(into, value)| into[lane] = value);
}

impl Wide {
    /// Gathers the rows of the groups that may soon have work; the velocities have changed by `total_change`, m/s, by
    /// lane.
    pub fn fill(
        &mut self,
        groups: &mut [ManifoldConstraint<'_>],
        share: &BodiesMut<'_>,
        total_change: Lane,
        sweep: Sweep,
    ) {
        let Self { rows, taken, .. } = self;
        rows.clear();
        self.beyond = [f64::MAX; LANES];
        (self.is_filled, self.worked) = (true, 0);
        for (lane, group) in groups.iter_mut().enumerate() {
            if group.is_left && total_change[lane] >= group.until {
                group.look_again(share.frames);
            }
            for (side, k) in group.roll.solver_bodies.into_iter().enumerate() {
                let frame = &share.frames[k];
                self.inverse_mass[side][lane] = frame.inverse_mass;
                put(&mut self.inverse_inertia[side], lane, frame.inverse_inertia);
            }
            self.per_speed[lane] = 1.0 / group.speed();
            group.roll.look(share.frames);
            self.roll.arm[lane] = group.roll.arm;
            put_vector(&mut self.roll.impulse, lane, group.roll.impulse);
            put(&mut self.roll.inertia, lane, group.roll.inertia);
            if group.is_left {
                self.beyond[lane] = group.until;
                continue;
            }
            let limit = limit(total_change[lane], group.speed());
            taken.clear();
            for (k, row) in (0..NONE).zip(&*group.rows) {
                match row.rests_until() {
                    until if until <= limit => taken.push(k),
                    until => self.beyond[lane] = self.beyond[lane].min(until),
                }
            }
            if rows.len() < taken.len() {
                rows.resize(taken.len(), WideContact::BLANK);
            }
            let (soft, stick) = (group.soft(sweep.pass), group.stick(sweep.stick));
            for (wide, &k) in rows.iter_mut().zip(taken.iter()) {
                wide.of[lane] = k;
                group.rows[usize::from(k)].give(wide, lane, (soft, stick, sweep.h));
            }
        }
    }

    /// Gives the groups their impulses.
    pub fn empty(&mut self, groups: &mut [ManifoldConstraint<'_>]) {
        self.is_filled = false;
        for (lane, group) in groups.iter_mut().enumerate() {
            let worked = self.worked >> lane & 1 == 1;
            group.worked |= worked;
            group.has_worked |= worked;
            group.roll.impulse = std::array::from_fn(|axis| self.roll.impulse[axis][lane]).into();
            for wide in &self.rows {
                if let Some(row) = group.rows.get_mut(usize::from(wide.of[lane])) {
                    row.take(wide, lane);
                }
            }
        }
    }

    /// Works out what a unit of speed weighs along all axes of all rows.
    #[inline(always)]
    pub fn weigh<F: F64x4>(&mut self) {
        let (zero, one) = (F::splat(0.0), F::splat(1.0));
        let alone = F::of(self.inverse_mass[0]).add(F::of(self.inverse_mass[1]));
        for row in &mut self.rows {
            let arms = [Vectors::<F>::of(&row.arms[0]), Vectors::of(&row.arms[1])];
            let way = Vectors::of(&row.way);
            let tangent = Vectors::of(&row.tangent);
            let ways = [way, tangent, way.cross(tangent)];
            let (mut inverse, mut masses) = ([zero; 3], [zero; 3]);
            let mut k = 0;
            while k < 3 {
                let turns = [arms[0].cross(ways[k]), arms[1].cross(ways[k])];
                let spins =
                    [times(&self.inverse_inertia[0], turns[0]), times(&self.inverse_inertia[1], turns[1])];
                inverse[k] = alone.add(turns[0].dot(spins[0])).add(turns[1].dot(spins[1]));
                masses[k] = zero.if_less(inverse[k], one.div(inverse[k]), zero);
                k += 1;
            }
            let softness = F::of(row.softness);
            row.mass = masses[0].div(one.add(softness.mul(masses[0]))).array();
            row.inverse_mass = inverse[0].array();
            row.across = [masses[1].array(), masses[2].array()];
        }
    }

    /// Solves the normal constraints. Returns the largest change of a speed, and for each group the change up to which
    /// it rests.
    #[inline(always)]
    pub fn press<F: F64x4>(&mut self, motions: &mut Motions<F>, reach: [F; 2]) -> (f64, Lane) {
        let Motions { linear: [mut la, mut lb], angular: [mut wa, mut wb], total_change } = *motions;
        let [[mut shifted_a, mut spun_a], [mut shifted_b, mut spun_b]] = total_change;
        let masses = [F::of(self.inverse_mass[0]), F::of(self.inverse_mass[1])];
        let (zero, sure, never) = (F::splat(0.0), F::splat(SURE), F::splat(f64::MIN));
        let (mut most, mut load, mut least) = (zero, zero, F::splat(f64::MAX));
        for row in &mut self.rows {
            let total_change = shifted_a.add(shifted_b).add(spun_a.mul(reach[0])).add(spun_b.mul(reach[1]));
            let until = F::of(row.until);
            let old = F::of(row.normal_impulse);
            if total_change.less(until) == 15 {
                least = until.if_less(least, until, least);
                load = load.add(old);
                continue;
            }
            let way = Vectors::of(&row.way);
            let turns = [Vectors::of(&row.arms[0]).cross(way), Vectors::of(&row.arms[1]).cross(way)];
            let speed = la.sub(lb).dot(way).add(wa.dot(turns[0])).sub(wb.dot(turns[1]));
            let spare = speed.add(F::of(row.bias)).add(F::of(row.softness).mul(old));
            let new = old.sub(F::of(row.mass).mul(spare)).max(zero);
            let change = new.sub(old);
            row.normal_impulse = new.array();
            row.most_impulse = F::of(row.most_impulse).max(new).array();
            load = load.add(new);
            most = most.max(change.abs().mul(F::of(row.inverse_mass)));

            let [by_a, by_b] = [change.mul(masses[0]), change.mul(masses[1])];
            let spin_a = times(&self.inverse_inertia[0], turns[0]).scaled(change);
            let spin_b = times(&self.inverse_inertia[1], turns[1]).scaled(change);
            (la, wa) = (la.add(way.scaled(by_a)), wa.add(spin_a));
            (lb, wb) = (lb.sub(way.scaled(by_b)), wb.sub(spin_b));
            (shifted_a, spun_a) = (shifted_a.add(by_a.abs()), spun_a.add(spin_a.size()));
            (shifted_b, spun_b) = (shifted_b.add(by_b.abs()), spun_b.add(spin_b.size()));

            // A row without impulses rests until its bodies approach.
            let [fx, fy, fz] = Vectors::<F>::of(&row.friction_impulse).0;
            let used = new.add(old).add(fx.abs()).add(fy.abs()).add(fz.abs());
            let rests = zero.if_less(used, never, total_change.add(sure.mul(spare)));
            row.until = rests.array();
            least = rests.if_less(least, rests, least);
        }
        self.load = load.array();
        *motions = Motions {
            linear: [la, lb],
            angular: [wa, wb],
            total_change: [[shifted_a, spun_a], [shifted_b, spun_b]],
        };
        (most.mul(F::of(self.per_speed)).greatest(), least.array())
    }

    /// Resists rolling and sliding. Gives how much a speed was changed, at most.
    #[inline(always)]
    pub fn drag<F: F64x4>(&mut self, motions: &mut Motions<F>) -> f64 {
        let Motions { linear: [mut la, mut lb], angular: [mut wa, mut wb], total_change } = *motions;
        let [[mut shifted_a, mut spun_a], [mut shifted_b, mut spun_b]] = total_change;
        let masses = [F::of(self.inverse_mass[0]), F::of(self.inverse_mass[1])];
        let zero = F::splat(0.0);
        let mut most = zero;

        let arm = F::of(self.roll.arm);
        let (impulse, limit) = (Vectors::of(&self.roll.impulse), arm.mul(F::of(self.load)));
        if zero.less(limit.add(impulse.size())) != 0 {
            let wanted = impulse.sub(times(&self.roll.inertia, wa.sub(wb)));
            let new = limited(wanted, limit).0;
            let change = new.sub(impulse);
            let (spin_a, spin_b) =
                (times(&self.inverse_inertia[0], change), times(&self.inverse_inertia[1], change));
            (wa, wb) = (wa.add(spin_a), wb.sub(spin_b));
            (spun_a, spun_b) = (spun_a.add(spin_a.size()), spun_b.add(spin_b.size()));
            let spun = spin_a.add(spin_b);
            most = spun.dot(spun).sqrt().mul(arm);
            self.roll.impulse = new.arrays();
        }

        for row in &mut self.rows {
            let (pressed, old) = (F::of(row.normal_impulse), Vectors::<F>::of(&row.friction_impulse));
            let busy = zero.less(pressed.add(old.size()));
            row.slid |= !busy;
            if busy == 0 {
                continue;
            }
            let (way, t) = (Vectors::of(&row.way), Vectors::of(&row.tangent));
            let u = way.cross(t);
            let arms = [Vectors::of(&row.arms[0]), Vectors::of(&row.arms[1])];
            let speed = la.add(wa.cross(arms[0])).sub(lb.add(wb.cross(arms[1])));
            let by_t = F::of(row.across[0]).mul(speed.dot(t).add(F::of(row.draw[0])));
            let by_u = F::of(row.across[1]).mul(speed.dot(u).add(F::of(row.draw[1])));
            let wanted = old.sub(t.scaled(by_t)).sub(u.scaled(by_u));
            let (new, over) = limited(wanted, F::of(row.friction).mul(pressed));
            row.slid |= over;
            let change = new.sub(old);
            // The part along the normal does not belong to friction.
            let (along_t, along_u) = (change.dot(t), change.dot(u));
            let push = t.scaled(along_t).add(u.scaled(along_u));
            let both = along_t.abs().add(along_u.abs());
            let spin_a = times(&self.inverse_inertia[0], arms[0].cross(push));
            let spin_b = times(&self.inverse_inertia[1], arms[1].cross(push));
            (la, wa) = (la.add(push.scaled(masses[0])), wa.add(spin_a));
            (lb, wb) = (lb.sub(push.scaled(masses[1])), wb.sub(spin_b));
            (shifted_a, spun_a) = (shifted_a.add(both.mul(masses[0])), spun_a.add(spin_a.size()));
            (shifted_b, spun_b) = (shifted_b.add(both.mul(masses[1])), spun_b.add(spin_b.size()));
            row.friction_impulse = new.arrays();
            most = most.max(change.dot(change).sqrt().mul(F::of(row.inverse_mass)));
        }
        *motions = Motions {
            linear: [la, lb],
            angular: [wa, wb],
            total_change: [[shifted_a, spun_a], [shifted_b, spun_b]],
        };
        most.mul(F::of(self.per_speed)).greatest()
    }
}

/// Each vector, no longer than its limit; and which had been.
#[inline(always)]
fn limited<F: F64x4>(v: Vectors<F>, limit: F) -> (Vectors<F>, u32) {
    let (size, most) = (v.dot(v), limit.mul(limit));
    let share = most.if_less(size, limit.div(size.sqrt()), F::splat(1.0));
    (v.scaled(share), most.less(size))
}

impl ContactConstraint {
    /// Writes itself into a lane, with the springs and what draws back of its group, and the length of a substep.
    fn give(&self, wide: &mut WideContact, lane: usize, (soft, stick, h): (Option<Soft>, f64, f64)) {
        let needs = self.needs(soft, h);
        wide.until[lane] = self.rests_until();
        wide.normal_impulse[lane] = self.normal_impulse;
        wide.most_impulse[lane] = needs.most_impulse;
        wide.bias[lane] = needs.bias;
        wide.softness[lane] = needs.softness;
        put_vector(&mut wide.way, lane, needs.way);
        for (into, arm) in wide.arms.iter_mut().zip(needs.arms) {
            put_vector(into, lane, arm);
        }
        put_vector(&mut wide.tangent, lane, needs.tangent);
        wide.friction[lane] = needs.friction;
        put_vector(&mut wide.friction_impulse, lane, self.friction_impulse);
        let ways = [needs.tangent, needs.way.cross(needs.tangent)];
        for (draw, way) in wide.draw.iter_mut().zip(ways) {
            draw[lane] = stick * needs.drift.dot(way);
        }
    }

    /// Takes the impulses back.
    fn take(&mut self, wide: &WideContact, lane: usize) {
        self.normal_impulse = wide.normal_impulse[lane];
        self.friction_impulse = std::array::from_fn(|axis| wide.friction_impulse[axis][lane]).into();
        self.went_on(wide.most_impulse[lane], wide.until[lane]);
        self.slid |= wide.slid >> lane & 1 == 1;
    }
}
