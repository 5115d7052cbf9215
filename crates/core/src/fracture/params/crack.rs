//! What the user can tune about crack surfaces, and its ranges.

use serde::{Deserialize, Serialize};

use super::{FractureParams, PatternError, Surface};
use crate::{
    parameter::{Parameter, Row, rows},
    svo::MAX_LEVEL,
};

/// Where an edge separation point lies between the two corners that it separates: f(a, b) of 2018, eq. 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Offset {
    /// The balance point of the corners' two random weights; the pattern only says which edges are cut.
    Balance,
    /// Where the Voronoi face crosses the edge, moved by the difference of the weights.
    #[default]
    Plane,
}

/// Who decides which side of the crack an untouched boundary leaf lies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// The region that its centre lies in: exact.
    #[default]
    Cone,
    /// The side that most triangles of the transition voxel vote for (2018, sec. 5.3). It leaves holes; kept for
    /// comparison.
    Votes,
}

/// The random weights of corners: value noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrackNoise {
    /// `plane`: the largest shift of an edge point, in transition voxel edges. `balance`: 0 keeps the middle, 1 is
    /// the balance point. 0 to 1.
    pub amplitude: f64,
    /// Lattice cells along the grid's side, 1 to 4096.
    pub frequency: u32,
    /// Layers of noise, each of twice the frequency and half the weight, 1 to 5.
    pub octaves: u32,
}

impl Default for CrackNoise {
    fn default() -> Self {
        Self { amplitude: 0.6, frequency: 48, octaves: 2 }
    }
}

/// How far separation points stray from the mean of the points that they join, in transition voxel edges, 0 to 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Displacement {
    /// Face separation points, within their face.
    pub face: f64,
    /// Voxel separation points.
    pub voxel: f64,
}

impl Default for Displacement {
    fn default() -> Self {
        Self { face: 0.15, voxel: 0.15 }
    }
}

/// The gap of a dusty surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dusty {
    /// Width in leaf voxels, 0 to 16.
    pub width: f64,
    /// How much narrower the gap gets here and there: 0 everywhere the same, 1 down to nothing.
    pub irregularity: f64,
}

impl Default for Dusty {
    fn default() -> Self {
        Self { width: 1.5, irregularity: 0.5 }
    }
}

/// Transition level of rough surfaces where none is asked for: 16 voxels a side give bent, concave pieces as
/// pottery breaks (2018, fig. 7). The same at every leaf level, so more detail shows the same cracks more finely.
const ROUGH_TRANSITION: u32 = 4;

/// Edge of a transition voxel in its own units: all lengths inside such a voxel are whole numbers of them.
pub const UNITS: i32 = 512;

/// Levels from a transition voxel down to its leaves, at most: a leaf is two units wide or more, so that its middle, and
/// with it half of its edge, are whole numbers of units.
const MOST_BELOW: u32 = UNITS.ilog2() - 1;

/// Parameters of rough and dusty surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrackShape {
    /// Level of the voxels that carry the crack surfaces, 2 to the leaf level; `None` leaves it to the surface, see
    /// [`CrackShape::transition`].
    pub transition_level: Option<u32>,
    /// f(a, b).
    pub offset: Offset,
    /// `plane` only: 1 takes the Voronoi face where it is, 0 the middle of the edge.
    pub strength: f64,
    /// Weights of corners.
    pub noise: CrackNoise,
    /// Face and voxel separation points.
    pub displacement: Displacement,
    /// Side of untouched boundary leaves.
    pub sides: Sides,
    /// Dusty surfaces only.
    pub dusty: Dusty,
}

impl Default for CrackShape {
    fn default() -> Self {
        Self {
            transition_level: None,
            offset: Offset::default(),
            strength: 1.0,
            noise: CrackNoise::default(),
            displacement: Displacement::default(),
            sides: Sides::default(),
            dusty: Dusty::default(),
        }
    }
}

impl CrackShape {
    /// Whether every value lies in its range.
    ///
    /// # Errors
    /// [`PatternError::Bad`] with the value and the range.
    pub fn check(&self) -> Result<(), PatternError> {
        let params = FractureParams { crack: *self, ..FractureParams::default() };
        let problem = CRACK.iter().find_map(|row| row.problem(&params));
        problem.map_or(Ok(()), |(name, what)| Err(PatternError::Bad(format!("{name} {what}"))))
    }

