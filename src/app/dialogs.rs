//! File dialogs on worker threads, so that the window keeps drawing while one is open.

use std::{
    path::PathBuf,
    sync::{Mutex, Once, PoisonError},
    time::{Duration, Instant},
};

use crate::{scene::PICTURES, threads::Pending};

/// Endings of meshes.
const MESHES: &[&str] =
    &["obj", "ply", "stl", "off", "gltf", "glb", "fbx", "usd", "usda", "usdc", "usdz", "vox"];

/// What a dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A mesh or scene to open.
    Open,
    /// A mesh to add to the scene.
    Add,
    /// A closed mesh to cut by.
    Cutter,
    /// Where to save the scene.
    Save,
    /// Where to save the scene in its present state, broken pieces and positions included.
    SaveStanding,
    /// The folder to export to.
    ExportFolder,
    /// Where to write a chart.
    Chart,
    /// Where to write the sheet of variants.
    Sheet,
    /// Where to write a figure file of the picture.
    Figure,
}

/// An open dialog.
pub struct Dialog {
    /// What it is for.
    pub purpose: Purpose,
    started: Instant,
    /// What was chosen, and what was logged as an error meanwhile.
    closed: Pending<Option<(Option<PathBuf>, Option<String>)>>,
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
    /// The dialog failed, for this reason.
    Failed(String),
}

/// A person can hardly cancel a dialog faster than this, so a faster empty answer means that there was none on the screen.
const TOO_SOON: Duration = Duration::from_millis(400);

/// What rfd logged last as an error: its answers do not tell a dialog that failed from one that was cancelled.
static HEARD: Mutex<Option<String>> = Mutex::new(None);

/// Hears what rfd logs.
struct Ear;

impl log::Log for Ear {
    fn enabled(&self, about: &log::Metadata<'_>) -> bool {
        about.level() == log::Level::Error && about.target().starts_with("rfd")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            *HEARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A program that uses the library may have a logger of its own; then failing late looks like cancelling.
        if log::set_logger(&Ear).is_ok() {
            log::set_max_level(log::LevelFilter::Error);
        }
    });
}

impl Dialog {
    /// Opens a dialog; `name` is the proposed file name, without its ending.
    pub fn open(purpose: Purpose, name: &str) -> Self {
        let ending = match purpose {
            Purpose::Chart => "csv",
            Purpose::Sheet => "png",
            _ => "toml",
        };
        let name = format!("{name}.{ending}");
        listen();
        let closed = Pending::start(move || {
            *HEARD.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let dialog = rfd::FileDialog::new();
            let chosen = match purpose {
                Purpose::Open => dialog
                    .set_title("Open a mesh or a scene")
                    .add_filter("Meshes and scenes", &[MESHES, &["toml"]].concat())
                    .add_filter("Pictures of cracks", PICTURES)
                    .add_filter("Light behind the scene", &["hdr"])
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Purpose::Add => dialog
                    .set_title("Add a mesh to the scene")
                    .add_filter("Meshes", MESHES)
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Purpose::Cutter => dialog
                    .set_title("Choose a closed mesh to cut by")
                    .add_filter("Meshes", &["obj", "ply", "stl", "off", "gltf", "glb", "vox"])
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Purpose::Save | Purpose::SaveStanding => dialog
                    .set_title("Save the scene")
                    .add_filter("Scenes", &["toml"])
                    .set_file_name(name)
                    .save_file(),
                Purpose::Figure => dialog
                    .set_title("Save the picture as a figure file")
                    .add_filter("Figures", &["toml"])
                    .set_file_name(name)
                    .save_file(),
                Purpose::Chart => dialog
                    .set_title("Save the chart")
                    .add_filter("Table (.csv) or drawing (.svg)", &["csv", "svg"])
                    .set_file_name(name)
                    .save_file(),
                Purpose::Sheet => dialog
                    .set_title("Save the sheet")
                    .add_filter("Picture (.png)", &["png"])
                    .set_file_name(name)
                    .save_file(),
                Purpose::ExportFolder => dialog.set_title("Export into a folder").pick_folder(),
            };
            Some((chosen, HEARD.lock().unwrap_or_else(PoisonError::into_inner).take()))
        });
        Self { purpose, started: Instant::now(), closed }
    }

    /// Returns the answer once.
    pub fn poll(&self) -> Option<Answer> {
        Some(match self.closed.poll(|| None)? {
            Some((chosen, heard)) => answer_of(chosen, heard, self.started.elapsed()),
            None => Answer::Failed("it was not opened".into()),
        })
    }
}

/// The answer of a dialog that was open for `open`, and what was logged as an error meanwhile.
fn answer_of(chosen: Option<PathBuf>, heard: Option<String>, open: Duration) -> Answer {
    match (chosen, heard) {
        (Some(path), _) => Answer::Chosen(path),
        (None, Some(_)) if open < TOO_SOON => Answer::Missing,
        (None, Some(why)) => Answer::Failed(why),
        // Nobody has seen it, whatever it was; the next one may be seen. A quick Escape looks the same: a portal that cannot
        // show its dialog, and zenity without a display, answer without a word, too.
        (None, None) if open < TOO_SOON => Answer::Failed("it closed at once".into()),
        (None, None) => Answer::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_that_failed_is_told_from_one_that_was_cancelled() {
        let [soon, late] = [Duration::from_millis(50), Duration::from_secs(30)];
        let heard = || Some("Failed to pick file".to_owned());
        assert_eq!(answer_of(None, heard(), soon), Answer::Missing);
        assert_eq!(answer_of(None, heard(), late), Answer::Failed("Failed to pick file".into()));
        assert_eq!(answer_of(None, None, late), Answer::Cancelled);
        assert!(
            matches!(answer_of(None, None, soon), Answer::Failed(_)),
            "a quick Escape ends no dialogs for good"
        );
        assert_eq!(answer_of(Some("a".into()), heard(), late), Answer::Chosen("a".into()));
    }

    #[test]
    fn what_rfd_logs_is_heard_and_what_others_log_is_not() {
        let say = |target: &str| {
            use log::Log as _;
            let text = format_args!("said by {target}");
            Ear.log(&log::Record::builder().level(log::Level::Error).target(target).args(text).build());
        };
        say("wgpu_core");
        assert_eq!(*HEARD.lock().unwrap(), None);
        say("rfd::backend::xdg_desktop_portal");
        assert_eq!(HEARD.lock().unwrap().take().unwrap(), "said by rfd::backend::xdg_desktop_portal");
    }
}
