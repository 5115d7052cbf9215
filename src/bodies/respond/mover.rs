//! Bodies as the solver sees them. What contacts read and write all the time lies together: some hundred bodies fit the first cache.

use crate::bodies::{Body, BodyState, integrate, integrate::inverse};
use glam::{DMat3, DVec3};

/// How a body moves, world.
pub(super) struct Motion {
    /// m/s.
    pub linear: DVec3,
    /// rad/s.
    pub angular: DVec3,
    /// 1/kg; 0 of what cannot move.
    pub inverse_mass: f64,
    /// By how much this pass has changed both, m/s and rad/s, all changes summed up as if none undid another.
    pub stir: [f64; 2],
}

impl Motion {
    /// Velocity of what is at `r` from the centre.
    #[inline]
    pub fn at(&self, r: DVec3) -> DVec3 {
        self.linear + self.angular.cross(r)
    }

    /// Changes the velocity by `speed` along the unit vector `way`.
    #[inline]
    pub fn shift(&mut self, way: DVec3, speed: f64) {
        self.linear += way * speed;
        self.stir[0] += speed.abs();
    }

    /// Changes the spin, rad/s.
    #[inline]
    pub fn spin(&mut self, change: DVec3) {
        self.angular += change;
        // No less than its length.
        self.stir[1] += change.abs().element_sum();
    }

    pub fn moves(&self) -> bool {
        self.inverse_mass > 0.0
    }
}

/// How a body lies, and its inertia.
pub(super) struct Frame {
    pub position: DVec3,
    pub rotation: DMat3,
    /// World.
    pub inverse_inertia: DMat3,
    state: BodyState,
    inertia_in_body: DMat3,
    inverse_in_body: DMat3,
}

impl Frame {
    fn new(state: BodyState, inertia_in_body: DMat3, inverse_in_body: DMat3) -> Self {
        let rotation = DMat3::from_quat(state.rotation);
        Self {
            position: state.position,
            rotation,
            inverse_inertia: rotation * inverse_in_body * rotation.transpose(),
            state,
            inertia_in_body,
            inverse_in_body,
        }
    }
}

/// All bodies, in their order, and the floor.
pub(super) struct Movers {
    pub motions: Vec<Motion>,
    pub frames: Vec<Frame>,
}

impl Movers {
    /// Of `bodies`; what is fixed, frozen or asleep cannot move.
    pub fn new(bodies: &[Body]) -> Self {
        let floor = (BodyState::at(DVec3::ZERO), 0.0, DMat3::ZERO);
        let of = |body: &Body| {
            let moves = !body.is_static() && !body.asleep;
            (body.state, if moves { 1.0 / body.def.mass_kg() } else { 0.0 }, body.def.inertia())
        };
        let all = bodies.iter().map(of).chain([floor]);
        let (motions, frames) = all
            .map(|(state, inverse_mass, inertia)| {
                let inverse = if inverse_mass > 0.0 { inverse(inertia) } else { DMat3::ZERO };
                let (linear, angular) = (state.linear_velocity, state.angular_velocity);
                let motion = Motion { linear, angular, inverse_mass, stir: [0.0; 2] };
                (motion, Frame::new(state, inertia, inverse))
            })
            .unzip();
        Self { motions, frames }
    }

    /// Two of them, the lower first.
    #[inline]
    pub fn pair(&mut self, [a, b]: [usize; 2]) -> [&mut Motion; 2] {
        let (low, high) = self.motions.split_at_mut(b);
        [&mut low[a], &mut high[0]]
    }

    /// Pushes mover `k` at `r` from its centre, N s.
    pub fn push(&mut self, k: usize, r: DVec3, impulse: DVec3) {
        let motion = &mut self.motions[k];
        motion.linear += impulse * motion.inverse_mass;
        motion.angular += self.frames[k].inverse_inertia * r.cross(impulse);
    }

    /// By how much the speed of two bodies' points that are within `reach` (m) of their centres may have changed in this pass, m/s.
    #[inline]
    pub fn stirred(&self, pair: [usize; 2], reach: [f64; 2]) -> f64 {
        let [a, b] = pair.map(|k| &self.motions[k].stir);
        a[0] + b[0] + a[1] * reach[0] + b[1] * reach[1]
    }

    /// Gravity and limits on all that moves.
    pub fn accelerate(&mut self, gravity: DVec3, h: f64) {
        for (motion, frame) in self.moving() {
            let mut state = with(frame, motion);
            integrate::velocity(&mut state, gravity, h);
            (motion.linear, motion.angular) = (state.linear_velocity, state.angular_velocity);
        }
    }

    /// Moves all that moves.
    pub fn advance(&mut self, h: f64) {
        for (motion, frame) in self.moving() {
            let mut state = with(frame, motion);
            integrate::pose(&mut state, &frame.inertia_in_body, &frame.inverse_in_body, h);
            (motion.linear, motion.angular) = (state.linear_velocity, state.angular_velocity);
            *frame = Frame::new(state, frame.inertia_in_body, frame.inverse_in_body);
        }
    }

    fn moving(&mut self) -> impl Iterator<Item = (&mut Motion, &mut Frame)> {
        self.motions.iter_mut().zip(&mut self.frames).filter(|(motion, _)| motion.moves())
    }

    /// The states of all that moves, by index.
    pub fn states(&self) -> impl Iterator<Item = (usize, BodyState)> {
        let all = self.motions.iter().zip(&self.frames).enumerate();
        all.filter(|(_, (motion, _))| motion.moves()).map(|(k, (motion, frame))| (k, with(frame, motion)))
    }
}

fn with(frame: &Frame, motion: &Motion) -> BodyState {
    BodyState { linear_velocity: motion.linear, angular_velocity: motion.angular, ..frame.state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn no_point_is_stirred_by_more_than_the_bound() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let still = |inverse_mass: f64| {
            let state = BodyState::at(DVec3::ZERO);
            let motion = Motion { linear: DVec3::ZERO, angular: DVec3::ZERO, inverse_mass, stir: [0.0; 2] };
            (motion, Frame::new(state, DMat3::IDENTITY, DMat3::IDENTITY))
        };
        let mut closest = f64::MAX;
        for _ in 0..200 {
            let (motions, frames) = [still(1.0), still(0.1)].into_iter().unzip();
            let mut movers = Movers { motions, frames };
            let mut v = || DVec3::from([0; 3].map(|_| rng.random_range(-1.0..1.0f64)));
            let arms = [v(), v() * 0.1];
            let normal = v().normalize_or(DVec3::Y);
            let reach = arms.map(DVec3::length);
            for k in 0..6 {
                let motion = &mut movers.motions[k % 2];
                motion.shift(v().normalize_or(DVec3::X), v().x);
                motion.spin(v());
                let [a, b] = [0, 1].map(|s| movers.motions[s].at(arms[s]));
                let (speed, bound) = ((a - b).dot(normal).abs(), movers.stirred([0, 1], reach));
                assert!(speed <= bound, "{speed} {bound}");
                closest = closest.min(bound / speed.max(1e-9));
            }
        }
        println!("the bound was at least {closest:.2} times the change");
        assert!(closest < 3.0, "or it would be of no use");
    }
}
