//! Side panels that fold away. In a narrow window the right panel starts folded, and in a narrower one the left, too.

use super::{Command, Side, UiOutput, UiState, theme};

/// In windows narrower than this (points) the right panel starts folded, so that the picture has half of the window.
const NARROW: f32 = 4.0 * (theme::PANEL_WIDTH + MARGINS);
/// In windows narrower than this (points) the left panel starts folded, too.
const NARROWEST: f32 = 2.0 * (theme::PANEL_WIDTH + STRIP + 2.0 * MARGINS);
/// Width that a panel's frame and the picture's margin take besides, points.
const MARGINS: f32 = 8.0;
/// Width of a folded panel, points.
const STRIP: f32 = 28.0;

/// The user's choice for each panel; `None` lets the window's width decide.
#[derive(Default)]
pub(super) struct Folded {
    left: Option<bool>,
    right: Option<bool>,
}

impl Folded {
    fn is(&self, side: Side, width: f32) -> bool {
        match side {
            Side::Left => self.left.unwrap_or(width < NARROWEST),
            Side::Right => self.right.unwrap_or(width < NARROW),
        }
    }
}

/// Applies the commands that fold and unfold panels.
pub(super) fn follow(ctx: &egui::Context, state: &mut UiState, out: &mut UiOutput) {
    let width = ctx.content_rect().width();
    for side in [Side::Left, Side::Right] {
        if out.commands.contains(&Command::Fold(side)) {
            let now = Some(!state.folded.is(side, width));
            match side {
                Side::Left => state.folded.left = now,
                Side::Right => state.folded.right = now,
            }
            ctx.request_repaint();
        }
    }
    out.commands.retain(|command| !matches!(command, Command::Fold(_)));
}

/// Draws a side panel with `contents`, or the strip that unfolds it.
pub(super) fn panel(
    side: Side,
    ui: &mut egui::Ui,
    (state, out): (&mut UiState, &mut UiOutput),
    contents: impl FnOnce(&mut egui::Ui, &mut UiState, &mut UiOutput),
) {
    let folded = state.folded.is(side, ui.ctx().content_rect().width());
    let panel = match side {
        Side::Left => egui::Panel::left("left"),
        Side::Right => egui::Panel::right("right"),
    };
    let (name, which) = match side {
        Side::Left => ("fold_left", "left"),
        Side::Right => ("fold_right", "right"),
    };
    let points_left = (side == Side::Left) != folded;
    let (arrow, key) = (if points_left { "«" } else { "»" }, if side == Side::Left { "[" } else { "]" });
    let told = format!("{} the {which} panel", if folded { "Unfold" } else { "Fold" });
    let fold = |ui: &mut egui::Ui, at: egui::Rect, out: &mut UiOutput| {
        let response = ui.put(at, egui::Button::new(arrow).frame_when_inactive(false));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &told));
        out.name(name, &response);
        if response.on_hover_text(format!("{told} ({key})")).clicked() {
            out.push(Command::Fold(side));
        }
    };
    let width = if folded { STRIP } else { theme::PANEL_WIDTH };
    let frame = if folded { egui::Frame::new() } else { theme::panel_frame() };
    panel.exact_size(width).resizable(false).frame(frame).show(ui, |ui| {
        let whole = ui.max_rect();
        if folded {
            let at = egui::Rect::from_min_size(whole.min + egui::vec2(3.0, 8.0), egui::vec2(20.0, 20.0));
            fold(ui, at, out);
            return;
        }
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            // The scroll bar floats over the margin and must not cover values.
            ui.set_max_width(theme::ROW);
            contents(ui, state, out);
            ui.add_space(8.0);
        });
        let at = egui::pos2(whole.left() + theme::ROW - 20.0, whole.top());
        let at = egui::Rect::from_min_size(at, egui::vec2(20.0, 20.0));
        // Contents that scroll below the strip must not show through.
        ui.painter().rect_filled(at.expand2(egui::vec2(3.0, 1.0)), 4.0, ui.visuals().panel_fill);
        fold(ui, at, out);
    });
}
