//! Parallel building blocks.

mod plan;
mod scan;

pub use plan::Plan;
#[cfg(test)]
pub(crate) use plan::PlanParams;
pub use scan::Scan;
#[cfg(test)]
pub(crate) use scan::ScanParams;
