//! Soft contact constraints in substeps.
//!
//! Each contact is a damped spring whose stiffness follows from a frequency and the masses it holds apart, so
//! that crumbs and slabs are treated alike, solved as an impulse with warm starting; a second, rigid pass
//! takes out the velocity that the spring put in to undo overlap. Friction is a Coulomb cone. The paper's
//! penalty (sec. 5.2) has one stiffness for all and never sticks; `docs/physics.md` compares the two.

mod group;
mod helpers;
mod mover;
mod parts;
mod rolling;
mod row;

use super::{Respond, ResponseEntry};
use crate::bodies::{
    Body, BodyId, WorldSettings, collide::Manifold, context::StepContext, integrate, scale::Scale,
};
use crate::gpu::GpuError;
use glam::DVec3;
use group::{Group, Pass};
use helpers::with_helpers;
use mover::{Movers, Share};
use parts::{Part, Touch, divide};
use rayon::prelude::*;
use rolling::Roll;
use row::{Row, Soft, Surface};

/// How the table has it.
pub const ENTRY: ResponseEntry = ResponseEntry {
    name: "soft",
    label: "soft",
    about: "Soft constraints in substeps; stacks stand and come to rest.",
    make: || Box::new(SoftStep::default()),
};

/// Frequency and damping of contacts, and the limits of what they do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftStep {
    /// Hz, for objects of `stiff_size` or more; smaller ones have more of it, or their own weight would press them in by
    /// a greater share of their size. At most a quarter of the substep rate is used.
    pub hertz: f64,
    /// m.
    pub stiff_size: f64,
    /// 1 is critical.
    pub damping_ratio: f64,
    /// Overlap is undone at most this fast, m/s. This and the following speeds and times are those of objects of a metre
    /// on the Earth ([`Scale`]).
    pub push_out: f64,
    /// Slower impacts do not bounce, m/s.
    pub bounce_threshold: f64,
    /// How fast what has slipped while friction held is drawn back, 1/s: else heaps creep.
    pub stick: f64,
    /// How fast the motion of a leaning piece that turns a little dies, 1/s.
    pub wobble_damping: f64,
    /// Rounds over all contacts in each pass of a substep, at most. With few, heavy pieces creep into light
    /// ones whose contacts are in each other's way.
    pub iterations: u32,
    /// A pass ends sooner once no contact changes a speed by more than this, m/s.
    pub settled: f64,
}

impl Default for SoftStep {
    fn default() -> Self {
        Self {
            hertz: 40.0,
            stiff_size: 0.2,
            damping_ratio: 3.0,
            push_out: 3.0,
            bounce_threshold: 0.5,
            stick: 5.0,
            wobble_damping: 15.0,
            iterations: 24,
            settled: 0.01,
        }
    }
}

/// Rounds of the bounce: a box that lands flat has to agree among its corners.
const BOUNCE_ROUNDS: usize = 8;

/// What sinks faster than this tips over and does not wobble, m/s for objects of a metre.
const TIP_SPEED: f64 = 0.002;

/// Turning slower than this, at the rim, is a wobble, m/s for objects of a metre; slower than the other, it is none.
const WOBBLE_SPEED: f64 = 0.25;
const LEAST_WOBBLE: f64 = 1e-4;

/// Shorter lists of manifolds are not worth a second thread.
const FEW: usize = 256;

/// Does `work` to every item, on all cores where that pays.
fn for_all<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Send + Sync) {
    if items.len() < FEW {
        items.iter_mut().for_each(work);
    } else {
        items.par_iter_mut().with_min_len(FEW / 4).for_each(work);
    }
}

