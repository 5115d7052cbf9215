//! Structures in a step of the world: gathers what the contacts of a step did to their bodies, and lets them respond.
//!
//! In: bodies and manifolds of every round of a step. Out: [`StructureStep`]s.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use rayon::prelude::*;

use super::{
    Body, BodyId, BodyState, WorldSettings,
    body::index_of,
    collide::Manifold,
    structure::{Loads, Memory, PointLoad, Response, SLOWEST, Support},
};

/// What the structure of a body did in the last step.
#[derive(Clone, Debug)]
pub struct StructureStep {
    /// The body.
    pub body: BodyId,
    /// Loads and failures.
    pub response: Response,
}

/// What structures remember from step to step.
pub(crate) type Memories = BTreeMap<BodyId, Memory>;

/// The index of a manifold, and the speeds at which its points close, m/s.
pub(crate) type Closing = (usize, Vec<f64>);

/// What touches a structure in a step.
#[derive(Default)]
struct Touched {
    contacts: Vec<PointLoad>,
    /// By what cannot move (a body, or floor and walls) and the point's key: the sum over the rounds.
    supports: BTreeMap<(Option<BodyId>, u64), Support>,
}

/// The contacts of structures in the rounds of a step.
#[derive(Default)]
pub(crate) struct StructureContacts {
    /// By index of the body.
    of_body: BTreeMap<usize, Touched>,
    /// By manifold with a structure, ascending: the speeds at which its points close as the round begins.
    closing: Vec<Closing>,
    /// The same of manifolds of bodies that lie on structures with others.
    above: Vec<Closing>,
    is_idle: bool,
}

/// Whether the structure of a body can bear anything now.
fn responds(body: &Body) -> bool {
    let structure = body.def.structure.as_deref();
    structure.is_some_and(|s| body.moves() || (body.def.fixed && s.is_anchored()))
}

pub(crate) fn velocity_at(state: &BodyState, point: DVec3) -> DVec3 {
    state.linear_velocity + state.angular_velocity.cross(point - state.position)
}

/// Whether the loads of a structure are still to be found.
pub(crate) fn is_unloaded(bodies: &[Body], memories: &Memories) -> bool {
    let known = |body: &Body| memories.get(&body.id).is_some_and(Memory::is_known);
    let holds = |body: &Body| {
        let structure = body.def.structure.as_deref();
        structure.is_some_and(|structure| structure.bonds.iter().any(|bond| bond.damage < 1.0))
    };
    bodies.iter().any(|body| responds(body) && holds(body) && !known(body))
}

/// The sum of the impulses on each body that moves, N s, by index.
pub(crate) fn pushes(bodies: &[Body], manifolds: &[Manifold]) -> BTreeMap<usize, DVec3> {
    let mut sums: BTreeMap<usize, DVec3> = BTreeMap::new();
    for manifold in manifolds.iter().filter(|manifold| manifold.presses()) {
        let push: DVec3 = manifold.points.iter().map(|p| p.normal * p.total_impulse).sum();
        for (id, push) in [(Some(manifold.first), push), (manifold.second, -push)] {
            if let Some(k) = id.and_then(|id| index_of(bodies, id)).filter(|&k| !bodies[k].is_static()) {
                *sums.entry(k).or_default() += push;
            }
        }
    }
    sums
}

/// The share, at most 1, of impulse times closing speed that counts as energy of a blow. Impulses also push overlap out, so the
/// product is bounded by the impulse that stops one of the two bodies against what else pushes it back.
pub(crate) fn share_taken(
    bodies: &[Body],
    manifold: &Manifold,
    closing: &[f64],
    pushed: &BTreeMap<usize, DVec3>,
) -> f64 {
    let fastest = closing.iter().copied().fold(0.0, f64::max);
    let push: DVec3 = manifold.points.iter().map(|p| p.normal * p.total_impulse).sum();
    let stops = |own: DVec3, id: Option<BodyId>| {
        let Some(k) = id.and_then(|id| index_of(bodies, id)).filter(|&k| !bodies[k].is_static()) else {
            return f64::MAX;
        };
        let others = pushed.get(&k).map_or(DVec3::ZERO, |all| *all - own);
        let back = -others.dot(own.normalize_or_zero());
        bodies[k].def.mass_kg() * fastest + back.max(0.0)
    };
    let most = fastest * stops(push, Some(manifold.first)).min(stops(-push, manifold.second));
    let taken: f64 = manifold.points.iter().zip(closing).map(|(p, v)| p.total_impulse * v.max(0.0)).sum();
    if taken > most { most / taken } else { 1.0 }
}

