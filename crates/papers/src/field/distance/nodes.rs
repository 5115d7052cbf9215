//! The nodes of a field, computed on first use.
//!
//! In: the unbroken object, and the breaks since. Out: at every node its fragment, its distance and its direction.
//! Within a cell of the surface depths come from the surface itself (`fragment.rs`), and only points of a hard impact
//! lie deeper in another body, so that many fields never need their nodes. A field for contacts therefore records its
//! breaks and computes the nodes on first use, with the same result.

use super::{
    error::FragmentId,
    exact::{Seeds, Work, in_runs, nearest_by_seed},
    flaw::Flaw,
    front::propagate,
    lattice::{Lattice, ROUND_A_NODE},
    leaf::Foot,
    occupancy::CellBits,
    smooth::geometric,
    solid::Placed,
};
use crate::geometry::Aabb;
use glam::DVec3;
use std::sync::{Arc, OnceLock};

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
