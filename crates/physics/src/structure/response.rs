//! What a structure does under the loads of a step: the load of every bond, and the bonds that fail.
//!
//! In: contacts of a step with their impulses and closing speeds, gravity, the body's spin. Out: a [`Response`].
//!
//! # Loads that last
//!
//! A contact that carries an impulse J over a step dt loads its part by J / dt. What no anchor holds accelerates as a rigid
//! body; every part is loaded by the inertia of that motion, so that the loads on the structure are in balance.
//!
//! # Blows
//!
//! Contacts that close faster than [`SLOWEST`] strike. A step's impulses say in which pattern the blow loads the parts, but
//! not how hard, since rigid bodies stop at once. The hardness follows from the energy that the contacts take out, W = sum
//! of J v / 2 over the contacts (v the closing speed): the structure gives way like a spring until it has taken up W. Under
//! the pattern P (N) it gives way by C = P . u(P) (J), so that the greatest load is s P with s^2 C / 2 = W.
//!
//! A bond that fails at s' takes s'^2 C / 2 out of W, and the energy of its new crack. What is left of W loads what is left
//! of the structure, until nothing fails or until the structure comes apart: the parts then meet what struck them
//! themselves, with the share of the impulse that [`Response::unspent`] says.

use glam::{DMat3, DVec3};

use super::{
    block::Six,
    graph::{Bond, Structure, StructurePart, component_of},
    stiffness::{Held, Opening, Spring, springs},
    strength::Strength,
};

/// Contacts that close more slowly do not strike, m/s: contacts at rest close by about this much from step to step.
pub const SLOWEST: f64 = 0.03;
/// Bonds that bear at least this share of what the weakest of them bears beyond its strength fail with it: symmetric
/// structures break symmetrically.
const TOGETHER: f64 = 0.95;
/// Most rounds of failures in a step; the next step goes on.
const MOST_ROUNDS: usize = 64;
/// Loads that differ by less, as a share of the structure's weight or its largest load, are those of before.
const SAME: f64 = 1e-3;
/// Strength in shear that compression adds, as a share of it (Mohr & Coulomb).
const INTERNAL_FRICTION: f64 = 0.7;

/// A contact of the body in a step. Shape space and body axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointLoad {
    /// Where, m.
    pub point: DVec3,
    /// On the body in the whole step, N s.
    pub impulse: DVec3,
    /// Speed at which the contact closed when the step began, m/s.
    pub closing: f64,
}

/// All that loads a body in a step.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// Its contacts.
    pub contacts: &'a [PointLoad],
    /// Gravity, body axes, m/s^2.
    pub gravity: DVec3,
    /// Angular velocity, body axes, rad/s.
    pub spin: DVec3,
    /// Density, kg/m^3.
    pub density: f64,
    /// Length of the step, s.
    pub dt: f64,
}

/// How a bond fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It is pulled apart, or bent open.
    Tension,
    /// It is crushed.
    Compression,
    /// It slides or twists.
    Shear,
}

/// What a bond bears as a share of its strength; it fails above 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondLoad {
    /// The greatest share.
    pub share: f64,
    /// Which strength that is of.
    pub mode: Mode,
}

impl BondLoad {
    /// Of a bond without load.
    pub const NONE: Self = Self { share: 0.0, mode: Mode::Tension };
}

/// A bond that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// Its index in [`Structure::bonds`].
    pub bond: usize,
    /// Its load when it failed.
    pub load: BondLoad,
    /// Whether a blow loaded it.
    pub by_blow: bool,
}

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// Bonds that failed, in the order in which they did.
    pub failures: Vec<Failure>,
    /// Loads of all bonds before the first failed.
    pub loads: Vec<BondLoad>,
    /// Energy of the blow, J.
    pub blow: f64,
    /// Share of the impulses of a blow that the structure did not take, because it came apart first; 0 where it held.
    pub unspent: f64,
    /// Iterations of the solver.
    pub iterations: usize,
}

/// What a structure remembers from step to step. It changes no result, except that loads which are nearly those of before
/// are not solved for again.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Loads of the contacts of the last step, N and N m; and the motions that all loads caused.
    contacts: Vec<Six>,
    motions: Vec<Six>,
    /// Gravity and spin of the last step, and the loads of the bonds.
    surroundings: Option<[DVec3; 2]>,
    loads: Vec<BondLoad>,
}

