//! What is kept: scenes that the user saves, and what the window saves by itself.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::Session;
use crate::{
    app::dialogs::{Answer, Dialog, Purpose},
    scene::{autosave_path, earlier_path, save_scene},
    ui::NoticeKind,
};

/// How often an open scene is saved by itself.
const AUTOSAVE_EVERY: Duration = Duration::from_secs(30);

/// What is still to be saved, and the dialog that asks for a file.
pub(super) struct Saving {
    dialog: Option<Dialog>,
    autosaved: Instant,
    unsaved: bool,
    /// Whether the last attempt to save by itself failed, so that it is said once.
    failed: bool,
}

impl Default for Saving {
    fn default() -> Self {
        Self { dialog: None, autosaved: Instant::now(), unsaved: false, failed: false }
    }
}

impl Saving {
    /// The scene has changed.
    pub fn changed(&mut self) {
        self.unsaved = true;
    }

    /// Whether a dialog is open.
    pub fn is_asking(&self) -> bool {
        self.dialog.is_some()
    }

    /// What the open dialog asks for.
    pub fn asks_for(&self) -> Option<Purpose> {
        self.dialog.as_ref().map(|dialog| dialog.purpose)
    }

    /// The answer of the dialog, which is closed then.
    pub fn poll_dialog(&mut self) -> Option<(Purpose, Answer)> {
        let dialog = self.dialog.as_ref()?;
        let answered = (dialog.purpose, dialog.poll()?);
        self.dialog = None;
        Some(answered)
    }

    /// When to save by itself next.
    pub fn next_autosave(&self) -> Option<Instant> {
        self.unsaved.then(|| self.autosaved + AUTOSAVE_EVERY)
    }
}

impl Session {
    pub(super) fn ask(&mut self, purpose: Purpose) {
        if !self.saving.is_asking() {
            self.saving.dialog = Some(Dialog::open(purpose, &self.scene_name()));
        }
    }

    pub(super) fn answered(&mut self, purpose: Purpose, answer: Answer) {
        match (purpose, answer) {
            (Purpose::Open, Answer::Chosen(path)) => self.open(&path, self.level()),
            (Purpose::Save | Purpose::SaveStanding, Answer::Chosen(path)) => self.save(&path, purpose),
            (Purpose::ExportFolder, Answer::Chosen(path)) => self.chose_export_folder(&path),
            (_, Answer::Cancelled) => {}
            (Purpose::ExportFolder, Answer::Missing) => self.say(
                NoticeKind::Error,
                "this desktop offers no file dialog; type the folder's path in the export panel",
            ),
            (Purpose::Open, Answer::Missing) => self.say(
                NoticeKind::Error,
                "this desktop offers no file dialog; drop a file on the window or type its path under Object",
            ),
            (Purpose::Save | Purpose::SaveStanding, Answer::Missing) => {
                let name = self.scene_name();
                let folder = std::env::current_dir().unwrap_or_default();
                // Nobody was asked, so nothing that is there may go.
                match free_scene(&folder, &name) {
                    Some(path) => self.save(&path, purpose),
                    None => self.say(NoticeKind::Error, "no free file name for the scene in this folder"),
                }
            }
        }
    }

    pub(super) fn scene_name(&self) -> String {
        let name = self.sandbox.as_ref().and_then(|s| s.objects().first()).map(|o| o.name.clone());
        name.filter(|n| !n.is_empty()).unwrap_or_else(|| "scene".into())
    }

    fn save(&mut self, path: &Path, purpose: Purpose) {
        let Some(sandbox) = &self.sandbox else {
            return;
        };
        // By its name a scene is told from a mesh when it is opened.
        let named = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let path = &if named { path.to_path_buf() } else { appended(path, ".toml") };
        let scene = match purpose {
            Purpose::SaveStanding => sandbox.as_it_stands(self.camera),
            _ => sandbox.scene(self.camera),
        };
        match save_scene(path, &scene) {
            Ok(()) => {
                self.saving.unsaved = false;
                // Else the next window would say that nobody saved it. There may be none.
                let _ = std::fs::remove_file(autosave_path());
                self.say(NoticeKind::Remark, format!("Saved {}", path.display()));
            }
            Err(error) => self.say(NoticeKind::Error, error.to_string()),
        }
    }

    /// Saves what has changed to the autosave file, when it is time or `now`.
    pub fn autosave(&mut self, now: bool) {
        let wanted = self.saving.unsaved && (now || self.saving.autosaved.elapsed() > AUTOSAVE_EVERY);
        let Some(sandbox) = self.sandbox.as_ref().filter(|s| !s.objects().is_empty() && wanted) else {
            return;
        };
        self.saving.autosaved = Instant::now();
        let (path, scene) = (autosave_path(), sandbox.scene(self.camera));
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let written = std::fs::create_dir_all(folder)
            .map_err(|e| e.to_string())
            .and_then(|()| save_scene(&path, &scene).map_err(|e| e.to_string()));
        match written {
            Ok(()) => (self.saving.unsaved, self.saving.failed) = (false, false),
            Err(error) => {
                if !std::mem::replace(&mut self.saving.failed, true) {
                    let text =
                        format!("the scene could not be saved by itself: {error}; save it with Ctrl+S");
                    self.say(NoticeKind::Error, text);
                }
            }
        }
    }

    /// Saves what is open at once, whether or not it has changed.
    pub fn save_now(&mut self) {
        self.saving.changed();
        self.autosave(true);
    }

    /// Puts what an earlier window saved by itself where this one does not write, and says that it is there.
    pub fn set_earlier_aside(&mut self) {
        let (from, to) = (autosave_path(), earlier_path());
        // Without a file there is nothing to keep.
        if std::fs::rename(&from, &to).is_ok() {
            let text = "The last session had changes that nobody saved; Ctrl+P, \"Reopen the last session\" brings them back";
            self.say(NoticeKind::Remark, text);
        }
    }

    pub(super) fn reopen_earlier(&mut self) {
        let path = earlier_path();
        if path.exists() {
            self.open(&path, self.level());
        } else {
            self.say(NoticeKind::Error, "no earlier session is kept; what is not saved is kept from now on");
        }
    }
}

/// `name.toml`, or `name-2.toml` and so on: the first that is free in a folder.
fn free_scene(folder: &Path, name: &str) -> Option<PathBuf> {
    let numbered = (2..10_000).map(|i| folder.join(format!("{name}-{i}.toml")));
    std::iter::once(folder.join(format!("{name}.toml"))).chain(numbered).find(|p| !p.exists())
}

/// A path with something after its name.
fn appended(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(end);
    name.into()
}
