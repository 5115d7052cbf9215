//! Fault injection: loses the device at some wait, refuses memory at some allocation, or lets the configuration of a
//! surface fail. With it tests provoke hardware failures at every moment. Only tests have it (feature `testing`): what
//! ships would lose devices by a variable that it inherits.

use std::{
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};

/// The environment variable that configures it: `lose=400,refuse=90` loses every device that the program opens at its
/// 400th wait and refuses every 90th allocation; `configure=5` lets every fifth configuration of a surface, or use of
/// one, fail. `stop=FOLDER` panics at a place of the program once a file of its name lies in the folder.
const VARIABLE: &str = "KINTSUGI_MISHAPS";

/// Counters until the next injected faults.
#[derive(Debug)]
pub struct Mishaps {
    waits: AtomicI64,
    allocations: AtomicI64,
    configurations: AtomicI64,
    /// Intervals of refused allocations and of failing configurations; 0: only one.
    each: i64,
    each_configuration: i64,
}

impl Default for Mishaps {
    fn default() -> Self {
        let never = || AtomicI64::new(i64::MAX);
        Self { waits: never(), allocations: never(), configurations: never(), each: 0, each_configuration: 0 }
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
        let (refuse, configure) = (number("refuse"), number("configure"));
        Self {
            waits: AtomicI64::new(number("lose").unwrap_or(i64::MAX)),
            allocations: AtomicI64::new(refuse.unwrap_or(i64::MAX)),
            configurations: AtomicI64::new(configure.unwrap_or(i64::MAX)),
            each: refuse.unwrap_or(0),
            each_configuration: configure.unwrap_or(0),
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

    /// Lets the `n`th configuration or use of a surface from now fail, the first being 1.
    pub fn fail_configuration(&self, n: u32) {
        self.configurations.store(n.into(), Ordering::SeqCst);
    }

    /// Cancels all faults. Returns whether any was pending.
    pub fn call_off(&self) -> bool {
        let left = [&self.waits, &self.allocations, &self.configurations]
            .map(|count| count.swap(i64::MAX, Ordering::SeqCst));
        left.iter().any(|left| (1..i64::from(u32::MAX)).contains(left))
    }

    pub(super) fn is_the_wait_to_lose(&self) -> bool {
        self.waits.fetch_sub(1, Ordering::SeqCst) == 1
    }

    pub(super) fn is_the_allocation_to_refuse(&self) -> bool {
        is_due(&self.allocations, self.each)
    }

    pub(super) fn is_the_configuration_to_fail(&self) -> bool {
        is_due(&self.configurations, self.each_configuration)
    }
}

/// See [`crate::stop_here`].
pub(crate) fn stop_here(place: &str) {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let wanted = std::env::var(VARIABLE).unwrap_or_default();
        wanted.split(',').find_map(|one| one.trim().strip_prefix("stop=")).map(PathBuf::from)
    });
    if folder.as_ref().is_some_and(|folder| std::fs::remove_file(folder.join(place)).is_ok()) {
        panic!("a test asked for a panic here: {place}");
    }
}

/// Counts down, and says whether that was the last; then it begins anew, if `each` is not 0.
fn is_due(left: &AtomicI64, each: i64) -> bool {
    let now = left.fetch_sub(1, Ordering::SeqCst) == 1;
    if now && each > 0 {
        left.store(each, Ordering::SeqCst);
    }
    now
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