impl Memory {
    /// Whether the loads of all bonds are known.
    pub(crate) fn is_known(&self) -> bool {
        !self.loads.is_empty()
    }

    /// Loads of all bonds; empty if they are not known.
    pub(crate) fn loads(&self) -> &[BondLoad] {
        &self.loads
    }

    /// Makes the next step solve for the loads, whatever they are.
    pub(crate) fn doubt(&mut self) {
        self.surroundings = None;
        self.loads.clear();
    }
}

/// The rigid motion that the loads of a component cause, and with it the loads that are in balance.
struct Masses {
    /// Mass (kg), centre (shape space, m) and inertia about it of every part.
    parts: Vec<(f64, DVec3, DMat3)>,
}

impl Masses {
    fn new(structure: &Structure, density: f64) -> Self {
        let of = |part: &StructurePart| {
            let mass = part.shape.mass();
            let scale = density / part.shape.density().max(1e-300);
            (mass.volume_m3 * density, mass.centre, part.shape.inertia() * scale)
        };
        Self { parts: structure.parts.iter().map(of).collect() }
    }

    /// Adds to `loads` the weight of the parts where `gravity` is not zero, and the inertia of each component that no
    /// anchor holds.
    fn balance(
        &self,
        structure: &Structure,
        component: &[u32],
        (gravity, spin): (DVec3, DVec3),
        loads: &mut [Six],
    ) {
        let arm = |part: usize| self.parts[part].1 - structure.parts[part].node;
        for (part, load) in loads.iter_mut().enumerate() {
            let weight = gravity * self.parts[part].0;
            *load += Six { linear: weight, angular: arm(part).cross(weight) };
        }
        let count = component.iter().max().map_or(0, |last| *last as usize + 1);
        let mut held = vec![false; count];
        let mut sums = vec![(0.0, DVec3::ZERO); count];
        for (part, own) in structure.parts.iter().enumerate() {
            let of = component[part] as usize;
            held[of] |= own.anchored;
            let (mass, centre, _) = self.parts[part];
            sums[of].0 += mass;
            sums[of].1 += centre * mass;
        }
        let centres: Vec<DVec3> = sums.iter().map(|(mass, sum)| *sum / mass.max(1e-300)).collect();
        let mut turning = vec![(DVec3::ZERO, DVec3::ZERO, DMat3::ZERO); count];
        for (part, load) in loads.iter().enumerate() {
            let of = component[part] as usize;
            let (mass, centre, inertia) = self.parts[part];
            let from = centre - centres[of];
            let (force, torque, all) = &mut turning[of];
            *force += load.linear;
            *torque += load.angular + (structure.parts[part].node - centres[of]).cross(load.linear);
            let outer = DMat3::from_cols(from * from.x, from * from.y, from * from.z);
            *all += inertia + (DMat3::from_diagonal(DVec3::splat(from.length_squared())) - outer) * mass;
        }
        for (part, load) in loads.iter_mut().enumerate() {
            let of = component[part] as usize;
            if held[of] {
                continue;
            }
            let (force, torque, all) = turning[of];
            let (mass, centre, inertia) = self.parts[part];
            let angular = all.inverse() * (torque - spin.cross(all * spin));
            let angular = if angular.is_finite() { angular } else { DVec3::ZERO };
            let from = centre - centres[of];
            let acceleration =
                force / sums[of].0.max(1e-300) + angular.cross(from) + spin.cross(spin.cross(from));
            let push = acceleration * -mass;
            let turn = inertia * -angular - spin.cross(inertia * spin);
            *load += Six { linear: push, angular: turn + arm(part).cross(push) };
        }
    }
}

impl Structure {
    /// The same after these failures.
    #[must_use]
    pub fn after(&self, failures: &[Failure]) -> Self {
        self.changed(|bonds| failures.iter().for_each(|failure| bonds[failure.bond].damage = 1.0))
    }

