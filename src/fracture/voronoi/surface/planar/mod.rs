//! Planar surfaces (2016, sec. 4.4): a crack is the bisector plane of two seeds.
//!
//! In: one source octree and the seeds. Out: the pairs of every parent level and the leaves of all objects.

use std::sync::OnceLock;

#[cfg(test)]
mod chamfer_tests;

use super::boundary_set::{Attributes, BoundarySetPass};
use crate::{
    fracture::{
        Pattern, Source,
        voronoi::{
            descent::{Descent, DescentPass, Layer},
            octrees::LeafBuffers,
        },
    },
    gpu::{Gpu, GpuError, Kernel, Submissions, primitives::Scan},
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
        gpu: &Gpu,
        scan: &Scan,
        (passes, boundary_set): (&DescentPass, &BoundarySetPass),
        source: &Source<'_>,
        pattern: &Pattern,
        clock: &mut Submissions,
    ) -> Result<(Vec<Layer>, LeafBuffers), GpuError> {
        let mut descent = Descent::planar(gpu, source, pattern)?;
        passes.descend(gpu, scan, source, &mut descent, source.forest.level - 1, clock)?;
        let count = passes.count_leaves(gpu, scan, source, &descent, clock)?;
        let kernel = if descent.merged { self.merged.get_or_init(|| kernel(gpu, true)) } else { &self.cells };
        let surfaces = &[descent.seeds.raw(), descent.candidates.raw()];
        let attributes = Attributes { kernel, surfaces };
        let leaves = boundary_set.emit(gpu, source, &descent.layer, count, &attributes, clock)?;
        Ok((descent.into_layers(), leaves))
    }
}
