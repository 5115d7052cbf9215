//! How an object is to be broken, before there is one.

use std::sync::Arc;

use glam::DVec3;

use super::Error;
use crate::{
    fracture::{CrackPicture, FractureParams, MethodId, Preset, SeedSource, Smallest, Surface},
    scene::fracture_problem,
};

/// How an object is to be broken. [`Fracture::new`] is what the program does without options: 40 Voronoi cells, whose
/// seeds lie on spheres round the point where the object is hit (Domaradzki & Martyn 2016, sec. 4.2), with flat cracks.
///
/// ```
/// use kintsugi::{Fracture, fracture::Surface};
///
/// let rough = Fracture::new().cells(90).surface(Surface::Rough).random_seed(7);
/// assert_eq!(rough.params.seeds, 90);
/// let crisp = Fracture::by("box-cut")?; // cuts the triangles of the mesh instead of its voxels
/// assert!(Fracture::by("hammer").unwrap_err().to_string().contains("box-cut"), "the error lists the methods");
/// # Ok::<(), kintsugi::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fracture {
    /// All parameters, those without a method of this builder too.
    pub params: FractureParams,
    /// Where the object is hit, units of the mesh; `None`: where the -z axis through the centre of its bounds meets it.
    pub impact: Option<DVec3>,
    /// Which way the blow goes, any length but zero; `None`: towards the middle of the bounds.
    pub direction: Option<DVec3>,
    /// Voronoi seeds of the first break, which replace those of the pattern: points in units of the mesh, or a picture.
    pub seeds: Option<SeedSource>,
    /// How many times the largest eighth of the pieces breaks again, the first break included; 1 to 64.
    pub generations: u32,
}

impl Default for Fracture {
    fn default() -> Self {
        Self { params: FractureParams::default(), impact: None, direction: None, seeds: None, generations: 1 }
    }
}

impl Fracture {
    /// By the default method with default parameters.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// By the method of this name, built in or added with [`register`](crate::fracture::register).
    ///
    /// # Errors
    /// [`Error::Parameter`], which lists the methods there are.
    pub fn by(method: &str) -> Result<Self, Error> {
        let method = MethodId::named(method).map_err(|error| Error::Parameter(error.to_string()))?;
        let params = FractureParams { method, ..FractureParams::default() };
        Ok(Self { params, ..Self::default() })
    }

    /// With this many Voronoi cells, 1 to 8192.
    #[must_use]
    pub fn cells(mut self, cells: u32) -> Self {
        self.params.seeds = cells;
        self
    }

    /// Into about this many pieces: the number of cells is solved for, which takes several breaks.
    #[must_use]
    pub fn pieces(mut self, pieces: u32) -> Self {
        self.params.target_pieces = Some(pieces);
        self
    }

    /// With seeds that lie as this pattern has them.
    #[must_use]
    pub fn pattern(mut self, pattern: Preset) -> Self {
        self.params.preset = pattern;
        self
    }

    /// With these seeds, units of the mesh, in place of a pattern's.
    #[must_use]
    pub fn seeds(mut self, seeds: impl IntoIterator<Item = DVec3>) -> Self {
        let seeds: Vec<DVec3> = seeds.into_iter().collect();
        self.params.seeds = seeds.len() as u32;
        self.seeds = Some(seeds.into());
        self
    }

    /// Along the lines of this picture, which fills the object's outline as seen along the blow.
    #[must_use]
    pub fn picture(mut self, picture: CrackPicture) -> Self {
        let seeds = SeedSource::Picture(Arc::new(picture));
        self.params.seeds = seeds.count();
        self.seeds = Some(seeds);
        self
    }

    /// With crack surfaces of this kind: flat (2016), or rough or dusty (Domaradzki & Martyn 2018).
    #[must_use]
    pub fn surface(mut self, surface: Surface) -> Self {
        self.params.surface = surface;
        self
    }

    /// With this random seed: the same one gives the same bytes on every machine.
    #[must_use]
    pub fn random_seed(mut self, seed: u64) -> Self {
        self.params.rng = seed;
        self
    }

    /// Hit at this point, units of the mesh.
    #[must_use]
    pub fn impact(mut self, point: DVec3) -> Self {
        self.impact = Some(point);
        self
    }

    /// Hit in this direction, any length but zero.
    #[must_use]
    pub fn direction(mut self, direction: DVec3) -> Self {
        self.direction = Some(direction);
        self
    }

    /// Without pieces smaller than this.
    #[must_use]
    pub fn smallest(mut self, smallest: Smallest) -> Self {
        self.params.smallest = Some(smallest);
        self
    }

    /// With a number that only this method has, by name; see `kintsugi::fracture::methods`.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: f64) -> Self {
        self.params.options.insert(name.into(), value);
        self
    }

    /// Over this many generations, 1 to 64.
    #[must_use]
    pub fn generations(mut self, generations: u32) -> Self {
        self.generations = generations;
        self
    }

    /// Refuses parameters that an object of leaf level `level` cannot be broken by.
    ///
    /// # Errors
    /// [`Error::Parameter`], the first that is out of range.
    pub fn check(&self, level: u32) -> Result<(), Error> {
        fracture_problem(&self.params, level, self.generations)
            .map_or(Ok(()), |what| Err(Error::Parameter(what)))
    }
}

/// A direction at length 1. One that has it already stays as it is, to the bit: what a report says can be given again.
#[must_use]
pub(crate) fn unit(direction: DVec3) -> Option<DVec3> {
    let is_unit = (direction.length_squared() - 1.0).abs() <= 4.0 * f64::EPSILON;
    if is_unit {
        return Some(direction);
    }
    // Squares of what is longer or shorter are too large or too small for a number.
    let has_square = (1e-100..1e100).contains(&direction.length());
    let scaled = if has_square { direction } else { direction / direction.abs().max_element() };
    scaled.try_normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_of_any_length_become_units() {
        let aslant = DVec3::new(0.6, -0.8, 0.0);
        for length in [1e-300, 1e-160, 1.0, 7.0, 1e160, 1e300] {
            let found = unit(aslant * length).unwrap();
            assert!(found.distance(aslant) < 1e-12, "{length}: {found}");
        }
        assert_eq!(unit(DVec3::ZERO), None);
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        assert!(Fracture::new().check(6).is_ok());
        let coarse = FractureParams { island_level: Some(7), ..FractureParams::default() };
        for (bad, name) in [
            (Fracture::new().cells(0), "seeds"),
            (Fracture::new().pieces(9000), "target_pieces"),
            (Fracture::new().generations(65), "generations"),
            (Fracture::new().option("depth", 1.0), "options"),
            (Fracture { params: coarse, ..Fracture::new() }, "island_level"),
        ] {
            let error = bad.check(6).unwrap_err().to_string();
            assert!(error.starts_with(name) && !error.contains('\n'), "{error}");
        }
    }
}
