//! Motions of rigid parts on springs: K u = f.
//!
//! In: a structure, which of its bonds hold, loads on its parts. Out: displacements and turns of the parts. K is never
//! assembled for a product; conjugate gradients are preconditioned by an incomplete factor of K in blocks of six, whose
//! order (by distance from what is pinned, the farthest first) leaves nothing out where the bonds form a tree, so that
//! one iteration solves a tree exactly. The factor of the whole structure also serves while bonds fail within a step.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::{
    block::{Block, Six, cross_matrix},
    coarse::{Coarse, OF_DOMAIN, domains},
    factor::{Factor, Rows},
    graph::{Bond, Structure},
    standing::{Base, Standing},
};

/// The residual that counts as none, as a share of the loads.
pub(super) const SOLVED: f64 = 1e-6;
/// Most iterations.
pub(super) const MOST: usize = 1000;
/// From so many parts on all cores multiply by K.
const MANY: usize = 2 * OF_DOMAIN;
/// Springs or parts that a core takes at once, at least.
const AT_ONCE: usize = 512;

/// Stiffness of a bond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    /// Of a displacement in any direction, N/m.
    pub push: f64,
    /// Of a turn, N m/rad.
    pub turn: DMat3,
    /// From the nodes of the two parts to the centre of the section, m.
    pub arms: [DVec3; 2],
    /// The parts.
    pub ends: [u32; 2],
}

/// How the two sides of a bond have moved against each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opening {
    /// Displacement of the second side at the section's centre, m.
    pub shift: DVec3,
    /// Its turn, rad.
    pub turn: DVec3,
}

/// Springs of all bonds.
pub(super) fn springs(structure: &Structure) -> Vec<Spring> {
    let spring = |bond: &Bond| {
        let [a, b] = bond.ends.map(|end| structure.parts[end as usize].node);
        let section = &bond.section;
        // Between the nodes, across the crack; nodes on one side of it, as of two parts of a cell, count as near.
        let length = (b - a).dot(section.normal).abs().max(0.1 * section.area.sqrt());
        let modulus = structure.strength.stiffness / length;
        let moments = section.moments;
        let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
        Spring {
            push: modulus * section.area,
            turn: (DMat3::from_diagonal(DVec3::splat(trace)) - moments) * modulus,
            arms: [section.centre - a, section.centre - b],
            ends: bond.ends,
        }
    };
    structure.bonds.iter().map(spring).collect()
}

impl Spring {
    pub fn opening(&self, [a, b]: [Six; 2]) -> Opening {
        let at = |motion: Six, arm: DVec3| motion.linear + motion.angular.cross(arm);
        Opening { shift: at(b, self.arms[1]) - at(a, self.arms[0]), turn: b.angular - a.angular }
    }

    /// The loads that the spring puts on the second part, and on the first with the other sign.
    fn loads(&self, opening: Opening) -> [Six; 2] {
        let (force, torque) = (opening.shift * self.push, self.turn * opening.turn);
        self.arms.map(|arm| Six { linear: force, angular: torque + arm.cross(force) })
    }

    /// The block of K of the parts on these sides (0 or 1).
    pub fn block(&self, row: usize, column: usize) -> Block {
        let sign = if row == column { 1.0 } else { -1.0 };
        let [r, c] = [row, column].map(|side| cross_matrix(self.arms[side]));
        let push = self.push * sign;
        Block::of_quarters(
            DMat3::from_diagonal(DVec3::splat(push)),
            c * -push,
            r * push,
            self.turn * sign - (r * c) * push,
        )
    }
}

/// The ends of springs at each part.
pub(super) struct Ends {
    /// Where those of each part begin, and where the last one's end.
    start: Vec<u32>,
    /// Springs, ascending, and which side of each it is.
    ends: Vec<(u32, u8)>,
}

impl Ends {
    /// Of the bonds that hold.
    pub fn new(held: &Held<'_>) -> Self {
        let springs = || held.springs.iter().zip(held.alive).enumerate().filter(|(_, (_, alive))| **alive);
        let mut start = vec![0u32; held.pinned.len() + 1];
        for (_, (spring, _)) in springs() {
            spring.ends.iter().for_each(|end| start[*end as usize + 1] += 1);
        }
        for part in 1..start.len() {
            start[part] += start[part - 1];
        }
        let mut next = start.clone();
        let mut ends = vec![(0, 0); start[start.len() - 1] as usize];
        for (at, (spring, _)) in springs() {
            for (side, end) in (0..).zip(spring.ends) {
                let place = &mut next[end as usize];
                ends[*place as usize] = (at as u32, side);
                *place += 1;
            }
        }
        Self { start, ends }
    }

