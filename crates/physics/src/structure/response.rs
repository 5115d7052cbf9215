//! What a structure does under the loads of a step: the load of every bond, and the bonds that fail.
//!
//! In: contacts of a step with their impulses and closing speeds, gravity, the body's spin. Out: a [`Response`].
//!
//! # Loads that last
//!
//! A contact that carries an impulse J over a step dt loads its part by J / dt. What no anchor holds accelerates as a rigid
//! body; every part is loaded by the inertia of that motion, so that the loads on the structure are in balance. Where it
//! rests on more than balance needs, `supports` says what each support bears.
//!
//! # Blows
//!
//! Contacts that close faster than [`SLOWEST`](super::SLOWEST) strike. A step's impulses say in which pattern the blow loads the parts, but
//! not how hard, since rigid bodies stop at once. The hardness follows from the energy that the contacts take out, W = sum
//! of J v / 2 over the contacts (v the closing speed): the structure gives way like a spring until it has taken up W. Under
//! the pattern P (N) it gives way by C = P . u(P) (J), so that the greatest load is s P with s^2 C / 2 = W.
//!
//! A bond that fails at s' takes s'^2 C / 2 out of W, and the energy of its new crack. What is left of W loads what is left
//! of the structure, until nothing fails or until the structure comes apart: the parts then meet what struck them
//! themselves, with the share of the impulse that [`Response::unspent`] says.
//!
//! Bonds that a blow does not break lose some of their strength by it ([`Strength::wear`]), where that is asked for.

use std::sync::Arc;

use glam::DVec3;

use super::{
    block::Six,
    factor::Factor,
    graph::{Bond, Structure, component_of},
    loads::{Loads, is_near, is_unchanged},
    standing::Standing,
    stiffness::{Held, MOST, Opening, SOLVED, Spring},
    strength::Strength,
    supports::Supports,
};

/// Bonds that bear at least this share of what the weakest of them bears beyond its strength fail with it: symmetric
/// structures break symmetrically.
const TOGETHER: f64 = 0.95;
/// Rounds of failures in which only these fail. From then on that share falls by itself in each round: what comes down as
/// a whole is not followed bond by bond.
const CAREFUL_ROUNDS: i32 = 8;
/// Most rounds of failures in a step; the next step goes on.
const MOST_ROUNDS: usize = 64;
/// The residual at which loads are solved after the first failures of a step, as a share of the loads.
const ROUGHLY: f64 = 1e-3;
/// A solution that takes more iterations than this calls for a factor of the bonds that are left.
const STALE: usize = 40;
/// Where no bond can bear more than this share of its strength, loads need not be solved for in full.
const SAFE: f64 = 0.95;
/// Loads that may be off by less than this, as a share of the strength, are not solved for again where nothing can fail.
const UNSEEN: f64 = 0.02;
/// Loads of bonds that change by no more in a step, as a share of the strength, are taken as found.
const SETTLED: f64 = 5e-4;
/// Iterations of a step in which nothing can fail: what bonds bear may lag behind by some steps then.
const FEW: usize = 2;
/// Strength in shear that compression adds, as a share of it (Mohr & Coulomb).
pub(super) const INTERNAL_FRICTION: f64 = 0.7;
/// Halvings of the hardness of a blow by which the moment of a failure is found.
const HALVINGS: usize = 40;
/// What a bond without strength is taken to bear, Pa: a stress of up to 1e100 Pa is a finite share of it, and more than
/// [`BOUNDLESS`].
const NO_STRENGTH: f64 = 1e-200;
/// Loads above this share are those of bonds without strength.
const BOUNDLESS: f64 = 1e100;

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

kintsugi_core::names! { Mode: Tension = "tension", Compression = "compression", Shear = "shear" }

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

    /// Whether the bond has a strength that the load is a share of. Without one the share is a number that says nothing.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.share < BOUNDLESS
    }
}

impl Bond {
    /// The stress at which it fails so, Pa, in a structure of this strength; of shear without what compression adds.
    #[must_use]
    pub fn strength(&self, mode: Mode, of: &Strength) -> f64 {
        let limit = match mode {
            Mode::Tension => of.tension,
            Mode::Compression => of.compression,
            Mode::Shear => of.shear,
        };
        limit * self.share * (1.0 - self.damage)
    }
}

