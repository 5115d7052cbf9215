//! Threads that wait busily while a heap is solved.
//!
//! A pass over a heap of some hundred pieces takes fifty microseconds, about as long as waking a thread of the pool.
//! Threads that poll for work halve the time; sleeping threads would gain nothing (docs/lab/steps.md, "Heaps solved in
//! parts").

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether a heap has helpers. One at a time: two whose helpers were each other's threads would wait for each
/// other for ever.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Bit in the number of helpers: no other thread may join.
const CLOSED: u32 = 1 << 31;

/// The helpers of one heap.
#[derive(Default)]
struct Team {
    helpers: AtomicU32,
    over: AtomicBool,
}

impl Team {
    /// Adds a helper, unless work has begun. A thread that came later could start in the middle of this very heap's
    /// work, which then would wait for what it depends on.
    fn join(&self) -> bool {
        let more = |count: u32| (count & CLOSED == 0).then_some(count + 1);
        self.helpers.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Lets no other thread join; returns the number of helpers.
    fn close(&self) -> u32 {
        self.helpers.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED
    }

    /// Does what others hand over, until all is done.
    fn stand_by(&self) {
        while !self.over.load(Ordering::Acquire) {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                // Gives the core to another thread that wants it.
                std::thread::yield_now();
            }
        }
    }
}

/// Says that the work is done, also where it panics.
struct Done<'a>(&'a Team);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.over.store(true, Ordering::Release);
        TAKEN.store(false, Ordering::Release);
    }
}

/// Calls `work` in the pool while up to `count` of its other threads poll for its tasks: those that are idle when
/// `prepare`, which must not spawn tasks, is done. Returns their number. With a `count` of 0 `work` runs on the calling
/// thread.
pub(in crate::solver) fn with_helpers<P: Send>(
    count: usize,
    prepare: impl FnOnce() -> P + Send,
    work: impl FnOnce(P) + Send,
) -> u32 {
    if count == 0 {
        work(prepare());
        return 0;
    }
    if TAKEN.swap(true, Ordering::AcqRel) {
        rayon::scope(|_| work(prepare()));
        return 0;
    }
    let team = Team::default();
    let done = Done(&team);
    rayon::scope(|scope| {
        let (done, team) = (done, &team);
        for _ in 0..count.min(rayon::current_num_threads() - 1) {
            scope.spawn(|_| {
                if team.join() {
                    team.stand_by();
                }
            });
        }
        let prepared = prepare();
        let helpers = team.close();
        work(prepared);
        drop(done);
        helpers
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Hands over work again and again; how often it was done, and how many helped.
    fn busy(count: usize, wait: Duration) -> (u32, u32) {
        let sum = AtomicU32::new(0);
        let prepare = || std::thread::sleep(wait);
        let helpers = with_helpers(count, prepare, |()| {
            for _ in 0..500 {
                let add = || sum.fetch_add(1, Ordering::Relaxed);
                rayon::join(|| rayon::join(add, add), || rayon::join(add, add));
            }
        });
        (sum.into_inner(), helpers)
    }

    /// As many as stand by once no other test has helpers.
    fn helped(count: usize) -> u32 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let tries = (0..200).map(|_| pool.install(|| busy(count, Duration::from_millis(20))).1);
        tries.take_while(|helpers| *helpers == 0).count();
        pool.install(|| (0..50).map(|_| busy(count, Duration::from_millis(20)).1).max().unwrap_or(0))
    }

    #[test]
    fn idle_threads_stand_by() {
        assert_eq!(helped(1), 1);
        assert_eq!(helped(2), 2);
        assert_eq!(helped(9), 2, "there are three threads");
    }

    #[test]
    fn heaps_side_by_side_do_not_wait_for_each_other() {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..6).map(|k| scope.spawn(move || busy(k % 3, Duration::ZERO).0)).collect();
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().expect("no panic"), 2000));
        });
        // From within the pool, too, with work that the leader takes up while it waits for a helper.
        rayon::scope(|scope| {
            for k in 0..16 {
                scope.spawn(move |_| assert_eq!(busy(k % 4, Duration::ZERO).0, 2000));
            }
        });
    }

    #[test]
    fn a_panic_lets_the_helpers_go() {
        for planted in [true, false] {
            let fails = || {
                let prepare = || assert!(!planted, "planted");
                with_helpers(2, prepare, |()| panic!("planted"))
            };
            assert!(std::panic::catch_unwind(fails).is_err());
        }
        assert_eq!(helped(2), 2, "others still have helpers");
    }
}
