//! Exact distances of many nodes, quickly: the search of each node starts from the result of the node before.

use super::{
    leaf::Foot,
    solid::{Placed, Solid},
};
use glam::DVec3;
use rayon::prelude::*;

/// Nodes that one thread goes through, one after the other.
const RUN: usize = 64;

/// Threads for some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// All cores.
    Shared,
    /// The calling thread only. Other threads may wait for a lock that it holds, so it must not take over other rayon
    /// work, which might wait for that lock, too.
    Alone,
}

impl Work {
    /// Maps `of` over `all`.
    pub fn each<T: Sync, R: Send>(self, all: &[T], of: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
        match self {
            Self::Shared => all.par_iter().map(of).collect(),
            Self::Alone => all.iter().map(of).collect(),
        }
    }
}

/// Calls `exact` for each node, in runs with a state of their own.
pub(super) fn in_runs<S, T: Send>(
    nodes: &[usize],
    work: Work,
    begin: impl Fn() -> S + Sync,
    exact: impl Fn(&usize, &mut S) -> Option<T> + Sync,
) -> Vec<Option<T>> {
    let run = |nodes: &[usize]| -> Vec<Option<T>> {
        let mut memory = begin();
        nodes.iter().map(|node| exact(node, &mut memory)).collect()
    };
    match work {
        Work::Shared => nodes.par_chunks(RUN).flat_map_iter(run).collect(),
        Work::Alone => nodes.chunks(RUN).flat_map(run).collect(),
    }
}

/// Feet of the last node of each fragment in a run.
#[derive(Default)]
pub(super) struct Seeds(Vec<(usize, Option<Foot>)>);

impl Seeds {
    pub fn of(&mut self, fragment: usize) -> &mut Option<Foot> {
        let at = self.0.iter().position(|(k, _)| *k == fragment).unwrap_or_else(|| {
            self.0.push((fragment, None));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

/// The nearest point of the surface, if it is nearer than `within`. The foot of a node nearby, in `seed`, bounds the
/// distance, which saves most of the search; the new foot is the next node's seed. Flat surface continues: where the
/// plane of that foot is nearest, it mostly has surface, too, and nothing is nearer.
pub(super) fn nearest_by_seed(part: &Placed, p: DVec3, within: f64, seed: &mut Option<Foot>) -> Option<Foot> {
    let known = seed.map(|foot| Foot { distance: foot.point.distance(p), ..foot });
    let known = known.filter(|foot| foot.distance < within);
    let known =
        seed.and_then(|foot| ahead(part, p, known.map_or(within, |foot| foot.distance), &foot)).or(known);
    let found = part.solid.nearest(p, known.map_or(within, |foot| foot.distance)).or(known);
    *seed = found.or(*seed);
    found
}

/// The surface where the plane of a foot is nearest to `p`, if it is nearer than `within`.
fn ahead(part: &Placed, p: DVec3, within: f64, foot: &Foot) -> Option<Foot> {
    let Solid::Octree(octree) = &part.solid else { return None };
    let height = (p - foot.point).dot(foot.normal);
    (height.abs() < within).then(|| octree.nearest_in_voxel(p - foot.normal * height, p, within)).flatten()
}
