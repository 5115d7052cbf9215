//! `kintsugi simulate`: plays a scene without a window and logs it.
//!
//! In: a scene file, or a mesh that then stands on the floor. Out: `trajectory.npz` and `steps.csv`, the volumes that
//! pairs share and the solver's contacts, all written during the run; debris, an animation and `report.json` at the end.
//! The logs are begun aside and take the places of an earlier run's results in one change, before the first step. The
//! simulation waits for its fractures, so the same scene gives the same log.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;

use crate::{
    bodies::{ContactsId, ResponseId, StepReport, has_measure},
    export::{
        Aside, Assembly, ContactLog, ExportError, Format, PairLog, StepLog, Trajectory, Watch, to_picoseconds,
    },
    registry::LEFT_OUT,
    scene::{FieldSelection, MAX_FIELD_LEVEL, Sandbox},
    voxelize::Progress,
};

use super::{
    CliError,
    bond_log::{BOND_LOADS, BONDS, BondLog},
    contact_counts::ContactCounts,
    debris_file::{self, DEBRIS},
    frames::{FRAMES, FrameArgs},
    handing_over::parse_prefix,
    impact_log::{IMPACTS, ImpactLog},
    input::{about, is_scene, read_scene},
    options::formats,
    playing::{open, play},
    progress::Reporter,
    signals,
    simulation_report::{Asked, SimulationReport},
};

// The report lists the options by their names.
#[derive(Args, Serialize)]
pub struct SimulateArgs {
    #[command(flatten)]
    #[serde(skip)]
    compute: super::ComputeArgs,
    #[command(flatten)]
    #[serde(flatten)]
    coarser: super::input::CoarserArgs,
    #[command(flatten)]
    #[serde(flatten)]
    measures: super::measures::MeasureArgs,
    /// Scene file (.toml), mesh file, or builtin:NAME
    #[serde(rename = "file")]
    scene: PathBuf,
    /// Octree level of a mesh: 2^N voxels along the longest side; a scene has its own [default: 7]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: Option<u32>,
    /// Simulated time
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
    /// Folder for trajectory.npz, steps.csv and report.json; made if it is not there
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    out: PathBuf,
    /// How contacts are found, by a name of the table of generators (mixed, octree, hull, field); without it, as the
    /// scene says
    #[arg(long, value_name = "NAME", value_parser = by_name::<ContactsId>)]
    contacts: Option<ContactsId>,
    /// Octree level of the cells of distance fields, 1 to 7, for --contacts field; without it, as the scene says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FIELD_LEVEL)))]
    field_level: Option<u32>,
    /// Points that a query of distance fields adds to the first ones, for --contacts field: deepest, points deeper than the
    /// deepest contact; or epsilon, all points deeper than --field-epsilon, as published (Glondu and others 2012); without
    /// it, as the scene says
    #[arg(long, value_name = "NAME", value_parser = parse_selection)]
    field_selection: Option<FieldSelection>,
    /// Contacts of a query of distance fields that are enough, the paper's m, for --contacts field; 0: every point that
    /// collides is a contact; without it, as the scene says
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(0..=4096))]
    field_most_points: Option<u32>,
    /// Depth up to which contacts of distance fields may be left out, the paper's epsilon, 0 to 1: a share of the radius of
    /// the body whose points they are, for --contacts field; without it, as the scene says
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    field_epsilon: Option<f64>,
    /// Response to contacts: soft, springs in substeps; impulse, hard contacts; or penalty, that of Domaradzki & Martyn
    /// 2016; without it, as the scene says
    #[arg(long, value_name = "NAME", value_parser = by_name::<ResponseId>)]
    response: Option<ResponseId>,
    /// Measure the volume that bodies share after every step of this many, which can take longer than the step; 0:
    /// never. It is empty in other lines of steps.csv
    #[arg(long, value_name = "STEPS", default_value_t = 1)]
    volume_every: u64,
    /// Write pairs.csv: the overlap of each touching pair after every step
    #[arg(long)]
    pairs: bool,
    /// Write collision_points.csv: averaged collision points of all pairs, after every step of this many
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    collision_points: Option<u64>,
    /// Write contact_log.csv and contacts.npz: every contact of the solver with its impulse and relative velocity, after
    /// every step of this many
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    contact_log: Option<u64>,
    /// With --contact-log: write a row for each contact and substep into contacts.npz, with the substep's number
    #[arg(long, requires = "contact_log")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    contact_substeps: bool,
    /// Count colliding points and their contacts after every step, write contacts.csv, and print both with times as a
    /// table; for --contacts field
    #[arg(long)]
    count_contacts: bool,
    /// Write bond_loads.csv: the load of every bond, after every step of this many, where bodies hold by bonds
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    bond_loads: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    film: FrameArgs,
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = formats(|format| format.has_nodes), hide_possible_values = true)]
    #[arg(help = format!(
        "Write what was played as animation.{}, a node a body; a list of {}",
        Format::names(|format| format.has_nodes).replace(", ", " or animation."),
        Format::names(|format| format.has_nodes)
    ))]
    #[serde(rename = "formats", serialize_with = "names")]
    format: Vec<Format>,
    /// Frames a second of --format, at most 1000, between which programs interpolate
    #[arg(long, value_name = "FPS", value_parser = parse_fps, default_value_t = 30.0)]
    fps: f64,
    /// What names in --format begin with: a letter or an underscore, then letters, digits and underscores [default: piece]
    #[arg(long, value_name = "NAME", value_parser = parse_prefix, requires = "format")]
    prefix: Option<String>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    #[serde(skip)]
    json_progress: bool,
}

