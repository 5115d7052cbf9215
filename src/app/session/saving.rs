//! Saving: scenes that the user saves, and autosaves.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{Session, is_scene};
use crate::{
    app::{
        autosaves::{Autosaves, Earlier},
        dialogs::{Answer, Dialog, Purpose},
    },
    scene::{save_scene, shipped_scenes, state_folder},
    ui::{NoticeKind, PathPrompt, PathPurpose},
};

/// Interval of autosaves.
const AUTOSAVE_EVERY: Duration = Duration::from_secs(10);

/// Unsaved changes, and the dialog for a file.
pub(super) struct Saving {
    dialog: Option<Dialog>,
    /// The file that the scene was last saved to or opened from.
    file: Option<PathBuf>,
    /// On desktops without dialogs: the window's own prompt for a path.
    prompt: Option<PathPrompt>,
    /// Whether the desktop turned out to have no dialogs.
    has_no_dialogs: bool,
    files: Autosaves,
    autosaved: Instant,
    unsaved: bool,
    /// Whether the last autosave failed, so that the message appears only once.
    failed: bool,
    /// Whether the user asked to close the window although nothing could be saved.
    asked_to_close: bool,
}

impl Default for Saving {
    fn default() -> Self {
        let files = Autosaves::new(state_folder());
        Self {
            dialog: None,
            file: None,
            prompt: None,
            has_no_dialogs: false,
            files,
            autosaved: Instant::now(),
            unsaved: false,
            failed: false,
            asked_to_close: false,
        }
    }
}

impl Saving {
    /// Notes that the scene has changed.
    pub fn changed(&mut self) {
        (self.unsaved, self.asked_to_close) = (true, false);
    }

    /// Whether a dialog is open.
    pub fn is_asking(&self) -> bool {
        self.dialog.is_some()
    }

    /// Purpose of the open dialog.
    pub fn asks_for(&self) -> Option<Purpose> {
        self.dialog.as_ref().map(|dialog| dialog.purpose)
    }

    /// Takes the answer of the dialog, which is then closed.
    pub fn poll_dialog(&mut self) -> Option<(Purpose, Answer)> {
        let dialog = self.dialog.as_ref()?;
        let answered = (dialog.purpose, dialog.poll()?);
        self.dialog = None;
        Some(answered)
    }

    /// Sessions that earlier windows left unsaved, the newest first.
    pub fn earlier(&self) -> &[Earlier] {
        self.files.earlier()
    }

    /// When the next autosave is due.
    pub fn next_autosave(&self) -> Option<Instant> {
        self.unsaved.then(|| self.autosaved + AUTOSAVE_EVERY)
    }
}

impl Session {
    /// Saves the scene to its file; asks for one if it has none.
    pub(super) fn save_over(&mut self) {
        match self.saving.file.clone() {
            Some(file) => self.save(&file, Purpose::Save),
            None => self.ask(Purpose::Save),
        }
    }

    /// Notes that another scene is open, and its file if the scene may be saved over it.
    pub(super) fn is_from(&mut self, file: &Path) {
        let is_own = |folder: PathBuf| file.starts_with(folder);
        let spare = is_own(state_folder()) || shipped_scenes().is_some_and(is_own);
        self.saving.file = (is_scene(file) && !spare).then(|| file.to_path_buf());
    }

    /// The window's own prompt for a path.
    pub fn path_prompt(&self) -> Option<&PathPrompt> {
        self.saving.prompt.as_ref()
    }

    /// Handles the answer of the path prompt. An existing file is overwritten if it is named a second time.
    pub(super) fn answer_prompt(&mut self, path: Option<PathBuf>) {
        let Some(prompt) = self.saving.prompt.take() else { return };
        let purpose = match prompt.asks {
            PathPurpose::Open => Purpose::Open,
            PathPurpose::Save => Purpose::Save,
            PathPurpose::SaveStanding => Purpose::SaveStanding,
        };
        let Some(path) = path else { return };
        if purpose == Purpose::Open {
            return self.answered(purpose, Answer::Chosen(path));
        }
        let path = if is_scene(&path) { path } else { appended(&path, ".toml") };
        if path.exists() && prompt.there.as_ref() != Some(&path) {
            let proposed = path.display().to_string();
            self.saving.prompt = Some(PathPrompt { there: Some(path), proposed, ..prompt });
        } else {
            self.answered(purpose, Answer::Chosen(path));
        }
    }