/// A bond that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// Its index in [`Structure::bonds`].
    pub bond: usize,
    /// Its load when it failed. A blow grows until bonds fail, so that of a bond which a blow broke this is 1. Loads that
    /// last grow from step to step; this is then what the step brought.
    pub load: BondLoad,
    /// What the whole blow would put on it if no bond failed, as a share of its strength; without a blow that of `load`.
    pub whole: f64,
    /// The stress when it failed, Pa: that share of [`Bond::strength`], or, of a bond without strength, what it bore.
    pub stress: f64,
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
    /// Of all bonds the share of their remaining strength that the blow takes without breaking them; empty where it takes
    /// nothing.
    pub wear: Vec<f64>,
}

/// What a structure remembers from step to step. It changes no failure: only loads that cannot matter are not solved for.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Loads of the contacts of the last step without a blow, N and N m.
    contacts: Arc<Vec<Six>>,
    /// What supports bore beyond that; empty where nothing.
    added: Vec<Six>,
    supports: Supports,
    /// Gravity and spin of the last step.
    surroundings: Option<[DVec3; 2]>,
    solved: Option<Arc<SolvedLoads>>,
}

/// Loads that were solved for.
#[derive(Clone, Debug)]
struct SolvedLoads {
    /// What they were solved for; another structure's say nothing but where a solver may begin.
    standing: Arc<Standing>,
    motions: Vec<Six>,
    /// The loads on the parts that these motions are exact for.
    carried: Vec<Six>,
    /// Of all bonds; empty where they are in doubt.
    loads: Vec<BondLoad>,
    /// Whether more iterations would change nothing that is worth it.
    settled: bool,
}

impl Memory {
    /// Whether the loads of all bonds are known.
    pub(crate) fn is_known(&self) -> bool {
        !self.loads().is_empty()
    }

    /// Loads of all bonds; empty if they are not known.
    pub(crate) fn loads(&self) -> &[BondLoad] {
        self.solved.as_ref().map_or(&[], |solved| &solved.loads)
    }

    /// The same, with nothing solved for.
    #[cfg(test)]
    pub(super) fn without_solution(&self) -> Self {
        Self { solved: None, ..self.clone() }
    }

    /// Makes the next step solve for the loads, whatever they are.
    pub(crate) fn doubt(&mut self) {
        self.surroundings = None;
        if let Some(solved) = &mut self.solved {
            Arc::make_mut(solved).loads.clear();
        }
    }
}

impl Structure {
    /// The same after these failures, which weaken the other bonds of the parts concerned by [`Strength::propagation`].
    #[must_use]
    pub fn after(&self, failures: &[Failure]) -> Self {
        let mut beside = vec![0; self.parts.len()];
        for failure in failures {
            self.bonds[failure.bond].ends.iter().for_each(|end| beside[*end as usize] += 1);
        }
        let left = 1.0 - self.strength.propagation;
        self.changed(|bonds| {
            for bond in bonds.iter_mut().filter(|bond| bond.damage < 1.0) {
                let failed: i32 = bond.ends.iter().map(|end| beside[*end as usize]).sum();
                bond.damage = 1.0 - (1.0 - bond.damage) * left.powi(failed);
            }
            failures.iter().for_each(|failure| bonds[failure.bond].damage = 1.0);
        })
    }

    /// The same after a step: after its failures, and with what its blow takes of the bonds that still hold.
    #[must_use]
    pub fn after_step(&self, response: &Response) -> Self {
        let after = self.after(&response.failures);
        if response.wear.is_empty() {
            return after;
        }
        after.changed(|bonds| {
            for (bond, wear) in bonds.iter_mut().zip(&response.wear) {
                if bond.damage < 1.0 && *wear > 0.0 {
                    bond.damage = 1.0 - (1.0 - bond.damage) * (1.0 - wear);
                }
            }
        })
    }