/// Names of formats, for the report.
fn names<S: serde::Serializer>(formats: &[Format], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(formats.iter().map(|format| format.name))
}

/// Parses a time, with the same limits as in the other commands.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let within = super::parse_positive(text).ok().filter(|seconds| *seconds <= 1e6);
    within.ok_or_else(|| "a number above 0, at most 1000000, is wanted".into())
}

/// The selection of this name.
fn parse_selection(name: &str) -> Result<FieldSelection, String> {
    match name {
        "deepest" => Ok(FieldSelection::Deepest),
        "epsilon" => Ok(FieldSelection::Epsilon),
        _ => Err("deepest or epsilon is wanted".into()),
    }
}

/// Parses a share.
fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a number from 0 to 1 is wanted".into())
}

/// Limits the frame rate, since all keys of a motion are held in memory.
fn parse_fps(text: &str) -> Result<f64, String> {
    let within = super::parse_positive(text).ok().filter(|fps| *fps <= 1000.0);
    within.ok_or_else(|| "a number above 0, at most 1000, is wanted".into())
}

/// Looks a name up in a registry; clap prints the error.
fn by_name<T: std::str::FromStr<Err: std::fmt::Display>>(name: &str) -> Result<T, String> {
    name.parse().map_err(|error: T::Err| error.to_string())
}

/// The logs of a run, complete whenever it ends: tables are written line by line, arrays again and again from the numbers
/// that wait on the disk.
struct Log {
    trajectory: Trajectory,
    folder: PathBuf,
    steps: StepLog,
    contacts: Option<ContactLog>,
    report: SimulationReport,
    saved: Instant,
    /// Time until the arrays are written again.
    pause: Duration,
}

impl SimulateArgs {
    /// What the report says of the options and of the scene of this name.
    pub(super) fn asked(&self, scene: String) -> Asked {
        let options = serde_json::to_value(self).ok().and_then(|all| all.as_object().cloned());
        Asked { scene, options: options.unwrap_or_default() }
    }
}

