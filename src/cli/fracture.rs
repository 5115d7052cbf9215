//! `kintsugi fracture`: voxelises and breaks without a window, and writes the results.

use std::path::PathBuf;

use clap::Args;
use glam::DVec3;

use crate::{
    export::{Aside, Format, FormatEntry, MeshKind, Needs},
    facade::{Engine, Error, Export, Fracture, finish, unit},
    fracture::{
        Dab, FractureParams, Interior, Labelling, MAX_SEEDS, Material, MethodId, Paint, Preset, SeedSource,
        SmallRule, Smallest, cutter,
    },
    import::ReadMesh,
    mesh::{self, Mesh, Objects, format_of},
    scene::{Follow, MaterialPreset, presets::preset_of, read_seeds},
    voxelize::Progress,
};

use super::{
    CliError,
    crack::CrackArgs,
    handing_over::HandoverArgs,
    input::{Object, about, is_scene, voxelise},
    measures::{MeasureArgs, Measured},
    options::{Numbers, choice, formats, refused},
    overlay_files::OverlayArgs,
    progress::Reporter,
    scene_pieces::{self, SceneArgs},
};

#[derive(Args)]
pub struct FractureArgs {
    #[command(flatten)]
    pub compute: super::ComputeArgs,
    /// Mesh file, builtin:NAME, or scene file (.toml), which is played and broken as it says
    pub file: PathBuf,
    /// Folder for report.json, voxels.npz and the meshes; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Octree level: 2^N voxels along the longest side; 11 and 12 on the cores alone [default: 8; of a VOX file the lowest
    /// that holds its own voxels]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: Option<u32>,
    #[command(flatten)]
    pattern: PatternArgs,
    /// What the pattern follows beside the blow: weakness, the cracks by which the object comes apart most easily whatever loads
    /// it; as many seeds again as the pattern has lie at these
    #[arg(long, value_name = "WHAT", hide_possible_values = true, value_parser = choice::<Follow>())]
    #[arg(conflicts_with_all = ["seeds_file", "cutter"])]
    follow: Option<Follow>,
    #[command(flatten)]
    pub scene: SceneArgs,
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = formats(|_| true), hide_possible_values = true)]
    #[arg(help = format!(
        "Files to write beside the arrays; a list of {} (npz is always written; of a scene what is listed, glb where \
         nothing is)",
        Format::names(|_| true)
    ))]
    pub format: Vec<Format>,
    #[arg(long, value_name = "KIND", hide_possible_values = true, value_parser = choice::<MeshKind>())]
    #[arg(help = format!(
        "Which mesh of a piece {} hold: original, the mesh's own triangles cut along the cracks; smooth, with the edges \
         and corners of the octree's planes; voxels, cubes [default: original where the mesh is closed, else smooth]",
        Format::names(FormatEntry::has_meshes)
    ))]
    pub mesh: Option<MeshKind>,
    #[command(flatten)]
    pub handover: HandoverArgs,
    #[command(flatten)]
    overlays: OverlayArgs,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Options that decide how an object breaks.
