//! What the scene on the screen makes way for, and the question that is asked before something could be lost: as data.

use std::path::PathBuf;

use super::dialogs::Purpose;
use crate::{scene::DocumentId, ui::Question};

/// What the scene on the screen is to make way for.
#[derive(Clone, Debug, PartialEq)]
pub enum Going {
    /// Another mesh or scene; meshes are imported at this leaf level.
    Open(PathBuf, u32),
    /// The end of the program.
    Close,
}

/// What an answer does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing.
    Leave,
    /// Writes the scene to a file, whatever the file holds.
    Write(PathBuf, Purpose),
    /// Asks for another file.
    AskPlace(Purpose),
    /// Saves the scene and then lets it go.
    SaveFirst(Going),
    /// Lets the scene go unsaved.
    Discard(Going),
    /// Opens a scene with the files that it names outside its folder.
    OpenWithOutside(PathBuf, u32, Leave),
    /// Closes when exports and pictures are written.
    CloseWhenDone,
    /// Stops the export and closes.
    StopAndClose,
}

/// An open question.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As the window shows it.
    pub question: Question,
    /// What each answer does.
    pub effects: Vec<Effect>,
    /// The document that it is about.
    pub about: Option<DocumentId>,
}

/// What the user has allowed for opening something.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leave {
    /// Changes of the present scene that cannot be kept may be lost.
    pub discards: bool,
    /// The scene may name files outside its folder.
    pub outside: bool,
}
