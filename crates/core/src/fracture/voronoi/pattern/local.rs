//! Local fracture (2016, sec. 4.7): the cells that stay together as the kept body.
//!
//! In: seeds, the impact, a radius or a list of seeds. Out: the same seeds, those that stay with one object id.

use crate::geometry::Aabb;
use glam::DVec3;

use super::{Pattern, PatternError, UNIT_BITS};
use crate::fracture::FractureParams;

impl FractureParams {
    /// Whether a part of the object may stay whole.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.local.is_some() || !self.keep.is_empty()
    }

    /// Seeds whose cells stay together, ascending: those farther from `point` than the local radius, and those on
    /// the list. `point` and `bounds` of the object in grid coordinates (voxels) of a grid of `level`.
    #[must_use]
    pub fn kept_seeds(&self, pattern: &Pattern, point: DVec3, bounds: Aabb, level: u32) -> Vec<u32> {
        let unit = f64::from(1u32 << (UNIT_BITS - level));
        let longest_side = bounds.size().max_element() * unit;
        // Seeds are rounded to whole units: on a sphere of just this radius they count as inside.
        let reach = self.local.map_or(f64::INFINITY, |radius| radius * longest_side + 1.0);
        let far = |seed: [i32; 3]| (DVec3::from_array(seed.map(f64::from)) - point * unit).length() > reach;
        (0u32..)
            .zip(&pattern.seeds)
            .filter(|(s, seed)| far(**seed) || self.keep.contains(s))
            .map(|(s, _)| s)
            .collect()
    }
}

impl Pattern {
    /// The same seeds, where those kept by `params` share one object id: the smallest of their indices. Without a local
    /// part nothing changes. Units as in [`FractureParams::kept_seeds`].
    ///
    /// # Errors
    /// [`PatternError`] for a radius that is not finite and positive, for a kept seed that does not exist, and if every
    /// seed would stay.
    pub fn keep_far(
        mut self,
        params: &FractureParams,
        point: DVec3,
        bounds: Aabb,
        level: u32,
    ) -> Result<Self, PatternError> {
        if let Some(radius) = params.local.filter(|r| !r.is_finite() || *r <= 0.0) {
            return Err(PatternError::Bad(format!(
                "the local radius must be finite and above 0, not {radius}"
            )));
        }
        let count = self.seeds.len();
        if let Some(missing) = params.keep.iter().find(|s| **s as usize >= count) {
            return Err(PatternError::Bad(format!(
                "there is no seed {missing} to keep; the seeds are 0 to {}",
                count - 1
            )));
        }
        let kept = params.kept_seeds(&self, point, bounds, level);
        if kept.len() == count {
            return Err(PatternError::Bad(match params.local {
                Some(radius) => format!(
                    "no cell would break off: every seed is farther from the impact than the local radius {radius} or on the list \
                     of those to keep; give a larger local radius or a smaller sphere radius"
                ),
                None => "no cell would break off: every seed is on the list of those to keep".into(),
            }));
        }
        // A brick is the cells of two seeds: where one of them stays, so does the other.
        let mut stays = vec![false; count];
        kept.iter().for_each(|seed| stays[self.objects[*seed as usize] as usize] = true);
        if let Some(lowest) = kept.iter().map(|seed| self.objects[*seed as usize]).min() {
            for object in self.objects.iter_mut().filter(|object| stays[**object as usize]) {
                *object = lowest;
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: u32 = 7;

    fn bounds() -> Aabb {
        Aabb::new(DVec3::splat(4.0), DVec3::splat(124.0))
    }

    fn made(params: &FractureParams) -> Result<Pattern, PatternError> {
        Pattern::on_spheres(params, DVec3::splat(60.0), bounds(), LEVEL)
    }

    #[test]
    fn far_seeds_share_the_smallest_index() {
        let params =
            FractureParams { seeds: 12, radii: vec![0.1, 0.2, 0.4], local: Some(0.2), ..Default::default() };
        let pattern = made(&params).unwrap();
        // Seeds are dealt in turn, so 2, 5, 8 and 11 lie on the outermost sphere; those on the second lie just inside.
        assert_eq!(pattern.objects, [0, 1, 2, 3, 4, 2, 6, 7, 2, 9, 10, 2]);
        assert_eq!(params.kept_seeds(&pattern, DVec3::splat(60.0), bounds(), LEVEL), [2, 5, 8, 11]);
        let whole = made(&FractureParams { local: None, ..params.clone() }).unwrap();
        assert_eq!((whole.seeds, whole.objects), (pattern.seeds, (0..12).collect()));
        assert_eq!(pattern_objects(&FractureParams { local: Some(0.5), ..params }), 12);
    }

    fn pattern_objects(params: &FractureParams) -> usize {
        made(params).unwrap().object_ids().len()
    }

    #[test]
    fn seeds_of_one_object_stay_together() {
        let plain = made(&FractureParams { seeds: 6, radii: vec![0.1, 0.4], ..Default::default() }).unwrap();
        let bricks = Pattern { objects: vec![0, 0, 2, 2, 4, 4], ..plain };
        let keep = |keep: Vec<u32>| {
            let params = FractureParams { keep, ..Default::default() };
            bricks.clone().keep_far(&params, DVec3::splat(60.0), bounds(), LEVEL).unwrap().objects
        };
        assert_eq!(keep(vec![3]), [0, 0, 2, 2, 4, 4]);
        assert_eq!(keep(vec![3, 4]), [0, 0, 2, 2, 2, 2]);
        assert_eq!(keep(vec![1, 5]), [0, 0, 2, 2, 0, 0]);
    }

    #[test]
    fn listed_seeds_stay_too() {
        let params =
            FractureParams { seeds: 6, radii: vec![0.1, 0.4], keep: vec![4, 2], ..Default::default() };
        assert_eq!(made(&params).unwrap().objects, [0, 1, 2, 3, 2, 5]);
        let both = FractureParams { local: Some(0.2), ..params };
        assert_eq!(made(&both).unwrap().objects, [0, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn what_breaks_nothing_is_refused() {
        let params = FractureParams { seeds: 4, radii: vec![0.2], ..Default::default() };
        for (local, keep) in [
            (Some(0.1), vec![]),
            (Some(-1.0), vec![]),
            (Some(f64::NAN), vec![]),
            (None, vec![0, 1, 2, 3]),
            (None, vec![4]),
        ] {
            assert!(made(&FractureParams { local, keep, ..params.clone() }).is_err());
        }
    }
}
