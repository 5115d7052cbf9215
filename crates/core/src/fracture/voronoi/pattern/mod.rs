//! The seeds of a fracture (2016, sec. 4.2).
//!
//! In: parameters, an impact, the object. Out: Voronoi seeds in fixed point.

use crate::geometry::Aabb;
use glam::DVec3;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use self::presets::{Presets, drawn};
use crate::{
    fracture::{FractureParams, Impact, MAX_SEEDS, PatternError},
    svo::{Forest, Octant},
};

mod brush;
mod chips;
#[cfg(test)]
mod chips_tests;
mod cut;
#[cfg(test)]
mod cut_tests;
mod lattice;
mod local;
#[cfg(test)]
mod local_tests;
mod painted;
mod picture;
mod presets;

pub(in crate::fracture) use chips::lengths_of_chips;
pub use chips::shares_of_chips;
pub use painted::{CellSource, Cells, KeptCells, middle_of, nearest_seed};
pub use picture::{CrackPicture, SeedSource};

/// Seeds fit 2^14 units a grid side; `shaders/fracture/voronoi/exact.wgsl` has the same number.
pub const UNIT_BITS: u32 = 14;

/// Voronoi seeds in fixed point: 2^14 units a grid side at every level, so that a preview at a coarse level and the
/// full level have the same cells, and squared distances compare exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// At most half a side outside the grid.
    pub seeds: Vec<[i32; 3]>,
    /// Object id of every seed (2016, sec. 4.7): cells with the same id stay one body. Without a local part every
    /// seed has its own index; a shared id is the smallest seed index that has it.
    pub objects: Vec<u32>,
}

impl Pattern {
    /// Seeds by [`FractureParams::preset`], with `impact` and `bounds` (the object's) in grid coordinates. A seed must
    /// also lie in `tree` of `forest` or within 1/16 of the grid's side of it: other seeds are drawn again, up to 64
    /// times. A hollow or branching object then breaks into about as many pieces as seeds.
    ///
    /// # Errors
    /// [`PatternError`] for parameters, an impact or bounds out of range.
    pub fn at_impact(
        params: &FractureParams,
        impact: Impact,
        bounds: Aabb,
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
        Self::drawn(params, impact, bounds, forest.level, &near)
    }

    #[cfg(any(test, feature = "testing"))]
    /// Like [`Pattern::at_impact`], with a blow at `point` towards the middle of the bounds.
    ///
    /// # Errors
    /// See [`Pattern::at_impact`].
    pub fn near_object(
        params: &FractureParams,
        point: DVec3,
        bounds: Aabb,
        forest: &Forest,
        tree: u32,
    ) -> Result<Self, PatternError> {
        let impact = Impact { point, direction: bounds.middle() - point };
        Self::at_impact(params, impact, bounds, forest, tree)
    }

    #[cfg(any(test, feature = "testing"))]
    /// Random seeds on spheres round `point` (or by another preset), in grid coordinates (voxels) of a grid of `level`;
    /// `bounds` are the object's, and radii count in fractions of their longest side, as does the local radius, see
    /// [`Pattern::keep_far`]. Seeds are dealt to the spheres in turn, the innermost first, so every sphere gets an
    /// equal share and the rest goes to the inner ones. Directions are uniform; one that leaves the bounds is drawn
    /// again, up to 64 times, because a seed far from the object seldom makes a piece. A seed more than half a side
    /// outside the grid is pulled in to that limit. The same parameters give the same seeds on every machine: only +,
    /// -, *, / and square root are used. Fewer seeds are the first of more, if nothing else differs.
    ///
    /// # Errors
    /// [`PatternError`] for parameters, a point or bounds out of range.
    pub fn on_spheres(
        params: &FractureParams,
        point: DVec3,
        bounds: Aabb,
        level: u32,
    ) -> Result<Self, PatternError> {
        let impact = Impact { point, direction: bounds.middle() - point };
        Self::drawn(params, impact, bounds, level, &|_| true)
    }