#[derive(Args)]
pub struct PatternArgs {
    #[command(flatten)]
    pub measures: MeasureArgs,
    /// Which parts of a mesh file (nodes of glTF, objects or groups of OBJ) are one object: touching, those that touch or
    /// overlap; apart, each on its own; together, all of them. The blow breaks the object that it hits, and `fracture`
    /// writes the others whole beside its pieces [default: touching; of render: together]
    #[arg(long, value_name = "WHICH", hide_possible_values = true, value_parser = choice::<Objects>())]
    pub objects: Option<Objects>,
    /// Where the object is hit, in the mesh's units [default: where the -Z axis through the centre meets it]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = super::parse_point)]
    pub impact: Option<DVec3>,
    /// Which way the blow goes, axes of the mesh, any length but zero [default: to the middle of the object]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_direction)]
    pub direction: Option<DVec3>,
    /// Preset of a material: ceramic, glass, concrete, wood, plaster, one that was saved in the window, or a preset's
    /// file (.toml); other options override it. Its densities and frictions are for scenes
    #[arg(long, value_name = "NAME|FILE", value_parser = parse_preset)]
    preset: Option<MaterialPreset>,
    /// How the object is broken: octree, or a method that was added to the table of methods [default: octree]
    #[arg(long, value_name = "NAME", value_parser = parse_method)]
    method: Option<MethodId>,
    /// A parameter of the method's own; may be given several times
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_option)]
    options: Vec<(String, f64)>,
    /// Where the Voronoi seeds lie: on spheres round the impact; uniform; clustered; radial, as a pane of
    /// glass breaks; grain, as wood; inward, between the surface and the middle (Chlubna); bricks, hexagons, slabs or a
    /// lattice of boxes, which fill the bounds; chips, along the crack edges of a piece [default: spheres]
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = choice::<Preset>())]
    pattern: Option<Preset>,
    /// Number of Voronoi seeds, shared out over the spheres [default: 40]
    #[arg(long, value_name = "N", value_parser = parse_seed_count)]
    seeds: Option<u32>,
    /// Pieces to aim at; the number of seeds is solved for
    #[arg(long, value_name = "N", value_parser = parse_seed_count, conflicts_with_all = ["seeds", "counts", "seeds_file"])]
    pieces: Option<u32>,
    /// Radii of the spheres (or rings) round the impact, as fractions of the longest side [default: 0.1,0.25,0.5,0.9]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = super::parse_positive)]
    radii: Vec<f64>,
    /// Seeds of each sphere, one number a radius, instead of --seeds; of a lattice the cells along x, y and z
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', conflicts_with = "seeds")]
    counts: Vec<u32>,
    #[command(flatten)]
    numbers: Numbers<false>,
    /// Which way the grain runs, axes of the mesh (--pattern grain) [default: 0,1,0]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = super::parse_point)]
    grain_axis: Option<DVec3>,
    /// Seeds from a file instead: x y z a line in the mesh's units, a .npy array of shape (n, 3), or a picture whose dark lines
    /// are the cracks as seen along the blow
    #[arg(long, value_name = "FILE")]
    seeds_file: Option<PathBuf>,
    /// Cut by this closed mesh, in the object's units (--method cutter): what lies in each of its bodies comes off. It is
    /// placed by --option fit=1, scale=, turn_x= and move_x= (y, z)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds_file", "pieces"])]
    cutter: Option<PathBuf>,
    /// Smallest piece: voxels, or percent of the volume (0.1%); smaller ones join a neighbour, or go (,drop) [default:
    /// none; 8 where meshes other than voxels are written]
    #[arg(long, value_name = "VOXELS[,merge|drop]", value_parser = parse_smallest)]
    smallest: Option<Smallest>,
    /// Random seed; the same one gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng: u64,
    #[command(flatten)]
    crack: CrackArgs,
    /// Seeds, by number from 0, whose cells stay together too
    #[arg(long, value_name = "N,N,..", value_delimiter = ',')]
    keep: Vec<u32>,
    /// How islands are found: union-find, or iterative as published (2016, sec. 4.5); the same pieces, much more slowly
    #[arg(long, value_name = "NAME", default_value = "union-find", hide_possible_values = true, value_parser = choice::<Labelling>())]
    labelling: Labelling,
    /// What crack faces show: clay, porcelain, glass, stone, marble, concrete, brick, plaster, wood or plain; after a
    /// colon its colour, which
    /// otherwise follows the object's [default: clay]
    #[arg(long, value_name = "NAME[:#RRGGBB]")]
    interior: Option<Interior>,
    /// How many times the largest eighth of the pieces breaks again, the first break included
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    generations: u32,
}

/// Default leaf level of a mesh.
const LEVEL: u32 = 8;

impl FractureArgs {
    /// What is written, and how.
    fn export(&self) -> Export {
        let (handover, prefix) = (self.handover.handover(), self.handover.prefix());
        Export { formats: self.format.clone(), mesh: self.mesh, handover, prefix }
    }