    /// What the structure bears in a step, and which of its bonds fail. Bonds are not changed.
    #[must_use]
    pub fn respond(&self, memory: &mut Memory, all: &Loads<'_>) -> Response {
        let standing = self.standing();
        if !standing.alive.contains(&true) {
            return Response::default();
        }
        let energy = all.blow();
        let now = all.by_contacts(self);
        let surroundings = [all.gravity, all.spin];
        let solved = memory.solved.take();
        let known = solved.as_ref().filter(|solved| {
            Arc::ptr_eq(&solved.standing, standing)
                && !solved.loads.is_empty()
                && memory.surroundings.is_some()
        });
        if let Some(known) = known
            && known.settled
            && energy == 0.0
            && memory.surroundings.is_some_and(|before| is_near(before, surroundings))
            && is_unchanged(
                &memory.contacts,
                &now,
                standing.base.masses.volume * all.density * all.gravity.length(),
            )
        {
            let response = Response { loads: known.loads.clone(), ..Response::default() };
            memory.solved = solved;
            return response;
        }
        // What lasted until now goes on where a blow falls; the rest is the blow's.
        let (contacts, pattern) = match energy > 0.0 {
            false => (Arc::new(now), Vec::new()),
            true => {
                let none = || Arc::new(vec![Six::ZERO; now.len()]);
                let is_of_these = memory.contacts.len() == now.len();
                let before = if is_of_these { Arc::clone(&memory.contacts) } else { none() };
                let pattern = now.iter().zip(before.iter()).map(|(now, before)| *now - *before).collect();
                (before, pattern)
            }
        };
        let mut loads = contacts.to_vec();
        let motion = (all.density, all.gravity, all.spin);
        standing.base.masses.balance(self, &standing.component, motion, &mut loads);
        if energy == 0.0 {
            memory.added = memory.supports.added(self, all, &loads);
        } else if memory.added.len() != loads.len() {
            memory.added.clear();
        }
        // In balance by themselves.
        let mut lasting = contacts.to_vec();
        for sum in [&mut loads, &mut lasting] {
            sum.iter_mut().zip(&memory.added).for_each(|(load, more)| *load += *more);
        }
        let work = Work { structure: self, all, standing, energy };
        // A blow that may wear a bond has to be solved for, too.
        let wears = energy > 0.0 && self.strength.fatigue > 0.0;
        let limit = if wears { SAFE.min(self.strength.endurance) } else { SAFE };
        let (response, solved) =
            match known.and_then(|known| Some((known, safe(standing, known, &loads, (energy, limit))?))) {
                Some((known, 0.0)) => (
                    Response { loads: known.loads.clone(), blow: energy, ..Response::default() },
                    Arc::clone(known),
                ),
                Some((known, _)) => work.refine(known, &loads),
                None => work.run(solved.as_deref(), (&lasting, loads), &pattern),
            };
        (memory.contacts, memory.surroundings, memory.solved) = (contacts, Some(surroundings), Some(solved));
        response
    }
}

/// Whether no bond can bear as much as `limit`, a share of its strength, under these loads and a blow of this energy, for all
/// that is known: by how much any bond's load may differ from the known one, as a share of its strength, if that is worth
/// solving for, and 0 if it is not.
fn safe(standing: &Standing, known: &SolvedLoads, loads: &[Six], (blow, limit): (f64, f64)) -> Option<f64> {
    let rest = loads.iter().zip(&known.carried).map(|(now, carried)| *now - *carried);
    let error = standing.most_energy(rest).sqrt();
    // A blow stores its energy in the bonds, and no more.
    let most = standing.most_share(known.loads.iter().map(|load| load.share), error + blow.sqrt());
    let unknown = standing.most_share(std::iter::repeat(0.0), error);
    (most < limit).then_some(if unknown > UNSEEN { unknown } else { 0.0 })
}

/// One step's search for bonds that fail.
struct Work<'a> {
    structure: &'a Structure,
    all: &'a Loads<'a>,
    standing: &'a Arc<Standing>,
    energy: f64,
}

