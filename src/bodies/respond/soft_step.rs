//! Soft contact constraints in substeps.
//!
//! Each contact is a damped spring whose stiffness follows from a frequency and the masses it holds apart, so that crumbs
//! and slabs are treated alike, solved as an impulse with warm starting; a second, rigid pass takes out the velocity that
//! the spring put in to undo overlap. Friction is a Coulomb cone. The paper's penalty (sec. 5.2) has one stiffness for all
//! and never sticks; see design 3.10.

use super::{Respond, rolling::Roll};
use crate::bodies::{
    Body, BodyId, BodyState, WorldSettings,
    collide::{Manifold, tangents},
    integrate::{self, inverse},
};
use glam::{DMat3, DVec3};

/// Frequency and damping of contacts, and the limits of what they do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftStep {
    /// Hz; at most a quarter of the substep rate is used.
    pub hertz: f64,
    /// 1 is critical.
    pub damping_ratio: f64,
    /// Overlap is undone at most this fast, m/s.
    pub push_out: f64,
    /// Slower impacts do not bounce, m/s.
    pub bounce_threshold: f64,
    /// Torque that resists rolling, as a share of the normal force times half the thickness of the thinner body: what is slender
    /// tips over, as its base has it, and not later.
    pub rolling: f64,
    /// How fast what has slipped while friction held is drawn back, 1/s: else heaps creep.
    pub stick: f64,
    /// How fast the motion of a leaning piece that turns a little dies, 1/s.
    pub wobble_damping: f64,
    /// Rounds over all contacts in each pass of a substep, at most. With few, heavy pieces creep into light ones whose contacts are in
    /// each other's way.
    pub iterations: u32,
    /// A pass ends sooner once no contact changes a speed by more than this, m/s.
    pub settled: f64,
}

impl Default for SoftStep {
    fn default() -> Self {
        Self {
            hertz: 40.0,
            damping_ratio: 3.0,
            push_out: 3.0,
            bounce_threshold: 0.5,
            rolling: 0.3,
            stick: 5.0,
            wobble_damping: 15.0,
            iterations: 24,
            settled: 0.01,
        }
    }
}

/// Rounds of the bounce: a box that lands flat has to agree among its corners.
const BOUNCE_ROUNDS: usize = 8;

/// Contacts begin a substep with at most the impulse that changes the speed there by this much, m/s: the load of two hundred
/// equal bodies.
const WARM_SPEED: f64 = 5.0;

/// What turns a load into a mass, m/s^2. Any other number of that size would do.
const WEIGHT: f64 = 9.81;

/// What sinks faster than this tips over and does not wobble, m/s.
const TIP_SPEED: f64 = 0.002;

/// Turning slower than this, at the rim, is a wobble, m/s.
const WOBBLE_SPEED: f64 = 0.25;

/// A body as the solver sees it. What cannot move has no inverse mass.
pub(super) struct Mover {
    pub(super) inverse_mass: f64,
    pub(super) inverse_inertia: DMat3,
    inertia_in_body: DMat3,
    inverse_in_body: DMat3,
    rotation: DMat3,
    pub(super) state: BodyState,
}

impl Mover {
    fn new(body: &Body) -> Self {
        let moves = !body.is_static() && !body.asleep;
        let inertia = body.def.inertia();
        let mut mover = Self {
            inverse_mass: if moves { 1.0 / body.def.mass_kg() } else { 0.0 },
            inverse_inertia: DMat3::ZERO,
            inertia_in_body: inertia,
            inverse_in_body: if moves { inverse(inertia) } else { DMat3::ZERO },
            rotation: DMat3::IDENTITY,
            state: body.state,
        };
        mover.turn_inertia();
        mover
    }

    fn moves(&self) -> bool {
        self.inverse_mass > 0.0
    }

    fn turn_inertia(&mut self) {
        self.rotation = DMat3::from_quat(self.state.rotation);
        self.inverse_inertia = self.rotation * self.inverse_in_body * self.rotation.transpose();
    }

    fn velocity_at(&self, r: DVec3) -> DVec3 {
        self.state.linear_velocity + self.state.angular_velocity.cross(r)
    }

    fn push(&mut self, r: DVec3, impulse: DVec3) {
        self.state.linear_velocity += impulse * self.inverse_mass;
        self.state.angular_velocity += self.inverse_inertia * r.cross(impulse);
    }
}

