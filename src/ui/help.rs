//! F1: what the mouse and the keys do.

use super::{Command, Keymap, UiOutput, UiState, closing, crosshair, keymap, shortcuts, theme};

/// The mouse in the picture, except for what moves the camera.
const MOUSE: [(&str, &str); 6] = [
    ("Click", "Break, aim, choose, throw or select, by the tool"),
    ("Shift+Click", "With the tool Select: add a piece, or take it out"),
    ("Drag beside objects", "With the tool Select: all in a rectangle; Shift adds"),
    ("Ctrl+Drag", "With the tool Select: a rectangle from anywhere"),
    ("Ctrl+Click", "Pin a blow to tune, with any tool"),
    ("Drop a file", "Open it"),
];
/// Room above the list, points.
const TOP: f32 = 60.0;
/// Width of the names of keys, points.
const KEYS: f32 = 150.0;

/// Shows the list while it is open, and opens or closes it on command.
pub(super) fn show(ctx: &egui::Context, state: &mut UiState, chosen: Keymap, out: &mut UiOutput) {
    if out.commands.contains(&Command::ToggleHelp) {
        out.commands.retain(|command| *command != Command::ToggleHelp);
        state.help = !state.help;
        ctx.request_repaint();
    }
    if !state.help {
        return;
    }
    let highest = (ctx.content_rect().height() - TOP - 130.0).max(120.0);
    let area = egui::Area::new(egui::Id::unique("help"))
        .order(egui::Order::Foreground)
        .default_height(highest + 120.0);
    // Anchored to the top: egui would take only the window's middle half as available height.
    area.anchor(egui::Align2::CENTER_TOP, egui::vec2(0.0, TOP)).show(ctx, |ui| {
        theme::float_frame(theme::GOLD).show(ui, |ui| {
            ui.set_width(470.0);
            ui.horizontal(|ui| {
                ui.label(egui::RichText::new("Mouse and keys").size(15.0).color(theme::GOLD));
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let close = ui.button("Close").on_hover_text("F1 or Escape");
                    out.name("help_close", &close);
                    if close.clicked() {
                        state.help = false;
                    }
                });
            });
            ui.horizontal(|ui| {
                ui.label(egui::RichText::new("Views and frames as in").color(theme::DIM));
                keymap::choose(ui, chosen, out);
            });
            ui.separator();
            egui::ScrollArea::vertical().max_height(highest).show(ui, |ui| {
                for (keys, what) in MOUSE[..2].iter().chain(chosen.mouse()).chain(&MOUSE[2..]) {
                    line(ui, keys, what);
                }
                ui.separator();
                // Bindings are sorted by matching order; the list shows those without modifiers first.
                let mut all: Vec<_> = shortcuts::bound(chosen, shortcuts::Time::default())
                    .into_iter()
                    .chain([shortcuts::OF_PIN, shortcuts::OF_SELECTION])
                    .collect();
                all.sort_by_key(|(modifiers, ..)| {
                    (modifiers.ctrl || modifiers.command, modifiers.alt, modifiers.shift)
                });
                for (modifiers, key, _, what) in all {
                    line(ui, &shortcuts::spelled(modifiers, key), what);
                }
                line(ui, closing::ESCAPE.0, closing::ESCAPE.1);
                ui.separator();
                crosshair::KEYS.iter().for_each(|(keys, what)| line(ui, keys, what));
            });
        });
    });
}

fn line(ui: &mut egui::Ui, keys: &str, what: &str) {
    ui.horizontal(|ui| {
        let size = egui::vec2(KEYS, 18.0);
        ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), |ui| {
            ui.set_min_width(KEYS);
            ui.label(egui::RichText::new(keys).color(theme::DIM));
        });
        ui.label(what);
    });
}
