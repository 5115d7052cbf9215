//! Which object is open, how finely, and what a person should know about its mesh.

use super::{
    Command, UiInput, UiOutput, UiState, theme,
    widgets::{SliderLook, figure, grouped, slider},
};
use crate::{mesh::BUILTIN_NAMES, svo::MAX_PASSES_LEVEL};

pub(super) fn show(ui: &mut egui::Ui, state: &mut UiState, input: &UiInput<'_>, out: &mut UiOutput) {
    let objects = input.sandbox.map_or(&[][..], |s| s.objects());
    let current = objects.first();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(5.0, 5.0);
        for name in BUILTIN_NAMES {
            let chosen = current.is_some_and(|o| o.scene.file.strip_prefix("builtin:") == Some(name));
            let response = ui.add(egui::Button::selectable(chosen, name).frame_when_inactive(true));
            if response.on_hover_text("Open this built-in shape").clicked() {
                out.push(Command::Open(format!("builtin:{name}").into()));
            }
        }
    });
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 56.0).max(80.0);
        let field = egui::TextEdit::singleline(&mut state.path)
            .hint_text("path of a mesh or scene")
            .desired_width(width);
        let field =
            ui.add(field).on_hover_text("OBJ, PLY, STL, OFF, glTF or a scene (.toml); Enter opens it");
        out.name("path", &field);
        let entered = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        let go = ui.add_enabled(!state.path.trim().is_empty(), egui::Button::new("Open"));
        if (go.clicked() || entered) && !state.path.trim().is_empty() {
            out.push(Command::Open(state.path.trim().into()));
        }
    });
    let Some(object) = current else {
        return;
    };
    let mut level = object.scene.level;
    let tip = "Detail of the voxels: each level halves their edge and makes about four times as many; 11 and 12 only where \
               stages run on the cores";
    // The cores take finer octrees than compute passes.
    let finest = input.sandbox.map_or(MAX_PASSES_LEVEL, |s| s.compute().finest_level());
    let response = slider(ui, "Detail", tip, &mut level, 1..=finest, &SliderLook::WHOLE);
    out.name("level", &response);
    let id = egui::Id::unique("wanted level");
    if response.changed() {
        ui.data_mut(|d| d.insert_temp(id, level));
    }
    // An import starts when the slider is let go, not at every value on the way.
    let released = !ui.input(|i| i.pointer.any_down());
    if released && let Some(wanted) = ui.data_mut(|d| d.remove_temp::<u32>(id)) {
        out.push(Command::SetLevel(wanted));
    }
    figure(ui, "Name", object.name.clone());
    if objects.len() > 1 {
        figure(ui, "Objects", objects.len().to_string());
    }
    figure(ui, "Triangles", grouped(object.triangles as u64));
    figure(ui, "Surface voxels", grouped(object.leaves as u64));
    figure(ui, "Voxel edge", format!("{:.2} mm", object.voxel_m * 1000.0));
    figure(ui, "Import", format!("{:.2} s", object.seconds));
    health(ui, object);
}

fn health(ui: &mut egui::Ui, object: &crate::scene::ObjectInfo) {
    let report = &object.health;
    let sound = report.closed && object.warnings.is_empty() && report.notes.is_empty();
    let (text, color) = if sound {
        ("✔ The mesh is closed and sound", theme::GOOD)
    } else if report.closed {
        ("✔ The mesh is closed", theme::GOOD)
    } else {
        ("The mesh is open; holes were closed", theme::GOLD)
    };
    let tip = format!(
        "{} open edges in {} holes, {} edges with three faces or more, {} parts; inside told by {}",
        report.open_edges,
        report.boundary_loops,
        report.non_manifold_edges,
        report.components,
        report.inside_test
    );
    ui.label(egui::RichText::new(text).color(color)).on_hover_text(tip);
    for note in report.notes.iter().chain(&object.warnings) {
        ui.add(egui::Label::new(egui::RichText::new(format!("• {note}")).small().color(theme::DIM)).wrap());
    }
}
