//! Scenes that the user saves, written by a worker: neither a large scene nor a slow disk holds the window up.
//!
//! In: a scene as it was when the user saved it, and a file. Out: the file. Then the document knows which of its states
//! the file holds, whatever was changed or opened meanwhile. One scene is written at a time, in the order of the saves.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::mpsc,
    time::{Duration, Instant},
};

use super::Session;
use crate::{
    app::dialogs::Purpose,
    scene::{DocumentId, SavedScene, Scene, SceneFile, StateId, save_scene},
    ui::NoticeKind,
};

/// A disk that needs longer for one scene does not hold up the end of the program.
const LONGEST: Duration = Duration::from_secs(10);

/// What is to be saved where.
struct Save {
    of: (DocumentId, StateId),
    path: PathBuf,
    purpose: Purpose,
    /// Whether the scene is the present one, because the one from the beginning could not contain what was edited.
    stands: bool,
    /// Whether the user is asked before a file is written over that is not what was read or saved last.
    asks: bool,
}

/// How a save ended.
enum Outcome {
    Written(SavedScene),
    Failed(String),
    /// Nothing was written: the file is not what was read or saved last.
    Changed,
}

struct UnderWay {
    save: Save,
    since: Instant,
    receiver: mpsc::Receiver<Outcome>,
}

/// Saves that wait, and the one that a worker carries out.
#[derive(Default)]
pub(super) struct Writing {
    waiting: VecDeque<(Save, Scene)>,
    under_way: Option<UnderWay>,
    /// How long the disk takes for each scene.
    #[cfg(test)]
    pub slow: Duration,
}

impl Writing {
    /// Whether anything is being written.
    pub fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether anything is being written that may still be waited for.
    pub fn is_worth_waiting(&self) -> bool {
        self.under_way.as_ref().is_some_and(|one| one.since.elapsed() < LONGEST)
    }

    /// The file that a document will have once everything is written, if it is another one than now.
    fn file_to_be(&self, of: DocumentId) -> Option<&Path> {
        let waiting = self.waiting.iter().map(|(save, _)| save);
        let mut all = self.under_way.iter().map(|one| &one.save).chain(waiting);
        all.rfind(|save| save.of.0 == of && save.purpose == Purpose::Save).map(|save| save.path.as_path())
    }

    fn begin(&mut self, save: Save, scene: Scene, held: Option<SceneFile>) {
        let (sender, receiver) = mpsc::channel();
        let path = save.path.clone();
        #[cfg(test)]
        let slow = self.slow;
        std::thread::spawn(move || {
            #[cfg(test)]
            std::thread::sleep(slow);
            let outcome = if held.is_some_and(|held| held.is_changed()) {
                Outcome::Changed
            } else {
                save_scene(&path, &scene)
                    .map_or_else(|error| Outcome::Failed(error.to_string()), Outcome::Written)
            };
            // Nobody listens once the window has closed.
            let _ = sender.send(outcome);
        });
        self.under_way = Some(UnderWay { save, since: Instant::now(), receiver });
    }

    fn poll(&mut self) -> Option<(Save, Outcome)> {
        let outcome = match self.under_way.as_ref()?.receiver.try_recv() {
            Ok(outcome) => outcome,
            Err(mpsc::TryRecvError::Empty) => return None,
            Err(mpsc::TryRecvError::Disconnected) => Outcome::Failed(
                "nothing was saved: writing the scene stopped unexpectedly; save it under another name"
                    .into(),
            ),
        };
        self.under_way.take().map(|one| (one.save, outcome))
    }
}

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
}
