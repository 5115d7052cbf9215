//! Progress and cancellation of long work.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

/// Progress and cancellation of long work. Cheap to clone, shared between threads.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<ProgressState>);

#[derive(Debug, Default)]
struct ProgressState {
    permille: AtomicU32,
    cancelled: AtomicBool,
}

impl Progress {
    /// Sets the fraction done, 0..=1.
    pub fn set(&self, fraction: f32) {
        self.0.permille.store((fraction.clamp(0.0, 1.0) * 1000.0) as u32, Ordering::Relaxed);
    }

    /// Fraction done.
    #[must_use]
    pub fn get(&self) -> f32 {
        self.0.permille.load(Ordering::Relaxed) as f32 / 1000.0
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work should stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }
}
