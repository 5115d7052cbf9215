//! Where the user saves scenes to, and what earlier windows have left.

mod naming;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{Session, is_scene};
use crate::{
    app::{
        autosaves::Earlier,
        crashes,
        dialogs::{Answer, Dialog, Purpose},
        keeper::Keeper,
        leaving::{Asked, Going},
        saver::Saver,
    },
    export::disk::put_listed,
    scene::{Chart, DocumentId, Sandbox, SceneFile, StateId, WindowFigure, shipped_scenes, state_folder},
    ui::{Command, KeptSession, NoticeKind, PathPrompt},
};

/// Width and height of a figure of a window that has drawn no picture yet, pixels.
const USUAL_SIZE: [u32; 2] = [1280, 720];

/// Whether all changes of the document on the screen are saved or kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// They are.
    Yes,
    /// They are due, or being written.
    NotYet,
    /// They could not be kept.
    Failed,
}

/// The dialog for a file, the open question, and autosaves. The file of a scene and whether it is saved belong to the
/// document, which undo brings back.
pub(super) struct Saving {
    dialog: Option<Dialog>,
    /// On desktops without dialogs: the window's own prompt for a path.
    prompt: Option<PathPrompt>,
    /// The chart that the dialog or the prompt is about.
    chart: Option<Box<Chart>>,
    /// Whether the desktop turned out to have no dialogs.
    has_no_dialogs: bool,
    /// The question that waits for an answer.
    pub asked: Option<Asked>,
    /// What happens when the scene is saved.
    pub after_saving: Option<Going>,
    /// What is being opened, and whether the present scene may be lost for it.
    coming: Option<(PathBuf, u32, bool)>,
    /// Whether the window is to close.
    pub closes: bool,
    /// Whether the window is to close when exports and pictures are written.
    pub closes_when_done: bool,
    /// What waits until the scene on the screen is kept.
    pub leaving: Option<Going>,
    /// Scenes that are being saved.
    pub writing: Saver,
    /// Keeps what is unsaved.
    pub files: Keeper,
    /// When the last autosave began.
    pub autosaved: Instant,
    /// The state of which the last autosave failed, and why.
    pub failed: Option<(StateId, String)>,
}

impl Default for Saving {
    fn default() -> Self {
        Self {
            dialog: None,
            prompt: None,
            chart: None,
            has_no_dialogs: false,
            asked: None,
            after_saving: None,
            coming: None,
            closes: false,
            closes_when_done: false,
            leaving: None,
            writing: Saver::default(),
            files: Keeper::new(state_folder()),
            autosaved: Instant::now(),
            failed: None,
        }
    }
}

impl Saving {
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

    /// Another folder of sessions.
    #[cfg(test)]
    pub fn keep_in(&mut self, files: Keeper) {
        self.files = files;
    }
}

/// Whether a file is kept as it is, unless the user names it: a shipped scene, or a session that was kept by itself.
fn is_spare(file: &Path) -> bool {
    let is_in = |folder: PathBuf| file.starts_with(folder);
    is_in(state_folder()) || shipped_scenes().is_some_and(is_in)
}

impl Session {
    pub(super) fn document_id(&self) -> Option<DocumentId> {
        self.sandbox.as_ref().map(Sandbox::document_id)
    }

    /// Whether what is open is a session that was kept by itself.
    pub(super) fn shows_kept_session(&self) -> bool {
        let file = self.sandbox.as_ref().and_then(Sandbox::file);
        file.is_some_and(|file| file.path().starts_with(self.saving.files.folder()))
    }

    /// The window's title: what is open, and whether it is unsaved.
    pub fn window_title(&self) -> String {
        let Some(sandbox) = self.sandbox.as_ref().filter(|sandbox| !sandbox.objects().is_empty()) else {
            return "Kintsugi".into();
        };
        let (file, is_kept) = (sandbox.file().map(SceneFile::path), self.shows_kept_session());
        let of_file = file.and_then(Path::file_name).filter(|_| !is_kept);
        let name = of_file.map_or_else(|| self.scene_name(), |name| name.to_string_lossy().into_owned());
        let state = match (sandbox.is_unsaved(), is_kept) {
            (true, _) => " (unsaved)",
            (false, true) => " (kept session)",
            (false, false) => "",
        };
        format!("Kintsugi – {name}{state}")
    }

