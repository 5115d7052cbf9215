//! Exports pieces of the open scene on a worker thread, with progress and cancelling.
//!
//! In: the bodies at the time of the request (shapes are immutable and shared, so a list of bodies suffices) and an
//! [`ExportOrder`]. Out: a folder with the chosen files and a report, or nothing at all.

mod leaving;
mod lines;
mod motion;
mod reports;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use leaving::{held_bonds, held_lumps};
use lines::Lines;
use reports::{breaks, broken_again, objects};

pub use leaving::Leaving;
pub use motion::MotionPlan;

use super::{
    Sandbox, Scene,
    cutting::{Cuts, Surfaces},
    save_scene,
};
use crate::{
    bodies::Body,
    compute::RanOn,
    export::{
        self, Aside, Assembly, BreakArrays, BreakKind, ExportError, ExportPiece, Format, Handover, Lying,
        MeshKind, Meshes, Needs, PieceReport, Placing, SMALLEST_MESH, Source, Watch, checks, made_of_voxels,
        report::write_json, scene_report::SceneReport, to_nanoseconds,
    },
    fracture::Volume,
    provenance::quoted,
    render::Camera,
    shape::Shape,
    svo::Grid,
    threads::Pending,
    voxelize::Progress,
};

/// What is exported of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportKind {
    /// The pieces as they are now.
    #[default]
    Pieces,
    /// The take that is on the timeline, as keys of the pieces' motion.
    Motion,
    /// Numbered pictures, and a film of them.
    Film,
}

/// Settings of a film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmOrder {
    /// Whether the take is played; otherwise the picture stands still for `seconds`, and only the camera moves.
    pub plays: bool,
    /// How long the film of a still picture is, s.
    pub seconds: f64,
    /// Simulated seconds in a second of the film, above 0: less than 1 is slow motion.
    pub speed: f64,
    /// How far the camera turns about its target from the first frame to the last, degrees. A full turn leaves out the last
    /// frame, so that the film can be repeated without a halt.
    pub turn: f64,
    /// Size of the frames, pixels.
    pub size: [u32; 2],
    /// Passes accumulated for each frame; more passes show less noise and smoother edges.
    pub passes: u32,
}

impl Default for FilmOrder {
    fn default() -> Self {
        Self { plays: true, seconds: 6.0, speed: 1.0, turn: 0.0, size: [1280, 720], passes: 8 }
    }
}

/// Settings of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOrder {
    /// What is exported.
    pub kind: ExportKind,
    /// Part of the take that motion and films show, recorded time, s; `None`: all of it.
    pub span: Option<[f64; 2]>,
    /// Frames a second of motion and films.
    pub fps: f64,
    /// Settings of films.
    pub film: FilmOrder,
    /// The folder, as typed.
    pub folder: String,
    /// Chosen formats; unavailable ones are left out.
    pub formats: BTreeSet<Format>,
    /// Coordinates of the pieces.
    pub lying: Lying,
    /// Export this object's pieces only; `None` exports all objects.
    pub object: Option<usize>,
    /// Export selected pieces only.
    pub only_selected: bool,
    /// Kind of meshes.
    pub mesh: MeshKind,
    /// Adaptation to other programs.
    pub handover: Handover,
    /// What names of pieces begin with; `None`: `piece`.
    pub prefix: Option<String>,
}

impl Default for ExportOrder {
    fn default() -> Self {
        let formats = BTreeSet::from([Format::Glb]);
        // Objects with open meshes get smooth ones instead.
        let (lying, mesh) = (Lying::default(), MeshKind::Original);
        let handover = Handover::default();
        let (kind, span, fps, film) = (ExportKind::default(), None, 30.0, FilmOrder::default());
        let (folder, object, only_selected, prefix) = (String::new(), None, false, None);
        Self { kind, span, fps, film, folder, formats, lying, object, only_selected, mesh, handover, prefix }
    }
}

impl ExportOrder {
    /// Whether a body of `sandbox` is exported.
    fn wants(&self, sandbox: &Sandbox, body: &Body) -> bool {
        let of = || sandbox.info(body.id).map(|info| info.object);
        self.object.is_none_or(|object| of() == Some(object))
            && (!self.only_selected || sandbox.selection().contains(body.id))
    }

