//! Everything of a scene at one moment, to go back to: what undo, the timeline and "reset" keep.
//!
//! Octrees and meshes are shared with the bodies that live now, so a moment costs little beside what the
//! bodies are.

use std::sync::Arc;

use super::{document::Opened, stage::Standing};

/// All bodies and the document at one moment.
#[derive(Clone, Default)]
pub struct Moment {
    /// Bodies, what was still to be thrown, and simulated time.
    pub(super) stage: Standing,
    /// What was open.
    pub(super) document: Opened,
    /// The first moment of the scene that was open; the first moment itself has none.
    pub(super) first: Option<Arc<Moment>>,
}

impl Moment {
    /// Memory that no other moment shares, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.stage.bytes() + self.document.bytes()
    }

    /// One that takes at least so much.
    #[cfg(test)]
    pub(super) fn of_size(bytes: usize) -> Self {
        Self { document: Opened::of_size(bytes), ..Self::default() }
    }
}
