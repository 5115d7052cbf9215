//! Soft contact constraints in substeps.
//!
//! Each contact is a damped spring whose stiffness follows from a frequency and the masses it holds apart, so that crumbs
//! and slabs are treated alike, solved as an impulse with warm starting; a second, rigid pass takes out the velocity that
//! the spring put in to undo overlap. Friction is a Coulomb cone. The paper's penalty (sec. 5.2) has one stiffness for all
//! and never sticks; see design 3.10.

use super::Respond;
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
    /// Torque that resists rolling, as a share of the normal force times the size of a contact patch.
    pub rolling: f64,
    /// How fast what has slipped while friction held is drawn back, 1/s: else heaps creep.
    pub stick: f64,
    /// How fast the motion of a leaning piece that turns a little dies, 1/s.
    pub wobble_damping: f64,
    /// Rounds over all contacts in each pass of a substep. With one, heavy pieces on light ones sink before the light ones know of the load.
    pub iterations: u32,
}

impl Default for SoftStep {
    fn default() -> Self {
        Self {
            hertz: 40.0,
            damping_ratio: 6.0,
            push_out: 3.0,
            bounce_threshold: 0.5,
            rolling: 0.03,
            stick: 15.0,
            wobble_damping: 15.0,
            iterations: 4,
        }
    }
}

/// Rounds of the bounce: a box that lands flat has to agree among its corners.
const BOUNCE_ROUNDS: usize = 8;

/// Contacts begin a substep with at most the impulse that changes the speed there by this much, m/s: the load of two hundred
/// equal bodies.
const WARM_SPEED: f64 = 5.0;

/// Turning slower than this, at the rim, is a wobble, m/s.
const WOBBLE_SPEED: f64 = 0.25;

