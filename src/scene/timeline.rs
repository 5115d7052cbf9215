//! The past of a scene: states at recorded steps, in bounded memory, to be shown again.
//!
//! In: the bodies after each step. Out: any recorded state. Poses and velocities are kept for each recorded
//! step, of bodies that sleep but once; what the bodies are is kept for as long as the same ones live, and shared by those
//! that live on when others come or go. When the memory is full every
//! second state goes and half as many are recorded from then on, so that the whole past stays, less finely. What bodies
//! are counts, too, and goes with the last state that needs it.

use crate::bodies::Body;

use super::{
    Moment,
    stage::{Motion, Runs, motions},
};

/// Bytes of states, and of what the bodies are, above which they are thinned out.
const BUDGET: usize = 64 << 20;

struct Frame {
    time: f64,
    /// How many events of the scene were over.
    next_event: usize,
    /// Index into the epochs.
    epoch: usize,
    motions: Runs<Motion>,
}

impl Frame {
    /// Memory of it that the one before it does not share.
    fn bytes_beside(&self, before: Option<&Self>) -> usize {
        size_of::<Self>() + self.motions.bytes_beside(before.map(|before| &before.motions))
    }
}

/// What has to be put back.
pub(super) struct Wanted<'a> {
    /// Other bodies than live now.
    pub moment: Option<&'a Moment>,
    /// Of the bodies in their order.
    pub motions: &'a Runs<Motion>,
    pub time: f64,
    pub next_event: usize,
}

/// Recorded states.
#[derive(Default)]
pub struct Timeline {
    /// A moment for as long as the same bodies live.
    epochs: Vec<Moment>,
    frames: Vec<Frame>,
    bytes: usize,
    /// Every how many steps a state is kept, as a power of two.
    stride_log: u32,
    steps: u64,
    /// The frame that is shown, where that is not the last.
    cursor: Option<usize>,
}