    /// Saves the scene to its file; asks for one if it has none, or if its file is not what was read.
    pub(super) fn save_over(&mut self) {
        let Some(sandbox) = self.sandbox.as_ref().filter(|sandbox| !sandbox.objects().is_empty()) else {
            self.saving.after_saving = None;
            return self.say(NoticeKind::Error, "nothing was saved: nothing is open yet");
        };
        let in_part = sandbox.is_remade_in_part();
        let file = self.file_to_be().filter(|file| !is_spare(file));
        match file {
            Some(file) if in_part => {
                let text = "not all breaks of the scene could be made again, so its file is kept as it is: choose another name";
                self.say(NoticeKind::Error, format!("{}: {text}", file.display()));
                self.ask(Purpose::Save);
            }
            Some(file) => self.write(&file, Purpose::Save, true),
            None => self.ask(Purpose::Save),
        }
    }

    /// Asks where a chart is written. One dialog is open at a time.
    pub(super) fn save_chart(&mut self, chart: Box<Chart>) {
        if !self.saving.is_asking() {
            self.saving.chart = Some(chart);
            self.ask(Purpose::Chart);
        }
    }

    /// Has a worker write the chart to a file that the user has named. The dialog asked about that name and no other,
    /// so a file of the name with an added ending is never written over.
    fn write_chart(&mut self, path: PathBuf) {
        let Some(chart) = self.saving.chart.take() else { return };
        let ended = with_ending_of(&path, CHARTS);
        if self.is_taken(&path, &ended) {
            return;
        }
        self.picture_files.write(move || {
            let text = chart.text_for(&ended).unwrap_or_default();
            let note = put_listed(&ended, text.as_bytes()).map_err(|error| error.to_string())?;
            let note = note.map_or_else(String::new, |note| format!("; {note}"));
            Ok(format!("Chart: {}{note}", ended.display()))
        });
    }

    /// Whether a file stands under a name that the program gave an ending, of which the user was not asked; says so.
    pub(super) fn is_taken(&mut self, given: &Path, ended: &Path) -> bool {
        let taken = ended != given && ended.symlink_metadata().is_ok();
        if taken {
            let text = "nothing was saved: there is such a file already; choose another name";
            self.say(NoticeKind::Error, format!("{}: {text}", ended.display()));
        }
        taken
    }

    /// Has a worker write what the window shows as a figure file that the user has named.
    fn write_figure(&mut self, path: &Path) {
        let ended = with_ending(path);
        if self.is_taken(path, &ended) {
            return;
        }
        let Some(sandbox) = self.sandbox.as_ref().filter(|sandbox| !sandbox.objects().is_empty()) else {
            return self.say(NoticeKind::Error, "nothing was saved: nothing is open yet");
        };
        let size = self.picture_files.size.or_else(|| self.picture.place()).unwrap_or(USUAL_SIZE);
        let figure = WindowFigure::of(sandbox, self.camera, size);
        self.picture_files.write(move || figure.write(&ended));
    }

    fn figure_name(&self) -> String {
        format!("{}-figure", self.scene_name())
    }

    /// Says that a save did not take place; what was to follow it does not follow.
    pub(super) fn tell_nothing_saved(&mut self) {
        self.saving.after_saving = None;
        self.say(NoticeKind::Remark, "Nothing was saved");
    }

    pub(super) fn scene_name(&self) -> String {
        let name = self.sandbox.as_ref().and_then(|s| s.objects().first()).map(|o| o.name.clone());
        name.filter(|n| !n.is_empty()).unwrap_or_else(|| "scene".into())
    }

    /// Saves to a file that the user has named. The dialog asked about that name and no other, so where the ending is
    /// added here, a file of the longer name is asked about.
    fn save_as(&mut self, path: &Path, purpose: Purpose) {
        let ended = with_ending(path);
        if ended != path && ended.symlink_metadata().is_ok() {
            self.ask_about_ending(ended, purpose);
        } else {
            self.write(&ended, purpose, false);
        }
    }

    /// Notes what is being opened, and whether the present scene may be lost for it.
    pub(super) fn comes(&mut self, path: &Path, level: u32, discards: bool) {
        self.saving.coming = Some((path.to_owned(), level, discards));
    }

