//! What the user can tune, and the seeds that follow from it.
use glam::DVec3;
/// How crack surfaces look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// Flat Voronoi faces (2016).
    #[default]
    Planar,
    /// Crack surfaces (2018). Not built yet.
    Rough,
    /// Crack surfaces with a gap of dust (2018). Not built yet.
    Dusty,
}
/// Where an object is hit, in the mesh's units.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Impact {
    /// Point on or in the object.
    pub point: DVec3,
    /// Direction of the blow (unit), into the object.
    pub direction: DVec3,
}
/// Parameters of one fracture.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct FractureParams {
    /// Seeds in all, shared out over the spheres.
    pub seeds: u32,
    /// Sphere radii as fractions of the longest side of the object's bounding box.
    pub radii: Vec<f64>,
    /// Random seed.
    pub rng: u64,
    /// Crack surface method.
    pub surface: Surface,
    /// Level at which islands are told apart; `None` is the leaf level.
    pub island_level: Option<u32>,
}
impl Default for FractureParams {
    fn default() -> Self {
        Self {
            seeds: 40,
            radii: vec![0.1, 0.25, 0.5, 0.9],
            rng: 1,
            surface: Surface::Planar,
            island_level: None,
        }
    }
}
/// Voronoi seeds in fixed point: 2^14 units a grid side at every level.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// At most half a side outside the grid.
    pub seeds: Vec<[i32; 3]>,
}
/// Why there is no pattern.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// Parameters out of range.
    #[error("{0}")]
    Bad(String),
}
impl Pattern {
    /// Seeds at random on spheres round `point` (sec. 4.2). `point` in grid coordinates (voxels) of a grid of `level`,
    /// `longest_side` of the object's bounds in voxels. Deterministic in `params.rng`.
    ///
    /// # Errors
    /// [`PatternError`] for zero seeds, no or non-finite radii, a non-finite point.
    pub fn on_spheres(
        _params: &FractureParams,
        _point: DVec3,
        _longest_side: f64,
        _level: u32,
    ) -> Result<Self, PatternError> {
        todo!()
    }
    /// Seeds at the given grid coordinates (voxels).
    ///
    /// # Errors
    /// [`PatternError`] for no or non-finite points.
    pub fn from_points(_points: &[DVec3], _level: u32) -> Result<Self, PatternError> {
        todo!()
    }
    /// Seeds in leaf units of a grid of `level`, exactly as used.
    #[must_use]
    pub fn seeds_in_voxels(&self, _level: u32) -> Vec<[f64; 3]> {
        todo!()
    }
}
