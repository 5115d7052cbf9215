//! Where octrees are broken and pictures are drawn, and who watches.

use std::sync::Arc;

use super::Error;
use crate::{
    compute::{Choice, Compute},
    fracture::Passes,
    gpu::StageTiming,
    voxelize::Progress,
};

/// Where stages run: on the processor's cores, or on a graphics adapter. Compute passes are compiled by the first break
/// and kept for the next ones, so a program should hold one engine and hand it to all its breaks. A clone shares them.
#[derive(Clone)]
pub struct Engine {
    pub(super) compute: Compute,
    pub(super) passes: Arc<Passes>,
}

impl Engine {
    /// On the processor's cores: needs no graphics driver.
    #[must_use]
    pub fn cores() -> Self {
        Self::from(Compute::Cpu)
    }

    /// On the adapter or the cores, as `choice` says; [`Choice::Auto`] takes an adapter that is no software driver,
    /// else the cores.
    ///
    /// # Errors
    /// [`Error::Gpu`] where [`Choice::Gpu`] finds no adapter.
    pub fn open(choice: Choice) -> Result<Self, Error> {
        Ok(Self::from(Compute::open(choice)?))
    }

    /// The adapter, or the cores, as the rooms below take it.
    #[must_use]
    pub fn compute(&self) -> &Compute {
        &self.compute
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::cores()
    }
}

impl From<Compute> for Engine {
    fn from(compute: Compute) -> Self {
        Self { compute, passes: Arc::default() }
    }
}

/// Watches long work: the commands print progress bars with it. Each method has a default that does nothing.
pub trait Observer {
    /// Runs `work`, a stage of this name, and returns its result. [`Progress`] says, also to another thread, how far
    /// the stage is.
    fn stage<T>(&self, name: &str, work: impl FnOnce(&Progress) -> T) -> T {
        let _ = name;
        work(&Progress::default())
    }

    /// Takes the time of a stage that was measured elsewhere, ms.
    fn timing(&self, timing: &StageTiming) {
        let _ = timing;
    }

    /// Takes a remark that a user should read and that stops nothing.
    fn note(&self, text: &str) {
        let _ = text;
    }
}

/// An [`Observer`] that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
