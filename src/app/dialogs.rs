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
    /// Where to save the scene in its present state, broken pieces and positions included.
    SaveStanding,
    /// The folder to export to.
    ExportFolder,
}

/// An open dialog.
pub struct Dialog {
    /// What it is for.
    pub purpose: Purpose,
    started: Instant,
    receiver: mpsc::Receiver<Option<PathBuf>>,
}

/// Result of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This file.
    Chosen(PathBuf),
    /// The user cancelled.
    Cancelled,
    /// The desktop offers no dialogs.
    Missing,
}

/// A person cannot cancel a dialog faster than this, so a faster empty answer means that there was no dialog.
const TOO_SOON: Duration = Duration::from_millis(400);

impl Dialog {
    /// Opens a dialog; `name` is the proposed file name.
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
            // The channel is closed only when the window has closed.
            let _ = sender.send(chosen);
        });
        Self { purpose, started: Instant::now(), receiver }
    }

    /// Returns the answer once.
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
