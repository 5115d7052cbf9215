//! Collisions in a step of the world: the energy that they take out, and what it does to bodies that may break.
//!
//! In: bodies and manifolds of every round of a step, and strengths of bodies that no bonds hold. Out: [`Struck`] bodies, and
//! [`Impact`]s for who writes them down.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{
    Body, BodyId,
    body::index_of,
    collide::Manifold,
    structure::{PointLoad, SLOWEST, Strength, resistance},
    structure_step::{Closing, pushes, share_taken, velocity_at},
};

/// A contact that has lost less than this share of its speed in a round hardly struck: what the whole blow will be would be
/// a guess.
const BEGUN: f64 = 0.05;

/// Shares of the way from the middle of a manifold to a point at which an even pressure acts.
const EVENLY: [f64; 4] = [0.125, 0.375, 0.625, 0.875];

/// A collision of two bodies, or of a body and floor or walls, in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// The bodies; the second is absent for the floor and the walls.
    pub bodies: (BodyId, Option<BodyId>),
    /// Where: the mean of its contacts by impulse, world, m.
    pub position: DVec3,
    /// From the second body to the first, world, unit.
    pub normal: DVec3,
    /// Sum of the normal impulses of contacts that struck, N s.
    pub impulse: f64,
    /// Greatest speed at which a contact closed, m/s.
    pub speed: f64,
    /// Energy that left the motion along the normals, J.
    pub energy: f64,
}

/// A blow on a body that no bonds hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Struck {
    /// The body.
    pub body: BodyId,
    /// Energy of the blow, J.
    pub energy: f64,
    /// Energy from which a blow like this breaks the body, J.
    pub needed: f64,
    /// Energy of a crack through the body, J.
    pub crack: f64,
    /// Where it struck: the mean of the contacts by energy, world, m.
    pub point: DVec3,
    /// Direction of the blow, world, unit.
    pub way: DVec3,
}

impl Struck {
    /// Whether the body breaks.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.energy >= self.needed && self.energy > 0.0
    }

    /// The number of pieces that the energy pays for, from 2 to `most`.
    #[must_use]
    pub fn pieces(&self, most: u32) -> u32 {
        let cracks = if self.crack > 0.0 { (self.energy / self.crack).floor() } else { f64::MAX };
        (1.0 + cracks).clamp(2.0, f64::from(most.max(2))) as u32
    }

    /// The share of the impulses that is taken back when the body breaks into so many pieces: the energy that neither broke
    /// the body nor went into cracks stays motion.
    #[must_use]
    pub fn share_left(&self, pieces: u32) -> f64 {
        let spent = self.needed.max(f64::from(pieces.saturating_sub(1)) * self.crack);
        (1.0 - spent / self.energy).clamp(0.0, 1.0).sqrt()
    }
}

/// Energy and contacts of a blow.
#[derive(Default)]
struct Blow {
    energy: f64,
    loads: Vec<PointLoad>,
}

/// The contacts that are looked at in the rounds of a step.
#[derive(Default)]
pub(crate) struct BlowContacts {
    strengths: BTreeMap<BodyId, Strength>,
    keeps: bool,
    /// Speeds before the round.
    closing: Vec<Closing>,
    /// Of each body, by index, the round with the greatest energy.
    blows: BTreeMap<usize, Blow>,
    /// The sums of each pair; position times impulse, and normal times impulse.
    impacts: BTreeMap<(BodyId, Option<BodyId>), Impact>,
}

fn ends(bodies: &[Body], manifold: &Manifold) -> [Option<usize>; 2] {
    [Some(manifold.first), manifold.second].map(|id| id.and_then(|id| index_of(bodies, id)))
}

/// How fast the points of a manifold close, m/s.
fn speeds(bodies: &[Body], manifold: &Manifold) -> Vec<f64> {
    let [first, second] = ends(bodies, manifold);
    let velocity = |k: Option<usize>, at| k.map_or(DVec3::ZERO, |k| velocity_at(&bodies[k].state, at));
    let closing =
        |p: &crate::Point| (velocity(second, p.position) - velocity(first, p.position)).dot(p.normal);
    manifold.points.iter().map(closing).collect()
}