    /// Whether level and pattern have their defaults.
    pub fn breaks_by_default(&self) -> bool {
        self.level.is_none_or(|level| level == LEVEL) && self.pattern.is_default()
    }
}

/// An object of a mesh file, which a blow hits.
pub struct Struck {
    /// Its mesh, in the coordinates of the file.
    pub read: ReadMesh,
    /// Its name, if the file has several objects.
    pub name: Option<String>,
    /// Which object of the file it is; `None` where the file is one.
    pub which: Which,
    /// The others with their names.
    pub beside: Vec<(String, ReadMesh)>,
}

/// Which parts of a file are one object, and the number of an object.
pub type Which = Option<(Objects, u32)>;

impl Struck {
    /// The object of a mesh file that a blow at `impact` hits, mesh units.
    pub fn of(read: ReadMesh, how: Objects, impact: Option<DVec3>, reporter: &Reporter) -> Self {
        let apart = |progress: &Progress| read.objects(how, progress);
        let may_be_several = read.mesh.parts.len() > 1 && !how.are_together();
        let found = if may_be_several { reporter.stage("tell objects apart", apart) } else { Ok(Vec::new()) };
        let mut beside = found.unwrap_or_else(|warning| {
            reporter.warn(&format!("{}: {warning}", read.file));
            Vec::new()
        });
        if beside.is_empty() {
            return Self { read, name: None, which: None, beside };
        }
        let meshes: Vec<&Mesh> = beside.iter().map(|(_, read)| &*read.mesh).collect();
        let hit = mesh::struck(&meshes, impact);
        let (name, read) = beside.remove(hit);
        Self { read, name: Some(name), which: Some((how, hit as u32)), beside }
    }

    /// The object for a command that takes it alone; of several a warning, which reports have too, says which it is.
    pub fn alone(self, reporter: &Reporter) -> (ReadMesh, Which) {
        let Self { mut read, name, which, beside } = self;
        if let Some(name) = name {
            let count = beside.len() + 1;
            let line = format!(
                "of its {count} objects {name} is hit and taken; --objects together takes all as one"
            );
            reporter.warn(&format!("{}: {line}", read.file));
            read.warnings.push(line);
        }
        (read, which)
    }
}

impl PatternArgs {
    /// The object of a mesh file that the blow hits; `usual` says what objects are where no option does.
    pub fn struck(&self, read: ReadMesh, usual: Objects, reporter: &Reporter) -> Struck {
        Struck::of(read, self.objects.unwrap_or(usual), self.impact, reporter)
    }

