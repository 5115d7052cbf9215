//! Writes scenes: those that the user saves, and autosaves. Workers do it; the session says how it ended.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{Session, saving::Kept};
use crate::{
    app::{
        dialogs::Purpose,
        saver::{Outcome, Save},
    },
    export::disk,
    scene::{SavedScene, StateId},
    ui::NoticeKind,
};

/// Interval of autosaves.
const AUTOSAVE_EVERY: Duration = Duration::from_secs(10);
/// A disk that needs longer for one autosave counts as one that cannot be written to.
const LONGEST_SAVE: Duration = Duration::from_secs(10);
/// How often the window looks whether an autosave is done.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long a running export may take to end when the program is asked to.
const LAST_OF_EXPORT: Duration = Duration::from_secs(1);

impl Session {
    /// The file that the document is saved to: its own, or the one that a save under way gives it.
    pub(super) fn file_to_be(&self) -> Option<PathBuf> {
        let to_be = self.document_id().and_then(|document| self.saving.writing.file_to_be(document));
        let own = || Some(self.sandbox.as_ref()?.file()?.path());
        to_be.or_else(own).map(Path::to_owned)
    }

    /// Has the scene written as it is now. `asks`: not over a file that somebody else has changed.
    pub(super) fn write(&mut self, path: &Path, purpose: Purpose, asks: bool) {
        let Some(sandbox) = &self.sandbox else {
            self.saving.after_saving = None;
            return self.say(NoticeKind::Error, "nothing was saved: nothing is open yet");
        };
        let (scene, stands) = match purpose {
            Purpose::SaveStanding => (sandbox.as_it_stands(self.camera), false),
            _ => sandbox.scene_to_keep(self.camera),
        };
        let of = (sandbox.document_id(), sandbox.state_id());
        let save = Save { of, path: path.to_owned(), purpose, stands, asks };
        self.saving.writing.waiting.push_back((save, scene));
        self.write_next();
    }

    fn write_next(&mut self) {
        let Some(sandbox) = self.sandbox.as_ref().filter(|_| !self.saving.writing.is_busy()) else { return };
        if let Some((save, scene)) = self.saving.writing.waiting.pop_front() {
            let held = sandbox.file_of(save.of.0).filter(|file| save.asks && file.path() == save.path);
            self.saving.writing.begin(save, scene, held.cloned());
        }
    }

    /// Takes in how a save ended, and has the next one carried out.
    pub(super) fn poll_writing(&mut self) {
        if let Some((save, outcome)) = self.saving.writing.poll() {
            if !matches!(outcome, Outcome::Written(_)) {
                // The window stays until the user has seen why nothing was saved.
                self.saving.leaving = None;
            }
            match outcome {
                Outcome::Written(saved) => self.has_written(save, saved),
                Outcome::Failed(why) => {
                    self.saving.after_saving = None;
                    self.say(NoticeKind::Error, why);
                }
                Outcome::Changed if self.document_id() == Some(save.of.0) => {
                    self.ask_about_change(&save.path)
                }
                Outcome::Changed => {
                    self.saving.after_saving = None;
                    let text = "was not saved: another program or another window has written it meanwhile";
                    self.say(NoticeKind::Error, format!("{} {text}", save.path.display()));
                }
            }
        }
        self.write_next();
    }

    fn has_written(&mut self, save: Save, saved: SavedScene) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let shown = save.path.display();
        // The scene as it stands is another one: the document, from its beginning, is not saved by it.
        let text = if save.purpose == Purpose::Save {
            sandbox.saved(save.of, saved.file);
            // A scene saved from its beginning could not contain them.
            let how = if save.stands { " as it stands, with what was edited or moved by hand" } else { "" };
            format!("Saved {shown}{how}")
        } else if sandbox.is_unsaved() {
            format!("Saved {shown} as it stands; the scene from its beginning is not saved yet")
        } else {
            format!("Saved {shown} as it stands")
        };
        self.say(NoticeKind::Remark, text);
        for remark in saved.remarks {
            self.say(NoticeKind::Remark, remark);
        }
        // Otherwise the next window would offer the session as unsaved.
        self.autosave(false);
        if let Some(going) = self.saving.after_saving.take() {
            self.go(going);
        }
    }

    /// Takes in how autosaves ended, and has a worker begin the next one if it is due or `now`. A state that could not be
    /// kept is tried again only when it is due.
    pub fn autosave(&mut self, now: bool) -> Kept {
        let saved = self.saving.files.poll();
        let Some(sandbox) = &self.sandbox else { return Kept::Yes };
        let (document, state) = (sandbox.document_id(), sandbox.state_id());
        match saved {
            Some(Ok(())) => self.saving.failed = None,
            Some(Err(why)) => self.tell_of_failed_autosave(state, why),
            None => {}
        }
        let Some(sandbox) = self.sandbox.as_ref().filter(|sandbox| sandbox.is_unsaved()) else {
            self.saving.failed = None;
            self.saving.files.forget(document);
            return Kept::Yes;
        };
        if self.saving.files.keeps(document, state) {
            return Kept::Yes;
        }
        if let Some(since) = self.saving.files.busy_since() {
            if since.elapsed() < LONGEST_SAVE {
                return Kept::NotYet;
            }
            let secs = LONGEST_SAVE.as_secs();
            self.tell_of_failed_autosave(state, format!("the disk has not answered for {secs} s"));
            return Kept::Failed;
        }
        let has_failed = self.saving.failed.as_ref().is_some_and(|(failed, _)| *failed == state);
        if self.saving.autosaved.elapsed() > AUTOSAVE_EVERY || (now && !has_failed) {
            self.saving.autosaved = Instant::now();
            self.saving.files.save((document, state), sandbox.scene_to_keep(self.camera).0);
            if let Some(subject) = self.subject(None) {
                self.saving.files.add_picture(document, move || subject.draw_small());
            }
            return Kept::NotYet;
        }
        if has_failed { Kept::Failed } else { Kept::NotYet }
    }

    /// Says so, once until an autosave succeeds.
    fn tell_of_failed_autosave(&mut self, state: StateId, why: String) {
        if self.saving.failed.is_none() {
            let text = format!("the scene could not be saved by itself: {why}; save it with Ctrl+S");
            self.say(NoticeKind::Error, text);
        }
        self.saving.failed = Some((state, why));
    }

    /// Keeps what is unsaved before the program ends. Waits for the disk, but not for ever.
    pub fn keep_at_last(&mut self) {
        let end = Instant::now() + LONGEST_SAVE;
        while self.saving.writing.is_worth_waiting()
            || (self.autosave(true) == Kept::NotYet && Instant::now() < end)
        {
            self.poll_writing();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Keeps what is unsaved and takes away what is half written, because a signal ends the program.
    pub fn end(&mut self) {
        self.cancel_export();
        self.keep_at_last();
        let end = Instant::now() + LAST_OF_EXPORT;
        while self.exporting.job.as_ref().is_some_and(|job| job.poll().is_none()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        disk::leave_nothing();
    }

    /// When the next autosave is due, or may be done.
    pub(super) fn next_autosave(&self) -> Option<Instant> {
        if self.saving.files.busy_since().is_some() {
            return Some(Instant::now() + LOOK_AGAIN);
        }
        let sandbox = self.sandbox.as_ref().filter(|sandbox| sandbox.is_unsaved())?;
        let is_kept = self.saving.files.keeps(sandbox.document_id(), sandbox.state_id());
        (!is_kept).then(|| self.saving.autosaved + AUTOSAVE_EVERY)
    }
}
