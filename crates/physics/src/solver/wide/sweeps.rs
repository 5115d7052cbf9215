//! What a sweep does to a batch, eight manifolds at once.
//!
//! In: a batch, and the velocities of its bodies. Out: its impulses, and the velocities.

use super::{
    batch::WideBatch,
    bodies::{INERTIA, Moving, ROTATION, WideFrame},
    vectors::{LANES, Lane, Matrices, Vectors, inverses},
};
use crate::{
    geometry::simd::F32x8,
    solver::sequential::{WARM_SPEED, WEIGHT},
};

/// The parts of a pass that a sweep does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// Begins with the impulses of the last substep, over this many seconds.
    WarmStart(f64),
    /// With springs, drawing back slip at this rate, 1/s for objects of a metre.
    Springs(f64),
    /// Without springs.
    Rigid,
    /// Restitution above this approach speed, m/s for objects of a metre.
    Bounce(f64),
}

/// Velocities of the bodies of eight lanes: the first of each pair, and the second.
struct Velocities<F> {
    linear: [Vectors<F>; 2],
    angular: [Vectors<F>; 2],
}

impl<F: F32x8> Velocities<F> {
    #[inline(always)]
    fn gather(moving: &Moving<'_>, bodies: &[[u32; LANES]; 2]) -> Self {
        let [a, b] = [moving.gather(&bodies[0]), moving.gather(&bodies[1])];
        Self {
            linear: [Vectors::of(&[a[0], a[1], a[2]]), Vectors::of(&[b[0], b[1], b[2]])],
            angular: [Vectors::of(&[a[3], a[4], a[5]]), Vectors::of(&[b[3], b[4], b[5]])],
        }
    }

    #[inline(always)]
    fn scatter(self, moving: &mut Moving<'_>, bodies: &[[u32; LANES]; 2]) {
        let mut side = 0;
        while side < 2 {
            let ([a, b, c], [x, y, z]) = (self.linear[side].arrays(), self.angular[side].arrays());
            moving.scatter(&bodies[side], &[a, b, c, x, y, z]);
            side += 1;
        }
    }

    /// Pushes the first bodies at the ends of their arms, and the second ones back.
    #[inline(always)]
    fn push(&mut self, masses: &[Lane; 2], inertia: &[Matrices; 2], arms: [Vectors<F>; 2], push: Vectors<F>) {
        self.linear[0] = self.linear[0] + push.scaled(F::of(masses[0]));
        self.linear[1] = self.linear[1] - push.scaled(F::of(masses[1]));
        self.angular[0] = self.angular[0] + arms[0].cross(push).by(&inertia[0]);
        self.angular[1] = self.angular[1] - arms[1].cross(push).by(&inertia[1]);
    }
}

/// Friction along both tangents, no more than this.
#[inline(always)]
fn held<F: F32x8>([t, u]: [F; 2], most: F) -> [F; 2] {
    let square = t.mul(t).add(u.mul(u));
    let share = most.mul(most).below(square).select(most.div(square.sqrt()), F::splat(1.0));
    [t.mul(share), u.mul(share)]
}

