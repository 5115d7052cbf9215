//! Octrees on the GPU: taken in for bodies. What nobody holds any more gives its place back.

use std::sync::Arc;

use super::Stage;
use crate::{
    gpu::GpuError,
    svo::{Arena, Forest},
};

/// Bytes of octrees on the GPU above which what is kept to go back to is forgotten.
const BUDGET: u64 = 400 << 20;

impl Stage {
    /// Takes in an octree, unless it is there. Where it does not fit, `forget` is asked to let go of
    /// something old, until it answers that there is nothing left.
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
