//! The log of a simulation: `trajectory.npz` and `steps.csv`.
//!
//! In: the bodies after every step. Out: arrays over time and bodies, in the order in which bodies first
//! appeared, and one line of figures a step. The columns are described in `docs/files.md`.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc};

use glam::{DQuat, DVec3};

use crate::{
    bodies::{Body, BodyId, StepReport},
    shape::Shape,
};

use super::{
    Assembly, ExportError, ExportPiece, Npz, Placing,
    motion::{Motion, MotionKey, MotionTrack},
};

#[derive(Clone, Copy)]
struct Sample {
    position: DVec3,
    rotation: DQuat,
    linear_velocity: DVec3,
    angular_velocity: DVec3,
}

struct Track {
    shape: Arc<Shape>,
    mass: f64,
    first: usize,
    samples: Vec<Sample>,
}

/// What is kept of a run.
#[derive(Default)]
pub struct Trajectory {
    times: Vec<f64>,
    /// In the order of their ids, which is that of their birth.
    tracks: BTreeMap<BodyId, Track>,
    lines: Vec<(StepReport, usize)>,
}

impl Trajectory {
    /// Keeps the state at `report.time`.
    pub fn record(&mut self, bodies: &[Body], report: &StepReport) {
        let row = self.times.len();
        self.times.push(report.time);
        for body in bodies {
            let track = self.tracks.entry(body.id).or_insert_with(|| {
                let mass = body.def.shape.mass().kg;
                Track { shape: Arc::clone(&body.def.shape), mass, first: row, samples: Vec::new() }
            });
            let state = &body.state;
            track.samples.push(Sample {
                position: state.position,
                rotation: state.rotation,
                linear_velocity: state.linear_velocity,
                angular_velocity: state.angular_velocity,
            });
        }
        // The state before the first step has no figures.
        if row > 0 {
            self.lines.push((report.clone(), bodies.len()));
        }
    }

    /// States kept so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Nothing kept yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Bodies that ever lived.
    #[must_use]
    pub fn bodies(&self) -> usize {
        self.tracks.len()
    }

    /// Writes `trajectory.npz`. Where a body does not live its values are NaN.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn write_npz(&self, path: &Path) -> Result<(), ExportError> {
        let (rows, bodies) = (self.times.len(), self.tracks.len());
        let mut npz = Npz::create(path)?;
        npz.array("time", &[rows], &self.times)?;
        npz.array("position", &[rows, bodies, 3], &self.table(|s| s.position.to_array()))?;
        npz.array("rotation", &[rows, bodies, 4], &self.table(|s| s.rotation.to_array()))?;
        npz.array("linear_velocity", &[rows, bodies, 3], &self.table(|s| s.linear_velocity.to_array()))?;
        npz.array("angular_velocity", &[rows, bodies, 3], &self.table(|s| s.angular_velocity.to_array()))?;
        let per_body =
            |value: &dyn Fn(&Track) -> f64| -> Vec<f64> { self.tracks.values().map(value).collect() };
        npz.array("mass", &[bodies], &per_body(&|t| t.mass))?;
        npz.array("born", &[bodies], &per_body(&|t| self.times[t.first]))?;
        let died = |t: &Track| self.times.get(t.first + t.samples.len()).copied().unwrap_or(f64::INFINITY);
        npz.array("died", &[bodies], &per_body(&died))?;
        npz.finish()
    }

    /// Everything that ever lived, where it was last, and how it came there: a piece a body, in the order of the
    /// arrays, with keys at `fps` frames a second.
    #[must_use]
    pub fn assembly(&self, fps: f64) -> Assembly {
        let start = self.times.first().copied().unwrap_or_default();
        let mut motion =
            Motion { fps, end: self.times.last().map_or(0.0, |t| t - start), tracks: Vec::new() };
        let mut pieces = Vec::with_capacity(self.tracks.len());
        for (id, track) in self.tracks.values().enumerate() {
            let Some(last) = track.samples.last() else { continue };
            let times = self.times[track.first..].iter().map(|t| t - start);
            let key =
                |(time, s): (f64, &Sample)| MotionKey { time, position: s.position, rotation: s.rotation };
            let states: Vec<MotionKey> = times.zip(&track.samples).map(key).collect();
            let mut moves = MotionTrack::of_states(&states, fps);
            moves.born = (track.first > 0).then(|| self.times[track.first] - start);
            moves.died = self.times.get(track.first + track.samples.len()).map(|t| t - start);
            motion.tracks.push(moves);
            pieces.push(ExportPiece {
                id,
                shape: Arc::clone(&track.shape),
                placing: Placing::of_body(track.shape.mass().centre, last.position, last.rotation),
                object: None,
                cell: None,
                parent: None,
                generation: 0,
            });
        }
        Assembly { pieces, motion: Some(motion), ..Assembly::default() }
    }

    fn table<const N: usize>(&self, value: impl Fn(&Sample) -> [f64; N]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.times.len() * self.tracks.len() * N);
        for row in 0..self.times.len() {
            for track in self.tracks.values() {
                let sample = row.checked_sub(track.first).and_then(|i| track.samples.get(i));
                out.extend(sample.map_or([f64::NAN; N], &value));
            }
        }
        out
    }

    /// Writes `steps.csv`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write_csv(&self, path: &Path) -> Result<(), ExportError> {
        let mut stages: Vec<&str> = Vec::new();
        for timing in self.lines.iter().flat_map(|(report, _)| &report.timings) {
            if !stages.contains(&timing.stage.as_str()) {
                stages.push(&timing.stage);
            }
        }
        let mut text = String::from(
            "time,bodies,awake,frozen,pairs,contact_points,intersection_volume,deepest_penetration,kinetic_energy,\
             potential_energy,momentum_x,momentum_y,momentum_z,angular_momentum_x,angular_momentum_y,angular_momentum_z",
        );
        for stage in &stages {
            // Writing to a string cannot fail, here and below.
            let _ = write!(text, ",ms {}", stage.replace([',', '"'], " "));
        }
        text.push('\n');
        for (report, bodies) in &self.lines {
            let r = report;
            let _ = write!(text, "{},{bodies},{},{},{},{}", r.time, r.awake, r.frozen, r.pairs, r.contacts);
            let _ = write!(text, ",{},{},{},{}", r.intersection_volume, r.deepest, r.kinetic, r.potential);
            for v in r.momentum.to_array().into_iter().chain(r.angular_momentum.to_array()) {
                let _ = write!(text, ",{v}");
            }
            for stage in &stages {
                let ms: f64 =
                    r.timings.iter().filter(|t| t.stage == *stage).map(|t| t.ms).fold(0.0, |a, b| a + b);
                let _ = write!(text, ",{ms:.4}");
            }
            text.push('\n');
        }
        std::fs::write(path, text).map_err(|e| ExportError::write(path, e))
    }
}
