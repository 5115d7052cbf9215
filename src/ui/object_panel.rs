//! The open object: its file, its level of detail, and warnings about its mesh.

use super::{
    Command, UiInput, UiOutput, UiState, object_list,
    path_field::path_field,
    theme,
    widgets::{SliderLook, figure, grouped, label, name_list, slider},
};
use crate::{
    mesh::{BUILTIN_NAMES, Up},
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
        let tip = "OBJ, PLY, STL, OFF, glTF, FBX, USDA, VOX or a scene (.toml); Enter opens it";
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
    });
}

/// Figures of the imported object.
fn figures(ui: &mut egui::Ui, object: &crate::scene::ObjectInfo) {
    figure(ui, "File", object.name.clone());
    figure(ui, "Triangles", grouped(object.triangles as u64));
    figure(ui, "Surface voxels", grouped(object.leaves as u64));
    figure(ui, "Voxel edge", format!("{:.2} mm", object.voxel_m * 1000.0));
    figure(ui, "Import", format!("{:.2} s", object.seconds));
}

/// The file's up axis and the object's length.
fn way_up(ui: &mut egui::Ui, number: usize, object: &crate::scene::ObjectInfo, out: &mut UiOutput) {
    let side = f64::from(1u32 << object.scene.level.min(31)) - 2.0;
    let now = (object.scene.up, object.scene.size.unwrap_or(object.voxel_m * side));
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
        let tip = "Length of its longest side; it is remembered with the file";
        let number = egui::DragValue::new(&mut size).range(0.001..=1000.0).suffix(" m").max_decimals(3);
        let number = number.clamp_existing_to_range(false).speed(0.01 * now.1.max(0.01));
        let field = ui.add(number.update_while_editing(false)).on_hover_text(tip);
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
