//! Recorded motion as animation keys, one node per piece.
//!
//! In: states of a body at the steps of a simulation. Out: keys at a frame rate, between which readers interpolate
//! linearly. Redundant keys are dropped, so a body at rest has none; the last key is the last state.

use std::collections::VecDeque;

use glam::{DQuat, DVec3, Quat, Vec3};

/// Pose of a piece at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionKey {
    /// Time from the start of the recording, s.
    pub time: f64,
    /// Centre of mass, world, m.
    pub position: DVec3,
    /// Rotation from shape space to the world.
    pub rotation: DQuat,
}

/// Motion of one piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionTrack {
    /// Keys by time; at least one.
    pub keys: Vec<MotionKey>,
    /// When the piece appears, if after the start, s.
    pub born: Option<f64>,
    /// When the piece disappears, s.
    pub died: Option<f64>,
}

/// Motion of all pieces, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// One track per piece.
    pub tracks: Vec<MotionTrack>,
    /// Frame rate, Hz.
    pub fps: f64,
    /// When the recording ends, s.
    pub end: f64,
}

/// Makes the keys of a track while its states come in: at whole frames, and at the first and last state.
#[derive(Debug)]
pub struct Keys {
    fps: f64,
    /// The next frame.
    frame: u64,
    first: f64,
    last: Option<MotionKey>,
    /// Keys at frames where the last state may be, which then has a key of its own.
    waiting: VecDeque<MotionKey>,
    /// What files show of the key before `newest`.
    before: Option<(Vec3, Quat)>,
    newest: Option<MotionKey>,
    keys: Vec<MotionKey>,
}

impl Keys {
    /// No states yet; keys will lie at whole frames of `fps` a second.
    #[must_use]
    pub fn new(fps: f64) -> Self {
        let (waiting, keys) = (VecDeque::new(), Vec::new());
        Self { fps, frame: 0, first: 0.0, last: None, waiting, before: None, newest: None, keys }
    }

    /// Times of steps are sums, so the step that a frame falls on may differ from the frame by rounding.
    fn near(&self) -> f64 {
        1e-6 / self.fps
    }

    /// The next state, by time.
    pub fn push(&mut self, state: MotionKey) {
        let near = self.near();
        let Some(previous) = self.last.replace(state) else {
            self.first = state.time;
            self.frame = (state.time * self.fps).ceil() as u64;
            return self.add(state);
        };
        loop {
            let time = self.frame as f64 / self.fps;
            if time - near > state.time {
                break;
            }
            if time > self.first + near {
                self.waiting.push_back(at(&previous, &state, time, near));
            }
            self.frame += 1;
        }
        while self.waiting.front().is_some_and(|key| key.time < state.time - near) {
            self.waiting.pop_front().into_iter().for_each(|key| self.add(key));
        }
    }

    /// Drops keys within periods of rest.
    fn add(&mut self, mut key: MotionKey) {
        if let Some(newest) = self.newest {
            // The same rotation with the sign that gives the shorter path.
            if key.rotation.dot(newest.rotation) < 0.0 {
                key.rotation = -key.rotation;
            }
            let seen = Some(shown(&newest));
            if self.before != seen || Some(shown(&key)) != seen {
                self.keys.push(newest);
            }
            self.before = seen;
        }
        self.newest = Some(key);
    }

    /// The last state, and the keys. Of keys at rest at the end, none is left.
    #[must_use]
    pub fn finish(mut self) -> Option<(MotionKey, Vec<MotionKey>)> {
        let last = self.last?;
        if last.time > self.first {
            self.add(last);
        }
        self.keys.extend(self.newest.filter(|key| self.before != Some(shown(key))));
        Some((last, self.keys))
    }
}

/// The state at a time between two states.
fn at(a: &MotionKey, b: &MotionKey, time: f64, near: f64) -> MotionKey {
    if (b.time - time).abs() <= near {
        return MotionKey { time, ..*b };
    }
    let part = ((time - a.time) / (b.time - a.time)).clamp(0.0, 1.0);
    let turn = if a.rotation.dot(b.rotation) < 0.0 { -b.rotation } else { b.rotation };
    MotionKey {
        time,
        position: a.position.lerp(b.position, part),
        rotation: (a.rotation * (1.0 - part) + turn * part).normalize(),
    }
}

