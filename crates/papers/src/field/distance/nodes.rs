//! The nodes of a field, computed on first use.
//!
//! In: the unbroken object, and the breaks since. Out: at every node its fragment, its distance and its direction.
//! Within a cell of the surface depths come from the surface itself (`fragment.rs`), and only points of a hard impact
//! lie deeper in another body, so that many fields never need their nodes. A field for contacts therefore records its
//! breaks and computes the nodes on first use, with the same result.
//!
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

use std::sync::{Arc, OnceLock};

use glam::{DVec3, IVec3};

use super::{
    family::FragmentId,
    leaf::{Foot, Seeds, Work, in_runs, nearest_by_seed},
    occupancy::{CellBits, Flaw, Lattice, NEIGHBOURS, ROUND_A_NODE},
    octree_solid::geometric,
    solid::Placed,
};
use crate::geometry::Aabb;

/// After this number of breaks the nodes are computed in any case: until then the broken fragments are kept in memory.
const MOST_BREAKS: u32 = 32;

/// Values of all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    pub fragment: Vec<FragmentId>,
    pub distance: Vec<f64>,
    pub direction: Vec<DVec3>,
}

/// Result of a fracture for a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// The new fragments, in the order of the given shapes.
    pub fragments: Vec<FragmentId>,
    /// Nodes whose distance became smaller, in the order in which they did, with the step: 0 for nodes of cut
    /// cells, whose values are exact, then the step of the front. A node may be there several times.
    pub accepted: Vec<(u32, u32)>,
    /// Nodes of the broken fragment that now lie in no fragment.
    pub lost: usize,
}

/// A fragment that broke: its name and bounds, and what it broke into.
#[derive(Clone, Debug)]
pub(super) struct Break {
    pub old: FragmentId,
    /// Local space.
    pub bounds: Aabb,
    /// The name of the first new fragment; the others follow.
    pub first: u32,
    pub placed: Vec<Arc<Placed>>,
}

impl Nodes {
    /// The exact nodes of an unbroken object.
    pub fn of_whole(whole: &Placed, lattice: &Lattice, flaw: Flaw, work: Work) -> Self {
        let all: Vec<usize> = (0..lattice.nodes()).collect();
        let exact = |node: &usize, seed: &mut Option<Foot>| {
            let p = lattice.place(lattice.at(*node));
            whole.solid.inside(p).then(|| nearest_by_seed(whole, p, f64::INFINITY, seed)).flatten()
        };
        let values: Vec<Option<Foot>> = in_runs(&all, work, || None, exact);
        let fragment = |foot: &Option<Foot>| foot.map_or(FragmentId::NOBODY, |_| FragmentId::WHOLE);
        let direction = |(node, foot): (usize, &Option<Foot>)| {
            let p = lattice.place(lattice.at(node));
            flaw.outward(foot.map_or(DVec3::ZERO, |foot| geometric(p, &foot)))
        };
        Self {
            fragment: values.iter().map(fragment).collect(),
            distance: values.iter().map(|foot| foot.map_or(0.0, |foot| foot.distance)).collect(),
            direction: values.iter().enumerate().map(direction).collect(),
        }
    }

    /// Follows a break. Writes no node but those of the broken fragment (sec. 4.2).
    pub fn follow(&mut self, broken: &Break, lattice: &Lattice, flaw: Flaw, work: Work) -> Update {
        let parts = broken.placed.len();
        let own = self.of_fragment(lattice, broken.old, broken.bounds);
        let owners = self.owners(&own, lattice, broken, work);
        let mut update = Update {
            fragments: (broken.first..broken.first + parts as u32).map(FragmentId).collect(),
            lost: owners.iter().filter(|owner| owner.is_none()).count(),
            ..Update::default()
        };
        for (node, owner) in own.iter().zip(&owners) {
            match owner {
                Some(k) => self.fragment[*node] = update.fragments[flaw.owner(*k, parts)],
                None => self.lose(*node),
            }
        }
        for (node, foot) in self.cut(&own, lattice, broken, work) {
            self.distance[node] = foot.distance;
            let p = lattice.place(lattice.at(node));
            self.direction[node] = flaw.outward(geometric(p, &foot));
            update.accepted.push((node as u32, 0));
        }
        propagate(lattice, self, &mut update.accepted, (flaw, work));
        update
    }

    /// From now on a node lies in no fragment.
    pub fn lose(&mut self, node: usize) {
        self.fragment[node] = FragmentId::NOBODY;
        (self.distance[node], self.direction[node]) = (0.0, DVec3::ZERO);
    }

    /// Whether a node lies in the fragment.
    pub fn is_of(&self, node: usize, fragment: FragmentId) -> bool {
        self.fragment[node] == fragment
    }

    /// Nodes of a fragment with these bounds, ascending.
    pub fn of_fragment(&self, lattice: &Lattice, id: FragmentId, Aabb { low, high }: Aabb) -> Vec<usize> {
        let (low, high) = (lattice.cell_of(low), lattice.cell_of(high) + 1);
        let nodes = CellBits::box_of(low, high + 1).filter_map(|at| lattice.node(at));
        nodes.filter(|node| self.is_of(*node, id)).collect()
    }

