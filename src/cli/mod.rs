//! The command line, one file per command. Arguments and input are checked before a GPU is opened.
//!
//! In: arguments. Out: files, text on stdout, and an exit code: 0 done, 1 a result that is not good, 2 bad arguments
//! or input, 3 no usable adapter, 128 and its number a signal.

mod bench;
mod bond_log;
mod coloring;
mod compare;
mod contact_counts;
mod crack;
mod dataset;
mod debris_file;
mod doctor;
mod figure;
mod fracture;
mod frames;
mod handing_over;
mod impact_log;
mod options;
mod input;
mod measures;
mod overlay_files;
mod paper;
mod playing;
mod presets;
mod probe;
mod progress;
#[cfg(any(test, fuzzing))]
pub mod reading;
mod render;
mod repeat;
mod scene_pieces;
mod sheet;
mod showing;
mod signals;
mod simulate;
mod simulation_report;
mod stress;
mod stress_load;
mod stress_modes;
mod sweep;
mod tour;
mod vector;
mod window;

use std::{ffi::OsString, path::Path};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub use self::dataset::RecipeMaker;
use crate::{
    compute::{Choice, Compute},
    export::ExportError,
    facade,
    fracture::{FractureError, PatternError},
    gpu::{AdapterChoice, GpuError, Power},
    scene::overlays::OverlayFileError,
    svo::{MAX_LEVEL, MAX_PASSES_LEVEL},
};

/// Why a command failed: one line, and the exit code.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Bad arguments or input; the text says what, where, and what to do.
    #[error("{0}")]
    Input(String),
    /// A result could not be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// An error of the device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The command finished, but its result is negative; the text says what, and where to look.
    #[error("{0}")]
    Outcome(String),
    /// A signal asked the command to end, which it did with what it had; the signal's number.
    #[error("interrupted by a signal (number {0})")]
    Interrupted(u8),
    /// Text of `--help` or `--version` for stdout; not an error.
    #[error("{0}")]
    Text(String),
}

impl CliError {
    /// Exit code of the program.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Text(_) => 0,
            Self::Input(_)
            | Self::Export(_)
            | Self::Gpu(
                GpuError::TooLarge { .. }
                | GpuError::OutOfMemory { .. }
                | GpuError::NoSuchAdapter { .. }
                | GpuError::TooFine { .. }
                | GpuError::Crowded { .. }
                | GpuError::NoRoom { .. },
            ) => 2,
            Self::Gpu(GpuError::NoAdapter | GpuError::NoDevice { .. } | GpuError::Lost(_)) => 3,
            Self::Outcome(_) => 1,
            Self::Interrupted(signal) => 128 + signal,
            Self::Gpu(GpuError::NoPasses | GpuError::Binding { .. } | GpuError::Driver(_)) => 1,
        }
    }
}

impl From<FractureError> for CliError {
    fn from(error: FractureError) -> Self {
        match error {
            FractureError::Gpu(gpu) => Self::Gpu(gpu),
            FractureError::Params(message) => Self::Input(message),
            FractureError::Cancelled => Self::Input(error.to_string()),
        }
    }
}

impl From<facade::Error> for CliError {
    fn from(error: facade::Error) -> Self {
        use facade::Error;
        match error {
            Error::Fracture(error) => error.into(),
            Error::Export(error) => Self::Export(error),
            Error::Gpu(error) => Self::Gpu(error),
            Error::Import(_)
            | Error::Parameter(_)
            | Error::Direction
            | Error::NotOriginal(_)
            | Error::Scene(_) => Self::Input(error.to_string()),
        }
    }
}

impl From<OverlayFileError> for CliError {
    fn from(error: OverlayFileError) -> Self {
        facade::Error::from(error).into()
    }
}

impl From<PatternError> for CliError {
    fn from(error: PatternError) -> Self {
        Self::Input(error.to_string())
    }
}

/// The option that chooses the backend.
#[derive(clap::Args)]
struct ComputeArgs {
    /// Where stages run: auto takes a graphics adapter where there is a real one, else the processor's cores; gpu takes
    /// an adapter that is only software, too; cpu uses no graphics driver; results are the same
    #[arg(long, value_parser = options::choice::<Choice>(), default_value = "auto", value_name = "WHERE")]
    compute: Choice,
}

/// Valid octree levels; only the CPU backend supports the finest.
const LEVELS: std::ops::RangeInclusive<i64> = 1..=MAX_LEVEL as i64;

