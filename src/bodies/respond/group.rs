//! All that acts between two bodies: the points of one manifold, and what resists rolling.

use super::{
    mover::Movers,
    rolling::Roll,
    row::{Row, Soft},
};
use std::ops::Range;

/// One manifold being solved.
pub(super) struct Group {
    /// Which.
    pub manifold: usize,
    /// Its points.
    rows: Range<usize>,
    pub roll: Roll,
    /// Longest arms of its points, m.
    reach: [f64; 2],
    /// It has nothing to do before its bodies are stirred by more than this, m/s.
    until: f64,
    /// Whether it has nothing to do in this round.
    rests: bool,
    /// What its points press in this round, N s.
    load: f64,
}

impl Group {
    /// Of these rows, all of one manifold.
    pub fn new(manifold: usize, rows: Range<usize>, roll: Roll) -> Self {
        Self { manifold, rows, roll, reach: [0.0; 2], until: f64::MIN, rests: false, load: 0.0 }
    }

    /// Before a pass, when its rows have foreseen it.
    pub fn begin(&mut self, rows: &[Row]) {
        let mut reach = [0.0f64; 2];
        self.until = if self.roll.is_idle() { f64::MAX } else { f64::MIN };
        for row in &rows[self.rows.clone()] {
            let own = row.reach_squared();
            reach = [reach[0].max(own[0]), reach[1].max(own[1])];
            self.until = self.until.min(row.rests_until());
        }
        self.reach = reach.map(f64::sqrt);
    }

    /// Begins with the rolling resistance of the last substep.
    pub fn warm_start(&mut self, rows: &[Row], movers: &mut Movers) {
        let load = rows[self.rows.clone()].iter().map(|row| row.normal_impulse).sum();
        self.roll.warm_start(movers, load);
    }

    /// Holds its bodies apart. Gives how much it changed a speed, at most, m/s.
    pub fn press(&mut self, rows: &mut [Row], movers: &mut Movers, soft: Option<Soft>, h: f64) -> f64 {
        self.rests = movers.stirred(self.roll.movers, self.reach) < self.until;
        if self.rests {
            return 0.0;
        }
        let (mut change, mut load) = (0.0f64, 0.0);
        self.until = if self.roll.is_idle() { f64::MAX } else { f64::MIN };
        for row in &mut rows[self.rows.clone()] {
            change = change.max(row.solve(movers, self.reach, soft, h));
            self.until = self.until.min(row.rests_until());
            load += row.normal_impulse;
        }
        self.load = load;
        change
    }

    /// Resists rolling and sliding. Gives how much it changed a speed, at most, m/s.
    pub fn drag(&mut self, rows: &mut [Row], movers: &mut Movers, stick: f64) -> f64 {
        if self.rests {
            return 0.0;
        }
        // Friction comes last, or it would answer turns that rolling resistance then takes out, and small pieces would creep.
        let mut change = self.roll.resist(movers, self.load);
        for row in &mut rows[self.rows.clone()] {
            change = change.max(row.rub(movers, stick));
        }
        change
    }
}
