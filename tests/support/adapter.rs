//! The device, and what a test does where there is none.

use std::sync::OnceLock;

use kintsugi::gpu::Gpu;

use super::skip;

/// One device for all tests of a program. `None`, where that is allowed, without an adapter.
pub fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    GPU.get_or_init(another).as_ref()
}

/// A device of one's own.
pub fn another() -> Option<Gpu> {
    Gpu::headless().map_err(|error| skip::note(&error.to_string())).ok()
}
