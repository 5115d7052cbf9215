//! The device and what runs on it, over wgpu.

use crate::{GpuError, Shared, StageTiming, layout, shaders};

mod bandwidth;
mod bindings;
mod buffer;
mod context;
mod drawing;
mod driver_errors;
mod kernel;
#[cfg(any(test, feature = "testing"))]
pub mod kernel_checks;
#[cfg(test)]
mod kernel_tests;
#[cfg(any(test, feature = "testing"))]
pub mod layout_tests;
#[cfg(any(test, feature = "testing"))]
mod mishaps;
mod pipeline_store;
pub mod primitives;
mod readback;
mod recorder;
mod shared;
mod stopwatch;
mod submissions;

pub use buffer::{Buffer, Traffic, storage_usage};
pub use context::Gpu;
pub use drawing::{Drawing, DrawingForm};
pub use kernel::{Kernel, WORKGROUP};
#[cfg(any(test, feature = "testing"))]
pub use mishaps::Mishaps;
#[cfg(any(test, feature = "testing"))]
pub(crate) use mishaps::stop_here;
pub use readback::{AnyReadback, Readback, ReadbackView, read_all};
pub use recorder::{Dispatch, IndirectCount, PendingTimings, Recorder};
pub use shared::{Bindable, Named, Uniform};
pub use stopwatch::Stopwatch;
pub use submissions::Submissions;
