//! Work on threads and its queues: opening, adding, breaking, checking, merging, splitting, throwing.
//!
//! In: scenes to open, objects to add, blows, bodies to throw. Out: finished results, one at a time, for the sandbox to apply. Nothing
//! here changes the stage or the document.

mod adding;
mod breaking;
mod checking;
mod collisions;
mod merging;
mod opening;
mod splitting;
mod throwing;
mod worker;

pub(super) use adding::Adding;
pub(super) use breaking::{Breaking, strengths};
pub(super) use checking::{Checking, Checks};
pub(super) use collisions::Velocities;
pub(super) use merging::{Ingredients, Merging, Union};
pub(super) use opening::{Again, Opening, Ready};
pub(super) use splitting::{Split, Splitting};
pub(super) use throwing::Throwing;
pub(super) use worker::{Once, Worker};

/// All work in progress.
#[derive(Default)]
pub(super) struct Jobs {
    /// The scene being opened.
    pub opening: Opening,
    /// Objects to be added to it.
    pub adding: Adding,
    /// The queue of blows.
    pub breaking: Breaking,
    /// The comparison of what was there before a break and after it. It changes nothing, so that nobody waits for it.
    pub checking: Checking,
    /// The merge of pieces.
    pub merging: Merging,
    /// Structures that come apart.
    pub splitting: Splitting,
    /// Bodies to be thrown.
    pub throwing: Throwing,
}

impl Jobs {
    /// Whether a worker is busy, or will be.
    pub fn is_busy(&self) -> bool {
        let changing = self.is_changing_pieces();
        self.opening.progress().is_some() || changing || self.throwing.is_busy() || self.adding.is_busy()
    }

    /// Whether bodies are about to be replaced.
    pub fn is_changing_pieces(&self) -> bool {
        self.breaking.is_busy() || self.merging.is_busy() || self.splitting.is_busy()
    }

    /// Cancels work that belongs to the state being left.
    pub fn forget_pieces(&mut self) {
        self.breaking.forget();
        self.merging.forget();
        self.splitting.forget();
    }
}