    /// What the structure bears in a step, and which of its bonds fail. Bonds are not changed.
    #[must_use]
    pub fn respond(&self, memory: &mut Memory, all: &Loads<'_>) -> Response {
        if self.bonds.iter().all(|bond| bond.damage >= 1.0) {
            return Response::default();
        }
        let energy: f64 = all.contacts.iter().map(blow_of).sum();
        let (lasting, pattern) = self.part_loads(memory, all, energy > 0.0);
        let surroundings = [all.gravity, all.spin];
        let is_same = energy == 0.0
            && memory.loads.len() == self.bonds.len()
            && memory.surroundings.is_some_and(|before| is_near(before, surroundings))
            && self.is_unchanged(&memory.contacts, &lasting, all);
        if is_same {
            return Response { loads: memory.loads.clone(), ..Response::default() };
        }
        let mut work = Work::new(self, all);
        let response = work.run(memory, &lasting, &pattern, energy);
        (memory.contacts, memory.surroundings) = (lasting, Some(surroundings));
        memory.loads = if response.failures.is_empty() { response.loads.clone() } else { Vec::new() };
        response
    }

    /// Loads of the parts by contacts, about their nodes: those that last, and the pattern of a blow.
    fn part_loads(&self, memory: &Memory, all: &Loads<'_>, struck: bool) -> (Vec<Six>, Vec<Six>) {
        let mut now = vec![Six::ZERO; self.parts.len()];
        for contact in all.contacts {
            let Some(part) = self.part_at(contact.point) else { continue };
            let force = contact.impulse / all.dt;
            let arm = contact.point - self.parts[part as usize].node;
            now[part as usize] += Six { linear: force, angular: arm.cross(force) };
        }
        if !struck {
            return (now, Vec::new());
        }
        // What lasted until now goes on; the rest is the blow's.
        let before = match memory.contacts.len() == now.len() {
            true => memory.contacts.clone(),
            false => vec![Six::ZERO; now.len()],
        };
        let pattern = now.iter().zip(&before).map(|(now, before)| *now - *before).collect();
        (before, pattern)
    }

    fn is_unchanged(&self, before: &[Six], now: &[Six], all: &Loads<'_>) -> bool {
        let weight: f64 = self.parts.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>()
            * all.density
            * all.gravity.length();
        let largest = now.iter().map(|load| load.linear.length()).fold(weight, f64::max);
        before.len() == now.len()
            && before.iter().zip(now).all(|(a, b)| (a.linear - b.linear).length() <= SAME * largest)
    }
}

fn is_near(before: [DVec3; 2], now: [DVec3; 2]) -> bool {
    before[0].distance(now[0]) <= SAME * now[0].length() && before[1].distance(now[1]) <= 1e-3
}

/// The energy that a contact takes out of the bodies, J; 0 where it does not strike.
fn blow_of(contact: &PointLoad) -> f64 {
    if contact.closing > SLOWEST { 0.5 * contact.impulse.length() * contact.closing } else { 0.0 }
}

/// One step's search for bonds that fail.
struct Work<'a> {
    structure: &'a Structure,
    all: Loads<'a>,
    springs: Vec<Spring>,
    masses: Masses,
    alive: Vec<bool>,
}

impl<'a> Work<'a> {
    fn new(structure: &'a Structure, all: &Loads<'a>) -> Self {
        Self {
            structure,
            all: *all,
            springs: springs(structure),
            masses: Masses::new(structure, all.density),
            alive: structure.bonds.iter().map(|bond| bond.damage < 1.0).collect(),
        }
    }

