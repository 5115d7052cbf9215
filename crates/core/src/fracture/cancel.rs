//! The wish that a fracture stop, because nobody waits for it any more.
//!
//! In: a token, asked often by everything that takes long. Out: where somebody wished so, the work unwinds from wherever
//! it is, on all threads, and [`Fracturer::fracture`](super::Fracturer::fracture) answers
//! [`FractureError::Cancelled`]. It unwinds as a panic does, but says nothing: half-made octrees never come into sight,
//! and no stage has to think of one.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use super::FractureError;

/// Shared between who may wish and who asks. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Option<Arc<Wish>>);

#[derive(Debug)]
struct Wish {
    /// Questions left that are answered with no.
    left: AtomicI64,
}

/// What unwinds.
struct Cancelled;

static NEVER: Cancel = Cancel(None);

impl Cancel {
    /// Of something that may be cancelled.
    #[must_use]
    pub fn possible() -> Self {
        Self::after(i64::MAX)
    }

    /// Of something that never is.
    #[must_use]
    pub fn never() -> &'static Self {
        &NEVER
    }

    /// Cancels by itself when it has been asked so often.
    #[must_use]
    pub fn after(questions: i64) -> Self {
        Self(Some(Arc::new(Wish { left: AtomicI64::new(questions) })))
    }

    /// Wishes that it stop.
    pub fn wish(&self) {
        if let Some(wish) = &self.0 {
            wish.left.store(0, Ordering::Relaxed);
        }
    }

    /// How often it can still be asked.
    #[must_use]
    pub fn questions_left(&self) -> i64 {
        self.0.as_ref().map_or(i64::MAX, |wish| wish.left.load(Ordering::Relaxed))
    }

    /// Returns, unless somebody wished that it stop. To be called inside [`Cancel::catch`] only.
    pub fn ask(&self) {
        if let Some(wish) = &self.0
            && wish.left.fetch_sub(1, Ordering::Relaxed) <= 0
        {
            panic::resume_unwind(Box::new(Cancelled));
        }
    }

    /// Does `work`, which may [`Cancel::ask`].
    ///
    /// # Errors
    /// [`FractureError::Cancelled`], and those of the work.
    pub fn catch<T>(work: impl FnOnce() -> Result<T, FractureError>) -> Result<T, FractureError> {
        // What the work has changed is dropped with it, and what it only reads is as it was.
        panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
            if payload.is::<Cancelled>() {
                Err(FractureError::Cancelled)
            } else {
                panic::resume_unwind(payload)
            }
        })
    }
}

/// Wishes that something stop when it is dropped.
#[derive(Debug)]
pub struct CancelOnDrop(pub Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.wish();
    }
}
