//! Parallel building blocks.

mod plan;
mod radix_sort;
mod scan;

pub use plan::Plan;
#[cfg(any(test, feature = "testing"))]
pub(crate) use plan::PlanParams;
#[cfg(any(test, feature = "testing"))]
pub(crate) use radix_sort::RadixParams;
pub use radix_sort::RadixSort;
pub use scan::Scan;
#[cfg(any(test, feature = "testing"))]
pub(crate) use scan::ScanParams;
