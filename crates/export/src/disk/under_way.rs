//! Folders and files that this process is filling, so that a signal can take them away.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

static UNDER_WAY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static CHANGING: Mutex<()> = Mutex::new(());

/// A path that holds half a result until this is dropped.
#[derive(Debug)]
pub struct UnderWay(PathBuf);

impl UnderWay {
    /// Notes the path.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// While this is held, results are being put in their places; [`leave_nothing`] waits.
pub fn changing() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes away all half results of this process, before the process ends by a signal: waits until a change that has begun
/// is done, and lets none begin after that. A second call does nothing, since it would wait for the first one for ever.
pub fn leave_nothing() {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    if HAS_BEGUN.swap(true, Ordering::SeqCst) {
        return;
    }
    std::mem::forget(changing());
    let paths = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for path in paths {
        // Other threads may still be writing there: what they add meanwhile makes a try fail.
        for _ in 0..10 {
            let gone =
                if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            if gone.is_ok() || !path.exists() {
                break;
            }
        }
    }
}
