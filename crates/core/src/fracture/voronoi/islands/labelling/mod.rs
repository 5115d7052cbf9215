//! The connected-component labelling that finds islands, and the published one (2016, sec. 4.5) as a method that can be
//! watched.
//!
//! In: the voxels of broken cells, grouped by cell ([`Voxels`]). Out: a label per voxel, iteration by iteration.
//!
//! [`Labelling::UnionFind`](crate::fracture::Labelling::UnionFind) is in the folder above.
//! [`Labelling::Iterative`](crate::fracture::Labelling::Iterative) is here: voxels begin with consecutive numbers as
//! labels, the largest label of a neighbourhood spreads, chains of labels are flattened, and groups in which nothing
//! changed rest. It differs from the paper's text in two points. An iteration reads only the labels before it, so that
//! its result is the same on every device and can be shown forwards and backwards; the paper's threads also loop until
//! their own neighbourhood is even. And its input may include the inside, as internal nodes of any size (`solid`):
//! boundary voxels alone turn the wall of a sealed cavity into a false piece.

pub(in crate::fracture) mod iterative;
pub(in crate::fracture) mod native;
#[cfg(any(test, feature = "testing"))]
pub mod plain;
mod playback;
#[cfg(test)]
mod tests;
mod voxels;

use crate::gpu::Gpu;

pub use iterative::{IterativePass, IterativeRun, Step};
pub use native::NativeRun;
pub use playback::Playback;
pub use voxels::{Voxel, Voxels};

/// Where the published labelling runs.
#[derive(Clone, Copy)]
pub enum Labeller<'a> {
    /// In compute passes of a device.
    Passes(&'a Gpu, &'a IterativePass),
    /// On the processor's cores.
    Native,
}

/// Result of a finished labelling, in the form of the union-find: per node of the first `nodes` the smallest node index
/// of its component, its own if it has no voxel; and (label, tree) per component, by ascending label.
fn labels_of_nodes(voxels: &Voxels, found: &[u32], nodes: usize) -> (Vec<u32>, Vec<[u32; 2]>) {
    // By label of the iteration, which is the index of a voxel of the component.
    let mut smallest = vec![u32::MAX; voxels.len()];
    for (voxel, label) in voxels.list.iter().zip(found) {
        let known = &mut smallest[*label as usize];
        *known = voxel.node.min(*known);
    }
    let mut labels: Vec<u32> = (0..nodes as u32).collect();
    for (voxel, label) in voxels.list.iter().zip(found) {
        labels[voxel.node as usize] = smallest[*label as usize];
    }
    let mut components: Vec<[u32; 2]> = smallest
        .iter()
        .zip(&voxels.list)
        .filter(|(label, _)| **label != u32::MAX)
        .map(|(label, voxel)| [*label, voxel.tree])
        .collect();
    components.sort_unstable();
    (labels, components)
}