    /// What is exported of `sandbox`.
    pub fn pieces<'a>(&'a self, sandbox: &'a Sandbox) -> impl Iterator<Item = Leaving<'a>> {
        let bodies = sandbox.bodies().iter().filter(|body| self.wants(sandbox, body));
        bodies.flat_map(|body| Leaving::of_body(sandbox, body))
    }

    /// Why a format is not available for these pieces.
    #[must_use]
    pub fn why_not(&self, sandbox: &Sandbox, format: Format) -> Option<&'static str> {
        if !matches!(format.needs, Needs::Voxels | Needs::Breaks) {
            return None;
        }
        if self.lying == Lying::AsTheyLie {
            return Some("voxels cannot be turned: choose as they fitted together");
        }
        let mut objects = BTreeSet::new();
        let (mut octrees, mut broken) = (true, true);
        for piece in self.pieces(sandbox) {
            objects.insert(piece.info.object);
            octrees &= made_of_voxels(piece.shape).is_some();
            broken &= piece.info.origin.is_some();
        }
        if objects.len() != 1 {
            return Some("one object at a time: choose one above");
        }
        if !octrees {
            return Some("it is not made of voxels");
        }
        if format.needs == Needs::Voxels {
            return None;
        }
        if !broken {
            return Some("nothing has broken yet");
        }
        let gone = Lines::of_order(self, sandbox).source().is_none();
        gone.then_some("the whole object is no longer in memory")
    }

    /// The chosen formats that are available.
    #[must_use]
    pub fn possible(&self, sandbox: &Sandbox) -> Vec<Format> {
        self.formats.iter().copied().filter(|format| self.why_not(sandbox, *format).is_none()).collect()
    }

    /// Pieces with the meshes, the material inside and the adaptation that they leave with; `lines` are their breaks.
    fn dressed(&self, sandbox: &Sandbox, lines: &Lines<'_>, pieces: Assembly) -> Assembly {
        let (all, known) = (0..sandbox.objects().len(), sandbox.insides());
        let mut insides: BTreeMap<Option<usize>, Volume> =
            all.map(|object| (Some(object), known.chosen(object))).collect();
        // The pieces of an object come of one break of the whole; a whole that a take shows before has what is chosen now.
        let all = |broken: bool| pieces.pieces.iter().filter(move |piece| (piece.generation > 0) == broken);
        insides.extend(all(false).chain(all(true)).map(|piece| (piece.object, piece.insides.first)));
        let mut what = Assembly {
            meshes: Meshes::asked(self.mesh),
            handover: self.handover,
            gap: lines.widest_gap(),
            insides,
            sources: sources(sandbox),
            ..pieces
        };
        what.set_prefix(self.prefix.as_deref());
        what
    }

    /// Arrays that need more than the pieces, for an export of a single object.
    fn arrays(&self, sandbox: &Sandbox, lines: &Lines<'_>) -> Option<BreakArrays> {
        let meters_per_unit = self.pieces(sandbox).next()?.def.meters_per_unit;
        let (source, Grid { level, origin, h }) = lines.source()?;
        let patterns = || lines.breaks.iter().filter_map(|(at, record)| Some((at, record.pattern.as_ref()?)));
        Some(BreakArrays {
            source,
            grid: Grid { level, origin: origin / meters_per_unit, h: h / meters_per_unit },
            seeds: patterns().flat_map(|(_, pattern)| pattern.seeds_in_voxels(level)).collect(),
            seed_object: patterns()
                .flat_map(|(at, pattern)| pattern.objects.iter().map(|o| lines.first_cell[at] + o))
                .collect(),
            breaks: lines
                .breaks
                .iter()
                .map(|(at, record)| {
                    let surface = record.params.surface;
                    BreakKind {
                        first_seed: lines.first_cell[at],
                        surface,
                        transition_level: BreakKind::transition(&record.params.crack, level, surface),
                        island_level: record.island_level.unwrap_or(level),
                    }
                })
                .collect(),
            dropped: lines
                .breaks
                .values()
                .flat_map(|record| &record.dropped_parts)
                .filter_map(|part| part.octree().map(|octree| (octree.forest, octree.tree)))
                .collect(),
        })
    }
}

