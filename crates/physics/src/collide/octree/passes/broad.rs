//! The broad phase of octrees in compute passes: the hierarchy over Morton codes that all bodies share
//! (`broad_phase/passes/hierarchy.rs`), and every leaf's way down through it, which also finds out how often the step has to
//! look for contacts.
//!
//! In: solids. Out: near pairs, in no order, and how fast the fastest of them is. Boxes are whole numbers of a
//! lattice; as they are turned, they are told apart in single precision with some slack. So what comes out is
//! all that is near, and a few pairs more at the edge of it, which the host sorts out.

use super::shared::{ContactParams, Solid};
use crate::{
    broad_phase::passes::hierarchy::{Hierarchy, HierarchyPasses},
    gpu::{Buffer, GpuError, Kernel, Recorder, bind, kernels, primitives::Scan},
};

kernels! {
    struct Kernels {
        pairs: "bodies/collide/octree/passes/pairs",
    }
}

/// The compiled passes.
pub struct BroadPasses {
    hierarchy: HierarchyPasses,
    kernels: Kernels,
}

impl BroadPasses {
    /// With a way of compiling kernels.
    #[must_use]
    pub fn compiled(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self { hierarchy: HierarchyPasses::compiled(kernel), kernels: Kernels::with_kernels(kernel) }
    }

    /// Records the passes for the `params.solids` first of `solids`.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn record(
        &self,
        rec: &mut Recorder<'_>,
        (hierarchy, scan): (&Hierarchy, &Scan),
        params: &ContactParams,
        [tables, counters]: [&Buffer<u32>; 2],
        solids: &Buffer<Solid>,
        near: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        let count = params.solids as usize;
        if count < 2 {
            return Ok(());
        }
        self.hierarchy.record(rec, scan, hierarchy, solids, count)?;
        let Hierarchy { keys, branches, bounds, .. } = hierarchy;
        let given = bind![solids, keys, branches, bounds, tables, near, counters];
        rec.run(&self.kernels.pairs, count, params, given)
    }
}

#[cfg(test)]
mod tests;