/// A direction along which a row pushes, with what a unit impulse along it does to either body.
#[derive(Clone, Copy)]
struct Axis {
    way: DVec3,
    /// Arm x way.
    turn: [DVec3; 2],
    /// Change of spin, rad/s for 1 N s.
    spin: [DVec3; 2],
    /// What a unit of relative speed weighs, kg; 0 where neither body can move.
    mass: f64,
}

impl Axis {
    fn new(way: DVec3, arms: [DVec3; 2], pair: [&Mover; 2]) -> Self {
        let turn = arms.map(|arm| arm.cross(way));
        let spin = [0, 1].map(|s| pair[s].inverse_inertia * turn[s]);
        let k: f64 = (0..2).map(|s| pair[s].inverse_mass + turn[s].dot(spin[s])).sum();
        Self { way, turn, spin, mass: if k > 0.0 { 1.0 / k } else { 0.0 } }
    }

    /// How fast the first body moves against the second along it, m/s.
    fn speed(&self, a: &Mover, b: &Mover) -> f64 {
        let (a, b) = (&a.state, &b.state);
        (a.linear_velocity - b.linear_velocity).dot(self.way) + a.angular_velocity.dot(self.turn[0])
            - b.angular_velocity.dot(self.turn[1])
    }

    /// Pushes the two bodies apart.
    fn push(&self, a: &mut Mover, b: &mut Mover, impulse: f64) {
        a.state.linear_velocity += self.way * (impulse * a.inverse_mass);
        a.state.angular_velocity += self.spin[0] * impulse;
        b.state.linear_velocity -= self.way * (impulse * b.inverse_mass);
        b.state.angular_velocity -= self.spin[1] * impulse;
    }
}

/// One contact point being solved.
struct Row {
    movers: [usize; 2],
    manifold: usize,
    point: usize,
    /// In body axes.
    anchors: [DVec3; 2],
    /// World, of this substep.
    arms: [DVec3; 2],
    normal: Axis,
    tangents: [Axis; 2],
    /// Of a spring between the centres: were it that at the point, the depth would depend on where in its cell a point lies.
    linear_mass: f64,
    /// The same, or what the contact carries where that is more: else a crumb's springs, made for the crumb, sink under a slab.
    spring_mass: f64,
    /// Whether the arms have moved since the axes were worked out: along the normal, and across.
    moved: [bool; 2],
    /// Separation when the anchors were in one place.
    adjusted: f64,
    /// Separation and slip now: the arms turn and move with the bodies, the normal stays.
    gap: f64,
    drift: DVec3,
    friction: f64,
    restitution: f64,
    approach: f64,
    size: f64,
    normal_impulse: f64,
    most_impulse: f64,
    total_impulse: f64,
    friction_impulse: DVec3,
    /// How far the first body has slipped from where it stuck to the second, at the start of the step, world.
    slip: DVec3,
    /// Whether friction gave way.
    slid: bool,
}

/// Spring constants of one substep.
#[derive(Clone, Copy)]
struct Soft {
    /// What turns a depth into a speed, 1/s.
    bias_rate: f64,
    /// Softness of a contact that holds one kilogram: speed for an impulse of 1 N s.
    softness: f64,
}

impl SoftStep {
    fn soft(&self, h: f64) -> Soft {
        let omega = std::f64::consts::TAU * self.hertz.min(0.25 / h);
        let a1 = 2.0 * self.damping_ratio + h * omega;
        Soft { bias_rate: omega / a1, softness: 1.0 / (h * omega * a1) }
    }
}

