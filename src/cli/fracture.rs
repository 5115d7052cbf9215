//! `kintsugi fracture`: no window; voxelise, break, write the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glam::DVec3;

use crate::{
    export::{self, Broken, FractureReport, InteriorReport, ParameterReport, checks},
    fracture::{FractureParams, Interior, Surface, crack::CrackShape},
    gpu::Gpu,
};

use super::{
    CliError,
    breaking::{Plan, break_object, default_impact, first_pattern, kept_count},
    crack::CrackArgs,
    input::{Object, about, load_object},
    progress::Reporter,
};

#[derive(Args)]
pub struct FractureArgs {
    /// Mesh file, or builtin:NAME
    file: PathBuf,
    /// Folder for report.json, voxels.npz and the meshes; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Octree level: 2^N voxels along the longest side
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10))]
    level: u32,
    #[command(flatten)]
    pattern: PatternArgs,
    /// Meshes to write beside the arrays; a list of glb, obj, ply, vox, npz (npz is always written)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    format: Vec<Format>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Options that decide how an object breaks.
#[derive(Args)]
pub struct PatternArgs {
    /// Where the object is hit, in the mesh's units [default: where the -Z axis through the centre meets it]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = super::parse_point)]
    impact: Option<DVec3>,
    /// Number of Voronoi seeds, shared out over the spheres
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    seeds: u32,
    /// Radii of the spheres round the impact, as fractions of the longest side
    #[arg(
        long,
        value_name = "A,B,..",
        value_delimiter = ',',
        value_parser = super::parse_positive,
        default_value = "0.1,0.25,0.5,0.9"
    )]
    radii: Vec<f64>,
    /// Seeds from a file instead: x y z a line in the mesh's units, or a .npy array of shape (n, 3)
    #[arg(long, value_name = "FILE")]
    seeds_file: Option<PathBuf>,
    /// Random seed; the same one gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng: u64,
    #[command(flatten)]
    crack: CrackArgs,
    /// Break only near the impact: cells of seeds farther away stay together; a fraction of the longest side, as --radii
    #[arg(long, value_name = "R", value_parser = super::parse_positive)]
    local: Option<f64>,
    /// Seeds, by number from 0, whose cells stay together too
    #[arg(long, value_name = "N,N,..", value_delimiter = ',')]
    keep: Vec<u32>,
    /// Octree level at which islands are told apart [default: the leaf level]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    island_level: Option<u32>,
    /// What crack faces show: clay, stone, marble, wood, porcelain or plain; after a colon its colour, which otherwise follows the
    /// object's
    #[arg(long, value_name = "NAME[:#RRGGBB]", default_value = "clay")]
    interior: Interior,
    /// How many times the largest eighth of the pieces breaks again, the first break included
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    generations: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Glb,
    Obj,
    Ply,
    Vox,
    Npz,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Vox => "vox",
            Self::Npz => "npz",
        }
    }
}

impl PatternArgs {
    /// Refuses what is not built and what contradicts itself; reads the seeds' file.
    pub fn check(&self, level: u32) -> Result<Option<Vec<DVec3>>, CliError> {
        self.crack.check(level)?;
        let smallest = self.radii.iter().copied().fold(f64::INFINITY, f64::min);
        if self.generations > 1 && self.local.is_some_and(|radius| radius < smallest) {
            return Err(CliError::Input(format!(
                "--local is below the smallest of --radii, {smallest}, so nothing breaks in later generations; give a larger one"
            )));
        }
        if let Some(island) = self.island_level.filter(|island| *island > level) {
            return Err(CliError::Input(format!(
                "--island-level {island} is finer than --level {level}; give at most {level}"
            )));
        }
        self.seeds_file.as_ref().map(read_seeds).transpose()
    }

    /// What to do with `object`; `seeds` are those of the file.
    pub fn plan(&self, object: &Object, seeds: Option<Vec<DVec3>>) -> Plan {
        let mut impact = default_impact(object);
        if let Some(point) = self.impact {
            impact.point = point;
            let centre = (object.bounds.0 + object.bounds.1) * 0.5;
            impact.direction = (centre - point).normalize_or(impact.direction);
        }
        let mut params = FractureParams {
            seeds: self.seeds,
            radii: self.radii.clone(),
            rng: self.rng,
            island_level: self.island_level,
            interior: self.interior,
            local: self.local,
            keep: self.keep.clone(),
            ..FractureParams::default()
        };
        self.crack.apply(&mut params);
        Plan { impact, params, seeds, generations: self.generations }
    }
}

