//! Everything of a scene at one moment, to go back to: what undo, the timeline and "reset" keep.
//!
//! Octrees and meshes are shared with the bodies that live now, and with other moments whatever is the same in them: in a
//! heap of any size a throw costs a constant.

use std::sync::Arc;

use super::{BreakSummary, document::WasOpen, stage::Standing};

/// All bodies and the document at one moment.
#[derive(Clone, Default)]
pub struct Moment {
    /// Bodies, what was still to be thrown, and simulated time.
    pub(super) stage: Standing,
    /// What was open.
    pub(super) document: WasOpen,
    /// The first moment of the scene that was open; the first moment itself has none.
    pub(super) first: Option<Arc<Moment>>,
    /// What the last fracture before it did.
    pub(super) last_break: Option<Arc<BreakSummary>>,
}

impl Moment {
    /// Memory of it that `other` does not share, bytes; octrees and meshes are not counted.
    pub(super) fn bytes_beside(&self, other: Option<&Self>) -> usize {
        size_of::<Self>()
            + self.stage.bytes_beside(other.map(|other| &other.stage))
            + self.document.bytes_beside(other.map(|other| &other.document))
    }

    /// One of those bodies.
    #[cfg(test)]
    pub(super) fn of(bodies: &[crate::bodies::Body]) -> Self {
        Self { stage: Standing::of(bodies), ..Self::default() }
    }

    /// The same, which takes at least so much more.
    #[cfg(test)]
    pub(super) fn and_bytes(self, bytes: usize) -> Self {
        Self { document: WasOpen::of_size(bytes), ..self }
    }
}