    /// The transition level on a grid of `leaf_level`: what was asked for, else 4 or the leaf level for rough
    /// surfaces and three above the leaves, at least 2, for dusty ones: where three objects meet, the gap is about
    /// a transition voxel wide.
    ///
    /// # Errors
    /// [`PatternError::Bad`] for a level that is not [`CrackShape::lowest_transition`] to the leaf level.
    pub fn transition(&self, leaf_level: u32, surface: Surface) -> Result<u32, PatternError> {
        let lowest = Self::lowest_transition(leaf_level);
        let level = self.transition_level.unwrap_or(match surface {
            Surface::Dusty => leaf_level.saturating_sub(3).max(lowest),
            Surface::Planar | Surface::Rough => ROUGH_TRANSITION.min(leaf_level),
        });
        if !(lowest..=leaf_level).contains(&level) {
            return Err(PatternError::Bad(format!(
                "transition level {level} is outside {lowest} to the leaf level {leaf_level} (a transition voxel \
                 has room for leaves {MOST_BELOW} levels below it); give one of these, or leave it out"
            )));
        }
        Ok(level)
    }

    /// The lowest transition level on a grid of `leaf_level`: 2, or the leaf level where that is lower, and on the
    /// finest grids as many levels above the leaves as a transition voxel has room for: 3 at level 11, 4 at level 12.
    #[must_use]
    pub fn lowest_transition(leaf_level: u32) -> u32 {
        leaf_level.min(2).max(leaf_level.saturating_sub(MOST_BELOW))
    }
}

fn is_cracked(params: &FractureParams) -> bool {
    params.surface != Surface::Planar
}

fn is_rough(params: &FractureParams) -> bool {
    params.surface == Surface::Rough
}

fn is_dusty(params: &FractureParams) -> bool {
    params.surface == Surface::Dusty
}

