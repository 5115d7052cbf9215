//! What a build without kintsugi-papers says of the figures that need its fields and trees.

use super::{Made, Work};
use crate::{cli::CliError, registry::LEFT_OUT};

/// The error of all of them; the page lists it as a reason why the figure cannot be made.
fn missing() -> CliError {
    CliError::Outcome(format!("there are no distance fields in this build{LEFT_OUT}"))
}

pub fn fields(_: &mut Work<'_>) -> Result<Made, CliError> {
    Err(missing())
}

pub fn overhead(_: &mut Work<'_>) -> Result<Made, CliError> {
    Err(missing())
}

pub fn sizes(_: &mut Work<'_>) -> Result<Made, CliError> {
    Err(missing())
}

pub fn trees(_: &mut Work<'_>) -> Result<Made, CliError> {
    Err(missing())
}
