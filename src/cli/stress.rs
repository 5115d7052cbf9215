//! `kintsugi stress`: the elastic stress of a mesh on the cells of its octree, as arrays.
//!
//! In: a mesh, loads, what holds it. Out: `stress.npz` and `report.json` in a folder.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use glam::DVec3;
use serde::Serialize;

use super::{
    CliError,
    fracture::Struck,
    input::voxelise,
    measures::MeasureArgs,
    options::choice,
    parse_point, parse_positive,
    progress::Reporter,
    stress_modes::{ModesArgs, ModesReport, OfCells},
};
use crate::{
    bodies::structure::StrengthMaterial,
    compute::{Choice, Compute, RanOn},
    elastic::{ElasticBody, ElasticError, FEWEST_IN_PASSES, Load, Material, Settings, Solution, Solver},
    export::{Arrays as _, Aside, ExportError, Npz},
    fracture::Cancel,
    geometry::Aabb,
    mesh::Objects,
    provenance::{Provenance, VERSION},
};

// The report lists the options: lengths in m, forces in N, `null` where one is absent.
#[derive(Args, Serialize)]
pub struct StressArgs {
    #[command(flatten)]
    #[serde(skip)]
    compute: super::ComputeArgs,
    /// Mesh file, or builtin:NAME; its units are metres unless --units says otherwise
    #[serde(skip)]
    file: PathBuf,
    /// Folder for stress.npz and report.json; made if it is not there
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    out: PathBuf,
    /// Leaf level of the octree, 1 to 10 [default: 7]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(FINEST)))]
    level: Option<u32>,
    #[command(flatten)]
    #[serde(flatten)]
    measures: MeasureArgs,
    /// Which parts of a mesh file are one object, as of `fracture`: touching, apart or together. The stress is that of the
    /// object that the blow hits, without one of the first that the -Z axis through the middle of the file meets
    #[arg(long, value_name = "WHICH", hide_possible_values = true, value_parser = choice::<Objects>())]
    #[arg(default_value = "touching")]
    objects: Objects,
    /// Level of the cells, at most that of the leaves [default: 6, or that of coarser leaves]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    cells: Option<u32>,
    /// Material whose stiffness and density it has: glass, ceramic, concrete, masonry, stone, plaster, oak or ice
    #[arg(long, value_name = "NAME", value_parser = choice::<StrengthMaterial>())]
    #[arg(default_value = "concrete", hide_possible_values = true)]
    material: StrengthMaterial,
    /// Density, kg/m^3 [default: that of the material]
    #[arg(long, value_name = "RHO", value_parser = parse_positive)]
    density: Option<f64>,
    /// Poisson's ratio, -0.9 to 0.49
    #[arg(long, value_name = "NU", default_value_t = 0.2)]
    poisson: f64,
    /// Acceleration of all matter, m/s^2; the weight if no other load is given
    #[arg(long, allow_hyphen_values = true, value_name = "X,Y,Z", value_parser = parse_point)]
    acceleration: Option<DVec3>,
    /// Where a force pushes, in the units of the mesh; with --force and --direction
    #[arg(long, allow_hyphen_values = true, value_name = "X,Y,Z", value_parser = parse_point)]
    blow: Option<DVec3>,
    /// Which way the force pushes; without it, towards the middle of the mesh
    #[arg(long, allow_hyphen_values = true, value_name = "X,Y,Z", value_parser = parse_point, requires = "blow")]
    direction: Option<DVec3>,
    /// The force, N
    #[arg(long, value_name = "N", value_parser = parse_positive, default_value_t = 1.0, requires = "blow")]
    force: f64,
    /// How far from its point the force is spread, in the units of the mesh; at least a cell's edge is used
    #[arg(long, value_name = "R", value_parser = parse_positive, requires = "blow")]
    radius: Option<f64>,
    /// Pressure on all outer faces, walls of voids too, Pa
    #[arg(long, value_name = "PA", value_parser = parse_positive)]
    pressure: Option<f64>,
    /// A box whose nodes cannot move, low and high corner, in the units of the mesh; may be given several times. Without
    /// one a body under its weight stands on its lowest cells, and under other loads it is free
    #[arg(long, allow_hyphen_values = true, value_name = "X,Y,Z,X,Y,Z", value_parser = parse_box)]
    #[serde(serialize_with = "corners")]
    held: Vec<Aabb>,
    #[command(flatten)]
    #[serde(flatten)]
    modes: ModesArgs,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    #[serde(skip)]
    json_progress: bool,
}