/// The meshes of the objects that have bodies, by their numbers.
fn sources(sandbox: &Sandbox) -> BTreeMap<Option<usize>, Source> {
    let units = sandbox.bodies().iter().filter_map(|body| {
        let object = sandbox.info(body.id)?.object;
        let mesh = Arc::clone(&sandbox.objects().get(object)?.mesh);
        let name = sandbox.object_name(object).to_owned();
        Some((Some(object), Source { name, mesh, scale: body.def.meters_per_unit }))
    });
    units.collect()
}

/// The files of all objects, which no result may replace.
fn inputs(sandbox: &Sandbox) -> Vec<PathBuf> {
    sandbox.objects().iter().map(|object| PathBuf::from(&object.scene.file)).collect()
}

/// Everything to be written. Cheap to make; independent of the sandbox afterwards.
pub struct ExportPlan {
    what: Assembly,
    report: SceneReport,
    formats: Vec<Format>,
    /// Pieces of breaks, and the level at which each is connected.
    connected: Vec<(Arc<Shape>, u32)>,
    /// For each broken object the volumes of the whole, the pieces, the dust, and the dropped parts; m^3.
    volumes: Vec<[f64; 4]>,
    /// The scene in its present state, which is exported, too.
    scene: Scene,
    repeat: Repeat,
    /// The cuts of the imported meshes, if they are exported.
    cuts: Option<Cuts>,
    /// What smooth pieces show.
    surfaces: Surfaces,
    /// Files that no result may replace.
    inputs: Vec<PathBuf>,
}

impl ExportPlan {
    /// Plans an export of `sandbox` in its present state, with the scene seen from `camera`.
    #[must_use]
    pub fn new(sandbox: &Sandbox, order: &ExportOrder, camera: Camera, ran_on: RanOn) -> Self {
        let lines = Lines::of_order(order, sandbox);
        let leaving: Vec<Leaving<'_>> = order.pieces(sandbox).collect();
        // Bodies that are not exported still take their share of the mesh.
        let there: Vec<Leaving<'_>> =
            sandbox.bodies().iter().flat_map(|body| Leaving::of_body(sandbox, body)).collect();
        let (mut pieces, mut connected) = (Vec::with_capacity(leaving.len()), Vec::new());
        let insides = sandbox.insides();
        for Leaving { def, state, shape, info, .. } in &leaving {
            let origin = info.origin;
            let record = origin.and_then(|origin| lines.breaks.get(&origin.record));
            connected.extend(record.and_then(|record| Some((Arc::clone(shape), record.island_level?))));
            pieces.push(ExportPiece {
                id: 0,
                shape: Arc::clone(shape),
                placing: match order.lying {
                    Lying::AsTheyLie => {
                        Placing::of_body(def.shape.mass().centre, state.position, state.rotation)
                    }
                    Lying::AsTheyFittedTogether => Placing::in_units(def.meters_per_unit),
                },
                object: Some(info.object),
                cell: origin.and_then(|origin| lines.cell(origin)),
                parent: origin.and_then(|origin| lines.parent(origin, leaving.len())),
                generation: info.generation,
                insides: insides.of(info),
                called: None,
            });
        }
        let formats = order.possible(sandbox);
        let arrays = formats
            .iter()
            .any(|format| format.needs == Needs::Breaks)
            .then(|| order.arrays(sandbox, &lines))
            .flatten();
        let strengths =
            (0..sandbox.objects().len()).map(|number| (Some(number), sandbox.bond_strength(number)));
        let sorted = Assembly::new(pieces, arrays);
        let sorted = Assembly {
            generations: lines.generations(leaving.len()),
            strengths: strengths.collect(),
            held: held_bonds(&leaving, &sorted.pieces),
            lumps: held_lumps(sandbox, &leaving, &sorted.pieces),
            ..sorted
        };
        let what = order.dressed(sandbox, &lines, sorted);
        let wants_meshes = order.handover.needs_meshes() || formats.iter().any(|format| format.has_meshes());
        let wants_cuts = order.mesh == MeshKind::Original && wants_meshes;
        let cuts = wants_cuts.then(|| Cuts::of(sandbox, [&leaving, &there], &lines.numbered(), false));
        let surfaces = Surfaces::of(sandbox, &leaving);
        let (objects, volumes) = objects(sandbox, &lines, &what, order);
        let report = SceneReport {
            provenance: crate::provenance::here(),
            ran_on,
            placed: order.lying,
            time: to_nanoseconds(sandbox.time()),
            objects,
            breaks: breaks(sandbox, &lines, &what, &formats),
            pieces: what.pieces.iter().map(PieceReport::of).collect(),
            broken_again: broken_again(sandbox, &lines, &what, order.lying),
            formats: formats.iter().map(|format| format.name.to_owned()).collect(),
            checks: Vec::new(),
            ..SceneReport::default()
        };
        // Without the other bodies, the exported scene reproduces the same files.
        let scene = match order.only_selected {
            true => sandbox.as_these_stand(camera, &|body| order.wants(sandbox, body)),
            false => sandbox.as_it_stands(camera),
        };
        let repeated = order.object.filter(|_| !order.only_selected);
        let repeated = repeated.map(|object| sandbox.number_as_it_stands(object));
        let (formats_again, mesh, handover) = (formats.clone(), order.mesh, order.handover);
        let (lying, prefix) = (order.lying, order.prefix.clone());
        let repeat = Repeat { formats: formats_again, lying, object: repeated, mesh, handover, prefix };
        let inputs = inputs(sandbox);
        Self { what, report, formats, connected, volumes, scene, repeat, cuts, surfaces, inputs }
    }

