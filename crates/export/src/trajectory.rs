//! `trajectory.npz`: the states of all bodies during a simulation.
//!
//! In: the bodies after every step. Out: arrays over time and bodies, in the order in which bodies first appeared. The
//! arrays are described in `docs/files.md`. Numbers of past steps wait in files without a name beside the result, from
//! which the arrays are copied: memory grows with the number of bodies, and not with that of steps.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    bodies::{Body, BodyId},
    shape::Shape,
};

use super::{
    Arrays as _, Assembly, ExportError, ExportPiece, Npz, Placing,
    column::{Column, HELD},
    motion::{Keys, Motion, MotionKey, MotionTrack},
    npy::write_whole,
};

/// What an array of states is called, and how many numbers a state has there.
const STATES: [(&str, usize); 4] =
    [("position", 3), ("rotation", 4), ("linear_velocity", 3), ("angular_velocity", 3)];

#[derive(Debug)]
struct Track {
    mass: f64,
    /// The first row in which the body is there, and the first in which it no longer is.
    rows: std::ops::Range<usize>,
    born: f64,
    died: f64,
    /// What an animation shows of it.
    shown: Option<(Arc<Shape>, Keys)>,
}

/// The recorded states of a run.
#[derive(Debug)]
pub struct Trajectory {
    folder: PathBuf,
    fps: Option<f64>,
    held: usize,
    rows: usize,
    /// Times of the first and the last row, s.
    span: [f64; 2],
    times: Column<f64>,
    states: [Column<f64>; 4],
    /// In the order of body ids, which is the order of their creation.
    tracks: BTreeMap<BodyId, Track>,
    /// Bodies of the last row, ascending.
    living: Vec<BodyId>,
}

impl Trajectory {
    /// No states yet; they will wait in files in `folder`. With a frame rate, animation keys are made of them.
    #[must_use]
    pub fn new(folder: &Path, fps: Option<f64>) -> Self {
        Self {
            folder: folder.to_owned(),
            fps,
            held: HELD,
            rows: 0,
            span: [0.0; 2],
            times: Column::default(),
            states: Default::default(),
            tracks: BTreeMap::new(),
            living: Vec::new(),
        }
    }

    /// The folder has another name now.
    pub fn moved_to(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    /// Records the states at `time`, s.
    ///
    /// # Errors
    /// [`ExportError::Write`] where the disk has no room for what memory should not hold; the states are recorded.
    pub fn record(&mut self, bodies: &[Body], time: f64) -> Result<(), ExportError> {
        let row = self.rows;
        self.rows += 1;
        self.span = [if row == 0 { time } else { self.span[0] }, time];
        self.times.extend([time]);
        let mut bodies: Vec<&Body> = bodies.iter().collect();
        bodies.sort_by_key(|body| body.id);
        for body in &bodies {
            let track = self.tracks.entry(body.id).or_insert_with(|| {
                let shape = &body.def.shape;
                let shown = self.fps.map(|fps| (Arc::clone(shape), Keys::new(fps)));
                Track { mass: shape.mass().kg, rows: row..row, born: time, died: f64::INFINITY, shown }
            });
            track.rows.end = row + 1;
            let state = &body.state;
            let [positions, rotations, linear, angular] = &mut self.states;
            positions.extend(state.position.to_array());
            rotations.extend(state.rotation.to_array());
            linear.extend(state.linear_velocity.to_array());
            angular.extend(state.angular_velocity.to_array());
            if let Some((_, keys)) = &mut track.shown {
                let time = time - self.span[0];
                keys.push(MotionKey { time, position: state.position, rotation: state.rotation });
            }
        }
        if !bodies.iter().map(|body| &body.id).eq(&self.living) {
            for id in &self.living {
                if let Some(gone) = self.tracks.get_mut(id).filter(|track| track.rows.end == row) {
                    gone.died = time;
                }
            }
            self.living = bodies.iter().map(|body| body.id).collect();
        }
        for column in self.states.iter_mut().chain([&mut self.times]) {
            column.spill_from(self.held, &self.folder)?;
        }
        Ok(())
    }

    /// Number of recorded times.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
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
        write_whole(path, |beside| self.fill(beside))
    }

