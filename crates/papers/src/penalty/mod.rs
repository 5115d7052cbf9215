//! The paper's response (Domaradzki & Martyn 2016, sec. 5.2): a penalty on the intersection volume, viscous friction,
//! and implicit Euler over the whole step.
//!
//! Kept for comparison. The changes that it needs to run at all, and where it still fails, are in
//! `docs/physics.md`.

#[cfg(test)]
mod tests;

use crate::{
    bodies::{
        Body, BodyId, ContactSolver, SoftStep, SolverEntry, StepContext, WorldSettings,
        collide::{Column, Manifold, Overlap},
        index_of,
        integrate::{self, inverse},
    },
    fracture::MethodOption,
    gpu::GpuError,
    overlap::{OverlapQuery, Overlaps},
};
use glam::{DMat3, DVec3};

/// How the table has it.
pub static ENTRY: SolverEntry = SolverEntry {
    name: "penalty",
    label: "penalty",
    about: "The paper's penalty on the intersection volume, for comparison; heaps never come to rest.",
    options: &[STIFFNESS, FRICTION],
    make: || Box::new(PenaltyStep::default()),
};

/// k of eq. 3, N/m^5: a volume times an area. The paper calls this constant and the following one arbitrary and gives
/// neither; by these defaults a cube of 1 m and 2000 kg rests 0.2 mm deep, and slides at 1 m/s under a tenth of a g.
pub const STIFFNESS: MethodOption = MethodOption {
    name: "penalty_stiffness",
    help: "How hard the shared volume pushes, N/m^5.",
    default: 1e8,
    range: (0.0, 1e15),
    whole: false,
};

/// mu of eq. 4, N s/m^3: a speed times an area.
pub const FRICTION: MethodOption = MethodOption {
    name: "penalty_friction",
    help: "How hard the shared surface holds what slides, N s/m^3.",
    default: 2000.0,
    range: (0.0, 1e15),
    whole: false,
};

/// Rounds in which pairs that would pull are let go.
const ROUNDS: usize = 6;
/// Conjugate gradients end at this share of the first residual, or after this number of iterations per body.
const RESIDUAL: f64 = 1e-10;
const ITERATIONS: usize = 40;

/// The penalty on the overlap of pairs, which it computes itself, for any generator.
#[derive(Default)]
pub struct PenaltyStep {
    overlaps: Overlaps,
    /// Answers in its place where bodies touch that have no voxels, of which there are no volumes to push.
    without_voxels: SoftStep,
}

/// Linear and angular part of one body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Twist {
    linear: DVec3,
    angular: DVec3,
}

impl Twist {
    fn dot(&self, other: &Self) -> f64 {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }

    fn add(&mut self, other: &Self, scale: f64) {
        self.linear += other.linear * scale;
        self.angular += other.angular * scale;
    }
}

/// A pair as the solver sees it.
struct Contact {
    /// Movers; the last is what never moves.
    bodies: [usize; 2],
    volume: f64,
    /// How the volume grows with each body's motion.
    gradient: [Twist; 2],
    /// Friction, as blocks on the relative velocity at `centre` and the relative spin.
    friction: [DMat3; 3],
    arms: [DVec3; 2],
    pushes: bool,
}

/// The matrix of v -> a x v.
fn cross(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

impl Contact {
    fn new(overlap: &Overlap, bodies: [usize; 2], all: &[Body], friction: f64) -> Self {
        let place = |k: usize, or: DVec3| all.get(k).map_or(or, |b| b.state.position);
        let holding: Vec<&Column> = overlap.columns.iter().filter(|c| c.sign() != 0.0).collect();
        let centre = holding.iter().map(|c| c.middle).sum::<DVec3>() / holding.len().max(1) as f64;
        let mut gradient = [Twist::default(); 2];
        let mut blocks = [DMat3::ZERO; 3];
        for column in holding {
            // One line for both, so that what one body gets the other loses, turning included.
            let push = column.direction * (column.sign() * column.area);
            for (s, sign) in [1.0, -1.0].into_iter().enumerate() {
                let arm = column.middle - place(bodies[s], column.middle);
                gradient[s].add(&Twist { linear: push, angular: arm.cross(push) }, sign);
            }
            // The area of the surface: each of the three axes sees its own share of it.
            let n = column.normal;
            let weight = friction * column.area * n.dot(column.direction).abs();
            let tangential = (DMat3::IDENTITY - DMat3::from_cols(n * n.x, n * n.y, n * n.z)) * weight;
            let r = cross(column.middle - centre);
            blocks[0] += tangential;
            blocks[1] += tangential * r;
            blocks[2] += r * tangential * r;
        }
        let arms = bodies.map(|k| centre - place(k, centre));
        Self { bodies, volume: overlap.volume, gradient, friction: blocks, arms, pushes: true }
    }

    /// How fast the volume grows.
    fn rate(&self, v: &[Twist]) -> f64 {
        (0..2).map(|s| self.gradient[s].dot(&v[self.bodies[s]])).sum()
    }

    /// Friction for velocities `v`, added to `out` times `scale`; it points against the motion.
    fn rub(&self, v: &[Twist], scale: f64, out: &mut [Twist]) {
        let at = |s: usize| {
            let twist = v[self.bodies[s]];
            Twist { linear: twist.linear + twist.angular.cross(self.arms[s]), angular: twist.angular }
        };
        let (a, b) = (at(0), at(1));
        let (slip, spin) = (a.linear - b.linear, a.angular - b.angular);
        // With T across the normal: u(p) = slip + spin x r = slip - [r] spin, force -T u, torque r x force.
        let force = self.friction[1] * spin - self.friction[0] * slip;
        let torque = self.friction[1].transpose() * slip + self.friction[2] * spin;
        for (s, sign) in [scale, -scale].into_iter().enumerate() {
            let whole = Twist { linear: force, angular: torque + self.arms[s].cross(force) };
            out[self.bodies[s]].add(&whole, sign);
        }
    }
}

/// Mass and inertia; zero for bodies that cannot move, whose velocity stays zero.
struct Mover {
    moves: bool,
    mass: f64,
    inertia: DMat3,
    inverse_inertia: DMat3,
}

struct System<'a> {
    movers: &'a [Mover],
    contacts: &'a [Contact],
    h: f64,
    stiffness: f64,
}

