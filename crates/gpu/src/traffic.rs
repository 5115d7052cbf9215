//! What passes cost a device beside their arithmetic: waits of the host, dispatches, and bytes that travel.
//!
//! Every [`Gpu`](super::Gpu) keeps a ledger of it by stage. The stage is the one that a recorder named last; what the
//! host writes, reads and waits for counts for it too.

use std::sync::Mutex;

/// What one stage cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Times that the host stood still until the device was done.
    pub waits: u64,
    /// Dispatches of kernels.
    pub dispatches: u64,
    /// Bytes that the host wrote.
    pub bytes_up: u64,
    /// Bytes that the host read.
    pub bytes_down: u64,
    /// Bytes of all buffers that dispatches were bound to, and of copies: at least about what moves through the
    /// device's memory.
    pub bytes_bound: u64,
}

impl Traffic {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            waits: self.waits + other.waits,
            dispatches: self.dispatches + other.dispatches,
            bytes_up: self.bytes_up + other.bytes_up,
            bytes_down: self.bytes_down + other.bytes_down,
            bytes_bound: self.bytes_bound + other.bytes_bound,
        }
    }
}

/// Traffic by stage, in the order of first use.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<(&'static str, Vec<(&'static str, Traffic)>)>);

impl Ledger {
    /// What comes from here on counts for `stage`.
    pub fn stage(&self, stage: &'static str) {
        if let Ok(mut ledger) = self.0.lock() {
            ledger.0 = stage;
        }
    }

    pub fn add(&self, traffic: Traffic) {
        let Ok(mut ledger) = self.0.lock() else { return };
        let (now, stages) = &mut *ledger;
        match stages.iter_mut().find(|(stage, _)| stage == now) {
            Some((_, sum)) => *sum = sum.plus(traffic),
            None => stages.push((now, traffic)),
        }
    }

    /// All of it; begins anew.
    pub fn take(&self) -> Vec<(&'static str, Traffic)> {
        self.0.lock().map_or_else(|_| Vec::new(), |mut ledger| std::mem::take(&mut ledger.1))
    }
}
