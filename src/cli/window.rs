//! `kintsugi [FILE]`: the sandbox window; where there is no display, a tour in pictures.

use std::path::PathBuf;

use clap::Args;

use crate::app::{self, AppError, AppOptions};

use super::{CliError, progress::Reporter, simulate::read_scene, tour};

#[derive(Args)]
pub struct WindowArgs {
    /// Mesh file, scene file (.toml), or builtin:NAME
    file: Option<PathBuf>,
    /// Octree level of a mesh: 2^N voxels along the longest side
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=10))]
    level: u32,
    /// Window size in pixels
    #[arg(long, value_name = "WxH", value_parser = super::parse_size)]
    size: Option<[u32; 2]>,
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
    let named = args.file.clone();
    let file = named.unwrap_or_else(|| PathBuf::from("builtin:vase"));
    let reporter = Reporter::new(false);
    // Read before a window opens, so that a bad file is one line in the shell and not an empty window.
    read_scene(&file, args.level, &reporter)?;
    drop(reporter);
    let options = AppOptions {
        file: args.file.clone(),
        level: args.level,
        state_file: args.state_file.clone(),
        size: args.size,
        exit_after: args.exit_after,
    };
    match app::run(options) {
        Ok(()) => Ok(()),
        Err(AppError::NoDisplay(_)) => tour::run(&file, args.level),
        Err(AppError::Gpu(error)) => Err(error.into()),
        Err(error @ (AppError::File(_) | AppError::Window(_))) => Err(CliError::Input(error.to_string())),
    }
}
