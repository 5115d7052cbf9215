//! The times of what is drawn again and again, read without ever waiting.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::{Gpu, PendingTimings, StageTiming, Staged};

const ASKED: u32 = 0;
const MAPPED: u32 = 1;
const FAILED: u32 = 2;

/// Frames whose times may be under way; those that come while so many are go untimed rather than wait.
const MOST: usize = 3;

/// Takes in the times of frames as they arrive.
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

    /// Asks for the times of a frame that was submitted.
    pub fn submitted(&mut self, frame: PendingTimings) {
        let Some(staging) = &frame.staging else { return };
        let state = Arc::new(AtomicU32::new(ASKED));
        let answer = Arc::clone(&state);
        staging.raw().slice(..).map_async(wgpu::MapMode::Read, move |result| {
            answer.store(if result.is_ok() { MAPPED } else { FAILED }, Ordering::Release);
        });
        self.under_way.push((frame, state));
    }

    /// Takes in what has arrived.
    pub fn collect(&mut self, gpu: &Gpu) {
        // A lost device is told by the next frame.
        let _ = gpu.look();
        let (arrived, under_way): (Vec<_>, Vec<_>) =
            self.under_way.drain(..).partition(|(_, state)| state.load(Ordering::Acquire) != ASKED);
        self.under_way = under_way;
        for (frame, state) in arrived {
            if state.load(Ordering::Acquire) != MAPPED {
                continue;
            }
            let Some(Ok(ticks)) = frame.staging.as_ref().map(Staged::to_vec) else {
                continue;
            };
            self.latest.clear();
            frame.add_to(&mut self.latest, &ticks, gpu);
        }
    }

    /// The last times that arrived.
    #[must_use]
    pub fn latest(&self) -> &[StageTiming] {
        &self.latest
    }
}
