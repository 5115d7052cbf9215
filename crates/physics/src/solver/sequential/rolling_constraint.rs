//! Rolling resistance: one torque per pair, limited by the impulses of all its points.
//!
//! The torque is summed up over all rounds of a pass and limited as one, like friction. Were each round limited by
//! itself, more rounds would resist more, and slivers would stand on their tips.

use super::solver_bodies::{BodiesMut, Frame};
use crate::integrate::inverse;
use glam::{DMat3, DVec3};

/// The torque between two bodies that touch.
pub(in crate::solver) struct RollingConstraint {
    pub solver_bodies: [usize; 2],
    /// Torque for a newton of load, N m.
    pub(super) arm: f64,
    /// Angular impulse on the first body in a substep, N m s, world.
    pub impulse: DVec3,
    /// Effective inertia of relative spin in this substep, kg m^2, world.
    pub(super) inertia: DMat3,
    /// Whether the bodies have turned since that was worked out.
    turned: bool,
}

impl RollingConstraint {
    /// Between these; `impulse` is that of the last substep.
    pub fn new(solver_bodies: [usize; 2], arm: f64, impulse: DVec3) -> Self {
        Self { solver_bodies, arm, impulse, inertia: DMat3::ZERO, turned: true }
    }

    /// Whether it is zero now.
    pub fn is_idle(&self) -> bool {
        self.impulse == DVec3::ZERO
    }

    fn push(&self, share: &mut BodiesMut<'_>, impulse: DVec3) {
        share.twist(self.solver_bodies[0], impulse);
        share.twist(self.solver_bodies[1], -impulse);
    }

    /// Begins with the torque of the last substep, as far as `load` (N s) allows now.
    pub fn warm_start(&mut self, share: &mut BodiesMut<'_>, load: f64) {
        self.impulse = self.impulse.clamp_length_max(self.arm * load);
        self.push(share, self.impulse);
    }

    /// When the bodies have turned.
    pub fn aim(&mut self) {
        self.turned = true;
    }

    /// Brings the inertia up to date.
    pub fn look(&mut self, frames: &[Frame]) {
        if std::mem::take(&mut self.turned) {
            let [a, b] = self.solver_bodies.map(|k| frames[k].inverse_inertia);
            self.inertia = inverse(a + b);
        }
    }

    /// Takes out relative rotation, as far as `load` (N s) allows. Gives how much it changed the speed of a
    /// point that is an arm's length away, m/s.
    pub fn resist(&mut self, share: &mut BodiesMut<'_>, load: f64) -> f64 {
        let most = self.arm * load;
        if most == 0.0 && self.impulse == DVec3::ZERO {
            return 0.0;
        }
        self.look(share.frames);
        let new = (self.impulse - self.inertia * share.turn(self.solver_bodies)).clamp_length_max(most);
        let change = new - self.impulse;
        if change == DVec3::ZERO {
            return 0.0;
        }
        let [a, b] = self.solver_bodies.map(|k| share.frames[k].inverse_inertia);
        let softness = a + b;
        let speed = (softness * change).length() * self.arm;
        self.push(share, change);
        self.impulse = new;
        speed
    }
}
