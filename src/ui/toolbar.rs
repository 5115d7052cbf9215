//! The top line: file, undo, tools and time.

use super::{Command, Tool, UiInput, UiOutput, theme};

/// Window width at which all buttons fit with room to spare, points.
const ROOMY: f32 = 1395.0;
/// Below this window width the tools get a line of their own, points.
const NARROW: f32 = 1213.0;
/// Below this window width the name is left out and *Commands* stands beside the tools, points: the first line has no
/// room for them.
const TIGHT: f32 = 790.0;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let (is_narrow, is_tight) = (ui.available_width() < NARROW, ui.available_width() < TIGHT);
    ui.horizontal(|ui| {
        if !is_tight {
            ui.label(egui::RichText::new("Kintsugi").size(16.0).strong().color(theme::GOLD));
            ui.add_space(10.0);
        }
        // In a narrow window no button is cut off.
        if ui.available_width() < ROOMY {
            ui.spacing_mut().button_padding.x = 5.0;
            ui.spacing_mut().item_spacing.x = 4.0;
        }
        let tip = "Open a mesh or a scene (Ctrl+O); files can also be dropped here";
        button(ui, out, "open", "Open", tip, true, Command::OpenDialog);
        let tip = "Save the scene over its file (Ctrl+S); Ctrl+Shift+S asks for a name";
        button(ui, out, "save", "Save", tip, input.sandbox.is_some(), Command::SaveDialog);
        let there = input.sandbox.is_some_and(|s| !s.bodies().is_empty());
        let tip = "Write the pieces as meshes, voxels or arrays (Ctrl+E)";
        button(ui, out, "export", "Export", tip, there, Command::ToggleExport);
        let tip = "Write a picture of the view, fully refined (F12); View has its size";
        button(ui, out, "picture", "Picture", tip, input.sandbox.is_some(), Command::Picture);
        ui.separator();
        let history = input.sandbox.map(crate::scene::Sandbox::history);
        let undo = history.and_then(|h| h.undo_label());
        let redo = history.and_then(|h| h.redo_label());
        let tip = |what: &str, label: Option<&str>, keys: &str| match label {
            Some(label) => format!("{what}: {label} ({keys})"),
            None => format!("Nothing to {} ({keys})", what.to_lowercase()),
        };
        button(ui, out, "undo", "Undo", &tip("Undo", undo, "Ctrl+Z"), undo.is_some(), Command::Undo);
        button(ui, out, "redo", "Redo", &tip("Redo", redo, "Ctrl+Shift+Z"), redo.is_some(), Command::Redo);
        ui.separator();
        let ready = input.sandbox.is_some_and(|s| !s.bodies().is_empty());
        let label = if input.playing { "⏸  Pause" } else { "▶  Play" };
        let play =
            egui::Button::new(egui::RichText::new(label).color(theme::GOLD)).min_size(egui::vec2(84.0, 0.0));
        let goes_another_way = input.sandbox.is_some_and(|s| s.timeline().has_future());
        let tip = if goes_another_way && !input.playing {
            "Let time run on from the moment that is shown; what was recorded after it is kept as a take (Space)"
        } else {
            "Let time run or stop it (Space)"
        };
        let response = ui.add_enabled(ready, play).on_hover_text(tip);
        out.on_click("play", &response, || Command::Play(!input.playing));
        button(ui, out, "step", "Step", "One step of time ( . )", ready && !input.playing, Command::Step);
        button(ui, out, "reset", "Reset", "Back to the unbroken object", ready, Command::Reset);
        if !is_narrow {
            ui.separator();
            tools(ui, input, out);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let tip = "Show everything (Home); F shows what is selected or under the pointer, X, Y and Z look along the axes";
            button(ui, out, "frame", "Frame", tip, ready, Command::FrameAll);
            if !is_tight {
                palette(ui, out);
            }
            if !is_narrow {
                button(ui, out, "help", "?", "Mouse and keys (F1)", true, Command::ToggleHelp);
            }
        });
    });
    if is_narrow {
        ui.horizontal(|ui| {
            ui.spacing_mut().button_padding.x = 6.0;
            tools(ui, input, out);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                button(ui, out, "help", "?", "Mouse and keys (F1)", true, Command::ToggleHelp);
                if is_tight {
                    palette(ui, out);
                }
            });
        });
    }
}

fn palette(ui: &mut egui::Ui, out: &mut UiOutput) {
    let tip = "Find every command by name (Ctrl+P)";
    button(ui, out, "palette", "Commands", tip, true, Command::TogglePalette);
}

/// The buttons that choose the tool.
fn tools(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let of_impact = "A click pins a blow to tune, Enter breaks (I); Ctrl+click does so with any tool";
    let of_brush =
        "A drag on the object paints smaller pieces, no cracks, weaker bonds or anchors; Shift erases (P)";
    let of_select = "A click selects a piece, Shift+click adds it or takes it out, a drag beside the object selects what lies in a \
                     rectangle (S); Pieces on the right lists them";
    let of_move =
        "A click chooses an object or a piece; its arrows move it, its rings turn it, its cube sizes it (M)";
    let tools = [
        (Tool::Hammer, "hammer", "Hammer", "A click breaks; hovering shows where (H)"),
        (Tool::Impact, "impact", "Impact", of_impact),
        (Tool::Keep, "keep", "Keep", "A click on a cell of the pinned blow lets it stay with the body (K)"),
        (Tool::Brush, "brush", "Brush", of_brush),
        (Tool::Hand, "hand", "Hand", "Drag a body about by a spring, while time runs (G)"),
        (Tool::Throw, "throw", "Throw", "A click throws a ball or a box from the eye (T)"),
        (Tool::Select, "select", "Select", of_select),
        (Tool::Move, "move", "Move", of_move),
        (Tool::Probe, "probe", "Probe", "A click says everything about a voxel (V)"),
    ];
    ui.spacing_mut().item_spacing.x = ui.spacing().item_spacing.x.min(3.0);
    for (tool, name, text, tip) in tools {
        let button = egui::Button::selectable(input.tool == tool, text).frame_when_inactive(true);
        let response = ui.add(button).on_hover_text(tip);
        out.on_click(name, &response, || Command::Tool(tool));
    }
}

fn button(
    ui: &mut egui::Ui,
    out: &mut UiOutput,
    name: &'static str,
    text: &str,
    tip: &str,
    enabled: bool,
    command: Command,
) {
    let response =
        ui.add_enabled(enabled, egui::Button::new(text)).on_hover_text(tip).on_disabled_hover_text(tip);
    out.on_click(name, &response, || command);
}