/// A key as files store it, without its time.
fn shown(key: &MotionKey) -> (Vec3, Quat) {
    (key.position.as_vec3(), key.rotation.as_quat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(states: &[MotionKey], fps: f64) -> Vec<MotionKey> {
        let mut keys = Keys::new(fps);
        states.iter().for_each(|state| keys.push(*state));
        keys.finish().map_or_else(Vec::new, |(_, keys)| keys)
    }

    /// The same from all states at once, frame by frame.
    fn plain(states: &[MotionKey], fps: f64) -> Vec<MotionKey> {
        let (Some(first), Some(last)) = (states.first(), states.last()) else { return Vec::new() };
        let near = 1e-6 / fps;
        let mut all = vec![*first];
        for frame in (first.time * fps).ceil() as u64..=(last.time * fps).floor() as u64 {
            let time = frame as f64 / fps;
            if time > first.time + near && time < last.time - near {
                let after = states.iter().position(|s| s.time >= time - near).unwrap();
                all.push(at(&states[after - 1], &states[after], time, near));
            }
        }
        all.extend((states.len() > 1).then_some(*last));
        for i in 1..all.len() {
            if all[i].rotation.dot(all[i - 1].rotation) < 0.0 {
                all[i].rotation = -all[i].rotation;
            }
        }
        let same = |i: usize, j: usize| all.get(j).is_none_or(|other| shown(&all[i]) == shown(other));
        (0..all.len()).filter(|i| *i == 0 || !(same(*i, i - 1) && same(*i, i + 1))).map(|i| all[i]).collect()
    }

    fn state(time: f64, x: f64) -> MotionKey {
        let turn = DQuat::from_rotation_y(x);
        // Quaternions may have either sign.
        let rotation = if (x * 10.0) as i64 % 2 == 0 { turn } else { -turn };
        MotionKey { time, position: DVec3::X * x, rotation }
    }

    #[test]
    fn keys_stop_where_motion_does_and_the_last_is_the_last_state() {
        // Falls for a second, then lies still for two.
        let states: Vec<_> =
            (0..=300).map(|i| state(f64::from(i) * 0.01, f64::from(i.min(100)) * 0.01)).collect();
        let keys = keys_of(&states, 30.0);
        let last = keys.last().unwrap();
        assert!((1.0..1.04).contains(&last.time), "{}", last.time);
        assert_eq!(last.position.as_vec3(), states[300].position.as_vec3());
        assert!(last.rotation.dot(states[300].rotation).abs() > 1.0 - 1e-12);
        assert!(keys.windows(2).all(|k| k[0].time < k[1].time && k[0].rotation.dot(k[1].rotation) > 0.0));
        assert_eq!(keys.len(), 31, "one a frame");
        for key in &keys[..30] {
            assert!((key.position.x - key.time).abs() < 1e-9, "{key:?}");
        }
    }

    #[test]
    fn moving_to_the_end_ends_with_the_last_step_and_resting_is_one_key() {
        let moving: Vec<_> = (0..=7).map(|i| state(f64::from(i) * 0.01, f64::from(i) * 0.1)).collect();
        let keys = keys_of(&moving, 25.0);
        assert_eq!(keys.iter().map(|k| k.time).collect::<Vec<_>>(), [0.0, 0.04, 0.07]);
        assert_eq!(keys[2].position, moving[7].position);
        let resting: Vec<_> = (0..9).map(|i| state(f64::from(i), 0.5)).collect();
        assert_eq!(keys_of(&resting, 60.0).len(), 1);
        assert_eq!(keys_of(&[], 60.0), []);
    }

    #[test]
    fn keys_that_are_made_step_by_step_are_those_of_all_states() {
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for round in 0..2000 {
            let fps = [1.0, 24.0, 25.0, 30.0, 60.0, 1000.0][next(6) as usize];
            let dt = [0.01, 1.0 / 60.0, 1.0 / 30.0, 0.04, 0.5][next(5) as usize];
            let (begin, mut x) = (next(100), 0.0);
            let states: Vec<MotionKey> = (begin..begin + next(60))
                .map(|step| {
                    x += [0.0, 0.0, 0.1][next(3) as usize];
                    state(step as f64 * dt, x)
                })
                .collect();
            assert_eq!(keys_of(&states, fps), plain(&states, fps), "{round}: {fps} {dt} {states:?}");
        }
    }
}
