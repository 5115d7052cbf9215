//! Threads in a process that was forked, as Python's multiprocessing forks its workers.
//!
//! A forked process has one thread, whatever its parent had. The pool that shares out parallel work was made by the parent
//! and has no threads here, and work that is handed to it would wait for ever. In: work. Out: its result, made in a pool of
//! its own where this process was forked. A pool takes a tenth of a millisecond. One for all calls would be cheaper, but then
//! a thread that waits for its own parts could take up another call's work, which may wait for what the first one holds.
//!
//! [`Pending`] is what a thread makes for a caller that does not wait, as a window's thread must not.

use std::{
    sync::{
        OnceLock,
        mpsc::{self, Receiver, TryRecvError},
    },
    thread::JoinHandle,
};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// The process whose forks have no pool.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Stack of a pool's threads, bytes: what a program's main thread has, since whole calls run there.
const STACK: usize = 8 << 20;

/// Notes the process that runs. A library calls it when it is loaded into a process that may be forked; without it no
/// process counts as forked.
pub fn note_process() {
    LOADED_BY.get_or_init(std::process::id);
}

/// Whether this process was forked from the one that was noted.
#[must_use]
pub fn is_forked() -> bool {
    LOADED_BY.get().is_some_and(|loaded_by| *loaded_by != std::process::id())
}

/// Runs `work` where its parallel parts have threads: in a forked process in a pool of its own, else on the calling thread.
///
/// # Errors
/// Where the system starts no threads; `work` did not run then.
pub fn within<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ThreadPoolBuildError> {
    within_pool(is_forked(), work)
}

fn within_pool<T: Send>(is_forked: bool, work: impl FnOnce() -> T + Send) -> Result<T, ThreadPoolBuildError> {
    if !is_forked || rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    Ok(ThreadPoolBuilder::new().stack_size(STACK).build()?.install(work))
}

/// Runs `work` on this many threads that it has for itself, or on one for each core where `threads` is 0; on the calling
/// thread where the system starts none.
pub fn alone<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Starts a thread that runs `work` as [`within`] does. Work that has no threads is dropped, as it is after a panic.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(|| drop(within(work)))
}

/// What a thread makes. The thread also goes on where this is dropped; nobody has the result then.
pub struct Pending<T>(Receiver<T>);

impl<T: Send + 'static> Pending<T> {
    /// Starts a thread that runs `make` as [`within`] does.
    pub fn start(make: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        let run = move || drop(within(move || drop(sender.send(make()))));
        // Where the system refuses a thread, there is no result.
        drop(std::thread::Builder::new().spawn(run));
        Self(receiver)
    }

    /// The result, once; `None` while the thread works. Where there is no result, as after a panic, what `stopped` gives. Never
    /// waits.
    pub fn poll(&self, stopped: impl FnOnce() -> T) -> Option<T> {
        match self.0.try_recv() {
            Ok(made) => Some(made),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(stopped()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{ThreadId, current};

    use rayon::prelude::*;

    use super::*;

    fn place() -> (ThreadId, Option<usize>, u64) {
        (current().id(), rayon::current_thread_index(), (0..10_000u64).into_par_iter().sum())
    }

    #[test]
    fn only_a_forked_process_has_a_pool_for_each_call_and_one_for_what_is_inside() {
        let (here, outside, sum) = place();
        assert_eq!((outside, sum), (None, 49_995_000));
        assert_eq!(within_pool(false, place).unwrap(), (here, None, sum));
        let inner = within_pool(true, || (place(), within_pool(true, place).unwrap())).unwrap();
        assert_eq!(inner.0, inner.1, "work inside stays on its thread");
        let ((thread, index, again), _) = inner;
        assert!(thread != here && index.is_some() && again == sum);
        assert!(!is_forked(), "nobody noted a process");
        note_process();
        assert!(!is_forked());
    }

    #[test]
    fn what_a_thread_makes_comes_once_and_a_thread_that_stops_is_told_of() {
        let come = |pending: &Pending<u32>| {
            let polls = std::iter::repeat_with(|| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                pending.poll(|| 0)
            });
            polls.take(10_000).flatten().next()
        };
        let (sender, receiver) = mpsc::channel();
        let made = Pending::start(move || receiver.recv().unwrap_or(1));
        assert_eq!(made.poll(|| 0), None, "a poll waits for nothing");
        sender.send(7).unwrap();
        assert_eq!([come(&made), come(&made)], [Some(7), Some(0)]);
        assert_eq!(come(&Pending::<u32>::start(|| panic!("as planned"))), Some(0));
    }

    #[test]
    fn a_panic_of_a_thread_is_seen_by_who_joins_it() {
        assert!(spawn(|| assert!(rayon::current_thread_index().is_none())).join().is_ok());
        assert!(spawn(|| panic!("as planned")).join().is_err());
    }
}
