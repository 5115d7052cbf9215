//! `steps.csv`: one line of figures per step, written during the run. The columns are described in `docs/files.md`.

use std::{fmt::Write as _, path::Path};

use super::{ExportError, numbers::unsigned_zero as plain, sheet::Sheet};
use crate::bodies::StepReport;

const COLUMNS: &str = "time,bodies,awake,frozen,pairs,contact_points,intersection_volume,deepest_penetration,kinetic_energy,\
                       potential_energy,momentum_x,momentum_y,momentum_z,angular_momentum_x,angular_momentum_y,\
                       angular_momentum_z";

/// The file being written.
#[derive(Debug)]
pub struct StepLog {
    /// The file.
    pub sheet: Sheet,
    /// Stages that have a column, in the order of first use.
    stages: Vec<String>,
}

impl StepLog {
    /// Creates the file.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        Ok(Self { sheet: Sheet::create(path, COLUMNS)?, stages: Vec::new() })
    }

    /// Writes the figures of a step and the number of `bodies` after it.
    ///
    /// # Errors
    /// [`ExportError::Write`]; the file holds the steps before it.
    pub fn record(&mut self, r: &StepReport, bodies: usize) -> Result<(), ExportError> {
        for timing in &r.timings {
            if !self.stages.contains(&timing.stage) {
                self.sheet.add_column(&format!("ms {}", timing.stage.replace([',', '"'], " ")), "0.0000")?;
                self.stages.push(timing.stage.clone());
            }
        }
        let mut line = format!("{},{bodies},{},{},{},{}", r.time, r.awake, r.frozen, r.pairs, r.contacts);
        // Writing to a string cannot fail, here and below.
        let volume = r.intersection_volume.map_or_else(String::new, |volume| plain(volume).to_string());
        let _ = write!(line, ",{volume},{},{},{}", plain(r.deepest), plain(r.kinetic), plain(r.potential));
        for v in r.momentum.to_array().into_iter().chain(r.angular_momentum.to_array()) {
            let _ = write!(line, ",{}", plain(v));
        }
        for stage in &self.stages {
            let ms = r.timings.iter().filter(|t| t.stage == *stage).map(|t| t.ms).fold(0.0, |a, b| a + b);
            let _ = write!(line, ",{ms:.4}");
        }
        self.sheet.line(&line);
        self.sheet.flush()
    }
}
