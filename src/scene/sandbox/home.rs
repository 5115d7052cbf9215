//! The open document: its file, whether its present state is saved, and what the document has.

use std::sync::Arc;

use super::Sandbox;
use crate::{
    render::Camera,
    scene::{DocumentId, Event, ObjectInfo, SceneFile, StateId, Tuning},
};

impl Sandbox {
    /// The open document. Undoing the opening of a scene brings the document before it back.
    #[must_use]
    pub fn document_id(&self) -> DocumentId {
        self.document.id()
    }

    /// The state of the open document.
    #[must_use]
    pub fn state_id(&self) -> StateId {
        self.document.homes.state()
    }

    /// The file that the open document was read from or saved to last; `None`: it has none yet.
    #[must_use]
    pub fn file(&self) -> Option<&SceneFile> {
        self.document.homes.file(self.document.id())
    }

    /// The file that a document was read from or saved to last.
    #[must_use]
    pub fn file_of(&self, document: DocumentId) -> Option<&SceneFile> {
        self.document.homes.file(document)
    }

    /// Whether the user changed the open document since it was opened or saved.
    #[must_use]
    pub fn is_unsaved(&self) -> bool {
        !self.document.is_empty() && self.document.homes.is_unsaved(self.document.id())
    }

    /// Notes that a state of a document was saved to a file, which is the document's file from now on.
    pub fn saved(&mut self, (document, state): (DocumentId, StateId), file: SceneFile) {
        self.document.homes.saved(document, state, file);
    }

    /// Whether the breaks of the opened scene have been repeated in part only, because one could not be, or because undo
    /// went back to a moment in between. What is on the screen is then less than what the scene's file holds.
    #[must_use]
    pub fn is_remade_in_part(&self) -> bool {
        self.remaking.is_none() && self.document.is_remade_in_part()
    }

    /// Imported objects.
    #[must_use]
    pub fn objects(&self) -> &[Arc<ObjectInfo>] {
        self.document.objects()
    }

    /// Number of objects that are bodies of the scene; thrown ones follow them.
    #[must_use]
    pub fn bodies_of_scene(&self) -> usize {
        self.document.scene().bodies.len()
    }

    /// The tuned values.
    #[must_use]
    pub fn tuning(&self) -> &Tuning {
        self.document.tuning()
    }

    /// Time of the open scene's last future event, s; `None` if there is none.
    #[must_use]
    pub fn last_event(&self) -> Option<f64> {
        self.document.events_left().map(Event::time).max_by(f64::total_cmp)
    }

    /// The open scene's camera.
    #[must_use]
    pub fn saved_camera(&self) -> Option<Camera> {
        self.document.scene().camera
    }

    /// Octree level at which an object of the scene collides, by the values that the panels give it.
    #[must_use]
    pub fn contact_level_of(&self, object: usize) -> Option<u32> {
        Some(self.document.values_of(object)?.collision_level())
    }
}