const ARRAYS: &str = "trajectory.npz";
/// Other files and folders that a run may write.
const NAMES: [&str; 12] = [
    REPORT,
    "steps.csv",
    "pairs.csv",
    "collision_points.csv",
    "contacts.csv",
    "contact_log.csv",
    ContactLog::ARRAYS,
    BONDS,
    BOND_LOADS,
    IMPACTS,
    DEBRIS,
    FRAMES,
];
const REPORT: &str = "report.json";

/// Shortest time between two writes of the arrays, and its length as a multiple of one write's time.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSES: u32 = 10;

impl Log {
    fn create(at: &Path, sandbox: &Sandbox, args: &SimulateArgs, name: String) -> Result<Self, ExportError> {
        let steps = StepLog::create(&at.join("steps.csv"))?;
        let by_substep = args.contact_substeps;
        let contact_log = |every| ContactLog::create(at, every, by_substep);
        let contacts = args.contact_log.map(contact_log).transpose()?;
        let fps = (!args.format.is_empty()).then_some(args.fps);
        let mut trajectory = Trajectory::new(at, fps);
        trajectory.record(sandbox.bodies(), to_picoseconds(sandbox.last_step().time))?;
        let report = SimulationReport::new(args.asked(name), sandbox);
        let (folder, saved) = (at.to_owned(), Instant::now());
        let log = Self { trajectory, folder, steps, contacts, report, saved, pause: PAUSE };
        log.write_arrays(&log.folder)?;
        Ok(log)
    }

    /// The files lie in `folder` now.
    fn moved_to(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
        self.trajectory.moved_to(folder);
        self.steps.sheet.moved_to(folder);
        self.contacts.iter_mut().for_each(|contacts| contacts.moved_to(folder));
    }

    fn record(&mut self, step: u64, sandbox: &Sandbox, report: &StepReport) -> Result<(), ExportError> {
        self.report.record(sandbox);
        // All logs hold this step, even if one finds no room.
        let recorded = self.trajectory.record(sandbox.bodies(), report.time);
        let wants = self.contacts.as_mut().filter(|contacts| contacts.wants(step));
        let of_contacts = wants.map_or(Ok(()), |contacts| {
            let whole = sandbox.contacts();
            let both = (&whole[..], sandbox.substep_contacts());
            contacts.record(step, report.time, both, sandbox.bodies())
        });
        self.steps.record(report, sandbox.bodies().len())?;
        recorded?;
        of_contacts?;
        if self.saved.elapsed() > self.pause {
            let start = Instant::now();
            self.write_arrays(&self.folder)?;
            (self.saved, self.pause) = (Instant::now(), PAUSE.max(start.elapsed() * PAUSES));
        }
        Ok(())
    }

    fn write_arrays(&self, folder: &Path) -> Result<(), ExportError> {
        self.trajectory.write_npz(&folder.join(ARRAYS))?;
        self.contacts.iter().try_for_each(|contacts| contacts.write_npz(&folder.join(ContactLog::ARRAYS)))
    }
}

/// Whether what is asked of pairs can be measured. The volume is asked for by default, so that it stays empty is no error.
///
/// # Errors
/// [`CliError::Input`].
fn check_measure(args: &SimulateArgs, reporter: &Reporter) -> Result<(), CliError> {
    let missing = |what: &str| format!("{what}; there is no measure of it{LEFT_OUT}");
    if has_measure() {
        return Ok(());
    }
    if args.pairs || args.collision_points.is_some() {
        return Err(CliError::Input(missing("--pairs and --collision-points write what pairs share")));
    }
    if args.volume_every > 0 {
        reporter.warn(&missing("intersection_volume stays empty in steps.csv"));
    }
    Ok(())
}