impl System<'_> {
    /// (M + h D + h^2 k g g^T) v, zero for what cannot move.
    fn apply(&self, v: &[Twist]) -> Vec<Twist> {
        let mut out: Vec<Twist> = self
            .movers
            .iter()
            .zip(v)
            .map(|(m, v)| Twist { linear: v.linear * m.mass, angular: m.inertia * v.angular })
            .collect();
        for c in self.contacts.iter().filter(|c| c.pushes) {
            c.rub(v, -self.h, &mut out);
            let push = self.h * self.h * self.stiffness * c.rate(v);
            for s in 0..2 {
                out[c.bodies[s]].add(&c.gradient[s], push);
            }
        }
        self.only_movers(&mut out);
        out
    }

    fn only_movers(&self, v: &mut [Twist]) {
        for (v, _) in v.iter_mut().zip(self.movers).filter(|(_, m)| !m.moves) {
            *v = Twist::default();
        }
    }

    /// Conjugate gradients; the mass matrix is the preconditioner. The matrix is symmetric and positive
    /// definite.
    fn solve(&self, rhs: &[Twist]) -> Vec<Twist> {
        let dot = |a: &[Twist], b: &[Twist]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
        let precondition = |r: &[Twist]| -> Vec<Twist> {
            let divide = |(r, m): (&Twist, &Mover)| match m.moves {
                true => Twist { linear: r.linear / m.mass, angular: m.inverse_inertia * r.angular },
                false => Twist::default(),
            };
            r.iter().zip(self.movers).map(divide).collect()
        };
        let mut x = vec![Twist::default(); rhs.len()];
        let mut r = rhs.to_vec();
        self.only_movers(&mut r);
        let mut z = precondition(&r);
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        let enough = rz * RESIDUAL * RESIDUAL;
        let moving = self.movers.iter().filter(|m| m.moves).count();
        for _ in 0..ITERATIONS * moving.max(1) {
            if rz <= enough || !rz.is_finite() {
                break;
            }
            let ap = self.apply(&p);
            let step = rz / dot(&p, &ap);
            if !step.is_finite() {
                break;
            }
            for i in 0..x.len() {
                x[i].add(&p[i], step);
                r[i].add(&ap[i], -step);
            }
            z = precondition(&r);
            let next = dot(&r, &z);
            for i in 0..p.len() {
                let old = p[i];
                p[i] = z[i];
                p[i].add(&old, next / rz);
            }
            rz = next;
        }
        x
    }
}

impl ContactSolver for PenaltyStep {
    fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError> {
        if touch_without_voxels(bodies, manifolds) {
            return self.without_voxels.advance(cx, bodies, manifolds);
        }
        let overlaps = self.overlaps.find(
            cx.gpu,
            cx.settings,
            bodies,
            cx.detail,
            &queries(bodies, manifolds, cx.settings),
        )?;
        push(&overlaps, bodies, manifolds, cx.settings);
        Ok(())
    }

    fn removed(&mut self, _id: BodyId, left: &[Body]) {
        self.overlaps.removed(left);
    }

    fn cleared(&mut self) {
        self.overlaps.removed(&[]);
    }
}

/// Whether a body without octree or voxels touches anything.
fn touch_without_voxels(bodies: &[Body], manifolds: &[Manifold]) -> bool {
    let has_none = |id: BodyId| {
        let body = index_of(bodies, id).map(|k| &bodies[k]);
        body.is_some_and(|body| body.def.shape.as_octree().is_none())
    };
    let live = manifolds.iter().filter(|m| !m.points.is_empty());
    live.into_iter().any(|m| has_none(m.first) || m.second.is_some_and(has_none))
}