/// Where the impulse of a point acts on the body of a side, from its centre, in its axes, m. A manifold has few points of a
/// face; where both bodies meet between a point and the middle of the manifold, they press evenly there.
fn places(
    bodies: &[Body],
    (manifold, ends): (&Manifold, [Option<usize>; 2]),
    point: &crate::Point,
    side: usize,
) -> Vec<DVec3> {
    let weight: f64 = manifold.points.iter().map(|p| p.total_impulse).sum();
    // The mean by impulse, so that the torque of all points stays.
    let middle = |side: usize| -> DVec3 {
        manifold.points.iter().map(|p| p.anchors[side] * (p.total_impulse / weight)).sum()
    };
    let place = |side: usize, share: f64| middle(side).lerp(point.anchors[side], share);
    let lies = |side: usize, share: f64| {
        ends[side].is_none_or(|k| {
            let shape = &bodies[k].def.shape;
            let local = shape.local_from_shape(shape.mass().centre + place(side, share));
            shape.distance(local) * shape.unit_m() <= manifold.resolution_m
        })
    };
    if [0.0, 0.5].into_iter().all(|share| lies(0, share) && lies(1, share)) {
        // Even from the middle to the point: second moments are those of an even pressure on a line or a rectangle.
        EVENLY.map(|share| place(side, share)).to_vec()
    } else {
        vec![point.anchors[side]]
    }
}

impl BlowContacts {
    pub fn new(strengths: BTreeMap<BodyId, Strength>, keeps: bool) -> Self {
        Self { strengths, keeps, ..Self::default() }
    }

    /// The strength of a body that may break.
    fn strength(&self, body: &Body) -> Option<&Strength> {
        self.strengths.get(&body.id).filter(|_| !body.is_static() && body.def.structure.is_none())
    }

    /// Notes how fast contacts close before a round is solved. What rests, and is not `live`, does not strike.
    pub fn before(&mut self, bodies: &[Body], manifolds: &[Manifold], live: &[bool]) {
        if self.strengths.is_empty() && !self.keeps {
            return;
        }
        let may_break = |manifold: &Manifold| {
            let ends = ends(bodies, manifold);
            ends.into_iter().flatten().any(|k| self.strength(&bodies[k]).is_some())
        };
        let all = manifolds.iter().enumerate();
        let looked_at = all.filter(|(at, m)| live[*at] && (self.keeps || may_break(m)));
        self.closing = looked_at.map(|(at, manifold)| (at, speeds(bodies, manifold))).collect();
    }

    /// Adds the blows of a round.
    pub fn after(&mut self, bodies: &[Body], manifolds: &[Manifold]) {
        let all = std::mem::take(&mut self.closing);
        let strikes = |closing: &[f64]| closing.iter().any(|speed| *speed > SLOWEST);
        if !all.iter().any(|(_, closing)| strikes(closing)) {
            return;
        }
        let pushed = pushes(bodies, manifolds);
        let mut energies: BTreeMap<usize, f64> = BTreeMap::new();
        let mut judged: Vec<Closing> = Vec::new();
        for (at, closing) in all.iter().filter(|(at, _)| manifolds[*at].presses()) {
            let manifold = &manifolds[*at];
            if !strikes(closing) {
                // It takes no energy, but may support what is struck elsewhere.
                judged.push((*at, vec![0.0; closing.len()]));
                continue;
            }
            let taken = share_taken(bodies, manifold, closing, &pushed);
            let after = speeds(bodies, manifold);
            if self.keeps {
                self.note(manifold, (closing, &after), taken);
            }
            let whole = |(was, is): (&f64, &f64)| -> f64 {
                // A contact that still closes is met in a later round with the rest: the blow is judged as a whole.
                let lost = was - is.max(0.0);
                let goes_on = if lost > BEGUN * was { (was / lost).max(1.0) } else { 1.0 };
                if *was > SLOWEST { was * taken * goes_on } else { 0.0 }
            };
            let speeds: Vec<f64> = closing.iter().zip(&after).map(whole).collect();
            let energy: f64 =
                manifold.points.iter().zip(&speeds).map(|(p, v)| 0.5 * p.total_impulse * v).sum();
            let may_break = |k: &usize| self.strength(&bodies[*k]).is_some();
            for k in ends(bodies, manifold).into_iter().flatten().filter(may_break) {
                *energies.entry(k).or_default() += energy;
            }
            judged.push((*at, speeds));
        }
        energies.retain(|k, energy| {
            let before = self.blows.get(k).map_or(0.0, |blow| blow.energy);
            *energy > before.max(self.least(&bodies[*k]))
        });
        let new = energies.into_iter().map(|(k, energy)| (k, Blow { energy, loads: Vec::new() }));
        let mut blows: BTreeMap<usize, Blow> = new.collect();
        for (at, speeds) in &judged {
            let manifold = &manifolds[*at];
            let ends = ends(bodies, manifold);
            for (side, end) in ends.into_iter().enumerate() {
                let Some(k) = end else { continue };
                let Some(blow) = blows.get_mut(&k) else { continue };
                let (body, sign) = (&bodies[k], if side == 0 { 1.0 } else { -1.0 });
                let (centre, back) = (body.def.shape.mass().centre, body.state.rotation.inverse());
                for (p, speed) in manifold.points.iter().zip(speeds).filter(|(p, _)| p.total_impulse > 0.0) {
                    let places = places(bodies, (manifold, ends), p, side);
                    let share = sign / places.len() as f64;
                    let impulse = back * (p.normal * p.total_impulse + p.total_friction) * share;
                    let load = |place: DVec3| PointLoad { point: centre + place, impulse, closing: *speed };
                    blow.loads.extend(places.into_iter().map(load));
                }
            }
        }
        self.blows.append(&mut blows);
    }

