//! Overlaps of pairs as text: `pairs.csv` and `collision_points.csv`.
//!
//! In: overlaps after a step. Out: one line per pair, and one per collision point, written step by step, since a long
//! run does not fit into memory. The columns are described in `docs/files.md`.

use std::path::Path;

use glam::DVec3;

use crate::bodies::Overlap;

use super::{ExportError, numbers::unsigned_zero as plain, sheet::Sheet};

/// The two files, if they were requested.
pub struct PairLog {
    pairs: Option<Sheet>,
    points: Option<(Sheet, u64)>,
}

impl PairLog {
    /// Creates the files in `folder`: pairs after every step, points after every `every` steps.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path, pairs: bool, every: Option<u64>) -> Result<Self, ExportError> {
        let sheet = |name: &str, header: &str| Sheet::create(&folder.join(name), header);
        let head = "time,first,second,level_first,level_second,cell,points,columns,volume,volume_x,volume_y,volume_z,\
                    gradient_x,gradient_y,gradient_z";
        Ok(Self {
            pairs: pairs.then(|| sheet("pairs.csv", head)).transpose()?,
            points: every
                .map(|every| {
                    let head = "time,first,second,owner,x,y,z,normal_x,normal_y,normal_z";
                    Ok::<_, ExportError>((sheet("collision_points.csv", head)?, every.max(1)))
                })
                .transpose()?,
        })
    }

    /// The files lie in `folder` now.
    pub fn moved_to(&mut self, folder: &Path) {
        let points = self.points.as_mut().map(|(sheet, _)| sheet);
        self.pairs.iter_mut().chain(points).for_each(|sheet| sheet.moved_to(folder));
    }

    /// Whether `step` is logged.
    #[must_use]
    pub fn wants(&self, step: u64) -> bool {
        self.pairs.is_some() || self.points.as_ref().is_some_and(|(_, every)| step.is_multiple_of(*every))
    }

    /// Logs the overlaps after `step`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn record(&mut self, step: u64, time: f64, overlaps: &[Overlap]) -> Result<(), ExportError> {
        let list = |v: DVec3| v.to_array().map(|x| plain(x).to_string()).join(",");
        for o in overlaps {
            // The floor and the walls have no number.
            let pair =
                format!("{time},{},{}", o.first.0, o.second.map_or(String::new(), |id| id.0.to_string()));
            if let Some(sheet) = &mut self.pairs {
                let [a, b] = o.levels;
                let volumes = list(DVec3::from(o.volumes));
                let (points, columns) = (o.points.len(), o.columns.len());
                let gradient = list(o.gradient);
                sheet.line(&format!(
                    "{pair},{a},{b},{},{points},{columns},{},{volumes},{gradient}",
                    o.cell,
                    plain(o.volume)
                ));
            }
            if let Some((sheet, every)) = &mut self.points
                && step.is_multiple_of(*every)
            {
                for p in &o.points {
                    sheet.line(&format!("{pair},{},{},{}", p.owner, list(p.position), list(p.normal)));
                }
            }
        }
        self.pairs.as_mut().map_or(Ok(()), Sheet::flush)?;
        self.points.as_mut().map_or(Ok(()), |(sheet, _)| sheet.flush())
    }
}
