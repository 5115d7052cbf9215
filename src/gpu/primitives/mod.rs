//! Parallel building blocks.

mod scan;

pub use scan::Scan;