/// Crack surfaces, in the order of the panel.
pub const CRACK: &[Row<FractureParams>] = rows! { FractureParams;
    number crack.dusty.width = Parameter::number("Gap", (0.0, 16.0), "Dusty: width of the gap between two pieces, in \
         leaf voxels, where it is widest; what lay in it is lost as dust").unit(" vx", 1).undo("gap")
        .more("[how](fracture.md#dusty-surfaces)"), if is_dusty;
    number crack.dusty.irregularity = Parameter::number("Irregularity", (0.0, 1.0), "Dusty: how unevenly wide the \
         gap is: 0 the same everywhere, 1 down to nothing here and there").undo("irregularity of the gap"), if is_dusty;
    number crack.transition_level = Parameter::whole("Transition", (1.0, MAX_LEVEL as f64), "Size of the crack's \
         bumps: low gives big, bent chunks, high follows the gold seams").option("transition-level")
        .undo("transition level").unset("4; dusty: three above the leaves")
        .more("the octree level whose voxels carry the crack surfaces, 2 (at level 11: 3, at level 12: 4) to the leaf level"),
        if is_cracked;
    number crack.noise.amplitude = Parameter::number("Roughness", (0.0, 1.0), "How far noise moves the crack away \
         from the cells' faces, in edges of a transition voxel").undo("roughness"), if is_cracked;
    number crack.noise.frequency = Parameter::whole("Frequency", (1.0, 4096.0), "Size of the bumps: patches along \
         the grid's side").logarithmic(1.0, 512.0).undo("frequency of the noise"), if is_cracked;
    number crack.noise.octaves = Parameter::whole("Octaves", (1.0, 5.0), "Number of layers of bumps, each finer than \
         the one before").undo("octaves of the noise"), if is_cracked;
    number crack.displacement.face = Parameter::number("Jagged edges", (0.0, 0.5), "How torn the edges of the \
         crack's facets are: 0 smooth, 0.5 wild").undo("jagged edges")
        .more("rough; random shift of the facets' corners on the walls between the crack's voxels, in their edges"),
        if is_rough;
    number crack.displacement.voxel = Parameter::number("Jagged peaks", (0.0, 0.5), "How spiky the middles of the \
         crack's facets are: 0 smooth, 0.5 wild").undo("jagged peaks")
        .more("rough; random shift of the facets' corners inside the crack's voxels, in their edges"), if is_rough;
    value crack.sides = Parameter::new("Sides", "Leave it at exact (\"cone\"); \"votes\" is the published rule, to \
         compare, and leaves holes").undo("sides of the crack")
        .more("rough; the rule for the side of leaves that no crack touches"), if is_rough;
    value crack.offset = Parameter::new("Follows", "Where the crack crosses an edge of its grid: \"plane\", the \
         Voronoi face moved by noise, or \"balance\", by noise alone").undo("what the crack follows"), if is_cracked;
    number crack.strength = Parameter::number("Pull", (0.0, 1.0), "How closely the crack keeps to the gold seams: 1 \
         along them, 0 wanders").option("strength").undo("pull of the cells")
        .more("\"plane\" only; how strongly the cells' faces pull against the middle of the edge"),
        if |params| is_cracked(params) && params.crack.offset == Offset::Plane;
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        assert_eq!(CrackShape::default().check(), Ok(()));
        let refused = |change: &dyn Fn(&mut CrackShape)| {
            let mut shape = CrackShape::default();
            change(&mut shape);
            shape.check().expect_err("out of range").to_string()
        };
        assert!(
            refused(&|s| s.strength = f64::NAN).contains("strength is NaN; it must be a number from 0 to 1")
        );
        assert!(refused(&|s| s.noise.amplitude = -0.1).contains("amplitude"));
        assert!(
            refused(&|s| s.displacement.face = 0.6)
                .contains("face is 0.6; it must be a number from 0 to 0.5")
        );
        assert!(refused(&|s| s.displacement.voxel = f64::INFINITY).contains("voxel is inf"));
        assert!(refused(&|s| s.noise.frequency = 0).contains("frequency"));
        assert!(refused(&|s| s.noise.octaves = 6).contains("octaves is 6; it must be from 1 to 5"));
        assert!(refused(&|s| s.dusty.width = 17.0).contains("width"));
        assert!(refused(&|s| s.dusty.irregularity = f64::NAN).contains("irregularity"));
    }

    #[test]
    fn rough_cracks_keep_their_transition_level_and_dusty_ones_follow_the_leaves() {
        let shape = CrackShape::default();
        let levels = |surface| (1..=10).map(|l| shape.transition(l, surface).unwrap()).collect::<Vec<u32>>();
        assert_eq!(levels(Surface::Rough), [1, 2, 3, 4, 4, 4, 4, 4, 4, 4]);
        assert_eq!(levels(Surface::Dusty), [1, 2, 2, 2, 2, 3, 4, 5, 6, 7]);
        let at = |level| CrackShape { transition_level: Some(level), ..shape };
        assert_eq!(at(9).transition(9, Surface::Rough), Ok(9));
        assert!(
            at(10)
                .transition(9, Surface::Rough)
                .unwrap_err()
                .to_string()
                .contains("outside 2 to the leaf level 9")
        );
        assert!(at(1).transition(9, Surface::Rough).is_err());
    }

    #[test]
    fn a_leaf_has_a_middle_at_every_level_and_transition_level() {
        let lowest: Vec<u32> = (1..=MAX_LEVEL).map(CrackShape::lowest_transition).collect();
        assert_eq!(lowest, [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4]);
        for leaf in 1..=MAX_LEVEL {
            let lowest = CrackShape::lowest_transition(leaf);
            // Half of a leaf's edge, units.
            assert!(UNITS >> (leaf - lowest) >= 2, "level {leaf}, transition level {lowest}");
            for surface in [Surface::Rough, Surface::Dusty] {
                let at = |level| {
                    CrackShape { transition_level: Some(level), ..CrackShape::default() }
                        .transition(leaf, surface)
                };
                assert_eq!(at(lowest), Ok(lowest));
                assert!(CrackShape::default().transition(leaf, surface).is_ok(), "level {leaf}, {surface:?}");
                let refused = at(lowest - 1).expect_err("below the lowest").to_string();
                assert!(refused.contains(&format!("outside {lowest} to the leaf level {leaf}")), "{refused}");
                assert!(refused.contains("8 levels below") && !refused.contains('\n'), "{refused}");
            }
        }
        // Parameters that come from another object are fitted to what this one has.
        let mut params = FractureParams::default();
        params.crack.transition_level = Some(2);
        params.fit(12);
        assert_eq!(params.crack.transition_level, Some(4));
        // The help of the row names the two levels at which the lowest is not 2.
        let row = CRACK.iter().find(|row| row.of.field() == "transition_level").expect("it is in the table");
        assert!(row.of.more.contains("at level 11: 3, at level 12: 4"), "{}", row.of.more);
    }

    #[test]
    fn a_file_may_leave_fields_out_but_not_invent_them() {
        let shape: CrackShape = toml::from_str("strength = 0.5\nnoise = { octaves = 3 }").unwrap();
        assert_eq!(
            (shape.strength, shape.noise.octaves, shape.noise.amplitude),
            (0.5, 3, CrackNoise::default().amplitude)
        );
        assert!(toml::from_str::<CrackShape>("strenght = 0.5").is_err());
    }
}
