//! Snapshots of a scene, for undo, the timeline and reset.
//!
//! Octrees and meshes are shared with live bodies, and unchanged parts with other snapshots: a throw into a heap of any
//! size costs constant memory.

use std::sync::Arc;

use super::{BreakSummary, document::WasOpen, stage::Standing};

/// A snapshot of all bodies and the document.
#[derive(Clone, Default)]
pub struct Moment {
    /// Bodies, bodies still to be thrown, and simulated time.
    pub(super) stage: Standing,
    /// The document.
    pub(super) document: WasOpen,
    /// The scene's first snapshot; `None` in the first snapshot itself.
    pub(super) first: Option<Arc<Moment>>,
    /// Summary of the last fracture.
    pub(super) last_break: Option<Arc<BreakSummary>>,
}

impl Moment {
    /// Memory not shared with `other`, without octrees and meshes, bytes.
    pub(super) fn bytes_beside(&self, other: Option<&Self>) -> usize {
        size_of::<Self>()
            + self.stage.bytes_beside(other.map(|other| &other.stage))
            + self.document.bytes_beside(other.map(|other| &other.document))
    }

    /// A snapshot of these bodies.
    #[cfg(test)]
    pub(super) fn of(bodies: &[crate::bodies::Body]) -> Self {
        Self { stage: Standing::of(bodies), ..Self::default() }
    }

    /// The same with its memory increased by `bytes`.
    #[cfg(test)]
    pub(super) fn and_bytes(self, bytes: usize) -> Self {
        Self { document: WasOpen::of_size(bytes), ..self }
    }
}