    /// The arrays, copied from the columns part by part.
    fn fill(&self, path: &Path) -> Result<(), ExportError> {
        let (rows, bodies) = (self.rows, self.tracks.len());
        let mut npz = Npz::create(path)?;
        npz.array_of_parts("time", &[rows], self.times.parts(path)?)?;
        for (column, (name, width)) in self.states.iter().zip(STATES) {
            npz.array_of_parts(name, &[rows, bodies, width], self.table(column, width, path)?)?;
        }
        let per_body =
            |value: &dyn Fn(&Track) -> f64| -> Vec<f64> { self.tracks.values().map(value).collect() };
        npz.array("mass", &[bodies], &per_body(&|t| t.mass))?;
        npz.array("born", &[bodies], &per_body(&|t| t.born))?;
        npz.array("died", &[bodies], &per_body(&|t| t.died))?;
        npz.finish()
    }

    /// Row after row, the states of every body that existed at any time.
    fn table(
        &self,
        column: &Column<f64>,
        width: usize,
        path: &Path,
    ) -> Result<impl Iterator<Item = Result<Vec<f64>, ExportError>>, ExportError> {
        let failed = |e: io::Error| ExportError::write(path, e);
        let mut numbers = column.numbers().map_err(failed)?;
        let at_once = (HELD / (self.tracks.len() * width).max(1)).max(1);
        Ok((0..self.rows).step_by(at_once).map(move |first| {
            let (mut part, mut alive) = (Vec::new(), Vec::new());
            for row in first..self.rows.min(first + at_once) {
                let lives = |track: &Track| track.rows.contains(&row);
                alive.resize(width * self.tracks.values().filter(|track| lives(track)).count(), 0.0);
                numbers.read_exact(bytemuck::cast_slice_mut(&mut alive)).map_err(failed)?;
                let mut states = alive.chunks_exact(width);
                for track in self.tracks.values() {
                    let state = if lives(track) { states.next() } else { None };
                    part.extend_from_slice(state.unwrap_or(&[f64::NAN; 4][..width]));
                }
            }
            Ok(part)
        }))
    }

