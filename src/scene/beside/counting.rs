//! Counts the meshes of a view's pieces, on a worker.

use std::sync::{Arc, mpsc};

use crate::{
    export::MeshTally,
    fracture::{Cancel, CancelOnDrop},
    shape::Shape,
};

/// A count of meshes: not started, running, done, or impossible.
#[derive(Default)]
pub(super) enum Counting {
    #[default]
    NotBegun,
    OnItsWay(
        mpsc::Receiver<MeshTally>,
        #[expect(dead_code, reason = "it cancels when it is dropped")] CancelOnDrop,
    ),
    Done(Option<MeshTally>),
}

impl Counting {
    /// Starts counting.
    pub fn start(shapes: Vec<Arc<Shape>>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        std::thread::spawn(move || {
            if let Ok(tally) = MeshTally::of(&shapes, &cancel) {
                // The channel is closed only when the count was dropped.
                let _ = sender.send(tally);
            }
        });
        Self::OnItsWay(receiver, waits)
    }

    /// Takes the worker's result; returns whether there is one.
    pub fn poll(&mut self) -> bool {
        let Self::OnItsWay(receiver, _) = self else { return false };
        *self = match receiver.try_recv() {
            Err(mpsc::TryRecvError::Empty) => return false,
            Ok(tally) => Self::Done(Some(tally)),
            Err(mpsc::TryRecvError::Disconnected) => Self::Done(None),
        };
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
    pub fn tally(&self) -> Option<MeshTally> {
        if let Self::Done(tally) = self { *tally } else { None }
    }
}
