//! File dialogs on worker threads, so that the window keeps drawing while one is open.

use std::{
    path::PathBuf,
    sync::mpsc,
    time::{Duration, Instant},
};

/// What a dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A mesh or scene to open.
    Open,
    /// Where to save the scene.
    Save,
    /// Where to save it as it stands, broken, with everything where it lies.
    SaveStanding,
    /// The folder to export to.
    ExportFolder,
}

/// A dialog on its way.
pub struct Dialog {
    /// What it is for.
    pub purpose: Purpose,
    started: Instant,
    receiver: mpsc::Receiver<Option<PathBuf>>,
}

/// How a dialog ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This file.
    Chosen(PathBuf),
    /// The user thought better of it.
    Cancelled,
    /// No dialog appeared: the desktop offers none.
    Missing,
}

/// An answer "nothing" that comes sooner than this was not given by a person.
const TOO_SOON: Duration = Duration::from_millis(400);

impl Dialog {
    /// Opens one; `name` is the proposed file name.
    pub fn open(purpose: Purpose, name: &str) -> Self {
        let (sender, receiver) = mpsc::channel();
        let name = format!("{name}.toml");
        std::thread::spawn(move || {
            let dialog = rfd::FileDialog::new();
            let chosen = match purpose {
                Purpose::Open => dialog
                    .set_title("Open a mesh or a scene")
                    .add_filter(
                        "Meshes and scenes",
                        &["obj", "ply", "stl", "off", "gltf", "glb", "vox", "toml"],
                    )
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Purpose::Save | Purpose::SaveStanding => dialog
                    .set_title("Save the scene")
                    .add_filter("Scenes", &["toml"])
                    .set_file_name(name)
                    .save_file(),
                Purpose::ExportFolder => dialog.set_title("Export into a folder").pick_folder(),
            };
            // The receiver only disappears when the window has closed.
            let _ = sender.send(chosen);
        });
        Self { purpose, started: Instant::now(), receiver }
    }

    /// The answer, once.
    pub fn poll(&self) -> Option<Answer> {
        match self.receiver.try_recv() {
            Ok(Some(path)) => Some(Answer::Chosen(path)),
            Ok(None) if self.started.elapsed() < TOO_SOON => Some(Answer::Missing),
            Ok(None) => Some(Answer::Cancelled),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => Some(Answer::Missing),
        }
    }
}