    /// All bodies that existed at any time, in their last positions, with their motion: a piece per body, in the order
    /// of the arrays, with keys at the frame rate. The keys are handed over; without a frame rate there are no pieces.
    #[must_use]
    pub fn assembly(&mut self) -> Assembly {
        let [start, end] = self.span;
        let mut motion = Motion { fps: self.fps.unwrap_or_default(), end: end - start, tracks: Vec::new() };
        let mut pieces = Vec::new();
        for (id, track) in self.tracks.values_mut().enumerate() {
            let Some((shape, keys)) = track.shown.take() else { continue };
            let Some((last, keys)) = keys.finish() else { continue };
            let born = (track.rows.start > 0).then_some(track.born - start);
            let died = track.died.is_finite().then_some(track.died - start);
            motion.tracks.push(MotionTrack { keys, born, died });
            let placing = Placing::of_body(shape.mass().centre, last.position, last.rotation);
            let (object, cell, parent, generation) = (None, None, None, 0);
            let (insides, called) = (crate::fracture::Insides::default(), None);
            pieces.push(ExportPiece {
                id,
                shape,
                placing,
                object,
                cell,
                parent,
                generation,
                insides,
                called,
            });
        }
        Assembly { pieces, motion: Some(motion), ..Assembly::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use glam::DVec3;

    use super::*;
    use crate::bodies::{World, WorldSettings, testing::cuboid};

    fn numbers(archive: &[u8], name: &str) -> Vec<f64> {
        let mut archive = zip::ZipArchive::new(io::Cursor::new(archive)).unwrap();
        let mut bytes = Vec::new();
        archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
        let data = 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
        bytes[data..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    /// Bodies come and go; every number is recorded, and asked for on the way. Holds few numbers in memory, or all.
    #[test]
    fn states_that_waited_on_the_disk_are_those_that_were_held() {
        let folder = std::env::temp_dir().join(format!("kintsugi-trajectory-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("t.npz");
        let written = |held: usize| {
            let mut world = World::on_cpu(WorldSettings::default());
            let mut trajectory = Trajectory { held, ..Trajectory::new(&folder, Some(30.0)) };
            let mut expected: Vec<BTreeMap<BodyId, DVec3>> = Vec::new();
            for row in 0..300u32 {
                if row % 40 == 3 {
                    world.add(cuboid(DVec3::splat(f64::from(row)), DVec3::ONE));
                }
                if row % 90 == 89 {
                    let id = world.bodies[(row as usize / 90) % world.bodies.len()].id;
                    world.remove(id);
                }
                for body in &mut world.bodies {
                    body.state.position.x += f64::from(body.id.0) + 0.1;
                }
                trajectory.record(&world.bodies, f64::from(row) * 0.01).unwrap();
                expected.push(world.bodies.iter().map(|body| (body.id, body.state.position)).collect());
                if row % 70 == 69 {
                    trajectory.write_npz(&path).unwrap();
                }
            }
            assert!(held == usize::MAX || trajectory.states.iter().all(|column| column.in_memory() < held));
            trajectory.write_npz(&path).unwrap();
            let bytes = fs::read(&path).unwrap();
            let bodies: Vec<BodyId> = trajectory.tracks.keys().copied().collect();
            let place =
                |row: &BTreeMap<BodyId, DVec3>, id| row.get(id).map_or([f64::NAN; 3], DVec3::to_array);
            let wanted = expected.iter().flat_map(|row| bodies.iter().flat_map(move |id| place(row, id)));
            let (wanted, found): (Vec<f64>, _) = (wanted.collect(), numbers(&bytes, "position"));
            assert_eq!(found.len(), wanted.len());
            assert!(found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits()));
            let time: Vec<f64> = (0..300).map(|row| f64::from(row) * 0.01).collect();
            assert_eq!(numbers(&bytes, "time"), time);
            let born = |id: &BodyId| expected.iter().position(|row| row.contains_key(id)).unwrap();
            let died = |id: &BodyId| (born(id)..300).find(|row| !expected[*row].contains_key(id));
            assert_eq!(numbers(&bytes, "born"), bodies.iter().map(|id| time[born(id)]).collect::<Vec<_>>());
            let died: Vec<f64> =
                bodies.iter().map(|id| died(id).map_or(f64::INFINITY, |row| time[row])).collect();
            assert!(died.iter().any(|at| at.is_finite()) && died.iter().any(|at| at.is_infinite()));
            assert_eq!(numbers(&bytes, "died"), died);
            let motion = trajectory.assembly().motion.unwrap();
            let keys: Vec<_> = motion.tracks.iter().map(|track| track.keys.len()).collect();
            assert!(
                keys.len() == bodies.len() && keys.iter().all(|count| (1..=92).contains(count)),
                "{keys:?}"
            );
            bytes
        };
        let held = written(usize::MAX);
        assert!([1, 7, 100].into_iter().all(|few| written(few) == held));
        // Nothing has been left beside the result.
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn states_without_room_on_the_disk_stay_in_memory() {
        let folder = std::env::temp_dir().join(format!("kintsugi-no-room-{}", std::process::id()));
        let mut world = World::on_cpu(WorldSettings::default());
        world.add(cuboid(DVec3::ZERO, DVec3::ONE));
        // The folder is not there yet: nothing can be written.
        let mut trajectory = Trajectory { held: 1, ..Trajectory::new(&folder, None) };
        for row in 0..3u32 {
            assert!(trajectory.record(&world.bodies, f64::from(row)).is_err());
        }
        fs::create_dir_all(&folder).unwrap();
        trajectory.record(&world.bodies, 3.0).unwrap();
        trajectory.write_npz(&folder.join("t.npz")).unwrap();
        assert_eq!(numbers(&fs::read(folder.join("t.npz")).unwrap(), "time"), [0.0, 1.0, 2.0, 3.0]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
