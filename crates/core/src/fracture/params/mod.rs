//! What the user can tune about a fracture. The seeds that follow from it are made in
//! `voronoi/pattern/`; the files of this folder need nothing of any method.

use glam::DVec3;

use super::Interior;

mod crack;
mod dab;
mod table;

pub use crack::{CRACK, CrackNoise, CrackShape, Displacement, Dusty, Offset, Sides, UNITS};
pub use dab::{Dab, MAX_DABS, Paint};
pub use table::{CELLS, CHIPS, FractureParams, INTERIOR, PATTERN, PRESETS, SURFACE};

/// Most seeds of one pattern. Loops over a list of candidates, which may hold all of them, go round once a
/// candidate and pass, so they stay far from the 65,535 rounds after which the software driver ends a thread's
/// loops.
pub const MAX_SEEDS: u32 = 8192;

/// Most chips that a break asks for.
const MAX_CHIPS: u32 = 4096;

/// Greatest radius or distance, times the longest side.
const MAX_LENGTH: f64 = 100.0;

/// Why there is no pattern.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// Parameters out of range: what, and the range.
    #[error("{0}")]
    Bad(String),
}

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

/// How islands are told apart. Both give the same pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labelling {
    /// Lock-free union-find over octree nodes.
    #[default]
    UnionFind,
    /// The published iteration (2016, sec. 4.5). Much slower.
    Iterative,
}

/// Where the Voronoi seeds lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// On spheres round the impact (2016): small pieces there, larger ones farther away.
    #[default]
    Spheres,
    /// Anywhere in the object: pieces of about one size.
    Uniform,
    /// In clusters, the first of them at the impact: crumbs between large pieces.
    Clustered,
    /// On rings round the line of the blow, at equal angles: spokes and rings, as a pane of glass breaks.
    Radial,
    /// Dense across an axis, sparse along it: splinters, as wood breaks.
    Grain,
    /// Between the surface and the middle, more of them near the blow the stronger it is (Chlubna).
    Inward,
    /// Bricks in a running bond that fill the bounds.
    Bricks,
    /// Hexagonal columns that fill the bounds, as basalt cracks.
    Hexagons,
    /// Slabs across an axis.
    Slabs,
    /// Equal boxes that fill the bounds, cut along the axes of the mesh.
    Lattice,
    /// Where cracks of a piece meet the outside: small chips come off, the rest stays one body.
    Chips,
}

crate::names! { Preset:
    Spheres = "spheres", Uniform = "uniform", Clustered = "clustered", Radial = "radial", Grain = "grain",
    Inward = "inward", Bricks = "bricks", Hexagons = "hexagons", Slabs = "slabs", Lattice = "lattice", Chips = "chips",
}

impl Preset {
    /// Whether [`FractureParams::grain_axis`] means something to it.
    #[must_use]
    pub fn has_axis(self) -> bool {
        matches!(self, Self::Grain | Self::Bricks | Self::Hexagons | Self::Slabs)
    }

    /// Whether [`FractureParams::grain_ratio`] means something to it.
    #[must_use]
    pub fn has_ratio(self) -> bool {
        matches!(self, Self::Grain | Self::Bricks | Self::Hexagons)
    }

    /// Whether [`FractureParams::radii`] mean something to it.
    #[must_use]
    pub fn has_radii(self) -> bool {
        matches!(self, Self::Spheres | Self::Radial)
    }

    /// Whether [`FractureParams::counts`] mean something to it.
    #[must_use]
    pub fn has_counts(self) -> bool {
        self.has_radii() || self == Self::Lattice
    }
}

/// What becomes of small pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmallRule {
    /// They join the neighbour that they share most voxels with.
    #[default]
    Merge,
    /// They are taken away; their mass is counted as lost.
    Drop,
}

/// Names a method of breaking that the table of methods has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodId(pub(super) &'static str);

/// Where an object is hit, in the mesh's units.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Impact {
    /// Point on or in the object.
    pub point: DVec3,
    /// Direction of the blow (unit), into the object.
    pub direction: DVec3,
}

/// The smallest piece that stays a piece of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Smallest {
    /// Pieces with fewer voxels are small.
    pub voxels: u64,
    /// Pieces with less than this fraction of the source's volume are small.
    pub fraction: f64,
    /// What becomes of them.
    pub rule: SmallRule,
}

/// How one fracture is computed, beside its [`super::Pattern`].
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
    /// Mean colour of the whole object's surface, which an interior without a colour of its own follows; `None` is
    /// that of the source's own surface. Who breaks pieces of an object again says it, or its inside would change
    /// from piece to piece.
    pub surface_color: Option<[u8; 3]>,
    /// The smallest piece.
    pub smallest: Option<Smallest>,
}