    /// Called just before an imported scene takes the present one's place, which may have changed since it was asked for.
    /// Whether it may do so now: it waits until the changes are kept. Where they cannot be kept, the import is given up
    /// and the user is asked.
    pub(super) fn may_open_now(&mut self) -> bool {
        if !self.sandbox.as_ref().is_some_and(Sandbox::is_about_to_open) {
            return true;
        }
        if self.saving.writing.is_worth_waiting() {
            return false;
        }
        let Some((path, level, false)) = self.saving.coming.clone() else { return true };
        match self.autosave(true) {
            Kept::Yes => return true,
            Kept::NotYet => return false,
            Kept::Failed => self.ask_about_loss(Going::Open(path, level)),
        }
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.cancel_open();
        }
        true
    }

    /// Called when another document may be on the screen: a session belongs to one document.
    pub(super) fn turn_to_document(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        if self.saving.files.turn_to(sandbox.document_id()) {
            let file = sandbox.file().map(|file| file.path().display().to_string());
            crashes::window_shows(file.unwrap_or_else(|| self.scene_name()));
        }
    }

    /// Has the worker look for what earlier windows have left, which [`Session::poll`] says.
    pub fn look_for_news(&self) {
        self.saving.files.look_for_news();
    }

    /// Says what earlier windows have left: unsaved changes, or the report of a crash.
    pub(super) fn tell_of_earlier(&mut self) {
        let Some(news) = self.saving.files.take_news() else { return };
        let nothing_left = self.saving.earlier().is_empty();
        let (kind, text) = match news.crash {
            Some(report) => {
                let left = if nothing_left { "nothing was unsaved" } else { "unsaved changes are kept" };
                let text = format!("Kintsugi ended unexpectedly; {} says where; {left}", report.display());
                (NoticeKind::Error, text)
            }
            None if news.session => (NoticeKind::Remark, "The last session had unsaved changes".to_owned()),
            None => return,
        };
        match nothing_left {
            true => self.say(kind, text),
            false => self.messages.offer(kind, text, "Reopen", Command::Reopen(0)),
        }
    }

    /// Says which workers have stopped by a panic, and keeps what is unsaved.
    pub fn tell_of_stopped(&mut self) {
        let stopped = crashes::stopped();
        if stopped.is_empty() {
            return;
        }
        for crashes::Stopped { what, report } in stopped {
            let report = report.map_or(String::new(), |report| format!("; {} tells more", report.display()));
            self.say(NoticeKind::Error, format!("a worker stopped unexpectedly: {what}{report}"));
        }
        self.saving.files.crashes_are_known();
        self.autosave(true);
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

    /// The earlier sessions for palette and scene list, the newest first.
    pub fn earlier_sessions(&self) -> Vec<KeptSession> {
        let ago = |earlier: &Earlier| {
            let minutes = earlier.when.elapsed().unwrap_or_default().as_secs() / 60;
            let age = match minutes {
                0..120 => format!("{minutes} min ago"),
                120..2880 => format!("{} h ago", minutes / 60),
                _ => format!("{} days ago", minutes / 1440),
            };
            let label = if earlier.name.is_empty() { age } else { format!("{}, {age}", earlier.name) };
            KeptSession { label, picture: earlier.picture.clone() }
        };
        self.saving.earlier().iter().map(ago).collect()
    }
}

/// Endings by which a chart is written, as a table or a drawing.
const CHARTS: &[&str] = &["csv", "svg"];

/// A path with one of these endings: the first one is added where the user named none of them.
pub(super) fn with_ending_of(path: &Path, endings: &[&str]) -> PathBuf {
    let is_known = |ending: &std::ffi::OsStr| endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    let first = endings.first().filter(|_| !path.extension().is_some_and(is_known));
    let mut name = path.as_os_str().to_os_string();
    first.into_iter().for_each(|first| name.push(format!(".{first}")));
    name.into()
}