/// Everything that the manifolds say is near.
fn queries(bodies: &[Body], manifolds: &[Manifold], settings: &WorldSettings) -> Vec<OverlapQuery> {
    let index = |id: BodyId| index_of(bodies, id);
    let planes = settings.planes().len();
    let mut out = Vec::new();
    for m in manifolds {
        let Some(a) = index(m.first) else { continue };
        match m.second {
            Some(id) => out.extend(index(id).map(|b| OverlapQuery::Pair([a, b]))),
            None => out.extend((0..planes).map(|k| OverlapQuery::Plane(a, k))),
        }
    }
    out
}

/// Moves all awake bodies through `settings.dt` under the penalty on these overlaps.
fn push(overlaps: &[Overlap], bodies: &mut [Body], manifolds: &mut [Manifold], settings: &WorldSettings) {
    let h = settings.dt;
    let [k, friction] = [STIFFNESS, FRICTION].map(|option| settings.options.value(&option));
    let mut movers: Vec<Mover> = bodies.iter().map(mover).collect();
    movers.push(Mover { moves: false, mass: 0.0, inertia: DMat3::ZERO, inverse_inertia: DMat3::ZERO });
    let find = |id: BodyId| index_of(bodies, id);
    let mut contacts: Vec<Contact> = overlaps
        .iter()
        .filter_map(|o| {
            let second = match o.second {
                Some(id) => find(id)?,
                None => bodies.len(),
            };
            Some(Contact::new(o, [find(o.first)?, second], bodies, friction))
        })
        .collect();
    let mut before: Vec<Twist> = bodies
        .iter()
        .zip(&movers)
        .map(|(b, m)| match m.moves {
            true => Twist { linear: b.state.linear_velocity, angular: b.state.angular_velocity },
            false => Twist::default(),
        })
        .collect();
    before.push(Twist::default());
    let mut after = before.clone();
    for _ in 0..ROUNDS {
        after = step(&movers, &contacts, &before, settings, k);
        // A volume below zero at the end of the step would pull.
        let mut all_push = true;
        for c in contacts.iter_mut().filter(|c| c.pushes) {
            c.pushes = c.volume + h * c.rate(&after) >= 0.0;
            all_push &= c.pushes;
        }
        if all_push {
            break;
        }
    }
    for m in manifolds.iter_mut() {
        share(m, &contacts, &after, bodies, k * h, h);
    }
    for ((body, _), twist) in bodies.iter_mut().zip(&movers).zip(&after).filter(|((_, m), _)| m.moves) {
        body.state.linear_velocity = twist.linear;
        body.state.angular_velocity = twist.angular;
        integrate::velocity(&mut body.state, DVec3::ZERO, h);
        let inertia = body.def.inertia();
        integrate::pose(&mut body.state, &inertia, &inverse(inertia), h);
    }
}

fn mover(body: &Body) -> Mover {
    let moves = !body.is_static() && !body.asleep;
    let inertia = if moves { body.inertia_in_world() } else { DMat3::ZERO };
    let mass = if moves { body.def.mass_kg() } else { 0.0 };
    Mover { moves, mass, inertia, inverse_inertia: if moves { inverse(inertia) } else { DMat3::ZERO } }
}

/// Velocities at the end of the step: linearised implicit Euler.
fn step(movers: &[Mover], contacts: &[Contact], v: &[Twist], settings: &WorldSettings, k: f64) -> Vec<Twist> {
    let h = settings.dt;
    let system = System { movers, contacts, h, stiffness: k };
    let mut rhs: Vec<Twist> = movers
        .iter()
        .map(|m| Twist { linear: settings.gravity * (m.mass * h), angular: DVec3::ZERO })
        .collect();
    for c in contacts.iter().filter(|c| c.pushes) {
        c.rub(v, h, &mut rhs);
        // Eq. 3 with the volume at the end of the step.
        let push = -h * k * (c.volume + h * c.rate(v));
        for s in 0..2 {
            rhs[c.bodies[s]].add(&c.gradient[s], push);
        }
    }
    let mut after = v.to_vec();
    for (now, change) in after.iter_mut().zip(system.solve(&rhs)) {
        now.add(&change, 1.0);
    }
    after
}

/// Writes what a pair's penalty did into its manifold: the report, sleep and the panels read it there.
fn share(m: &mut Manifold, contacts: &[Contact], after: &[Twist], bodies: &[Body], kh: f64, h: f64) {
    let id = |k: usize| bodies.get(k).map(|b| b.id);
    let of_pair = |c: &&Contact| id(c.bodies[0]) == Some(m.first) && id(c.bodies[1]) == m.second;
    let impulse: DVec3 = contacts
        .iter()
        .filter(|c| c.pushes)
        .filter(of_pair)
        .map(|c| c.gradient[0].linear * (-kh * (c.volume + h * c.rate(after))))
        .sum();
    m.rolling_impulse = DVec3::ZERO;
    let count = m.points.len();
    for i in 0..count {
        let normal = m.points[i].normal;
        let like = m.points.iter().filter(|p| p.normal.dot(normal) > 0.99).count().max(1);
        let p = &mut m.points[i];
        p.total_impulse = (impulse.dot(normal) / like as f64).max(0.0);
        (p.normal_impulse, p.friction_impulse, p.total_friction) = (0.0, DVec3::ZERO, DVec3::ZERO);
    }
}