impl Work<'_> {
    /// Loads of all bonds that hold, whose parts have moved so.
    fn bond_loads(&self, alive: &[bool], motions: &[Six]) -> Vec<BondLoad> {
        let bonds = self.structure.bonds.iter().zip(&self.standing.base.springs).zip(alive);
        let load = |((bond, spring), alive): ((&Bond, &Spring), &bool)| match alive {
            true => {
                let opening = spring.opening(spring.ends.map(|end| motions[end as usize]));
                bond_load(bond, spring, opening, &self.structure.strength)
            }
            false => BondLoad::NONE,
        };
        bonds.map(load).collect()
    }

    /// Comes some iterations closer to the loads of the bonds, where none of them can fail.
    fn refine(&self, known: &SolvedLoads, loads: &[Six]) -> (Response, Arc<SolvedLoads>) {
        let standing = self.standing;
        let held = Held::of(self.structure, standing);
        let mut motions = known.motions.clone();
        let (iterations, residual) = held.solve(standing.factor(&held), loads, &mut motions, (FEW, SOLVED));
        let carried = loads.iter().zip(&residual).map(|(load, rest)| *load - *rest).collect();
        let bonds = self.bond_loads(&standing.alive, &motions);
        // The bound is far too careful with what is left of loads; how much bonds still change tells as much as is needed
        // where none can fail.
        let changes = bonds.iter().zip(&known.loads).map(|(now, before)| (now.share - before.share).abs());
        let settled = iterations < FEW || changes.fold(0.0, f64::max) <= SETTLED;
        let standing = Arc::clone(standing);
        let solved = SolvedLoads { standing, motions, carried, loads: bonds.clone(), settled };
        (Response { loads: bonds, blow: self.energy, iterations, ..Response::default() }, Arc::new(solved))
    }

    /// Lets bonds fail until the rest holds; `loads` are those of `lasting` in balance.
    fn run(
        &self,
        before: Option<&SolvedLoads>,
        (lasting, loads): (&[Six], Vec<Six>),
        pattern: &[Six],
    ) -> (Response, Arc<SolvedLoads>) {
        let (structure, all, standing) = (self.structure, self.all, self.standing);
        let (springs, masses) = (&standing.base.springs, &standing.base.masses);
        let mut response = Response { blow: self.energy, ..Response::default() };
        let count = structure.parts.len();
        let mut motions = before.map_or_else(Vec::new, |before| before.motions.clone());
        motions.resize(count, Six::ZERO);
        let mut of_blow = vec![Six::ZERO; count];
        let mut alive = standing.alive.clone();
        let mut carried = Vec::new();
        let (mut left, mut came_apart) = (self.energy, false);
        let (mut newer, mut is_stale): (Option<Factor>, bool) = (None, false);
        let mut wear = vec![0.0; if structure.strength.fatigue > 0.0 { alive.len() } else { 0 }];
        for round in 0..MOST_ROUNDS {
            let component =
                if round == 0 { standing.component.clone() } else { component_of(structure, &alive) };
            came_apart |= component != standing.component;
            let held = match round {
                0 => Held::of(structure, standing),
                _ => Held::new(structure, &standing.base, &alive, &component),
            };
            if is_stale {
                newer = Some(held.factor());
            }
            let factor = newer.as_ref().unwrap_or_else(|| standing.factor(&held));
            let end = (MOST, if round == 0 { SOLVED } else { ROUGHLY });
            let mut of_round = loads.clone();
            if round > 0 {
                of_round.copy_from_slice(lasting);
                masses.balance(structure, &component, (all.density, all.gravity, all.spin), &mut of_round);
            }
            let strikes = left > 0.0 && !came_apart && !pattern.is_empty();
            let blow = strikes.then(|| {
                let mut loads = pattern.to_vec();
                let still = (all.density, DVec3::ZERO, DVec3::ZERO);
                masses.balance(structure, &component, still, &mut loads);
                loads
            });
            let mut last = || held.solve(factor, &of_round, &mut motions, end);
            // What lasts and the blow are solved for at once.
            let ((iterations, residual), more) = match &blow {
                Some(loads) => rayon::join(last, || held.solve(factor, loads, &mut of_blow, end).0),
                None => (last(), 0),
            };
            response.iterations += iterations + more;
            is_stale = round > 0 && iterations.max(more) > STALE;
            if round == 0 {
                carried = of_round.iter().zip(&residual).map(|(load, rest)| *load - *rest).collect();
            }
            let mut compliance = 0.0;
            if let Some(loads) = &blow {
                compliance = loads.iter().zip(&of_blow).map(|(load, motion)| load.dot(*motion)).sum();
            }
            let hardness = if compliance > 0.0 { (2.0 * left / compliance).sqrt() } else { 0.0 };
            let load = |bond: usize, hardness: f64| {
                let (own, spring) = (&structure.bonds[bond], &springs[bond]);
                let mut opening = spring.opening(spring.ends.map(|end| motions[end as usize]));
                if hardness > 0.0 {
                    let more = spring.opening(spring.ends.map(|end| of_blow[end as usize]));
                    opening.shift += more.shift * hardness;
                    opening.turn += more.turn * hardness;
                }
                bond_load(own, spring, opening, &structure.strength)
            };
            let bears = |bond: usize| if alive[bond] { load(bond, hardness) } else { BondLoad::NONE };
            let now: Vec<BondLoad> = (0..alive.len()).map(bears).collect();
            let most = now.iter().map(|load| load.share).fold(0.0, f64::max);
            if round == 0 {
                response.loads.clone_from(&now);
            }
            if most.is_nan() || most <= 1.0 {
                if hardness > 0.0 {
                    let shares = |bond: usize| [load(bond, 0.0).share, now[bond].share];
                    wear_off(&mut wear, &alive, &structure.strength, shares);
                }
                break;
            }
            // The hardness at which the first of them fails.
            let together = TOGETHER.powi((round as i32 - CAREFUL_ROUNDS).max(0) + 1);
            let weakest: Vec<usize> =
                (0..now.len()).filter(|bond| now[*bond].share >= (together * most).max(1.0)).collect();
            let fails = |at: f64| weakest.iter().any(|bond| load(*bond, at).share > 1.0);
            let by_blow = hardness > 0.0 && !fails(0.0);
            if by_blow {
                let high = least(hardness, fails);
                let crack: f64 = weakest
                    .iter()
                    .map(|bond| &structure.bonds[*bond])
                    .map(|bond| bond.section.area * bond.share * structure.strength.toughness)
                    .sum();
                left = (left - 0.5 * high * high * compliance - crack).max(0.0);
                // The blow came no further than to where these fail.
                let shares = |bond: usize| [load(bond, 0.0).share, load(bond, high).share];
                wear_off(&mut wear, &alive, &structure.strength, shares);
            }
            for bond in weakest {
                alive[bond] = false;
                // Each at the hardness at which it fails by itself.
                let lasting = load(bond, 0.0);
                let then = match lasting.share > 1.0 {
                    true => lasting,
                    false => load(bond, least(hardness, |at| load(bond, at).share > 1.0)),
                };
                let limit = match then.is_bounded() {
                    true => structure.bonds[bond].strength(then.mode, &structure.strength),
                    false => NO_STRENGTH,
                };
                let (whole, stress) = (now[bond].share, then.share * limit);
                response.failures.push(Failure { bond, load: then, whole, stress, by_blow });
            }
        }
        if self.energy > 0.0 && component_of(structure, &alive) != standing.component {
            response.unspent = (left / self.energy).sqrt().min(1.0);
        }
        if wear.iter().any(|share| *share > 0.0) {
            response.wear = wear;
        }
        // A blow passes; what its bonds bore is not what lasts.
        let loads = match response.failures.is_empty() {
            true if self.energy > 0.0 => self.bond_loads(&standing.alive, &motions),
            true => response.loads.clone(),
            false => Vec::new(),
        };
        let standing = Arc::clone(standing);
        (response, Arc::new(SolvedLoads { standing, motions, carried, loads, settled: true }))
    }
}