    fn run(&mut self, memory: &mut Memory, lasting: &[Six], pattern: &[Six], energy: f64) -> Response {
        let mut response = Response { blow: energy, ..Response::default() };
        let count = self.structure.parts.len();
        let mut motions = std::mem::take(&mut memory.motions);
        motions.resize(count, Six::ZERO);
        let mut of_blow = vec![Six::ZERO; count];
        let first_component = component_of(self.structure, &self.alive);
        let (mut left, mut came_apart) = (energy, false);
        for round in 0..MOST_ROUNDS {
            let component = component_of(self.structure, &self.alive);
            if component != first_component {
                came_apart = true;
            }
            let held = Held::new(self.structure, &self.springs, (&self.alive, &component));
            let factor = self.structure.factor.get_or_init(|| held.factor());
            let mut loads = lasting.to_vec();
            self.masses.balance(self.structure, &component, (self.all.gravity, self.all.spin), &mut loads);
            response.iterations += held.solve(factor, &loads, &mut motions);
            let mut compliance = 0.0;
            let strikes = left > 0.0 && !came_apart && !pattern.is_empty();
            if strikes {
                let mut loads = pattern.to_vec();
                self.masses.balance(self.structure, &component, (DVec3::ZERO, DVec3::ZERO), &mut loads);
                response.iterations += held.solve(factor, &loads, &mut of_blow);
                compliance = loads.iter().zip(&of_blow).map(|(load, motion)| load.dot(*motion)).sum();
            }
            let hardness = if compliance > 0.0 { (2.0 * left / compliance).sqrt() } else { 0.0 };
            let open = |motions: &[Six]| -> Vec<Opening> {
                let bonds = self.structure.bonds.iter().zip(&self.springs);
                bonds.map(|(bond, spring)| spring.opening(bond.ends.map(|e| motions[e as usize]))).collect()
            };
            let rest = open(&motions);
            let more = if hardness > 0.0 { open(&of_blow) } else { Vec::new() };
            let load = |bond: usize, hardness: f64| {
                let mut opening = rest[bond];
                if let Some(more) = more.get(bond) {
                    opening.shift += more.shift * hardness;
                    opening.turn += more.turn * hardness;
                }
                let (own, spring) = (&self.structure.bonds[bond], &self.springs[bond]);
                bond_load(own, spring, opening, &self.structure.strength)
            };
            let bears = |bond: usize| if self.alive[bond] { load(bond, hardness) } else { BondLoad::NONE };
            let now: Vec<BondLoad> = (0..self.alive.len()).map(bears).collect();
            let most = now.iter().map(|load| load.share).fold(0.0, f64::max);
            if round == 0 {
                response.loads.clone_from(&now);
            }
            if most.is_nan() || most <= 1.0 {
                break;
            }
            // The hardness at which the first of them fails.
            let weakest: Vec<usize> =
                (0..now.len()).filter(|bond| now[*bond].share >= (TOGETHER * most).max(1.0)).collect();
            let fails = |at: f64| weakest.iter().any(|bond| load(*bond, at).share > 1.0);
            let by_blow = hardness > 0.0 && !fails(0.0);
            if by_blow {
                let (mut low, mut high) = (0.0, hardness);
                for _ in 0..40 {
                    let middle = 0.5 * (low + high);
                    if fails(middle) { high = middle } else { low = middle }
                }
                let crack: f64 = weakest
                    .iter()
                    .map(|bond| &self.structure.bonds[*bond])
                    .map(|bond| bond.section.area * bond.share * self.structure.strength.toughness)
                    .sum();
                left = (left - 0.5 * high * high * compliance - crack).max(0.0);
            }
            for bond in weakest {
                self.alive[bond] = false;
                response.failures.push(Failure { bond, load: now[bond], by_blow });
            }
        }
        if component_of(self.structure, &self.alive) != first_component && energy > 0.0 {
            response.unspent = (left / energy).sqrt().min(1.0);
        }
        memory.motions = motions;
        response
    }
}

/// What a bond bears whose sides have moved so against each other.
fn bond_load(bond: &Bond, spring: &Spring, opening: Opening, strength: &Strength) -> BondLoad {
    let section = &bond.section;
    let (area, normal) = (section.area, section.normal);
    let modulus = spring.push / area;
    let traction = opening.shift * modulus;
    let pull = traction.dot(normal);
    let slide = (traction - normal * pull).length();
    // The stress of a turn at r: modulus * turn x r. Its part along the normal is modulus * (normal x turn) . r.
    let bent = normal.cross(opening.turn) * modulus;
    // The reach of the rectangle with the same second moments, which does not depend on how a square lies.
    let reach = 3.0 / area;
    let bend = (reach * bent.dot(section.moments * bent).max(0.0)).sqrt();
    let moments = section.moments;
    let polar = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
    let twist = opening.turn.dot(normal).abs() * modulus * (reach * polar).sqrt();
    let own = bond.share * (1.0 - bond.damage);
    let limit = |strength: f64| (strength * own).max(1e-300);
    let shear = strength.shear * own + INTERNAL_FRICTION * (-pull).max(0.0);
    let shares = [
        ((pull + bend) / limit(strength.tension), Mode::Tension),
        ((bend - pull) / limit(strength.compression), Mode::Compression),
        ((slide + twist) / shear.max(1e-300), Mode::Shear),
    ];
    let worst = shares.into_iter().fold((0.0, Mode::Tension), |a, b| if b.0 > a.0 { b } else { a });
    BondLoad { share: worst.0, mode: worst.1 }
}
