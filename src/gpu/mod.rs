//! Everything that knows wgpu and nothing of voxels: the device, compute kernels, buffers that grow, readback, timings,
//! shader sources and the parallel primitives (scan).

mod buffer;
mod context;
mod kernel;
pub mod primitives;
mod recorder;
pub mod shaders;

pub use buffer::{Buffer, read_all, storage_usage};
pub use context::{Gpu, GpuError};
pub use kernel::{Kernel, WORKGROUP, groups_for};
pub use recorder::{PendingTimings, Recorder, StageTiming, Submissions};