    /// Opens the window's own prompt for a path.
    fn prompt(&mut self, asks: PathPurpose) {
        let folder = std::env::current_dir().unwrap_or_default();
        let proposed = match asks {
            PathPurpose::Open => String::new(),
            PathPurpose::Save | PathPurpose::SaveStanding => {
                free_scene(&folder, &self.scene_name()).unwrap_or(folder).display().to_string()
            }
        };
        self.saving.prompt = Some(PathPrompt { asks, proposed, there: None });
    }

    pub(super) fn ask(&mut self, purpose: Purpose) {
        if self.saving.has_no_dialogs && purpose != Purpose::ExportFolder {
            return self.answered(purpose, Answer::Missing);
        }
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
            (_, Answer::Missing) => {
                self.saving.has_no_dialogs = true;
                self.prompt(match purpose {
                    Purpose::Save => PathPurpose::Save,
                    Purpose::SaveStanding => PathPurpose::SaveStanding,
                    Purpose::Open | Purpose::ExportFolder => PathPurpose::Open,
                });
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
        // The extension marks a file as a scene when it is opened.
        let path = &if is_scene(path) { path.to_path_buf() } else { appended(path, ".toml") };
        let (scene, stands) = match purpose {
            Purpose::SaveStanding => (sandbox.as_it_stands(self.camera), false),
            _ => sandbox.scene_to_keep(self.camera),
        };
        match save_scene(path, &scene) {
            Ok(()) => {
                self.saving.unsaved = false;
                if purpose == Purpose::Save {
                    self.saving.file = Some(path.clone());
                }
                // Otherwise the next window would offer the session as unsaved.
                self.saving.files.forget_own();
                // A scene saved from its beginning could not contain them.
                let how = if stands { " as it stands, with what was edited or moved by hand" } else { "" };
                self.say(NoticeKind::Remark, format!("Saved {}{how}", path.display()));
            }
            Err(error) => self.say(NoticeKind::Error, error.to_string()),
        }
    }

    /// Autosaves changes if it is due or `now`. Returns whether no changes are unsaved.
    pub fn autosave(&mut self, now: bool) -> bool {
        let wanted = self.saving.unsaved && (now || self.saving.autosaved.elapsed() > AUTOSAVE_EVERY);
        let Some(sandbox) = self.sandbox.as_ref().filter(|s| !s.objects().is_empty() && wanted) else {
            return true;
        };
        self.saving.autosaved = Instant::now();
        match self.saving.files.save(&sandbox.scene_to_keep(self.camera).0) {
            Ok(()) => {
                (self.saving.unsaved, self.saving.failed) = (false, false);
                true
            }
            Err(error) => {
                if !std::mem::replace(&mut self.saving.failed, true) {
                    let text =
                        format!("the scene could not be saved by itself: {error}; save it with Ctrl+S");
                    self.say(NoticeKind::Error, text);
                }
                false
            }
        }
    }

    /// Called before another scene is opened; unsaved changes can be reopened.
    pub(super) fn leave_scene(&mut self) {
        self.autosave(true);
        self.saving.files.begin_anew();
    }

    /// Whether the window may close. If unsaved changes cannot be autosaved it may not, unless the user asks again.
    pub fn may_close(&mut self) -> bool {
        if self.autosave(true) || std::mem::replace(&mut self.saving.asked_to_close, true) {
            return true;
        }
        let text = "the scene has unsaved changes that could not be autosaved: save it with Ctrl+S, or close again \
                    to discard them";
        self.say(NoticeKind::Error, text);
        false
    }

    /// Autosaves the open scene, changed or not.
    pub fn save_now(&mut self) {
        self.saving.changed();
        self.autosave(true);
    }

    /// Shows a message if an earlier window left an unsaved session.
    pub fn tell_of_earlier(&mut self) {
        if self.saving.files.has_news() {
            let text =
                "The last session had unsaved changes; Ctrl+P, \"Reopen the last session\" brings them back";
            self.say(NoticeKind::Remark, text);
        }
    }

    pub(super) fn reopen(&mut self, earlier: usize) {
        let path = self.saving.earlier().get(earlier).map(|earlier| earlier.path.clone());
        match path.filter(|path| path.exists()) {
            Some(path) => self.open(&path, self.level()),
            None => {
                self.say(
                    NoticeKind::Error,
                    "no earlier session is kept; unsaved changes are kept from now on",
                );
            }
        }
    }

    /// Ages of the earlier sessions for the palette, the newest first.
    pub fn earlier_sessions(&self) -> Vec<String> {
        let ago = |earlier: &Earlier| {
            let minutes = earlier.when.elapsed().unwrap_or_default().as_secs() / 60;
            match minutes {
                0..120 => format!("{minutes} min ago"),
                120..2880 => format!("{} h ago", minutes / 60),
                _ => format!("{} days ago", minutes / 1440),
            }
        };
        self.saving.earlier().iter().map(ago).collect()
    }
}

/// The first unused one of `name.toml`, `name-2.toml` and so on in a folder.
fn free_scene(folder: &Path, name: &str) -> Option<PathBuf> {
    let numbered = (2..10_000).map(|i| folder.join(format!("{name}-{i}.toml")));
    std::iter::once(folder.join(format!("{name}.toml"))).chain(numbered).find(|p| !p.exists())
}

/// A path with text appended to its file name.
fn appended(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::session::testing::session, scene::load_scene, ui::Command};

