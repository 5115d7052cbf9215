//! What of a structure stays from step to step: springs, masses, the factor that preconditions, and a bound on what bonds
//! can bear.
//!
//! In: a structure. Out: [`Standing`].
//!
//! # The bound
//!
//! Of all ways to carry loads r that are in balance with them, the true one stores the least energy (Castigliano; Washizu,
//! Variational Methods in Elasticity and Plasticity, 1968). Carried along a tree of bonds to what is pinned, r has one way
//! only, which one pass over the parts finds; its energy E is an upper bound of that of the whole structure, and so of
//! each bond. A bond of the area A and the stiffness k / A then bears a stress that differs by no more than a few times
//! sqrt(2 E k) / A. What cannot fail under loads that differ by r from those that were solved for need not be solved for.

use std::sync::{Arc, OnceLock};

use glam::{DMat3, DVec3};

use super::{
    block::Six,
    factor::Factor,
    graph::{Bond, Structure, component_of},
    masses::Masses,
    stiffness::{Held, Spring, springs},
};

/// Failed bonds, as a share of all, from which on another factor is made.
const REFACTOR: f64 = 0.02;

/// What depends on parts, sections and Young's modulus alone.
#[derive(Debug)]
pub(super) struct Base {
    pub springs: Vec<Spring>,
    pub masses: Masses,
    pub nodes: Vec<DVec3>,
}

/// What depends on which bonds hold, too.
#[derive(Debug)]
pub(super) struct Standing {
    pub base: Arc<Base>,
    /// Bonds that hold.
    pub alive: Vec<bool>,
    /// Component of each part.
    pub component: Vec<u32>,
    pub pinned: Vec<bool>,
    factor: OnceLock<Arc<Factor>>,
    /// Bonds that the factor has and that have failed.
    failed: usize,
    tree: Option<Vec<Branch>>,
    /// Per bond what it bears more at most, as a share of its strength, for each sqrt(J).
    gains: Vec<f64>,
}

/// What another structure of the same parts may take over.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    base: Arc<Base>,
    factor: Option<(Arc<Factor>, Vec<bool>, usize)>,
    alive: Vec<bool>,
}

/// A part and the bond along which it hands its loads on.
#[derive(Clone, Debug)]
struct Branch {
    part: u32,
    parent: u32,
    /// From the nodes of both to the section.
    arms: [DVec3; 2],
    /// Compliance, m/N and rad/(N m).
    push: f64,
    turn: DMat3,
}

impl Standing {
    pub fn new(structure: &Structure, kept: Option<&Kept>) -> Self {
        let base = kept.map_or_else(|| Arc::new(Base::new(structure)), |kept| Arc::clone(&kept.base));
        let alive: Vec<bool> = structure.bonds.iter().map(|bond| bond.damage < 1.0).collect();
        let component = component_of(structure, &alive);
        let held = Held::new(structure, &base, &alive, &component);
        let tree = tree(&held);
        let pinned = held.pinned;
        let (factor, failed) = match kept.and_then(|kept| Some((kept, kept.factor.as_ref()?))) {
            Some((kept, (factor, of, failed))) if *of == pinned => {
                let changed = kept.alive.iter().zip(&alive).filter(|(before, now)| before != now).count();
                let failed = failed + changed;
                let is_near = failed as f64 <= REFACTOR * alive.len() as f64;
                (if is_near { OnceLock::from(Arc::clone(factor)) } else { OnceLock::new() }, failed)
            }
            _ => (OnceLock::new(), 0),
        };
        let failed = if factor.get().is_some() { failed } else { 0 };
        let gains = structure.bonds.iter().zip(&base.springs).map(|(b, s)| gain(structure, b, s)).collect();
        Self { base, alive, component, pinned, factor, failed, tree, gains }
    }

    /// The incomplete factor of its stiffness.
    pub fn factor(&self, held: &Held<'_>) -> &Factor {
        if let Some(factor) = self.factor.get() {
            return factor;
        }
        // Made outside of the lock: a thread that waits for others in it may take up another body.
        let made = Arc::new(held.factor());
        self.factor.get_or_init(|| made)
    }

    pub fn kept(&self) -> Kept {
        let factor = self.factor.get().map(|factor| (Arc::clone(factor), self.pinned.clone(), self.failed));
        Kept { base: Arc::clone(&self.base), factor, alive: self.alive.clone() }
    }

    /// The greatest energy (J) that these loads can store in the bonds; infinite where that is not known. They are in balance
    /// but for what the pinned parts take.
    pub fn most_energy(&self, loads: impl Iterator<Item = Six>) -> f64 {
        let Some(tree) = &self.tree else { return f64::INFINITY };
        let mut loads: Vec<Six> = loads.collect();
        let mut energy = 0.0;
        for branch in tree {
            let own = loads[branch.part as usize];
            let torque = own.angular - branch.arms[0].cross(own.linear);
            energy += own.linear.length_squared() * branch.push + torque.dot(branch.turn * torque);
            let handed = Six { linear: own.linear, angular: torque + branch.arms[1].cross(own.linear) };
            loads[branch.parent as usize] += handed;
        }
        if energy.is_finite() { 0.5 * energy } else { f64::INFINITY }
    }

