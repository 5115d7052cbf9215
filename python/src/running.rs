//! Long work beside Python: without the interpreter lock, with progress, and left at once by Ctrl+C.
//!
//! In: a closure and a callable for progress. Out: the closure's result. The closure runs on a thread of its own. The
//! calling thread looks every 50 ms for signals and tells the progress; a signal, or an exception of the callable,
//! cancels the stage that runs. What cannot be cancelled goes on in the background, and its result is dropped. Short work
//! runs on the calling thread. In a forked process either has threads of its own.

use std::{
    ffi::CString,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use kintsugi::{Observer, threads, voxelize::Progress};
use pyo3::{
    exceptions::{PyTypeError, PyUserWarning},
    prelude::*,
};

use crate::errors::Error;

/// How often signals and progress are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How long cancelled work may take to remove what it has written.
const LEAVE: Duration = Duration::from_secs(1);
/// Stack of the worker, bytes: what a program's main thread has.
const STACK: usize = 8 << 20;

/// Hands the stages of the worker to the calling thread. Clones are the same watcher.
#[derive(Clone, Default)]
pub struct Watcher(Arc<Shared>);

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    seen: Mutex<Seen>,
}

/// What the calling thread has not been told yet.
#[derive(Default)]
struct Seen {
    /// Stages that run, the innermost last.
    stages: Vec<(String, Progress)>,
    ended: Vec<String>,
    notes: Vec<String>,
}

impl Watcher {
    /// Whether the result is not wanted any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.seen().stages.iter().for_each(|(_, progress)| progress.cancel());
    }

    /// Calls `progress` for the stages that have ended and for the one that runs.
    fn tell(&self, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (ended, running) = {
            let mut seen = self.seen();
            let running = seen.stages.last().map(|(stage, progress)| (stage.clone(), progress.get()));
            (std::mem::take(&mut seen.ended), running)
        };
        let Some(progress) = progress else { return Ok(()) };
        for stage in ended {
            progress.call1((stage, 1.0))?;
        }
        if let Some((stage, fraction)) = running {
            progress.call1((stage, f64::from(fraction)))?;
        }
        Ok(())
    }

    /// Remarks become warnings.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let notes = std::mem::take(&mut self.seen().notes);
        for note in notes {
            let text = CString::new(note.replace('\0', " ")).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
        }
        Ok(())
    }
}

impl Observer for Watcher {
    fn stage<T>(&self, name: &str, work: impl FnOnce(&Progress) -> T) -> T {
        let progress = Progress::default();
        self.seen().stages.push((name.to_owned(), progress.clone()));
        // Only now: from here on the calling thread cancels the stage by itself.
        if self.is_cancelled() {
            progress.cancel();
        }
        let result = work(&progress);
        let mut seen = self.seen();
        seen.stages.pop();
        seen.ended.push(name.to_owned());
        result
    }

    fn note(&self, text: &str) {
        self.seen().notes.push(text.to_owned());
    }
}

/// Runs `work` on a thread of its own, without the interpreter lock, and waits for it. `progress` is called as
/// `progress(stage, fraction)` from the calling thread, at most every 50 ms and at the end of each stage.
///
/// # Errors
/// That of the work; KeyboardInterrupt; the exception of `progress`; TypeError where `progress` is not callable;
/// `Error` where the work panicked.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watcher) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    if progress.is_some_and(|progress| !progress.is_callable()) {
        return Err(PyTypeError::new_err("progress must be None or a callable: progress(stage, fraction)"));
    }
    let watcher = Watcher::default();
    let of_worker = watcher.clone();
    let (done, mut answer) = mpsc::sync_channel::<PyResult<T>>(1);
    let worker = thread::Builder::new().name("kintsugi".to_owned()).stack_size(STACK);
    let worker = worker.spawn(move || {
        let made = threads::within(|| work(&of_worker));
        // Nobody waits any more if the work was cancelled.
        let _ = done.send(made.unwrap_or_else(|error| Err(no_thread(&error))));
    });
    let worker = worker.map_err(|error| no_thread(&error))?;
    loop {
        let (receiver, received) = py.detach(move || {
            let received = answer.recv_timeout(TICK);
            (answer, received)
        });
        answer = receiver;
        match received {
            Ok(Ok(result)) => {
                watcher.tell(progress)?;
                watcher.warn(py)?;
                return Ok(result);
            }
            Ok(Err(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) => {
                let Err(error) = py.check_signals().and_then(|()| watcher.tell(progress)) else { continue };
                watcher.cancel();
                py.detach(move || {
                    let _ = answer.recv_timeout(LEAVE);
                });
                return Err(error);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let said = worker.join().err().map(|panic| said_by(&*panic)).unwrap_or_default();
                let text = format!("the work stopped unexpectedly, which is a fault of the program: {said}");
                return Err(Error::new_err(text));
            }
        }
    }
}

/// Runs `work` on the calling thread, without the interpreter lock and without progress.
///
/// # Errors
/// `Error` where a forked process gets no threads.
pub fn aside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| threads::within(work)).map_err(|error| no_thread(&error))
}

fn no_thread(error: &dyn std::fmt::Display) -> PyErr {
    Error::new_err(format!("the system starts no thread: {error}; end other programs and try again"))
}

/// The message of a panic.
fn said_by(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
