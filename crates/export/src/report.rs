//! `report.json`: the source, the parameters and the results. The fields are described in `docs/files.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use glam::DVec3;
use serde::Serialize;

use crate::{
    compute::RanOn,
    fracture::{
        BreakStep, CHIPS, Dropped, FractureCounts, FractureParams, Impact, Interior, Labelling, MethodId,
        PRESETS, Preset, Smallest, Solved, Surface, VoronoiDetail, crack::CrackShape, generations::Plan,
        interior::hex_color,
    },
    gpu::StageTiming,
    import::Imported,
    mesh::HealthReport,
    provenance::{Provenance, VERSION},
    svo::morton::Key,
};

use super::{
    Assembly, BrokenObject, Cells, ExportError, ExportPiece, MeshReport, PieceReport, Source,
    checks::Check,
    disk::{put_file, put_listed},
    numbers::PlainJson,
    piece_report::PieceMeshReport,
    pieces::surface_of,
};

/// The input mesh.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// As given on the command line.
    pub file: String,
    /// Vertices in the file.
    pub vertices: usize,
    /// Triangles in the file.
    pub triangles: usize,
    /// Defects that did not prevent the import.
    pub warnings: Vec<String>,
}

/// All parameters used, including defaults.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterReport {
    /// The method, unless it is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// The method's own parameters, if any were given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, f64>,
    /// Leaf level.
    pub level: u32,
    /// The blow, mesh units.
    pub impact: Impact,
    /// Number of seeds per break.
    pub seeds: u32,
    /// Pattern of the seeds.
    pub pattern: Preset,
    /// Sphere or ring radii, fractions of the longest side.
    pub radii: Vec<f64>,
    /// Number of seeds of each sphere or ring; empty: equal shares.
    pub counts: Vec<u32>,
    /// What single patterns have.
    #[serde(flatten)]
    pub presets: PresetReport,
    /// Number of pieces aimed for.
    pub pieces: Option<u32>,
    /// File of the first break's seeds, if one was given.
    pub seeds_file: Option<String>,
    /// Random seed.
    pub rng: u64,
    /// Crack surfaces.
    pub surface: Surface,
    /// Shape of rough and dusty surfaces, with the transition level used.
    pub crack: Option<CrackShape>,
    /// Level of island detection.
    pub island_level: u32,
    /// Method of island detection.
    pub labelling: Labelling,
    /// The smallest piece.
    pub smallest: Option<Smallest>,
    /// Local radius, a fraction of the longest side; null breaks everything.
    pub local: Option<f64>,
    /// Numbers of the first break's seeds that were kept.
    pub keep: Vec<u32>,
    /// Interior material on crack faces.
    pub interior: InteriorReport,
    /// Number of generations.
    pub generations: u32,
    /// Mesh formats written beside the arrays.
    pub formats: Vec<String>,
}

