//! Rolling resistance: one torque a pair, limited by what all its points press.
//!
//! The torque is summed up over all rounds of a pass and limited as one, like friction. Were each round limited by itself, more
//! rounds would resist more, and slivers would stand on their tips.

use super::mover::Movers;
use crate::bodies::integrate::inverse;
use glam::{DMat3, DVec3};

/// The torque between two bodies that touch.
pub(super) struct Roll {
    /// Ascending.
    pub movers: [usize; 2],
    /// Torque for a newton of load, N m.
    arm: f64,
    /// What it does to the first body in a substep, N m s, world.
    pub impulse: DVec3,
    /// What a unit of relative spin weighs in this substep, kg m^2, world.
    inertia: DMat3,
    /// Whether the bodies have turned since that was worked out.
    turned: bool,
}

impl Roll {
    /// Between these; `impulse` is that of the last substep.
    pub fn new(movers: [usize; 2], arm: f64, impulse: DVec3) -> Self {
        Self { movers, arm, impulse, inertia: DMat3::ZERO, turned: true }
    }

    /// Whether it does nothing now.
    pub fn is_idle(&self) -> bool {
        self.impulse == DVec3::ZERO
    }

    fn push(&self, movers: &mut Movers, impulse: DVec3) {
        for (k, sign) in self.movers.into_iter().zip([1.0, -1.0]) {
            let turn = movers.frames[k].inverse_inertia * (impulse * sign);
            movers.motions[k].spin(turn);
        }
    }

    /// Begins with the torque of the last substep, as far as `load` (N s) allows now.
    pub fn warm_start(&mut self, movers: &mut Movers, load: f64) {
        self.impulse = self.impulse.clamp_length_max(self.arm * load);
        self.push(movers, self.impulse);
    }

    /// When the bodies have turned.
    pub fn aim(&mut self) {
        self.turned = true;
    }

    /// Brings the inertia up to date.
    pub fn look(&mut self, movers: &Movers) {
        if std::mem::take(&mut self.turned) {
            let [a, b] = self.movers.map(|k| movers.frames[k].inverse_inertia);
            self.inertia = inverse(a + b);
        }
    }

    /// Takes out relative rotation, as far as `load` (N s) allows. Gives how much it changed the speed of a point that is an arm's
    /// length away, m/s.
    pub fn resist(&mut self, movers: &mut Movers, load: f64) -> f64 {
        let most = self.arm * load;
        if most == 0.0 && self.impulse == DVec3::ZERO {
            return 0.0;
        }
        self.look(movers);
        let [a, b] = self.movers.map(|k| movers.motions[k].angular);
        let turn = a - b;
        let new = (self.impulse - self.inertia * turn).clamp_length_max(most);
        let change = new - self.impulse;
        if change == DVec3::ZERO {
            return 0.0;
        }
        let [a, b] = self.movers.map(|k| movers.frames[k].inverse_inertia);
        let softness = a + b;
        let speed = (softness * change).length() * self.arm;
        self.push(movers, change);
        self.impulse = new;
        speed
    }
}
