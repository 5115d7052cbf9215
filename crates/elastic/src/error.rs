//! What the crate refuses, and what to do then.

use kintsugi_core::{fracture::Cancelled, memory::Short};

/// Why there is no body, no solver or no solution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ElasticError {
    /// The shape has no voxels.
    #[error("the shape has no voxels to compute stress on; import it with voxels")]
    NoVoxels,
    /// The level is not one of the octree's.
    #[error("stress cannot be computed at level {level}; choose a level from 1 to {most}")]
    Level {
        /// The level asked for.
        level: u32,
        /// The finest that the octree and this crate have.
        most: u32,
    },
    /// No cell is solid enough.
    #[error("no cell of level {level} is solid; choose a finer level")]
    Empty {
        /// The level asked for.
        level: u32,
    },
    /// The cells do not fit into memory.
    #[error("{cells} cells are too many for stress: {short}; choose a coarser level")]
    Memory {
        /// Number of cells.
        cells: u64,
        /// What is missing.
        short: Short,
    },
    /// A number of the material is out of range.
    #[error("{name} is {value}; it must be {range}")]
    Material {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// Held nodes leave the body free to move or turn.
    #[error(
        "what is held lets the body move or turn; hold at least three corners of cells that lie on no line, or none"
    )]
    Loose,
    /// A number of a load is NaN, infinite or too large, a direction is zero, or a radius is negative.
    #[error("a load has {0}; give finite numbers, a direction and a radius")]
    Load(&'static str),
    /// Parts or bonds of which there are no fracture modes.
    #[error("fracture modes: {0}")]
    Modes(&'static str),
    /// Nothing strains the body.
    #[error("no load strains the body; load cells of its surface, or hold it where only gravity loads it")]
    NothingLoaded,
    /// The iterations ended too early.
    #[error(
        "after {iterations} iterations the error is {error:.1e} of the solution; allow more iterations or a larger tolerance"
    )]
    NotConverged {
        /// Iterations that were made.
        iterations: u32,
        /// The estimate of the error in the energy norm, relative to the solution.
        error: f64,
    },
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