    #[cfg(not(feature = "papers"))]
    #[test]
    fn without_the_papers_a_window_says_what_a_scene_misses_and_keeps_the_open_one() {
        let mut session = session();
        let scene = |session: &Session| session.sandbox.as_ref().unwrap().objects()[0].scene.clone();
        let before = scene(&session);
        for name in ["batches", "bricks", "methods", "moneybox", "plates", "pointer"] {
            let file = shipped_scenes().unwrap().join(name).with_extension("toml");
            let text = std::fs::read(&file).unwrap();
            session.apply(Command::Open(file.clone()));
            let told: Vec<String> = session.errors().into_iter().map(str::to_owned).collect();
            let message = told.last().unwrap();
            assert!(message.contains(name) && message.contains("kintsugi-papers"), "{message}");
            assert!(message.contains("cargo build") && message.lines().count() == 1, "{message}");
            assert_eq!(scene(&session), before, "the open scene stays");
            assert!(session.sandbox.as_ref().unwrap().opening().is_none(), "nothing is being imported");
            assert_eq!(std::fs::read(&file).unwrap(), text, "the file stays as it is");
        }
        session.apply(Command::Open("builtin:sphere".into()));
        assert!(session.sandbox.as_ref().unwrap().opening().is_some(), "what needs no papers opens");
    }

    #[test]
    fn a_scene_is_saved_over_its_file_and_others_only_when_named_twice() {
        let folder = std::env::temp_dir().join(format!("kintsugi-saving-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut session = session();
        session.saving.has_no_dialogs = true;
        session.apply(Command::SaveDialog);
        assert_eq!(session.path_prompt().map(|prompt| prompt.asks), Some(PathPurpose::Save));
        session.apply(Command::AnswerPrompt(Some(folder.join("mine"))));
        let mine = folder.join("mine.toml");
        assert!(session.path_prompt().is_none() && mine.is_file(), "{:?}", session.errors());

        let friction = |path: &Path| load_scene(path).unwrap().bodies[0].friction;
        let tune = |session: &mut Session, friction: f64| {
            let sandbox = session.sandbox.as_mut().unwrap();
            let tuning = crate::scene::Tuning { friction, ..sandbox.tuning().clone() };
            sandbox.tune("friction", tuning);
        };
        tune(&mut session, 0.25);
        session.apply(Command::SaveDialog);
        assert!(session.path_prompt().is_none(), "it has a file");
        assert_eq!(friction(&mine), 0.25);

        let other = folder.join("other.toml");
        std::fs::write(&other, "keep me").unwrap();
        tune(&mut session, 0.75);
        session.apply(Command::SaveAsDialog);
        session.apply(Command::AnswerPrompt(Some(other.clone())));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "keep me");
        assert_eq!(session.path_prompt().and_then(|prompt| prompt.there.clone()), Some(other.clone()));
        session.apply(Command::AnswerPrompt(Some(other.clone())));
        assert_eq!((friction(&other), friction(&mine)), (0.75, 0.25));

        // Another object is not saved over the scene; neither is a shipped scene overwritten.
        session.is_from(Path::new("builtin:box"));
        assert_eq!(session.saving.file, None);
        session.is_from(&shipped_scenes().unwrap().join("vase.toml"));
        assert_eq!(session.saving.file, None);
        session.is_from(&mine);
        assert_eq!(session.saving.file, Some(mine));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn without_dialogs_a_path_is_asked_for_at_once() {
        let mut session = session();
        session.answered(Purpose::Open, Answer::Missing);
        assert_eq!(session.path_prompt().map(|prompt| prompt.asks), Some(PathPurpose::Open));
        session.apply(Command::AnswerPrompt(None));
        session.apply(Command::OpenDialog);
        assert!(!session.saving.is_asking() && session.path_prompt().is_some());
        session.apply(Command::AnswerPrompt(Some("builtin:sphere".into())));
        assert!(session.path_prompt().is_none() && session.errors().is_empty(), "{:?}", session.errors());
    }
}
