//! One recording: states at recorded steps, in order.

use std::sync::Arc;

use crate::{
    bodies::Body,
    scene::{
        Moment,
        stage::{Motion, Runs},
    },
};

/// A recorded state.
pub(in crate::scene) struct Frame {
    pub time: f64,
    /// Number of past events of the scene.
    pub next_event: usize,
    /// Ascending over all states ever recorded.
    pub serial: u64,
    /// Snapshot of the bodies, common to all states with the same set of bodies.
    pub epoch: Arc<Moment>,
    pub motions: Runs<Motion>,
}

impl Frame {
    /// Memory not shared with the state before it, bytes.
    pub fn bytes_beside(&self, before: Option<&Self>) -> usize {
        size_of::<Arc<Self>>()
            + size_of::<Self>()
            + self.motions.bytes_beside(before.map(|before| &before.motions))
    }
}

/// States recorded without going back. Recordings may share their first states.
#[derive(Clone, Default)]
pub(super) struct Recording {
    /// Unique id.
    pub id: u64,
    /// Number shown to the user, from 1; 0 if it has none yet.
    pub number: u32,
    /// Number of the opened scene; a scene whose objects get other numbers counts as another one.
    pub scene: u32,
    pub frames: Vec<Arc<Frame>>,
    /// Logarithm to base 2 of the number of steps per stored state.
    pub stride_log: u32,
    pub steps: u64,
}

impl Recording {
    /// The states up to this serial number.
    pub fn until(&self, serial: u64) -> Self {
        let count = self.frames.partition_point(|frame| frame.serial <= serial);
        Self { number: 0, frames: self.frames[..count].to_vec(), ..*self }
    }

    /// Whether it holds the state of this serial number.
    pub fn has(&self, serial: u64) -> bool {
        self.frames.binary_search_by_key(&serial, |frame| frame.serial).is_ok()
    }

    /// The serial number of the last state.
    pub fn last(&self) -> Option<u64> {
        self.frames.last().map(|frame| frame.serial)
    }

    /// The last state up to that time, or else the first one.
    pub fn at(&self, time: f64) -> usize {
        // Sums of time steps differ in their last bits.
        self.frames.partition_point(|frame| frame.time <= time + 1e-9).saturating_sub(1)
    }

    /// Number of states that no other recording shares.
    pub fn own(&self) -> usize {
        self.frames.iter().filter(|frame| Arc::strong_count(frame) == 1).count()
    }

    /// Its share of the memory: shared states are divided among their recordings, bytes.
    pub fn bytes(&self) -> f64 {
        let (mut sum, mut before) = (0.0, None::<&Arc<Frame>>);
        let mut of_epoch = 0.0;
        for frame in &self.frames {
            if !before.is_some_and(|before| Arc::ptr_eq(&before.epoch, &frame.epoch)) {
                let like = before.map(|before| &*before.epoch);
                // Divided by the number of states that share the snapshot.
                of_epoch = frame.epoch.bytes_beside(like) as f64 / Arc::strong_count(&frame.epoch) as f64;
            }
            let bytes = frame.bytes_beside(before.map(|before| &**before)) as f64 + of_epoch;
            sum += bytes / Arc::strong_count(frame) as f64;
            before = Some(frame);
        }
        sum
    }

    /// Drops every second state, or every second one that no other recording shares (`only_own`), except the first of
    /// an epoch and the very last.
    pub fn thin(&mut self, only_own: bool) {
        let frames = std::mem::take(&mut self.frames);
        let last = frames.len().saturating_sub(1);
        let mut epoch: Option<Arc<Moment>> = None;
        for (i, frame) in frames.into_iter().enumerate() {
            let first = !epoch.as_ref().is_some_and(|epoch| Arc::ptr_eq(epoch, &frame.epoch));
            epoch = Some(Arc::clone(&frame.epoch));
            let shared = only_own && Arc::strong_count(&frame) > 1;
            if i % 2 == 0 || i == last || (first && self.stride_log < 4) || shared {
                self.frames.push(frame);
            }
        }
        self.stride_log += 1;
    }

    /// Number of epochs, that is, of ranges of states with the same set of bodies.
    pub fn epochs(&self) -> usize {
        let changes = self.frames.windows(2).filter(|two| !Arc::ptr_eq(&two[0].epoch, &two[1].epoch));
        changes.count() + usize::from(!self.frames.is_empty())
    }

    /// Drops the states of the first `gone` epochs; returns how many states that were.
    pub fn forget_epochs(&mut self, gone: usize) -> usize {
        let mut left = gone;
        let ends = |two: &[Arc<Frame>]| !Arc::ptr_eq(&two[0].epoch, &two[1].epoch);
        let kept = self.frames.windows(2).position(|two| {
            left -= usize::from(left > 0 && ends(two));
            left == 0
        });
        let lost = kept.map_or(0, |at| at + 1);
        self.frames.drain(..lost);
        lost
    }
}

/// Whether the snapshot has the same set of bodies, with the same structures.
pub(super) fn is_of(moment: &Moment, bodies: &[Body]) -> bool {
    moment.stage.has_bodies(bodies)
}
