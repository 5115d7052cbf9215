//! The solver's bodies. The data that contacts read and write most lies together: some hundred bodies fit the first
//! cache.

use crate::{
    Body, BodyState,
    integrate::{self, inverse, turned_by},
    scale::Scale,
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

/// Fewer bodies are not worth a second thread.
const FEW: usize = 192;

/// How a body moves, world.
pub(in crate::solver) struct Motion {
    /// m/s.
    pub linear: DVec3,
    /// rad/s.
    pub angular: DVec3,
    /// 1/kg; 0 of what cannot move.
    pub inverse_mass: f64,
    /// World, 1/(kg m^2); that of its [`Frame`].
    pub inverse_inertia: DMat3,
    /// Sum of the changes of both velocities in this pass, m/s and rad/s, without cancellation.
    pub total_change: [f64; 2],
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
        self.total_change[0] += speed.abs();
    }

    /// Changes the spin, rad/s.
    #[inline]
    pub fn spin(&mut self, change: DVec3) {
        self.angular += change;
        // No less than its length.
        self.total_change[1] += change.abs().element_sum();
    }

    pub fn moves(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// The motion of a body that cannot move.
    pub fn still() -> Self {
        Self {
            linear: DVec3::ZERO,
            angular: DVec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
            total_change: [0.0; 2],
        }
    }
}

/// How a body lies, and its inertia.
pub(in crate::solver) struct Frame {
    pub position: DVec3,
    pub rotation: DMat3,
    /// 1/kg, as of its [`Motion`].
    pub inverse_mass: f64,
    /// World.
    pub inverse_inertia: DMat3,
    /// Index of the body; the number of bodies is the floor.
    pub body: usize,
    /// Scale of the object; for a body that cannot move the largest.
    pub scale: Scale,
    /// How it was moved last, m.
    moved: DVec3,
    /// How far that turned what is a metre from its centre, m, at most.
    turned: f64,
    state: BodyState,
    inertia_in_body: DMat3,
    inverse_in_body: DMat3,
}

impl Frame {
    fn new(body: usize, scale: Scale, state: BodyState, inverse_mass: f64, inertia_in_body: DMat3) -> Self {
        let inverse_in_body = if inverse_mass > 0.0 { inverse(inertia_in_body) } else { DMat3::ZERO };
        let mut frame = Self {
            position: state.position,
            rotation: DMat3::IDENTITY,
            inverse_mass,
            inverse_inertia: DMat3::ZERO,
            body,
            scale,
            moved: DVec3::ZERO,
            turned: 0.0,
            state,
            inertia_in_body,
            inverse_in_body,
        };
        frame.put(state);
        frame
    }

    /// World, kg m^2.
    pub fn inertia(&self) -> DMat3 {
        self.rotation * self.inertia_in_body * self.rotation.transpose()
    }

    /// Lies so from now on.
    fn put(&mut self, state: BodyState) {
        self.moved = state.position - self.state.position;
        // Twice the sine of half the angle.
        let turn = state.rotation * self.state.rotation.conjugate();
        self.turned = 2.0 * turn.xyz().length();
        self.state = state;
        self.position = state.position;
        self.rotation = DMat3::from_quat(state.rotation);
        self.inverse_inertia = self.rotation * self.inverse_in_body * self.rotation.transpose();
    }
}

/// By how much a body has come on, world.
pub(in crate::solver) struct Carried {
    /// m.
    pub moved: DVec3,
    /// From how it lay to how it lies.
    pub turn: DQuat,
    /// Change of velocity, m/s.
    pub linear: DVec3,
    /// Change of spin, rad/s.
    pub angular: DVec3,
}

/// All bodies and the floor: what moves in the order of its parts, then the rest, which has no velocity.
pub(in crate::solver) struct SolverBodies {
    pub motions: Vec<Motion>,
    pub frames: Vec<Frame>,
    /// Where each body is among them, the floor last.
    places: Vec<usize>,
    /// How many move.
    moving: usize,
}

impl SolverBodies {
    /// The solver bodies of `bodies`, moving ones first, in the order `moving`; their speeds are limited to those that
    /// substeps of `h` seconds allow, otherwise contacts would react to a speed that no body reaches.
    pub fn new(bodies: &[Body], moving: &[usize], gravity: DVec3, h: f64) -> Self {
        let mut places = vec![usize::MAX; bodies.len() + 1];
        moving.iter().enumerate().for_each(|(place, &k)| places[k] = place);
        let rest: Vec<usize> = (0..places.len()).filter(|&k| places[k] == usize::MAX).collect();
        rest.iter().enumerate().for_each(|(i, &k)| places[k] = moving.len() + i);
        let of_moving = moving.iter().map(|&k| {
            let (mut state, def) = (bodies[k].state, &bodies[k].def);
            integrate::velocity(&mut state, DVec3::ZERO, h);
            let frame = Frame::new(k, Scale::of(def, gravity), state, 1.0 / def.mass_kg(), def.inertia());
            let (linear, angular) = (state.linear_velocity, state.angular_velocity);
            let Frame { inverse_mass, inverse_inertia, .. } = frame;
            (Motion { linear, angular, inverse_mass, inverse_inertia, total_change: [0.0; 2] }, frame)
        });
        let of_rest = rest.iter().map(|&k| {
            let state = bodies.get(k).map_or(BodyState::at(DVec3::ZERO), |body| body.state);
            (Motion::still(), Frame::new(k, Scale::BOUNDLESS, state, 0.0, DMat3::ZERO))
        });
        let (motions, frames) = of_moving.chain(of_rest).unzip();
        Self { motions, frames, places, moving: moving.len() }
    }

    /// Where body `k`, or the floor, is among them.
    pub fn place(&self, k: usize) -> usize {
        self.places[k]
    }

    /// The moving bodies, mutable.
    pub fn share(&mut self) -> BodiesMut<'_> {
        BodiesMut {
            motions: &mut self.motions[..self.moving],
            first: 0,
            frames: &self.frames,
            still: Motion::still(),
        }
    }

    /// Gravity and limits on all that moves.
    pub fn accelerate(&mut self, gravity: DVec3, h: f64) {
        self.each_that_moves(|motion, frame| {
            let mut state = with(frame, motion);
            integrate::velocity(&mut state, gravity, h);
            (motion.linear, motion.angular) = (state.linear_velocity, state.angular_velocity);
        });
    }

    /// Moves all that moves.
    pub fn advance(&mut self, h: f64) {
        self.each_that_moves(|motion, frame| {
            let mut state = with(frame, motion);
            integrate::pose(&mut state, &frame.inertia_in_body, &frame.inverse_in_body, h);
            (motion.linear, motion.angular) = (state.linear_velocity, state.angular_velocity);
            frame.put(state);
            motion.inverse_inertia = frame.inverse_inertia;
        });
    }

    /// Lets `work` say by how much to move and turn all that moves, as motions of a second, and does so: no speed
    /// changes.
    pub fn displace(&mut self, work: impl FnOnce(&mut Self)) {
        let still = |motion: &mut Motion| {
            let speeds = (motion.linear, motion.angular);
            (motion.linear, motion.angular) = (DVec3::ZERO, DVec3::ZERO);
            speeds
        };
        let speeds: Vec<(DVec3, DVec3)> = self.motions.iter_mut().map(still).collect();
        work(self);
        for ((motion, frame), speeds) in self.motions.iter_mut().zip(&mut self.frames).zip(speeds) {
            if motion.linear != DVec3::ZERO || motion.angular != DVec3::ZERO {
                let rotation = (turned_by(motion.angular) * frame.state.rotation).normalize();
                frame.put(BodyState { position: frame.position + motion.linear, rotation, ..frame.state });
                motion.inverse_inertia = frame.inverse_inertia;
            } else {
                (frame.moved, frame.turned) = (DVec3::ZERO, 0.0);
            }
            (motion.linear, motion.angular) = speeds;
        }
    }

    /// Takes over what was worked out elsewhere: how the moving ones have come on, in their order.
    pub fn carry(&mut self, all: impl Iterator<Item = Carried>) {
        for ((motion, frame), by) in self.motions[..self.moving].iter_mut().zip(&mut self.frames).zip(all) {
            motion.linear += by.linear;
            motion.angular += by.angular;
            let rotation = match by.turn == DQuat::IDENTITY {
                true => frame.state.rotation,
                false => (by.turn * frame.state.rotation).normalize(),
            };
            frame.put(BodyState { position: frame.position + by.moved, rotation, ..frame.state });
            motion.inverse_inertia = frame.inverse_inertia;
        }
    }

    /// How fast points of two of them that are within `reach` (m) of their centres come closer, at most, m/s.
    pub fn closing_speed(&self, pair: [usize; 2], reach: [f64; 2]) -> f64 {
        let [a, b] = pair.map(|k| &self.motions[k]);
        (a.linear - b.linear).length() + a.angular.length() * reach[0] + b.angular.length() * reach[1]
    }

    /// How much closer such points came when all were moved last, at most, m.
    pub fn came_closer(&self, pair: [usize; 2], reach: [f64; 2]) -> f64 {
        let [a, b] = pair.map(|k| &self.frames[k]);
        (a.moved - b.moved).length() + a.turned * reach[0] + b.turned * reach[1]
    }

    /// Calls `work` for all moving bodies, on all cores if that pays.
    fn each_that_moves(&mut self, work: impl Fn(&mut Motion, &mut Frame) + Sync) {
        let do_it = |(motion, frame): (&mut Motion, &mut Frame)| {
            if motion.moves() {
                work(motion, frame);
            }
        };
        if self.motions.len() < FEW {
            self.motions.iter_mut().zip(&mut self.frames).for_each(do_it);
        } else {
            self.motions.par_iter_mut().zip(&mut self.frames).with_min_len(FEW / 2).for_each(do_it);
        }
    }

    /// The states of all that moves, and which bodies they are.
    pub fn states(&self) -> impl Iterator<Item = (usize, BodyState)> {
        let all = self.motions.iter().zip(&self.frames);
        all.filter(|(motion, _)| motion.moves()).map(|(motion, frame)| (frame.body, with(frame, motion)))
    }
}

