//! Compares what there was before a break with what there is after it, on a thread beside everything else.
//!
//! In: breaks that were applied. Out: checks, in the cell that the summary of the break shares. Only the window shows them, so
//! that nothing is compared before [`Checking::begin`]. One break is compared at a time; of those that wait, the last one.

use std::{
    sync::{Arc, OnceLock},
    thread::JoinHandle,
};

use crate::{
    export::checks::{self, Check},
    fracture::{Break, BrokenObject},
    shape::Shape,
    threads,
};

/// Where the checks of a break go.
pub(in crate::scene) type Checks = Arc<OnceLock<Vec<Check>>>;

/// A break to be compared.
struct Order {
    source: Arc<Shape>,
    broken: Break,
    into: Checks,
}

/// The comparison in progress, and the next one.
#[derive(Default)]
pub(in crate::scene) struct Checking {
    is_wanted: bool,
    /// The worker, and where its checks go.
    running: Option<(JoinHandle<()>, Checks)>,
    // Keeps the octrees of a break alive that undo may have dropped, until its turn has come.
    next: Option<Order>,
}

impl Checking {
    /// Compares all breaks from now on.
    pub fn begin(&mut self) {
        self.is_wanted = true;
    }

    /// Whether a break is being compared, or will be.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || self.next.is_some()
    }

    /// Whether a break is being compared, or will be, whose checks go to `into`.
    pub fn is_comparing(&self, into: &Checks) -> bool {
        let running = self.running.as_ref().map(|(_, into)| into);
        let next = self.next.as_ref().map(|order| &order.into);
        running.into_iter().chain(next).any(|one| Arc::ptr_eq(one, into))
    }

    /// Drops the break that waits, and its octrees, because another scene is opened.
    pub fn forget_next(&mut self) {
        self.next = None;
    }

    /// Takes the break of `source`, a whole body or a piece.
    pub fn push(&mut self, source: &Arc<Shape>, broken: Break, into: &Checks) {
        if self.is_wanted {
            self.next = Some(Order { source: Arc::clone(source), broken, into: Arc::clone(into) });
            self.go_on();
        }
    }

    /// Starts the next comparison, if none is in progress. Never waits.
    pub fn go_on(&mut self) {
        if self.running.as_ref().is_some_and(|(running, _)| !running.is_finished()) {
            return;
        }
        self.running = self.next.take().map(|order| {
            let checks_go_to = Arc::clone(&order.into);
            let running = std::thread::spawn(move || {
                let Order { source, broken, into } = order;
                let broken = BrokenObject::of_one(source, broken);
                // On one core, since simulation and picture need the others.
                let checks = threads::alone(1, || checks::conserved(&broken));
                for check in checks.iter().filter(|check| !check.ok) {
                    tracing::warn!("a break does not hold {}: {:?}", check.name, check.figures);
                }
                _ = into.set(checks);
            });
            (running, checks_go_to)
        });
    }
}