impl Recipe {
    /// The same for a copy of an octree of level `full` whose leaves are at `level`: what counts in leaf voxels
    /// shrinks with them. Seeds are the same at every level.
    ///
    /// # Errors
    /// [`PatternError`] for a transition level that `full` does not have.
    pub fn coarsened(mut self, full: u32, level: u32) -> Result<Self, PatternError> {
        if full == level {
            return Ok(self);
        }
        self.island_level = self.island_level.map(|island| island.min(level));
        if self.surface != Surface::Planar {
            self.crack.transition_level = Some(self.crack.transition(full, self.surface)?.min(level));
            self.crack.dusty.width /= f64::from(1u32 << full.saturating_sub(level));
        }
        Ok(self)
    }
}

/// A parameter out of range: which, and what is wrong with it, to be read after its name.
pub type ParamProblem = (&'static str, String);

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
            smallest: self.smallest,
        }
    }

    /// Limits the levels it names to those that an object of `leaf_level` has.
    pub fn fit(&mut self, leaf_level: u32) {
        let limit =
            |level: &mut u32, lowest: u32| *level = (*level).clamp(lowest.min(leaf_level), leaf_level);
        self.island_level.iter_mut().for_each(|level| limit(level, 1));
        let lowest = CrackShape::lowest_transition(leaf_level);
        self.crack.transition_level.iter_mut().for_each(|level| limit(level, lowest));
    }

    /// Seeds of the pattern where none are solved for.
    #[must_use]
    pub fn seed_count(&self) -> u32 {
        match self.counts.is_empty() {
            true => self.seeds,
            false if self.preset == Preset::Lattice => {
                self.counts.iter().fold(1, |product, count| product.saturating_mul(*count))
            }
            false => self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count)),
        }
    }

    /// Seeds of the pattern at most, as far as that is known before it is drawn: bodies of regular patterns have several, and
    /// dabs add some.
    #[must_use]
    pub fn most_seeds(&self) -> u32 {
        let adds = |dab: &Dab| matches!(dab.kind, Paint::Dense | Paint::Cut);
        let is_known = self.seeds_file.is_none()
            && self.target_pieces.is_none()
            && !matches!(self.preset, Preset::Bricks | Preset::Hexagons | Preset::Slabs | Preset::Chips)
            && !(self.preset == Preset::Lattice && self.counts.is_empty())
            && !self.paint.iter().any(adds);
        if is_known { self.seed_count() } else { MAX_SEEDS }
    }

    /// Whether pieces lose chips after the break.
    #[must_use]
    pub fn chips_follow(&self) -> bool {
        self.chips > 0 && self.preset != Preset::Chips
    }

    /// Whether it makes chips, now or after the break.
    #[must_use]
    pub fn has_chips(&self) -> bool {
        self.chips > 0 || self.preset == Preset::Chips
    }

    /// By which a piece of this break loses `count` chips, with the random seed `rng`. The rest of the piece is the kept body.
    #[must_use]
    pub fn chipping(&self, count: u32, rng: u64) -> Self {
        Self {
            preset: Preset::Chips,
            seeds: count,
            counts: Vec::new(),
            chips: 0,
            seeds_file: None,
            target_pieces: None,
            rng,
            // Bumps of rough cracks are larger than chips.
            surface: Surface::Planar,
            local: None,
            keep: vec![0],
            paint: Vec::new(),
            // A share of the volume is meant of the whole object.
            smallest: self.smallest.map(|rule| Smallest { fraction: 0.0, ..rule }),
            ..self.clone()
        }
    }

    /// What is wrong with parameters that make chips.
    fn chip_problem(&self) -> Option<ParamProblem> {
        let entry = self.method.entry();
        if self.chips > 0 && !(entry.of_voxels && entry.by_seeds) {
            let octree = MethodId::default();
            let what = format!(
                "is {}; chips need pieces of voxels, which the method {} does not make: give the method {octree}, or 0",
                self.chips, self.method
            );
            return Some(("chips", what));
        }
        if self.preset == Preset::Chips && self.surface != Surface::Planar {
            let what = "is not planar; chips are smaller than the bumps of other surfaces: give planar, or another pattern";
            return Some(("surface", what.into()));
        }
        None
    }

    /// The first of the parameters that all methods share that is out of range or contradicts another, if any.
    pub(super) fn shared_problem(&self) -> Option<ParamProblem> {
        let bad = |name, what: String| Some((name, what));
        if !self.counts.is_empty() {
            if !self.preset.has_counts() {
                return bad(
                    "counts",
                    format!("belongs to spheres, rings and the lattice; {} has none", self.preset.name()),
                );
            }
            if self.preset == Preset::Lattice {
                let counts = self.counts.len();
                if counts != 3 {
                    let what =
                        format!("has {counts} entries; a lattice takes three, the cells along x, y and z");
                    return bad("counts", what);
                }
            } else if self.counts.len() != self.radii.len() {
                let (counts, radii) = (self.counts.len(), self.radii.len());
                return bad("counts", format!("has {counts} entries for {radii} radii; give one a radius"));
            }
            if self.target_pieces.is_some() {
                return bad(
                    "counts",
                    "fixes the seeds, target_pieces solves for them; give one of them".into(),
                );
            }
        }
        let seeds = self.seed_count();
        if seeds == 0 || seeds > MAX_SEEDS {
            let name = if self.counts.is_empty() { "seeds" } else { "counts" };
            let more = "for more pieces, break the pieces again";
            return bad(name, format!("is {seeds} in all; it must be from 1 to {MAX_SEEDS} ({more})"));
        }
        if self.target_pieces.is_some() && self.seeds_file.is_some() {
            return bad("target_pieces", "cannot be reached with seeds from a file; give one of them".into());
        }
        if self.preset.has_radii() && self.radii.is_empty() {
            return bad("radii", "is empty; give at least one sphere radius".into());
        }
        let axis = self.grain_axis;
        if !axis.is_finite() || axis.length() < 1e-9 {
            return bad("grain_axis", "must be finite and not zero; [0, 1, 0] is upright".into());
        }
        if let Some(radius) = self.radii.iter().find(|radius| !(**radius > 0.0 && **radius <= MAX_LENGTH)) {
            return bad(
                "radii",
                format!("holds {radius:?}; a radius must be above 0 and at most {MAX_LENGTH}"),
            );
        }
        if let Some(what) = dab::problem(&self.paint) {
            return bad("paint", what);
        }
        if let Some(problem) = self.chip_problem() {
            return Some(problem);
        }
        let fraction = self.smallest.unwrap_or_default().fraction;
        if !(0.0..=1.0).contains(&fraction) {
            return bad("fraction", format!("is {fraction:?}; it must be a number from 0 to 1"));
        }
        Self::rows().find_map(|row| row.problem(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contradiction_names_its_field() {
        assert_eq!(FractureParams::default().problem(), None);
        let two = || FractureParams { radii: vec![0.1, 0.4], counts: vec![3, 9], ..Default::default() };
        assert_eq!((two().problem(), two().seed_count()), (None, 12));
        let cutter = crate::fracture::cutter::METHOD.id();
        for (bad, field, part) in [
            (FractureParams { seeds: 8193, ..Default::default() }, "seeds", "break the pieces again"),
            (FractureParams { seeds: 0, ..Default::default() }, "seeds", "from 1 to 8192"),
            (FractureParams { counts: vec![3], ..two() }, "counts", "1 entries for 2 radii"),
            (FractureParams { counts: vec![8000, 8000], ..two() }, "counts", "16000"),
            (FractureParams { counts: vec![u32::MAX, 8], ..two() }, "counts", "from 1 to 8192"),
            (FractureParams { preset: Preset::Grain, ..two() }, "counts", "grain has none"),
            (FractureParams { preset: Preset::Lattice, ..two() }, "counts", "2 entries; a lattice"),
            (
                FractureParams { preset: Preset::Lattice, counts: vec![300, 300, 300], ..two() },
                "counts",
                "27000000 in all",
            ),
            (
                FractureParams { preset: Preset::Lattice, counts: vec![2, 0, 2], ..two() },
                "counts",
                "from 1 to 8192",
            ),
            (FractureParams { target_pieces: Some(4), ..two() }, "counts", "target_pieces"),
            (FractureParams { target_pieces: Some(0), ..Default::default() }, "target_pieces", "0"),
            (FractureParams { radii: vec![], ..Default::default() }, "radii", "empty"),
            (FractureParams { radii: vec![f64::INFINITY], ..Default::default() }, "radii", "inf"),
            (FractureParams { radii: vec![-1.0], ..Default::default() }, "radii", "above 0"),
            (FractureParams { grain_axis: DVec3::ZERO, ..Default::default() }, "grain_axis", "not zero"),
            (FractureParams { grain_ratio: 0.5, ..Default::default() }, "grain_ratio", "0.5"),
            (FractureParams { clusters: 0, ..Default::default() }, "clusters", "0"),
            (FractureParams { chips: 5000, ..Default::default() }, "chips", "from 0 to 4096"),
            (
                FractureParams { chips: 5, method: cutter, ..Default::default() },
                "chips",
                "give the method octree",
            ),
            (FractureParams { chip_size: -1.0, ..Default::default() }, "chip_size", "-1"),
            (FractureParams { chip_spread: 1.0, ..Default::default() }, "chip_spread", "0.9"),
            (
                FractureParams { preset: Preset::Chips, surface: Surface::Rough, ..Default::default() },
                "surface",
                "give planar",
            ),
        ] {
            let (name, what) = bad.problem().unwrap();
            assert_eq!(name, field, "{what}");
            assert!(what.contains(part), "{part} in {what}");
        }
        let blocks = FractureParams { preset: Preset::Lattice, counts: vec![5, 4, 3], ..Default::default() };
        assert_eq!((blocks.problem(), blocks.seed_count(), blocks.most_seeds()), (None, 60, 60));
        // A pattern without spheres needs no radii.
        let none = FractureParams { preset: Preset::Uniform, radii: vec![], ..Default::default() };
        assert_eq!(none.problem(), None);
    }
}