    /// The same for a command that shows one object: voxelised.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn object(
        &self,
        measured: Measured,
        usual: Objects,
        reporter: &Reporter,
    ) -> Result<(Object, Which), CliError> {
        let level = measured.level;
        let (read, which) = self.struck(measured.mesh(reporter)?, usual, reporter).alone(reporter);
        Ok((voxelise(&read, self.measures.level_of(&read, level), reporter)?, which))
    }

    /// Whether all options have their defaults.
    pub fn is_default(&self) -> bool {
        let told = self.impact.is_some() || self.direction.is_some() || self.seeds_from().is_some();
        let told = told || !self.measures.is_default() || self.objects.is_some();
        !told && self.generations == 1 && self.params() == FractureParams::default()
    }

    /// Rejects unsupported and contradictory options; reads the file of seeds.
    pub fn check(&self, level: u32) -> Result<Option<SeedSource>, CliError> {
        let params = self.params_at(level);
        self.crack.check_with(&params, level)?;
        let smallest = params.radii.iter().copied().fold(f64::INFINITY, f64::min);
        if self.generations > 1 && params.local.is_some_and(|radius| radius < smallest) {
            return Err(CliError::Input(format!(
                "--local is below the smallest of --radii, {smallest}, so nothing breaks in later generations; give a larger one"
            )));
        }
        if let Some(island) = self.numbers.given("island-level").filter(|island| *island > f64::from(level)) {
            return Err(CliError::Input(format!(
                "--island-level {island} is finer than --level {level}; give at most {level}"
            )));
        }
        if let Some(problem) = params.problem() {
            return Err(refused(problem));
        }
        let read = |file: &PathBuf| read_seeds(file).map_err(|error| about(file, error.message));
        self.seeds_from().map(read).transpose()
    }

    /// The file of seeds, or of the mesh to cut by.
    fn seeds_from(&self) -> Option<&PathBuf> {
        self.seeds_file.as_ref().or(self.cutter.as_ref())
    }

    /// Whether a method was named.
    pub fn names_method(&self) -> bool {
        self.method.is_some()
    }

    /// Whether anything says what crack faces show.
    pub fn names_interior(&self) -> bool {
        self.interior.is_some() || self.preset.is_some()
    }

    /// The parameters that the options give, over those of the preset.
    pub fn params(&self) -> FractureParams {
        let base =
            self.preset.as_ref().map_or_else(FractureParams::default, |preset| preset.fracture.clone());
        let cuts = self.cutter.as_ref().map(|_| cutter::METHOD.id());
        let method = self.method.or(cuts).unwrap_or(base.method);
        let mut options = if method == base.method { base.options } else { Default::default() };
        options.extend(self.options.iter().cloned());
        let preset = self.pattern.unwrap_or(base.preset);
        // Any of these three options overrides the preset's number of seeds or pieces.
        let says_how_many = self.seeds.is_some() || !self.counts.is_empty() || self.pieces.is_some();
        let counts_otherwise =
            !preset.has_counts() || preset.has_radii() != base.preset.has_radii() || says_how_many;
        let counts = match (counts_otherwise, self.radii.is_empty()) {
            (false, true) => base.counts,
            _ => self.counts.clone(),
        };
        let inside = self.interior.unwrap_or(base.interior);
        let mut params = FractureParams {
            method,
            options,
            seeds: self.seeds.unwrap_or(base.seeds),
            preset,
            radii: if self.radii.is_empty() { base.radii } else { self.radii.clone() },
            counts,
            grain_axis: self.grain_axis.unwrap_or(base.grain_axis),
            seeds_file: None,
            target_pieces: if says_how_many { self.pieces } else { base.target_pieces },
            rng: self.rng,
            labelling: self.labelling,
            keep: self.keep.clone(),
            smallest: self.smallest.or(base.smallest),
            interior: Interior { material: inside.material, color: inside.color, ..base.interior },
            ..base
        };
        self.numbers.apply(&mut params);
        self.crack.apply(&mut params);
        params
    }

    /// The same for an object of `level`: a preset's levels are limited to it.
    fn params_at(&self, level: u32) -> FractureParams {
        let mut params = self.params();
        if self.preset.is_some() {
            params.fit(level);
            // Levels given as options are not limited but checked.
            self.numbers.apply(&mut params);
            self.crack.apply(&mut params);
        }
        params
    }

    /// What to do with an object of `level`; `seeds` are those of the file.
    pub fn fracture(&self, level: u32, seeds: Option<SeedSource>) -> Fracture {
        Fracture {
            params: self.params_at(level),
            impact: self.impact,
            direction: self.direction,
            seeds,
            generations: self.generations,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &FractureArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    if is_scene(&args.file) {
        if args.overlays.given() {
            let message = "--overlays is for meshes; leave it out, or give a mesh in place of the scene";
            return Err(CliError::Input(message.into()));
        }
        if args.pattern.objects.is_some() {
            let message = "--objects is for meshes; a scene's bodies have `objects`";
            return Err(CliError::Input(message.into()));
        }
        if args.follow.is_some() {
            let message = "--follow is for meshes; a scene's bodies have `follow`";
            return Err(CliError::Input(message.into()));
        }
        return scene_pieces::run(args, &reporter);
    }
    if let Some(option) = args.scene.given() {
        return Err(CliError::Input(format!("{option} is for scenes; leave it out, or give a .toml file")));
    }
    let measured = args.pattern.measures.measure(&args.file, (args.level, LEVEL), &reporter)?;
    let level = measured.level;
    args.compute.takes(level)?;
    let seeds = args.pattern.check(level)?;
    let params = args.pattern.params();
    args.overlays.check(level, &params)?;
    if let Some(what) = args.follow.and_then(|follow| follow.problem(&params)) {
        return Err(CliError::Input(format!("--follow {what}")));
    }
    let method = params.method;
    let of_voxels = args.format.iter().find(|format| format.needs == Needs::Voxels);
    if let Some(format) = of_voxels.filter(|_| !method.entry().of_voxels) {
        let format = format.name;
        return Err(CliError::Input(format!(
            "--format {format}: what the method {method} makes has no voxels; leave {format} out, or take the method octree"
        )));
    }
    let struck = args.pattern.struck(measured.mesh(&reporter)?, Objects::Touching, &reporter);
    let Struck { read, name, beside, .. } = struck;
    let level = args.pattern.measures.level_of(&read, level);
    let object = voxelise(&read, level, &reporter)?;
    let export = args.export();
    let mut how = args.pattern.fracture(level, seeds);
    if format_of(&args.file) == Some(mesh::Format::Vox) && !args.pattern.names_interior() {
        // The inside of a voxel model has one colour, as its artist would give it.
        how.params.interior.material = Material::Plain;
    }
    let mut followed = String::new();
    if let Some(follow) = args.follow {
        let painted = reporter.stage("weakness", |_| follow.paint(&object.shape, &mut how.params));
        painted.map_err(|error| about(&args.file, format!("--follow: {error}")))?;
        let dense = how.params.paint.iter().filter(|dab| dab.kind == Paint::Dense);
        let seeds: Vec<f64> = dense.map(Dab::amount).collect();
        // An empty sum is -0.
        followed = format!("{} seeds more at {} weak places\n", seeds.iter().sum::<f64>() + 0.0, seeds.len());
    }
    export.join_crumbs(&mut how.params);
    let plan = object.plan(&how)?;
    // An impossible pattern is rejected here, while that costs nothing.
    if method.entry().by_seeds {
        let pattern = object.pattern(&plan)?;
        if plan.params.is_local() && object.kept_cells(&plan, &pattern) == 0 {
            reporter
                .warn("--local: every seed lies within it, so nothing is kept and the whole object breaks");
        }
    }
    // Results are written to a temporary folder, which is renamed once complete.
    let mut aside = Aside::begin(&args.out)?;
    let inputs = std::iter::once(&args.file).chain(args.pattern.seeds_from()).cloned();
    aside.spare(inputs, export.names())?;

    let compute = args.compute.open(&reporter)?;
    let mut pieces = object.break_by(&Engine::from(compute.clone()), plan, &reporter)?;
    pieces.seeds_from(args.pattern.seeds_from().map(PathBuf::as_path));
    if let Some(name) = &name {
        pieces.stand_beside(name, &beside);
    }
    crate::memory::give_back();
    let mut report = pieces.write(&aside, &export, &reporter).map_err(|error| match error {
        Error::NotOriginal(error) => about(&args.file, format!("--mesh original: {error}")),
        error => error.into(),
    })?;
    let moved = |error: CliError| match error {
        CliError::Export(error) => CliError::Export(aside.moved(error)),
        error => error,
    };
    let broken = pieces.broken();
    args.overlays
        .write(&compute, (&object, pieces.plan()), broken, aside.path(), &reporter)
        .map_err(moved)?;
    let notes = finish(aside, &mut report, &reporter.timings())?;
    notes.iter().for_each(|note| reporter.warn(note));

    let counts = report.counts();
    let dust = match report.dust_share() {
        share if share > 0.0 => {
            format!(", {:.2} % of the mass and {} voxels lost as dust", 100.0 * share, counts.dust_voxels)
        }
        _ => String::new(),
    };
    let mut line = format!(
        "{} pieces from {} cells, {} boundary voxels{dust}; checks {}; written to {}\n",
        counts.pieces,
        counts.cells,
        counts.fbs,
        if report.all_checks_hold() { "all hold" } else { "FAILED, see report.json" },
        args.out.display()
    );
    line += &followed;
    if let Some(name) = &name {
        let count = beside.len();
        line += &format!(
            "of the file's {} objects {name} was hit; {count} stand whole beside its pieces (--objects together: all are one)\n",
            count + 1
        );
    }
    if report.stayed_whole() {
        line +=
            "the object stayed whole: no crack met it; use more seeds or larger radii, or hit elsewhere\n";
    }
    if let Some(solved) = broken.steps.first().and_then(|step| step.result.solved) {
        line += &format!(
            "asked for {} pieces, reached {} with {} seeds, in {} previews and {} fractures\n",
            solved.wanted, solved.reached, solved.seeds, solved.preview_trials, solved.trials
        );
    }
    if params.chips_follow() {
        line += &format!("chips: {} of {} that were asked for\n", broken.chips(), params.chips);
    }
    if counts.dropped + counts.merged > 0 {
        line += &format!("small pieces: {} merged, {} dropped\n", counts.merged, counts.dropped);
    }
    super::print(&line);
    let failed = report.failed_checks();
    let told = args.out.join("report.json");
    if failed.is_empty() { Ok(()) } else { Err(super::checks_failed(&failed, &told)) }
}

fn parse_preset(text: &str) -> Result<MaterialPreset, String> {
    preset_of(text).map_err(|error| error.message)
}

fn parse_direction(text: &str) -> Result<DVec3, String> {
    let direction = super::parse_point(text)?;
    unit(direction).ok_or_else(|| "it is zero; say which way the blow goes".into())
}

pub fn parse_method(name: &str) -> Result<MethodId, String> {
    MethodId::named(name).map_err(|error| error.to_string())
}

fn parse_option(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is wanted, as in depth=0.5")?;
    let value = value.trim().parse().map_err(|_| format!("{value} is no number"))?;
    Ok((name.trim().to_owned(), value))
}

fn parse_seed_count(text: &str) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(n) if (1..=MAX_SEEDS).contains(&n) => Ok(n),
        _ => Err(format!(
            "a whole number from 1 to {MAX_SEEDS} is wanted; for more pieces add --generations 2, which breaks the largest again"
        )),
    }
}