/// Plays the scene and writes the logs.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &SimulateArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    check_measure(args, &reporter)?;
    if args.level.is_some() && is_scene(&args.scene) {
        let message = "--level is for a mesh; a body of a scene has its level, and --coarser lowers all";
        return Err(about(&args.scene, message));
    }
    let mut opened = read_scene(&args.scene, args.level.unwrap_or(7), &args.coarser, &reporter)?;
    args.measures.apply(&args.scene, &mut opened)?;
    if !is_scene(&args.scene) {
        args.measures.tell_doubts(&opened, &reporter);
    }
    let scene = &mut opened.scene;
    scene.response = args.response.unwrap_or(scene.response);
    scene.contacts = args.contacts.unwrap_or(scene.contacts);
    scene.field_level = args.field_level.unwrap_or(scene.field_level);
    scene.field_selection = args.field_selection.unwrap_or(scene.field_selection);
    scene.field_most_points = args.field_most_points.unwrap_or(scene.field_most_points);
    scene.field_epsilon = args.field_epsilon.unwrap_or(scene.field_epsilon);
    if scene.adaptive_level.is_some() && scene.camera.is_none() {
        reporter
            .warn("adaptive_level needs a [camera] to measure from; without one every body keeps its level");
    }
    if args.count_contacts && scene.contacts.name() != "field" {
        return Err(CliError::Input(
            "--count-contacts counts points of distance fields; add --contacts field".into(),
        ));
    }
    let film = args.film.check(scene.dt)?;
    let (name, holds) = (scene.name.clone(), BondLog::is_for(scene));
    if args.bond_loads.is_some() && !holds {
        return Err(CliError::Input(
            "--bond-loads writes the loads of bonds, and no body of the scene holds by bonds; set hold = true for one".into(),
        ));
    }
    let mut aside = Aside::begin(&args.out)?;
    let compute = args.compute.open(&reporter)?;
    let mut sandbox = open(&compute, opened, &reporter)?;
    let animations: Vec<String> = args.format.iter().map(|f| format!("animation.{}", f.name)).collect();
    let inputs = sandbox.objects().iter().map(|object| PathBuf::from(&object.scene.file));
    let names = NAMES.into_iter().chain([ARRAYS]).chain(animations.iter().map(String::as_str));
    aside.spare(inputs.chain([args.scene.clone()]), names)?;
    sandbox.look_for_contacts(args.compute.compute.into());
    sandbox.keep_substeps(args.contact_substeps);
    sandbox.keep_impacts(true);
    let mut film = film.map(|film| args.film.open(&compute, film, &args.out, &sandbox)).transpose()?;
    let begun = aside.path();
    let created = || -> Result<_, ExportError> {
        let log = Log::create(begun, &sandbox, args, name)?;
        let pairs = PairLog::create(begun, args.pairs, args.collision_points)?;
        let counts = args.count_contacts.then(|| ContactCounts::create(begun, &sandbox)).transpose()?;
        let bonds = holds.then(|| BondLog::create(begun, args.bond_loads)).transpose()?;
        Ok((log, (pairs, ImpactLog::create(begun)?), counts, bonds))
    };
    let (mut log, (mut pairs, mut impacts), mut counts, mut bonds) =
        created().map_err(|error| aside.moved(error))?;
    let mut written_on = aside.files()?;
    // From here on the folder is this run's: an earlier report is gone.
    aside.finish()?.iter().for_each(|note| reporter.warn(note));
    log.moved_to(&args.out);
    pairs.moved_to(&args.out);
    impacts.sheet.moved_to(&args.out);
    counts.iter_mut().for_each(|counts| counts.table.moved_to(&args.out));
    bonds.iter_mut().for_each(|bonds| bonds.moved_to(&args.out));
    let asks = signals::ask_first();
    if let Some(film) = &mut film {
        film.after(&compute, &mut sandbox, 0)?;
    }
    let played = reporter.stage("simulate", |progress| -> Result<(), CliError> {
        let dt = sandbox.settings().dt;
        let steps = (args.seconds / dt).round().max(1.0) as u64;
        for step in 1..=steps {
            signals::asked().map_or(Ok(()), Err)?;
            sandbox.measure_volume(args.volume_every > 0 && step.is_multiple_of(args.volume_every));
            play(&mut sandbox, &reporter)?;
            let mut report = sandbox.report_now()?;
            report.time = to_picoseconds(step as f64 * dt);
            log.record(step, &sandbox, &report)?;
            if let Some(counts) = &mut counts {
                counts.record(&sandbox, &report)?;
            }
            if let Some(bonds) = &mut bonds {
                bonds.record(step, &sandbox)?;
            }
            impacts.record(&mut sandbox)?;
            if pairs.wants(step) {
                pairs.record(step, report.time, &sandbox.pair_data()?)?;
            }
            if let Some(film) = &mut film {
                film.after(&compute, &mut sandbox, step)?;
            }
            progress.set(step as f32 / steps as f32);
        }
        Ok(compute.check()?)
    });
    if played.is_err() {
        // The logs up to the error are kept: the run may have taken hours.
        let until = (log.trajectory.len() - 1) as f64 * sandbox.settings().dt;
        reporter.warn(&format!("stopped after {until:.2} s; the log up to then is written"));
    }
    if sandbox.frozen() > 0 {
        let n = sandbox.frozen();
        reporter
            .warn(&format!("{n} bodies moved too far or got numbers that are not finite; they were frozen"));
    }
    let cut = log.report.steps_with_cut_speeds();
    if cut > 0 {
        reporter.warn(&format!(
            "in {cut} steps a body was to move faster than 200 m/s, or turn by more than half a radian a \
             substep; its speed was cut to that"
        ));
    }
    drop(asks);
    if let Some(film) = &mut film {
        film.notes.iter().for_each(|note| reporter.warn(note));
        written_on.append(&mut film.files);
    }
    let told = end(args, log, &sandbox, written_on, &reporter);
    // An error of the simulation takes precedence over one of writing.
    played?;
    let (log, report) = told?;
    drop(reporter);
    if let Some(counts) = &counts {
        super::print(&counts.told(&sandbox, &report.asked.scene));
    }
    super::print(&format!(
        "{} steps, {} bodies, {} awake at the end{}; written to {}\n",
        log.len() - 1,
        log.bodies(),
        sandbox.awake(),
        film.map_or(String::new(), |film| format!(", {} frames", film.written())),
        args.out.display()
    ));
    Ok(())
}

