//! One contact point of the solver, and its bodies.
//!
//! Most points of a heap do not touch and stay so in a pass. Such a row stores by how much its bodies' velocities may
//! change before it gets work, and costs one comparison until then; the result is the same.

use super::solver_bodies::{BodiesMut, Frame, Motion, SolverBodies};
use crate::collide::{Ball, Point, tangents};
use glam::DVec3;

/// Warm starting uses at most the impulse that changes the speed there by this much, m/s for objects of a metre: the
/// load of two hundred equal bodies.
pub(in crate::solver) const WARM_SPEED: f64 = 5.0;

/// Converts a load to a mass, m/s^2. Any other number of that size would do.
pub(in crate::solver) const WEIGHT: f64 = 9.81;

/// Share of the allowed change after which a row is tested again: less than all, for rounding.
pub(super) const SURE: f64 = 0.999;

/// A direction in which a row acts. Values that follow from it and the row's arms are computed each time: a row that
/// stores them would be longer by two thirds, and no faster (docs/lab/steps.md).
#[derive(Clone, Copy)]
struct Axis {
    way: DVec3,
    /// Effective mass, kg; 0 if neither body can move.
    mass: f64,
}

impl Axis {
    /// A direction without its mass.
    const fn along(way: DVec3) -> Self {
        Self { way, mass: 0.0 }
    }

    fn new(way: DVec3, arms: [DVec3; 2], pair: [usize; 2], frames: &[Frame]) -> Self {
        let frames = pair.map(|k| &frames[k]);
        let turn = arms.map(|arm| arm.cross(way));
        let spin = [0, 1].map(|s| frames[s].inverse_inertia * turn[s]);
        let k: f64 = (0..2).map(|s| frames[s].inverse_mass + turn[s].dot(spin[s])).sum();
        Self { way, mass: if k > 0.0 { 1.0 / k } else { 0.0 } }
    }

    /// How fast the first body moves against the second along it, m/s, where it turns them by `turn`.
    #[inline]
    fn speed(&self, [a, b]: &[&mut Motion; 2], turn: &[DVec3; 2]) -> f64 {
        (a.linear - b.linear).dot(self.way) + a.angular.dot(turn[0]) - b.angular.dot(turn[1])
    }

    /// Pushes the two bodies apart.
    #[inline]
    fn push(&self, [a, b]: &mut [&mut Motion; 2], turn: &[DVec3; 2], impulse: f64) {
        a.shift(self.way, impulse * a.inverse_mass);
        a.spin(a.inverse_inertia * turn[0] * impulse);
        b.shift(self.way, -impulse * b.inverse_mass);
        b.spin(-(b.inverse_inertia * turn[1]) * impulse);
    }

    /// Angular impulses of both bodies for a unit impulse along it, N m s: arm x way.
    #[inline]
    fn turn(&self, arms: &[DVec3; 2]) -> [DVec3; 2] {
        arms.map(|arm| arm.cross(self.way))
    }
}

/// Spring constants of one substep.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Soft {
    /// Converts a depth to a speed, 1/s.
    pub bias_rate: f64,
    /// Softness of a contact that carries one kilogram: speed for an impulse of 1 N s.
    pub softness: f64,
    /// Overlap is undone at most this fast, m/s.
    pub push_out: f64,
}

/// Position correction of overlap in a substep, which changes no velocity.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Parting {
    /// Overlap that stays, m: contacts that part altogether would be lost and found again.
    pub slop: f64,
    /// How much of the rest is undone.
    pub share: f64,
    /// At most, m.
    pub most: f64,
}

