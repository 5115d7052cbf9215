//! What an opened document knows of the disk: its file, what was in that file, and which of its states the file holds.
//!
//! In: the file that a scene was read from or saved to, changes. Out: whether anything is unsaved, and whether somebody
//! else has changed the file since.
//!
//! A moment names the document it belongs to, and its state by a number; so undo brings a document back together with
//! its file. The file itself is kept here and not in the moment: a name under which the document was saved holds for all
//! moments of it, those before included.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::files::{self, Unread};

/// Size limit of a scene file, bytes.
pub(super) const LARGEST_SCENE: u64 = 32 << 20;

/// Length and hash of what a file held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Contents {
    bytes: usize,
    sha256: [u8; 32],
}

impl Contents {
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len(), sha256: Sha256::digest(bytes).into() }
    }
}

/// A scene file, and what it held when it was read or written last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneFile {
    path: PathBuf,
    held: Contents,
}

impl SceneFile {
    /// A file that holds these bytes now.
    pub(super) fn holding(path: &Path, bytes: &[u8]) -> Self {
        Self { path: path.to_owned(), held: Contents::of(bytes) }
    }

    /// Hash of what it held.
    pub(super) fn sha256(&self) -> &[u8; 32] {
        &self.held.sha256
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file holds something else by now, or something that cannot be read. Times are not asked: two writes
    /// within one tick of the clock have the same. A file that is gone has nothing to lose.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        match files::read(&self.path, LARGEST_SCENE) {
            Ok(bytes) => Contents::of(&bytes) != self.held,
            Err(why) => !matches!(why, Unread::NotFound),
        }
    }
}

/// Names one opened document while the window lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentId(usize);

/// Names a state of a document; no two states of a window have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateId(u64);

/// What is known of one document.
#[derive(Default)]
struct Home {
    /// The file that the document was read from or saved to last.
    file: Option<SceneFile>,
    /// The state that the file holds; of a document without a file, the state in which it was opened.
    saved: StateId,
}

/// All documents that were opened, and the states of the present one.
pub(super) struct Homes {
    all: Vec<Home>,
    state: StateId,
    /// The last state given.
    given: StateId,
}

impl Default for Homes {
    /// One empty document that nobody opened.
    fn default() -> Self {
        Self { all: vec![Home::default()], state: StateId::default(), given: StateId::default() }
    }
}

impl Homes {
    /// A new document, just opened from `file`.
    pub fn begin(&mut self, file: Option<SceneFile>) -> DocumentId {
        self.changed();
        self.all.push(Home { file, saved: self.state });
        DocumentId(self.all.len() - 1)
    }

    /// Notes that the present document has changed.
    pub fn changed(&mut self) {
        self.given = StateId(self.given.0 + 1);
        self.state = self.given;
    }

    /// The present state.
    pub fn state(&self) -> StateId {
        self.state
    }

    /// Notes that undo has brought a state back.
    pub fn go_back(&mut self, state: StateId) {
        self.state = state;
    }

    /// The file of a document.
    pub fn file(&self, of: DocumentId) -> Option<&SceneFile> {
        self.all.get(of.0)?.file.as_ref()
    }

    /// Whether the present state, of this document, differs from the one that its file holds.
    pub fn is_unsaved(&self, of: DocumentId) -> bool {
        self.all.get(of.0).is_some_and(|home| home.saved != self.state)
    }

    /// Notes that a state of a document was saved to its new file.
    pub fn saved(&mut self, of: DocumentId, state: StateId, file: SceneFile) {
        if let Some(home) = self.all.get_mut(of.0) {
            (home.file, home.saved) = (Some(file), state);
        }
    }
}

/// Gives a document and its state at each call, for tests of what is kept of them.
#[cfg(test)]
pub fn testing_homes() -> impl FnMut() -> (DocumentId, StateId) {
    let mut homes = Homes::default();
    move || (homes.begin(None), homes.state())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_comes_back_is_as_saved_as_it_was() {
        let mut homes = Homes::default();
        let document = homes.begin(None);
        assert!(!homes.is_unsaved(document), "what was only opened needs no saving");
        let opened = homes.state();
        homes.changed();
        assert!(homes.is_unsaved(document));
        let saved = homes.state();
        homes.saved(document, saved, SceneFile::holding(Path::new("a.toml"), b"a"));
        assert!(!homes.is_unsaved(document));
        homes.go_back(opened);
        assert!(homes.is_unsaved(document), "the file holds what came later");
        homes.go_back(saved);
        assert!(!homes.is_unsaved(document));
        homes.go_back(opened);
        homes.changed();
        assert!(homes.state() != saved, "another change is another state");
        let other = homes.begin(None);
        assert!(homes.file(other).is_none() && !homes.is_unsaved(other));
        assert_eq!(homes.file(document).unwrap().path(), Path::new("a.toml"));
    }

    #[test]
    fn a_file_that_somebody_else_wrote_is_changed_whatever_its_length_and_time() {
        let path = std::env::temp_dir().join(format!("kintsugi-changed-{}.toml", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let file = SceneFile::holding(&path, b"one");
        assert!(!file.is_changed());
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert!(file.is_changed());
        std::fs::remove_file(&path).unwrap();
        assert!(!file.is_changed(), "nothing is there to be lost");
        std::fs::create_dir(&path).unwrap();
        assert!(file.is_changed());
        std::fs::remove_dir(&path).unwrap();
    }
}
