//! What the user can tune, and the seeds that follow from it (2016, sec. 4.2).

use glam::DVec3;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{Interior, crack::CrackShape, labelling::Labelling, layers::UNIT_BITS};
use crate::svo::{Forest, Octant};

/// How crack surfaces look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// Flat Voronoi faces (2016).
    #[default]
    Planar,
    /// Crack surfaces (2018).
    Rough,
    /// Crack surfaces with a gap of dust (2018).
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
#[serde(default, deny_unknown_fields)]
pub struct FractureParams {
    /// Seeds in all, shared out over the spheres.
    pub seeds: u32,
    /// Sphere radii as fractions of the longest side of the object's bounding box.
    pub radii: Vec<f64>,
    /// Random seed.
    pub rng: u64,
    /// Crack surface method.
    pub surface: Surface,
    /// Crack surfaces, where they are rough or dusty.
    pub crack: CrackShape,
    /// Level at which islands are told apart; `None` is the leaf level.
    pub island_level: Option<u32>,
    /// How islands are told apart: the same pieces either way.
    pub labelling: Labelling,
    /// Local fracture: cells of seeds farther from the impact than this stay together; unit as `radii`. `None` breaks everything.
    pub local: Option<f64>,
    /// Seeds, by index, whose cells stay with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<u32>,
    /// What crack faces show.
    pub interior: Interior,
}

/// How one fracture is computed, beside its [`Pattern`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// Level at which islands are told apart, 1 to the leaf level; `None` is the leaf level.
    pub island_level: Option<u32>,
    /// Crack surface method.
    pub surface: Surface,
    /// Crack surfaces, where they are rough or dusty.
    pub crack: CrackShape,
    /// Random seed of the crack surfaces.
    pub rng: u64,
    /// How islands are told apart.
    pub labelling: Labelling,
    /// What crack faces show.
    pub interior: Interior,
    /// Mean colour of the whole object's surface, which an interior without a colour of its own follows; `None` is that of the
    /// source's own surface. Who breaks pieces of an object again says it, or its inside would change from piece to piece.
    pub surface_color: Option<[u8; 3]>,
}

impl FractureParams {
    /// What the passes need to know beside the pattern.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        Recipe {
            island_level: self.island_level,
            surface: self.surface,
            crack: self.crack,
            rng: self.rng,
            labelling: self.labelling,
            interior: self.interior,
            surface_color: None,
        }
    }
}

impl Default for FractureParams {
    fn default() -> Self {
        Self {
            seeds: 40,
            radii: vec![0.1, 0.25, 0.5, 0.9],
            rng: 1,
            surface: Surface::Planar,
            crack: CrackShape::default(),
            island_level: None,
            labelling: Labelling::UnionFind,
            local: None,
            keep: Vec::new(),
            interior: Interior::default(),
        }
    }
}

/// Most seeds of one pattern: the pairs of seeds at the root stay within what a buffer holds.
pub const MAX_SEEDS: u32 = 8192;

/// Voronoi seeds in fixed point: 2^14 units a grid side at every level, so that a preview at a coarse level and the full level have
/// the same cells, and squared distances compare exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// At most half a side outside the grid.
    pub seeds: Vec<[i32; 3]>,
    /// Object id of every seed (2016, sec. 4.7): cells with the same id stay one body. Without a local part every seed has its own
    /// index; a shared id is the smallest seed index that has it.
    pub objects: Vec<u32>,
}

/// Why there is no pattern.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// Parameters out of range: what, and the range.
    #[error("{0}")]
    Bad(String),
}

impl Pattern {
    /// As [`Pattern::on_spheres`], and a seed must also lie in `tree` of `forest` or within 1/16 of the grid's side of it: what is drawn
    /// elsewhere is drawn again, up to 64 times. A hollow or branching object then breaks into about as many pieces as seeds.
    ///
    /// # Errors
    /// As [`Pattern::on_spheres`].
    pub fn near_object(
        params: &FractureParams,
        point: DVec3,
        bounds: (DVec3, DVec3),
        forest: &Forest,
        tree: u32,
    ) -> Result<Self, PatternError> {
        let near = |p: DVec3| {
            let cell = p.floor().max(DVec3::ZERO).as_uvec3().to_array();
            match forest.octant_at(tree as usize, cell) {
                // The empty octant's parent is not empty, so something solid is at most the parent's size away.
                Octant::Empty { size, .. } => 32 * size <= 1 << forest.level,
                _ => true,
            }
        };
        Self::drawn(params, point, bounds, forest.level, &near)
    }

