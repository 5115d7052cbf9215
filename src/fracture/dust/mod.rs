//! Crack surfaces with a gap of dust between them (2018, sec. 5.3, last paragraph).

pub mod cases;
mod voxel;

pub use voxel::{DustTriangle, DustVoxel, Shares};