    /// Says that no result may take the place of `file`, as of the scene that is open.
    #[must_use]
    pub fn sparing(mut self, file: Option<PathBuf>) -> Self {
        self.inputs.extend(file);
        self
    }

    /// Number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.what.pieces.len()
    }

    /// Writes all files into `folder` on this thread.
    ///
    /// # Errors
    /// [`ExportError`]; `folder` is then as it was.
    pub fn run(self, folder: &Path, progress: &Progress) -> Result<Exported, ExportError> {
        self.run_in(Aside::begin(folder)?, folder, progress)
    }

    /// The same into a folder that is being filled already.
    ///
    /// # Errors
    /// As [`ExportPlan::run`].
    pub fn run_in(
        mut self,
        mut aside: Aside,
        folder: &Path,
        progress: &Progress,
    ) -> Result<Exported, ExportError> {
        let formats = self.formats.iter().map(|format| format.file);
        aside.spare(std::mem::take(&mut self.inputs), formats.chain(export::BESIDE))?;
        let told = |error: ExportError| aside.moved(error);
        let beside = self.what.handover.needs_meshes();
        let meshes = beside || self.formats.iter().any(|format| format.has_meshes());
        // Steps of the progress: check meshes, write formats, write other files, write the report.
        let first = usize::from(meshes);
        let parts = first + self.formats.len() + 2;
        let mut notes = Vec::new();
        if let Some(cuts) = &self.cuts {
            notes.extend(cuts.cut(&mut self.what, progress));
        }
        if meshes {
            self.surfaces.dress(&mut self.what, progress);
            let told_of = self.what.prepare(&Watch::part(progress, 0, parts)).map_err(told)?;
            notes.extend(told_of.note());
            notes.extend(self.crumbs());
            self.report.tell_of_meshes(&self.what, told_of);
        }
        for (i, format) in self.formats.iter().enumerate() {
            let watch = Watch::part(progress, first + i, parts);
            let said = export::write(&self.what, *format, aside.path(), &watch).map_err(told)?;
            notes.extend(said.iter().map(|note| aside.moved_note(note)));
        }
        let mut files: Vec<String> = self.formats.iter().map(|format| format.file.to_owned()).collect();
        if beside {
            let watch = Watch::part(progress, parts - 2, parts);
            let names = export::write_beside(&self.what, aside.path(), &watch).map_err(told)?;
            files.extend(names.into_iter().map(str::to_owned));
        }
        let last = Watch::part(progress, parts - 1, parts);
        last.at(0, 2)?;
        self.report.checks =
            vec![checks::volumes_agree(&self.volumes), checks::pieces_are_connected(&self.connected)];
        // The export continues without the scene if that is too large or has unsupported numbers.
        let saved = save_scene(&aside.path().join(SCENE_FILE), &self.scene);
        notes.extend(saved.as_ref().err().map(|error| format!("{SCENE_FILE} was left out: {error}")));
        self.report.files = aside.files().map_err(told)?;
        write_json(&aside.path().join("report.json"), &self.report).map_err(told)?;
        last.at(2, 2)?;
        notes.extend(aside.finish()?);
        let failed = self.report.checks.iter().filter(|check| !check.ok).map(|check| check.name.clone());
        Ok(Exported {
            folder: folder.to_owned(),
            kind: ExportKind::Pieces,
            count: self.what.pieces.len(),
            files,
            failed_checks: failed.collect(),
            command: saved.is_ok().then(|| self.repeat.command(folder)),
            notes,
        })
    }
}