    /// Seeds at random on spheres round `point`, in grid coordinates (voxels) of a grid of `level`; `bounds` (low, high) are the
    /// object's, and radii count in fractions of their longest side; so does the local radius, see [`Pattern::keep_far`]. Seeds are dealt to the spheres in turn, the innermost first, so
    /// every sphere gets its equal share and what is left over goes to the inner ones. Directions are uniform; one that leaves
    /// the bounds is drawn again, up to 64 times, because a seed far from the object seldom makes a piece. A seed more than half a side
    /// outside the grid is pulled in to that limit. The same parameters give the same seeds on every machine: only +, *, /
    /// and square root are used.
    ///
    /// # Errors
    /// [`PatternError`] for no or too many seeds, no radii, a radius that is not finite and positive, a point or bounds that are not
    /// finite.
    pub fn on_spheres(
        params: &FractureParams,
        point: DVec3,
        bounds: (DVec3, DVec3),
        level: u32,
    ) -> Result<Self, PatternError> {
        Self::drawn(params, point, bounds, level, &|_| true)
    }

    fn drawn(
        params: &FractureParams,
        point: DVec3,
        bounds: (DVec3, DVec3),
        level: u32,
        near: &dyn Fn(DVec3) -> bool,
    ) -> Result<Self, PatternError> {
        check_count(params.seeds as usize)?;
        if params.radii.is_empty() {
            return Err(PatternError::Bad("at least one sphere radius is needed".into()));
        }
        if let Some(bad) = params.radii.iter().find(|r| !r.is_finite() || **r <= 0.0) {
            return Err(PatternError::Bad(format!("a sphere radius must be finite and above 0, not {bad}")));
        }
        let (low, high) = bounds;
        if !(point.is_finite() && low.is_finite() && high.is_finite()) {
            return Err(PatternError::Bad("the impact point and the object's bounds must be finite".into()));
        }
        let longest_side = (high - low).max_element();
        let mut rng = ChaCha8Rng::seed_from_u64(params.rng);
        let points: Vec<DVec3> = (0..params.seeds as usize)
            .map(|i| {
                let radius = params.radii[i % params.radii.len()] * longest_side;
                let mut seed = DVec3::NAN;
                for attempt in 0..64 {
                    let drawn = point + radius * random_direction(&mut rng);
                    let within = drawn.cmpge(low).all() && drawn.cmple(high).all();
                    // A seed within the bounds is the next best to one near the object.
                    if within || attempt == 0 {
                        seed = drawn;
                    }
                    if within && near(drawn) {
                        break;
                    }
                }
                seed
            })
            .collect();
        Self::from_points(&points, level)?.keep_far(params, point, bounds, level)
    }

    /// Seeds at the given grid coordinates (voxels) of a grid of `level`, rounded to 2^-14 of a side.
    ///
    /// # Errors
    /// [`PatternError`] for no, too many or non-finite points.
    pub fn from_points(points: &[DVec3], level: u32) -> Result<Self, PatternError> {
        check_count(points.len())?;
        let unit = f64::from(1u32 << (UNIT_BITS - level));
        let side = f64::from(1u32 << UNIT_BITS);
        let mut seeds = Vec::with_capacity(points.len());
        for (i, p) in points.iter().enumerate() {
            if !p.is_finite() {
                return Err(PatternError::Bad(format!("seed {i} is not finite")));
            }
            let q = (*p * unit).round().clamp(DVec3::splat(-side / 2.0), DVec3::splat(side * 1.5));
            seeds.push(q.as_ivec3().to_array());
        }
        Ok(Self { objects: (0..seeds.len() as u32).collect(), seeds })
    }

