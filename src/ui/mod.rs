//! The panels. They read the sandbox and push [`Command`]s; no panel touches the GPU or waits.
//!
//! In: [`UiInput`], a borrowed view of everything shown. Out: [`UiOutput`], the commands and the rectangles of named
//! widgets (published in the state file, so that a test can click them).

mod axes;
mod beside_panel;
mod command;
mod crack_panel;
mod export_panel;
mod folding;
mod fracture_panel;
mod handover_rows;
mod help;
mod impact;
mod inside_panel;
mod kept_panel;
mod keymap;
mod method_panel;
mod notices;
mod object_panel;
mod palette;
mod path_prompt;
mod physics_panel;
mod pairs_panel;
mod pictures;
mod pieces_panel;
mod preset_panel;
mod question;
mod rubber_band;
mod scene_list;
mod shortcuts;
mod size_histogram;
mod stages_panel;
mod takes_list;
mod status_bar;
#[cfg(test)]
mod pieces_tests;
#[cfg(test)]
mod tests;
pub mod theme;
mod timeline;
mod toolbar;
mod view_panel;
mod viewport;
mod walls_panel;
mod widgets;

pub use command::Command;
pub use export_panel::ExportView;
pub use folding::Side;
pub use impact::{DragView, PinView, Tool};
pub use keymap::Keymap;
pub use notices::{Notice, NoticeKind};
pub use path_prompt::{PathPrompt, PathPurpose};
pub use preset_panel::PresetView;
pub use question::Question;
pub use timeline::ReplayView;
pub use viewport::Hover;

use std::borrow::Cow;

use crate::{
    gpu::StageTiming,
    render::Camera,
    scene::{Sandbox, Tuning},
};

/// What the panels show.
pub struct UiInput<'a> {
    /// The engine, once it has started.
    pub sandbox: Option<&'a Sandbox>,
    /// The camera.
    pub camera: Camera,
    /// Whether simulated time is running.
    pub playing: bool,
    /// State of the playback.
    pub replay: ReplayView,
    /// Mouse and key bindings of the camera.
    pub keymap: Keymap,
    /// Simulated seconds per real second over the last frames.
    pub pace: f64,
    /// Whether a picture lies below the panels in the middle of the window.
    pub has_picture: bool,
    /// Size at which the picture's rays are cast, pixels.
    pub picture_size: [u32; 2],
    /// Size of written pictures, pixels; `None` uses the size in the window.
    pub written_size: Option<[u32; 2]>,
    /// Time per picture, ms.
    pub frame_ms: f64,
    /// GPU time per stage of the last picture.
    pub render_timings: &'a [StageTiming],
    /// Messages over the picture.
    pub notices: &'a [Notice],
    /// The point under the pointer.
    pub hover: Option<Hover>,
    /// The chosen tool.
    pub tool: Tool,
    /// The pinned impact.
    pub pin: Option<PinView>,
    /// Whether the cell under the pointer can be clicked to make it stay.
    pub over_cell: bool,
    /// The spring of the hand while it drags a body.
    pub drag: Option<DragView>,
    /// Simulated seconds per real second that the user chose.
    pub speed: f64,
    /// Message in the middle while nothing is open.
    pub starting: Option<&'a str>,
    /// Whether to show the beginner's hint.
    pub hint: bool,
    /// Ages of the earlier sessions that can be reopened, the newest first.
    pub earlier_sessions: &'a [String],
    /// The export panel, while it is open.
    pub export: Option<ExportView<'a>>,
    /// The prompt for a path, where the desktop has no file dialogs.
    pub prompt: Option<&'a PathPrompt>,
    /// The question that waits for an answer.
    pub question: Option<&'a Question>,
    /// Material presets to choose from.
    pub presets: &'a [PresetView],
    /// Name of the graphics adapter that shows the window.
    pub adapter: &'a str,
    /// Where the compute stages run.
    pub compute: crate::compute::Choice,
}

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
    preset_textures: pictures::Textures,
    scenes: scene_list::SceneList,
    prompt: path_prompt::Typed,
    /// Whether the list of bindings is open.
    help: bool,
    folded: folding::Folded,
    pair: pairs_panel::Chosen,
    pieces: pieces_panel::PiecesState,
}

/// What one frame of the panels produced.
#[derive(Default)]
pub struct UiOutput {
    /// Commands, in the order in which they were issued.
    pub commands: Vec<Command>,
    /// Name and rectangle of each named widget, points.
    pub rects: Vec<(Cow<'static, str>, egui::Rect)>,
    /// Rectangle of the document's view, points.
    pub viewport: Option<egui::Rect>,
    /// Rectangles of all views, the document's first, all of one size; points.
    pub views: Vec<egui::Rect>,
    /// Number of columns and rows of views.
    pub division: [u32; 2],
    /// The part of the window that all views share, below their captions; points.
    middle: Option<egui::Rect>,
}

impl UiOutput {
    fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    fn name(&mut self, name: impl Into<Cow<'static, str>>, response: &egui::Response) {
        self.rects.push((name.into(), response.rect));
    }
}

/// Lays out the whole window.
pub fn show(ui: &mut egui::Ui, state: &mut UiState, input: &UiInput<'_>) -> UiOutput {
    let mut out = UiOutput::default();
    help::close_by_escape(ui.ctx(), state);
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
        section(ui, "View", true, |ui| view_panel::show(ui, input, &tuning, out));
        section(ui, "Inside", false, |ui| inside_panel::show(ui, input, &tuning, out));
        section(ui, "Physics", true, |ui| physics_panel::show(ui, state, input, &tuning, out));
        section(ui, "Stages", true, |ui| stages_panel::show(ui, input, out));
    });
    egui::CentralPanel::no_frame().show(ui, |ui| viewport::show(ui, input, &mut out));
    export_panel::show(ui.ctx(), input, &mut out);
    notices::show(ui.ctx(), input, out.middle, &mut out.commands);
    palette::show(ui.ctx(), state, input.earlier_sessions, &mut out);
    help::show(ui.ctx(), state, input.keymap, &mut out);
    path_prompt::show(ui.ctx(), state, input, &mut out);
    question::show(ui.ctx(), input, &mut out);
    scene_list::show(ui.ctx(), state, &mut out);
    folding::follow(ui.ctx(), state, &mut out);
    out
}

fn section(ui: &mut egui::Ui, title: &str, open: bool, contents: impl FnOnce(&mut egui::Ui)) {
    section_unfolding(ui, title, (open, None), contents);
}

/// A section that `now` unfolds or folds in this frame, if it is given.
fn section_unfolding(
    ui: &mut egui::Ui,
    title: &str,
    (open, now): (bool, Option<bool>),
    contents: impl FnOnce(&mut egui::Ui),
) {
    egui::CollapsingHeader::new(egui::RichText::new(title).strong().size(14.5).color(theme::GOLD))
        .id_salt(title)
        .default_open(open)
        .open(now)
        .show_unindented(ui, |ui| {
            ui.add_space(2.0);
            contents(ui);
            ui.add_space(6.0);
        });
    ui.separator();
}

/// Pushes a changed tuning under the name of the widget that changed it.
fn tune(out: &mut UiOutput, gesture: &'static str, tuning: Tuning) {
    out.push(Command::Tune { gesture, tuning: Box::new(tuning) });
}
