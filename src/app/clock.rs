//! How simulated time follows real time.

/// How simulated time runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// At the pace of real time. Time that cannot be caught up is dropped, so that a slow machine shows slow motion
    /// instead of freezing.
    Realtime,
    /// Stopped.
    Paused,
    /// A fixed number of steps per picture, however long they take.
    FixedRecording {
        /// Steps for one picture.
        steps: u32,
    },
    /// As many steps as fit.
    FastForward,
}

/// Most steps taken for one picture.
const MOST_STEPS: u32 = 12;

/// Turns real time into whole steps.
#[derive(Clone, Debug)]
pub struct Clock {
    /// How time runs.
    pub time: Time,
    /// Simulated seconds in a real one, for [`Time::Realtime`].
    pub speed: f64,
    owed_secs: f64,
}

impl Clock {
    /// A clock that runs as `time`.
    #[must_use]
    pub fn new(time: Time) -> Self {
        Self { time, speed: 1.0, owed_secs: 0.0 }
    }

    /// Steps of `dt_secs` to take after `passed_secs` of real time.
    pub fn steps(&mut self, passed_secs: f64, dt_secs: f64) -> u32 {
        match self.time {
            Time::Paused => {
                self.owed_secs = 0.0;
                0
            }
            Time::FixedRecording { steps } => steps,
            Time::FastForward => MOST_STEPS,
            Time::Realtime => {
                self.owed_secs += passed_secs.clamp(0.0, 1.0) * self.speed;
                let steps = (self.owed_secs / dt_secs).floor();
                if steps > f64::from(MOST_STEPS) {
                    self.owed_secs = 0.0;
                    return MOST_STEPS;
                }
                self.owed_secs -= steps * dt_secs;
                steps as u32
            }
        }
    }

    /// Drops the real time not yet simulated, after a pause or a long computation.
    pub fn forget(&mut self) {
        self.owed_secs = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_time_is_kept_and_bounded() {
        let mut clock = Clock::new(Time::Realtime);
        let steps: u32 = (0..60).map(|_| clock.steps(1.0 / 60.0, 0.01)).sum();
        assert!((99..=100).contains(&steps), "{steps}");
        assert_eq!(clock.steps(0.9, 0.01), MOST_STEPS, "a long frame is not caught up in full");
        assert_eq!(clock.steps(0.0, 0.01), 0, "and the rest is dropped");
        assert_eq!(clock.steps(f64::NAN, 0.01), 0);
    }

    #[test]
    fn slow_motion_takes_fewer_steps() {
        let mut clock = Clock::new(Time::Realtime);
        clock.speed = 0.1;
        let steps: u32 = (0..600).map(|_| clock.steps(1.0 / 60.0, 0.01)).sum();
        assert!((99..=100).contains(&steps), "{steps} in ten seconds");
    }

    #[test]
    fn the_other_ways() {
        assert_eq!(Clock::new(Time::Paused).steps(5.0, 0.01), 0);
        assert_eq!(Clock::new(Time::FixedRecording { steps: 3 }).steps(9.0, 0.01), 3);
        assert_eq!(Clock::new(Time::FastForward).steps(0.0, 0.01), MOST_STEPS);
    }
}
