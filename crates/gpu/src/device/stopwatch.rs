//! Timings of repeated frames, read without ever waiting.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::{Gpu, PendingTimings, Readback, StageTiming};

const ASKED: u32 = 0;
const MAPPED: u32 = 1;
const FAILED: u32 = 2;

/// Most frames whose timings may be pending; further frames are not timed.
const MOST: usize = 3;

/// Collects the timings of frames as they arrive.
#[derive(Default)]
pub struct Stopwatch {
    under_way: Vec<(PendingTimings, Arc<AtomicU32>)>,
    latest: Vec<StageTiming>,
}

impl Stopwatch {
    /// Whether the next frame can be timed.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.under_way.len() < MOST
    }

    /// Requests the timings of a submitted frame.
    pub fn submitted(&mut self, frame: PendingTimings) {
        let Some(staging) = &frame.staging else { return };
        let state = Arc::new(AtomicU32::new(ASKED));
        let answer = Arc::clone(&state);
        staging.raw().slice(..).map_async(wgpu::MapMode::Read, move |result| {
            answer.store(if result.is_ok() { MAPPED } else { FAILED }, Ordering::Release);
        });
        self.under_way.push((frame, state));
    }

    /// Collects timings that have arrived.
    pub fn collect(&mut self, gpu: &Gpu) {
        // The next frame reports a lost device.
        let _ = gpu.look();
        let (arrived, under_way): (Vec<_>, Vec<_>) =
            self.under_way.drain(..).partition(|(_, state)| state.load(Ordering::Acquire) != ASKED);
        self.under_way = under_way;
        for (frame, state) in arrived {
            if state.load(Ordering::Acquire) != MAPPED {
                continue;
            }
            let Some(Ok(ticks)) = frame.staging.as_ref().map(Readback::to_vec) else {
                continue;
            };
            self.latest.clear();
            frame.add_to(&mut self.latest, &ticks, gpu);
        }
    }

    /// The latest timings.
    #[must_use]
    pub fn latest(&self) -> &[StageTiming] {
        &self.latest
    }
}
