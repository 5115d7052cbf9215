//! Progress and cancellation of long work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use crate::threads;

/// How often a waiting thread asks whether the work is still wanted.
const ASK_EVERY: Duration = Duration::from_millis(20);

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

    /// `None` where the work should stop.
    pub(crate) fn go_on(&self) -> Option<()> {
        (!self.is_cancelled()).then_some(())
    }

    /// Whether work that has this progress goes on somewhere.
    #[cfg(test)]
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Runs `work` on a thread of its own and waits for it, as long as it is wanted: `None` at once when this is
    /// cancelled, whatever the work is at. Sorting a large mesh or unpacking a picture cannot be interrupted; the thread
    /// ends the next time it asks, and what it made is dropped. A panic of the work goes on here.
    pub fn wait_while_wanted<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, answer) = mpsc::sync_channel(1);
        let thread = threads::spawn(move || {
            // Nobody waits any more if the work was cancelled.
            let _ = done.send(work());
        });
        loop {
            match answer.recv_timeout(ASK_EVERY) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Timeout) if self.is_cancelled() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return match thread.join() {
                        Err(panic) => std::panic::resume_unwind(panic),
                        Ok(()) => None,
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{thread, time::Instant};

    /// The slowest steps of an import are a sort or another crate's, which ask nobody.
    #[test]
    fn work_that_asks_nobody_is_left_within_a_fifth_of_a_second() {
        let progress = Progress::default();
        assert_eq!(progress.wait_while_wanted(|| 7), Some(7));
        // The best of three: a loaded machine may be late with any of them.
        let tries = (0..3).map(|_| {
            let progress = Progress::default();
            let asked = progress.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                asked.cancel();
            });
            let start = Instant::now();
            assert_eq!(progress.wait_while_wanted(|| thread::sleep(Duration::from_secs(2))), None);
            start.elapsed().as_secs_f64()
        });
        let took = tries.fold(f64::INFINITY, f64::min);
        assert!(took < 0.25, "cancelled after 0.05 s, left after {took:.2} s");
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_goes_on_where_the_work_was_asked_for() {
        Progress::default().wait_while_wanted(|| panic!("of the work"));
    }
}