/// The bodies that one thread may change, and how all lie.
pub(in crate::solver) struct BodiesMut<'a> {
    motions: &'a mut [Motion],
    /// Which solver body the first of them is.
    first: usize,
    pub frames: &'a [Frame],
    /// Stands for all that cannot move.
    still: Motion,
}

impl BodiesMut<'_> {
    /// The solver bodies before and after the `count`-th.
    pub fn split(&mut self, count: usize) -> [BodiesMut<'_>; 2] {
        let (low, high) = self.motions.split_at_mut(count);
        let (frames, middle) = (self.frames, self.first + count);
        [(low, self.first), (high, middle)].map(|(motions, first)| BodiesMut {
            motions,
            first,
            frames,
            still: Motion::still(),
        })
    }

    /// How solver body `k` moves, where it does.
    #[inline]
    pub fn motion(&self, k: usize) -> Option<&Motion> {
        self.motions.get(k - self.first)
    }

    /// Mutable motion of solver body `k`.
    #[inline]
    pub fn motion_mut(&mut self, k: usize) -> Option<&mut Motion> {
        self.motions.get_mut(k - self.first)
    }

    /// Two of them, of which at least one moves.
    #[inline]
    pub fn pair(&mut self, pair: [usize; 2]) -> [&mut Motion; 2] {
        // Bodies that cannot move come last.
        let [a, b] = pair.map(|k| k - self.first);
        let (low, high) = (a.min(b), a.max(b));
        let (head, tail) = self.motions.split_at_mut(high.min(self.motions.len()));
        let (low, high) = (&mut head[low], tail.first_mut().unwrap_or(&mut self.still));
        if a < b { [low, high] } else { [high, low] }
    }

    /// Pushes solver body `k` at `r` from its centre, N s.
    pub fn push(&mut self, k: usize, r: DVec3, impulse: DVec3) {
        if let Some(motion) = self.motions.get_mut(k - self.first) {
            motion.linear += impulse * motion.inverse_mass;
            motion.angular += self.frames[k].inverse_inertia * r.cross(impulse);
        }
    }

    /// Changes the spin of solver body `k` by an angular impulse, N m s.
    pub fn twist(&mut self, k: usize, impulse: DVec3) {
        if let Some(motion) = self.motions.get_mut(k - self.first) {
            motion.spin(self.frames[k].inverse_inertia * impulse);
        }
    }

    /// How fast the first of two solver bodies turns against the second, rad/s.
    pub fn turn(&self, pair: [usize; 2]) -> DVec3 {
        let [a, b] = pair.map(|k| self.motions.get(k - self.first).map_or(DVec3::ZERO, |m| m.angular));
        a - b
    }

    /// By how much the speed of two bodies' points that are within `reach` (m) of their centres may have
    /// changed in this pass, m/s.
    #[inline]
    pub fn total_change(&self, pair: [usize; 2], reach: [f64; 2]) -> f64 {
        let [a, b] = pair.map(|k| self.motions.get(k - self.first).map_or([0.0; 2], |m| m.total_change));
        a[0] + b[0] + a[1] * reach[0] + b[1] * reach[1]
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
        let mut closest = f64::MAX;
        for _ in 0..200 {
            let mut motions = [1.0, 0.1].map(|inverse_mass| Motion { inverse_mass, ..Motion::still() });
            let mut v = || DVec3::from([0; 3].map(|_| rng.random_range(-1.0..1.0f64)));
            let arms = [v(), v() * 0.1];
            let normal = v().normalize_or(DVec3::Y);
            let reach = arms.map(DVec3::length);
            for k in 0..6 {
                let motion = &mut motions[k % 2];
                motion.shift(v().normalize_or(DVec3::X), v().x);
                motion.spin(v());
                let [a, b] = [0, 1].map(|s| motions[s].at(arms[s]));
                let share =
                    BodiesMut { motions: &mut motions, first: 0, frames: &[], still: Motion::still() };
                let (speed, bound) = ((a - b).dot(normal).abs(), share.total_change([0, 1], reach));
                assert!(speed <= bound, "{speed} {bound}");
                closest = closest.min(bound / speed.max(1e-9));
            }
        }
        println!("the bound was at least {closest:.2} times the change");
        assert!(closest < 3.0, "or it would be of no use");
    }
}
