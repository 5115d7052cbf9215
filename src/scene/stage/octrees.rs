//! Uploading octrees of bodies to the backend, and freeing those without owners.

use std::sync::Arc;

use super::Stage;
use crate::{
    gpu::GpuError,
    svo::{Arena, Forest},
};

/// Size of octrees on the GPU above which undo steps and recorded states are dropped, bytes.
const BUDGET: u64 = 400 << 20;

impl Stage {
    /// Uploads an octree unless it is there. If it does not fit, calls `forget`, which drops something old, until it
    /// returns false.
    ///
    /// # Errors
    /// [`GpuError`]; nothing has changed then.
    pub fn take_in(
        &self,
        arena: &mut Arena,
        forest: &Arc<Forest>,
        mut forget: impl FnMut() -> bool,
    ) -> Result<(), GpuError> {
        loop {
            let over = arena.used_bytes() > BUDGET;
            if over && forget() {
                arena.collect();
            }
            match arena.insert(forest) {
                Err(error) if error.is_about_memory() && forget() => arena.collect(),
                result => return result.map(|_| ()),
            }
        }
    }
}
