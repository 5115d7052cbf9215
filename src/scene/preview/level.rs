//! Chooses the octree level of previews: as fine as their time budget allows.
//!
//! In: times of past previews, and the time that a frame leaves to them. Out: the level of the next preview.

/// Level of the first preview; at least 5.
const FIRST_LEVEL: u32 = 6;
const LEAST_LEVEL: u32 = 5;
/// Longest time of a preview before a coarser level is chosen, ms; less if the rest of the frame leaves less of a tenth
/// of a second.
const MOST_MS: f64 = 80.0;
/// Time that a preview may always take, however long the rest of the frame takes, ms.
const LEAST_ROOM_MS: f64 = 65.0;
/// A finer level is chosen if its expected time is below this, ms.
const AIM_MS: f64 = 36.0;
/// Factor between the numbers of voxels of consecutive levels.
pub(super) const GROWTH: f64 = 4.5;
/// Number of measurements before a change of level, since a single slow one may have any cause.
const PATIENCE: usize = 3;

/// Chooses the octree level by the measured times of previews.
#[derive(Clone, Debug)]
pub struct LevelControl {
    level: u32,
    most: u32,
    room_ms: f64,
    times_ms: Vec<f64>,
}

impl Default for LevelControl {
    fn default() -> Self {
        Self {
            level: FIRST_LEVEL,
            most: crate::svo::MAX_PASSES_LEVEL,
            room_ms: MOST_MS,
            times_ms: Vec::new(),
        }
    }
}

impl LevelControl {
    /// The level for an object with leaves at `object_level`.
    #[must_use]
    pub fn level(&self, object_level: u32) -> u32 {
        self.level.min(object_level).max(1)
    }

    /// Sets the time that a frame leaves to previews, ms.
    pub fn leave_room(&mut self, ms: f64) {
        self.room_ms = if ms.is_finite() { ms.clamp(LEAST_ROOM_MS, MOST_MS) } else { MOST_MS };
    }

    /// Records the time of a preview at [`LevelControl::level`] of `object_level`.
    pub fn measured(&mut self, object_level: u32, ms: f64) {
        self.level = self.level(object_level).max(LEAST_LEVEL);
        self.times_ms.push(ms);
        if self.times_ms.len() < PATIENCE {
            return;
        }
        self.times_ms.sort_by(f64::total_cmp);
        let median = self.times_ms[PATIENCE / 2];
        self.times_ms.clear();
        if median > self.room_ms && self.level > LEAST_LEVEL {
            self.level -= 1;
        } else if median * GROWTH < AIM_MS && self.level < object_level.min(self.most) {
            self.level += 1;
        }
    }

    /// Notes that the adapter has no memory for a preview at `level`.
    pub fn refused(&mut self, level: u32) {
        self.most = level.saturating_sub(1).max(LEAST_LEVEL);
        self.level = self.level.min(self.most);
        self.times_ms.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the control on a machine that takes `ms` at level 6 and `growth` times as long at each finer level.
    fn settled(ms: f64, growth: f64, object_level: u32) -> u32 {
        let mut control = LevelControl::default();
        let mut seen = Vec::new();
        for _ in 0..60 {
            let level = control.level(object_level);
            seen.push(level);
            control.measured(object_level, ms * growth.powi(level as i32 - 6));
        }
        let last = &seen[40..];
        assert!(last.iter().all(|l| *l == last[0]), "it swings: {seen:?}");
        last[0]
    }

    #[test]
    fn the_level_follows_the_time_and_comes_to_rest() {
        assert_eq!(settled(20.0, 4.2, 8), 6);
        assert_eq!(settled(2.0, 4.2, 8), 7);
        assert_eq!(settled(0.1, 4.2, 8), 8, "a fast machine goes to the object's own level");
        assert_eq!(settled(0.1, 4.2, 4), 4, "which may be coarse");
        assert_eq!(settled(200.0, 4.0, 8), 5);
        assert_eq!(settled(5000.0, 4.0, 8), 5, "and there is a least");
    }

    #[test]
    fn a_slow_picture_leaves_less_room() {
        let mut control = LevelControl { level: 7, ..LevelControl::default() };
        control.leave_room(75.0);
        for _ in 0..9 {
            control.measured(8, 70.0);
        }
        assert_eq!(control.level(8), 7, "70 ms fit into 75");
        control.leave_room(66.0);
        for _ in 0..3 {
            control.measured(8, 70.0);
        }
        assert_eq!(control.level(8), 6, "but not into 66");
    }

    #[test]
    fn one_slow_preview_changes_nothing() {
        let mut control = LevelControl::default();
        for ms in [20.0, 900.0, 20.0, 20.0, 700.0, 20.0] {
            control.measured(8, ms);
        }
        assert_eq!(control.level(8), 6);
    }

    #[test]
    fn a_level_that_does_not_fit_is_not_tried_again() {
        let mut control = LevelControl::default();
        control.refused(7);
        for _ in 0..30 {
            control.measured(9, 0.1);
        }
        assert_eq!(control.level(9), 6);
    }
}