/// Adds to `wear`, where it is not empty, what a blow takes of the bonds that are `alive`; `shares` are the loads of a bond
/// without the blow and at its height. Of several heights of one blow the worst counts.
fn wear_off(wear: &mut [f64], alive: &[bool], strength: &Strength, shares: impl Fn(usize) -> [f64; 2]) {
    for (bond, worst) in wear.iter_mut().enumerate().filter(|(bond, _)| alive[*bond]) {
        let [lasting, most] = shares(bond);
        *worst = strength.wear(lasting, most).max(*worst);
    }
}

/// The least hardness up to `most` at which something fails, which does at `most`.
fn least(most: f64, fails: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if fails(middle) { high = middle } else { low = middle }
    }
    high
}

/// What a bond bears whose sides have moved so against each other.
pub(super) fn bond_load(bond: &Bond, spring: &Spring, opening: Opening, strength: &Strength) -> BondLoad {
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
    let limit = |strength: f64| (strength * own).max(NO_STRENGTH);
    let shear = strength.shear * own + INTERNAL_FRICTION * (-pull).max(0.0);
    let shares = [
        ((pull + bend) / limit(strength.tension), Mode::Tension),
        ((bend - pull) / limit(strength.compression), Mode::Compression),
        ((slide + twist) / shear.max(NO_STRENGTH), Mode::Shear),
    ];
    let worst = shares.into_iter().fold((0.0, Mode::Tension), |a, b| if b.0 > a.0 { b } else { a });
    BondLoad { share: worst.0, mode: worst.1 }
}
