//! Planar surfaces (2016, sec. 4.4): a crack is the bisector plane of two seeds.
//!
//! In: one source octree and the seeds. Out: the pairs of every parent level and the leaves of all objects.

use std::sync::OnceLock;

pub mod chamfer;
#[cfg(test)]
mod chamfer_tests;
pub(in crate::fracture) mod corners;
pub(in crate::fracture) mod native;

use super::boundary_set::{Attributes, BoundarySetPass};
use crate::{
    fracture::{
        Pattern, Source,
        voronoi::{
            descent::{Descent, DescentPass, Layer},
            octrees::LeafBuffers,
        },
    },
    gpu::{Gpu, GpuError, Kernel, Submissions, bind},
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

    /// Walks from the root to the leaves, whose colours are still missing.
    pub fn run(
        &self,
        work: &mut Submissions<'_>,
        (passes, boundary_set): (&DescentPass, &BoundarySetPass),
        source: &Source<'_>,
        pattern: &Pattern,
    ) -> Result<(Vec<Layer>, LeafBuffers), GpuError> {
        let gpu = work.gpu;
        let mut descent = Descent::planar(gpu, source, pattern)?;
        passes.descend(work, source, &mut descent, source.forest.level - 1)?;
        let count = passes.count_leaves(work, source, &descent)?;
        let kernel = if descent.merged { self.merged.get_or_init(|| kernel(gpu, true)) } else { &self.cells };
        let surfaces = bind![seeds: descent.seeds, candidates: descent.candidates];
        let attributes = Attributes { kernel, surfaces };
        let leaves = boundary_set.emit(work, source, &descent.layer, count, &attributes)?;
        Ok((descent.into_layers(), leaves))
    }
}
