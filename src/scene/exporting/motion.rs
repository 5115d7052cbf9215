//! Exports a take as motion: a node for each body that lived, with keys at a frame rate.
//!
//! In: a part of the recording. Out: `animation.glb`, `animation.usda` and a report. What is there at the end has the names
//! that an export of the pieces at that moment gives; a piece that broke again has the name that its group has there; a
//! whole object is called `whole_000` by its number, and what is gone otherwise `gone_000`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;

use super::{ExportKind, ExportOrder, Exported, Leaving, Lines, SCENE_FILE, inputs};
use crate::{
    bodies::BodyId,
    compute::RanOn,
    export::{
        Aside, Assembly, ExportError, ExportPiece, Format, MeshKind, MeshReport, Placing, Watch,
        debris::Debris,
        motion::{Keys, Motion, MotionKey, MotionTrack},
        report::write_json,
        to_nanoseconds,
    },
    provenance::{Provenance, VERSION},
    render::Camera,
    scene::{
        Sandbox, Scene, Shot,
        cutting::{Cuts, Surfaces},
        save_scene,
    },
    shape::Shape,
    voxelize::Progress,
};

/// Name of the files, before the ending.
const STEM: &str = "animation";

/// Identifies a piece over time: its geometry and its body. The part of a structure is the same piece in every body that
/// the structure comes apart into.
type Identity = ((usize, u32), Option<BodyId>);

/// The geometry of a shape, whose density may change.
fn geometry(shape: &Arc<Shape>) -> (usize, u32) {
    match shape.as_octree() {
        Some(octree) => (Arc::as_ptr(&octree.forest).addr(), octree.tree),
        None => (Arc::as_ptr(shape).addr(), 0),
    }
}

/// The geometries of all parts of structures of a shot.
struct Parts(BTreeSet<(usize, u32)>);

impl Parts {
    fn of(leaving: &[Leaving<'_>]) -> Self {
        let parts = leaving.iter().filter(|piece| piece.def.structure.is_some());
        Self(parts.map(|piece| geometry(piece.shape)).collect())
    }

    fn identity(&self, piece: &Leaving<'_>) -> Identity {
        let geometry = geometry(piece.shape);
        (geometry, (!self.0.contains(&geometry)).then_some(piece.id))
    }
}

/// A body of `report.json`.
#[derive(Clone, Debug, Serialize)]
struct MovedBody {
    name: String,
    object: Option<usize>,
    generation: u32,
    mass: f64,
    born: Option<f64>,
    died: Option<f64>,
    keys: usize,
}

/// `report.json` of an export of motion.
#[derive(Clone, Debug, Serialize)]
struct MotionReport {
    version: &'static str,
    provenance: Provenance,
    #[serde(flatten)]
    ran_on: RanOn,
    kind: ExportKind,
    take: u32,
    /// First and last recorded time, s; files count from the first.
    time: [f64; 2],
    states: usize,
    fps: f64,
    objects: Vec<String>,
    bodies: Vec<MovedBody>,
    formats: Vec<&'static str>,
    meshes: Option<MeshReport>,
    files: Vec<String>,
}

/// Everything to be written. Cheap to make; independent of the sandbox afterwards.
pub struct MotionPlan {
    what: Assembly,
    shot: Shot,
    parts: Parts,
    /// The number of each piece in `what`.
    numbers: BTreeMap<Identity, usize>,
    fps: f64,
    formats: Vec<Format>,
    cuts: Option<Cuts>,
    /// What smooth pieces show.
    surfaces: Surfaces,
    report: MotionReport,
    /// The scene that plays the same, if there is one.
    scene: Option<Scene>,
    inputs: Vec<PathBuf>,
}

impl ExportOrder {
    /// The part of the current take that motion and films show; `None` if nothing was recorded.
    #[must_use]
    pub fn shot(&self, sandbox: &Sandbox) -> Option<Shot> {
        let timeline = sandbox.timeline();
        let whole = [timeline.time(0)?, timeline.time(timeline.len() - 1)?];
        Shot::of(timeline, self.span.unwrap_or(whole))
    }

