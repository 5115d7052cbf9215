//! Recorded motion as animation keys, one node per piece.
//!
//! In: states of a body at the steps of a simulation. Out: keys at a frame rate, between which readers interpolate
//! linearly. Redundant keys are dropped, so a body at rest has none; the last key is the last state.

use glam::{DQuat, DVec3, Quat};

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

impl MotionTrack {
    /// Samples states (by time) at whole frames, and at their first and last time.
    #[must_use]
    pub fn of_states(states: &[MotionKey], fps: f64) -> Self {
        let (Some(first), Some(last)) = (states.first(), states.last()) else { return Self::default() };
        let frames = (first.time * fps).ceil() as u64..=(last.time * fps).floor() as u64;
        // Times of steps are sums, so the step that a frame falls on may differ from it by rounding.
        let near = 1e-6 / fps;
        let inner = frames.map(|frame| frame as f64 / fps);
        let inner = inner.filter(|t| *t > first.time + near && *t < last.time - near);
        let mut keys = vec![*first];
        keys.extend(inner.map(|time| at(states, time, near)));
        if last.time > first.time {
            keys.push(*last);
        }
        for i in 1..keys.len() {
            // The same rotation with the sign that gives the shorter path.
            if keys[i].rotation.dot(keys[i - 1].rotation) < 0.0 {
                keys[i].rotation = -keys[i].rotation;
            }
        }
        Self { keys: without_rest(keys), born: None, died: None }
    }
}

/// The interpolated state at a time within `states`.
fn at(states: &[MotionKey], time: f64, near: f64) -> MotionKey {
    let after = states.partition_point(|s| s.time < time - near).clamp(1, states.len() - 1);
    let (a, b) = (states[after - 1], states[after]);
    if (b.time - time).abs() <= near {
        return MotionKey { time, ..b };
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
fn shown(key: &MotionKey) -> (glam::Vec3, Quat) {
    (key.position.as_vec3(), key.rotation.as_quat())
}

/// Drops keys within and at the end of periods of rest.
fn without_rest(keys: Vec<MotionKey>) -> Vec<MotionKey> {
    let same = |a: &MotionKey, b: Option<&MotionKey>| b.is_none_or(|b| shown(a) == shown(b));
    let said = |i: usize| i > 0 && same(&keys[i], keys.get(i - 1)) && same(&keys[i], keys.get(i + 1));
    (0..keys.len()).filter(|i| !said(*i)).map(|i| keys[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let track = MotionTrack::of_states(&states, 30.0);
        let last = track.keys.last().unwrap();
        assert!((1.0..1.04).contains(&last.time), "{}", last.time);
        assert_eq!(last.position.as_vec3(), states[300].position.as_vec3());
        assert!(last.rotation.dot(states[300].rotation).abs() > 1.0 - 1e-12);
        assert!(
            track.keys.windows(2).all(|k| k[0].time < k[1].time && k[0].rotation.dot(k[1].rotation) > 0.0)
        );
        assert_eq!(track.keys.len(), 31, "one a frame");
        for key in &track.keys[..30] {
            assert!((key.position.x - key.time).abs() < 1e-9, "{key:?}");
        }
    }

    #[test]
    fn moving_to_the_end_ends_with_the_last_step_and_resting_is_one_key() {
        let moving: Vec<_> = (0..=7).map(|i| state(f64::from(i) * 0.01, f64::from(i) * 0.1)).collect();
        let keys = MotionTrack::of_states(&moving, 25.0).keys;
        assert_eq!(keys.iter().map(|k| k.time).collect::<Vec<_>>(), [0.0, 0.04, 0.07]);
        assert_eq!(keys[2].position, moving[7].position);
        let resting: Vec<_> = (0..9).map(|i| state(f64::from(i), 0.5)).collect();
        assert_eq!(MotionTrack::of_states(&resting, 60.0).keys.len(), 1);
        assert_eq!(MotionTrack::of_states(&[], 60.0), MotionTrack::default());
    }
}
