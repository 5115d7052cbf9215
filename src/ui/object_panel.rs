//! The open object: its file, its level of detail, and warnings about its mesh.

use super::{
    Command, UiInput, UiOutput, UiState, object_list,
    path_field::path_field,
    theme,
    widgets::{SliderLook, figure, grouped, label, name_list, slider},
};
use crate::{
    import::level_for,
    mesh::{BUILTIN_NAMES, Units, Up},
    svo::MAX_PASSES_LEVEL,
};

/// Number of shapes that have a button. The others belong to shipped scenes; the palette and the path field open them,
/// too.
const SHAPES_SHOWN: usize = 7;

pub(super) fn show(ui: &mut egui::Ui, state: &mut UiState, input: &UiInput<'_>, out: &mut UiOutput) {
    let current = input.sandbox.and_then(|s| s.shown_object());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(5.0, 5.0);
        for name in BUILTIN_NAMES.into_iter().take(SHAPES_SHOWN) {
            let chosen = current.is_some_and(|o| o.scene.file.strip_prefix("builtin:") == Some(name));
            let response = ui.add(egui::Button::selectable(chosen, name).frame_when_inactive(true));
            if response.on_hover_text("Open this built-in shape").clicked() {
                out.push(Command::Open(format!("builtin:{name}").into()));
            }
        }
        super::scene_list::button(ui, state, out);
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let width = (ui.available_width() - 104.0).max(80.0);
        let tip = "OBJ, PLY, STL, OFF, glTF, FBX, USD, VOX or a scene (.toml); Enter opens it";
        let field = path_field(ui, "path", &mut state.path, "path of a mesh or scene", width);
        let field = field.on_hover_text(tip);
        out.name("path", &field);
        let entered = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        let go = ui.add_enabled(!state.path.trim().is_empty(), egui::Button::new("Open"));
        if (go.clicked() || entered) && !state.path.trim().is_empty() {
            out.push(Command::Open(state.path.trim().into()));
        }
        ui.add_enabled_ui(current.is_some(), |ui| object_list::add_menu(ui, state.path.trim(), out));
    });
    let (Some(object), Some(sandbox)) = (current, input.sandbox) else {
        return;
    };
    object_list::show(ui, &mut state.objects, (input, sandbox), out);
    let mut level = object.scene.level;
    let tip = "How finely the object is cut into little cubes. One more halves them and takes about four times as \
               long: 7 to try, 9 for the result. 11 and 12 only on the processor";
    // The native backend supports finer octrees than the compute passes.
    let finest = input.sandbox.map_or(MAX_PASSES_LEVEL, |s| s.compute().finest_level());
    let response = slider(ui, "Detail", tip, &mut level, 1..=finest, &SliderLook::WHOLE);
    out.name("level", &response);
    let id = egui::Id::unique("wanted level");
    if response.changed() {
        ui.data_mut(|d| d.insert_temp(id, level));
    }
    // The import starts when the slider is released, not at every value on the way.
    let released = !ui.input(|i| i.pointer.any_down());
    if released && let Some(wanted) = ui.data_mut(|d| d.remove_temp::<u32>(id)) {
        out.push(Command::SetLevel(wanted));
    }
    let number = sandbox.focus().unwrap_or(0);
    if number < sandbox.bodies_of_scene() {
        way_up(ui, number, object, out);
    }
    object_list::place(ui, input, sandbox, out);
    health(ui, object);
    egui::CollapsingHeader::new(egui::RichText::new("Figures").color(theme::DIM)).show_unindented(ui, |ui| {
        figures(ui, object);
        voxel_size(ui, object, finest, out);
    });
}

/// Figures of the imported object.
fn figures(ui: &mut egui::Ui, object: &crate::scene::ObjectInfo) {
    figure(ui, "File", object.name.clone());
    figure(ui, "Triangles", grouped(object.triangles as u64));
    figure(ui, "Surface voxels", grouped(object.leaves as u64));
    let health = &object.health;
    let units = (0..3).map(|k| f64::from(health.bounds_high[k] - health.bounds_low[k])).fold(0.0, f64::max);
    figure(ui, "Longest side", format!("{} ({units:.4} in the file)", length_text(length_of(object))));
    figure(ui, "Import", format!("{:.2} s", object.seconds));
}

/// Length of an object's longest side, m.
fn length_of(object: &crate::scene::ObjectInfo) -> f64 {
    let side = f64::from(1u32 << object.scene.level.min(31)) - 2.0;
    object.scene.size.unwrap_or(object.voxel_m * side)
}

