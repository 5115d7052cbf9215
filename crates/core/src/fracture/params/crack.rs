//! What the user can tune about crack surfaces, and its ranges.

use serde::{Deserialize, Serialize};

use super::{PatternError, Surface};

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

/// A transition voxel has 1024 units a side, and a leaf at least two of them: it has a middle.
const MOST_BELOW: u32 = 9;

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
        let within = |what: &str, value: f64, end: f64| {
            // NaN is in no range.
            if (0.0..=end).contains(&value) {
                return Ok(());
            }
            Err(PatternError::Bad(format!("{what} must be 0 to {end}, not {value:?}")))
        };
        within("the crack's strength", self.strength, 1.0)?;
        within("the amplitude of the crack's noise", self.noise.amplitude, 1.0)?;
        within("the displacement of the crack's face points", self.displacement.face, 0.5)?;
        within("the displacement of the crack's voxel points", self.displacement.voxel, 0.5)?;
        within("the width of the dust gap (leaf voxels)", self.dusty.width, 16.0)?;
        within("the irregularity of the dust gap", self.dusty.irregularity, 1.0)?;
        if !(1..=4096).contains(&self.noise.frequency) {
            return Err(PatternError::Bad(format!(
                "the frequency of the crack's noise must be 1 to 4096 cells a grid side, not {}",
                self.noise.frequency
            )));
        }
        if !(1..=5).contains(&self.noise.octaves) {
            return Err(PatternError::Bad(format!(
                "the crack's noise takes 1 to 5 octaves, not {}",
                self.noise.octaves
            )));
        }
        Ok(())
    }

    /// The transition level on a grid of `leaf_level`: what was asked for, else 4 or the leaf level for rough
    /// surfaces and three above the leaves, at least 2, for dusty ones: where three objects meet, the gap is about
    /// a transition voxel wide.
    ///
    /// # Errors
    /// [`PatternError::Bad`] for a level that is not 2 to the leaf level, or more than nine above the leaves.
    pub fn transition(&self, leaf_level: u32, surface: Surface) -> Result<u32, PatternError> {
        let lowest = leaf_level.min(2).max(leaf_level.saturating_sub(MOST_BELOW));
        let level = self.transition_level.unwrap_or(match surface {
            Surface::Dusty => leaf_level.saturating_sub(3).max(lowest),
            Surface::Planar | Surface::Rough => ROUGH_TRANSITION.min(leaf_level),
        });
        if !(lowest..=leaf_level).contains(&level) {
            return Err(PatternError::Bad(format!(
                "transition level {level} is outside {lowest} to the leaf level {leaf_level}; give one of \
                 these, or leave it out"
            )));
        }
        Ok(level)
    }
}

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
        assert!(refused(&|s| s.strength = f64::NAN).contains("strength must be 0 to 1, not NaN"));
        assert!(refused(&|s| s.noise.amplitude = -0.1).contains("amplitude"));
        assert!(refused(&|s| s.displacement.face = 0.6).contains("face points must be 0 to 0.5, not 0.6"));
        assert!(refused(&|s| s.displacement.voxel = f64::INFINITY).contains("voxel points"));
        assert!(refused(&|s| s.noise.frequency = 0).contains("frequency"));
        assert!(refused(&|s| s.noise.octaves = 6).contains("1 to 5 octaves"));
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
    fn a_file_may_leave_fields_out_but_not_invent_them() {
        let shape: CrackShape = toml::from_str("strength = 0.5\nnoise = { octaves = 3 }").unwrap();
        assert_eq!(
            (shape.strength, shape.noise.octaves, shape.noise.amplitude),
            (0.5, 3, CrackNoise::default().amplitude)
        );
        assert!(toml::from_str::<CrackShape>("strenght = 0.5").is_err());
    }
}
