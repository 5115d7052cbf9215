//! `trajectory.npz`: the states of all bodies during a simulation.
//!
//! In: the bodies after every step. Out: arrays over time and bodies, in the order in which bodies first appeared. The
//! arrays are described in `docs/files.md`.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use glam::{DQuat, DVec3};

use crate::{
    bodies::{Body, BodyId},
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

/// The recorded states of a run.
#[derive(Default)]
pub struct Trajectory {
    times: Vec<f64>,
    /// In the order of body ids, which is the order of their creation.
    tracks: BTreeMap<BodyId, Track>,
}

impl Trajectory {
    /// Records the states at `time`, s.
    pub fn record(&mut self, bodies: &[Body], time: f64) {
        let row = self.times.len();
        self.times.push(time);
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
    }

    /// Number of recorded times.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Number of bodies that existed at any time.
    #[must_use]
    pub fn bodies(&self) -> usize {
        self.tracks.len()
    }

    /// Writes `trajectory.npz` to a temporary file and renames it. Values are NaN while a body does not exist.
    ///
    /// # Errors
    /// [`ExportError`]; the previous file is kept.
    pub fn write_npz(&self, path: &Path) -> Result<(), ExportError> {
        let beside = path.with_extension("part");
        let _under_way = crate::disk::UnderWay::at(&beside);
        let written = self
            .fill(&beside)
            .and_then(|()| fs::rename(&beside, path).map_err(|e| ExportError::write(path, e)));
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&beside);
        }
        written
    }

    fn fill(&self, path: &Path) -> Result<(), ExportError> {
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

    /// All bodies that existed at any time, in their last positions, with their motion: a piece per body, in the order
    /// of the arrays, with keys at `fps` frames per second.
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
}
