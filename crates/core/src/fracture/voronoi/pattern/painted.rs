//! The cells of a blow that has not fallen, and which of them stay with the body (2016, sec. 4.7: by a radius, or
//! by clicking cells).
//!
//! In: a body, an impact, parameters, cells that were painted. Out: the pattern, and the seeds whose cells stay.
//! Preview, painting and the break itself all draw their cells here, so what was painted is what stays.

use crate::geometry::Aabb;
use glam::{DVec3, I64Vec3};

use super::{Pattern, PatternError, SeedSource, UNIT_BITS, chips::chips};
use crate::{
    fracture::{
        FractureParams, Impact, Preset,
        box_cut::sites::{Triangles, sites},
    },
    shape::{Octree, Original, PieceMesh, Shape},
    svo::morton,
};

/// Cells that the user chose to keep: the seeds at that time, and the chosen ones. Other seeds are matched by their
/// positions, so a changed pattern keeps the choice, and going back gives the same cells again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCells {
    seeds: Vec<[i32; 3]>,
    /// Ascending.
    kept: Vec<u32>,
}

impl KeptCells {
    /// `kept` are indices into `seeds` (units of [`Pattern::seeds`]); others are ignored.
    #[must_use]
    pub fn new(seeds: Vec<[i32; 3]>, mut kept: Vec<u32>) -> Self {
        kept.retain(|s| (*s as usize) < seeds.len());
        kept.sort_unstable();
        kept.dedup();
        Self { seeds, kept }
    }

    /// The kept ones of `seeds`, ascending: those that lie in a chosen cell, or if none does, those whose cells contain
    /// the chosen seeds, so that the choice is not lost.
    #[must_use]
    pub fn among(&self, seeds: &[[i32; 3]]) -> Vec<u32> {
        if self.seeds == seeds {
            return self.kept.clone();
        }
        let inside = |seed: &[i32; 3]| {
            nearest_seed(&self.seeds, *seed, |_| true).is_some_and(|s| self.kept.binary_search(&s).is_ok())
        };
        let mut found: Vec<u32> =
            (0u32..).zip(seeds).filter(|(_, seed)| inside(seed)).map(|(s, _)| s).collect();
        if found.is_empty() {
            let painted = self.kept.iter().filter_map(|s| self.seeds.get(*s as usize));
            found = painted.filter_map(|seed| nearest_seed(seeds, *seed, |_| true)).collect();
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// The same choice with every seed moved by `map`.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(DVec3) -> DVec3) -> Self {
        let seed = |s: &[i32; 3]| map(DVec3::from_array(s.map(f64::from))).round().as_ivec3().to_array();
        Self { seeds: self.seeds.iter().map(seed).collect(), kept: self.kept.clone() }
    }
}

/// The seed nearest to a point (units), the lowest index of several: exact in whole numbers. Only seeds that pass `may`
/// are tested.
#[must_use]
pub fn nearest_seed(seeds: &[[i32; 3]], point: [i32; 3], may: impl Fn(u32) -> bool) -> Option<u32> {
    let point = I64Vec3::from_array(point.map(i64::from));
    let distance = |seed: &[i32; 3]| (I64Vec3::from_array(seed.map(i64::from)) - point).length_squared();
    let asked = (0u32..).zip(seeds).filter(|(s, _)| may(*s));
    asked.min_by_key(|(s, seed)| (distance(seed), *s)).map(|(s, _)| s)
}

/// The middle of a node, units: `cell` is its low corner and `size` its edge, leaf units of a grid of `level`
/// (below 14).
#[must_use]
pub fn middle_of(cell: [u32; 3], size: u32, level: u32) -> [i32; 3] {
    let half = 1u32 << (UNIT_BITS - 1 - level.min(UNIT_BITS - 1));
    cell.map(|c| ((2 * c + size) * half) as i32)
}

/// The cells of one blow.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Seeds, with one object id for all that stay. Where every cell stays there is one object.
    pub pattern: Pattern,
    /// Seeds whose cells stay, ascending.
    pub kept: Vec<u32>,
}

/// Everything but the parameters that decides a blow's cells.
pub struct CellSource<'a> {
    /// The struck shape.
    pub shape: &'a Shape,
    /// Its octree, or its voxels for contacts.
    pub octree: &'a Octree,
    /// Bounds of which radii are fractions, grid coordinates.
    pub bounds: Aabb,
    /// Grid coordinates.
    pub impact: Impact,
    /// Cells that were painted to stay.
    pub painted: Option<&'a KeptCells>,
    /// Seeds from a file, grid coordinates, instead of the pattern.
    pub seeds: Option<&'a SeedSource>,
}

