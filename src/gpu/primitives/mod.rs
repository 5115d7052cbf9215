//! Parallel building blocks.

mod plan;
mod radix_sort;
mod scan;

pub use plan::Plan;
#[cfg(test)]
pub(crate) use plan::PlanParams;
#[cfg(test)]
pub(crate) use radix_sort::RadixParams;
pub use radix_sort::RadixSort;
pub use scan::Scan;
#[cfg(test)]
pub(crate) use scan::ScanParams;