    fn of_part(&self, part: usize) -> &[(u32, u8)] {
        &self.ends[self.start[part] as usize..self.start[part + 1] as usize]
    }
}

/// Which bonds hold, and which parts stay where they are: anchored ones, and one of each component without any, which
/// may be any one since loads on such a component are in balance.
pub(super) struct Held<'a> {
    pub structure: &'a Structure,
    pub springs: &'a [Spring],
    nodes: &'a [DVec3],
    pub alive: &'a [bool],
    pub pinned: Vec<bool>,
}

impl<'a> Held<'a> {
    /// `component` is that of every part.
    pub fn new(structure: &'a Structure, base: &'a Base, alive: &'a [bool], component: &[u32]) -> Self {
        let mut pinned: Vec<bool> = structure.parts.iter().map(|part| part.anchored).collect();
        let count = component.iter().max().map_or(0, |last| *last as usize + 1);
        let mut has_pin = vec![false; count];
        for (part, pin) in pinned.iter().enumerate() {
            has_pin[component[part] as usize] |= pin;
        }
        // The heaviest part of each component without anchors.
        let mut heaviest: Vec<Option<usize>> = vec![None; count];
        let mass = |part: usize| base.masses.volume_of(part);
        for part in 0..structure.parts.len() {
            let best = &mut heaviest[component[part] as usize];
            if best.is_none_or(|best| mass(part) > mass(best)) {
                *best = Some(part);
            }
        }
        for (heaviest, has_pin) in heaviest.into_iter().zip(has_pin) {
            if let Some(part) = heaviest.filter(|_| !has_pin) {
                pinned[part] = true;
            }
        }
        Self { structure, springs: &base.springs, nodes: &base.nodes, alive, pinned }
    }

    /// Of the bonds of a structure that hold now.
    pub fn of(structure: &'a Structure, standing: &'a Standing) -> Self {
        let (base, pinned) = (&standing.base, standing.pinned.clone());
        Self { structure, springs: &base.springs, nodes: &base.nodes, alive: &standing.alive, pinned }
    }

    /// The incomplete factor of the bonds that hold.
    pub fn factor(&self) -> Factor {
        let (domain, count) = domains(self, self.nodes);
        let mut all: Vec<Rows> = (0..count).map(|_| Rows::default()).collect();
        let mut place = vec![u32::MAX; self.structure.parts.len()];
        for part in self.elimination_order().0 {
            let rows = &mut all[domain[part as usize] as usize];
            place[part as usize] = rows.order.len() as u32;
            rows.order.push(part);
            rows.diagonal.push(Block::ZERO);
            rows.below.push(Vec::new());
        }
        for ((bond, spring), _) in
            self.structure.bonds.iter().zip(self.springs).zip(self.alive).filter(|(_, alive)| **alive)
        {
            let places = bond.ends.map(|end| place[end as usize]);
            let of = bond.ends.map(|end| domain[end as usize] as usize);
            for (side, (place, of)) in places.into_iter().zip(of).enumerate() {
                if let Some(own) = all[of].diagonal.get_mut(place as usize) {
                    own.add(&spring.block(side, side));
                }
            }
            if places.contains(&u32::MAX) || of[0] != of[1] {
                continue;
            }
            let [first, second] = if places[0] < places[1] { [0, 1] } else { [1, 0] };
            let list = &mut all[of[0]].below[places[first] as usize];
            let block = spring.block(second, first);
            match list.iter_mut().find(|(at, _)| *at == places[second]) {
                Some((_, there)) => there.add(&block),
                None => list.push((places[second], block)),
            }
        }
        Factor::new(&all, || Coarse::new(self, self.nodes))
    }

    /// K u.
    pub fn product(&self, u: &[Six], out: &mut [Six]) {
        out.fill(Six::ZERO);
        for (spring, _) in self.springs.iter().zip(self.alive).filter(|(_, alive)| **alive) {
            let [a, b] = spring.ends.map(|end| end as usize);
            let [on_a, on_b] = spring.loads(spring.opening([u[a], u[b]]));
            out[a] -= on_a;
            out[b] += on_b;
        }
        for (value, pinned) in out.iter_mut().zip(&self.pinned) {
            if *pinned {
                *value = Six::ZERO;
            }
        }
    }