/// Breaks and writes.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &FractureArgs) -> Result<(), CliError> {
    let seeds = args.pattern.check(args.level)?;
    let reporter = Reporter::new(args.json_progress);
    let object = load_object(&args.file, args.level, &reporter)?;
    let plan = args.pattern.plan(&object, seeds);
    // Refuses a pattern that cannot be, while that costs nothing.
    let pattern = first_pattern(&object, &plan)?;
    if plan.params.is_local() && kept_count(&object, &plan, &pattern) == 0 {
        reporter.warn("--local: every seed lies within it, so nothing is kept and the whole object breaks");
    }
    super::make_folder(&args.out)?;

    let gpu = reporter.stage("open the graphics adapter", |_| Gpu::headless())?;
    let broken = break_object(&gpu, &object, &plan, &reporter)?;
    gpu.check()?;
    let checks = reporter.stage("check", |_| checks::check(&broken));
    let parameters = ParameterReport {
        level: args.level,
        impact: plan.impact,
        seeds: plan.seeds.as_ref().map_or(args.pattern.seeds, |s| s.len() as u32),
        radii: plan.params.radii.clone(),
        seeds_file: args.pattern.seeds_file.as_ref().map(|f| f.display().to_string()),
        rng: plan.params.rng,
        surface: plan.params.surface,
        crack: crack_report(&plan.params, args.level),
        island_level: plan.params.island_level.unwrap_or(args.level),
        local: plan.params.local,
        keep: plan.params.keep.clone(),
        interior: InteriorReport::of(&broken),
        generations: plan.generations,
        formats: args.format.iter().map(|f| f.name().to_owned()).collect(),
    };
    let source_volume = crate::bodies::mass_properties(&broken.source, 0).volume;
    let read = (object.input.clone(), object.health.clone());
    let mut report = FractureReport::new(&broken, source_volume, read, gpu.describe(), parameters, checks);
    write(args, &broken, &reporter)?;
    report.write(&args.out.join("report.json"), &reporter.timings())?;

    let counts = report.counts();
    let dust = match report.dust_share() {
        share if share > 0.0 => {
            format!(", {:.2} % of the mass and {} voxels lost as dust", 100.0 * share, counts.dust_voxels)
        }
        _ => String::new(),
    };
    super::print(&format!(
        "{} pieces from {} cells, {} boundary voxels{dust}; checks {}; written to {}\n",
        counts.pieces,
        counts.cells,
        counts.fbs,
        if report.all_checks_hold() { "all hold" } else { "FAILED, see report.json" },
        args.out.display()
    ));
    Ok(())
}

/// The crack shape as it was used.
fn crack_report(params: &FractureParams, level: u32) -> Option<CrackShape> {
    (params.surface != Surface::Planar)
        .then(|| CrackShape { transition_level: params.crack.transition(level).ok(), ..params.crack })
}

fn write(args: &FractureArgs, broken: &Broken, reporter: &Reporter) -> Result<(), CliError> {
    reporter.stage("write voxels.npz", |_| export::write_voxels(&args.out.join("voxels.npz"), broken))?;
    for format in &args.format {
        let stage = format!("write {}", format.name());
        let notes = reporter.stage(&stage, |_| match format {
            Format::Npz => Ok(Vec::new()),
            Format::Glb => export::write_glb(&args.out.join("pieces.glb"), broken),
            Format::Obj => export::write_obj(&args.out.join("pieces.obj"), broken),
            Format::Ply => export::write_ply(&args.out.join("ply"), broken),
            Format::Vox => export::write_vox(&args.out.join("pieces.vox"), broken),
        })?;
        for note in notes {
            reporter.warn(&note);
        }
    }
    Ok(())
}

/// Seeds as text (x y z a line; `#` starts a comment) or as a NumPy array.
fn read_seeds(file: &PathBuf) -> Result<Vec<DVec3>, CliError> {
    let bytes = std::fs::read(file).map_err(|e| {
        about(file, format!("the seeds cannot be read: {e}; check the path given to --seeds-file"))
    })?;
    let is_npy = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    let points = if is_npy { export::read_points(&bytes) } else { parse_seeds(&bytes) };
    let points = points.map_err(|e| about(file, e))?;
    if points.is_empty() || points.len() > 65_535 {
        return Err(about(file, format!("it holds {} seeds; 1 to 65535 are wanted", points.len())));
    }
    if let Some(i) = points.iter().position(|p| p.iter().any(|v| !v.is_finite())) {
        return Err(about(file, format!("seed {} is not finite; remove it", i + 1)));
    }
    Ok(points.into_iter().map(DVec3::from_array).collect())
}

fn parse_seeds(bytes: &[u8]) -> Result<Vec<[f64; 3]>, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let words = line.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
        let numbers: Result<Vec<f64>, _> = words.map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[x, y, z]) => points.push([x, y, z]),
            _ => return Err(format!("line {} is not three numbers x y z", number + 1)),
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_from_text() {
        let text = b"# x y z\n1 2 3\n\n-1.5, 0, 2e1  # the last\n";
        assert_eq!(parse_seeds(text), Ok(vec![[1.0, 2.0, 3.0], [-1.5, 0.0, 20.0]]));
        assert!(parse_seeds(b"1 2 3\n4 5\n").is_err_and(|e| e.contains("line 2")));
        assert!(parse_seeds(b"1 2 x\n").is_err());
    }
}
