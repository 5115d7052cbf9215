//! Everything that knows wgpu and nothing of voxels: the device, compute kernels and drawings, buffers that grow, readback, timings,
//! shader sources and the parallel primitives (scan, sort).
//!
//! A dispatch in one breath: `rec.run(&self.count, n, &CountParams { .. }, bind![nodes: arena.nodes, pairs, masks])?`.

#![deny(missing_docs)]

mod bandwidth;
mod bindings;
mod buffer;
mod context;
pub mod count;
mod drawing;
mod error;
mod faults;
mod growing;
mod kernel;
mod mishaps;
mod pipeline_store;
#[cfg(any(test, feature = "testing"))]
pub mod kernel_checks;
#[cfg(any(test, feature = "testing"))]
pub mod layout_tests;
#[cfg(test)]
mod kernel_tests;
pub mod primitives;
mod recorder;
pub mod shaders;
mod shared;
mod staged;
mod stopwatch;
mod submissions;
mod traffic;

pub use buffer::{Buffer, read_all, storage_usage};
pub use context::Gpu;
pub use count::Count;
pub use drawing::{Drawing, DrawingForm};
pub use error::GpuError;
pub use error::PICTURE;
pub use growing::Growing;
pub use kernel::{Kernel, WORKGROUP};
pub use mishaps::Mishaps;
pub use recorder::{PendingTimings, Recorder, StageTiming};
pub use shared::{Bindable, Field, Layout, Named, Shared, Uniform};
pub use staged::{Copied, Staged, StagedView};
pub use stopwatch::Stopwatch;
pub use submissions::Submissions;
pub use traffic::Traffic;

/// What a test does where the machine has no adapter.
#[cfg(any(test, feature = "testing"))]
#[path = "../../../tests/support/skip.rs"]
pub mod skip;
