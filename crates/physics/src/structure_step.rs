//! Structures in a step of the world: gathers what the contacts of a step did to their bodies, and lets them respond.
//!
//! In: bodies and manifolds of every round of a step. Out: [`StructureStep`]s.

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;

use super::{
    Body, BodyId, BodyState, WorldSettings,
    body::index_of,
    collide::Manifold,
    structure::{Loads, Memory, PointLoad, Response, SLOWEST},
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

/// The contacts of structures in the rounds of a step.
#[derive(Default)]
pub(crate) struct StructureContacts {
    /// By index of the body.
    of_body: BTreeMap<usize, Vec<PointLoad>>,
    /// By manifold with a structure, ascending: the speeds at which its points close as the round begins.
    closing: Vec<(usize, Vec<f64>)>,
    is_idle: bool,
}

/// Whether the structure of a body can bear anything now.
fn responds(body: &Body) -> bool {
    let structure = body.def.structure.as_deref();
    structure.is_some_and(|s| body.moves() || (body.def.fixed && s.is_anchored()))
}

fn velocity_at(state: &BodyState, point: DVec3) -> DVec3 {
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
        let speeds = |(at, manifold): (usize, &Manifold)| {
            let first = &bodies[index_of(bodies, manifold.first)?];
            let second = manifold.second.and_then(|id| index_of(bodies, id)).map(|k| &bodies[k]);
            [Some(first), second].into_iter().flatten().find(|body| responds(body))?;
            let closing = |p: &crate::Point| {
                let other = second.map_or(DVec3::ZERO, |body| velocity_at(&body.state, p.position));
                (other - velocity_at(&first.state, p.position)).dot(p.normal)
            };
            Some((at, manifold.points.iter().map(closing).collect()))
        };
        self.closing = manifolds.iter().enumerate().filter_map(speeds).collect();
    }

    /// Adds the impulses of a round. Contacts that were not solved, since nothing moved there, keep those of an earlier
    /// step, of which the round is the given `share`; `substeps` are those of a round.
    pub fn after(
        &mut self,
        bodies: &[Body],
        manifolds: &[Manifold],
        (is_live, share, substeps): (&[bool], f64, u32),
    ) {
        for (at, closing) in std::mem::take(&mut self.closing) {
            let manifold = &manifolds[at];
            let part = if is_live[at] { 1.0 } else { share };
            let ends = [Some(manifold.first), manifold.second];
            let mass = |id: Option<BodyId>| {
                let body = id.and_then(|id| index_of(bodies, id)).map(|k| &bodies[k]);
                body.filter(|body| !body.is_static()).map_or(f64::MAX, |body| body.def.mass_kg())
            };
            // Overlap that is pushed out adds to impulses; a blow takes no more than the lighter body can bring.
            let fastest = closing.iter().copied().fold(0.0, f64::max);
            let most = fastest * fastest * mass(ends[0]).min(mass(ends[1]));
            let taken: f64 =
                manifold.points.iter().zip(&closing).map(|(p, v)| p.total_impulse * v.max(0.0)).sum();
            let share_taken = if taken > most { most / taken } else { 1.0 };
            for (side, id) in ends.into_iter().enumerate() {
                let Some(k) = id.and_then(|id| index_of(bodies, id)).filter(|&k| responds(&bodies[k])) else {
                    continue;
                };
                let body = &bodies[k];
                let centre = body.def.shape.mass().centre;
                let sign = if side == 0 { part } else { -part };
                let back = body.state.rotation.inverse();
                let loads = self.of_body.entry(k).or_default();
                let pressing = manifold.points.iter().zip(&closing).filter(|(p, _)| p.total_impulse > 0.0);
                loads.extend(pressing.map(|(p, closing)| PointLoad {
                    point: centre + p.anchors[side],
                    // The response tells the friction of its last substep.
                    impulse: back
                        * (p.normal * p.total_impulse + p.friction_impulse * f64::from(substeps))
                        * sign,
                    closing: if *closing > SLOWEST { (closing * share_taken).max(SLOWEST) } else { *closing },
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
        let mut all: Vec<(&Body, Vec<PointLoad>, Memory)> = Vec::new();
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
            .filter_map(|(body, contacts, memory)| {
                let structure = body.def.structure.as_deref()?;
                let back = body.state.rotation.inverse();
                let loads = Loads {
                    contacts,
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