    /// Smaller blows than this pay for no crack through the body, J. A mean section is the volume by an edge of the box with
    /// the same moments. The edge is longest where all mass lies at both ends of the body: the root of 12 times the radius.
    fn least(&self, body: &Body) -> f64 {
        let section = body.def.shape.mass().volume_m3 / (12.0f64.sqrt() * body.def.radius());
        self.strength(body).map_or(f64::INFINITY, |strength| strength.toughness * section)
    }

    /// Adds the points of a manifold that closed to the impact of its pair; speeds before and after.
    fn note(&mut self, manifold: &Manifold, (was, is): (&[f64], &[f64]), taken: f64) {
        let name = (manifold.first, manifold.second);
        for ((p, was), is) in manifold.points.iter().zip(was).zip(is).filter(|((_, was), _)| **was > SLOWEST)
        {
            let impact = self.impacts.entry(name).or_insert(Impact {
                bodies: name,
                position: DVec3::ZERO,
                normal: DVec3::ZERO,
                impulse: 0.0,
                speed: 0.0,
                energy: 0.0,
            });
            let impulse = p.total_impulse;
            impact.impulse += impulse;
            impact.position += p.position * impulse;
            impact.normal += p.normal * impulse;
            impact.speed = impact.speed.max(*was);
            // The work of the impulse, no more than what stops one of the bodies.
            impact.energy += (0.5 * impulse * (was + is)).min(0.5 * impulse * was * taken).max(0.0);
        }
    }

    /// The blows on bodies that may break, and the impacts.
    pub fn list(self, bodies: &[Body]) -> (Vec<Struck>, Vec<Impact>) {
        let struck = self.blows.iter().filter(|(_, blow)| blow.energy > 0.0).filter_map(|(&k, blow)| {
            let body = bodies.get(k)?;
            let borne = resistance(&body.def.shape, self.strength(body)?, &blow.loads);
            let (mut point, mut way) = (DVec3::ZERO, DVec3::ZERO);
            for load in &blow.loads {
                let energy = 0.5 * load.impulse.length() * load.closing;
                (point, way) = (point + load.point * energy, way + load.impulse.normalize_or_zero() * energy);
            }
            let weight: f64 = blow.loads.iter().map(|load| 0.5 * load.impulse.length() * load.closing).sum();
            let from_centre = point / weight - body.def.shape.mass().centre;
            Some(Struck {
                body: body.id,
                energy: blow.energy,
                needed: borne.needed,
                crack: borne.crack,
                point: body.state.position + body.state.rotation * from_centre,
                way: (body.state.rotation * way).normalize_or(DVec3::NEG_Y),
            })
        });
        let struck = struck.collect();
        let impacts = self.impacts.into_values().filter(|impact| impact.impulse > 0.0);
        let impacts = impacts.map(|impact| Impact {
            position: impact.position / impact.impulse,
            normal: impact.normal.normalize_or_zero(),
            ..impact
        });
        (struck, impacts.collect())
    }
}
