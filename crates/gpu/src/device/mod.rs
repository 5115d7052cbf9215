//! The device and what runs on it, over wgpu.

use crate::{GpuError, Layout, Shared, StageTiming, layout, shaders};

mod bandwidth;
mod bindings;
mod buffer;
mod context;
mod count;
mod drawing;
mod faults;
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
mod recorder;
mod shared;
mod staged;
mod stopwatch;
mod submissions;
mod traffic;

pub use buffer::{Buffer, read_all, storage_usage};
pub use context::Gpu;
pub use count::Count;
pub use drawing::{Drawing, DrawingForm};
pub use kernel::{Kernel, WORKGROUP};
#[cfg(any(test, feature = "testing"))]
pub use mishaps::Mishaps;
pub use recorder::{PendingTimings, Recorder};
pub use shared::{Bindable, Named, Uniform};
pub use staged::{Copied, Staged, StagedView};
pub use stopwatch::Stopwatch;
pub use submissions::Submissions;
pub use traffic::Traffic;