impl ExportPlan {
    /// A note for the user if some pieces are too small to be useful as meshes.
    fn crumbs(&self) -> Option<String> {
        let octrees = self.what.pieces.iter().filter_map(|piece| piece.octree());
        let count = octrees.filter(|octree| octree.mass.voxels < SMALLEST_MESH).count();
        (count > 0).then(|| {
            format!(
                "pieces of fewer than {SMALLEST_MESH} voxels: {count}; Smallest {SMALLEST_MESH} under Fracture joins \
                 them to their neighbours when the object breaks"
            )
        })
    }
}

/// File name of the exported scene.
pub const SCENE_FILE: &str = "scene.toml";

/// Data for the command that repeats an export, besides the scene.
struct Repeat {
    formats: Vec<Format>,
    lying: Lying,
    object: Option<usize>,
    mesh: MeshKind,
    handover: Handover,
    prefix: Option<String>,
}

impl Repeat {
    /// The shell command; it writes beside `folder`.
    fn command(&self, folder: &Path) -> String {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let again = format!("{}-again", folder.display());
        let formats: Vec<&str> = self.formats.iter().map(|format| format.name).collect();
        let placed = match self.lying {
            Lying::AsTheyLie => "as-they-lie",
            Lying::AsTheyFittedTogether => "fitted",
        };
        let mut command = format!(
            "kintsugi fracture {} --out {} --format {} --placed {placed}",
            quoted(&folder.join(SCENE_FILE).display().to_string()),
            quoted(&again),
            formats.join(",")
        );
        if self.mesh != MeshKind::Original {
            command += &format!(" --mesh {}", self.mesh.name());
        }
        command += &self.handover.options();
        if let Some(prefix) = &self.prefix {
            command += &format!(" --prefix {prefix}");
        }
        if let Some(object) = self.object {
            command += &format!(" --object {object}");
        }
        command
    }
}

/// Result of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The folder.
    pub folder: PathBuf,
    /// What was exported.
    pub kind: ExportKind,
    /// Number of pieces, or of frames of a film.
    pub count: usize,
    /// Files and subfolders, besides the report.
    pub files: Vec<String>,
    /// Names of failed checks.
    pub failed_checks: Vec<String>,
    /// The command that repeats the export from the scene beside the pieces.
    pub command: Option<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Exported {
    /// One line for the user.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { folder, kind, count, files, failed_checks, .. } = self;
        let what = match kind {
            ExportKind::Pieces => counted(*count, "piece"),
            ExportKind::Motion => format!("the motion of {}", counted(*count, "piece")),
            ExportKind::Film => format!("a film of {}", counted(*count, "frame")),
        };
        let mut line = format!("Exported {what} to {}", folder.display());
        let scene = self.command.as_ref().map(|_| SCENE_FILE);
        let names: Vec<&str> = files.iter().map(String::as_str).chain(["report.json"]).chain(scene).collect();
        line += &format!(": {}", names.join(", "));
        if !failed_checks.is_empty() {
            line += &format!("; checks FAILED, see the report: {}", failed_checks.join(", "));
        }
        line
    }
}

/// A number of things, in words.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A running export.
pub struct ExportJob {
    /// Label of the progress bar.
    pub label: String,
    /// Progress and cancellation.
    pub progress: Progress,
    exported: Pending<Result<Exported, ExportError>>,
}

impl ExportJob {
    /// Starts a worker thread.
    #[must_use]
    pub fn start(
        label: String,
        run: impl FnOnce(&Progress) -> Result<Exported, ExportError> + Send + 'static,
    ) -> Self {
        let progress = Progress::default();
        let shared = progress.clone();
        Self { label, progress, exported: Pending::start(move || run(&shared)) }
    }

    /// Returns the result once.
    pub fn poll(&self) -> Option<Result<Exported, ExportError>> {
        let reason = "the worker stopped unexpectedly; try another folder or fewer formats";
        self.exported.poll(|| Err(ExportError::Stopped(reason)))
    }
}

#[cfg(test)]
mod motion_tests;
#[cfg(test)]
mod tests;