/// One contact point of the solver. Members that are read most come first: a row without work costs one cache line.
#[derive(Clone)]
#[repr(C)]
pub(in crate::solver) struct ContactConstraint {
    /// It has no work before the velocities of its bodies change by this, m/s.
    until: f64,
    pub normal_impulse: f64,
    /// Separation now: the arms turn and move with the bodies, the normal stays.
    gap: f64,
    solver_bodies: [u32; 2],
    pub friction_impulse: DVec3,
    friction: f64,
    /// Mass for the spring: along the line between the centres, or the carried load if that is larger: otherwise a
    /// crumb's springs, made for the crumb, would sink under a slab.
    spring_mass: f64,
    most_impulse: f64,
    normal: Axis,
    /// World, of this substep.
    arms: [DVec3; 2],
    /// Whether the arms have moved since the axes were worked out: along the normal, and across.
    moved: [bool; 2],
    /// Whether friction slid.
    pub slid: bool,
    tangents: [Axis; 2],
    /// Slip now.
    drift: DVec3,
    /// Mass for a spring between the centres: with the mass at the point, the depth would depend on where in its cell
    /// the point lies.
    linear_mass: f64,
    /// Position correction in this substep, as an impulse on displacements, kg m.
    parted: f64,
    pub total_impulse: f64,
    pub total_friction: DVec3,
    pub manifold: u32,
    /// Which of its manifold's.
    pub point: u32,
    /// In body axes.
    anchors: [DVec3; 2],
    ball: Option<Ball>,
    follows: Option<u8>,
    /// Separation when the anchors were in one place.
    adjusted: f64,
    restitution: f64,
    approach: f64,
    pub size: f64,
    /// How far the first body has slipped from where it stuck to the second, at the start of the step, world.
    slip: DVec3,
}

/// Input of a row for a pass over several rows at once.
pub(in crate::solver) struct Needs {
    /// m/s.
    pub bias: f64,
    /// Speed for an impulse.
    pub softness: f64,
    pub way: DVec3,
    pub tangent: DVec3,
    pub arms: [DVec3; 2],
    pub friction: f64,
    pub drift: DVec3,
    pub most_impulse: f64,
}

/// Surface properties of both bodies.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Surface {
    pub friction: f64,
    pub restitution: f64,
    /// Radius of the smaller, m.
    pub size: f64,
}

impl ContactConstraint {
    /// To be written over.
    pub const BLANK: Self = Self {
        until: f64::MIN,
        normal_impulse: 0.0,
        gap: 0.0,
        solver_bodies: [0; 2],
        friction_impulse: DVec3::ZERO,
        friction: 0.0,
        normal: Axis::along(DVec3::ZERO),
        moved: [true; 2],
        slid: false,
        arms: [DVec3::ZERO; 2],
        linear_mass: 0.0,
        spring_mass: 0.0,
        tangents: [Axis::along(DVec3::ZERO); 2],
        drift: DVec3::ZERO,
        most_impulse: 0.0,
        parted: 0.0,
        total_impulse: 0.0,
        total_friction: DVec3::ZERO,
        manifold: 0,
        point: 0,
        anchors: [DVec3::ZERO; 2],
        ball: None,
        follows: None,
        adjusted: 0.0,
        restitution: 0.0,
        approach: 0.0,
        size: 0.0,
        slip: DVec3::ZERO,
    };

    /// The row of point `p` of a manifold between two solver bodies.
    pub fn new(
        [manifold, point]: [usize; 2],
        p: &Point,
        pair: [usize; 2],
        solver_bodies: &SolverBodies,
        surface: Surface,
    ) -> Self {
        let frames = pair.map(|k| &solver_bodies.frames[k]);
        let [a, b] = pair.map(|k| &solver_bodies.motions[k]);
        let arms = frames.map(|frame| p.position - frame.position);
        let (t, u) = tangents(p.normal);
        let speed = a.at(arms[0]) - b.at(arms[1]);
        Self {
            solver_bodies: pair.map(|k| k as u32),
            manifold: manifold as u32,
            point: point as u32,
            anchors: [0, 1].map(|s| frames[s].rotation.transpose() * arms[s]),
            ball: p.ball,
            follows: p.follows,
            arms,
            normal: Axis::along(p.normal),
            tangents: [Axis::along(t), Axis::along(u)],
            spring_mass: 0.0,
            linear_mass: 1.0 / (a.inverse_mass + b.inverse_mass),
            moved: [true; 2],
            adjusted: p.separation,
            gap: p.separation,
            drift: p.slip,
            friction: surface.friction,
            restitution: surface.restitution,
            approach: speed.dot(p.normal),
            size: surface.size,
            normal_impulse: p.normal_impulse,
            most_impulse: 0.0,
            parted: 0.0,
            total_impulse: 0.0,
            total_friction: DVec3::ZERO,
            friction_impulse: p.friction_impulse - p.normal * p.friction_impulse.dot(p.normal),
            slip: p.slip,
            slid: false,
            until: f64::MIN,
        }
    }