impl ComputeArgs {
    /// Rejects a level that compute passes do not support, if they were chosen, before anything is read.
    fn takes(&self, level: u32) -> Result<(), CliError> {
        if self.compute == Choice::Gpu && level > MAX_PASSES_LEVEL {
            return Err(GpuError::TooFine { level, most: MAX_PASSES_LEVEL }.into());
        }
        Ok(())
    }

    /// Opens the backend; the CPU backend touches no graphics driver.
    fn open(&self, reporter: &progress::Reporter) -> Result<Compute, CliError> {
        let stage = if self.compute == Choice::Cpu { "count the cores" } else { "open the graphics adapter" };
        Ok(reporter.stage(stage, |_| Compute::open(self.compute))?)
    }
}

/// Breaks voxel objects live.
///
/// Without a command it opens the sandbox on FILE, or on a shape of its own. FILE is a mesh (OBJ, PLY, STL,
/// OFF, glTF, GLB, FBX, USD, VOX), a scene (TOML), or `builtin:` with one of vase, column, box, sphere, shell, cavity,
/// statue.
#[derive(Parser)]
#[command(name = "kintsugi", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    window: window::WindowArgs,
    /// Lets scenes name files, and meshes materials, textures and buffers, outside their own folder
    #[arg(long, global = true)]
    outside_references: bool,
    /// Graphics adapter to use: its number or a part of its name, as `kintsugi doctor` lists them; else WGPU_ADAPTER_NAME
    /// and WGPU_POWER_PREF (low, high, none) decide
    #[arg(long, global = true, value_name = "NAME")]
    adapter: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Breaks a mesh or scene without a window, and writes what came of it
    Fracture(fracture::FractureArgs),
    /// Plays a scene without a window and logs it
    Simulate(simulate::SimulateArgs),
    /// Draws a mesh or scene into a PNG picture
    Render(render::RenderArgs),
    /// Measures every stage: medians, counts, the columns of Table 1 of Domaradzki & Martyn 2016
    Bench(bench::BenchArgs),
    /// Breaks a mesh by several methods with one blow, and shows them side by side: a table, a picture
    Compare(compare::CompareArgs),
    /// Breaks many meshes with many seeds and parameters in one go, into one table; goes on where it was ended
    Sweep(sweep::SweepArgs),
    /// Makes a data set: meshes, points, who touches whom, of many breaks; and its recipe, from which anybody makes it again
    Dataset(dataset::DatasetArgs),
    /// Draws one object broken with each of several values of a parameter: a contact sheet
    Sheet(sheet::SheetArgs),
    /// Makes a figure of several panels from a small file: pictures as `render` draws them, letters, captions, labels
    Figure(figure::FigureArgs),
    /// Solves for the elastic stress of a mesh under its weight, a blow or pressure, on the cells of its octree
    Stress(stress::StressArgs),
    /// Breaks a mesh and prints everything about single voxels as JSON: node, seeds, piece, planes, labels, triangles
    Probe(probe::ProbeArgs),
    /// Runs what made a report, a picture or a scene again, and says whether the result is the same
    Repeat(repeat::RepeatArgs),
    /// Makes the figures and tables of the five documents again, and a page with the published figures beside ours
    Paper(paper::PaperArgs),
    /// Lists the presets: materials as which `--preset` breaks
    Presets(presets::PresetsArgs),
    /// Shows the graphics adapter, its limits, and what will be slow and why
    Doctor,
}

/// Runs the program with these arguments, the first of which is its own name, and prints the error if there is one: one
/// line on stderr. Returns the exit code. The program and the Python package run by it; nothing else prints errors.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    use std::io::Write as _;
    let code = match run(arguments) {
        Ok(()) => 0,
        Err(error) if error.exit_code() == 0 => {
            // Help or the version; a closed pipe is the reader's choice.
            let _ = write!(std::io::stdout(), "{error}");
            0
        }
        Err(error) => {
            let line = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(std::io::stderr(), "error: {line}");
            error.exit_code()
        }
    };
    // In another program, nothing else writes what is left of a line.
    let _ = std::io::stdout().flush();
    code
}

