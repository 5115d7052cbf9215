//! What runs on workers and what waits for them: opening, breaking, merging, throwing.
//!
//! In: scenes to open, blows, bodies to throw. Out: what the workers finished, one thing at a time, for the
//! sandbox to take in. Nothing in here changes the stage or the document.

mod breaking;
mod collisions;
mod merging;
mod opening;
mod throwing;

use std::sync::{Arc, RwLock};

pub(super) use breaking::Breaking;
pub(super) use collisions::Velocities;
pub(super) use merging::{Ingredients, Merging, Union};
pub(super) use opening::{Opening, Ready};
pub(super) use throwing::Throwing;

use crate::{compute::Compute, fracture::Passes, svo::Arena};

/// What fractures are computed with.
#[derive(Clone, Copy)]
pub(super) struct Workshop<'a> {
    /// The device.
    pub compute: &'a Compute,
    /// The octrees on it.
    pub arena: &'a Arc<RwLock<Arena>>,
    /// The compiled passes, or where they will be.
    pub passes: &'a Arc<Passes>,
}

/// All work that is on its way.
#[derive(Default)]
pub(super) struct Jobs {
    /// A scene to come.
    pub opening: Opening,
    /// Blows that have fallen.
    pub breaking: Breaking,
    /// Pieces that are to be one.
    pub merging: Merging,
    /// Bodies to be thrown.
    pub throwing: Throwing,
}

impl Jobs {
    /// Whether a worker thread is busy, or about to be.
    pub fn is_busy(&self) -> bool {
        let changing = self.is_changing_pieces();
        self.opening.progress().is_some() || changing || self.throwing.is_busy()
    }

    /// Whether bodies are about to be replaced by others.
    pub fn is_changing_pieces(&self) -> bool {
        self.breaking.is_busy() || self.merging.is_busy()
    }

    /// What is on its way belongs to a state that is left.
    pub fn forget_pieces(&mut self) {
        self.breaking.forget();
        self.merging.forget();
    }
}
