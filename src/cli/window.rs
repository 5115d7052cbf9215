//! `kintsugi [FILE]`: opens the sandbox window, or writes a tour in pictures if there is no display.

use std::path::PathBuf;

use clap::Args;

use crate::app::{self, AppError, AppOptions, Display, imports};

use super::{
    CliError,
    input::{is_scene, read_scene},
    progress::Reporter,
    signals, tour,
};

#[derive(Args)]
pub struct WindowArgs {
    /// Mesh file, scene file (.toml), or builtin:NAME
    file: Option<PathBuf>,
    /// Octree level of a mesh: 2^N voxels along the longest side; 11 and 12 on the cores alone
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: u32,
    /// Window size in pixels
    #[arg(long, value_name = "WxH", value_parser = super::parse_size)]
    size: Option<[u32; 2]>,
    #[command(flatten)]
    compute: super::ComputeArgs,
    #[command(flatten)]
    coarser: super::input::CoarserArgs,
    #[command(flatten)]
    measures: super::measures::MeasureArgs,
    /// Write what every frame took as CSV, for measuring
    #[arg(long, value_name = "FILE")]
    frame_log: Option<PathBuf>,
    #[arg(long, hide = true)]
    state_file: Option<PathBuf>,
    #[arg(long, hide = true, value_parser = super::parse_positive)]
    exit_after: Option<f64>,
}

/// Opens the window, or writes the tour.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &WindowArgs) -> Result<(), CliError> {
    crate::memory::keep_little();
    let named = args.file.clone();
    let file = named.unwrap_or_else(|| PathBuf::from("builtin:vase"));
    let reporter = Reporter::new(false);
    args.frame_log.iter().try_for_each(|place| super::check_place("--frame-log", place, &[&file]))?;
    // Read before a window opens, so that a bad file gives one line in the shell instead of an empty window.
    let mut opened = read_scene(&file, args.level, &args.coarser, &reporter)?;
    if !is_scene(&file) {
        imports::apply(&mut opened.scene);
    }
    args.measures.apply(&file, &mut opened)?;
    drop(reporter);
    let display = match Display::connect() {
        Ok(display) => display,
        Err(AppError::NoDisplay(_)) => {
            signals::watch();
            return tour::run(&file, opened, args.level, &args.compute);
        }
        Err(error) => return Err(CliError::Input(error.to_string())),
    };
    signals::watch_by(display.ender());
    let options = AppOptions {
        level: args.level,
        state_file: args.state_file.clone(),
        frame_log: args.frame_log.clone(),
        size: args.size,
        compute: args.compute.compute,
        exit_after: args.exit_after,
    };
    app::run(display, opened, options).map_err(|error| match error {
        AppError::Gpu(error) => error.into(),
        AppError::Ended(signal) => CliError::Interrupted(signal),
        AppError::NoDisplay(_) | AppError::Window(_) | AppError::FrameLog(..) => {
            CliError::Input(error.to_string())
        }
    })
}
