//! Parallel building blocks.

mod scan;

pub use scan::Scan;
#[cfg(test)]
pub(crate) use scan::ScanParams;