/// Parses the arguments and runs.
///
/// # Errors
/// [`CliError`], for [`main`] to print.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<(), CliError> {
    let arguments = command_first(arguments.into_iter().collect());
    crate::provenance::started_with(&arguments);
    crate::papers::register();
    let cli = parse(&arguments)?;
    if cli.outside_references {
        crate::mesh::allow_references_outside();
    }
    crate::gpu::choose_adapter(adapter_choice(cli.adapter, |name| std::env::var(name).ok()));
    if cli.command.is_some() {
        signals::watch();
    }
    match cli.command {
        None => window::run(&cli.window),
        Some(Command::Fracture(args)) => fracture::run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Sweep(args)) => sweep::run(&args),
        Some(Command::Dataset(args)) => dataset::run(&args),
        Some(Command::Sheet(args)) => sheet::run(&args),
        Some(Command::Figure(args)) => figure::run(&args),
        Some(Command::Stress(args)) => stress::run(&args),
        Some(Command::Probe(args)) => probe::run(&args),
        Some(Command::Repeat(args)) => repeat::run(&args),
        Some(Command::Paper(args)) => paper::run(&args),
        Some(Command::Presets(args)) => presets::run(&args),
        Some(Command::Doctor) => doctor::run(),
    }
}

/// The adapter that the option names, or else the environment, with the names that other programs over wgpu read.
fn adapter_choice(option: Option<String>, variable: impl Fn(&str) -> Option<String>) -> AdapterChoice {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let power = match set("WGPU_POWER_PREF").unwrap_or_default().trim().to_lowercase().as_str() {
        "low" => Power::Low,
        "none" => Power::Any,
        _ => Power::High,
    };
    AdapterChoice { name: option.or_else(|| set("WGPU_ADAPTER_NAME")), power }
}

/// The command grammar. A negative number after an option is parsed as its value, so that the error is about the
/// number.
fn grammar() -> clap::Command {
    let with_negative = |argument: clap::Arg| {
        let takes_values = !argument.is_positional() && argument.get_action().takes_values();
        argument.allow_negative_numbers(takes_values)
    };
    Cli::command().mut_args(with_negative).mut_subcommands(|command| command.mut_args(with_negative))
}

/// The arguments with options that all commands have behind the command: in front of it they would make it the window's FILE.
fn command_first(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let (grammar, mut at) = (grammar(), 1);
    while let Some(word) = arguments.get(at).and_then(|word| word.to_str()) {
        match word {
            "--adapter" => at += 2,
            "--outside-references" => at += 1,
            _ if word.starts_with("--adapter=") => at += 1,
            _ if grammar.find_subcommand(word).is_some() => {
                arguments[1..=at].rotate_right(1);
                break;
            }
            _ => break,
        }
    }
    arguments
}

fn parse(arguments: &[OsString]) -> Result<Cli, CliError> {
    let grammar = grammar();
    let help = help_of(&grammar, arguments);
    let matches = grammar.try_get_matches_from(arguments);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| one_line(&error, &help))
}

/// The command that prints the help of the command used.
fn help_of(grammar: &clap::Command, arguments: &[OsString]) -> String {
    let is_command = |word: &&OsString| grammar.get_subcommands().any(|one| *word == one.get_name());
    match arguments.iter().skip(1).find(is_command) {
        Some(name) => format!("kintsugi {} --help", name.to_string_lossy()),
        None => "kintsugi --help".into(),
    }
}

/// Messages of the number parsers, and clearer ones to replace them.
const OF_NUMBERS: [(&str, &str); 6] = [
    ("invalid digit found in string", "a whole number from 0 on is wanted"),
    ("cannot parse integer from empty string", "a whole number from 0 on is wanted"),
    ("number too large to fit in target type", "a smaller number is wanted"),
    ("number too small to fit in target type", "a larger number is wanted"),
    ("invalid float literal", "a number is wanted, as in 0.5"),
    ("cannot parse float from empty string", "a number is wanted, as in 0.5"),
];

/// Reduces the parser's message to one line without its usage block; help texts stay as they are.
fn one_line(error: &clap::Error, help: &str) -> CliError {
    use clap::error::ErrorKind;
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return CliError::Text(error.to_string());
    }
    let text = error.to_string();
    let message: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(|line| !line.is_empty())
        .collect();
    let message = message.join(" ").replace(" tip: ", "; tip: ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let message = OF_NUMBERS.iter().fold(message, |message, (said, meant)| message.replace(said, meant));
    CliError::Input(format!("{message}; `{help}` lists what there is"))
}

/// Prints to stdout; a closed pipe (`kintsugi doctor | head -1`) causes no panic.
fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The outcome of a run whose own checks do not hold; `report` says by how much.
fn checks_failed(failed: &[String], report: &Path) -> CliError {
    let (names, report) = (failed.join(", "), report.display());
    CliError::Outcome(format!("the result fails its checks: {names}; see checks in {report}"))
}

