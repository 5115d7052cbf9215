//! Threads that stand by while a heap is solved.
//!
//! A pass over a heap of some hundred pieces takes fifty microseconds, which is what it takes to wake a thread of the pool as well.
//! Threads that look for work all the time halve it; asleep they would gain nothing (docs/physics.md, "What made the fall cheaper").

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a heap has helpers. One at a time: two whose helpers were each other's threads would wait for each other for ever.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Says that the work is done, also where it panics.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        TAKEN.store(false, Ordering::Release);
    }
}

/// Does `work` in the pool while up to `count` of its other threads stand by for what the work hands over. Where there are none to be
/// had, it is done all the same.
pub(super) fn with_helpers(count: usize, work: impl FnOnce() + Send) {
    if count == 0 || TAKEN.swap(true, Ordering::AcqRel) {
        return work();
    }
    let over = AtomicBool::new(false);
    let done = Done(&over);
    rayon::scope(|scope| {
        let (done, over) = (done, &over);
        let lead = rayon::current_thread_index().unwrap_or_default();
        scope.spawn_broadcast(move |_, thread| {
            let order = (thread.index() + thread.num_threads() - lead) % thread.num_threads();
            if (1..=count).contains(&order) {
                stand_by(over);
            }
        });
        work();
        drop(done);
    });
}

/// Does what others hand over, until all is done.
fn stand_by(over: &AtomicBool) {
    while !over.load(Ordering::Acquire) {
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            // Whoever else wants this core may have it.
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Hands over work again and again, in the pool or not.
    fn busy(count: usize) -> u32 {
        let sum = AtomicU32::new(0);
        with_helpers(count, || {
            for _ in 0..500 {
                let add = || sum.fetch_add(1, Ordering::Relaxed);
                rayon::join(add, add);
            }
        });
        sum.into_inner()
    }

    #[test]
    fn heaps_side_by_side_do_not_wait_for_each_other() {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6).map(|k| scope.spawn(move || busy(k % 3))).collect();
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().expect("no panic"), 1000));
        });
        // From within the pool, too, with work that the leader takes up while it waits for a helper.
        rayon::scope(|scope| {
            for k in 0..16 {
                scope.spawn(move |_| assert_eq!(busy(k % 4), 1000));
            }
        });
    }

    #[test]
    fn a_panic_lets_the_helpers_go() {
        let result = std::panic::catch_unwind(|| with_helpers(2, || panic!("planted")));
        assert!(result.is_err());
        assert_eq!(busy(2), 1000);
    }
}
