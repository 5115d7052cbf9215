//! Parallel building blocks.

mod radix_sort;
mod scan;

#[cfg(any(test, feature = "testing"))]
pub(crate) use radix_sort::RadixParams;
pub use radix_sort::RadixSort;
#[cfg(any(test, feature = "testing"))]
pub(crate) use scan::PlanParams;
#[cfg(any(test, feature = "testing"))]
pub(crate) use scan::ScanParams;
pub use scan::{Plan, Scan};
