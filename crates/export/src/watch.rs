//! Progress and cancelling of an export.

use crate::{ExportError, voxelize::Progress};

/// Reports the progress of an export, and tests whether it was cancelled.
#[derive(Clone, Debug)]
pub struct Watch {
    progress: Progress,
    from: f32,
    share: f32,
}

impl Watch {
    /// All of `progress` is this export's.
    #[must_use]
    pub fn whole(progress: &Progress) -> Self {
        Self { progress: progress.clone(), from: 0.0, share: 1.0 }
    }

    /// The share of `progress` that belongs to part `i` of `n`.
    #[must_use]
    pub fn part(progress: &Progress, i: usize, n: usize) -> Self {
        let share = 1.0 / n.max(1) as f32;
        Self { progress: progress.clone(), from: i as f32 * share, share }
    }

    /// Of this share what belongs to part `i` of `n`.
    pub(crate) fn within(&self, i: usize, n: usize) -> Self {
        let share = self.share / n.max(1) as f32;
        Self { progress: self.progress.clone(), from: self.from + i as f32 * share, share }
    }

    /// `done` of `all` steps lie behind.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`] where it should stop.
    pub fn at(&self, done: usize, all: usize) -> Result<(), ExportError> {
        if self.progress.is_cancelled() {
            return Err(ExportError::Cancelled);
        }
        self.progress.set(self.from + self.share * done as f32 / all.max(1) as f32);
        Ok(())
    }
}