/// A path whose ending marks the file as a scene when it is opened.
fn with_ending(path: &Path) -> PathBuf {
    if is_scene(path) {
        return path.to_path_buf();
    }
    let mut name = path.as_os_str().to_os_string();
    name.push(".toml");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::session::{
            files_tests::{save, written},
            testing::session,
        },
        scene::load_scene,
        ui::PathPurpose,
    };

    #[cfg(not(feature = "papers"))]
    fn wait(session: &mut Session) {
        while session.is_reading() {
            std::thread::sleep(std::time::Duration::from_millis(1));
            session.poll();
        }
    }

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
            wait(&mut session);
            let told: Vec<String> = session.errors().into_iter().map(str::to_owned).collect();
            let message = told.last().unwrap();
            assert!(message.contains(name) && message.contains("kintsugi-papers"), "{message}");
            assert!(message.contains("cargo build") && message.lines().count() == 1, "{message}");
            assert_eq!(scene(&session), before, "the open scene stays");
            assert!(session.sandbox.as_ref().unwrap().opening().is_none(), "nothing is being imported");
            assert_eq!(std::fs::read(&file).unwrap(), text, "the file stays as it is");
        }
        session.apply(Command::Open("builtin:sphere".into()));
        wait(&mut session);
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
        written(&mut session);
        let mine = folder.join("mine.toml");
        assert!(session.path_prompt().is_none() && mine.is_file(), "{:?}", session.errors());

        let friction = |path: &Path| load_scene(path).unwrap().bodies[0].friction;
        let tune = |session: &mut Session, friction: f64| {
            let sandbox = session.sandbox.as_mut().unwrap();
            let tuning = crate::scene::Tuning { friction, ..sandbox.tuning().clone() };
            sandbox.tune("friction", tuning);
        };
        tune(&mut session, 0.25);
        save(&mut session);
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
        written(&mut session);
        assert_eq!((friction(&other), friction(&mine)), (0.75, 0.25));

        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_chart_is_written_by_the_ending_and_over_nothing_of_the_users() {
        use crate::scene::{ChartAxis, ChartForm};
        let folder = std::env::temp_dir().join(format!("kintsugi-charts-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let (x, y) = (ChartAxis::new("Time", "s"), ChartAxis::new("Energy", "J"));
        let chart = Chart::new("Energy", x, y, ChartForm::Lines).at([0.0, 1.0]).with("kinetic", [2.0, 0.5]);
        let mut session = session();
        session.saving.has_no_dialogs = true;
        let save = |session: &mut Session, name: &str| {
            session.apply(Command::SaveChart(Box::new(chart.clone())));
            let proposed =
                session.path_prompt().map(|prompt| (prompt.asks, prompt.proposed.clone())).unwrap();
            assert!(proposed.0 == PathPurpose::Chart && proposed.1.ends_with("energy.csv"), "{proposed:?}");
            session.apply(Command::AnswerPrompt(Some(folder.join(name))));
        };
        let settle = |session: &mut Session| {
            while session.picture_files.is_busy() {
                session.picture_files.poll().into_iter().for_each(|told| drop(told.unwrap()));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        for (given, written, text) in
            [("a.csv", "a.csv", chart.csv()), ("b.SVG", "b.SVG", chart.svg()), ("c", "c.csv", chart.csv())]
        {
            save(&mut session, given);
            settle(&mut session);
            assert_eq!(read(written), text);
        }
        // A name is asked about once more, and a file that is no chart is kept beside the new one.
        std::fs::write(folder.join("mine.csv"), "keep me").unwrap();
        save(&mut session, "mine");
        assert_eq!(
            session.path_prompt().and_then(|prompt| prompt.there.clone()),
            Some(folder.join("mine.csv"))
        );
        assert_eq!(read("mine.csv"), "keep me");
        session.apply(Command::AnswerPrompt(Some(folder.join("mine.csv"))));
        settle(&mut session);
        assert_eq!([read("mine.csv"), read("mine.before.csv")], [chart.csv(), "keep me".to_owned()]);
        // A dialog has asked about the name without an ending alone.
        session.saving.chart = Some(Box::new(Chart { at: Vec::new(), ..chart.clone() }));
        session.answered(Purpose::Chart, Answer::Chosen(folder.join("a")));
        settle(&mut session);
        assert!(
            session.errors().last().unwrap().contains("a.csv: nothing was saved"),
            "{:?}",
            session.errors()
        );
        assert_eq!(read("a.csv"), chart.csv());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_figure_is_written_with_its_scene_and_over_nothing_of_the_users() {
        let folder = std::env::temp_dir().join(format!("kintsugi-figures-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("mine-scene.toml"), "keep me").unwrap();
        let mut session = session();
        session.saving.has_no_dialogs = true;
        session.apply(Command::SaveFigureDialog);
        let proposed = session.path_prompt().map(|prompt| (prompt.asks, prompt.proposed.clone())).unwrap();
        assert!(proposed.0 == PathPurpose::Figure && proposed.1.ends_with("box-figure.toml"), "{proposed:?}");
        session.apply(Command::AnswerPrompt(Some(folder.join("mine"))));
        let mut told = Vec::new();
        while session.picture_files.is_busy() {
            told.extend(session.picture_files.poll().into_iter().map(Result::unwrap));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(told.len() == 1 && told[0].contains("mine.toml, with mine-scene-2.toml"), "{told:?}");
        assert_eq!(std::fs::read_to_string(folder.join("mine-scene.toml")).unwrap(), "keep me");
        let figure = std::fs::read_to_string(folder.join("mine.toml")).unwrap();
        assert!(figure.contains("file = \"mine-scene-2.toml\""), "{figure}");
        assert_eq!(load_scene(&folder.join("mine-scene-2.toml")).unwrap().camera, Some(session.camera));
        // A dialog has asked about the name without an ending alone.
        session.answered(Purpose::Figure, Answer::Chosen(folder.join("mine")));
        assert!(!session.picture_files.is_busy());
        assert!(session.errors().last().unwrap().contains("mine.toml: nothing was saved"));
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