impl Timeline {
    /// Recorded states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Nothing recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The state that is shown.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor.unwrap_or(self.frames.len().saturating_sub(1))
    }

    /// Time of a recorded state, s.
    #[must_use]
    pub fn time(&self, frame: usize) -> Option<f64> {
        self.frames.get(frame).map(|f| f.time)
    }

    /// Memory of the states and of what the bodies are, bytes; octrees and meshes are counted elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The last moment that it keeps.
    pub(super) fn last(&self) -> Option<&Moment> {
        self.epochs.last()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Keeps the state of `bodies`; `moment` is asked for where other bodies live than before, and told what it may
    /// share. What was recorded after the state that is shown is forgotten: time goes on from there.
    pub(super) fn record(
        &mut self,
        (time, next_event): (f64, usize),
        bodies: &[Body],
        moment: impl FnOnce(Option<&Moment>) -> Moment,
    ) {
        self.cut();
        let step = self.steps;
        self.steps += 1;
        let changed = !self.epochs.last().is_some_and(|epoch| is_of(epoch, bodies));
        if !changed && step & ((1 << self.stride_log) - 1) != 0 {
            return;
        }
        if changed {
            let epoch = moment(self.epochs.last());
            self.bytes += epoch.bytes_beside(self.epochs.last());
            self.epochs.push(epoch);
        }
        let before = self.frames.last();
        let motions = Runs::of(motions(bodies), before.map(|before| &before.motions));
        let frame = Frame { time, next_event, epoch: self.epochs.len() - 1, motions };
        self.bytes += frame.bytes_beside(before);
        self.frames.push(frame);
        while self.bytes > BUDGET && self.frames.len() > 2 {
            self.thin();
        }
    }

    /// Forgets the last state, where it is of `time`: what is recorded next is what became of it at once.
    pub(super) fn forget_last(&mut self, time: f64) {
        self.cut();
        if self.frames.len() > 1 && self.frames.pop_if(|frame| frame.time == time).is_some() {
            let used = self.frames.last().map_or(0, |frame| frame.epoch + 1);
            self.epochs.truncate(used);
            self.count();
        }
    }

    /// Forgets what was recorded after the state that is shown.
    fn cut(&mut self) {
        if let Some(cursor) = self.cursor.take() {
            self.frames.truncate(cursor + 1);
            let last = self.frames.last().map_or(0, |f| f.epoch + 1);
            self.epochs.truncate(last);
            self.count();
        }
    }

    fn count(&mut self) {
        let frames =
            self.frames.iter().scan(None, |before, frame| Some(frame.bytes_beside(before.replace(frame))));
        let epochs = self.epochs.iter().scan(None, |before: &mut Option<&Moment>, epoch| {
            Some(epoch.bytes_beside(before.replace(epoch)))
        });
        self.bytes = frames.sum::<usize>() + epochs.sum::<usize>();
    }

    /// Every second state goes; the first of an epoch and the last of all stay.
    fn thin(&mut self) {
        let frames = std::mem::take(&mut self.frames);
        let last = frames.len() - 1;
        let mut epoch = usize::MAX;
        for (i, frame) in frames.into_iter().enumerate() {
            let first = frame.epoch != epoch;
            epoch = frame.epoch;
            if i % 2 == 0 || i == last || (first && self.stride_log < 4) {
                self.frames.push(frame);
            }
        }
        self.stride_log += 1;
        self.forget_unused();
        self.count();
    }

    /// Forgets what bodies were of which no state is left.
    fn forget_unused(&mut self) {
        let mut used = vec![false; self.epochs.len()];
        self.frames.iter().for_each(|frame| used[frame.epoch] = true);
        let place: Vec<usize> = used
            .iter()
            .scan(0, |next, used| {
                let place = *next;
                *next += usize::from(*used);
                Some(place)
            })
            .collect();
        let mut used = used.into_iter();
        self.epochs.retain(|_| used.next().unwrap_or_default());
        self.frames.iter_mut().for_each(|frame| frame.epoch = place[frame.epoch]);
    }

    /// Forgets the older half, with the octrees that only it holds; false when there was nothing to forget.
    pub(super) fn shrink(&mut self) -> bool {
        if self.epochs.len() < 2 {
            return false;
        }
        let gone = self.epochs.len() / 2;
        self.epochs.drain(..gone);
        let before = self.frames.len();
        self.frames.retain(|f| f.epoch >= gone);
        self.frames.iter_mut().for_each(|f| f.epoch -= gone);
        let lost = before - self.frames.len();
        self.cursor = self.cursor.and_then(|c| c.checked_sub(lost)).filter(|c| *c < self.frames.len());
        self.count();
        true
    }

    /// What has to be put back to show `frame`: the moment where other bodies live now, and the states. Call
    /// [`Timeline::shown`] afterwards.
    pub(super) fn wanted(&self, frame: usize, now: &[Body]) -> Option<Wanted<'_>> {
        let frame = self.frames.get(frame)?;
        let epoch = self.epochs.get(frame.epoch)?;
        Some(Wanted {
            moment: (!is_of(epoch, now)).then_some(epoch),
            motions: &frame.motions,
            time: frame.time,
            next_event: frame.next_event,
        })
    }

    /// `frame` is shown now.
    pub(super) fn shown(&mut self, frame: usize) {
        self.cursor = (frame + 1 < self.frames.len()).then_some(frame);
    }
}