    /// Its impulse in the last substep, N s.
    pub fn pressed(&self) -> DVec3 {
        self.normal.way * self.normal_impulse
    }

    /// After a substep: adds its impulses to those of the step.
    pub fn sum_up(&mut self) {
        self.total_impulse += self.normal_impulse;
        self.total_friction += self.friction_impulse;
    }

    /// Its bodies.
    #[inline]
    pub fn pair(&self) -> [usize; 2] {
        self.solver_bodies.map(|k| k as usize)
    }

    fn axis(&self, frames: &[Frame], way: DVec3) -> Axis {
        Axis::new(way, self.arms, self.pair(), frames)
    }

    /// Makes both arms end in one point; otherwise angular momentum would leak as the bodies move apart.
    pub fn aim(&mut self, frames: &[Frame]) {
        let [a, b] = [self.place(frames, 0), self.place(frames, 1)];
        self.drift = self.slip + a - b;
        let (nearest, middle) = match self.ball {
            Some(ball) => {
                let frame = &frames[self.pair()[0]];
                let lowest = ball.lowest(frame.position, frame.rotation, self.normal.way);
                (lowest, lowest)
            }
            // Halfway to a wall that a body is shot at would be far beside that body, and it would turn instead of
            // stop.
            None => match self.follows {
                None => (a, (a + b) * 0.5),
                Some(0) => (a, a),
                Some(_) => (a, b),
            },
        };
        self.gap = self.adjusted + (nearest - b).dot(self.normal.way);
        self.arms = self.pair().map(|k| middle - frames[k].position);
        self.until = f64::MIN;
        // Arms of crumbs change a lot in a substep; with the masses of the old ones the impulses would grow
        // without bound.
        self.moved = [true; 2];
    }

    /// Before the first pass of a substep: warm starts with the impulses of the last one, up to a limit: the impulse of
    /// a heavy piece on a crumb would shoot the crumb away once it slips out. Speeds are in units of `unit` m/s.
    pub fn prepare(&mut self, solver_bodies: &SolverBodies, unit: f64, carried: DVec3, h: f64) {
        self.spring_mass = self.linear_mass;
        if !self.is_idle() {
            self.look(&solver_bodies.frames);
            self.look_across(&solver_bodies.frames);
            self.spring_mass =
                self.linear_mass.max(self.normal_impulse.min(carried.dot(self.normal.way)) / (WEIGHT * h));
            self.normal_impulse = self.normal_impulse.min(self.normal.mass * WARM_SPEED * unit);
            self.friction_impulse =
                self.friction_impulse.clamp_length_max(self.friction * self.normal_impulse);
        }
    }

    /// Begins with these impulses.
    pub fn warm_start(&self, share: &mut BodiesMut<'_>) {
        if self.normal_impulse != 0.0 {
            let impulse = self.normal.way * self.normal_impulse + self.friction_impulse;
            let [a, b] = self.pair();
            share.push(a, self.arms[0], impulse);
            share.push(b, self.arms[1], -impulse);
        }
    }

    /// Before a pass, when no velocity has changed yet: works out whether it will have anything to do.
    pub fn foresee(&mut self, solver_bodies: &SolverBodies, soft: Option<Soft>, h: f64) {
        self.until = f64::MIN;
        if !self.is_idle() {
            return;
        }
        let pair = self.pair();
        let [a, b] = [0, 1].map(|s| solver_bodies.motions[pair[s]].at(self.arms[s]));
        let spare = (a - b).dot(self.normal.way) + self.bias(soft, h);
        if spare >= 0.0 {
            self.until = SURE * spare;
            self.slid = true;
        }
    }

