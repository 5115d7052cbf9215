//! Scenes that the user saves, written by a worker: neither a large scene nor a slow disk holds the window up.
//!
//! In: a scene as it was when the user saved it, and a file. Out: the file. Then the document knows which of its states
//! the file holds, whatever was changed or opened meanwhile. One scene is written at a time, in the order of the saves.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::dialogs::Purpose;
use crate::{
    scene::{DocumentId, SavedScene, Scene, SceneFile, StateId, save_scene},
    threads::Pending,
};

/// A disk that needs longer for one scene does not hold up the end of the program.
const LONGEST: Duration = Duration::from_secs(10);

/// What is to be saved where.
pub struct Save {
    /// The document, and its state when the user saved.
    pub of: (DocumentId, StateId),
    /// The file.
    pub path: PathBuf,
    /// What the user saves: the scene, or the scene as it stands.
    pub purpose: Purpose,
    /// Whether the scene is the present one, because the one from the beginning could not contain what was edited.
    pub stands: bool,
    /// Whether the user is asked before a file is written over that is not what was read or saved last.
    pub asks: bool,
}

/// How a save ended.
pub enum Outcome {
    /// The file holds the scene.
    Written(SavedScene),
    /// The file is as before; why.
    Failed(String),
    /// Nothing was written: the file is not what was read or saved last.
    Changed,
}

struct UnderWay {
    save: Save,
    since: Instant,
    ended: Pending<Outcome>,
}

/// Saves that wait, and the one that a worker carries out.
#[derive(Default)]
pub struct Saver {
    /// What is saved next, with the scenes.
    pub waiting: VecDeque<(Save, Scene)>,
    under_way: Option<UnderWay>,
    /// How long the disk takes for each scene.
    #[cfg(test)]
    pub slow: Duration,
}

impl Saver {
    /// Whether anything is being written.
    pub fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether anything is being written that may still be waited for.
    pub fn is_worth_waiting(&self) -> bool {
        self.under_way.as_ref().is_some_and(|one| one.since.elapsed() < LONGEST)
    }

    /// The file that a document will have once everything is written, if it is another one than now.
    pub fn file_to_be(&self, of: DocumentId) -> Option<&Path> {
        let waiting = self.waiting.iter().map(|(save, _)| save);
        let mut all = self.under_way.iter().map(|one| &one.save).chain(waiting);
        all.rfind(|save| save.of.0 == of && save.purpose == Purpose::Save).map(|save| save.path.as_path())
    }

    /// Has a worker carry out a save, unless the file is not `held` any more.
    pub fn begin(&mut self, save: Save, scene: Scene, held: Option<SceneFile>) {
        let path = save.path.clone();
        #[cfg(test)]
        let slow = self.slow;
        let ended = Pending::start(move || {
            #[cfg(test)]
            std::thread::sleep(slow);
            if held.is_some_and(|held| held.is_changed()) {
                Outcome::Changed
            } else {
                save_scene(&path, &scene)
                    .map_or_else(|error| Outcome::Failed(error.to_string()), Outcome::Written)
            }
        });
        self.under_way = Some(UnderWay { save, since: Instant::now(), ended });
    }

    /// How the save that was under way ended, once.
    pub fn poll(&mut self) -> Option<(Save, Outcome)> {
        let stopped = "nothing was saved: writing the scene stopped unexpectedly; save it under another name";
        let outcome = self.under_way.as_ref()?.ended.poll(|| Outcome::Failed(stopped.into()))?;
        self.under_way.take().map(|one| (one.save, outcome))
    }
}