    /// K u on all cores, summed in the same order; `on_springs` is scratch.
    pub fn product_at_once(&self, ends: &Ends, on_springs: &mut Vec<[Six; 2]>, u: &[Six], out: &mut [Six]) {
        let loads = |(spring, alive): (&Spring, &bool)| match alive {
            true => spring.loads(spring.opening(spring.ends.map(|end| u[end as usize]))),
            false => [Six::ZERO; 2],
        };
        let springs = self.springs.par_iter().zip(self.alive).with_min_len(AT_ONCE);
        springs.map(loads).collect_into_vec(on_springs);
        let on_springs = &*on_springs;
        out.par_iter_mut().enumerate().with_min_len(AT_ONCE).for_each(|(part, value)| {
            *value = Six::ZERO;
            let own = if self.pinned[part] { &[][..] } else { ends.of_part(part) };
            for (spring, side) in own {
                let [on_a, on_b] = on_springs[*spring as usize];
                if *side == 0 { *value -= on_a } else { *value += on_b }
            }
        });
    }

    /// Solves K u = `loads` from the guess in `u`, in at most so many iterations or to this residual, as a share of the
    /// loads; `factor` preconditions. Returns the number of iterations and the residual.
    pub fn solve(
        &self,
        factor: &Factor,
        loads: &[Six],
        u: &mut [Six],
        (most, tolerance): (usize, f64),
    ) -> (usize, Vec<Six>) {
        let count = loads.len();
        let free = |v: &mut [Six]| {
            for (value, pinned) in v.iter_mut().zip(&self.pinned) {
                if *pinned {
                    *value = Six::ZERO;
                }
            }
        };
        let dot = |a: &[Six], b: &[Six]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let mut wanted = loads.to_vec();
        free(&mut wanted);
        free(u);
        let (mut z, mut scratch) = (vec![Six::ZERO; count], Vec::new());
        let mut precondition = |v: &[Six], z: &mut [Six]| {
            factor.apply(v, &mut scratch, z);
            free(z);
        };
        // Measured by the preconditioner, since forces and torques have different units.
        precondition(&wanted, &mut z);
        let scale = dot(&wanted, &z);
        if !(scale > 0.0 && scale.is_finite()) {
            u.fill(Six::ZERO);
            return (0, wanted);
        }
        let mut product = vec![Six::ZERO; count];
        let ends = (count >= MANY).then(|| Ends::new(self));
        let mut on_springs = Vec::new();
        let mut multiply = |u: &[Six], out: &mut [Six]| match &ends {
            Some(ends) => self.product_at_once(ends, &mut on_springs, u, out),
            None => self.product(u, out),
        };
        multiply(u, &mut product);
        let mut residual: Vec<Six> = wanted.iter().zip(&product).map(|(a, b)| *a - *b).collect();
        precondition(&residual, &mut z);
        let mut along = z.clone();
        let mut rho = dot(&residual, &z);
        let mut iterations = 0;
        while rho > tolerance * tolerance * scale && iterations < most {
            multiply(&along, &mut product);
            let curvature = dot(&along, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = rho / curvature;
            for k in 0..count {
                u[k] += along[k] * step;
                residual[k] -= product[k] * step;
            }
            precondition(&residual, &mut z);
            let next = dot(&residual, &z);
            let ratio = next / rho;
            for (along, z) in along.iter_mut().zip(&z) {
                *along = *z + *along * ratio;
            }
            rho = next;
            iterations += 1;
        }
        (iterations, residual)
    }

    /// Free parts by descending distance from the pinned ones, in bonds; and the distance of each part.
    pub fn elimination_order(&self) -> (Vec<u32>, Vec<u32>) {
        let count = self.structure.parts.len();
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (bond, _) in self.structure.bonds.iter().zip(self.alive).filter(|(_, alive)| **alive) {
            let [a, b] = bond.ends;
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        let mut seen = self.pinned.clone();
        let mut queue: Vec<u32> = (0..count as u32).filter(|part| self.pinned[*part as usize]).collect();
        let pinned = queue.len();
        let mut distance = vec![0; count];
        let mut at = 0;
        while at < queue.len() {
            for next in &neighbours[queue[at] as usize] {
                if !std::mem::replace(&mut seen[*next as usize], true) {
                    distance[*next as usize] = distance[queue[at] as usize] + 1;
                    queue.push(*next);
                }
            }
            at += 1;
        }
        queue.drain(..pinned);
        queue.reverse();
        (queue, distance)
    }
}
