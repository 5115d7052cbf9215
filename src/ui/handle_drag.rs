//! What handles in the picture share: the drag that one frame keeps for the next, and the handle under the mouse.
//!
//! In: the mouse over a view, and which handle is at a point of it. Out: the drag in progress, the handle that the
//! pointer hovers over, the handle that a press takes.

use egui::{Pos2, Rect};

use super::UiInput;

/// The drag of a handle, kept from one frame to the next under a name of its own.
pub(super) struct KeptDrag<'a, T> {
    ui: &'a egui::Ui,
    id: egui::Id,
    /// The drag in progress.
    pub begun: Option<T>,
}

impl<'a, T: Clone + Send + Sync + 'static> KeptDrag<'a, T> {
    /// The drag that was kept under this name, and the target of the handles. Without a target the drag is over.
    pub fn on<S>(ui: &'a egui::Ui, name: &'static str, target: Option<S>) -> Option<(Self, S)> {
        let id = egui::Id::unique(name);
        let begun = ui.data(|data| data.get_temp::<Option<T>>(id)).flatten();
        let drag = Self { ui, id, begun };
        if target.is_none() && drag.begun.is_some() {
            drag.keep(None);
        }
        Some((drag, target?))
    }

    /// Keeps a drag for the next frame, or ends the one in progress.
    pub fn keep(&self, begun: Option<T>) {
        self.ui.data_mut(|data| data.insert_temp(self.id, begun));
    }
}

/// The mouse over the handles of a view.
pub(super) struct Mouse<H> {
    /// Where a press began; without one, where the pointer is.
    pub from: Option<Pos2>,
    /// The handle that the pointer hovers over.
    pub hovered: Option<H>,
    /// The handle where a press began.
    pub takes: Option<H>,
}

impl<H> Mouse<H> {
    /// The mouse over a view whose handle at a point of the window is `at`. No handle takes a press that the keymap
    /// uses.
    pub fn over(
        ui: &egui::Ui,
        response: &egui::Response,
        (view, input): (Rect, &UiInput<'_>),
        at: impl Fn(Pos2) -> Option<H>,
    ) -> Self {
        let (pointer, pressed, keys) =
            ui.input(|i| (i.pointer.latest_pos(), i.pointer.press_origin(), i.modifiers));
        let over = |place: Option<Pos2>| place.filter(|place| view.contains(*place)).and_then(&at);
        let from = pressed.or(pointer);
        let hovered = over(pointer).filter(|_| response.hovered());
        let takes = over(from).filter(|_| !input.keymap.takes_click(keys));
        Self { from, hovered, takes }
    }

    /// Whether a press or a click belongs to a handle, so that neither the eye moves nor anything else is picked.
    pub fn is_taken(&self, ui: &egui::Ui, response: &egui::Response) -> bool {
        self.takes.is_some() && (ui.input(|i| i.pointer.primary_down()) || response.clicked())
    }
}
