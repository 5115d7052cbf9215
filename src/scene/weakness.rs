//! Where a shape is weak, whatever loads it, and paint by which a pattern follows that.
//!
//! In: a shape. Out: its [`Weakness`] on coarse cells; dense and weak dabs at its weak cracks.

use super::{body_stress::elastic_body, debris::half_axes};
use crate::{
    elastic::{ElasticError, Weakness},
    fracture::{Cancel, CrackSection, Dab, FractureParams, MAX_DABS, MAX_SEEDS, Paint},
    shape::Shape,
};

/// Density, kg/m^3, on which the weakness does not depend.
const DENSITY: f64 = 1000.0;
/// Cracks of less weakness get no dabs.
const LEAST: f64 = 0.25;
/// Most cracks that get dabs.
const MOST: usize = 24;
/// Least radius of a dab, cells: the pattern's own cracks run beside those of the modes.
const LEAST_RADIUS: f64 = 2.0;
/// Most seeds of a dab.
const MOST_SEEDS: f64 = 1000.0;

/// The weakness of a shape on cells of level 5, or of that of coarser leaves.
pub(super) fn weakness_of(shape: &Shape, cancel: &Cancel) -> Result<Weakness, ElasticError> {
    Weakness::new(&elastic_body(shape, DENSITY)?, cancel)
}

/// Two dabs for each weak crack, the weakest first: a dense one, which share out as many `seeds` again as the pattern has in
/// proportion to the weakness, and a weak one, which leaves the weakest crack what a weak dab usually leaves.
pub(super) fn weak_dabs(weakness: &Weakness, object: u32, seeds: u32) -> Vec<Dab> {
    let mut cracks: Vec<(&CrackSection, f64)> = weakness.cracks().filter(|crack| crack.1 >= LEAST).collect();
    cracks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.parts.cmp(&b.0.parts)));
    cracks.truncate(MOST);
    let least = LEAST_RADIUS * weakness.body().cell_size();
    let whole: f64 = cracks.iter().map(|crack| crack.1).sum();
    let seeds = f64::from(seeds.min(MAX_SEEDS.saturating_sub(seeds)));
    let (mut sum, mut given) = (0.0, 0.0);
    let mut dabs = Vec::with_capacity(2 * cracks.len());
    for (section, weak) in cracks {
        // A ball around the rectangle with the area and the moments of the crack.
        let [s, t] = half_axes(section.area, section.normal, &section.moments);
        let radius = (s.length_squared() + t.length_squared()).sqrt().max(least);
        sum += weak;
        // Rounded sums give exactly as many seeds as there are.
        let own = ((seeds * sum / whole).round() - given).clamp(0.0, MOST_SEEDS);
        given += own;
        let left = 1.0 - (1.0 - Paint::Weak.usual_amount()) * weak;
        let dab = |kind: Paint, amount: f64| Dab {
            kind,
            body: object,
            at: section.centre,
            radius,
            amount: Some(amount),
            ..Dab::default()
        };
        if own > 0.0 {
            dabs.push(dab(Paint::Dense, own));
        }
        dabs.push(dab(Paint::Weak, left));
    }
    dabs
}

/// What a pattern follows beside the blow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Follow {
    /// Where the body is weak, whatever loads it.
    Weakness,
}

impl Follow {
    /// Adds paint to the parameters by which the pattern follows this in a shape: as many seeds again as it has, at the weak
    /// cracks of the shape, and weak dabs, which leave bonds less strength there. The same shape gives the same paint.
    ///
    /// # Errors
    /// [`ElasticError`]: a shape without voxels, or of one cell.
    pub fn paint(self, shape: &Shape, params: &mut FractureParams) -> Result<(), ElasticError> {
        let Self::Weakness = self;
        let found = weakness_of(shape, Cancel::never())?;
        paint_by(&found, 1.0, params);
        Ok(())
    }

    /// Why a break by these parameters cannot follow anything: to be read after the name of the option.
    #[must_use]
    pub fn problem(self, params: &FractureParams) -> Option<&'static str> {
        if !params.method.entry().by_seeds {
            return Some(
                "adds seeds to a pattern, and this method has none; leave it out, or take the method octree",
            );
        }
        let has_file = params.seeds_file.is_some();
        has_file.then_some("adds seeds to a pattern, and the seeds come from a file; leave one of them out")
    }
}

/// Adds the dabs of a weakness to the parameters of a body that is `scale` times as large.
pub(super) fn paint_by(found: &Weakness, scale: f64, params: &mut FractureParams) {
    let scaled = |dab: Dab| Dab { at: dab.at * scale, radius: dab.radius * scale, ..dab };
    let dabs = weak_dabs(found, 0, params.seed_count());
    let room = MAX_DABS.saturating_sub(params.paint.len());
    params.paint.extend(dabs.into_iter().take(room).map(scaled));
}

#[cfg(test)]
mod tests;