    /// The greatest share of its strength that any bond can bear which bears one of `shares`, once `root_energy` (the root
    /// of an energy, sqrt(J)) more is stored.
    pub fn most_share(&self, shares: impl Iterator<Item = f64>, root_energy: f64) -> f64 {
        let bonds = shares.zip(&self.gains).zip(&self.alive).filter(|(_, alive)| **alive);
        bonds.map(|((share, gain), _)| share + gain * root_energy).fold(0.0, f64::max)
    }
}

impl Base {
    pub fn new(structure: &Structure) -> Self {
        let nodes = structure.parts.iter().map(|part| part.node).collect();
        Self { springs: springs(structure), masses: Masses::new(structure), nodes }
    }
}

/// See [`Standing::gains`]. With Q = 2 E k / A^2 the tractions and the stresses of turns (their roots by the reach of the
/// rectangle) obey p^2 + s^2 + b^2 / 3 + t^2 / 3 <= Q; in shear, a pull p also takes friction away, 0.7 p.
fn gain(structure: &Structure, bond: &Bond, spring: &Spring) -> f64 {
    const WORST: f64 = 2.13;
    let strength = &structure.strength;
    let least = strength.tension.min(strength.compression).min(strength.shear);
    let own = least * bond.share * (1.0 - bond.damage);
    WORST * (2.0 * spring.push).sqrt() / bond.section.area / own.max(1e-300)
}

/// The parts that are not pinned, those that are farthest first, each with the stiffest bond to one that is nearer; `None`
/// where a part has none that bears all loads.
fn tree(held: &Held<'_>) -> Option<Vec<Branch>> {
    let (order, distance) = held.elimination_order();
    let mut best: Vec<Option<(f64, usize, usize)>> = vec![None; distance.len()];
    for (at, (spring, _)) in held.springs.iter().zip(held.alive).enumerate().filter(|(_, (_, alive))| **alive)
    {
        let [a, b] = spring.ends.map(|end| distance[end as usize]);
        if a == b || inverse_turn(spring).is_none() {
            continue;
        }
        let side = usize::from(b > a);
        let best = &mut best[spring.ends[side] as usize];
        if best.is_none_or(|(push, ..)| spring.push > push) {
            *best = Some((spring.push, at, side));
        }
    }
    let branch = |part: &u32| {
        let (push, bond, side) = best[*part as usize]?;
        let spring = &held.springs[bond];
        Some(Branch {
            part: *part,
            parent: spring.ends[1 - side],
            arms: [spring.arms[side], spring.arms[1 - side]],
            push: 1.0 / push,
            turn: inverse_turn(spring)?,
        })
    };
    order.iter().map(branch).collect()
}

fn inverse_turn(spring: &Spring) -> Option<DMat3> {
    let turn = spring.turn;
    let trace = turn.x_axis.x + turn.y_axis.y + turn.z_axis.z;
    let is_sound = turn.determinant() > 1e-12 * trace.powi(3);
    is_sound.then(|| turn.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{Strength, tests::bricks};
    use glam::UVec3;

    #[test]
    fn no_energy_is_greater_than_the_bound_and_no_bond_bears_more() {
        let wall =
            bricks(UVec3::new(6, 5, 2), DVec3::new(0.2, 0.1, 0.15), Strength::default(), |at| at.y == 0);
        let standing = wall.standing();
        let held = Held::new(&wall, &standing.base, &standing.alive, &standing.component);
        for seed in 0..20 {
            let loads: Vec<Six> = (0..wall.parts.len())
                .map(|k| {
                    let t = (k * 20 + seed) as f64;
                    let near = if k % 7 == seed % 7 { 1e4 } else { 10.0 };
                    Six {
                        linear: DVec3::new((t * 1.3).sin(), (t * 0.7).cos(), (t * 2.1).sin()) * near,
                        angular: DVec3::new((t * 0.3).cos(), (t * 1.7).sin(), (t * 1.1).cos()) * 50.0,
                    }
                })
                .collect();
            let mut motions = vec![Six::ZERO; loads.len()];
            held.solve(standing.factor(&held), &loads, &mut motions, (1000, 1e-6));
            let free = |part: usize| if held.pinned[part] { 0.0 } else { 1.0 };
            let energy: f64 =
                loads.iter().zip(&motions).enumerate().map(|(k, (f, u))| 0.5 * f.dot(*u) * free(k)).sum();
            let most = standing.most_energy(loads.iter().copied());
            assert!(energy <= most && most < 100.0 * energy, "{energy} of {most}");
            // Each bond of its own, by the energy that it stores.
            for (at, (bond, spring)) in wall.bonds.iter().zip(&standing.base.springs).enumerate() {
                let opening = spring.opening(bond.ends.map(|end| motions[end as usize]));
                let own = 0.5
                    * (spring.push * opening.shift.length_squared()
                        + opening.turn.dot(spring.turn * opening.turn));
                let load = crate::structure::response::bond_load(bond, spring, opening, &wall.strength);
                let bound = standing.gains[at] * own.sqrt();
                assert!(load.share <= bound * (1.0 + 1e-9), "{load:?} of {bound}");
            }
        }
    }
}
