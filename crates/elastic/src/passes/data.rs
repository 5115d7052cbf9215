//! What the passes share with Rust (`data.wgsl`). Displacements are in units in which a full cell of the finest level has Young's
//! modulus 1 and edge 1.

use crate::gpu::shared;

shared! {
    /// Numbers of a dispatch.
    #[derive(Debug, Default)]
    pub struct ElasticParams {
        /// Chunks of the level that is written.
        chunks: u32,
        /// Numbers, or unknowns, of a dispatch.
        count: u32,
        /// Smoothing: 1 where displacements are still zero.
        is_first: u32,
        /// Smoothing: factor of the last change.
        kept: f32,
        /// Smoothing: factor of the smoothed forces.
        added: f32,
        /// Stiffness of a cell of the level beside that of the finest.
        scale: f32,
        /// Sums: 0 of the size of the forces, 1 of the energy of the direction.
        of_energy: u32,
    }

    /// Where conjugate gradients are. A size is forces times what the preconditioner makes of them.
    #[derive(Debug, Default)]
    pub struct ElasticState {
        /// A first size at which nothing needs to be done.
        enough: f32,
        /// Size at which to end later.
        aim: f32,
        /// Share of the first size at which to end later.
        drop: f32,
        /// Most iterations.
        most: u32,
        /// 1 at the end: all later passes change nothing.
        done: u32,
        /// Iterations that were made.
        iterations: u32,
        /// Size of the forces that were sent.
        first: f32,
        /// Size of what is left of them.
        size: f32,
        /// Length of the step along the direction.
        step: f32,
        /// Share of the last direction in the next one.
        turn: f32,
    }
}

/// Words of a chunk of a lattice: the 27 chunks around, and the bits of what is free.
pub const WORDS: usize = 28;
/// Numbers of a chunk of a lattice: fill, inverses of the blocks on the diagonal, springs.
pub const MATTER: usize = 80;