/// A length (m) with its unit to three digits, as [`Units::length`] reads it.
fn length_text(metres: f64) -> String {
    let (number, unit) = if metres < 0.1 { (metres * 1000.0, Units::Mm) } else { (metres, Units::M) };
    let decimals = (2.0 - libm::floor(libm::log10(number.max(1e-9)))).clamp(0.0, 9.0) as usize;
    format!("{number:.decimals$} {}", unit.name())
}

/// The length (m) that was typed: a number with a unit, or without one in `usual`.
fn typed_length(text: &str, usual: Units) -> Option<f64> {
    let plain = || Some(text.trim().parse::<f64>().ok()? * usual.metres());
    Units::length(text).ok().or_else(plain)
}

/// The edge of a voxel; what is typed picks the lowest level whose voxels are no wider.
fn voxel_size(ui: &mut egui::Ui, object: &crate::scene::ObjectInfo, finest: u32, out: &mut UiOutput) {
    let (mut edge, shown) = (object.voxel_m, length_text(object.voxel_m));
    ui.horizontal(|ui| {
        let tip = "Edge of a little cube. Type the widest one that you want, with its unit, as 2 mm; millimetres without one. \
                   The lowest detail that has it is taken";
        label(ui, "Voxel size", tip);
        // What was not changed is no other edge, though it is rounded as it is shown.
        let parse = |text: &str| {
            if text.trim() == shown { Some(object.voxel_m) } else { typed_length(text, Units::Mm) }
        };
        let number = egui::DragValue::new(&mut edge).speed(0.0).update_while_editing(false);
        let number = number.custom_formatter(|edge, _| length_text(edge)).custom_parser(parse);
        let field = ui.add(number).on_hover_text(tip);
        out.name("voxel_size", &field);
    });
    if edge != object.voxel_m && edge > 0.0 {
        let level = level_for(length_of(object), edge).unwrap_or(finest).min(finest);
        if level != object.scene.level {
            out.push(Command::SetLevel(level));
        }
    }
}

/// The file's up axis and the object's length.
fn way_up(ui: &mut egui::Ui, number: usize, object: &crate::scene::ObjectInfo, out: &mut UiOutput) {
    let now = (object.scene.up, length_of(object));
    let (mut up, mut size) = now;
    let id = egui::Id::unique("wanted size");
    ui.horizontal(|ui| {
        label(ui, "Up", "The axis of the file that points up; it is remembered with the file");
        ui.spacing_mut().item_spacing.x = 3.0;
        let combo = egui::ComboBox::from_id_salt("up").selected_text(up.name()).width(48.0);
        let response = combo.show_ui(ui, |ui| {
            for axis in Up::ALL {
                ui.selectable_value(&mut up, axis, axis.name());
            }
        });
        name_list(&response.response, "Up");
        out.name("up", &response.response);
        let tip =
            "Length of its longest side, in metres or with a unit, as 49 cm; it is remembered with the file";
        let number = egui::DragValue::new(&mut size).range(0.001..=1000.0).suffix(" m").max_decimals(3);
        let number = number.clamp_existing_to_range(false).speed(0.01 * now.1.max(0.01));
        let number = number.custom_parser(|text| typed_length(text, Units::M)).update_while_editing(false);
        let field = ui.add(number).on_hover_text(tip);
        out.name("size", &field);
    });
    // The import starts when the number is released, not at every value on the way.
    if size != now.1 {
        ui.data_mut(|d| d.insert_temp(id, size));
    }
    let released = !ui.input(|i| i.pointer.any_down());
    let wanted = if released { ui.data_mut(|d| d.remove_temp::<f64>(id)) } else { None };
    if up != now.0 || wanted.is_some() {
        out.push(Command::SetImport { object: number, up, size: wanted.unwrap_or(now.1) });
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_shown_as_they_are_read() {
        let shown = [0.494, 0.0039370, 0.002, 12.3456, 0.00012345].map(length_text);
        assert_eq!(shown, ["0.494 m", "3.94 mm", "2.00 mm", "12.3 m", "0.123 mm"]);
        for text in &shown {
            assert!(typed_length(text, Units::M).is_some(), "{text}");
        }
        let typed = ["2 mm", "2", " 0.5in", "wide"].map(|text| typed_length(text, Units::Mm));
        assert_eq!(typed, [Some(0.002), Some(0.002), Some(0.0127), None]);
    }
}
