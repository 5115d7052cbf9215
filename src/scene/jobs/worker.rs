//! Work on a thread of its own whose result is fetched when it is there.
//!
//! In: work that takes long. Out: its result, once. Dropping the worker cancels the work, which nobody waits for.

use std::sync::mpsc::{self, TryRecvError};

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

    /// Once the work is over its result, or `Some(None)` if it stopped without one. Never waits.
    pub fn ended(&self) -> Option<Option<T>> {
        match self.receiver.try_recv() {
            Ok(result) => Some(Some(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
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
