//! One course of things: states at recorded steps, in the order in which they came.

use std::sync::Arc;

use crate::{
    bodies::Body,
    scene::{
        Moment,
        stage::{Motion, Runs},
    },
};

/// A recorded state.
pub(super) struct Frame {
    pub time: f64,
    /// How many events of the scene were over.
    pub next_event: usize,
    /// Ascends over all states that were ever recorded.
    pub serial: u64,
    /// What the bodies were; the same for as long as the same ones live.
    pub epoch: Arc<Moment>,
    pub motions: Runs<Motion>,
}

impl Frame {
    /// Memory of it that the one before it does not share.
    pub fn bytes_beside(&self, before: Option<&Self>) -> usize {
        size_of::<Arc<Self>>()
            + size_of::<Self>()
            + self.motions.bytes_beside(before.map(|before| &before.motions))
    }
}

/// What was recorded without going back. Several may begin with the same states, which they share.
#[derive(Clone, Default)]
pub(super) struct Recording {
    /// Never given twice.
    pub id: u64,
    /// By which people know it, from 1; 0: it has none yet.
    pub number: u32,
    /// Which opened scene it is of.
    pub scene: u32,
    pub frames: Vec<Arc<Frame>>,
    /// Every how many steps a state is kept, as a power of two.
    pub stride_log: u32,
    pub steps: u64,
}

impl Recording {
    /// The first part of it, up to the state of that serial number.
    pub fn until(&self, serial: u64) -> Self {
        let count = self.frames.partition_point(|frame| frame.serial <= serial);
        Self { number: 0, frames: self.frames[..count].to_vec(), ..*self }
    }

    /// Whether the state of that serial number is one of its own, however it was thinned out.
    pub fn has(&self, serial: u64) -> bool {
        self.frames.binary_search_by_key(&serial, |frame| frame.serial).is_ok()
    }

    /// The serial number of the last state.
    pub fn last(&self) -> Option<u64> {
        self.frames.last().map(|frame| frame.serial)
    }

    /// The last state of at most that time, else the first one.
    pub fn at(&self, time: f64) -> usize {
        // Sums of time steps differ in their last bits.
        self.frames.partition_point(|frame| frame.time <= time + 1e-9).saturating_sub(1)
    }

    /// States that no other recording has.
    pub fn own(&self) -> usize {
        self.frames.iter().filter(|frame| Arc::strong_count(frame) == 1).count()
    }

    /// Its share of the memory: what several recordings have is divided among them.
    pub fn bytes(&self) -> f64 {
        let (mut sum, mut before) = (0.0, None::<&Arc<Frame>>);
        let mut of_epoch = 0.0;
        for frame in &self.frames {
            if !before.is_some_and(|before| Arc::ptr_eq(&before.epoch, &frame.epoch)) {
                let like = before.map(|before| &*before.epoch);
                // As many states share it.
                of_epoch = frame.epoch.bytes_beside(like) as f64 / Arc::strong_count(&frame.epoch) as f64;
            }
            let bytes = frame.bytes_beside(before.map(|before| &**before)) as f64 + of_epoch;
            sum += bytes / Arc::strong_count(frame) as f64;
            before = Some(frame);
        }
        sum
    }

    /// Every second state goes, or every second of those that no other recording has (`only_own`); the first of an epoch
    /// and the last of all stay.
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

    /// How many times other bodies came to live.
    pub fn epochs(&self) -> usize {
        let changes = self.frames.windows(2).filter(|two| !Arc::ptr_eq(&two[0].epoch, &two[1].epoch));
        changes.count() + usize::from(!self.frames.is_empty())
    }

    /// Forgets the states of the first so many epochs; how many those were.
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

/// Whether those bodies live in it.
pub(super) fn is_of(moment: &Moment, bodies: &[Body]) -> bool {
    moment.stage.ids().eq(bodies.iter().map(|body| body.id))
}
