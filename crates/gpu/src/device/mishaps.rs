//! Fault injection: loses the device at some wait, or refuses memory at some allocation. With it tests provoke hardware
//! failures at every moment.

use std::sync::atomic::{AtomicI64, Ordering};

/// The environment variable that configures it: `lose=400,refuse=90` loses every device that the program opens at its
/// 400th wait and refuses every 90th allocation.
const VARIABLE: &str = "KINTSUGI_MISHAPS";

/// Counters until the next injected faults.
#[derive(Debug)]
pub struct Mishaps {
    waits: AtomicI64,
    allocations: AtomicI64,
    /// Interval of refused allocations; 0: only one is refused.
    each: i64,
}

impl Default for Mishaps {
    fn default() -> Self {
        Self { waits: AtomicI64::new(i64::MAX), allocations: AtomicI64::new(i64::MAX), each: 0 }
    }
}

impl Mishaps {
    /// The faults that the environment variable sets; none without it.
    pub(super) fn from_environment() -> Self {
        std::env::var(VARIABLE).map_or_else(|_| Self::default(), |wanted| Self::parse(&wanted))
    }

    fn parse(wanted: &str) -> Self {
        let number = |name: &str| {
            let of =
                wanted.split(',').filter_map(|one| one.split_once('=')).find(|(key, _)| key.trim() == name);
            of.and_then(|(_, number)| number.trim().parse::<i64>().ok()).filter(|number| *number > 0)
        };
        let refuse = number("refuse");
        Self {
            waits: AtomicI64::new(number("lose").unwrap_or(i64::MAX)),
            allocations: AtomicI64::new(refuse.unwrap_or(i64::MAX)),
            each: refuse.unwrap_or(0),
        }
    }

    /// Loses the device at the `n`th wait from now, the first being 1.
    pub fn lose_at_wait(&self, n: u32) {
        self.waits.store(n.into(), Ordering::SeqCst);
    }

    /// Refuses the `n`th allocation from now, the first being 1.
    pub fn refuse_allocation(&self, n: u32) {
        self.allocations.store(n.into(), Ordering::SeqCst);
    }

    /// Cancels all faults. Returns whether any was pending.
    pub fn call_off(&self) -> bool {
        let left = [&self.waits, &self.allocations].map(|count| count.swap(i64::MAX, Ordering::SeqCst));
        left.iter().any(|left| (1..i64::from(u32::MAX)).contains(left))
    }

    pub(super) fn is_the_wait_to_lose(&self) -> bool {
        self.waits.fetch_sub(1, Ordering::SeqCst) == 1
    }

    pub(super) fn is_the_allocation_to_refuse(&self) -> bool {
        let now = self.allocations.fetch_sub(1, Ordering::SeqCst) == 1;
        if now && self.each > 0 {
            self.allocations.store(self.each, Ordering::SeqCst);
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_when_they_were_ordered() {
        let mishaps = Mishaps::default();
        assert!(!mishaps.call_off());
        mishaps.lose_at_wait(2);
        assert_eq!([(); 3].map(|()| mishaps.is_the_wait_to_lose()), [false, true, false]);
        assert!(!mishaps.call_off(), "it has been");
        mishaps.refuse_allocation(5);
        assert!(!mishaps.is_the_allocation_to_refuse() && mishaps.call_off());
        assert!((0..9).all(|_| !mishaps.is_the_allocation_to_refuse()));
        let ordered = Mishaps::parse("refuse=2, lose=1");
        assert_eq!([(); 4].map(|()| ordered.is_the_allocation_to_refuse()), [false, true, false, true]);
        assert!(ordered.is_the_wait_to_lose() && !ordered.is_the_wait_to_lose());
        for nothing in ["", "lose", "lose=-1,refuse=0", "refuse=x"] {
            let nothing = Mishaps::parse(nothing);
            assert!(!nothing.is_the_wait_to_lose() && !nothing.is_the_allocation_to_refuse());
        }
    }
}