/// Low and high corners of boxes, for the report.
fn corners<S: serde::Serializer>(boxes: &[Aabb], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(boxes.iter().map(|held| [held.low, held.high]))
}

/// Parses the low and the high corner of a box.
///
/// # Errors
/// A line that says what is wanted.
pub fn parse_box(text: &str) -> Result<Aabb, String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let wrong = || "six finite numbers are wanted, the low corner and then the high one".to_owned();
    let [a, b, c, d, e, f] = *numbers.as_slice() else { return Err(wrong()) };
    let (low, high) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
    let is_box = text.split(',').count() == 6 && low.is_finite() && high.is_finite() && low.cmplt(high).all();
    is_box.then(|| Aabb::new(low, high)).ok_or_else(wrong)
}

impl From<ElasticError> for CliError {
    fn from(error: ElasticError) -> Self {
        Self::Input(error.to_string())
    }
}

/// `report.json`.
#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    provenance: Provenance,
    /// Where the solve ran.
    #[serde(flatten)]
    ran_on: RanOn,
    input: String,
    level: u32,
    cells_level: u32,
    cells: usize,
    /// Cells that hang on the rest by no face, and were left out.
    cells_left_out: usize,
    /// Edge of a cell, m.
    cell: f64,
    youngs_modulus: f64,
    poissons_ratio: f64,
    density: f64,
    iterations: u32,
    /// Estimate of the relative error in the energy norm.
    error: f64,
    /// The greatest tension, Pa, and where, m.
    greatest_tension: f64,
    at: [f64; 3],
    greatest_displacement: f64,
    /// Present where `--modes` asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    fracture_modes: Option<ModesReport>,
    asked: &'a StressArgs,
    warnings: Vec<String>,
}

/// Default leaf level.
const LEVEL: u32 = 7;
/// Finest leaf level.
const FINEST: u32 = 10;
/// Level of the cells, if the leaves are as fine.
const USUAL_CELLS: u32 = 6;
/// The greatest tension is looked for among cells that are solid to at least this share: in slivers of a stepped surface a
/// stress says little.
const LEAST_FILL: f32 = 0.25;

/// Names of the files that it writes.
const NAMES: [&str; 2] = ["stress.npz", "report.json"];

/// Solves and writes.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &StressArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    let measured = args.measures.measure(&args.file, (args.level, LEVEL), &reporter)?;
    let level = measured.level;
    let mesh = measured.mesh(&reporter)?;
    let (mesh, _) = Struck::of(mesh, args.objects, args.blow, &reporter).alone(&reporter);
    let level = args.measures.level_of(&mesh, level);
    if level > FINEST {
        return Err(CliError::Input(format!(
            "--voxel-size takes level {level} of this mesh, and stress is solved for levels up to {FINEST}; give a longer edge"
        )));
    }
    let cells = args.cells.unwrap_or(USUAL_CELLS.min(level));
    if cells > level {
        return Err(CliError::Input(format!(
            "--cells {cells} is finer than --level {level}; lower it or raise --level"
        )));
    }
    let object = voxelise(&mesh, level, &reporter)?;
    let octree = object.octree();
    let material = Material {
        youngs_modulus: args.material.strength().stiffness,
        poissons_ratio: args.poisson,
        density: args.density.unwrap_or(args.material.density()),
    };
    let body = Arc::new(ElasticBody::new(&octree, cells, material)?);
    let compute = match args.compute.compute {
        // Such a body is solved on the cores.
        Choice::Auto if body.len() < FEWEST_IN_PASSES => Compute::Cpu,
        _ => args.compute.open(&reporter)?,
    };
    let (solution, ran_on) = reporter.stage("solve", |_| solved(args, &body, &compute))?;
    let solution = solution.converged()?;
    let strength = args.material.strength().tension;
    let (modes, of_cells) = args.modes.find(&body, strength, &reporter)?.unzip();
    let mut aside = Aside::begin(&args.out)?;
    aside.spare([args.file.clone()], NAMES)?;
    let findings = object.warnings.iter().chain(&object.health.notes).cloned().collect();
    let report = report((args, level), (&solution, ran_on), modes, findings);
    let folder = aside.path().to_owned();
    write(&solution, &report, of_cells.as_ref(), &folder).map_err(|error| aside.moved(error))?;
    aside.finish()?.iter().for_each(|note| reporter.warn(note));
    super::print(&format!(
        "{} cells of {:.4} m, {} iterations; greatest tension {:.4e} Pa at {:.4}, {:.4}, {:.4}; greatest displacement {:.4e} m\n",
        report.cells,
        report.cell,
        report.iterations,
        report.greatest_tension,
        report.at[0],
        report.at[1],
        report.at[2],
        report.greatest_displacement
    ));
    if let Some(modes) = &report.fracture_modes {
        super::print(&modes.line());
    }
    Ok(())
}