/// Creates the folder of the results.
fn make_folder(path: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(path).map_err(|e| {
        CliError::Input(format!(
            "{}: the folder cannot be made: {e}; give --out another place",
            path.display()
        ))
    })
}

/// Rejects a path at which no file can be written, and one that the run reads, before the work starts.
fn check_place(option: &str, file: &Path, inputs: &[&Path]) -> Result<(), CliError> {
    let real = file.canonicalize().ok();
    if real.is_some() && inputs.iter().any(|input| input.canonicalize().ok() == real) {
        let file = file.display();
        let message = format!("{option} {file}: this is what the run reads; give another place");
        return Err(CliError::Input(message));
    }
    let is_there = file.symlink_metadata().is_ok();
    if is_there && !file.is_file() && !file.is_dir() {
        // Opening a pipe may block until it has a reader.
        return Ok(());
    }
    std::fs::OpenOptions::new().append(true).create(true).open(file).map_err(|e| {
        let file = file.display();
        CliError::Input(format!("{option} {file}: it cannot be written: {e}; give another place"))
    })?;
    if !is_there {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// The same for a picture, whose extension must be that of a picture format.
fn check_picture_place(option: &str, file: &Path, inputs: &[&Path]) -> Result<(), CliError> {
    if !file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        let file = file.display();
        let message = format!("{option} {file}: pictures are PNG files; give a name as in picture.png");
        return Err(CliError::Input(message));
    }
    check_place(option, file, inputs)
}

fn parse_point(text: &str) -> Result<glam::DVec3, String> {
    let parts: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match *parts.as_slice() {
        [x, y, z] if text.split(',').count() == 3 && parts.iter().all(|v| v.is_finite()) => {
            Ok(glam::DVec3::new(x, y, z))
        }
        _ => Err("three finite numbers with commas between them are wanted, as in 0,1.5,-2".into()),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a finite number above 0 is wanted".into()),
    }
}

fn parse_not_negative(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1000000 is wanted".into()),
    }
}

