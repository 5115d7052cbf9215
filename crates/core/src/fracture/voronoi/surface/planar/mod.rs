//! Planar surfaces (2016, sec. 4.4): a crack is the bisector plane of two seeds.
//!
//! In: one source octree and the seeds. Out: the pairs of every parent level and which leaves each gets.

use std::sync::OnceLock;

pub mod chamfer;
#[cfg(test)]
mod chamfer_tests;
pub(in crate::fracture) mod corners;
pub(in crate::fracture) mod native;

use crate::{
    fracture::{
        Source,
        voronoi::descent::{Capacities, Descent, DescentPass},
    },
    gpu::{Gpu, GpuError, Kernel, Submissions},
};

pub(in crate::fracture) struct PlanarPass {
    /// For objects that are one cell each.
    cells: Kernel,
    /// For objects of several cells; made by the first local fracture.
    merged: OnceLock<Kernel>,
}

fn kernel(gpu: &Gpu, merged: bool) -> Kernel {
    let constants = [("merged", f64::from(u8::from(merged)))];
    Kernel::with_constants(gpu, "fracture/voronoi/surface/planar/leaves_emit", &constants)
}

impl PlanarPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self { cells: kernel(gpu, false), merged: OnceLock::new() }
    }

    /// Walks from the root to the leaves and counts the copies.
    pub fn descend(
        &self,
        work: &mut Submissions<'_>,
        passes: &DescentPass,
        source: &Source<'_>,
        (descent, capacities): (&mut Descent, &Capacities),
    ) -> Result<(), GpuError> {
        passes.descend(work, source, (descent, capacities), source.forest.level - 1)?;
        passes.count_leaves(work, source, descent)
    }

    /// The kernel that computes attributes of the copies.
    pub fn kernel(&self, gpu: &Gpu, descent: &Descent) -> &Kernel {
        if descent.merged { self.merged.get_or_init(|| kernel(gpu, true)) } else { &self.cells }
    }
}