fn solved(
    args: &StressArgs,
    body: &Arc<ElasticBody>,
    compute: &Compute,
) -> Result<(Solution, RanOn), ElasticError> {
    let everywhere = |_: &crate::elastic::Face| true;
    let weight = args.blow.is_none() && args.pressure.is_none();
    let mut loads = Vec::new();
    if let Some(acceleration) = args.acceleration.or(weight.then_some(DVec3::NEG_Y * 9.81)) {
        loads.push(Load::Acceleration(acceleration));
    }
    if let Some(pascals) = args.pressure {
        loads.push(Load::Pressure { at: &everywhere, pascals });
    }
    let centres = || (0..body.len()).filter_map(|cell| body.cell(cell)).map(|cell| cell.centre);
    if let Some(point) = args.blow {
        let middle = centres().sum::<DVec3>() / body.len().max(1) as f64;
        let direction = args.direction.unwrap_or(middle - point);
        loads.push(Load::Blow { point, direction, radius: args.radius.unwrap_or(0.0), newtons: args.force });
    }
    let solver = match args.held.is_empty() {
        false => Solver::held_in(body, &args.held)?,
        true if weight => Solver::standing(body, args.acceleration.unwrap_or(DVec3::NEG_Y))?,
        true => Solver::free(body),
    };
    let solver = solver.in_passes(compute.gpu());
    let solution = solver.solve(&loads, &Settings::PRECISE, None, Cancel::never())?;
    let ran_on = if solver.is_in_passes() { compute.ran_on() } else { Compute::Cpu.ran_on() };
    Ok((solution, ran_on))
}

fn report<'a>(
    (args, level): (&'a StressArgs, u32),
    (solution, ran_on): (&Solution, RanOn),
    fracture_modes: Option<ModesReport>,
    warnings: Vec<String>,
) -> Report<'a> {
    let body = solution.body();
    let tension = solution.tension();
    let is_solid = |cell: usize| body.cell(cell).is_some_and(|cell| cell.fill >= LEAST_FILL);
    let mut greatest = (0.0, 0);
    for (cell, pull) in tension.iter().enumerate() {
        if *pull > greatest.0 && is_solid(cell) {
            greatest = (*pull, cell);
        }
    }
    let (greatest, at) = greatest;
    Report {
        version: VERSION,
        provenance: crate::provenance::here(),
        ran_on,
        input: args.file.display().to_string(),
        level,
        cells_level: body.level(),
        cells: body.len(),
        cells_left_out: body.cells_left_out(),
        cell: body.cell_size(),
        youngs_modulus: body.material().youngs_modulus,
        poissons_ratio: body.material().poissons_ratio,
        density: body.material().density,
        iterations: solution.convergence.iterations,
        error: solution.convergence.error,
        greatest_tension: f64::from(greatest),
        at: body.cell(at).map_or([0.0; 3], |cell| cell.centre.to_array()),
        greatest_displacement: moves(solution).iter().map(|u| u.length()).fold(0.0, f64::max),
        fracture_modes,
        asked: args,
        warnings,
    }
}

/// Mean displacement of the corners of each cell, m.
fn moves(solution: &Solution) -> Vec<DVec3> {
    let body = solution.body();
    let of = |cell: usize| {
        let low = body.cell(cell)?.low;
        let corners = (0..8u32).filter_map(|corner| {
            solution.displacement(std::array::from_fn(|axis| low[axis] + (corner >> axis & 1)))
        });
        Some(corners.sum::<DVec3>() / 8.0)
    };
    (0..body.len()).map(|cell| of(cell).unwrap_or(DVec3::ZERO)).collect()
}

