//! Every command that a panel, a key or the mouse can issue.

use std::path::PathBuf;

use super::Keymap;
use crate::{
    bodies::BodyId,
    compute::Choice,
    fracture::Paint,
    mesh::{Objects, Units, Up},
    render::{Axis, Camera},
    scene::{Chart, ExportOrder, MaterialPreset, PieceEdit, Pose, Tuning, Way, variants::SheetOrder},
};

/// The tool that a click in the picture uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Breaks the body at once.
    #[default]
    Hammer,
    /// Pins an impact that can be tuned before it breaks the body.
    Impact,
    /// Chooses which cells of the pinned impact stay with the body.
    Keep,
    /// Paints dabs on the surface that change where and how easily it cracks.
    Brush,
    /// Drags a body.
    Hand,
    /// Throws a body from the camera.
    Throw,
    /// Selects pieces.
    Select,
    /// Moves and turns objects and pieces, and sizes whole objects.
    Move,
    /// Says everything about a voxel.
    Probe,
}

/// A side panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Objects and fractures.
    Left,
    /// Pictures and physics.
    Right,
}

/// One user command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Open a mesh, a scene or a built-in shape.
    Open(PathBuf),
    /// Ask for a file to open.
    OpenDialog,
    /// Ask for a closed mesh to cut by.
    CutterDialog,
    /// Put a picture of all directions behind the scene.
    Backdrop(PathBuf),
    /// Save the scene over its file; ask for a path if it has none.
    SaveDialog,
    /// Ask where to save the scene.
    SaveAsDialog,
    /// The answer to the path prompt; `None` if it was cancelled.
    AnswerPrompt(Option<PathBuf>),
    /// The answer of this number to the open question.
    AnswerQuestion(usize),
    /// Ask where to save the scene in its present state, broken pieces included.
    SaveStandingDialog,
    /// Reopen a session that an earlier window left unsaved; 0 is the newest.
    Reopen(usize),
    /// Write a picture to a file.
    Picture,
    /// Ask where to save the picture as a figure file.
    SaveFigureDialog,
    /// Ask for a file and write a chart to it, as a table or a drawing by the ending of its name.
    SaveChart(Box<Chart>),
    /// Open or close the sheet of variants.
    ToggleSheet,
    /// The sheet varies something else.
    ChangeSheet(Box<SheetOrder>),
    /// Take the values of the tile of this number over into the panels.
    KeepVariant(usize),
    /// Ask for a file and write the sheet to it.
    SaveSheet,
    /// Size of written pictures, pixels; `None` uses the size in the window.
    PictureSize(Option<[u32; 2]>),
    /// Open or close the export panel.
    ToggleExport,
    /// The export panel's settings have changed.
    ChangeExport(Box<ExportOrder>),
    /// Ask for the folder to export to.
    ExportFolderDialog,
    /// Start the export that the panel describes.
    Export,
    /// Stop the export.
    CancelExport,
    /// Import the object in focus, or all open objects, again at another leaf level.
    SetLevel(u32),
    /// Ask for a file to add to the scene.
    AddDialog,
    /// Add a mesh or a built-in shape to the scene, beside what is there.
    Add(PathBuf),
    /// Add a copy of the object of this number.
    Duplicate(usize),
    /// Remove the object of this number with all its pieces.
    RemoveObject(usize),
    /// Name the object of this number; an empty name gives it its file's.
    NameObject(usize, String),
    /// Show the values of this object in the panels, and change only these; `None`: change those of all objects.
    Focus(Option<usize>),
    /// Set bodies where they should be, until the gesture ends.
    Place(Vec<Pose>),
    /// Move bodies up or down to the floor.
    PutOnFloor(Vec<BodyId>),
    /// Import an object of the scene again with another orientation or size.
    SetImport {
        /// Number of the object.
        object: usize,
        /// The axis of the file that points up.
        up: Up,
        /// Length of the object's longest side, m.
        size: f64,
    },
    /// Import the object of this number with its real length, where its file is in these units.
    TakeAs(usize, Units),
    /// Import the object of this number with this axis of its file pointing up.
    StandUp(usize, Up),
    /// Open this mesh file again, or add it again in place of its objects, with these parts of it as one object.
    TakeObjects(PathBuf, Objects),
    /// Stop the import.
    CancelImport,
    /// Undo the last change.
    Undo,
    /// Redo the change that was undone last.
    Redo,
    /// Start or stop simulated time.
    Play(bool),
    /// Take one simulation step.
    Step,
    /// Simulated seconds per real second.
    Speed(f64),
    /// Show a recorded state.
    ShowRecorded(usize),
    /// Start or stop playback of the recording, from the moment shown; nothing is simulated.
    Replay(bool),
    /// Whether playback starts over at the end of the recording.
    LoopReplay(bool),
    /// Show another take at the same simulated time.
    ShowTake(u32),
    /// Draw another take over the picture; `None` removes it.
    Compare(Option<u32>),
    /// Swap the take shown and the take it is compared with.
    SwapTakes,
    /// Choose the mouse and key bindings for the camera.
    Keymap(Keymap),
    /// Return to the first recorded moment.
    Reset,
    /// Change tuned values; consecutive changes with equal gestures are one undo step.
    Tune {
        /// Name of the widget that was used.
        gesture: &'static str,
        /// All tuned values after the change.
        tuning: Box<Tuning>,
    },
    /// Apply a material preset to every body.
    ApplyPreset(Box<MaterialPreset>),
    /// Save the panels' material settings as a preset of this name.
    SavePreset(String),
    /// The drag or key press has ended, so the next change starts a new undo step.
    EndGesture,
    /// Rotate the camera, radians.
    Orbit {
        /// About the vertical axis.
        yaw: f32,
        /// About the horizontal axis.
        pitch: f32,
    },
    /// Shift the camera, as fractions of the picture's width and height.
    Pan {
        /// To the right.
        x: f32,
        /// Downwards.
        y: f32,
    },
    /// Look through this camera.
    SetCamera(Camera),
    /// Multiply the camera's distance by this factor.
    Zoom(f32),
    /// The pointer's position in the picture (0..1); `None` outside it.
    Hover(Option<[f32; 2]>),
    /// Strike with the hammer at this position in the picture (0..1).
    Hit([f32; 2]),
    /// Choose the tool that a click uses; the hammer removes a pinned impact.
    Tool(Tool),
    /// Toggle whether the cell at this position in the picture (0..1) stays with the body. Pins an impact first if
    /// there is none.
    ToggleKept([f32; 2]),
    /// Paint a dab at this position in the picture (0..1), or take dabs away there.
    Dab {
        /// Position in the picture (0..1).
        at: [f32; 2],
        /// Take dabs away instead.
        erases: bool,
    },
    /// Paint dense or weak dabs where the stress on display is greatest.
    PaintByStress(Paint),
    /// Make the cells of the pinned impact stay where the stress on display pulls little.
    BreakWhereItPulls,
    /// Take all dabs of the brush away.
    EraseAll,
    /// Clear the selection of cells that stay, so that every cell of the pinned impact breaks off.
    KeepNone,
    /// Invert the selection of cells that stay with the body at the pinned impact.
    InvertKept,
    /// Pin an impact at this position in the picture (0..1).
    Pin([f32; 2]),
    /// Move the pinned impact to this position (0..1) on its body.
    MovePin([f32; 2]),
    /// Break the body at the pinned impact.
    BreakPin,
    /// Crack the body at the pinned impact, so that bonds hold its pieces.
    CrackPin,
    /// Remove the pinned impact.
    Unpin,
    /// Grab the body at this position in the picture (0..1).
    Grab([f32; 2]),
    /// Move the hand to this position (0..1).
    Drag([f32; 2]),
    /// Release the grabbed body.
    Release,
    /// Throw a body through this position in the picture (0..1).
    Throw([f32; 2]),
    /// Probe the voxel at this position in the picture (0..1); forgets the last one if there is none.
    ProbeAt([f32; 2]),
    /// Select the piece at this position in the picture (0..1); clears the selection if there is none.
    SelectAt {
        /// Position in the picture (0..1).
        at: [f32; 2],
        /// Toggle the piece in the selection instead of replacing the selection.
        joins: bool,
    },
    /// Select the pieces whose centres appear in this rectangle of the picture.
    SelectIn {
        /// Left and top (0..1).
        low: [f32; 2],
        /// Right and bottom (0..1).
        high: [f32; 2],
        /// Add the pieces to the selection instead of replacing it.
        joins: bool,
    },
    /// Select these pieces and no others.
    Select(Vec<BodyId>),
    /// Select every piece that is not hidden.
    SelectAll,
    /// Apply an edit to the selected pieces.
    EditPieces(PieceEdit),
    /// Open the export panel for the selected pieces.
    ExportSelected,
    /// Frame the selection, or else the body under the pointer, or else everything.
    FrameSelection,
    /// Frame all bodies.
    FrameAll,
    /// Look along an axis from its positive (`true`) or negative end.
    LookFrom(Axis, bool),
    /// Choose where the compute stages run.
    RunOn(Choice),
    /// Show views of these ways beside the document; an empty list shows none.
    ShowBeside(Vec<Way>),
    /// Keep the present settings of the fracture in a view beside the document.
    KeepBeside,
    /// Show a second method beside the document, or stop showing it.
    ToggleBeside,
    /// Remove a message.
    Dismiss(u64),
    /// Fold or unfold a panel.
    Fold(Side),
    /// Show the tour of the first start, or end it for good.
    Tour(bool),
    /// Give the picture the keyboard, to aim there by keys.
    AimByKeys,
    /// Open or close the list of mouse and key bindings.
    ToggleHelp,
    /// Open or close the command palette.
    TogglePalette,
}
