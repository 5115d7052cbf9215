//! Costs of passes besides arithmetic: waits of the host, dispatches, and bytes transferred.
//!
//! Every [`Gpu`](super::Gpu) keeps a ledger by stage. The stage is the one that a recorder named last; the host's
//! writes, reads and waits count for it, too.

use std::sync::Mutex;

/// Costs of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Number of times that the host waited for the device.
    pub waits: u64,
    /// Number of kernel dispatches.
    pub dispatches: u64,
    /// Bytes written by the host.
    pub bytes_up: u64,
    /// Bytes read by the host.
    pub bytes_down: u64,
    /// Size of all buffers bound to dispatches, and of copies, bytes: approximately a lower bound of the traffic in the
    /// device's memory.
    pub bytes_bound: u64,
}

impl Traffic {
    /// The sum of both.
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
    /// Names the stage for the following traffic.
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

    /// Returns all traffic and resets the ledger.
    pub fn take(&self) -> Vec<(&'static str, Traffic)> {
        self.0.lock().map_or_else(|_| Vec::new(), |mut ledger| std::mem::take(&mut ledger.1))
    }
}