impl CellSource<'_> {
    /// The pattern, and the parameters with the kept cells written into them.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn draw(&self, params: &FractureParams) -> Result<(Pattern, FractureParams), PatternError> {
        let (pattern, named) = self.seeds(params)?;
        let pattern = self.keep(pattern, &named)?;
        let is_one =
            |pattern: &Pattern| pattern.seeds.len() > 1 && pattern.objects.iter().all(|object| *object == 0);
        if is_one(&pattern) {
            let text =
                "no cell would break off: all seeds belong to one body; give more seeds, or keep fewer cells";
            return Err(PatternError::Bad(text.into()));
        }
        let pattern = pattern.whole_in(&named.paint, self.octree);
        if is_one(&pattern) {
            let text =
                "no cell would break off: the brush keeps all of them together; paint less of \"whole\"";
            return Err(PatternError::Bad(text.into()));
        }
        Ok((pattern, named))
    }

    /// Like [`CellSource::draw`], for display: that every cell stays is no error.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn cells(&self, params: &FractureParams) -> Result<Cells, PatternError> {
        let (mut pattern, named) = self.seeds(params)?;
        let kept = self.kept(&pattern, &named);
        if kept.len() == pattern.seeds.len() {
            pattern.objects.fill(0);
        } else {
            pattern = self.keep(pattern, &named)?.whole_in(&named.paint, self.octree);
        }
        Ok(Cells { pattern, kept })
    }

    /// Seeds whose cells stay by `named`.
    #[must_use]
    pub fn kept(&self, pattern: &Pattern, named: &FractureParams) -> Vec<u32> {
        named.kept_seeds(pattern, self.impact.point, self.bounds, self.octree.level())
    }

    fn seeds(&self, params: &FractureParams) -> Result<(Pattern, FractureParams), PatternError> {
        let mut named = params.clone();
        let pattern = match self.seeds {
            Some(seeds) => seeds.pattern(self.impact, self.bounds, self.octree.grid.level)?,
            None => {
                let all = FractureParams { local: None, keep: Vec::new(), ..params.clone() };
                let Octree { forest, tree, .. } = self.octree;
                let pattern = match params.preset {
                    Preset::Inward => self.inward(&all)?,
                    // A preview has a coarser octree, and the same chips.
                    Preset::Chips => chips(&all, self.shape.as_octree().unwrap_or(self.octree))?,
                    _ => Pattern::at_impact(&all, self.impact, self.bounds, forest, *tree)?,
                };
                pattern.with_dense(params, self.octree)?.with_cuts(&params.paint, self.octree)?
            }
        };
        Ok((self.painted_over(pattern, &mut named), named))
    }

    /// Writes the chosen cells to the pattern's parameters.
    fn painted_over(&self, pattern: Pattern, named: &mut FractureParams) -> Pattern {
        if let Some(painted) = self.painted {
            named.keep = painted.among(&pattern.seeds);
        }
        pattern
    }

    /// Seeds between the surface and the middle (Chlubna, sec. 3), the same for every method: on the object's own
    /// triangles if these are known, else in the middles of its voxels.
    fn inward(&self, params: &FractureParams) -> Result<Pattern, PatternError> {
        if let Some((field, what)) = params.problem() {
            return Err(PatternError::Bad(format!("{field} {what}")));
        }
        let Aabb { low, high } = self.bounds;
        if !(self.impact.point.is_finite() && low.is_finite() && high.is_finite()) {
            return Err(PatternError::Bad("the impact point and the object's bounds must be finite".into()));
        }
        let grid = self.octree.grid;
        let unit = f64::from(1u32 << (UNIT_BITS - grid.level));
        let in_units = |p: DVec3| grid.from_mesh(p) * unit;
        let leaves = self.octree.leaves();
        let of_surface = |surface: &PieceMesh, t: usize| {
            surface.triangles[t].map(|i| in_units(surface.positions[i as usize]))
        };
        let of_original = |original: &Original, t: usize| {
            let corner = |i: u32| original.mesh.positions[i as usize].map(f64::from);
            original.mesh.triangles[t]
                .map(|i| in_units(DVec3::from_array(corner(i)) * original.meters_per_unit))
        };
        let of_leaf = |t: usize| {
            let cell = morton::decode(self.octree.forest.leaves.keys.at(leaves.start + t));
            [(DVec3::from_array(cell.map(f64::from)) + 0.5) * unit; 3]
        };
        let (count, corners): (usize, Box<dyn Fn(usize) -> [DVec3; 3] + '_>) =
            match (self.shape.as_mesh(), self.shape.original()) {
                (Some(solid), _) => {
                    let surface = solid.surface();
                    (surface.triangles.len(), Box::new(move |t| of_surface(surface, t)))
                }
                (None, Some(original)) => {
                    (original.mesh.triangles.len(), Box::new(move |t| of_original(original, t)))
                }
                (None, None) => (leaves.len(), Box::new(of_leaf)),
            };
        let triangles = Triangles { count, corners: &corners };
        let seeds = sites(
            triangles,
            low * unit,
            high * unit,
            self.impact.point * unit,
            params.blow_strength,
            params.seed_count() as usize,
            params.rng,
        );
        if seeds.is_empty() {
            return Err(PatternError::Bad("the object has no surface to draw seeds at".into()));
        }
        Ok(Pattern { objects: (0..seeds.len() as u32).collect(), seeds })
    }

    fn keep(&self, pattern: Pattern, named: &FractureParams) -> Result<Pattern, PatternError> {
        pattern.keep_far(named, self.impact.point, self.bounds, self.octree.level())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds of a plain sequence that fills a cube.
    fn seeds(n: u32, shift: f64) -> Vec<[i32; 3]> {
        let f = |i: u32, k: f64| (((f64::from(i) + shift) * k).fract() * 16384.0) as i32;
        (1..=n).map(|i| [f(i, 0.754_878), f(i, 0.569_84), f(i, 0.319_29)]).collect()
    }

    #[test]
    fn the_nearest_seed_is_exact_and_the_lowest_wins() {
        let seeds = [[10, 0, 0], [-10, 0, 0], [0, 10, 0]];
        assert_eq!(nearest_seed(&seeds, [0, 0, 0], |_| true), Some(0), "three are equally near");
        assert_eq!(nearest_seed(&seeds, [-1, 0, 0], |_| true), Some(1));
        assert_eq!(nearest_seed(&seeds, [0, 0, 0], |s| s > 0), Some(1));
        assert_eq!(nearest_seed(&[], [0, 0, 0], |_| true), None);
        // Far apart by more than 32 bits of squared distance.
        assert_eq!(nearest_seed(&[[-8192; 3], [24576; 3]], [24575; 3], |_| true), Some(1));
        assert_eq!(middle_of([0, 0, 0], 1, 6), [128, 128, 128]);
        assert_eq!(middle_of([63, 0, 2], 2, 6), [64 * 256, 256, 3 * 256]);
        assert_eq!(middle_of([1023, 0, 0], 1, 10), [16376, 8, 8]);
    }

    #[test]
    fn the_same_seeds_give_the_same_cells_and_others_those_inside() {
        let then = seeds(40, 0.0);
        let painted = KeptCells::new(then.clone(), vec![7, 3, 3, 99]);
        assert_eq!(painted.among(&then), [3, 7]);
        let now = seeds(200, 0.3);
        let kept = painted.among(&now);
        let by_place: Vec<u32> = (0..200)
            .filter(|s| {
                let near = |t: &usize| {
                    (0..3).map(|a| f64::from(then[*t][a] - now[*s as usize][a]).powi(2)).sum::<f64>()
                };
                let nearest = (0..40).min_by(|a, b| near(a).total_cmp(&near(b))).unwrap();
                nearest == 3 || nearest == 7
            })
            .collect();
        assert!(!kept.is_empty() && kept == by_place, "{kept:?} {by_place:?}");
        // Fewer seeds are the first of more: what is still there keeps its cell.
        assert_eq!(painted.among(&then[..10]), [3, 7]);
    }

    #[test]
    fn something_stays_of_what_was_painted() {
        let then = seeds(400, 0.0);
        let painted = KeptCells::new(then.clone(), vec![5]);
        let few = seeds(3, 0.5);
        assert_eq!(painted.among(&few), [nearest_seed(&few, then[5], |_| true).unwrap()]);
        assert!(KeptCells::new(then, Vec::new()).among(&few).is_empty(), "but nothing painted is nothing");
    }
}