fn parse_smallest(text: &str) -> Result<Smallest, String> {
    let (size, rule) = text.split_once(',').unwrap_or((text, "merge"));
    let rule = match rule.trim() {
        "merge" => SmallRule::Merge,
        "drop" => SmallRule::Drop,
        _ => return Err("merge or drop is wanted after the comma, as in 100,drop".into()),
    };
    let (mut voxels, mut fraction) = (0, 0.0);
    if let Some(percent) = size.trim().strip_suffix('%') {
        fraction =
            percent.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p)).map_or(-1.0, |p| p / 100.0);
    } else {
        voxels =
            size.trim().parse().map_err(|_| "a number of voxels or percent is wanted, as in 100 or 0.1%")?;
    }
    if fraction < 0.0 {
        return Err("percent of the volume must be from 0% to 100%".into());
    }
    Ok(Smallest { voxels, fraction, rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_piece_is_read() {
        let rule = |voxels, fraction, rule| Ok(Smallest { voxels, fraction, rule });
        assert_eq!(parse_smallest("100"), rule(100, 0.0, SmallRule::Merge));
        assert_eq!(parse_smallest("100,drop"), rule(100, 0.0, SmallRule::Drop));
        assert_eq!(parse_smallest("0.5%, merge"), rule(0, 0.005, SmallRule::Merge));
        for bad in ["", "-3", "5,keep", "120%", "nan%", "%", "1.5"] {
            assert!(parse_smallest(bad).is_err(), "{bad}");
        }
        assert!(parse_seed_count("8193").is_err_and(|e| e.contains("--generations")));
    }
}
