//! SIGINT, SIGTERM and SIGHUP: half results go before the process does.
//!
//! In: a signal. Out: exit code 128 and its number. What can end by itself with what it has, a simulation or the window,
//! is asked to; a second signal ends it at once.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::CliError;

/// Whether the command that runs ends by itself when it is asked to.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);
/// The signal that asked; 0: none.
static ASKED: AtomicU8 = AtomicU8::new(0);

/// Handles the signals from now on, in a thread of its own. Where that is not possible, they end the process as ever.
pub fn watch() {
    watch_by(|_| ENDS_BY_ITSELF.load(Ordering::SeqCst));
}

/// The same; `asks` hears of the first signal, and says whether the process ends by itself.
pub fn watch_by(asks: impl Fn(u8) -> bool + Send + 'static) {
    #[cfg(unix)]
    {
        use signal_hook::{
            consts::{SIGHUP, SIGINT, SIGTERM},
            iterator::Signals,
        };
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let number = u8::try_from(signal).unwrap_or(0);
                let first = ASKED.swap(number, Ordering::SeqCst) == 0;
                if first && asks(number) {
                    continue;
                }
                crate::export::disk::leave_nothing();
                std::process::exit(128 + signal);
            }
        });
    }
    #[cfg(not(unix))]
    let _ = asks;
}

/// While this lives, the command looks at [`asked`] and ends by itself.
pub struct EndsByItself;

/// Has the first signal ask instead of end.
pub fn ask_first() -> EndsByItself {
    ENDS_BY_ITSELF.store(true, Ordering::SeqCst);
    EndsByItself
}

/// The error with which a command ends that was asked to.
pub fn asked() -> Option<CliError> {
    Some(ASKED.load(Ordering::SeqCst)).filter(|signal| *signal > 0).map(CliError::Interrupted)
}

impl Drop for EndsByItself {
    fn drop(&mut self) {
        ENDS_BY_ITSELF.store(false, Ordering::SeqCst);
    }
}