/// Values of the table [`PRESETS`]: those of the first patterns always, others where they have an effect. Those of [`CHIPS`]
/// where there are chips.
#[derive(Clone, Debug)]
pub struct PresetReport(Vec<(&'static str, serde_json::Value)>);

impl PresetReport {
    fn of(params: &FractureParams) -> Self {
        let always = ["clusters", "spread", "grain_axis", "grain_ratio"];
        let told = PRESETS.iter().filter(|row| always.contains(&row.of.path) || (row.applies)(params));
        let told = told.chain(CHIPS.iter().filter(|row| params.has_chips() && (row.applies)(params)));
        Self(told.map(|row| (row.of.path, (row.read)(params))).collect())
    }
}

impl Serialize for PresetReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Interior material on crack faces, as used.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InteriorReport {
    /// Name of the material.
    pub material: &'static str,
    /// Base colour, `#rrggbb`.
    pub color: String,
    /// Whether that colour was derived from the surface instead of given.
    pub follows: bool,
    /// Feature size.
    pub scale: f64,
    /// Random seed of the volume.
    pub seed: u32,
    /// Strength of the relief of crack faces.
    pub relief: f64,
}

impl InputReport {
    /// Input data of `object`.
    #[must_use]
    pub fn of(object: &Imported) -> Self {
        Self {
            file: object.file.clone(),
            vertices: object.vertices,
            triangles: object.triangles,
            warnings: object.warnings.clone(),
        }
    }
}

impl InteriorReport {
    /// Interior of the first break; later breaks have the same.
    #[must_use]
    pub fn of(broken: &BrokenObject) -> Self {
        let Some(step) = broken.steps.first() else { return Self::default() };
        Self::new(&step.result.params.interior, surface_of(broken))
    }

    /// An interior in an object whose surface has this mean colour, sRGB.
    #[must_use]
    pub fn new(interior: &Interior, surface: [u8; 3]) -> Self {
        Self {
            material: interior.material.name(),
            color: hex_color(interior.volume(surface).base()),
            follows: interior.color.is_none(),
            scale: interior.scale,
            seed: interior.seed,
            relief: interior.relief,
        }
    }
}

impl ParameterReport {
    /// Parameters of a fracture at leaf level `level`; the others as for a single break without a file.
    #[must_use]
    pub fn of(params: &FractureParams, level: u32) -> Self {
        let crack = (params.surface != Surface::Planar).then(|| CrackShape {
            transition_level: params.crack.transition(level, params.surface).ok(),
            ..params.crack
        });
        Self {
            method: (params.method != MethodId::default()).then_some(params.method.name()),
            options: params.options.clone(),
            level,
            impact: Impact { point: DVec3::ZERO, direction: DVec3::NEG_Z },
            seeds: params.seed_count(),
            pattern: params.preset,
            radii: params.radii.clone(),
            counts: params.counts.clone(),
            presets: PresetReport::of(params),
            pieces: params.target_pieces,
            seeds_file: params.seeds_file.clone(),
            rng: params.rng,
            surface: params.surface,
            island_level: params.island_level.unwrap_or(level),
            labelling: params.labelling,
            smallest: params.smallest,
            crack,
            local: params.local,
            keep: params.keep.clone(),
            interior: InteriorReport::default(),
            generations: 1,
            formats: Vec::new(),
        }
    }
}

impl ParameterReport {
    /// Parameters of a completed break.
    #[must_use]
    pub fn of_break(broken: &BrokenObject, plan: &Plan, level: u32) -> Self {
        Self {
            impact: plan.impact,
            seeds: broken.steps.first().map_or(plan.params.seeds, BreakStep::cells),
            interior: InteriorReport::of(broken),
            generations: plan.generations,
            ..Self::of(&plan.params, level)
        }
    }
}

/// One of several objects of a mesh file.
#[derive(Clone, Debug, Serialize)]
struct FileObject {
    name: String,
    triangles: usize,
    struck: bool,
    pieces: usize,
}

/// The report of one `fracture` command.
#[derive(Serialize)]
pub struct FractureReport {
    version: &'static str,
    provenance: Provenance,
    input: InputReport,
    /// The objects of the file, if there are several: the one that broke first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objects: Vec<FileObject>,
    health: HealthReport,
    #[serde(flatten)]
    ran_on: RanOn,
    parameters: ParameterReport,
    counts: FractureCounts,
    stayed_whole: bool,
    solved: Vec<Solved>,
    pieces: Vec<PieceReport>,
    broken_again: Vec<PieceReport>,
    source_mass: f64,
    dust_mass: f64,
    dust_voxels: u64,
    dropped_mass: f64,
    /// Statistics of the meshes, if any were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    meshes: Option<MeshReport>,
    timings_ms: serde_json::Map<String, serde_json::Value>,
    checks: Vec<Check>,
    /// Files written beside the report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

impl FractureReport {
    /// Adds the names and origins of the pieces of `what`, and the whole objects beside them, with the file's objects
    /// named. To be called before statistics of meshes are added.
    pub fn tell_of_pieces(&mut self, what: &Assembly, beside: &[Source]) {
        let (count, more) = (self.pieces.len(), what.beside);
        let moved = |id: usize| if id >= count { id + more } else { id };
        for piece in self.pieces.iter_mut().chain(&mut self.broken_again) {
            (piece.id, piece.parent) = (moved(piece.id), piece.parent.map(moved));
        }
        self.pieces.extend(what.pieces[count..].iter().map(PieceReport::of));
        PieceReport::tell_origins(&mut self.pieces, what);
        let of = |source: &Source, struck: bool, pieces: usize| FileObject {
            name: source.name.clone(),
            triangles: source.mesh.triangles.len(),
            struck,
            pieces,
        };
        let broken = what.sources.get(&None).filter(|_| !beside.is_empty());
        self.objects.extend(broken.map(|source| of(source, true, count)));
        self.objects.extend(beside.iter().map(|source| of(source, false, 1)));
    }

    /// Adds statistics of the meshes of `what`.
    pub fn tell_of_meshes(&mut self, what: &Assembly, meshes: MeshReport) {
        self.meshes = Some(meshes);
        for (piece, mesh) in self.pieces.iter_mut().zip(PieceMeshReport::of_all(what)) {
            piece.mesh = Some(mesh);
        }
    }

    /// Makes the report. `source_volume` in voxels.
    #[must_use]
    pub fn new(
        broken: &BrokenObject,
        source_volume: f64,
        (input, health): (InputReport, HealthReport),
        ran_on: RanOn,
        parameters: ParameterReport,
        checks: Vec<Check>,
    ) -> Self {
        let voxel = broken.grid().h.powi(3);
        let list = |pieces: &[ExportPiece]| pieces.iter().map(PieceReport::of).collect();
        Self {
            version: VERSION,
            provenance: Provenance::default(),
            input,
            objects: Vec::new(),
            health,
            ran_on,
            parameters,
            counts: counts(broken),
            stayed_whole: broken.stayed_whole(),
            solved: broken.steps.iter().filter_map(|step| step.result.solved).collect(),
            pieces: list(&Assembly::of_break(broken).pieces),
            broken_again: list(&Assembly::broken_again(broken)),
            source_mass: source_volume * voxel,
            dust_mass: voronoi(broken).map(|detail| detail.fracture.dust_volume).sum::<f64>() * voxel
                + others(broken).map(|step| step.result.lost.dust_m3).sum::<f64>(),
            dust_voxels: dust_voxels(broken),
            dropped_mass: voxel
                * voronoi(broken)
                    .filter_map(|detail| detail.fracture.dropped.as_ref())
                    .map(Dropped::volume)
                    .sum::<f64>(),
            meshes: None,
            timings_ms: serde_json::Map::new(),
            checks,
            files: Vec::new(),
        }
    }

    /// Adds the provenance.
    #[must_use]
    pub fn made_by(self, provenance: Provenance) -> Self {
        Self { provenance, ..self }
    }

    /// Adds the files written beside it.
    pub fn tell_files(&mut self, files: Vec<String>) {
        self.files = files;
    }

    /// Adds the times of stages.
    pub fn tell_times(&mut self, timings: &[StageTiming]) {
        self.timings_ms = timings_ms(timings);
    }

    /// Whether every check holds.
    #[must_use]
    pub fn all_checks_hold(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

    /// Names of the checks that do not hold.
    #[must_use]
    pub fn failed_checks(&self) -> Vec<String> {
        self.checks.iter().filter(|check| !check.ok).map(|check| check.name.clone()).collect()
    }

    /// Whether the first break made no crack.
    #[must_use]
    pub fn stayed_whole(&self) -> bool {
        self.stayed_whole
    }

    /// Counts over all generations.
    #[must_use]
    pub fn counts(&self) -> FractureCounts {
        self.counts
    }

    /// Mass of the dust divided by that of the source.
    #[must_use]
    pub fn dust_share(&self) -> f64 {
        if self.source_mass > 0.0 { self.dust_mass / self.source_mass } else { 0.0 }
    }

    /// Writes the report with these timings.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write(&mut self, path: &Path, timings: &[StageTiming]) -> Result<(), ExportError> {
        self.tell_times(timings);
        // In a folder that is being filled there is nothing of that name.
        write_json(path, self).map(drop)
    }
}

/// Stage names with milliseconds; a stage that ran several times has their sum.
#[must_use]
pub fn timings_ms(timings: &[StageTiming]) -> serde_json::Map<String, serde_json::Value> {
    let mut map = serde_json::Map::new();
    for timing in timings {
        let before = map.get(&timing.stage).and_then(serde_json::Value::as_f64).unwrap_or(0.0);
        map.insert(timing.stage.clone(), (before + timing.ms).into());
    }
    map
}

/// Writes `value` as indented JSON into a folder of results.
///
/// # Errors
/// [`ExportError::Write`].
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), ExportError> {
    put_file(path, &json(path, value)?, &|_| false).map(drop)
}

/// Writes `value` as indented JSON to a place that the user named. A file there that the program did not write is kept
/// under a free name; the answer is a line about that.
///
/// # Errors
/// [`ExportError::Write`].
pub fn put_json(path: &Path, value: &impl Serialize) -> Result<Option<String>, ExportError> {
    put_listed(path, &json(path, value)?)
}

fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, ExportError> {
    let mut text = Vec::new();
    let mut json = serde_json::Serializer::with_formatter(&mut text, PlainJson::default());
    value.serialize(&mut json).map_err(|e| ExportError::write(path, e))?;
    text.push(b'\n');
    Ok(text)
}

fn counts(broken: &BrokenObject) -> FractureCounts {
    let fbs = broken.pieces.iter().map(|at| broken.leaves(*at).len() as u64).sum();
    let cells = broken.pieces.iter().map(|at| broken.cell(*at)).collect::<BTreeSet<_>>().len() as u64;
    let pieces = broken.pieces.len() as u64;
    FractureCounts {
        source_leaves: broken.source_octree().forest.leaves.len() as u64,
        crack_voxels: crack_voxels(broken),
        fbs,
        cells,
        islands: pieces - cells,
        pieces,
        dropped: broken.steps.iter().map(|step| step.result.counts.dropped).sum(),
        merged: broken.steps.iter().map(|step| step.result.counts.merged).sum(),
        hidden: broken.steps.iter().map(|step| hidden(broken, step)).sum(),
        dust_voxels: dust_voxels(broken),
        swallowed: broken.steps.iter().map(|step| step.result.counts.swallowed).sum(),
    }
}

/// Number of parts of cells that the corners of voxels miss; `None` where surfaces do not go by corners.
fn hidden(broken: &BrokenObject, step: &BreakStep) -> Option<u64> {
    let (detail, pattern) = VoronoiDetail::of(&step.result).zip(step.result.pattern.as_ref())?;
    let (forest, tree) = broken.source_of(step);
    detail.hidden_in((forest, tree), pattern).map(|hidden| hidden.parts.len() as u64)
}

/// Number of crack voxels, not counting copies. Processed octant by octant, since copies are many.
fn crack_voxels(broken: &BrokenObject) -> u64 {
    let shift = 3 * broken.grid().level.saturating_sub(2);
    let in_octant = |octant: Key| {
        let mut cracks: Vec<Key> = Vec::new();
        for &at in &broken.pieces {
            let (leaves, range) = (&broken.forest(at).leaves, broken.leaves(at));
            let keys = leaves.keys.slice(range.clone());
            let from = keys.partition_point(|key| key >> shift < octant);
            let to = keys.partition_point(|key| key >> shift <= octant);
            let cracked = (from..to).filter(|i| leaves.colors[range.start + i].crack());
            cracks.extend(cracked.map(|i| keys.at(i)));
        }
        cracks.sort_unstable();
        cracks.dedup();
        cracks.len() as u64
    };
    (0..64).map(in_octant).sum()
}

/// Number of solid voxels of the source contained in no piece or dropped part. This is not the sum over the breaks: of
/// a voxel shared by two pieces, both may lose their part, or only one.
fn dust_voxels(broken: &BrokenObject) -> u64 {
    if let [step] = &broken.steps[..] {
        return step.result.counts.dust_voxels;
    }
    if broken.steps.iter().all(|step| step.result.counts.dust_voxels == 0) {
        return 0;
    }
    let pieces = broken.pieces.iter().map(|at| (&**broken.forest(*at), broken.piece(*at).tree));
    let dropped = voronoi(broken).filter_map(|detail| detail.fracture.dropped.as_ref());
    let dropped = dropped.flat_map(|all| all.pieces.iter().map(move |piece| (&*all.forest, piece.tree)));
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for (forest, tree) in pieces.chain(dropped) {
        let cells = Cells::of(forest, tree as usize);
        spans.extend((0..cells.len()).map(|i| (cells.starts.at(i), cells.end(i))));
    }
    spans.sort_unstable();
    let (mut held, mut reached) = (0, 0);
    for (start, end) in spans {
        held += end.saturating_sub(reached.max(start));
        reached = reached.max(end);
    }
    Cells::volume_of(&broken.source_octree().forest, 0) - held
}

/// Details of the breaks by Voronoi cells.
fn voronoi(broken: &BrokenObject) -> impl Iterator<Item = &VoronoiDetail> {
    broken.steps.iter().filter_map(|step| VoronoiDetail::of(&step.result))
}

/// The breaks by other methods.
fn others(broken: &BrokenObject) -> impl Iterator<Item = &BreakStep> {
    broken.steps.iter().filter(|step| VoronoiDetail::of(&step.result).is_none())
}
