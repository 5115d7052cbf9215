//! Readers of the files that commands take, for tests that feed them anything; in no program that ships.

use std::{ffi::OsString, path::Path};

use super::{CliError, render::parse_camera, repeat::original::Original, sweep::jobs::read_jobs};

/// Number of jobs in the job file of a sweep.
///
/// # Errors
/// As of the command.
pub fn jobs(path: &Path) -> Result<usize, CliError> {
    read_jobs(path).map(|jobs| jobs.len())
}

/// Reads a camera file.
///
/// # Errors
/// As of the command.
pub fn camera(path: &Path) -> Result<(), CliError> {
    parse_camera(&path.to_string_lossy()).map(|_| ())
}

/// The arguments by which `repeat` runs the program for a file, with `place` as the place of its results.
///
/// # Errors
/// As of the command.
pub fn repeated(path: &Path, place: &Path) -> Result<Vec<OsString>, CliError> {
    Original::read(path).map(|original| original.rerun().arguments(place))
}