    /// For each of the nodes, ascending, the first of the new fragments that it lies in.
    fn owners(&self, nodes: &[usize], lattice: &Lattice, broken: &Break, work: Work) -> Vec<Option<usize>> {
        let inside = |part: &Arc<Placed>| -> Vec<usize> {
            let cells = part.occupancy.finest();
            let (low, high) = cells.range();
            // A node lies in the cell above it, as a point at the corner of a voxel does.
            CellBits::box_of(low, high)
                .filter(|at| cells.has(*at))
                .filter_map(|at| lattice.node(at).filter(|node| self.is_of(*node, broken.old)))
                .filter(|node| part.solid.inside(lattice.place(lattice.at(*node))))
                .collect()
        };
        let inside: Vec<Vec<usize>> = work.each(&broken.placed, inside);
        let mut owners = vec![None; nodes.len()];
        for (k, own) in inside.iter().enumerate() {
            for at in own.iter().filter_map(|node| nodes.binary_search(node).ok()) {
                owners[at] = owners[at].or(Some(k));
            }
        }
        owners
    }

    /// The nodes of cut cells whose exact distance is smaller than what they know, ascending, with the exact
    /// value.
    fn cut(&self, nodes: &[usize], lattice: &Lattice, broken: &Break, work: Work) -> Vec<(usize, Foot)> {
        let placed = &broken.placed;
        let cracked: Vec<CellBits> = work.each(placed, |part| part.solid.cracked(lattice, &part.surface));
        let exact = |node: &usize, seeds: &mut Seeds| {
            let k = self.fragment[*node].0.checked_sub(broken.first)? as usize;
            // Nodes in no fragment have no distances.
            let cracked = cracked.get(k)?;
            let at = lattice.at(*node);
            if !ROUND_A_NODE.iter().any(|step| cracked.has(at + *step)) {
                return None;
            }
            // Some surface of a cut cell is no farther than the opposite corner.
            let within = self.distance[*node].min(2.0 * lattice.cell);
            let seed = seeds.of(k);
            nearest_by_seed(&placed[k], lattice.place(at), within, seed).map(|foot| (*node, foot))
        };
        in_runs(nodes, work, Seeds::default, exact).into_iter().flatten().collect()
    }
}

/// Source from which nodes are computed.
#[derive(Debug)]
enum Source {
    /// They are made already.
    Given,
    /// An unbroken object.
    Whole(Arc<Placed>),
    /// Those before, and what broke.
    Break(Arc<LateNodes>, Break),
}

/// Nodes that are computed on first use. A field has new ones after each break.
#[derive(Debug)]
pub(super) struct LateNodes {
    source: Source,
    /// Number of breaks since nodes were computed, or since the unbroken object.
    breaks: u32,
    flaw: Flaw,
    made: OnceLock<Nodes>,
}

impl LateNodes {
    /// The nodes of an unbroken object.
    pub fn of_whole(whole: &Arc<Placed>, flaw: Flaw) -> Self {
        Self { source: Source::Whole(Arc::clone(whole)), breaks: 0, flaw, made: OnceLock::new() }
    }

    /// Those that are made already.
    pub fn given(nodes: Nodes, flaw: Flaw) -> Self {
        Self { source: Source::Given, breaks: 0, flaw, made: nodes.into() }
    }

    /// After a break.
    pub fn follow(before: &Arc<Self>, broken: Break, lattice: &Lattice) -> Self {
        if before.breaks >= MOST_BREAKS {
            before.make(lattice);
        }
        let breaks = if before.made().is_some() { 1 } else { before.breaks + 1 };
        let source = Source::Break(Arc::clone(before), broken);
        Self { source, breaks, flaw: before.flaw, made: OnceLock::new() }
    }

    /// The values, computed if necessary.
    pub fn get(&self, lattice: &Lattice) -> &Nodes {
        self.made.get_or_init(|| self.worked_out(lattice, Work::Alone))
    }

    /// Makes them now, on all cores.
    pub fn make(&self, lattice: &Lattice) {
        if self.made().is_none() {
            // A faster thread has set the same values.
            let _ = self.made.set(self.worked_out(lattice, Work::Shared));
        }
    }

    fn worked_out(&self, lattice: &Lattice, work: Work) -> Nodes {
        let mut breaks = Vec::new();
        let mut at = self;
        let mut nodes = loop {
            match (at.made(), &at.source) {
                (Some(nodes), _) => break nodes.clone(),
                (None, Source::Given) => break Nodes::default(),
                (None, Source::Whole(whole)) => break Nodes::of_whole(whole, lattice, self.flaw, work),
                (None, Source::Break(before, broken)) => {
                    breaks.push(broken);
                    at = before;
                }
            }
        };
        for broken in breaks.into_iter().rev() {
            nodes.follow(broken, lattice, self.flaw, work);
        }
        nodes
    }

    /// The values, if they are computed.
    pub fn made(&self) -> Option<&Nodes> {
        self.made.get()
    }
}

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
