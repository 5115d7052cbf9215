//! Rolling resistance: one torque a pair, limited by what all its points press.
//!
//! The torque is summed up over all rounds of a pass and limited as one, like friction. Were each round limited by itself, more
//! rounds would resist more, and slivers would stand on their tips.

use super::soft_step::Mover;
use crate::bodies::integrate::inverse;
use glam::{DMat3, DVec3};
use std::ops::Range;

/// The torque between two bodies that touch.
pub(super) struct Roll {
    /// Ascending.
    pub movers: [usize; 2],
    /// Whose.
    pub manifold: usize,
    /// Its points.
    pub rows: Range<usize>,
    /// Torque for a newton of load, N m.
    pub arm: f64,
    /// What it does to the first body in a substep, N m s, world.
    pub impulse: DVec3,
    /// What a unit of relative spin weighs in this substep, kg m^2, world.
    pub inertia: DMat3,
}

impl Roll {
    fn push(&self, movers: &mut [Mover], impulse: DVec3) {
        for (k, sign) in self.movers.into_iter().zip([1.0, -1.0]) {
            let turn = movers[k].inverse_inertia * (impulse * sign);
            movers[k].state.angular_velocity += turn;
        }
    }

    /// Begins with the torque of the last substep, as far as `load` (N s) allows now.
    pub fn warm_start(&mut self, movers: &mut [Mover], load: f64) {
        let [a, b] = self.movers.map(|k| movers[k].inverse_inertia);
        self.inertia = inverse(a + b);
        self.impulse = self.impulse.clamp_length_max(self.arm * load);
        self.push(movers, self.impulse);
    }

    /// Takes out relative rotation, as far as `load` (N s) allows. Gives how much it changed the speed of a point that is an arm's
    /// length away, m/s.
    pub fn resist(&mut self, movers: &mut [Mover], load: f64) -> f64 {
        let most = self.arm * load;
        if most == 0.0 && self.impulse == DVec3::ZERO {
            return 0.0;
        }
        let [a, b] = self.movers.map(|k| &movers[k]);
        let turn = a.state.angular_velocity - b.state.angular_velocity;
        let new = (self.impulse - self.inertia * turn).clamp_length_max(most);
        let change = new - self.impulse;
        if change == DVec3::ZERO {
            return 0.0;
        }
        let softness = a.inverse_inertia + b.inverse_inertia;
        let speed = (softness * change).length() * self.arm;
        self.push(movers, change);
        self.impulse = new;
        speed
    }
}