impl Respond for SoftStep {
    fn advance(&self, bodies: &mut [Body], manifolds: &mut [Manifold], settings: &WorldSettings) {
        let substeps = settings.substeps.clamp(1, 64);
        let h = settings.dt / f64::from(substeps);
        let soft = self.soft(h);
        // The last mover is the floor.
        let mut movers: Vec<Mover> = bodies.iter().map(Mover::new).collect();
        movers.push(Mover::floor());
        let mut rows = self.rows(bodies, manifolds, &movers);
        let mut rolls = self.rolls(&rows, manifolds, bodies);
        for _ in 0..substeps {
            for mover in movers.iter_mut().filter(|m| m.moves()) {
                integrate::velocity(&mut mover.state, settings.gravity, h);
            }
            rows.iter_mut().for_each(|row| row.warm_start(&mut movers, h));
            rolls.iter_mut().for_each(|roll| roll.warm_start(&mut movers, load(&rows, roll)));
            self.rounds(&mut rows, &mut rolls, &mut movers, Some((soft, self.push_out)), h);
            for mover in movers.iter_mut().filter(|m| m.moves()) {
                integrate::pose(&mut mover.state, &mover.inertia_in_body, &mover.inverse_in_body, h);
                mover.turn_inertia();
            }
            rows.iter_mut().for_each(|row| row.aim(&movers));
            self.rounds(&mut rows, &mut rolls, &mut movers, None, h);
            rows.iter_mut().for_each(|row| row.total_impulse += row.normal_impulse);
        }
        for _ in 0..BOUNCE_ROUNDS {
            rows.iter_mut().for_each(|row| row.bounce(&mut movers, self.bounce_threshold));
        }
        // Without weight nothing leans, and what is left is a collision that must keep its momentum.
        if settings.gravity != DVec3::ZERO {
            self.settle(&rows, &mut movers, settings);
        }
        for roll in &rolls {
            manifolds[roll.manifold].rolling_impulse = roll.impulse;
        }
        for row in &rows {
            let p = &mut manifolds[row.manifold].points[row.point];
            p.normal_impulse = row.normal_impulse;
            p.friction_impulse = row.friction_impulse;
            p.total_impulse = row.total_impulse;
            p.slid = row.slid || row.total_impulse == 0.0;
        }
        for (body, mover) in bodies.iter_mut().zip(movers).filter(|(_, m)| m.moves()) {
            body.state = mover.state;
            integrate::velocity(&mut body.state, DVec3::ZERO, h);
        }
    }
}

impl SoftStep {
    /// One pass over all rows, until what they still change is little.
    fn rounds(
        &self,
        rows: &mut [Row],
        rolls: &mut [Roll],
        movers: &mut [Mover],
        soft: Option<(Soft, f64)>,
        h: f64,
    ) {
        let stick = if soft.is_some() { self.stick } else { 0.0 };
        for _ in 0..self.iterations {
            let mut change = 0.0f64;
            for row in rows.iter_mut() {
                change = change.max(row.solve(movers, soft, h));
            }
            // Rolling and friction, once all normal impulses of a round are known: what they do would be undone before. Friction
            // comes last, or it would answer turns that rolling resistance then takes out, and small pieces would creep.
            for roll in rolls.iter_mut() {
                change = change.max(roll.resist(movers, load(rows, roll)));
                for row in &mut rows[roll.rows.clone()] {
                    change = change.max(row.rub(movers, stick));
                }
            }
            if change < self.settled {
                break;
            }
        }
    }

    /// Takes the wobble out of pieces that lean on something and hardly turn. Rounded corners of voxels are where they
    /// would rock for ever.
    fn settle(&self, rows: &[Row], movers: &mut [Mover], settings: &WorldSettings) {
        let down = settings.gravity.normalize_or_zero();
        let mut leans = vec![f64::MAX; movers.len()];
        for row in rows.iter().filter(|row| row.normal_impulse > 0.0) {
            for k in row.movers {
                leans[k] = row.size.min(leans[k]);
            }
        }
        for (mover, arm) in movers.iter_mut().zip(leans).filter(|(m, _)| m.moves()) {
            let wobble = mover.state.angular_velocity.length() * arm;
            if wobble > 1e-4 && wobble < WOBBLE_SPEED && mover.state.linear_velocity.dot(down) < TIP_SPEED {
                let keep = 1.0 / (1.0 + self.wobble_damping * settings.dt);
                mover.state.angular_velocity *= keep;
                if mover.state.linear_velocity.length() < WOBBLE_SPEED {
                    mover.state.linear_velocity *= keep;
                }
            }
        }
    }

    /// One for each manifold that has rows.
    fn rolls(&self, rows: &[Row], manifolds: &[Manifold], bodies: &[Body]) -> Vec<Roll> {
        // The floor has no end.
        let half: Vec<f64> = bodies.iter().map(|body| body.def.thickness() * 0.5).chain([f64::MAX]).collect();
        let mut rolls: Vec<Roll> = Vec::new();
        let mut first = 0;
        for group in rows.chunk_by(|a, b| a.manifold == b.manifold) {
            let row = &group[0];
            rolls.push(Roll {
                movers: row.movers,
                manifold: row.manifold,
                rows: first..first + group.len(),
                arm: self.rolling * half[row.movers[0]].min(half[row.movers[1]]),
                impulse: manifolds[row.manifold].rolling_impulse,
                inertia: DMat3::ZERO,
            });
            first += group.len();
        }
        rolls
    }