impl WideBatch<'_> {
    /// Does a stage of a sweep.
    #[inline(always)]
    pub fn sweep<F: F32x8>(&mut self, moving: &mut Moving<'_>, stage: Stage) {
        if matches!(stage, Stage::Bounce(_)) && !self.bounces {
            return;
        }
        let mut v = Velocities::<F>::gather(moving, &self.bodies);
        match stage {
            Stage::WarmStart(h) => self.warm_start(&mut v, h),
            Stage::Springs(stick) => self.solve(&mut v, Some(stick)),
            Stage::Rigid => self.solve(&mut v, None),
            Stage::Bounce(threshold) => self.bounce(&mut v, threshold),
        }
        v.scatter(moving, &self.bodies);
    }

    /// When bodies have moved: arms, distances and masses. `h` is the length of a substep, s.
    #[inline(always)]
    pub fn aim<F: F32x8>(&mut self, frames: &[WideFrame], h: f64) {
        let mut lie = [[[0.0; LANES]; 18]; 2];
        for side in 0..2 {
            for lane in 0..self.lanes {
                let frame = &frames[self.bodies[side][lane] as usize];
                for (to, from) in lie[side].iter_mut().zip(frame) {
                    to[lane] = *from;
                }
            }
            self.inverse_inertia[side].copy_from_slice(&lie[side][INERTIA..]);
        }
        let rotations: [[Lane; 9]; 2] =
            [std::array::from_fn(|k| lie[0][ROTATION + k]), std::array::from_fn(|k| lie[1][ROTATION + k])];
        let moved = Vectors::<F>::of(&[lie[0][0], lie[0][1], lie[0][2]])
            - Vectors::of(&[lie[1][0], lie[1][1], lie[1][2]]);
        let mut sum = [[0.0; LANES]; 6];
        let mut k = 0;
        while k < 6 {
            sum[k] = F::of(self.inverse_inertia[0][k]).add(F::of(self.inverse_inertia[1][k])).array();
            k += 1;
        }
        self.roll_inertia = inverses::<F>(&sum);
        let (zero, one) = (F::splat(0.0), F::splat(1.0));
        let per_h = F::splat((1.0 / h) as f32);
        let alone = F::of(self.inverse_mass[0]).add(F::of(self.inverse_mass[1]));
        let (rate, most) = (F::of(self.bias_rate), zero.sub(F::of(self.push_out)));
        for (contact, geometry) in self.contacts.iter_mut().zip(&mut *self.geometry) {
            let normal = Vectors::of(&contact.normal);
            let tangent = Vectors::of(&contact.tangent);
            let ways = [normal, tangent, normal.cross(tangent)];
            let a = Vectors::of(&geometry.anchors[0]).turned(&rotations[0]) + Vectors::of(&geometry.offset);
            let b = Vectors::of(&geometry.anchors[1]).turned(&rotations[1]);
            let apart = moved + a - b + Vectors::of(&geometry.apart);
            let gap = F::of(geometry.adjusted).add(apart.dot(normal));
            geometry.gap = gap.array();
            let middle = F::of(geometry.middle);
            let arms = [a - apart.scaled(middle), b + apart.scaled(one.sub(middle))];
            contact.arms = [arms[0].arrays(), arms[1].arrays()];
            let sticks = F::of(geometry.sticks).mul(F::of(self.stick));
            contact.drift = [
                F::of(geometry.slip[0]).add(apart.dot(ways[1])).mul(sticks).array(),
                F::of(geometry.slip[1]).add(apart.dot(ways[2])).mul(sticks).array(),
            ];
            let free = gap.max(zero).mul(per_h);
            let spring = rate.mul(gap).max(most).min(zero);
            contact.bias = [free.add(spring).array(), free.array()];
            let mut k = 0;
            while k < 3 {
                let turns = [arms[0].cross(ways[k]), arms[1].cross(ways[k])];
                let by = [turns[0].by(&self.inverse_inertia[0]), turns[1].by(&self.inverse_inertia[1])];
                let inverse = alone.add(turns[0].dot(by[0])).add(turns[1].dot(by[1]));
                // Lanes without a contact have no direction, but may have bodies.
                let has = zero.below(ways[k].dot(ways[k]));
                contact.masses[k] = has.select(one.div(has.select(inverse, one)), zero).array();
                k += 1;
            }
        }
    }

    /// Limits what a substep begins with, and applies it.
    #[inline(always)]
    fn warm_start<F: F32x8>(&mut self, v: &mut Velocities<F>, h: f64) {
        let (zero, one) = (F::splat(0.0), F::splat(1.0));
        let mut carried = Vectors::<F>::of(&[[0.0; LANES]; 3]);
        for contact in &*self.contacts {
            carried = carried + Vectors::of(&contact.normal).scaled(F::of(contact.impulse[0]));
        }
        let linear = F::of(self.linear_mass);
        let per_weight = F::splat((1.0 / (WEIGHT * h)) as f32);
        let warm = F::of(self.speed).mul(F::splat(WARM_SPEED as f32));
        let mut load = zero;
        for (contact, geometry) in self.contacts.iter_mut().zip(&*self.geometry) {
            let (normal, tangent) = (Vectors::of(&contact.normal), Vectors::of(&contact.tangent));
            let other = normal.cross(tangent);
            let pressed = F::of(contact.impulse[0]);
            let mass = F::of(contact.masses[0]);
            let spring_mass = linear.max(pressed.min(carried.dot(normal)).mul(per_weight));
            let overlaps = F::of(geometry.gap).below(zero);
            let softness = overlaps.select(F::of(self.softness).div(spring_mass), zero);
            contact.softness = softness.array();
            contact.soft_mass = mass.div(one.add(softness.mul(mass))).array();
            let pressed = pressed.min(mass.mul(warm));
            let [t, u] = held(
                [F::of(contact.impulse[1]), F::of(contact.impulse[2])],
                F::of(contact.friction).mul(pressed),
            );
            contact.impulse = [pressed.array(), t.array(), u.array()];
            load = load.add(pressed);
            let push = normal.scaled(pressed) + tangent.scaled(t) + other.scaled(u);
            let arms = [Vectors::of(&contact.arms[0]), Vectors::of(&contact.arms[1])];
            v.push(&self.inverse_mass, &self.inverse_inertia, arms, push);
        }
        let roll = Vectors::of(&self.roll).limited(F::of(self.roll_arm).mul(load));
        self.roll = roll.arrays();
        v.angular[0] = v.angular[0] + roll.by(&self.inverse_inertia[0]);
        v.angular[1] = v.angular[1] - roll.by(&self.inverse_inertia[1]);
    }

    /// Solves normal impulses, then rolling resistance, then friction, which answers the turns that are left.
    #[inline(always)]
    fn solve<F: F32x8>(&mut self, v: &mut Velocities<F>, springs: Option<f64>) {
        let zero = F::splat(0.0);
        let masses = [F::of(self.inverse_mass[0]), F::of(self.inverse_mass[1])];
        let Velocities { linear: [mut la, mut lb], angular: [mut wa, mut wb] } = *v;
        let mut load = zero;
        for (contact, geometry) in self.contacts.iter_mut().zip(&mut *self.geometry) {
            let normal = Vectors::of(&contact.normal);
            let turns =
                [Vectors::of(&contact.arms[0]).cross(normal), Vectors::of(&contact.arms[1]).cross(normal)];
            let speed = (la - lb).dot(normal).add(wa.dot(turns[0])).sub(wb.dot(turns[1]));
            let old = F::of(contact.impulse[0]);
            let new = match springs {
                Some(_) => {
                    let spare = speed.add(F::of(contact.bias[0])).add(F::of(contact.softness).mul(old));
                    old.sub(F::of(contact.soft_mass).mul(spare))
                }
                None => old.sub(F::of(contact.masses[0]).mul(speed.add(F::of(contact.bias[1])))),
            };
            let new = new.max(zero);
            let change = new.sub(old);
            contact.impulse[0] = new.array();
            geometry.most = F::of(geometry.most).max(new).array();
            load = load.add(new);
            la = la + normal.scaled(change.mul(masses[0]));
            lb = lb - normal.scaled(change.mul(masses[1]));
            wa = wa + turns[0].by(&self.inverse_inertia[0]).scaled(change);
            wb = wb - turns[1].by(&self.inverse_inertia[1]).scaled(change);
        }

        let roll = Vectors::of(&self.roll);
        let wanted = (roll - (wa - wb).by(&self.roll_inertia)).limited(F::of(self.roll_arm).mul(load));
        let change = wanted - roll;
        self.roll = wanted.arrays();
        wa = wa + change.by(&self.inverse_inertia[0]);
        wb = wb - change.by(&self.inverse_inertia[1]);

        let stick = F::splat(springs.unwrap_or(0.0) as f32);
        for contact in &mut *self.contacts {
            let (normal, tangent) = (Vectors::of(&contact.normal), Vectors::of(&contact.tangent));
            let other = normal.cross(tangent);
            let arms = [Vectors::of(&contact.arms[0]), Vectors::of(&contact.arms[1])];
            let speed = la + wa.cross(arms[0]) - lb - wb.cross(arms[1]);
            let old = [F::of(contact.impulse[1]), F::of(contact.impulse[2])];
            let by_t = speed.dot(tangent).add(stick.mul(F::of(contact.drift[0])));
            let by_u = speed.dot(other).add(stick.mul(F::of(contact.drift[1])));
            let wanted = [
                old[0].sub(F::of(contact.masses[1]).mul(by_t)),
                old[1].sub(F::of(contact.masses[2]).mul(by_u)),
            ];
            let most = F::of(contact.friction).mul(F::of(contact.impulse[0]));
            contact.slid |= most.mul(most).less(wanted[0].mul(wanted[0]).add(wanted[1].mul(wanted[1])));
            contact.slid |= most.at_most(zero);
            let new = held(wanted, most);
            let push = tangent.scaled(new[0].sub(old[0])) + other.scaled(new[1].sub(old[1]));
            contact.impulse[1] = new[0].array();
            contact.impulse[2] = new[1].array();
            la = la + push.scaled(masses[0]);
            lb = lb - push.scaled(masses[1]);
            wa = wa + arms[0].cross(push).by(&self.inverse_inertia[0]);
            wb = wb - arms[1].cross(push).by(&self.inverse_inertia[1]);
        }
        *v = Velocities { linear: [la, lb], angular: [wa, wb] };
    }

    /// After the last substep.
    #[inline(always)]
    fn bounce<F: F32x8>(&mut self, v: &mut Velocities<F>, threshold: f64) {
        let zero = F::splat(0.0);
        let threshold = F::of(self.speed).mul(F::splat(threshold as f32));
        for (contact, geometry) in self.contacts.iter_mut().zip(&mut *self.geometry) {
            let normal = Vectors::of(&contact.normal);
            let arms = [Vectors::of(&contact.arms[0]), Vectors::of(&contact.arms[1])];
            let turns = [arms[0].cross(normal), arms[1].cross(normal)];
            let speed = (v.linear[0] - v.linear[1])
                .dot(normal)
                .add(v.angular[0].dot(turns[0]))
                .sub(v.angular[1].dot(turns[1]));
            let rebound = F::of(geometry.rebound);
            // Where it struck hard enough, and pressed.
            let counts = F::of(geometry.struck).below(zero.sub(threshold)).select(F::of(geometry.most), zero);
            let mass = zero.below(counts).select(F::of(contact.masses[0]), zero);
            let old = F::of(contact.impulse[0]);
            let new = old.sub(mass.mul(speed.add(rebound))).max(zero);
            let change = new.sub(old);
            contact.impulse[0] = new.array();
            geometry.most = F::of(geometry.most).max(new).array();
            geometry.total = F::of(geometry.total).add(change).array();
            v.push(&self.inverse_mass, &self.inverse_inertia, arms, normal.scaled(change));
        }
    }
}
