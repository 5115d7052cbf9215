//! Points in whole numbers, fine enough for a mesh and few enough for exact predicates.

/// A point in whole units: 2^39 a grid side, at most half a side outside the grid, so that a determinant of
/// differences fits 128 bits.
pub type Point = [i64; 3];

/// log2 of the units of a grid side.
pub const UNIT_BITS: u32 = 39;
