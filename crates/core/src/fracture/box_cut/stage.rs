//! All cells of some sites, where stages run: in compute passes ([`pass`](super::pass)) or on the cores
//! ([`Complex::new`]). Both give the same bytes.

use super::{
    complex::{Complex, Point, REACH},
    pass::CellPasses,
};
use crate::{
    compute::Compute,
    fracture::{FractureError, Passes},
};

/// The cells of `sites` in the box from `low` to `high`, put together.
///
/// # Errors
/// [`FractureError::Params`] where a site or the box goes beyond [`REACH`], [`FractureError::Gpu`] for the device's.
pub fn cells(
    compute: &Compute,
    passes: &Passes,
    sites: &[Point],
    low: Point,
    high: Point,
) -> Result<Complex, FractureError> {
    let is_within = |p: &Point| p.iter().all(|v| v.unsigned_abs() <= REACH as u32);
    if !sites.iter().chain([&low, &high]).all(is_within) {
        let text = "the object or its seeds lie too far outside of its grid; use seeds nearer to it";
        return Err(FractureError::Params(text.into()));
    }
    match compute {
        Compute::Cpu => Ok(Complex::new(sites, low, high)),
        Compute::Gpu(gpu) => {
            let made = CellPasses::shared(passes, gpu)?.run(gpu, sites, low, high)?;
            if made.by_twin > 0 {
                tracing::debug!("{} of {} cells had no room on the device", made.by_twin, sites.len());
            }
            Ok(Complex::of_cells(sites, low, high, &made.cells))
        }
    }
}