    fn rows(&self, bodies: &[Body], manifolds: &[Manifold], movers: &[Mover]) -> Vec<Row> {
        // Bodies are kept in ascending order of id.
        let find = |id: BodyId| bodies.binary_search_by(|b| b.id.cmp(&id)).ok();
        let floor = bodies.len();
        let mut rows = Vec::new();
        for (m, manifold) in manifolds.iter().enumerate() {
            let Some(a) = find(manifold.first) else { continue };
            let b = match manifold.second {
                Some(id) => match find(id) {
                    Some(b) => b,
                    None => continue,
                },
                None => floor,
            };
            if !movers[a].moves() && !movers[b].moves() {
                continue;
            }
            let surface = |k: usize| bodies.get(k).unwrap_or(&bodies[a]);
            let (sa, sb) = (&surface(a).def, &surface(b).def);
            let friction = (sa.friction * sb.friction).max(0.0).sqrt();
            let restitution = sa.restitution.max(sb.restitution).clamp(0.0, 1.0);
            let size = sa.radius().min(sb.radius());
            for (i, p) in manifold.points.iter().enumerate() {
                let arms = [a, b].map(|k| p.position - movers[k].state.position);
                let (t, u) = tangents(p.normal);
                let axis = |way: DVec3| Axis::new(way, arms, [&movers[a], &movers[b]]);
                let speed = movers[a].velocity_at(arms[0]) - movers[b].velocity_at(arms[1]);
                let anchors = [0, 1].map(|s| movers[[a, b][s]].state.rotation.inverse() * arms[s]);
                rows.push(Row {
                    movers: [a, b],
                    manifold: m,
                    point: i,
                    anchors,
                    arms,
                    normal: axis(p.normal),
                    tangents: [axis(t), axis(u)],
                    spring_mass: 0.0,
                    linear_mass: 1.0 / (movers[a].inverse_mass + movers[b].inverse_mass),
                    moved: [false; 2],
                    adjusted: p.separation,
                    gap: p.separation,
                    drift: p.slip,
                    friction,
                    restitution,
                    approach: speed.dot(p.normal),
                    size,
                    normal_impulse: p.normal_impulse,
                    most_impulse: 0.0,
                    total_impulse: 0.0,
                    friction_impulse: p.friction_impulse - p.normal * p.friction_impulse.dot(p.normal),
                    slip: p.slip,
                    slid: false,
                });
            }
        }
        rows
    }
}

/// What the points of a pair press, N s.
fn load(rows: &[Row], roll: &Roll) -> f64 {
    rows[roll.rows.clone()].iter().map(|row| row.normal_impulse).sum()
}

impl Mover {
    fn floor() -> Self {
        Self {
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
            inertia_in_body: DMat3::ZERO,
            inverse_in_body: DMat3::ZERO,
            rotation: DMat3::IDENTITY,
            state: BodyState::at(DVec3::ZERO),
        }
    }
}