/// Writes the arrays, the debris, the animation and the report, and puts them beside the logs as one change; `logs` are
/// the files that the run has written there.
fn end(
    args: &SimulateArgs,
    log: Log,
    sandbox: &Sandbox,
    logs: Vec<String>,
    reporter: &Reporter,
) -> Result<(Trajectory, SimulationReport), ExportError> {
    let mut aside = Aside::begin(&args.out)?;
    aside.has_put(logs);
    let moved = |error: ExportError| error.moved(aside.path(), &args.out);
    reporter.stage("write", |_| log.write_arrays(aside.path())).map_err(moved)?;
    let (mut log, mut report) = (log.trajectory, log.report);
    let debris = debris_file::write(&aside.path().join(DEBRIS), sandbox).map_err(moved)?;
    let mut moving = if args.format.is_empty() { None } else { Some(Assembly { debris, ..log.assembly() }) };
    if let Some(what) = &mut moving {
        report.tell_objects(what, sandbox);
        what.set_prefix(args.prefix.as_deref());
    }
    for (format, what) in args.format.iter().zip(std::iter::repeat(&moving)) {
        let Some(what) = what else { continue };
        let name = format!("animation.{}", format.name);
        let path = aside.path().join(&name);
        let write = |p: &Progress| (format.write)(&path, what, &Watch::whole(p));
        let notes = reporter.stage(&format!("write {name}"), write).map_err(moved)?;
        notes.iter().for_each(|note| reporter.warn(&aside.moved_note(note)));
    }
    let steps = (log.len() - 1) as u64;
    report.write(&aside.path().join(REPORT), sandbox, steps, &reporter.timings()).map_err(moved)?;
    aside.finish()?.iter().for_each(|note| reporter.warn(note));
    Ok((log, report))
}
