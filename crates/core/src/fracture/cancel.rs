//! A token by which one thread asks the work of others to stop.
//!
//! Everything that takes long checks the token often. Once the work is cancelled, each check is an error, which goes up
//! through the work's results; what was made until then is dropped on the way.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use crate::voxelize::Progress;

/// The result is not wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was cancelled")]
pub struct Cancelled;

/// The token. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    checks: Option<Arc<AtomicI64>>,
    progress: Option<Progress>,
}

static NEVER: Cancel = Cancel { checks: None, progress: None };

impl Cancel {
    /// Of work that may be cancelled.
    #[must_use]
    pub fn possible() -> Self {
        Self::after(i64::MAX)
    }

    /// Of work that never is.
    #[must_use]
    pub fn never() -> &'static Self {
        &NEVER
    }

    /// Cancels by itself after that many checks.
    #[must_use]
    pub fn after(checks: i64) -> Self {
        Self { checks: Some(Arc::new(AtomicI64::new(checks))), progress: None }
    }

    /// Of work that is cancelled through its progress.
    #[must_use]
    pub fn with(progress: &Progress) -> Self {
        Self { checks: None, progress: Some(progress.clone()) }
    }

    /// Cancels the work.
    pub fn wish(&self) {
        if let Some(left) = &self.checks {
            left.store(0, Ordering::Relaxed);
        }
        if let Some(progress) = &self.progress {
            progress.cancel();
        }
    }

    #[cfg(any(test, feature = "testing"))]
    /// How many more checks pass.
    #[must_use]
    pub fn checks_left(&self) -> i64 {
        self.checks.as_ref().map_or(i64::MAX, |left| left.load(Ordering::Relaxed))
    }

    /// Whether the work may go on.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.progress.as_ref().is_some_and(Progress::is_cancelled) {
            return Err(Cancelled);
        }
        match &self.checks {
            Some(left) if left.fetch_sub(1, Ordering::Relaxed) <= 0 => Err(Cancelled),
            _ => Ok(()),
        }
    }
}

/// Cancels work when it is dropped.
#[derive(Debug)]
pub struct CancelOnDrop(pub Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.wish();
    }
}
