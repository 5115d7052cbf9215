//! The levels above the tasks: which nodes become tasks, and the nodes above them once those are done.

use std::collections::BTreeMap;

use super::{
    Subtree,
    subtree::{Candidate, INSIDE, WalkedNode, is_single, narrow},
};
use crate::svo::Node;

/// Content of an octant above the tasks.
enum Below {
    /// Inside one object, by rank.
    Inside(u32),
    /// A node of the next level, or a task.
    Node(usize),
}

/// Above the tasks: for every level the nodes in Morton order, each with the content of its octants.
pub(super) struct RootTasks {
    levels: Vec<Vec<Vec<(u32, Below)>>>,
}

/// Input of one worker: a node, and the seeds that can own a point of it, with the rank of their object as slot.
pub(super) struct Task {
    pub place: WalkedNode,
    pub list: Vec<Candidate>,
}

impl RootTasks {
    /// Goes down to `level` from the root `tree`; the nodes there are the tasks, in Morton order.
    pub fn new(nodes: &[Node], tree: u32, list: Vec<Candidate>, level: u32) -> (Self, Vec<Task>) {
        let mut here = vec![Task { place: WalkedNode { source: tree, level: 0, key: 0 }, list }];
        let mut levels = Vec::new();
        let (mut leads, mut masks) = (Vec::new(), Vec::new());
        for _ in 0..level {
            let mut next = Vec::new();
            let mut octants_here = Vec::with_capacity(here.len());
            for Task { place, list } in &here {
                masks.clear();
                narrow(place, list, &mut leads, &mut masks);
                let (valid, internal) = place.octants(nodes);
                let mut octants = Vec::new();
                for octant in (0..8).filter(|octant| (valid | internal) >> octant & 1 == 1) {
                    let kept = list.iter().zip(&masks).filter(|(_, mask)| *mask >> octant & 1 == 1);
                    let list: Vec<Candidate> = kept.map(|(candidate, _)| *candidate).collect();
                    let child = place.child(nodes, octant);
                    if child.source == INSIDE && is_single(&list) {
                        octants.push((octant, Below::Inside(list[0].slot)));
                    } else {
                        octants.push((octant, Below::Node(next.len())));
                        next.push(Task { place: child, list });
                    }
                }
                octants_here.push(octants);
            }
            levels.push(octants_here);
            here = next;
        }
        (Self { levels }, here)
    }

    /// The nodes of every level above the tasks, by rank of their object and in Morton order; the places of their
    /// children are not known yet.
    pub fn close(&self, subtrees: &[Subtree]) -> Vec<Vec<(u32, Node)>> {
        // Per node of the level below and object: whether it is a stored node or inside.
        let mut outcomes: Vec<Vec<(u32, bool, bool)>> = subtrees.iter().map(outcomes_of).collect();
        let mut closed: Vec<Vec<(u32, Node)>> = Vec::with_capacity(self.levels.len());
        for (level, places) in self.levels.iter().enumerate().rev() {
            let mut nodes = Vec::new();
            let mut here = Vec::with_capacity(places.len());
            for octants in places {
                let mut masks: BTreeMap<u32, (u8, u8)> = BTreeMap::new();
                for (octant, below) in octants {
                    match below {
                        Below::Inside(rank) => masks.entry(*rank).or_default().1 |= 1 << octant,
                        Below::Node(at) => {
                            for (rank, valid, internal) in &outcomes[*at] {
                                let mask = masks.entry(*rank).or_default();
                                mask.0 |= u8::from(*valid) << octant;
                                mask.1 |= u8::from(*internal) << octant;
                            }
                        }
                    }
                }
                let mut became = Vec::with_capacity(masks.len());
                for (rank, (valid, internal)) in masks {
                    let whole = internal == 0xff && level > 0;
                    became.push((rank, !whole, whole));
                    if !whole {
                        nodes.push((rank, Node::new(0, valid, internal)));
                    }
                }
                here.push(became);
            }
            // A stable sort keeps places in order.
            nodes.sort_by_key(|(rank, _)| *rank);
            closed.push(nodes);
            outcomes = here;
        }
        closed.reverse();
        closed
    }
}

fn outcomes_of(subtree: &Subtree) -> Vec<(u32, bool, bool)> {
    let outcomes = (0..).zip(&subtree.ranks).map(|(slot, rank)| {
        let (valid, internal) = subtree.outcome(slot);
        (*rank, valid, internal)
    });
    outcomes.filter(|(_, valid, internal)| *valid || *internal).collect()
}
