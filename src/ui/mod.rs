//! The panels. They read the sandbox and push [`Command`]s; no panel touches the GPU or waits.
//!
//! In: [`UiInput`], a borrowed view of everything shown. Out: [`UiOutput`], the commands and the rectangles of named
//! widgets (published in the state file, so that a test can click them).

mod axes;
mod badge;
mod beside_panel;
mod bonds_panel;
mod brush_panel;
mod camera_panel;
mod chart_view;
mod closing;
mod command;
mod crack_panel;
mod crosshair;
mod export_panel;
mod folding;
mod fracture_panel;
mod handover_rows;
mod gizmo;
mod handle_drag;
mod help;
mod impact;
mod inside_panel;
mod kept_panel;
mod keymap;
mod legend;
mod light_panel;
mod method_panel;
mod notices;
mod object_list;
mod object_panel;
mod palette;
mod path_field;
mod path_prompt;
mod physics_panel;
mod pair_map;
mod pairs_panel;
mod pictures;
mod pieces_panel;
mod preset_panel;
mod probe_panel;
mod question;
mod rubber_band;
mod scale_rows;
mod scene_list;
mod sheet_panel;
mod shortcuts;
mod shot_rows;
mod size_histogram;
mod slice_handles;
mod slice_panel;
mod stages_panel;
mod takes_list;
mod status_bar;
#[cfg(test)]
mod brush_tests;
#[cfg(test)]
mod chart_tests;
#[cfg(test)]
mod closing_tests;
#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod pieces_tests;
#[cfg(test)]
mod stage_tests;
#[cfg(test)]
mod tests;
pub mod theme;
mod timeline;
mod toolbar;
mod tour;
mod turns;
mod view;
mod view_panel;
mod viewport;
mod walls_panel;
mod widgets;

pub use command::{Command, Side, Tool};
pub use keymap::Keymap;
pub use view::{
    DragView, ExportView, Hover, KeptSession, Notice, NoticeKind, PathPrompt, PathPurpose, PinView,
    PresetView, Question, ReplayView, SheetTile, SheetView, TakeView, UiInput, UiOutput,
};

use view::tune;

use crate::scene::Sandbox;

/// What the panels remember between frames.
#[derive(Default)]
pub struct UiState {
    /// Text of the path field.
    path: String,
    /// Text of the command palette while it is open.
    palette: Option<String>,
    /// Index of the chosen palette entry.
    palette_index: usize,
    /// Name typed for a preset.
    preset_name: String,
    objects: object_list::Typed,
    /// The step of the tour.
    tour: usize,
    preset_textures: pictures::Textures,
    sheet_textures: pictures::Textures,
    scenes: scene_list::SceneList,
    prompt: path_prompt::Typed,
    /// Whether the list of bindings is open.
    help: bool,
    /// The text field that has the keyboard.
    field: Option<egui::Id>,
    folded: folding::Folded,
    pair: pairs_panel::Chosen,
    pieces: pieces_panel::PiecesState,
}

/// Lays out the whole window.
pub fn show(ui: &mut egui::Ui, state: &mut UiState, input: &UiInput<'_>) -> UiOutput {
    let mut out = UiOutput::default();
    closing::by_escape(ui.ctx(), state, input, &mut out);
    if !palette::has_keyboard(ui.ctx(), state) && input.prompt.is_none() && input.question.is_none() {
        shortcuts::read(ui.ctx(), input, &mut out.commands);
    }
    egui::Panel::top("toolbar").frame(theme::bar_frame()).show(ui, |ui| toolbar::show(ui, input, &mut out));
    egui::Panel::bottom("status").frame(theme::bar_frame()).show(ui, |ui| status_bar::show(ui, input));
    egui::Panel::bottom("timeline")
        .frame(theme::bar_frame())
        .show(ui, |ui| timeline::show(ui, input, &mut out));
    let tuning = input.sandbox.map(Sandbox::tuning).cloned().unwrap_or_default();
    folding::panel(Side::Left, ui, (state, &mut out), |ui, state, out| {
        section(ui, "Object", true, |ui| object_panel::show(ui, state, input, out));
        section(ui, "Material", true, |ui| preset_panel::show(ui, state, input, out));
        section(ui, "Fracture", true, |ui| fracture_panel::show(ui, input, &tuning, out));
    });
    folding::panel(Side::Right, ui, (state, &mut out), |ui, state, out| {
        state.pieces.follow_tool(input.tool);
        let unfold = std::mem::take(&mut state.pieces.unfolds).then_some(true);
        let pieces = &mut state.pieces;
        section_unfolding(ui, "Pieces", (false, unfold), |ui| pieces_panel::show(ui, pieces, input, out));
        if probe_panel::is_wanted(input) {
            section(ui, "Probe", true, |ui| probe_panel::show(ui, input, out));
        }
        section(ui, "View", true, |ui| view_panel::show(ui, input, &tuning, out));
        let header = section(ui, "Slices", false, |ui| slice_panel::show(ui, input, &tuning, out));
        out.name("section_slices", &header);
        section(ui, "Camera", false, |ui| camera_panel::show(ui, input, &tuning, out));
        section(ui, "Light", false, |ui| light_panel::show(ui, &tuning, out));
        let header = section(ui, "Inside", false, |ui| inside_panel::show(ui, input, &tuning, out));
        out.name("section_inside", &header);
        section(ui, "Physics", true, |ui| physics_panel::show(ui, state, input, &tuning, out));
        section(ui, "Stages", true, |ui| stages_panel::show(ui, input, out));
    });
    egui::CentralPanel::no_frame().show(ui, |ui| viewport::show(ui, &mut state.tour, input, &mut out));
    sheet_panel::show(ui.ctx(), &mut state.sheet_textures, input, &mut out);
    export_panel::show(ui.ctx(), input, &mut out);
    notices::show(ui.ctx(), input, out.middle, &mut out.commands);
    palette::show(ui.ctx(), state, input.earlier_sessions, &mut out);
    help::show(ui.ctx(), state, input.keymap, &mut out);
    path_prompt::show(ui.ctx(), state, input, &mut out);
    question::show(ui.ctx(), input, &mut out);
    scene_list::show(ui.ctx(), state, input.earlier_sessions, &mut out);
    folding::follow(ui.ctx(), state, &mut out);
    if out.commands.contains(&Command::AimByKeys) {
        out.commands.retain(|command| *command != Command::AimByKeys);
        crosshair::take_keyboard(ui.ctx());
    }
    closing::remember_field(ui.ctx(), state);
    out
}

/// A section that can be folded away; the answer is that of its header.
fn section(
    ui: &mut egui::Ui,
    title: &str,
    open: bool,
    contents: impl FnOnce(&mut egui::Ui),
) -> egui::Response {
    section_unfolding(ui, title, (open, None), contents)
}

/// A section that `now` unfolds or folds in this frame, if it is given.
fn section_unfolding(
    ui: &mut egui::Ui,
    title: &str,
    (open, now): (bool, Option<bool>),
    contents: impl FnOnce(&mut egui::Ui),
) -> egui::Response {
    let section =
        egui::CollapsingHeader::new(egui::RichText::new(title).strong().size(14.5).color(theme::GOLD))
            .id_salt(title)
            .default_open(open)
            .open(now)
            .show_unindented(ui, |ui| {
                ui.add_space(2.0);
                contents(ui);
                ui.add_space(6.0);
            });
    if now == Some(true) {
        // The panel may have been scrolled past it.
        section.header_response.scroll_to_me(Some(egui::Align::TOP));
    }
    ui.separator();
    section.header_response
}