/// Whether those bodies live in it.
fn is_of(moment: &Moment, bodies: &[Body]) -> bool {
    moment.stage.ids().eq(bodies.iter().map(|body| body.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bodies::{BodyDef, BodyState, Family, World, WorldSettings},
        shape::{Look, Octree, Shape},
        svo::{Forest, Grid},
    };
    use glam::DVec3;
    use std::sync::Arc;

    fn world(count: usize) -> World {
        let forest = Arc::new(Forest { level: 1, ..Forest::default() });
        let octree = Octree::new(&forest, 0, Grid { level: 1, origin: DVec3::ZERO, h: 1.0 });
        let shape = Arc::new(Shape::octree(octree, 1.0, Look::default()));
        let mut world = World::on_cpu(WorldSettings::default());
        for _ in 0..count {
            world.add(BodyDef {
                shape: Arc::clone(&shape),
                meters_per_unit: 1.0,
                object_size_m: 1.0,
                family: Family::unique(),
                friction: 0.0,
                restitution: 0.0,
                rolling_resistance: 0.3,
                fixed: false,
                physics_level: 1,
                state: BodyState::at(DVec3::ZERO),
            });
        }
        world
    }

    #[test]
    fn memory_is_bounded_and_the_whole_past_stays() {
        let mut world = world(2000);
        let mut timeline = Timeline::default();
        for step in 0..3000 {
            world.bodies.iter_mut().for_each(|body| body.state.position.x = f64::from(step));
            timeline.record((f64::from(step), 0), &world.bodies, |_| Moment::of(&world.bodies));
            assert!(timeline.bytes() <= BUDGET);
        }
        println!("{} of 3000 states, {} MiB", timeline.len(), timeline.bytes() >> 20);
        assert!(timeline.len() > 100);
        assert_eq!(timeline.time(0), Some(0.0));
        let last = timeline.time(timeline.len() - 1).unwrap();
        assert!(last > 2900.0, "{last}");
        let times: Vec<f64> = (0..timeline.len()).filter_map(|i| timeline.time(i)).collect();
        let widest = times.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        assert!(widest <= 40.0 && times.is_sorted(), "{widest}");
        for i in 0..timeline.len() {
            let wanted = timeline.wanted(i, &world.bodies).unwrap();
            assert!(wanted.motions.iter().all(|motion| motion.0.position.x == wanted.time));
        }
    }

    #[test]
    fn what_the_bodies_were_is_bounded_too() {
        let mut timeline = Timeline::default();
        let one = Moment::default().and_bytes(1 << 20).bytes_beside(None);
        assert!(one >= 1 << 20);
        let worlds = [world(1), world(2)];
        for step in 0..1000_u32 {
            let bodies = &worlds[step as usize % 2].bodies;
            timeline.record((f64::from(step), 0), bodies, |_| Moment::of(bodies).and_bytes(1 << 20));
            assert!(timeline.bytes() <= BUDGET && timeline.epochs.len() * one <= BUDGET);
        }
        // What is left is whole.
        assert!(timeline.len() > 10 && timeline.time(0) == Some(0.0));
        for frame in &timeline.frames {
            assert_eq!(timeline.epochs[frame.epoch].stage.ids().count(), frame.motions.len());
            assert_eq!(frame.motions.len(), 1 + frame.time as usize % 2);
        }
    }

    #[test]
    fn going_on_from_the_past_forgets_the_future() {
        let world = world(3);
        let mut timeline = Timeline::default();
        for step in 0..10 {
            timeline.record((f64::from(step), 0), &world.bodies, |_| Moment::of(&world.bodies));
        }
        assert!(timeline.wanted(10, &world.bodies).is_none());
        timeline.shown(4);
        assert_eq!((timeline.cursor(), timeline.len()), (4, 10));
        timeline.record((4.5, 0), &world.bodies, |_| Moment::of(&world.bodies));
        assert_eq!((timeline.cursor(), timeline.len(), timeline.time(5)), (5, 6, Some(4.5)));
    }

    #[test]
    fn other_bodies_need_their_moment() {
        let (few, many) = (world(2), world(5));
        let mut timeline = Timeline::default();
        timeline.record((0.0, 0), &few.bodies, |_| Moment::of(&few.bodies));
        timeline.record((1.0, 1), &few.bodies, |_| panic!("the same bodies need no moment"));
        timeline.record((2.0, 2), &many.bodies, |_| Moment::of(&many.bodies));
        assert!(timeline.wanted(1, &few.bodies).unwrap().moment.is_none());
        assert!(timeline.wanted(1, &many.bodies).unwrap().moment.is_some());
        let last = timeline.wanted(2, &many.bodies).unwrap();
        assert_eq!((last.motions.len(), last.next_event), (5, 2));
        assert!(timeline.shrink() && !timeline.shrink());
        assert_eq!((timeline.len(), timeline.time(0)), (1, Some(2.0)));
    }
}