    /// The chosen formats that can hold motion.
    #[must_use]
    pub fn moving_formats(&self) -> Vec<Format> {
        self.formats.iter().copied().filter(|format| format.has_nodes).collect()
    }
}

impl MotionPlan {
    /// Plans an export of the current take, with the scene that plays it seen from `camera`; `None` if nothing was
    /// recorded.
    #[must_use]
    pub fn new(sandbox: &Sandbox, order: &ExportOrder, camera: Camera, ran_on: RanOn) -> Option<Self> {
        let shot = order.shot(sandbox)?;
        let wanted = |piece: &Leaving<'_>| order.object.is_none_or(|object| piece.info.object == object);
        let (mut moments, mut last) = (Vec::new(), None);
        for (_, moment, motions) in shot.each() {
            if !moments.last().is_some_and(|(before, _)| Arc::ptr_eq(*before, moment)) {
                moments.push((moment, motions));
            }
            last = Some((moment, motions));
        }
        let (moment, motions) = last?;
        let there = Shot::leaving(moment, motions);
        let past: Vec<Leaving<'_>> =
            moments.iter().flat_map(|(moment, motions)| Shot::leaving(moment, motions)).collect();
        let parts = Parts::of(&past);
        let mut leaving: Vec<Leaving<'_>> = there.iter().filter(|piece| wanted(piece)).copied().collect();
        let lines = Lines::of(sandbox, leaving.iter().filter_map(|piece| piece.info.origin));
        let insides = sandbox.insides();
        let piece = |piece: &Leaving<'_>| ExportPiece {
            id: 0,
            shape: Arc::clone(piece.shape),
            placing: Placing::of_body(
                piece.def.shape.mass().centre,
                piece.state.position,
                piece.state.rotation,
            ),
            object: Some(piece.info.object),
            cell: piece.info.origin.and_then(|origin| lines.cell(origin)),
            parent: None,
            generation: piece.info.generation,
            insides: insides.of(&piece.info),
            called: None,
        };
        // Those of the end are sorted and numbered as in an export of the pieces.
        let sorted = Assembly::new(leaving.iter().map(piece).collect(), None);
        let at_the_end = sorted.pieces.len();
        let place: BTreeMap<*const Shape, usize> =
            sorted.pieces.iter().map(|piece| (Arc::as_ptr(&piece.shape), piece.id)).collect();
        let mut numbers: BTreeMap<Identity, usize> = BTreeMap::new();
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for piece in &leaving {
            // Bodies that share a shape, as thrown balls do, are as large as each other.
            let first = place[&Arc::as_ptr(piece.shape)];
            let same = (first..at_the_end).chain(0..first);
            let number = same
                .filter(|id| Arc::ptr_eq(&sorted.pieces[*id].shape, piece.shape))
                .find(|id| taken.insert(*id));
            numbers.extend(number.map(|number| (parts.identity(piece), number)));
        }
        let mut pieces = sorted.pieces;
        let mut names = BTreeSet::new();
        for gone in past.iter().filter(|piece| wanted(piece)) {
            let identity = parts.identity(gone);
            if numbers.contains_key(&identity) {
                continue;
            }
            let again = lines.breaks.iter().find(|(_, record)| record.broken == gone.info.origin);
            let again = gone.info.origin.and(again).and_then(|(at, _)| lines.again.get(at));
            let name = match again {
                Some(again) => ExportPiece::numbered(at_the_end + again),
                None if gone.info.is_intact() => format!("whole_{:03}", gone.info.object),
                None => format!("gone_{:03}", pieces.len()),
            };
            let second = || format!("{name}_{}", pieces.len());
            let name = if names.contains(&name) { second() } else { name };
            names.insert(name.clone());
            numbers.insert(identity, pieces.len());
            pieces.push(ExportPiece { id: pieces.len(), called: Some(name), ..piece(gone) });
            leaving.push(*gone);
        }
        let wants_cuts = order.mesh == MeshKind::Original;
        let cuts = wants_cuts.then(|| Cuts::of(sandbox, [&leaving, &there], &lines.numbered(), true));
        let surfaces = Surfaces::of(sandbox, &leaving);
        let formats = order.moving_formats();
        let report = MotionReport {
            version: VERSION,
            provenance: crate::provenance::here(),
            ran_on,
            kind: ExportKind::Motion,
            take: sandbox.timeline().take(),
            time: shot.span().map(to_nanoseconds),
            states: shot.states(),
            fps: order.fps,
            objects: sandbox.objects().iter().map(|object| object.name.clone()).collect(),
            bodies: Vec::new(),
            formats: formats.iter().map(|format| format.name).collect(),
            meshes: None,
            files: Vec::new(),
        };
        let moving = Assembly { debris: debris(sandbox, shot.span()), pieces, ..Assembly::default() };
        let what = order.dressed(sandbox, &lines, moving);
        let scene = sandbox.scene_of_take(camera);
        let inputs = inputs(sandbox);
        let fps = order.fps;
        Some(Self { what, shot, parts, numbers, fps, formats, cuts, surfaces, report, scene, inputs })
    }

    /// Says that no result may take the place of `file`, as of the scene that is open.
    #[must_use]
    pub fn sparing(mut self, file: Option<PathBuf>) -> Self {
        self.inputs.extend(file);
        self
    }

