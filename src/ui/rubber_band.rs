//! The rubber band of the selection tool: a rectangle over the picture that selects the pieces inside it.
//!
//! In: the mouse over a view. Out: a rectangle while it is dragged, a command on release. A drag that starts on an
//! object moves the camera as with any tool, unless Ctrl is held.

use egui::{Modifiers, PointerButton, Pos2, Rect, Stroke, StrokeKind};

use super::{Command, Tool, UiInput, UiOutput, theme};

/// A rubber band in progress: its first corner and its view.
type Begun = Option<(Pos2, Rect)>;

/// Draws the rubber band and selects the pieces in it on release. Returns whether the drag belongs to the rubber band,
/// so that it does not move the camera. `view` is the view in which a drag starts.
pub(super) fn show(
    ui: &egui::Ui,
    response: &egui::Response,
    view: Rect,
    input: &UiInput<'_>,
    out: &mut UiOutput,
) -> bool {
    let kept = egui::Id::unique("rubber band");
    let (pressed, pointer, keys) =
        ui.input(|i| (i.pointer.press_origin(), i.pointer.latest_pos(), i.modifiers));
    let begun = ui.data(|data| data.get_temp::<Begun>(kept)).flatten();
    let starts = response.drag_started_by(PointerButton::Primary);
    let begins = pressed.filter(|from| starts && is_band(input, view, *from, keys)).map(|from| (from, view));
    let ends = response.drag_stopped_by(PointerButton::Primary);
    let goes_on = ends || response.dragged_by(PointerButton::Primary);
    let band = begun.or(begins).filter(|_| goes_on && input.tool == Tool::Select);
    if begun.is_some() || band.is_some() {
        ui.data_mut(|data| data.insert_temp::<Begun>(kept, band.filter(|_| !ends)));
    }
    let (Some((from, view)), Some(to)) = (band, pointer) else { return band.is_some() };
    let band = Rect::from_two_pos(from, to).intersect(view);
    if ends {
        let inside = |p: Pos2| [(p.x - view.left()) / view.width(), (p.y - view.top()) / view.height()];
        out.push(Command::SelectIn { low: inside(band.min), high: inside(band.max), joins: keys.shift });
    } else {
        let painter = ui.painter_at(view);
        painter.rect_filled(band, 0.0, theme::GOLD.gamma_multiply(0.12));
        painter.rect_stroke(band, 0.0, Stroke::new(1.2, theme::GOLD), StrokeKind::Inside);
    }
    true
}

/// Whether a drag starting at `from` is a rubber band: it starts beside all objects, Ctrl is held, or the keymap does
/// not use the drag.
fn is_band(input: &UiInput<'_>, view: Rect, from: Pos2, keys: Modifiers) -> bool {
    let Some(sandbox) = input.sandbox.filter(|_| input.tool == Tool::Select && view.contains(from)) else {
        return false;
    };
    if input.keymap.takes_click(keys) {
        return false;
    }
    let free = input.keymap.drag(PointerButton::Primary, Modifiers { shift: false, ..keys }).is_none();
    if free || keys.command {
        return true;
    }
    let [x, y] = [(from.x - view.left()) / view.width(), (from.y - view.top()) / view.height()];
    let (origin, direction) = input.camera.ray(x, y, view.width() / view.height());
    sandbox.pick(origin, direction).is_none()
}