/// Energy that bodies which lie on structures hand on to them when others strike them.
struct Handed {
    /// By index of the body: the energy (J), the impulse (N s) of what strikes it, and its impulses on structures.
    through: BTreeMap<usize, (f64, f64, f64)>,
}

impl Handed {
    /// Of manifolds with structures, and of those above; each with closing speeds.
    fn new(
        bodies: &[Body],
        manifolds: &[Manifold],
        (below, above): (&[Closing], &[Closing]),
        pushed: &BTreeMap<usize, DVec3>,
    ) -> Self {
        let mut through: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
        let ends = |at: usize| {
            let manifold = &manifolds[at];
            let ids = [Some(manifold.first), manifold.second];
            ids.into_iter().flatten().filter_map(|id| index_of(bodies, id))
        };
        for (at, closing) in above {
            let taken = share_taken(bodies, &manifolds[*at], closing, pushed);
            let points = manifolds[*at].points.iter().zip(closing).filter(|(_, closing)| **closing > SLOWEST);
            let (energy, impulse) = points.fold((0.0, 0.0), |(energy, impulse), (p, closing)| {
                (energy + 0.5 * p.total_impulse * closing * taken, impulse + p.total_impulse * taken)
            });
            for k in ends(*at).filter(|&k| bodies[k].moves()) {
                let sum = through.entry(k).or_default();
                (sum.0, sum.1) = (sum.0 + energy, sum.1 + impulse);
            }
        }
        for (at, _) in below {
            let pushes: f64 = manifolds[*at].points.iter().map(|p| p.total_impulse).sum();
            for k in ends(*at) {
                if let Some(sum) = through.get_mut(&k) {
                    sum.2 += pushes;
                }
            }
        }
        Self { through }
    }

    /// The speed at which a contact with a structure closes in effect. What strikes the body between leaves the two of them
    /// the energy of a plastic impact, of which the contact takes the share that its impulse has.
    fn closing(&self, bodies: &[Body], manifold: &Manifold) -> Option<f64> {
        let ids = [Some(manifold.first), manifold.second];
        let mut found = ids.into_iter().flatten().filter_map(|id| index_of(bodies, id));
        let (k, (energy, impulse, below)) = found.find_map(|k| Some((k, *self.through.get(&k)?)))?;
        let striking = impulse * impulse / (2.0 * energy);
        let left = energy * striking / (striking + bodies[k].def.mass_kg());
        let speed = 2.0 * left / below.max(impulse);
        (speed > SLOWEST).then_some(speed)
    }
}

impl StructureContacts {
    pub fn new(bodies: &[Body]) -> Self {
        // Bodies at rest may be woken within the step.
        Self { is_idle: bodies.iter().all(|body| body.def.structure.is_none()), ..Self::default() }
    }

    /// Notes how fast the contacts close before a round is solved.
    pub fn before(&mut self, bodies: &[Body], manifolds: &[Manifold]) {
        if self.is_idle {
            return;
        }
        let ends = |manifold: &Manifold| {
            let first = index_of(bodies, manifold.first);
            [first, manifold.second.and_then(|id| index_of(bodies, id))]
        };
        let speeds = |manifold: &Manifold, [first, second]: [Option<usize>; 2]| -> Vec<f64> {
            let velocity =
                |k: Option<usize>, point| k.map_or(DVec3::ZERO, |k| velocity_at(&bodies[k].state, point));
            let closing =
                |p: &crate::Point| (velocity(second, p.position) - velocity(first, p.position)).dot(p.normal);
            manifold.points.iter().map(closing).collect()
        };
        self.closing.clear();
        self.above.clear();
        let mut lying: BTreeSet<usize> = BTreeSet::new();
        let has_structure = |k: usize| responds(&bodies[k]);
        for (at, manifold) in manifolds.iter().enumerate() {
            let ends = ends(manifold);
            if ends.into_iter().flatten().any(has_structure) {
                self.closing.push((at, speeds(manifold, ends)));
                lying.extend(ends.into_iter().flatten().filter(|&k| !has_structure(k) && bodies[k].moves()));
            }
        }
        if lying.is_empty() {
            return;
        }
        for (at, manifold) in manifolds.iter().enumerate() {
            let ends = ends(manifold);
            let is_above = ends.into_iter().flatten().any(|k| lying.contains(&k));
            if is_above && !ends.into_iter().flatten().any(has_structure) {
                let speeds = speeds(manifold, ends);
                if speeds.iter().any(|speed| *speed > SLOWEST) {
                    self.above.push((at, speeds));
                }
            }
        }
    }