    /// The object ids that seeds have, ascending.
    #[must_use]
    pub fn object_ids(&self) -> Vec<u32> {
        (0..self.seeds.len() as u32).filter(|s| self.objects[*s as usize] == *s).collect()
    }

    /// Whether there is an object id for every seed, and every id is the smallest seed index that has it.
    pub(super) fn objects_are_sound(&self) -> bool {
        self.objects.len() == self.seeds.len()
            && (0u32..)
                .zip(&self.objects)
                .all(|(s, object)| *object <= s && self.objects[*object as usize] == *object)
    }

    /// Seeds in leaf units of a grid of `level`, exactly as used.
    #[must_use]
    pub fn seeds_in_voxels(&self, level: u32) -> Vec<[f64; 3]> {
        let unit = f64::from(1u32 << (UNIT_BITS - level));
        self.seeds.iter().map(|s| s.map(|v| f64::from(v) / unit)).collect()
    }
}

fn check_count(seeds: usize) -> Result<(), PatternError> {
    if seeds == 0 || seeds > MAX_SEEDS as usize {
        return Err(PatternError::Bad(format!("the number of seeds must be 1 to {MAX_SEEDS}, not {seeds}")));
    }
    Ok(())
}

/// A uniform unit vector, by rejection from the cube.
fn random_direction(rng: &mut ChaCha8Rng) -> DVec3 {
    let mut coordinate = || (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    loop {
        let v = DVec3::new(coordinate(), coordinate(), coordinate());
        let squared = v.length_squared();
        if squared > 1e-6 && squared <= 1.0 {
            return v / squared.sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_lie_on_their_spheres_and_repeat() {
        let params = FractureParams { seeds: 10, radii: vec![0.1, 0.3, 0.4], rng: 7, ..Default::default() };
        let centre = DVec3::new(60.0, 70.0, 65.0);
        let bounds = (DVec3::new(10.0, 30.0, 20.0), DVec3::new(110.0, 120.0, 100.0));
        let a = Pattern::on_spheres(&params, centre, bounds, 7).unwrap();
        assert_eq!(a, Pattern::on_spheres(&params, centre, bounds, 7).unwrap());
        for (i, s) in a.seeds_in_voxels(7).iter().enumerate() {
            let r = (DVec3::from_array(*s) - centre).length();
            assert!((r - [10.0, 30.0, 40.0][i % 3]).abs() < 0.02, "seed {i} at {r}");
            assert!((0..3).all(|axis| s[axis] > bounds.0[axis] - 0.02 && s[axis] < bounds.1[axis] + 0.02));
        }
        let other = FractureParams { rng: 8, ..params };
        assert_ne!(a, Pattern::on_spheres(&other, centre, bounds, 7).unwrap());
    }

    #[test]
    fn seeds_do_not_depend_on_the_level() {
        let params = FractureParams::default();
        let coarse =
            Pattern::on_spheres(&params, DVec3::splat(16.0), (DVec3::ONE, DVec3::splat(31.0)), 5).unwrap();
        let fine =
            Pattern::on_spheres(&params, DVec3::splat(64.0), (DVec3::splat(4.0), DVec3::splat(124.0)), 7)
                .unwrap();
        assert_eq!(coarse, fine);
    }

    #[test]
    fn far_seeds_are_pulled_in_and_bad_ones_refused() {
        let far = Pattern::from_points(&[DVec3::splat(1e9)], 6).unwrap();
        assert_eq!(far.seeds, [[3 << 13; 3]]);
        assert!(Pattern::from_points(&[], 6).is_err());
        assert!(Pattern::from_points(&[DVec3::splat(f64::NAN)], 6).is_err());
        let bad = FractureParams { radii: vec![f64::INFINITY], ..Default::default() };
        assert!(Pattern::on_spheres(&bad, DVec3::ZERO, (DVec3::ZERO, DVec3::ONE), 6).is_err());
        let none = FractureParams { seeds: 0, ..Default::default() };
        assert!(Pattern::on_spheres(&none, DVec3::ZERO, (DVec3::ZERO, DVec3::ONE), 6).is_err());
    }
}