    /// The approach speed at which it gets an impulse, m/s; negative if its bodies have to separate. Without its
    /// present impulse.
    fn bias(&self, soft: Option<Soft>, h: f64) -> f64 {
        match soft {
            _ if self.gap > 0.0 => self.gap / h,
            Some(soft) => (soft.bias_rate * self.gap).max(-soft.push_out),
            None => 0.0,
        }
    }

    /// Brings the axis along the normal up to date.
    #[inline]
    fn look(&mut self, frames: &[Frame]) {
        if std::mem::take(&mut self.moved[0]) {
            self.normal = self.axis(frames, self.normal.way);
        }
    }

    /// Computes the masses of both tangents.
    #[inline]
    fn look_across(&mut self, frames: &[Frame]) {
        if std::mem::take(&mut self.moved[1]) {
            self.tangents = [0, 1].map(|i| self.axis(frames, self.tangents[i].way));
        }
    }

    /// Where the point of one body is now.
    fn place(&self, frames: &[Frame], side: usize) -> DVec3 {
        let frame = &frames[self.pair()[side]];
        frame.position + frame.rotation * self.anchors[side]
    }

    /// Whether it neither presses nor rubs.
    #[inline]
    fn is_idle(&self) -> bool {
        self.normal_impulse == 0.0 && self.friction_impulse == DVec3::ZERO
    }

    /// How much the velocities of its bodies may change before it has anything to do, m/s.
    #[inline]
    pub fn rests_until(&self) -> f64 {
        if self.is_idle() { self.until } else { f64::MIN }
    }

    /// Lengths of the arms, m, squared.
    pub fn reach_squared(&self) -> [f64; 2] {
        self.arms.map(DVec3::length_squared)
    }

    /// How far it is from the centres of its bodies, m, squared, wherever they move while its point is one place of
    /// both.
    pub fn longest_squared(&self) -> [f64; 2] {
        [0, 1].map(|s| self.arms[s].length_squared().max(self.anchors[s].length_squared()))
    }

    /// Distance of its bodies there, m; unknown for rolling bodies, which touch ever other points.
    pub fn apart(&self) -> f64 {
        if self.ball.is_some() { f64::MIN } else { self.gap }
    }

    /// Its input for a pass over several rows at once.
    pub fn needs(&self, soft: Option<Soft>, h: f64) -> Needs {
        let bias = self.bias(soft, h);
        let soft = soft.filter(|_| self.gap <= 0.0);
        Needs {
            bias,
            softness: soft.map_or(0.0, |soft| soft.softness / self.spring_mass),
            way: self.normal.way,
            tangent: self.tangents[0].way,
            arms: self.arms,
            friction: self.friction,
            drift: self.drift,
            most_impulse: self.most_impulse,
        }
    }

    /// Stores its impulse, N s, and that it has no work before the velocities of its bodies change by more than
    /// `until`, m/s.
    pub fn went_on(&mut self, most_impulse: f64, until: f64) {
        self.most_impulse = self.most_impulse.max(most_impulse);
        self.until = until;
    }

    /// Gives how much it changed the speed at the point, m/s. No arm is longer than `reach`.
    #[inline]
    pub fn solve(&mut self, share: &mut BodiesMut<'_>, reach: [f64; 2], soft: Option<Soft>, h: f64) -> f64 {
        let total_change = share.total_change(self.pair(), reach);
        if total_change < self.until { 0.0 } else { self.press(share, total_change, soft, h) }
    }

