//! The broad phase of octrees in compute passes: the hierarchy over Morton codes that all bodies share
//! (`broad_phase/passes/hierarchy.rs`), and every leaf's traversal of it, which also finds how often the step has to
//! search contacts.
//!
//! In: solids. Out: near pairs, unsorted, and the speed of the fastest. Boxes are whole numbers of a lattice; the
//! oriented boxes are tested in single precision with some slack. So the result has all near pairs and a few more,
//! which the host removes.

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
    /// Compiles the kernels by `kernel`.
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
