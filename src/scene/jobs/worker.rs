//! Work on a thread of its own whose result is fetched when it is there.
//!
//! In: work that takes long. Out: its result, once. Dropping the worker cancels the work, which nobody waits for.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    fracture::{Cancel, CancelOnDrop},
    threads::{self, Pending},
};

/// Workers that share the cores in full; each one more has fewer threads. One that was dropped runs until its work looks
/// at the token, and a slider may start many meanwhile.
const IN_FULL: usize = 4;

/// Number of workers whose threads run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Counts a worker as long as it runs, also where its work panics.
struct Running;

impl Running {
    /// With the number of threads for its work, of this many cores. Results do not depend on the number of threads.
    fn on(cores: usize) -> (Self, usize) {
        let running = RUNNING.fetch_add(1, Ordering::Relaxed) + 1;
        (Self, threads_of(running, cores))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Threads of one more worker where that many run with it.
fn threads_of(running: usize, cores: usize) -> usize {
    (cores * IN_FULL / running.max(IN_FULL)).max(1)
}

/// Work under way.
pub(in crate::scene) struct Worker<T> {
    result: Pending<Option<T>>,
    _waits: CancelOnDrop,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts work, which should check the token now and then. It has threads of its own: in those that draw the
    /// window the panels would wait for it.
    pub fn start(work: impl FnOnce(&Cancel) -> T + Send + 'static) -> Self {
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        let result = Pending::start(move || {
            let (_running, count) = Running::on(rayon::current_num_threads());
            Some(threads::alone(count, move || work(&cancel)))
        });
        Self { result, _waits: waits }
    }

    /// Once the work is over its result, or `Some(None)` if it stopped without one. Never waits.
    pub fn ended(&self) -> Option<Option<T>> {
        self.result.poll(|| None)
    }
}

/// Work that is done once: not begun, under way, or over; without a result where there is none.
#[derive(Default)]
pub(in crate::scene) enum Once<T> {
    #[default]
    NotBegun,
    OnItsWay(Worker<Option<T>>),
    Done(Option<T>),
}

impl<T: Send + 'static> Once<T> {
    /// Starts the work.
    pub fn start(work: impl FnOnce(&Cancel) -> Option<T> + Send + 'static) -> Self {
        Self::OnItsWay(Worker::start(work))
    }

    /// Takes the worker's result; returns whether there is one.
    pub fn poll(&mut self) -> bool {
        let Self::OnItsWay(worker) = self else { return false };
        let Some(result) = worker.ended() else { return false };
        *self = Self::Done(result.flatten());
        true
    }

    /// Whether it still has to be started.
    pub fn is_due(&self) -> bool {
        matches!(self, Self::NotBegun)
    }

    /// Whether it is running.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::OnItsWay(..))
    }

    /// The result.
    pub fn result(&self) -> Option<&T> {
        if let Self::Done(result) = self { result.as_ref() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_workers_have_all_cores_and_many_share_them() {
        assert_eq!([1, 4, 5, 8, 1000].map(|running| threads_of(running, 16)), [16, 16, 12, 8, 1]);
        assert_eq!([1, 4, 5, 8, 9].map(|running| threads_of(running, 2)), [2, 2, 1, 1, 1]);
        // Forty that do not stop have a little more than three times the threads of four, and not ten times.
        assert!((1..=40).map(|running| threads_of(running, 64)).sum::<usize>() < 13 * 64);
    }

    #[test]
    fn work_that_panics_ends_without_a_result() {
        let worker = Worker::<u32>::start(|_| panic!("as planned"));
        let ended = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            worker.ended()
        });
        assert_eq!(ended.take(10_000).flatten().next(), Some(None));
    }
}
