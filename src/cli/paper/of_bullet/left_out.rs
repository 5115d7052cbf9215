//! What a build without kintsugi-papers says of the sketch, which needs its cells.

use super::{Made, Work};
use crate::{cli::CliError, registry::LEFT_OUT};

pub fn sketch(_: &mut Work<'_>) -> Result<Made, CliError> {
    Err(CliError::Outcome(format!("there is no method planes{LEFT_OUT}")))
}
