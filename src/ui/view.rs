//! What the panels show, and what one frame of them produces: plain data that the session fills in and reads.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use super::{Command, Keymap, Tool};
use crate::{
    gpu::StageTiming,
    render::{Camera, Pixels},
    scene::{ExportOrder, Exported, MaterialPreset, Sandbox, Tuning, variants::SheetOrder},
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
    /// How far the picture is that is being written to a file, 0 to 1.
    pub picture_progress: Option<f32>,
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
    /// Whether to show the tour of the first start.
    pub tour: bool,
    /// Earlier sessions that can be reopened, the newest first.
    pub earlier_sessions: &'a [KeptSession],
    /// The export panel, while it is open.
    pub export: Option<ExportView<'a>>,
    /// The sheet of variants, while it is open.
    pub sheet: Option<SheetView<'a>>,
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

/// Unsaved changes that an earlier window, or another document of this one, left.
#[derive(Clone, Debug)]
pub struct KeptSession {
    /// Name and age.
    pub label: String,
    /// Its picture, if it has one.
    pub picture: Option<Arc<Pixels>>,
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
    pub(super) middle: Option<egui::Rect>,
}

impl UiOutput {
    pub(super) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub(super) fn name(&mut self, name: impl Into<Cow<'static, str>>, response: &egui::Response) {
        self.rects.push((name.into(), response.rect));
    }

    /// Names a widget, and pushes a command when it is clicked.
    pub(super) fn on_click(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        response: &egui::Response,
        command: impl FnOnce() -> Command,
    ) {
        self.name(name, response);
        if response.clicked() {
            self.push(command());
        }
    }
}

/// Pushes a changed tuning under the name of the widget that changed it.
pub(super) fn tune(out: &mut UiOutput, gesture: &'static str, tuning: Tuning) {
    out.push(Command::Tune { gesture, tuning: Box::new(tuning) });
}

/// The point under the pointer, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hover {
    /// The point that the hammer would strike, m.
    pub point: glam::Vec3,
    /// Longest side of the body at that point, m.
    pub longest_side: f32,
    /// Longest side of the whole object that the body is a piece of, m.
    pub object_size: f32,
}

/// State of the playback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayView {
    /// Whether playback is running.
    pub running: bool,
    /// Whether playback starts over at the end.
    pub looped: bool,
}

/// The take that is on the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakeView {
    /// Its number.
    pub number: u32,
    /// First and last recorded time, s.
    pub span: [f64; 2],
    /// Number of recorded states.
    pub states: usize,
}

/// What the export panel shows.
pub struct ExportView<'a> {
    /// The settings of the export.
    pub order: &'a ExportOrder,
    /// Number of pieces that would be written.
    pub pieces: usize,
    /// The take that is on the timeline; `None` if nothing was recorded.
    pub take: Option<TakeView>,
    /// Number of frames of the film.
    pub frames: usize,
    /// Whether the folder already holds files.
    pub taken: bool,
    /// Whether a folder dialog is open.
    pub choosing: bool,
    /// The running export: its label and the fraction done.
    pub job: Option<(&'a str, f32)>,
    /// The last finished export.
    pub last: Option<&'a Exported>,
}

/// What the sheet of variants shows.
pub struct SheetView<'a> {
    /// What it varies.
    pub order: &'a SheetOrder,
    /// Tiles next to each other.
    pub columns: usize,
    /// Tiles, row by row.
    pub tiles: &'a [SheetTile],
    /// The tile whose values the panels have.
    pub kept: Option<usize>,
    /// Leaf level at which tiles break, and that of the object.
    pub levels: Option<[u32; 2]>,
    /// Why there are no tiles.
    pub problem: Option<&'a str>,
    /// The command that draws the same sheet.
    pub command: Option<&'a str>,
}

/// A tile of the sheet of variants.
#[derive(Clone, Debug)]
pub struct SheetTile {
    /// Its values.
    pub label: String,
    /// Its picture and the number of its pieces, or why there are none; `None` until it is made.
    pub made: Option<Result<(Arc<Pixels>, usize), String>>,
}

/// What the path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPurpose {
    /// Open a file.
    Open,
    /// Add a mesh to the scene.
    Add,
    /// Choose a closed mesh to cut by.
    Cutter,
    /// Save the scene.
    Save,
    /// Save the scene in its present state.
    SaveStanding,
    /// Write a chart.
    Chart,
    /// Write the sheet of variants.
    Sheet,
    /// Write a figure file of the picture.
    Figure,
}

/// A prompt for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPrompt {
    /// What the path is for.
    pub asks: PathPurpose,
    /// Initial text of the field.
    pub proposed: String,
    /// The existing file that saving would overwrite.
    pub there: Option<PathBuf>,
}

/// A question with its answers; Escape is the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question in a few words.
    pub title: String,
    /// What is at stake, in a sentence or two.
    pub text: String,
    /// Labels of the answers: the one that loses nothing first, "Cancel" last.
    pub answers: Vec<String>,
}

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Stays until dismissed.
    Error,
    /// Disappears after [`Notice::REMARK_SECS`], unless it has a button.
    Remark,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Identifies the message when it is dismissed.
    pub id: u64,
    /// Severity.
    pub kind: NoticeKind,
    /// One or two lines of text.
    pub text: String,
    /// What buttons below the text do: the label and the command of each. Such a message stays until one of the commands is
    /// given; where there are several, a last button keeps everything as it is.
    pub actions: Vec<(String, Command)>,
    /// When the message appeared.
    pub since: std::time::Instant,
}

impl Notice {
    /// How long a remark is shown, s.
    pub const REMARK_SECS: f64 = 5.0;

    /// Whether the message stays until the user has done something about it.
    #[must_use]
    pub fn stays(&self) -> bool {
        self.kind == NoticeKind::Error || !self.actions.is_empty()
    }
}

/// A preset in the list.
#[derive(Clone, Debug)]
pub struct PresetView {
    /// The preset.
    pub preset: MaterialPreset,
    /// Its picture, once it has been drawn.
    pub picture: Option<Arc<Pixels>>,
    /// Whether the user saved it.
    pub is_own: bool,
}

/// The pinned impact, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinView {
    /// Position, m.
    pub point: glam::Vec3,
    /// Longest side of the struck body, m.
    pub longest_side: f32,
}

/// A spring between the hand and a body, in world space, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DragView {
    /// End of the spring on the body.
    pub point: glam::Vec3,
    /// End of the spring at the hand.
    pub target: glam::Vec3,
}