fn write(
    solution: &Solution,
    report: &Report<'_>,
    of_cells: Option<&OfCells>,
    folder: &std::path::Path,
) -> Result<(), ExportError> {
    let body = solution.body();
    let cells: Vec<_> = (0..body.len()).filter_map(|cell| body.cell(cell)).collect();
    let n = cells.len();
    let low: Vec<u32> = cells.iter().flat_map(|cell| cell.low).collect();
    let fill: Vec<f32> = cells.iter().map(|cell| cell.fill).collect();
    let centre: Vec<f64> = cells.iter().flat_map(|cell| cell.centre.to_array()).collect();
    let moved: Vec<f64> = moves(solution).iter().flat_map(|u| u.to_array()).collect();
    let stress: Vec<f64> = solution.stress().iter().flat_map(|stress| stress.0).collect();
    let principal: Vec<f64> = solution.stress().iter().flat_map(|stress| stress.principal()).collect();
    let mises: Vec<f64> = solution.stress().iter().map(|stress| stress.von_mises()).collect();
    let mut file = Npz::create(&folder.join(NAMES[0]))?;
    file.array("cell", &[n, 3], &low)?;
    file.array("fill", &[n], &fill)?;
    file.array("centre", &[n, 3], &centre)?;
    file.array("displacement", &[n, 3], &moved)?;
    file.array("stress", &[n, 6], &stress)?;
    file.array("principal", &[n, 3], &principal)?;
    file.array("von_mises", &[n], &mises)?;
    if let Some(of_cells) = of_cells {
        file.array("part", &[n], &of_cells.part)?;
        file.array("weakness", &[n], &of_cells.weakness)?;
    }
    file.finish()?;
    let path = folder.join(NAMES[1]);
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| ExportError::Format { path: path.clone(), reason: error.to_string() })?;
    std::fs::write(&path, text + "\n").map_err(|error| ExportError::write(&path, error))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::{Command, grammar, parse};

    /// Options of which `asked` says nothing: the place of results, how progress is shown, and what the report has under
    /// `compute`.
    const LEFT_OUT: [&str; 3] = ["out", "json-progress", "compute"];

    /// What was asked for stands in every report that lists it, whole.
    #[test]
    fn reports_that_say_what_was_asked_list_every_option() {
        let command = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            parse(&words).unwrap().command
        };
        let stress = command("kintsugi stress builtin:box --out x --modes 3 --parts 8 --held 0,0,0,1,1,1");
        let logs = "--contact-log 1 --contact-substeps --bond-loads 1";
        let simulate = command(&format!("kintsugi simulate builtin:box --seconds 1 --out x {logs}"));
        let (Some(Command::Stress(stress)), Some(Command::Simulate(simulate))) = (stress, simulate) else {
            panic!("other commands were parsed");
        };
        let stress = serde_json::to_value(&stress).unwrap();
        assert_eq!(stress["held"], serde_json::json!([[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]]));
        assert_eq!((&stress["modes"], &stress["material"]), (&3.into(), &"concrete".into()));
        let simulate = serde_json::to_value(simulate.asked("box".into())).unwrap();
        assert_eq!((&simulate["file"], &simulate["scene"]), (&"builtin:box".into(), &"box".into()));
        for (name, asked) in [("stress", stress), ("simulate", simulate)] {
            let grammar = grammar();
            let command = grammar.find_subcommand(name).unwrap();
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                // A list has the plural of its option.
                let field = option.replace('-', "_");
                let is_there = asked.get(&field).or(asked.get(format!("{field}s"))).is_some();
                // Planted error to see this fail: leave a field of the options out.
                assert_ne!(is_there, LEFT_OUT.contains(&option), "{name} --{option}: {asked}");
            }
        }
    }

    #[test]
    fn boxes_are_checked() {
        let held = parse_box("0, 0,0,1,2,3").unwrap();
        assert_eq!((held.low, held.high), (DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)));
        for bad in ["0,0,0,1,2", "0,0,0,1,2,3,4", "0,0,0,1,nan,3", "0,0,0,1,0,3", "a,0,0,0,1,2,3"] {
            assert!(parse_box(bad).unwrap_err().contains("six"), "{bad}");
        }
    }
}
