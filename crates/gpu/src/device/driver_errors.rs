//! Collects errors of a device for the thread that caused them.
//!
//! In: the driver's reports, on the thread whose call they concern. Out: for each thread its first error; for all
//! threads the loss of the device.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, Once, OnceLock, PoisonError},
    thread::{self, ThreadId},
};

use super::GpuError;

/// Most threads with unclaimed errors that are remembered; the oldest are dropped.
const MOST: usize = 64;

/// Unclaimed errors, and the loss of the device.
#[derive(Default)]
pub(super) struct DriverErrors {
    lost: OnceLock<String>,
    errors: Mutex<Vec<(ThreadId, GpuError)>>,
}

impl DriverErrors {
    /// Marks the device as lost.
    pub fn lose(&self, reason: String) {
        tracing::error!("the graphics device was lost: {reason}");
        // The first reason is the cause.
        let _ = self.lost.set(reason);
    }

    /// The loss, if the device is lost.
    pub fn lost(&self) -> Option<GpuError> {
        self.lost.get().map(|reason| GpuError::Lost(reason.clone()))
    }

    /// Records an error of this thread's calls.
    pub fn tell(&self, error: GpuError) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let own = thread::current().id();
        // The first error is the cause; later ones follow from it.
        if errors.iter().all(|(thread, _)| *thread != own) {
            if errors.len() == MOST {
                errors.remove(0);
            }
            errors.push((own, error));
        }
    }

    /// Returns the loss, or this thread's error, which is then cleared.
    pub fn take(&self) -> Result<(), GpuError> {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let own = thread::current().id();
        let error = errors.iter().position(|(thread, _)| *thread == own).map(|at| errors.remove(at).1);
        self.lost().or(error).map_or(Ok(()), Err)
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs calls that panic when the device is lost (such as `wgpu::Device::poll`), and returns the panic's message as an
/// error. A device whose calls panicked must not be used again.
pub(super) fn guarded<R>(calls: impl FnOnce() -> R) -> Result<R, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                loud(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(calls));
    GUARDED.set(before);
    result.map_err(|payload| said(payload.as_ref()))
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> GpuError {
        GpuError::Driver(text.into())
    }

    #[test]
    fn errors_belong_to_the_thread_that_caused_them() {
        let faults = DriverErrors::default();
        faults.tell(error("mine"));
        faults.tell(error("what follows from it"));
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(faults.take().is_ok(), "another's error is taken");
                faults.tell(error("theirs"));
            });
        });
        assert!(faults.take().unwrap_err().to_string().contains("mine"));
        assert!(faults.take().is_ok(), "told once");
        faults.lose("unplugged".into());
        faults.lose("and what followed".into());
        for _ in 0..2 {
            assert!(faults.take().unwrap_err().to_string().contains("unplugged"));
        }
    }

    #[test]
    fn forgotten_errors_of_threads_that_are_gone_do_not_pile_up() {
        let faults = DriverErrors::default();
        for _ in 0..3 * MOST {
            thread::scope(|scope| _ = scope.spawn(|| faults.tell(error("nobody asks"))));
        }
        assert_eq!(faults.errors.lock().unwrap().len(), MOST);
    }

    #[test]
    fn what_panics_is_told() {
        assert_eq!(guarded(|| 7), Ok(7));
        let told = guarded(|| -> u32 { panic!("Error in Device::poll:\n  Parent device is lost {}", 3) });
        assert_eq!(told, Err("Error in Device::poll: Parent device is lost 3".to_owned()));
        assert!(!GUARDED.get());
    }
}