    #[inline]
    fn press(&mut self, share: &mut BodiesMut<'_>, total_change: f64, soft: Option<Soft>, h: f64) -> f64 {
        self.look(share.frames);
        let (mut bias, mut mass) = (self.bias(soft, h), self.normal.mass);
        if let Some(soft) = soft.filter(|_| self.gap <= 0.0) {
            let softness = soft.softness / self.spring_mass;
            bias += softness * self.normal_impulse;
            mass /= 1.0 + softness * mass;
        }
        let (axis, turn) = (&self.normal, self.normal.turn(&self.arms));
        let mut pair = share.pair(self.pair());
        let spare = axis.speed(&pair, &turn) + bias;
        let new = (self.normal_impulse - mass * spare).max(0.0);
        let change = new - self.normal_impulse;
        if change == 0.0 {
            if new == 0.0 {
                self.until = total_change + SURE * spare;
            }
            return 0.0;
        }
        axis.push(&mut pair, &turn, change);
        self.normal_impulse = new;
        self.most_impulse = self.most_impulse.max(new);
        change.abs() / axis.mass
    }

    /// Friction: stops sliding, as far as the cone allows. Gives how much it changed the speed.
    #[inline]
    pub fn rub(&mut self, share: &mut BodiesMut<'_>, stick: f64) -> f64 {
        if self.is_idle() {
            self.slid = true;
            return 0.0;
        }
        self.drag(share, stick)
    }

    #[inline]
    fn drag(&mut self, share: &mut BodiesMut<'_>, stick: f64) -> f64 {
        self.look_across(share.frames);
        let axes = &self.tangents;
        let turns = axes.each_ref().map(|axis| axis.turn(&self.arms));
        let mut pair = share.pair(self.pair());
        let [t, u] = [0, 1].map(|k: usize| {
            let speed = axes[k].speed(&pair, &turns[k]) + stick * self.drift.dot(axes[k].way);
            axes[k].way * (-axes[k].mass * speed)
        });
        let new = self.friction_impulse + t + u;
        let most = self.friction * self.normal_impulse;
        self.slid |= new.length_squared() > most * most;
        let new = new.clamp_length_max(most);
        let change = new - self.friction_impulse;
        for (axis, turn) in axes.iter().zip(&turns) {
            axis.push(&mut pair, turn, change.dot(axis.way));
        }
        self.friction_impulse = new;
        change.length() / self.normal.mass
    }

    /// Whether it has overlap to correct, or to hold while others correct theirs; computed for every substep.
    pub fn parts(&mut self, parting: Parting) -> bool {
        self.parted = 0.0;
        self.gap < -parting.slop
    }

    /// Corrects its overlap; the bodies' motions are displacements (m) here. Returns the displacement of the point, m.
    pub fn part(&mut self, share: &mut BodiesMut<'_>, parting: Parting) -> f64 {
        let over = -self.gap - parting.slop;
        if over <= 0.0 && self.normal_impulse == 0.0 {
            return 0.0;
        }
        self.look(share.frames);
        // Without overlap the bodies may approach by the rest of their gap.
        let way = if over > 0.0 { (over * parting.share).min(parting.most) } else { over };
        let (axis, turn) = (&self.normal, self.normal.turn(&self.arms));
        let mut pair = share.pair(self.pair());
        let new = (self.parted + axis.mass * (way - axis.speed(&pair, &turn))).max(0.0);
        let change = new - self.parted;
        axis.push(&mut pair, &turn, change);
        self.parted = new;
        change.abs() / axis.mass
    }

    /// After the last substep: applies restitution for approach speeds above `threshold`, m/s.
    pub fn bounce(&mut self, share: &mut BodiesMut<'_>, threshold: f64) {
        if self.restitution == 0.0 || self.approach > -threshold || self.most_impulse == 0.0 {
            return;
        }
        self.look(share.frames);
        let (axis, turn) = (&self.normal, self.normal.turn(&self.arms));
        let mut pair = share.pair(self.pair());
        let wanted = -axis.mass * (axis.speed(&pair, &turn) + self.restitution * self.approach);
        let new = (self.normal_impulse + wanted).max(0.0);
        let change = new - self.normal_impulse;
        axis.push(&mut pair, &turn, change);
        self.normal_impulse = new;
        self.most_impulse = self.most_impulse.max(new);
        self.total_impulse += change;
    }
}
