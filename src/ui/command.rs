//! Everything that a panel, a key or the mouse can ask for.

use std::path::PathBuf;

use super::{Keymap, Side, Tool};
use crate::{
    bodies::BodyId,
    compute::Choice,
    mesh::Up,
    render::Axis,
    scene::{ExportOrder, MaterialPreset, PieceEdit, Tuning, Way},
};

/// One wish of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Open a mesh, a scene or a built-in shape.
    Open(PathBuf),
    /// Ask for a file to open.
    OpenDialog,
    /// Save the scene over its file, or ask where to where it has none.
    SaveDialog,
    /// Ask where to save the scene.
    SaveAsDialog,
    /// The path that the window itself asked for, or none.
    AnswerPrompt(Option<PathBuf>),
    /// Ask where to save the scene as it stands.
    SaveStandingDialog,
    /// Opens what an earlier window left unsaved; 0 is the newest.
    Reopen(usize),
    /// Write a picture.
    Picture,
    /// Pixels of pictures that are written; `None`: as the window has them.
    PictureSize(Option<[u32; 2]>),
    /// Open or close the export panel.
    ToggleExport,
    /// What the export panel asks for has changed.
    ChangeExport(Box<ExportOrder>),
    /// Ask for the folder to export to.
    ExportFolderDialog,
    /// Write what the export panel asks for.
    Export,
    /// Stop the export.
    CancelExport,
    /// Import the open object again at another leaf level.
    SetLevel(u32),
    /// Import the first open object again, turned and sized otherwise.
    SetImport {
        /// The axis of its file that points up.
        up: Up,
        /// Length of its longest side, m.
        size: f64,
    },
    /// Stop the import.
    CancelImport,
    /// Take back.
    Undo,
    /// Do again.
    Redo,
    /// Let time run or stop it.
    Play(bool),
    /// One step of time.
    Step,
    /// Simulated seconds in a real one.
    Speed(f64),
    /// Show a recorded state.
    ShowRecorded(usize),
    /// Play the recording from the moment that is shown, or stop it; nothing is simulated.
    Replay(bool),
    /// Whether the recording begins again at its end.
    LoopReplay(bool),
    /// Show another take at the same time.
    ShowTake(u32),
    /// Draw another take over the picture, or none.
    Compare(Option<u32>),
    /// Show the take that is compared with, and compare with the one that was shown.
    SwapTakes,
    /// Let mouse and keys move the eye so from now on.
    Keymap(Keymap),
    /// Back to the first moment.
    Reset,
    /// Changed values; equal gestures in a row are one undo step.
    Tune {
        /// Name of the widget.
        gesture: &'static str,
        /// All values after the change.
        tuning: Box<Tuning>,
    },
    /// Make everything of this material.
    ApplyPreset(Box<MaterialPreset>),
    /// Keep what the panels say of materials under a name.
    SavePreset(String),
    /// The gesture is over.
    EndGesture,
    /// Turn the eye, radians.
    Orbit {
        /// About the vertical.
        yaw: f32,
        /// Up and down.
        pitch: f32,
    },
    /// Drag the picture, as fractions of its width and height.
    Pan {
        /// To the right.
        x: f32,
        /// Down.
        y: f32,
    },
    /// Multiply the distance.
    Zoom(f32),
    /// The pointer is here in the picture (0..1), or left it.
    Hover(Option<[f32; 2]>),
    /// Use the hammer here in the picture (0..1).
    Hit([f32; 2]),
    /// Choose what a click does; the hammer takes a pinned impact away.
    Tool(Tool),
    /// Let the cell here in the picture (0..1) stay with the body, or break off again; pins an impact first
    /// where there is none.
    ToggleKept([f32; 2]),
    /// Let every cell of the pinned impact break off.
    KeepNone,
    /// Let the cells of the pinned impact stay that broke off, and the other way round.
    InvertKept,
    /// Pin an impact here in the picture (0..1).
    Pin([f32; 2]),
    /// Move the pinned impact here over its body (0..1).
    MovePin([f32; 2]),
    /// Let the pinned impact break.
    BreakPin,
    /// Remove the pinned impact.
    Unpin,
    /// Take hold of the body here in the picture (0..1).
    Grab([f32; 2]),
    /// The hand is here (0..1).
    Drag([f32; 2]),
    /// Let go.
    Release,
    /// Throw a body through this point of the picture (0..1).
    Throw([f32; 2]),
    /// Select the piece here in the picture (0..1), or none.
    SelectAt {
        /// Where.
        at: [f32; 2],
        /// It comes to what is selected, or goes, instead of taking its place.
        joins: bool,
    },
    /// Select the pieces whose middles are shown in this rectangle of the picture.
    SelectIn {
        /// Its left and top (0..1).
        low: [f32; 2],
        /// Its right and bottom.
        high: [f32; 2],
        /// They come to what is selected instead of taking its place.
        joins: bool,
    },
    /// Select these pieces and no others.
    Select(Vec<BodyId>),
    /// Select every piece that is not hidden.
    SelectAll,
    /// Do something with the selected pieces.
    EditPieces(PieceEdit),
    /// Open the export panel for the selected pieces.
    ExportSelected,
    /// Frame what is selected, else what is under the pointer, else everything.
    FrameSelection,
    /// Frame everything.
    FrameAll,
    /// Look along an axis from its positive end, or from the other one.
    LookFrom(Axis, bool),
    /// Run the stages there from now on.
    RunOn(Choice),
    /// Show these ways of breaking beside the document, or none.
    ShowBeside(Vec<Way>),
    /// Show another method beside the document, or none where there is one.
    ToggleBeside,
    /// Remove a message.
    Dismiss(u64),
    /// Fold or unfold a panel.
    Fold(Side),
    /// Open or close the list of mouse and keys.
    ToggleHelp,
    /// Open or close the list of commands.
    TogglePalette,
}
