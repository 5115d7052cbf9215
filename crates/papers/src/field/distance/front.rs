//! Fronts that carry distances from cut cells into the fragments (Glondu et al. 2012, sec. 4.2, after Heidelberger et
//! al. 2004).
//!
//! In: nodes whose distance became smaller, exact. Out: distances of the nodes that the fronts reached. A step computes
//! all neighbours of the last step's nodes, each as the mean over its neighbours among these (eqs. 1 and 2), and keeps
//! a distance that is smaller than the node's own. Nodes of different fragments do not affect each other, so there is
//! one front a fragment. It ends when nothing becomes smaller.
//!
//! Two additions to the paper. Where the surface bends, eq. 1 may fall below the distances that it was made of, and
//! even below 0; a node then gets slightly more than its nearest neighbour's distance, so that from every node a path
//! of decreasing distances leads out. If the directions of eq. 2 cancel out, the direction of the neighbour with the
//! smallest distance is used.

use super::{
    exact::Work,
    flaw::Flaw,
    lattice::{Lattice, NEIGHBOURS},
    nodes::Nodes,
};
use glam::{DVec3, IVec3};

/// A distance counts as smaller only if it is smaller by this, shares of a cell: so fronts end.
const HAIR: f64 = 1e-6;

/// Directions whose mean is shorter than this cancel out.
pub(super) const CANCELLED: f64 = 1e-6;

/// Fewer nodes are not worth a second thread.
const FEW: usize = 256;

/// Carries on from the nodes that are in `accepted` already; adds those that the fronts reach, with the step.
pub(super) fn propagate(
    lattice: &Lattice,
    nodes: &mut Nodes,
    accepted: &mut Vec<(u32, u32)>,
    (flaw, work): (Flaw, Work),
) {
    let around = Around::of(lattice);
    let mut in_front = vec![false; nodes.distance.len()];
    let mut seen_in_step = vec![0u32; nodes.distance.len()];
    let mut front: Vec<usize> = accepted.iter().map(|(node, _)| *node as usize).collect();
    let mut step = 0;
    while !front.is_empty() {
        step += 1;
        let mut beside = Vec::new();
        for node in &front {
            in_front[*node] = true;
            for other in around.each(lattice, *node).map(|(other, _)| other) {
                if seen_in_step[other] != step && nodes.fragment[other] == nodes.fragment[*node] {
                    seen_in_step[other] = step;
                    beside.push(other);
                }
            }
        }
        let work = if beside.len() < FEW { Work::Alone } else { work };
        let reached = work.each(&beside, |node| {
            let (distance, direction) = carried((lattice, &around), nodes, &in_front, *node, flaw)?;
            let is_smaller = distance < nodes.distance[*node] - HAIR * lattice.cell;
            is_smaller.then_some((*node, distance, direction))
        });
        front.iter().for_each(|node| in_front[*node] = false);
        front.clear();
        for (node, distance, direction) in reached.into_iter().flatten() {
            (nodes.distance[node], nodes.direction[node]) = (distance, direction);
            accepted.push((node as u32, step));
            front.push(node);
        }
    }
}

/// The neighbours of a node: step, difference of indices, vector and weight.
struct Around([(IVec3, isize, DVec3, f64); 26]);

impl Around {
    fn of(lattice: &Lattice) -> Self {
        let [row, layer] = lattice.strides();
        Self(NEIGHBOURS.map(|step| {
            let on = step.x as isize + row * step.y as isize + layer * step.z as isize;
            let way = step.as_dvec3() * lattice.cell;
            (step, on, way, 1.0 / way.length_squared())
        }))
    }

    /// Indices of the neighbours of a node, with the vector to each and its weight.
    fn each(&self, lattice: &Lattice, node: usize) -> impl Iterator<Item = (usize, (DVec3, f64))> {
        let (at, cells) = (lattice.at(node), lattice.cells);
        let is_within = at.cmpgt(IVec3::ZERO).all() && at.cmplt(cells).all();
        self.0.iter().filter_map(move |(step, on, way, weight)| {
            let to = at + *step;
            let is_there = is_within || (to.cmpge(IVec3::ZERO).all() && to.cmple(cells).all());
            is_there.then(|| (node.wrapping_add_signed(*on), (*way, *weight)))
        })
    }
}

/// The distance and direction that follow from the neighbours in the front.
fn carried(
    (lattice, around): (&Lattice, &Around),
    nodes: &Nodes,
    in_front: &[bool],
    node: usize,
    flaw: Flaw,
) -> Option<(f64, DVec3)> {
    let mut sums = Sums::default();
    for (other, way) in around.each(lattice, node) {
        if in_front[other] && nodes.fragment[other] == nodes.fragment[node] {
            sums.add_weighed(way, nodes.distance[other], nodes.direction[other], flaw);
        }
    }
    let (distance, direction) = sums.mean()?;
    Some((distance.max(sums.nearest + 4.0 * HAIR * lattice.cell), direction))
}

/// The sums of eqs. 1 and 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    weight: f64,
    distance: f64,
    direction: DVec3,
    /// Smallest distance that a neighbour has.
    pub nearest: f64,
    /// The smallest distance by one neighbour alone, and its direction.
    shortest: (f64, DVec3),
}

impl Default for Sums {
    fn default() -> Self {
        let shortest = (f64::INFINITY, DVec3::ZERO);
        Self { weight: 0.0, distance: 0.0, direction: DVec3::ZERO, nearest: f64::INFINITY, shortest }
    }
}

impl Sums {
    /// A neighbour that lies at `to_other` from the point in question, with its distance and direction.
    pub fn add(&mut self, to_other: DVec3, distance: f64, direction: DVec3, flaw: Flaw) {
        self.add_weighed((to_other, 1.0 / to_other.length_squared()), distance, direction, flaw);
    }

    /// Like [`Self::add`], with the weight.
    fn add_weighed(&mut self, (to_other, weight): (DVec3, f64), distance: f64, direction: DVec3, flaw: Flaw) {
        let by_it = distance + flaw.gained(direction, to_other);
        self.weight += weight;
        self.distance += weight * by_it;
        self.direction += weight * direction;
        self.nearest = self.nearest.min(distance);
        if by_it < self.shortest.0 {
            self.shortest = (by_it, direction);
        }
    }

    /// The weighted means, the direction made a unit vector; `None` without neighbours.
    #[must_use]
    pub fn mean(&self) -> Option<(f64, DVec3)> {
        if self.weight <= 0.0 {
            return None;
        }
        let mean = self.direction / self.weight;
        let direction = if mean.length() < CANCELLED { self.shortest.1 } else { mean.normalize_or_zero() };
        Some((self.distance / self.weight, direction))
    }
}
