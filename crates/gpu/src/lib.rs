//! Everything that uses wgpu, apart from voxels: the device, compute kernels and drawings, buffers that grow, readback,
//! timings, shader sources and the parallel primitives (scan, sort).
//!
//! A dispatch in one breath: `rec.run(&self.count, n, &CountParams { .. }, bind![nodes: arena.nodes, pairs, masks])?`.
//!
//! Without the feature `device` no graphics library is compiled: [`Gpu::headless`] finds no adapter, and no value of
//! [`Gpu`] or of a buffer can exist. Crates that dispatch kernels compile unchanged, and run on the processor's cores.

#![deny(missing_docs)]

mod adapters;
#[cfg(feature = "device")]
mod device;
#[cfg(not(feature = "device"))]
#[path = "no_device.rs"]
mod device;
mod error;
mod grow_and_retry;
mod layout;
pub mod shaders;
mod timing;

pub use adapters::{AdapterChoice, AdapterEntry, Power, adapters, choose_adapter};
pub use device::*;
pub use error::{GpuError, PICTURE};
pub use grow_and_retry::GrowAndRetry;
pub use layout::{Field, Layout, Shared};
pub use timing::{StageTiming, ms_since};

/// Panics where a test asks for that: `window` is in each frame, `worker` in the worker that draws a picture for a file.
/// What ships does nothing here.
pub fn stop_here(place: &str) {
    #[cfg(all(feature = "device", any(test, feature = "testing")))]
    device::stop_here(place);
    #[cfg(not(all(feature = "device", any(test, feature = "testing"))))]
    let _ = place;
}

/// What a test does where the machine has no adapter.
#[cfg(any(test, feature = "testing"))]
#[path = "../../../tests/support/skip.rs"]
pub mod skip;