/// A body as the solver sees it. What cannot move has no inverse mass.
struct Mover {
    inverse_mass: f64,
    inverse_inertia: DMat3,
    inertia_in_body: DMat3,
    inverse_in_body: DMat3,
    state: BodyState,
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
            state: body.state,
        };
        mover.turn_inertia();
        mover
    }

    fn moves(&self) -> bool {
        self.inverse_mass > 0.0
    }

    fn turn_inertia(&mut self) {
        let r = DMat3::from_quat(self.state.rotation);
        self.inverse_inertia = r * self.inverse_in_body * r.transpose();
    }

    fn velocity_at(&self, r: DVec3) -> DVec3 {
        self.state.linear_velocity + self.state.angular_velocity.cross(r)
    }

    fn push(&mut self, r: DVec3, impulse: DVec3) {
        self.state.linear_velocity += impulse * self.inverse_mass;
        self.state.angular_velocity += self.inverse_inertia * r.cross(impulse);
    }

    /// What a unit impulse along n at r changes the speed there by.
    fn softness(&self, r: DVec3, n: DVec3) -> f64 {
        let turn = r.cross(n);
        self.inverse_mass + turn.dot(self.inverse_inertia * turn)
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
    normal: DVec3,
    tangents: [DVec3; 2],
    normal_mass: f64,
    /// Of a spring between the centres: were it that at the point, the depth would depend on where in its cell a point lies.
    linear_mass: f64,
    tangent_mass: [f64; 2],
    /// Whether the arms have moved since the masses across were worked out.
    tangents_moved: bool,
    /// Separation when the anchors were in one place.
    adjusted: f64,
    /// Separation and slip now: the arms turn and move with the bodies, the normal stays.
    gap: f64,
    drift: DVec3,
    friction: f64,
    restitution: f64,
    approach: f64,
    rolling_arm: f64,
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
        for _ in 0..substeps {
            for mover in movers.iter_mut().filter(|m| m.moves()) {
                integrate::velocity(&mut mover.state, settings.gravity, h);
            }
            rows.iter_mut().for_each(|row| row.warm_start(&mut movers));
            for _ in 0..self.iterations {
                rows.iter_mut().for_each(|row| row.solve(&mut movers, Some((soft, self.push_out)), h));
                rows.iter_mut().for_each(|row| row.hold(&mut movers, self.rolling, self.stick));
            }
            for mover in movers.iter_mut().filter(|m| m.moves()) {
                integrate::pose(&mut mover.state, &mover.inertia_in_body, &mover.inverse_in_body, h);
                mover.turn_inertia();
            }
            rows.iter_mut().for_each(|row| row.aim(&movers));
            for _ in 0..self.iterations {
                rows.iter_mut().for_each(|row| row.solve(&mut movers, None, h));
                rows.iter_mut().for_each(|row| row.hold(&mut movers, self.rolling, 0.0));
            }
            rows.iter_mut().for_each(|row| row.total_impulse += row.normal_impulse);
        }
        for _ in 0..BOUNCE_ROUNDS {
            rows.iter_mut().for_each(|row| row.bounce(&mut movers, self.bounce_threshold));
        }
        // Without weight nothing leans, and what is left is a collision that must keep its momentum.
        if settings.gravity != DVec3::ZERO {
            self.settle(&rows, &mut movers, settings.dt);
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
    /// Takes the wobble out of pieces that lean on something and hardly turn. Rounded corners of voxels are where they
    /// would rock for ever.
    fn settle(&self, rows: &[Row], movers: &mut [Mover], dt: f64) {
        let mut leans = vec![f64::MAX; movers.len()];
        for row in rows.iter().filter(|row| row.normal_impulse > 0.0) {
            for k in row.movers {
                leans[k] = row.rolling_arm.min(leans[k]);
            }
        }
        for (mover, arm) in movers.iter_mut().zip(leans).filter(|(m, _)| m.moves()) {
            let wobble = mover.state.angular_velocity.length() * arm;
            if wobble > 1e-4 && wobble < WOBBLE_SPEED {
                let keep = 1.0 / (1.0 + self.wobble_damping * dt);
                mover.state.angular_velocity *= keep;
                if mover.state.linear_velocity.length() < WOBBLE_SPEED {
                    mover.state.linear_velocity *= keep;
                }
            }
        }
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
                let mass = |n: DVec3| {
                    let k = movers[a].softness(arms[0], n) + movers[b].softness(arms[1], n);
                    if k > 0.0 { 1.0 / k } else { 0.0 }
                };
                let speed = movers[a].velocity_at(arms[0]) - movers[b].velocity_at(arms[1]);
                let anchors = [0, 1].map(|s| movers[[a, b][s]].state.rotation.inverse() * arms[s]);
                rows.push(Row {
                    movers: [a, b],
                    manifold: m,
                    point: i,
                    anchors,
                    arms,
                    normal: p.normal,
                    tangents: [t, u],
                    normal_mass: mass(p.normal),
                    linear_mass: 1.0 / (movers[a].inverse_mass + movers[b].inverse_mass),
                    tangent_mass: [mass(t), mass(u)],
                    tangents_moved: false,
                    adjusted: p.separation,
                    gap: p.separation,
                    drift: p.slip,
                    friction,
                    restitution,
                    approach: speed.dot(p.normal),
                    rolling_arm: size,
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

impl Mover {
    fn floor() -> Self {
        Self {
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
            inertia_in_body: DMat3::ZERO,
            inverse_in_body: DMat3::ZERO,
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

    fn apply(&self, movers: &mut [Mover], impulse: DVec3) {
        let (a, b) = self.pair(movers);
        a.push(self.arms[0], impulse);
        b.push(self.arms[1], -impulse);
    }

    fn speed(&self, movers: &[Mover]) -> DVec3 {
        let [a, b] = self.movers.map(|k| &movers[k]);
        a.velocity_at(self.arms[0]) - b.velocity_at(self.arms[1])
    }

    /// What a unit of relative speed along `n` weighs, kg; 0 where neither body can move.
    fn mass_along(&self, movers: &[Mover], n: DVec3) -> f64 {
        let k: f64 = (0..2).map(|s| movers[self.movers[s]].softness(self.arms[s], n)).sum();
        if k > 0.0 { 1.0 / k } else { 0.0 }
    }

    /// Both arms end in one point, or angular momentum would leak as the bodies move apart.
    fn aim(&mut self, movers: &[Mover]) {
        let [a, b] = [self.place(movers, 0), self.place(movers, 1)];
        let middle = (a + b) * 0.5;
        self.gap = self.adjusted + (a - b).dot(self.normal);
        self.drift = self.slip + a - b;
        self.arms = self.movers.map(|k| middle - movers[k].state.position);
        // Arms of crumbs change a lot in a substep; with the masses of the old ones the impulses would grow without bound.
        self.normal_mass = self.mass_along(movers, self.normal);
        self.tangents_moved = true;
    }

    /// Begins with the impulses of the last substep, up to a limit: what a heavy piece pressed on a crumb would shoot it away
    /// once it slips out.
    fn warm_start(&mut self, movers: &mut [Mover]) {
        self.normal_impulse = self.normal_impulse.min(self.normal_mass * WARM_SPEED);
        self.friction_impulse = self.friction_impulse.clamp_length_max(self.friction * self.normal_impulse);
        if self.normal_impulse != 0.0 {
            self.apply(movers, self.normal * self.normal_impulse + self.friction_impulse);
        }
    }

    /// Where the point of one body is now.
    fn place(&self, movers: &[Mover], side: usize) -> DVec3 {
        let state = &movers[self.movers[side]].state;
        state.position + state.rotation * self.anchors[side]
    }

    fn solve(&mut self, movers: &mut [Mover], soft: Option<(Soft, f64)>, h: f64) {
        let separation = self.gap;
        let (mut bias, mut mass) = (0.0, self.normal_mass);
        if separation > 0.0 {
            bias = separation / h;
        } else if let Some((soft, push_out)) = soft {
            let softness = soft.softness / self.linear_mass;
            bias = (soft.bias_rate * separation).max(-push_out) + softness * self.normal_impulse;
            mass /= 1.0 + softness * mass;
        }
        let approach = self.speed(movers).dot(self.normal);
        let wanted = -mass * (approach + bias);
        let new = (self.normal_impulse + wanted).max(0.0);
        let change = new - self.normal_impulse;
        self.normal_impulse = new;
        self.most_impulse = self.most_impulse.max(new);
        // Most points of a heap are apart and do nothing.
        if change != 0.0 {
            self.apply(movers, self.normal * change);
        }
    }

    /// Rolling and friction, once all normal impulses of a pass are known: what they do would be undone before. Friction comes
    /// last, or it would answer turns that rolling resistance then takes out, and small pieces would creep.
    fn hold(&mut self, movers: &mut [Mover], rolling: f64, stick: f64) {
        if rolling > 0.0 && self.normal_impulse > 0.0 {
            self.resist_rolling(movers, rolling);
        }
        self.rub(movers, stick);
    }

    /// Friction: stops sliding, as far as the cone allows.
    fn rub(&mut self, movers: &mut [Mover], stick: f64) {
        if self.normal_impulse == 0.0 && self.friction_impulse == DVec3::ZERO {
            self.slid = true;
            return;
        }
        if std::mem::take(&mut self.tangents_moved) {
            self.tangent_mass = self.tangents.map(|n| self.mass_along(movers, n));
        }
        let mut speed = self.speed(movers);
        if stick > 0.0 {
            speed += self.drift * stick;
        }
        let [t, u] = self.tangents;
        let wanted = -(t * (self.tangent_mass[0] * speed.dot(t)) + u * (self.tangent_mass[1] * speed.dot(u)));
        let new = self.friction_impulse + wanted;
        let most = self.friction * self.normal_impulse;
        self.slid |= new.length_squared() > most * most;
        let new = new.clamp_length_max(most);
        let change = new - self.friction_impulse;
        self.friction_impulse = new;
        self.apply(movers, change);
    }

    /// Takes out a little relative rotation, at most as much as the load allows; else round pieces roll for ever.
    fn resist_rolling(&self, movers: &mut [Mover], rolling: f64) {
        let most = rolling * self.rolling_arm * self.normal_impulse;
        let (a, b) = self.pair(movers);
        let turn = a.state.angular_velocity - b.state.angular_velocity;
        let speed = turn.length();
        if speed < 1e-12 {
            return;
        }
        let axis = turn / speed;
        let softness = axis.dot((a.inverse_inertia + b.inverse_inertia) * axis);
        if softness > 0.0 {
            let impulse = axis * (speed / softness).min(most);
            a.state.angular_velocity -= a.inverse_inertia * impulse;
            b.state.angular_velocity += b.inverse_inertia * impulse;
        }
    }

    fn bounce(&mut self, movers: &mut [Mover], threshold: f64) {
        if self.restitution == 0.0 || self.approach > -threshold || self.most_impulse == 0.0 {
            return;
        }
        let approach = self.speed(movers).dot(self.normal);
        let wanted = -self.normal_mass * (approach + self.restitution * self.approach);
        let new = (self.normal_impulse + wanted).max(0.0);
        let change = new - self.normal_impulse;
        self.normal_impulse = new;
        self.most_impulse = self.most_impulse.max(new);
        self.total_impulse += change;
        self.apply(movers, self.normal * change);
    }
}