impl Row {
    fn pair<'a>(&self, movers: &'a mut [Mover]) -> (&'a mut Mover, &'a mut Mover) {
        // a < b always: pairs are ascending and the floor is last.
        let (low, high) = movers.split_at_mut(self.movers[1]);
        (&mut low[self.movers[0]], &mut high[0])
    }

    fn axis(&self, movers: &[Mover], way: DVec3) -> Axis {
        Axis::new(way, self.arms, self.movers.map(|k| &movers[k]))
    }

    /// Both arms end in one point, or angular momentum would leak as the bodies move apart.
    fn aim(&mut self, movers: &[Mover]) {
        let [a, b] = [self.place(movers, 0), self.place(movers, 1)];
        let middle = (a + b) * 0.5;
        self.gap = self.adjusted + (a - b).dot(self.normal.way);
        self.drift = self.slip + a - b;
        self.arms = self.movers.map(|k| middle - movers[k].state.position);
        // Arms of crumbs change a lot in a substep; with the masses of the old ones the impulses would grow without bound.
        self.moved = [true; 2];
    }

    /// Begins with the impulses of the last substep, up to a limit: what a heavy piece pressed on a crumb would shoot it away
    /// once it slips out.
    fn warm_start(&mut self, movers: &mut [Mover], h: f64) {
        self.look(movers);
        self.spring_mass = self.linear_mass.max(self.normal_impulse / (WEIGHT * h));
        self.normal_impulse = self.normal_impulse.min(self.normal.mass * WARM_SPEED);
        self.friction_impulse = self.friction_impulse.clamp_length_max(self.friction * self.normal_impulse);
        if self.normal_impulse != 0.0 {
            let impulse = self.normal.way * self.normal_impulse + self.friction_impulse;
            let arms = self.arms;
            let (a, b) = self.pair(movers);
            a.push(arms[0], impulse);
            b.push(arms[1], -impulse);
        }
    }

    /// Brings the axis along the normal up to date.
    fn look(&mut self, movers: &[Mover]) {
        if std::mem::take(&mut self.moved[0]) {
            self.normal = self.axis(movers, self.normal.way);
        }
    }

    /// Where the point of one body is now.
    fn place(&self, movers: &[Mover], side: usize) -> DVec3 {
        let mover = &movers[self.movers[side]];
        mover.state.position + mover.rotation * self.anchors[side]
    }

    /// Gives how much it changed the speed at the point, m/s.
    fn solve(&mut self, movers: &mut [Mover], soft: Option<(Soft, f64)>, h: f64) -> f64 {
        let separation = self.gap;
        // Most points of a heap are apart and do nothing.
        if self.moved[0] && separation > 0.0 && self.normal_impulse == 0.0 {
            let [a, b] = [0, 1].map(|s| movers[self.movers[s]].velocity_at(self.arms[s]));
            if (a - b).dot(self.normal.way) + separation / h >= 0.0 {
                return 0.0;
            }
        }
        self.look(movers);
        let (mut bias, mut mass) = (0.0, self.normal.mass);
        if separation > 0.0 {
            bias = separation / h;
        } else if let Some((soft, push_out)) = soft {
            let softness = soft.softness / self.spring_mass;
            bias = (soft.bias_rate * separation).max(-push_out) + softness * self.normal_impulse;
            mass /= 1.0 + softness * mass;
        }
        let axis = self.normal;
        let (a, b) = self.pair(movers);
        let wanted = -mass * (axis.speed(a, b) + bias);
        let new = (self.normal_impulse + wanted).max(0.0);
        let change = new - self.normal_impulse;
        if change == 0.0 {
            return 0.0;
        }
        axis.push(a, b, change);
        self.normal_impulse = new;
        self.most_impulse = self.most_impulse.max(new);
        change.abs() / axis.mass
    }

    /// Friction: stops sliding, as far as the cone allows. Gives how much it changed the speed.
    fn rub(&mut self, movers: &mut [Mover], stick: f64) -> f64 {
        if self.normal_impulse == 0.0 && self.friction_impulse == DVec3::ZERO {
            self.slid = true;
            return 0.0;
        }
        if std::mem::take(&mut self.moved[1]) {
            self.tangents = self.tangents.map(|axis| self.axis(movers, axis.way));
        }
        let axes = self.tangents;
        let (a, b) = self.pair(movers);
        let [t, u] = axes.map(|axis| {
            let speed = axis.speed(a, b) + stick * self.drift.dot(axis.way);
            axis.way * (-axis.mass * speed)
        });
        let new = self.friction_impulse + t + u;
        let most = self.friction * self.normal_impulse;
        self.slid |= new.length_squared() > most * most;
        let new = new.clamp_length_max(most);
        let change = new - self.friction_impulse;
        for axis in axes {
            axis.push(a, b, change.dot(axis.way));
        }
        self.friction_impulse = new;
        change.length() / self.normal.mass
    }

    fn bounce(&mut self, movers: &mut [Mover], threshold: f64) {
        if self.restitution == 0.0 || self.approach > -threshold || self.most_impulse == 0.0 {
            return;
        }
        self.look(movers);
        let axis = self.normal;
        let (a, b) = self.pair(movers);
        let wanted = -axis.mass * (axis.speed(a, b) + self.restitution * self.approach);
        let new = (self.normal_impulse + wanted).max(0.0);
        let change = new - self.normal_impulse;
        axis.push(a, b, change);
        self.normal_impulse = new;
        self.most_impulse = self.most_impulse.max(new);
        self.total_impulse += change;
    }
}
