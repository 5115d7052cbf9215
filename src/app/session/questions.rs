//! What is asked before something could be lost, and what the answers do.
//!
//! In: a scene that is to make way, a file that is to be written over. Out: the question for the window; nothing happens
//! until it is answered.

use std::path::{Path, PathBuf};

use super::{Session, saving::Kept};
use crate::{
    app::{
        dialogs::Purpose,
        leaving::{Asked, Effect, Going, Leave},
    },
    ui::{NoticeKind, Question},
};

impl Session {
    /// The question that waits for an answer.
    pub fn question(&self) -> Option<&Question> {
        self.saving.asked.as_ref().map(|asked| &asked.question)
    }

    fn put_question(&mut self, title: &str, text: String, answers: Vec<(&str, Effect)>) {
        let answers = answers.into_iter().chain([("Cancel", Effect::Leave)]);
        let (labels, effects) = answers.map(|(label, effect)| (label.to_owned(), effect)).unzip();
        let question = Question { title: title.to_owned(), text, answers: labels };
        self.saving.asked = Some(Asked { question, effects, about: self.document_id() });
    }

    /// Asks whether a file is written over that somebody else has changed.
    pub(super) fn ask_about_change(&mut self, path: &Path) {
        let text = format!(
            "{} is not any more what was opened or saved here last: another program or another window has written it. \
             Saving over it takes away what it holds now.",
            path.display()
        );
        let answers = vec![
            ("Save under another name …", Effect::AskPlace(Purpose::Save)),
            ("Save over it", Effect::Write(path.to_owned(), Purpose::Save)),
        ];
        self.put_question("The file has changed", text, answers);
    }

    /// Asks whether a file is written over that nobody has named: `.toml` was added to the name that was given.
    pub(super) fn ask_about_ending(&mut self, path: PathBuf, purpose: Purpose) {
        let text = format!("Scenes end in .toml, and {} is there already.", path.display());
        let answers = vec![
            ("Save under another name …", Effect::AskPlace(purpose)),
            ("Save over it", Effect::Write(path, purpose)),
        ];
        self.put_question("There is such a file", text, answers);
    }

    /// Asks whether a scene is opened that names files outside its folder.
    pub(super) fn ask_about_outside(&mut self, path: &Path, level: u32, leave: Leave, names: &str) {
        let text = format!(
            "{} names files outside its folder: {names}. A scene that somebody else has made could so have any of your \
             files read.",
            path.display()
        );
        let leave = Leave { outside: true, ..leave };
        let answers =
            vec![("Open it with these files", Effect::OpenWithOutside(path.to_owned(), level, leave))];
        self.put_question("Files elsewhere", text, answers);
    }

    /// Whether what is open may go: the one place that decides for closing, opening, dropping a file and reopening. Where
    /// something would be lost, a question is asked and the answer is no for now. While a worker keeps what is unsaved the
    /// answer is no, too; [`Session::go_on_leaving`] goes then.
    pub(super) fn may_go(&mut self, going: &Going) -> bool {
        self.saving.failed = None;
        self.saving.leaving = None;
        self.may_leave(going.clone())
    }

    fn may_leave(&mut self, going: Going) -> bool {
        if self.saving.writing.is_worth_waiting() {
            self.saving.leaving = Some(going);
            return false;
        }
        match self.autosave(true) {
            Kept::Yes => return going != Going::Close || self.nothing_is_being_written(),
            Kept::NotYet => self.saving.leaving = Some(going),
            Kept::Failed => self.ask_about_loss(going),
        }
        false
    }

    /// Does what waits until the changes are kept, once they are.
    pub(super) fn go_on_leaving(&mut self) {
        if let Some(going) = self.saving.leaving.take()
            && self.may_leave(going.clone())
        {
            self.go(going);
        }
    }

    /// Asks whether changes that cannot be kept may be lost.
    pub(super) fn ask_about_loss(&mut self, going: Going) {
        let what = match going {
            Going::Open(..) => "open the other",
            Going::Close => "close",
        };
        let why = self.saving.failed.as_ref().map_or("", |(_, why)| why);
        let text =
            format!("The scene has changes that are saved nowhere, and keeping them for later failed: {why}");
        let discard = format!("Discard them and {what}");
        let answers =
            vec![("Save …", Effect::SaveFirst(going.clone())), (discard.as_str(), Effect::Discard(going))];
        self.put_question("Unsaved changes", text, answers);
    }

    /// Whether neither an export nor a picture is being written; asks what to do otherwise.
    fn nothing_is_being_written(&mut self) -> bool {
        let (exports, pictures) = (self.exporting.job.is_some(), self.picture_files.is_busy());
        let what = match (exports, pictures) {
            (false, false) => return true,
            (true, false) => "An export is",
            (false, true) => "A picture is",
            (true, true) => "An export and a picture are",
        };
        let text = format!("{what} being written.");
        let mut answers = vec![("Close when it is done", Effect::CloseWhenDone)];
        if exports {
            answers.push(("Stop the export and close", Effect::StopAndClose));
        }
        self.put_question("Not yet written", text, answers);
        false
    }

    /// Does what is to be done once the scene may go.
    pub(super) fn go(&mut self, going: Going) {
        match going {
            Going::Open(path, level) => self.open(&path, level),
            Going::Close => self.saving.closes |= self.may_close(),
        }
    }

    /// Takes the answer of that number.
    pub(super) fn answer_question(&mut self, number: usize) {
        let Some(Asked { mut effects, about, .. }) = self.saving.asked.take() else { return };
        if number >= effects.len() {
            return;
        }
        let effect = effects.swap_remove(number);
        let is_same = about == self.document_id();
        match effect {
            Effect::Leave if effects.iter().any(|e| matches!(e, Effect::Write(..))) => {
                self.tell_nothing_saved()
            }
            Effect::Leave => {}
            Effect::Write(..) | Effect::AskPlace(_) if !is_same => {
                self.say(
                    NoticeKind::Error,
                    "nothing was saved: another scene is open by now; save it with Ctrl+S",
                );
            }
            Effect::Write(path, purpose) => self.write(&path, purpose, false),
            Effect::AskPlace(purpose) => self.ask(purpose),
            Effect::SaveFirst(going) => {
                self.saving.after_saving = Some(going);
                self.save_over();
            }
            Effect::Discard(going) if !is_same => self.go(going),
            Effect::Discard(Going::Open(path, level)) => {
                self.begin_open(&path, level, Leave { discards: true, ..Leave::default() })
            }
            Effect::Discard(Going::Close) => self.saving.closes |= self.nothing_is_being_written(),
            Effect::OpenWithOutside(path, level, leave) => self.begin_open(&path, level, leave),
            Effect::CloseWhenDone => self.saving.closes_when_done = true,
            Effect::StopAndClose => {
                self.cancel_export();
                self.saving.closes_when_done = true;
            }
        }
    }

    /// Whether the window may close now; asks where something would be lost.
    pub fn may_close(&mut self) -> bool {
        self.may_go(&Going::Close)
    }

    /// Whether the window is to close, because a question was answered so and nothing is being written any more.
    pub fn is_to_close(&mut self) -> bool {
        self.go_on_leaving();
        let is_writing = self.exporting.job.is_some() || self.picture_files.is_busy();
        if self.saving.closes_when_done && !is_writing {
            self.saving.closes_when_done = false;
            self.go(Going::Close);
        }
        self.saving.closes
    }
}