    /// Number of bodies that move.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.what.pieces.len()
    }

    /// Makes the keys of all pieces, and places each piece where it is seen last.
    fn move_pieces(&mut self, watch: &Watch) -> Result<(), ExportError> {
        let [start, end] = self.shot.span();
        let count = self.what.pieces.len();
        let mut keys: Vec<Keys> = (0..count).map(|_| Keys::new(self.fps)).collect();
        let mut seen: Vec<Option<[usize; 2]>> = vec![None; count];
        let mut times = Vec::with_capacity(self.shot.states());
        for (row, (time, moment, motions)) in self.shot.each().enumerate() {
            watch.at(row, self.shot.states())?;
            times.push(time);
            for piece in Shot::leaving(moment, motions) {
                let Some(number) = self.numbers.get(&self.parts.identity(&piece)) else { continue };
                let centre = piece.def.shape.mass().centre;
                let body = Placing::of_body(centre, piece.state.position, piece.state.rotation);
                let position = body.point(self.what.pieces[*number].shape.mass().centre);
                keys[*number].push(MotionKey {
                    time: time - start,
                    position,
                    rotation: piece.state.rotation,
                });
                seen[*number].get_or_insert([row, row])[1] = row;
            }
        }
        let mut tracks = Vec::with_capacity(count);
        for ((piece, keys), seen) in self.what.pieces.iter_mut().zip(keys).zip(seen) {
            // Every piece was found in a state of the shot.
            let (Some((last, keys)), Some([first, until])) = (keys.finish(), seen) else {
                return Err(ExportError::Stopped("a body of the recording is in none of its states"));
            };
            piece.placing = Placing::of_body(piece.shape.mass().centre, last.position, last.rotation);
            let born = (first > 0).then(|| times[first] - start);
            let died = times.get(until + 1).map(|time| time - start);
            tracks.push(MotionTrack { keys, born, died });
        }
        self.report.bodies = (self.what.pieces.iter().zip(&tracks))
            .map(|(piece, track)| MovedBody {
                name: piece.name(),
                object: piece.object,
                generation: piece.generation,
                mass: piece.shape.mass().kg,
                born: track.born.map(to_nanoseconds),
                died: track.died.map(to_nanoseconds),
                keys: track.keys.len(),
            })
            .collect();
        self.what.motion = Some(Motion { tracks, fps: self.fps, end: end - start });
        Ok(())
    }

    /// Writes all files into `folder` on this thread.
    ///
    /// # Errors
    /// [`ExportError`]; `folder` is then as it was.
    pub fn run(mut self, folder: &Path, progress: &Progress) -> Result<Exported, ExportError> {
        let mut aside = Aside::begin(folder)?;
        let names: Vec<String> =
            self.formats.iter().map(|format| format!("{STEM}.{}", format.name)).collect();
        let beside = names.iter().map(String::as_str).chain(crate::export::BESIDE);
        aside.spare(std::mem::take(&mut self.inputs), beside)?;
        let told = |error: ExportError| aside.moved(error);
        // Steps of the progress: keys, meshes, formats, the rest.
        let parts = self.formats.len() + 3;
        self.move_pieces(&Watch::part(progress, 0, parts))?;
        let mut notes = self.cuts.as_ref().map(|cuts| cuts.cut(&mut self.what, progress)).unwrap_or_default();
        self.surfaces.dress(&mut self.what, progress);
        let meshes = self.what.prepare(&Watch::part(progress, 1, parts)).map_err(told)?;
        notes.extend(meshes.note());
        self.report.meshes = Some(meshes);
        for (i, (format, name)) in self.formats.iter().zip(&names).enumerate() {
            let path = aside.path().join(name);
            let said =
                (format.write)(&path, &self.what, &Watch::part(progress, 2 + i, parts)).map_err(told)?;
            notes.extend(said.iter().map(|note| aside.moved_note(note)));
        }
        // The export continues without the scene if that is too large or has unsupported numbers.
        let saved = self.scene.take().map(|scene| save_scene(&aside.path().join(SCENE_FILE), &scene));
        match &saved {
            Some(Ok(_)) => {}
            Some(Err(error)) => notes.push(format!("{SCENE_FILE} was left out: {error}")),
            None => notes.push(format!(
                "{SCENE_FILE} was left out: pieces were deleted, hidden, locked or merged by hand, which a scene cannot play"
            )),
        }
        self.report.files = aside.files().map_err(told)?;
        write_json(&aside.path().join("report.json"), &self.report).map_err(told)?;
        Watch::part(progress, parts - 1, parts).at(1, 1)?;
        notes.extend(aside.finish()?);
        Ok(Exported {
            folder: folder.to_owned(),
            kind: ExportKind::Motion,
            count: self.what.pieces.len(),
            files: names,
            failed_checks: Vec::new(),
            command: None,
            notes,
        })
    }
}

/// The grains that bonds left by the end of the shot, with times from its beginning.
fn debris(sandbox: &Sandbox, [start, end]: [f64; 2]) -> Option<Debris> {
    let grains = sandbox.all_debris().filter(|(failure, _)| failure.time <= end + 1e-9);
    let mut grains: Vec<_> = grains.flat_map(|(_, grains)| grains).collect();
    grains.iter_mut().for_each(|grain| grain.born -= start);
    (!grains.is_empty()).then(|| Debris { grains, around: sandbox.surroundings() })
}