/// Does `work` to every contact of a part, to those of its halves at the same time. Gives the greatest of
/// what it gives.
fn sweep(
    part: &Part,
    groups: &mut [Group<'_>],
    share: &mut Share<'_>,
    work: &(impl Fn(&mut Group<'_>, &mut Share<'_>) -> f64 + Sync),
) -> f64 {
    let (mut most, mut own) = (0.0, groups);
    if let Some(halves) = &part.halves {
        let [low, high] = &**halves;
        let [mut below, mut above] = share.split(low.bodies.len());
        let (first, rest) = own.split_at_mut(low.touches.len());
        let (second, across) = rest.split_at_mut(high.touches.len());
        let (a, b) =
            rayon::join(|| sweep(low, first, &mut below, work), || sweep(high, second, &mut above, work));
        (most, own) = (f64::max(a, b), across);
    }
    own.iter_mut().fold(most, |most, group| f64::max(most, work(group, share)))
}

/// The same of work that gives nothing.
fn each(
    part: &Part,
    groups: &mut [Group<'_>],
    share: &mut Share<'_>,
    work: impl Fn(&mut Group<'_>, &mut Share<'_>) + Sync,
) {
    sweep(part, groups, share, &|group, share| {
        work(group, share);
        0.0
    });
}

impl SoftStep {
    fn soft(&self, scale: Scale, h: f64) -> Soft {
        let hertz = self.hertz * (self.stiff_size / scale.length).sqrt().max(1.0);
        let omega = std::f64::consts::TAU * hertz.min(0.25 / h);
        let a1 = 2.0 * self.damping_ratio + h * omega;
        Soft {
            bias_rate: omega / a1,
            softness: 1.0 / (h * omega * a1),
            push_out: self.push_out * scale.speed,
        }
    }
}

impl Respond for SoftStep {
    fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError> {
        self.step(bodies, manifolds, cx.settings);
        Ok(())
    }
}

impl SoftStep {
    fn step(&self, bodies: &mut [Body], manifolds: &mut [Manifold], settings: &WorldSettings) {
        let (whole, moving, touches) = parts(bodies, manifolds);
        let h = settings.dt / f64::from(settings.substeps.clamp(1, 64));
        let (fixed, points) = (&*bodies, &*manifolds);
        let prepare = || {
            let movers = Movers::new(fixed, &moving, settings.gravity, h);
            let rows = rows(fixed, points, &touches, &movers);
            (movers, rows)
        };
        let mut solved = None;
        with_helpers(whole.leaves() - 1, prepare, |(mut movers, mut rows)| {
            let mut groups = self.groups(&mut rows, fixed, points, &movers, h);
            self.solve(&whole, &mut groups, &mut movers, settings);
            let impulses: Vec<_> = groups.iter().map(|group| (group.manifold, group.roll.impulse)).collect();
            solved = Some((movers, rows, impulses));
        });
        let Some((movers, rows, impulses)) = solved else { return };
        for (m, impulse) in impulses {
            manifolds[m].rolling_impulse = impulse;
        }
        for row in &rows {
            let p = &mut manifolds[row.manifold as usize].points[row.point as usize];
            p.normal_impulse = row.normal_impulse;
            p.friction_impulse = row.friction_impulse;
            p.total_impulse = row.total_impulse;
            p.slid = row.slid || row.total_impulse == 0.0;
        }
        for (k, state) in movers.states() {
            bodies[k].state = state;
            integrate::velocity(&mut bodies[k].state, DVec3::ZERO, h);
        }
    }
}

impl SoftStep {
    /// One step of a heap in parts.
    fn solve(&self, whole: &Part, groups: &mut [Group<'_>], movers: &mut Movers, settings: &WorldSettings) {
        let substeps = settings.substeps.clamp(1, 64);
        let h = settings.dt / f64::from(substeps);
        for _ in 0..substeps {
            movers.accelerate(settings.gravity, h);
            for_all(groups, |group| group.prepare(movers, h));
            let all = &mut movers.share();
            each(whole, groups, all, |group, share| group.warm_start(share));
            each(whole, groups, all, |group, share| group.warm_roll(share));
            for_all(groups, |group| group.foresee(movers, Pass::Springs, h));
            self.rounds(whole, groups, movers, Pass::Springs, h);
            movers.advance(h);
            for_all(groups, |group| {
                group.aim(movers);
                group.foresee(movers, Pass::Rigid, h);
            });
            self.rounds(whole, groups, movers, Pass::Rigid, h);
            for_all(groups, Group::sum_up);
        }
        for _ in 0..BOUNCE_ROUNDS {
            let all = &mut movers.share();
            each(whole, groups, all, |group, share| group.bounce(share, self.bounce_threshold));
        }
        // Without weight nothing leans, and what is left is a collision that must keep its momentum.
        if settings.gravity != DVec3::ZERO {
            self.settle(groups, movers, settings);
        }
    }
}

impl SoftStep {
    /// One pass over all contacts, until what they still change is little.
    fn rounds(&self, whole: &Part, groups: &mut [Group<'_>], movers: &mut Movers, pass: Pass, h: f64) {
        let stick = if pass == Pass::Springs { self.stick } else { 0.0 };
        movers.motions.iter_mut().for_each(|motion| motion.stir = [0.0; 2]);
        let all = &mut movers.share();
        for _ in 0..self.iterations {
            let pressed = sweep(whole, groups, all, &|group, share| group.press(share, pass, h));
            // Rolling and friction, once all normal impulses of a round are known: what they do would be
            // undone before.
            let dragged = sweep(whole, groups, all, &|group, share| group.drag(share, stick));
            if pressed.max(dragged) < self.settled {
                break;
            }
        }
    }

    /// Takes the wobble out of pieces that lean on something and hardly turn. Rounded corners of voxels are
    /// where they would rock for ever.
    fn settle(&self, groups: &[Group<'_>], movers: &mut Movers, settings: &WorldSettings) {
        let down = settings.gravity.normalize_or_zero();
        let mut leans = vec![f64::MAX; movers.motions.len()];
        let rows = groups.iter().flat_map(|group| group.rows.iter());
        for row in rows.filter(|row| row.normal_impulse > 0.0) {
            for k in row.pair() {
                leans[k] = row.size.min(leans[k]);
            }
        }
        let moving = movers.motions.iter_mut().zip(&movers.frames).zip(leans).filter(|((m, _), _)| m.moves());
        for ((motion, frame), arm) in moving {
            let Scale { speed, time, .. } = frame.scale;
            let wobble = motion.angular.length() * arm;
            let wobbles = wobble > LEAST_WOBBLE * speed && wobble < WOBBLE_SPEED * speed;
            if wobbles && motion.linear.dot(down) < TIP_SPEED * speed {
                let keep = 1.0 / (1.0 + self.wobble_damping / time * settings.dt);
                motion.angular *= keep;
                if motion.linear.length() < WOBBLE_SPEED * speed {
                    motion.linear *= keep;
                }
            }
        }
    }

    /// One for each manifold that has rows.
    fn groups<'a>(
        &self,
        mut rest: &'a mut [Row],
        bodies: &[Body],
        manifolds: &[Manifold],
        movers: &Movers,
        h: f64,
    ) -> Vec<Group<'a>> {
        let body = |mover: usize| bodies.get(movers.frames[mover].body);
        // The floor has no end.
        let half = |mover| body(mover).map_or(f64::MAX, |body: &Body| body.def.thickness() * 0.5);
        let half: Vec<f64> = (0..movers.frames.len()).map(half).collect();
        // Half the thickness of the thinner body, at most a cell of the pair: it stands for what voxels round off, and
        // must not hold up what leans.
        let arm = |pair: [usize; 2], cell: f64| {
            let [a, b] = pair.map(|k| body(k).map(|body| body.def.rolling_resistance.max(0.0)));
            let share = (a.or(b).unwrap_or(0.0) * b.or(a).unwrap_or(0.0)).sqrt();
            (share * half[pair[0]].min(half[pair[1]])).min(cell)
        };
        let mut groups = Vec::new();
        while let Some(first) = rest.first() {
            let (pair, m) = (first.pair(), first.manifold as usize);
            let (rows, later) = rest.split_at_mut(manifolds[m].points.len());
            rest = later;
            let roll = Roll::new(pair, arm(pair, manifolds[m].resolution_m), manifolds[m].rolling_impulse);
            let scale = movers.frames[pair[0]].scale.smaller(movers.frames[pair[1]].scale);
            groups.push(Group::new(m, rows, roll, scale, self.soft(scale, h)));
        }
        groups
    }
}

/// The bodies of a manifold; `bodies.len()` stands for the floor. None if one is gone.
fn pair(bodies: &[Body], manifold: &Manifold) -> Option<[usize; 2]> {
    // Bodies are kept in ascending order of id.
    let find = |id: BodyId| bodies.binary_search_by(|b| b.id.cmp(&id)).ok();
    Some([find(manifold.first)?, manifold.second.map_or(Some(bodies.len()), find)?])
}

/// The heap in parts: what moves, and the manifolds with points of which one body can move.
fn parts(bodies: &[Body], manifolds: &[Manifold]) -> (Part, Vec<usize>, Vec<Touch>) {
    let moves: Vec<bool> = bodies.iter().map(|body| !body.is_static() && !body.asleep).collect();
    let moves = |k: usize| moves.get(k).copied().unwrap_or(false);
    let touch = |(m, manifold): (usize, &Manifold)| {
        let [a, b] = pair(bodies, manifold)?;
        let (a_or_b, b_or_a) = (if moves(a) { a } else { b }, if moves(b) { b } else { a });
        let points = manifold.points.len();
        let counts = moves(a_or_b) && points > 0;
        counts.then_some(Touch { manifold: m, bodies: [a_or_b, b_or_a], points })
    };
    let touches = manifolds.iter().enumerate().filter_map(touch).collect();
    let positions: Vec<DVec3> = bodies.iter().map(|body| body.state.position).collect();
    divide(&positions, (0..bodies.len()).filter(|&k| moves(k)).collect(), touches)
}

/// In how many parts that are not halved a heap is solved.
#[cfg(test)]
pub fn parts_of(bodies: &[Body], manifolds: &[Manifold]) -> usize {
    parts(bodies, manifolds).0.leaves()
}

/// One for each point of the manifolds that `touches` names, in that order.
fn rows(bodies: &[Body], manifolds: &[Manifold], touches: &[Touch], movers: &Movers) -> Vec<Row> {
    let mut rows = Vec::with_capacity(touches.iter().map(|touch| touch.points).sum());
    for m in touches.iter().map(|touch| touch.manifold) {
        let manifold = &manifolds[m];
        let Some([a, b]) = pair(bodies, manifold) else { continue };
        let (sa, sb) = (&bodies[a].def, &bodies.get(b).unwrap_or(&bodies[a]).def);
        let surface = Surface {
            friction: (sa.friction * sb.friction).max(0.0).sqrt(),
            restitution: sa.restitution.max(sb.restitution).clamp(0.0, 1.0),
            size: sa.radius().min(sb.radius()),
        };
        let places = [a, b].map(|k| movers.place(k));
        let points = manifold.points.iter().enumerate();
        rows.extend(points.map(|(i, p)| Row::new([m, i], p, places, movers, surface)));
    }
    rows
}