    fn drawn(
        params: &FractureParams,
        impact: Impact,
        bounds: Aabb,
        level: u32,
        near: &dyn Fn(DVec3) -> bool,
    ) -> Result<Self, PatternError> {
        if let Some((field, what)) = params.problem() {
            return Err(PatternError::Bad(format!("{field} {what}")));
        }
        let Aabb { low, high } = bounds;
        if !(impact.point.is_finite() && low.is_finite() && high.is_finite()) {
            return Err(PatternError::Bad("the impact point and the object's bounds must be finite".into()));
        }
        if let Some((points, bodies)) = lattice::lattice(params, bounds) {
            let pattern = Self { objects: bodies, ..Self::from_points(&points, level)? };
            return pattern.keep_far(params, impact.point, bounds, level);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(params.rng);
        let mut presets = Presets::new(params, impact, bounds);
        presets.prepare(&mut rng, &|p| near(p));
        let points: Vec<DVec3> = (0..params.seed_count() as usize)
            .map(|i| {
                drawn(|attempt| presets.draw(i, attempt, &mut rng), |p| presets.within(p), &|p| {
                    presets.accepts(p, near)
                })
            })
            .collect();
        Self::from_points(&points, level)?.keep_far(params, impact.point, bounds, level)
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

    /// Seeds of a file at the given grid coordinates (voxels) of a grid of `level`: none of them is pulled in.
    ///
    /// # Errors
    /// See [`Pattern::from_points`]; also for a seed more than half a side outside the grid.
    pub fn from_file_points(points: &[DVec3], level: u32) -> Result<Self, PatternError> {
        let side = f64::from(1u32 << level);
        // A seed that reaches the limit by rounding is allowed.
        let reach = 1.0 + 0.5 / f64::from(1u32 << UNIT_BITS);
        let far = points.iter().position(|p| (*p / side - 0.5).abs().max_element() > reach);
        let pattern = Self::from_points(points, level)?;
        let Some(i) = far else { return Ok(pattern) };
        let short = |v: f64| if v.abs() < 1e6 { format!("{v:.3}") } else { format!("{v:.3e}") };
        let place = (points[i] / side).to_array().map(short);
        Err(PatternError::Bad(format!(
            "seed {} of the file lies at {} where the object's grid goes from 0 to 1; seeds may lie at most \
             half a side outside of the object's grid: move it, or give the file in the mesh's units",
            i + 1,
            place.join(", ")
        )))
    }

    /// The object ids that seeds have, ascending.
    #[must_use]
    pub fn object_ids(&self) -> Vec<u32> {
        (0..self.seeds.len() as u32).filter(|s| self.objects[*s as usize] == *s).collect()
    }

    /// Whether there is an object id for every seed, and every id is the smallest seed index that has it.
    pub(in crate::fracture) fn objects_are_sound(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_lie_on_their_spheres_and_repeat() {
        let params = FractureParams { seeds: 10, radii: vec![0.1, 0.3, 0.4], rng: 7, ..Default::default() };
        let centre = DVec3::new(60.0, 70.0, 65.0);
        let bounds = Aabb::new(DVec3::new(10.0, 30.0, 20.0), DVec3::new(110.0, 120.0, 100.0));
        let a = Pattern::on_spheres(&params, centre, bounds, 7).unwrap();
        assert_eq!(a, Pattern::on_spheres(&params, centre, bounds, 7).unwrap());
        for (i, s) in a.seeds_in_voxels(7).iter().enumerate() {
            let r = (DVec3::from_array(*s) - centre).length();
            assert!((r - [10.0, 30.0, 40.0][i % 3]).abs() < 0.02, "seed {i} at {r}");
            assert!(
                (0..3).all(|axis| s[axis] > bounds.low[axis] - 0.02 && s[axis] < bounds.high[axis] + 0.02)
            );
        }
        let other = FractureParams { rng: 8, ..params };
        assert_ne!(a, Pattern::on_spheres(&other, centre, bounds, 7).unwrap());
    }

    #[test]
    fn seeds_do_not_depend_on_the_level() {
        let params = FractureParams::default();
        let coarse =
            Pattern::on_spheres(&params, DVec3::splat(16.0), Aabb::new(DVec3::ONE, DVec3::splat(31.0)), 5)
                .unwrap();
        let fine = Pattern::on_spheres(
            &params,
            DVec3::splat(64.0),
            Aabb::new(DVec3::splat(4.0), DVec3::splat(124.0)),
            7,
        )
        .unwrap();
        assert_eq!(coarse, fine);
    }

    #[test]
    fn far_seeds_are_pulled_in_and_bad_ones_refused() {
        let far = Pattern::from_points(&[DVec3::splat(1e9)], 6).unwrap();
        assert_eq!(far.seeds, [[3 << 13; 3]]);
        let side = 64.0;
        let at_the_limit = [DVec3::splat(-0.5 * side), DVec3::splat(1.5 * side)];
        assert_eq!(Pattern::from_file_points(&at_the_limit, 6), Pattern::from_points(&at_the_limit, 6));
        let beyond = [DVec3::ZERO, DVec3::new(0.0, 1.51 * side, 32.0)];
        let refused = Pattern::from_file_points(&beyond, 6).unwrap_err().to_string();
        assert!(refused.contains("seed 2 of the file lies at 0.000, 1.510, 0.500"), "{refused}");
        assert!(Pattern::from_file_points(&[DVec3::splat(1e300)], 6).unwrap_err().to_string().len() < 300);
        assert!(Pattern::from_points(&[], 6).is_err());
        assert!(Pattern::from_points(&[DVec3::splat(f64::NAN)], 6).is_err());
        let bad = FractureParams { radii: vec![f64::INFINITY], ..Default::default() };
        assert!(Pattern::on_spheres(&bad, DVec3::ZERO, Aabb::new(DVec3::ZERO, DVec3::ONE), 6).is_err());
        let none = FractureParams { seeds: 0, ..Default::default() };
        assert!(Pattern::on_spheres(&none, DVec3::ZERO, Aabb::new(DVec3::ZERO, DVec3::ONE), 6).is_err());
    }
}