    /// Adds the impulses of a round. Contacts that were not solved, since nothing moved there, keep those of an earlier
    /// step, of which the round is the given `share`; `substeps` are those of a round.
    pub fn after(
        &mut self,
        bodies: &[Body],
        manifolds: &[Manifold],
        (is_live, share, substeps): (&[bool], f64, u32),
    ) {
        let all = std::mem::take(&mut self.closing);
        let pushed = if all.is_empty() { BTreeMap::new() } else { pushes(bodies, manifolds) };
        let handed = Handed::new(bodies, manifolds, (&all, &std::mem::take(&mut self.above)), &pushed);
        for (at, closing) in all {
            let manifold = &manifolds[at];
            let part = if is_live[at] { 1.0 } else { share };
            let ends = [Some(manifold.first), manifold.second];
            let fastest = closing.iter().copied().fold(0.0, f64::max);
            let share_taken = share_taken(bodies, manifold, &closing, &pushed);
            let through = if fastest > SLOWEST { None } else { handed.closing(bodies, manifold) };
            for (side, id) in ends.into_iter().enumerate() {
                let Some(k) = id.and_then(|id| index_of(bodies, id)).filter(|&k| responds(&bodies[k])) else {
                    continue;
                };
                let body = &bodies[k];
                let centre = body.def.shape.mass().centre;
                let sign = if side == 0 { part } else { -part };
                let back = body.state.rotation.inverse();
                let touched = self.of_body.entry(k).or_default();
                let other = ends[1 - side];
                let is_support =
                    other.is_none_or(|id| index_of(bodies, id).is_some_and(|k| bodies[k].is_static()));
                // What moves finds other points in every step, and each would take a solution.
                let rests = |p: &crate::Point| velocity_at(&body.state, p.position).length() <= SLOWEST;
                let touches = |p: &crate::Point| p.total_impulse > 0.0 || p.separation <= 0.0;
                for p in manifold.points.iter().filter(|p| is_support && touches(p) && rests(p)) {
                    let support = touched.supports.entry((other, p.key)).or_default();
                    support.point = centre + p.anchors[side];
                    support.normal = back * p.normal * sign.signum();
                    support.impulse += p.total_impulse * part;
                }
                let pressing = manifold.points.iter().zip(&closing).filter(|(p, _)| p.total_impulse > 0.0);
                touched.contacts.extend(pressing.map(|(p, closing)| PointLoad {
                    point: centre + p.anchors[side],
                    // The response tells the friction of its last substep.
                    impulse: back
                        * (p.normal * p.total_impulse + p.friction_impulse * f64::from(substeps))
                        * sign,
                    closing: match through {
                        Some(through) => through,
                        None if *closing > SLOWEST => (closing * share_taken).max(SLOWEST),
                        None => *closing,
                    },
                }));
            }
        }
    }

    /// The responses of all structures; `memories` of bodies without one go.
    pub fn respond(
        self,
        bodies: &[Body],
        memories: &mut Memories,
        settings: &WorldSettings,
    ) -> Vec<StructureStep> {
        if self.is_idle {
            return Vec::new();
        }
        let mut old = std::mem::take(memories);
        let acting = bodies.iter().enumerate().filter(|(_, body)| body.def.structure.is_some());
        let mut all: Vec<(&Body, Touched, Memory)> = Vec::new();
        let mut of_body = self.of_body;
        for (k, body) in acting {
            let memory = old.remove(&body.id).unwrap_or_default();
            if responds(body) {
                all.push((body, of_body.remove(&k).unwrap_or_default(), memory));
            } else {
                memories.insert(body.id, memory);
            }
        }
        let steps: Vec<StructureStep> = all
            .par_iter_mut()
            .filter_map(|(body, touched, memory)| {
                let structure = body.def.structure.as_deref()?;
                let supports: Vec<Support> = touched.supports.values().copied().collect();
                let back = body.state.rotation.inverse();
                let loads = Loads {
                    contacts: &touched.contacts,
                    supports: &supports,
                    gravity: back * settings.gravity,
                    spin: back * body.state.angular_velocity,
                    density: body.def.shape.density(),
                    dt: settings.dt,
                };
                Some(StructureStep { body: body.id, response: structure.respond(memory, &loads) })
            })
            .collect();
        memories.extend(all.into_iter().map(|(body, _, memory)| (body.id, memory)));
        steps
    }
}
