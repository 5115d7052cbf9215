//! Material presets as pictures: a click applies one to all bodies; a name saves the present settings.

use std::sync::Arc;

use egui::Vec2;

use super::{Command, UiInput, UiOutput, UiState, pictures, theme};

/// Side of a picture, points: five fit in a row.
const SIDE: f32 = 48.0;

/// Height of two rows of pictures with their names, points.
const ROWS: f32 = 2.0 * (SIDE + 16.0) + 8.0;

pub(super) fn show(ui: &mut egui::Ui, state: &mut UiState, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(sandbox) = input.sandbox else { return };
    state.preset_textures.keep(|pixels| {
        input.presets.iter().any(|view| view.picture.as_ref().is_some_and(|p| Arc::ptr_eq(p, pixels)))
    });
    let level = sandbox.shown_object().map_or(7, |object| object.scene.level);
    // Two rows of pictures: more would push the rows below out of sight.
    let scroll = egui::ScrollArea::vertical().id_salt("presets").max_height(ROWS);
    scroll.show(ui, |ui| {
        ui.set_max_width(theme::ROW);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(5.0, 5.0);
            for view in input.presets {
                let chosen = view.preset.is_in(sandbox.tuning(), level);
                let shown = (view.preset.name.as_str(), view.picture.as_ref());
                let size = Vec2::splat(SIDE);
                let response = pictures::tile(ui, &mut state.preset_textures, shown, size, Some(chosen));
                let about = if view.preset.about.is_empty() { "Saved by you" } else { &view.preset.about };
                let response = response.on_hover_text(format!("{}: {about}", view.preset.name));
                out.on_click(format!("preset: {}", view.preset.name), &response, || {
                    Command::ApplyPreset(Box::new(view.preset.clone()))
                });
            }
        });
    });
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 56.0).clamp(80.0, theme::ROW - 62.0);
        let field = egui::TextEdit::singleline(&mut state.preset_name)
            .hint_text("name for what is set now")
            .desired_width(width);
        let tip = "Saves pattern, surface, inside, and the density and friction of bodies, for use with any object; \
                   your preset of the same name is replaced";
        let field = ui.add(field).on_hover_text(tip);
        out.name("preset_name", &field);
        let entered = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        let named = !state.preset_name.trim().is_empty();
        let save = ui.add_enabled(named, egui::Button::new("Keep")).on_hover_text(tip);
        save.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, named, "Keep as a material"));
        out.name("preset_save", &save);
        if named && (save.clicked() || entered) {
            out.push(Command::SavePreset(std::mem::take(&mut state.preset_name)));
        }
    });
}