/// Largest side of a picture that is drawn, pixels.
const LARGEST_PICTURE: u32 = 8192;

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let is_fine = |side: u32| (1..=LARGEST_PICTURE).contains(&side);
    let sides = text.split_once(['x', 'X']).map(|(w, h)| (w.parse::<u32>(), h.parse::<u32>()));
    match sides {
        Some((Ok(w), Ok(h))) if is_fine(w) && is_fine(h) => Ok([w, h]),
        _ => Err(format!("WIDTHxHEIGHT in pixels is wanted, each 1 to {LARGEST_PICTURE}, as in 1280x720")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(arguments: &[&str]) -> CliError {
        let all = std::iter::once("kintsugi").chain(arguments.iter().copied());
        let all: Vec<OsString> = all.map(OsString::from).collect();
        parse(&all).err().unwrap_or_else(|| CliError::Text("parsed".into()))
    }

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }

    #[test]
    fn the_option_goes_before_the_environment_in_choosing_an_adapter() {
        let none = |_: &str| None;
        let set = |name: &str| Some(if name == "WGPU_ADAPTER_NAME" { "radeon" } else { "LOW" }.to_owned());
        assert_eq!(adapter_choice(None, none), AdapterChoice::default());
        let named = |name: &str, power| AdapterChoice { name: Some(name.to_owned()), power };
        assert_eq!(adapter_choice(None, set), named("radeon", Power::Low));
        assert_eq!(adapter_choice(Some("1".into()), set), named("1", Power::Low));
        assert_eq!(adapter_choice(None, |_| Some(" ".into())), AdapterChoice::default());
        let error = CliError::from(GpuError::NoSuchAdapter { wanted: "x".into(), there: "0: y".into() });
        assert!(error.exit_code() == 2 && error.to_string().contains("0: y"), "{error}");
    }

    #[test]
    fn options_of_all_commands_may_stand_before_the_command() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for line in [
            "kintsugi --adapter 1 --outside-references doctor",
            "kintsugi --outside-references --adapter=1 doctor",
        ] {
            let cli = parse(&command_first(words(line))).unwrap();
            assert!(matches!(cli.command, Some(Command::Doctor)) && cli.outside_references, "{line}");
            assert_eq!(cli.adapter.as_deref(), Some("1"), "{line}");
        }
        let of_window = words("kintsugi --adapter 1 doctor.obj");
        assert_eq!(command_first(of_window.clone()), of_window);
    }

    #[test]
    fn argument_errors_are_one_line_with_code_2() {
        for arguments in [
            &["fracture"][..],
            &["fracture", "builtin:box", "--out", "x", "--level", "13"],
            &["fracture", "builtin:box", "--out", "x", "--seeds", "0"],
            &["fracture", "builtin:box", "--out", "x", "--seeds", "65536"],
            &["fracture", "builtin:box", "--out", "x", "--radii", "0.1,-2"],
            &["fracture", "builtin:box", "--out", "x", "--radii", "inf"],
            &["fracture", "builtin:box", "--out", "x", "--impact", "1,2"],
            &["fracture", "builtin:box", "--out", "x", "--impact", "1,2,nan"],
            &["fracture", "builtin:box", "--out", "x", "--format", "exe"],
            &["render", "builtin:box", "--out", "x.png", "--size", "0x10"],
            &["render", "builtin:box", "--out", "x.png", "--show", "cracks"],
            &["render", "builtin:box", "--out", "x.png", "--only"],
            &["--no-such-flag"],
        ] {
            let error = error_of(arguments);
            let text = error.to_string();
            assert_eq!(error.exit_code(), 2, "{arguments:?}: {text}");
            assert_eq!(text.lines().count(), 1, "{text}");
            assert!(!text.starts_with("error"), "{text}");
        }
        assert_eq!(error_of(&["--help"]).exit_code(), 0);
    }

    #[test]
    fn an_error_says_what_is_wanted_and_where_to_read_on() {
        let said = |command: &[&str], more: &[&str]| error_of(&[command, more].concat()).to_string();
        let fracture = ["fracture", "builtin:box", "--out", "x"];
        let simulate = ["simulate", "builtin:box", "--out", "x", "--seconds"];
        for (told, part) in [
            (said(&fracture, &["--level", "-3"]), "-3 is not in 1..=12"),
            (said(&fracture, &["--keep", "1,foo"]), "a whole number from 0 on is wanted"),
            (said(&fracture, &["--blow-strength", "much"]), "a number is wanted"),
            (said(&fracture, &["--direction", "0,0,0"]), "it is zero"),
            (said(&fracture, &["--no-such-flag"]), "`kintsugi fracture --help`"),
            (said(&["bench"], &["--level", "5,foo"]), "a whole number from 0 on is wanted"),
            (said(&["bench"], &["--rng", "99999999999999999999"]), "a smaller number is wanted"),
            (said(&simulate, &["1", "--volume-every=-1"]), "a whole number from 0 on is wanted"),
            (said(&simulate, &["1", "--fps", "1e12"]), "at most 1000,"),
            (said(&simulate, &["1e9"]), "at most 1000000"),
            (said(&[], &["--no-such-flag"]), "`kintsugi --help`"),
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
        for direction in ["1e300,1e300,0", "1e-300,0,0", "-1e-160,0,0"] {
            assert_eq!(said(&fracture, &["--direction", direction]), "parsed");
        }
    }

    #[test]
    fn places_are_checked_and_left_as_they_were() {
        let folder = std::env::temp_dir().join(format!("kintsugi-places-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (old, new) = (folder.join("old.PNG"), folder.join("new.png"));
        std::fs::write(&old, "kept").unwrap();
        for file in [&old, &new] {
            check_picture_place("--out", file, &[]).unwrap();
        }
        assert_eq!((std::fs::read(&old).unwrap(), new.exists()), (b"kept".to_vec(), false));
        for file in ["x.jpg", "none/x.png", ""] {
            let error = check_picture_place("--out", &folder.join(file), &[]).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().starts_with("--out "), "{error}");
        }
        assert!(check_place("--json", &folder, &[]).is_err());
        let refused = check_place("--json", &old, &[&folder.join("../x"), &old]).unwrap_err();
        assert!(refused.exit_code() == 2 && refused.to_string().contains("what the run reads"), "{refused}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn negative_impacts_parse() {
        let text =
            error_of(&["fracture", "builtin:box", "--out", "x", "--impact", "-1,-2.5,3e-3"]).to_string();
        assert_eq!(text, "parsed");
        assert_eq!(parse_point("-1,-2.5,3e-3"), Ok(glam::DVec3::new(-1.0, -2.5, 3e-3)));
    }
}
