//! Work on a thread of its own whose result is fetched when it is there.
//!
//! In: work that takes long. Out: its result, once. Dropping the worker cancels the work, which nobody waits for.

use std::sync::mpsc;

use crate::fracture::{Cancel, CancelOnDrop};

/// Work under way.
pub(in crate::scene) struct Worker<T> {
    receiver: mpsc::Receiver<T>,
    _waits: CancelOnDrop,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts work, which should check the token now and then. It has threads of its own: in those that draw the
    /// window the panels would wait for it.
    pub fn start(work: impl FnOnce(&Cancel) -> T + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        std::thread::spawn(move || {
            // The channel is closed only when the result is not wanted any more.
            let work = move || drop(sender.send(work(&cancel)));
            match rayon::ThreadPoolBuilder::new().build() {
                Ok(pool) => pool.install(work),
                Err(_) => work(),
            }
        });
        Self { receiver, _waits: waits }
    }

    /// The result, if it is there. Never waits.
    ///
    /// # Errors
    /// [`mpsc::TryRecvError`]: `Empty` while the work goes on, `Disconnected` if it stopped without a result.
    pub fn poll(&self) -> Result<T, mpsc::TryRecvError> {
        self.receiver.try_recv()
    }
}
