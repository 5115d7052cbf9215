//! Slices: planes that cut the scene's bodies open and show, on the cut, a quantity of their voxels.
//!
//! In: planes in the world, bodies where they are drawn. Out: planes for the renderer, which leaves out what lies beyond, and
//! an overlay of coloured octants with their edges, and of the cross-sections of meshes.

mod draw;
mod mesh_section;
mod section;
#[cfg(test)]
mod tests;

use glam::DVec3;

pub(super) use draw::{SliceScene, SliceView, clips};
pub use draw::{Sliced, draw_slices};
pub use section::{CutOctant, Plane, section};

use super::coloring::Quantity;
use crate::render::Clip;

/// Most slices of a scene that open bodies: frames have room for so many planes.
pub const MOST_OPENING: usize = crate::render::Clips::MOST;

/// Farthest place of a slice, m.
const FARTHEST: f64 = 1e6;

/// A slice through the world.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slice {
    /// Towards what is taken away; any length but zero.
    pub normal: DVec3,
    /// Distance of the plane from the world's origin along the normal, m.
    pub at: f64,
    /// What its colours mean; absent: the material inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show: Option<Quantity>,
    /// Whether the edges of voxels and octants are drawn.
    pub lines: bool,
    /// Whether bodies are not drawn beyond it.
    pub opens: bool,
    /// How it moves; absent: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swing: Option<Swing>,
}

/// A slice's way there and back.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Swing {
    /// Where it turns back, m along the normal.
    pub to: f64,
    /// Time there and back, s of the scene.
    pub period: f64,
}

impl Default for Slice {
    fn default() -> Self {
        Self { normal: DVec3::Z, at: 0.0, show: None, lines: false, opens: true, swing: None }
    }
}

impl Slice {
    /// Where it is at a time (s of the scene): distance from the origin, m.
    #[must_use]
    pub fn at_time(&self, time: f64) -> f64 {
        let Some(Swing { to, period }) = self.swing.filter(|swing| swing.period > 0.0) else {
            return self.at;
        };
        let part = (time / period).rem_euclid(1.0);
        self.at + (to - self.at) * (1.0 - (2.0 * part - 1.0).abs())
    }

    /// Unit normal.
    #[must_use]
    pub fn unit(&self) -> DVec3 {
        self.normal.try_normalize().unwrap_or(DVec3::Z)
    }

    /// The renderer's plane, if it opens bodies.
    #[must_use]
    pub fn clip(&self, time: f64) -> Option<Clip> {
        self.opens.then(|| Clip { normal: self.unit().as_vec3(), at: self.at_time(time) as f32 })
    }

    /// What is wrong with it: the name of a value, and what is wrong with that.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        if !self.normal.is_finite() || self.normal.try_normalize().is_none() {
            return Err(("normal", "must be three numbers that are not all 0".into()));
        }
        let is_near = |at: f64| (-FARTHEST..=FARTHEST).contains(&at);
        if !is_near(self.at) {
            return Err(("at", format!("is {}; it must be from -{FARTHEST} to {FARTHEST} m", self.at)));
        }
        match self.swing {
            Some(swing) if !is_near(swing.to) || !(1e-3..=1e6).contains(&swing.period) => Err((
                "swing",
                "must have `to` within a million metres and `period` from 0.001 to 1e6 s".into(),
            )),
            _ => Ok(()),
        }
    }
}

/// A slice as commands have it: an axis of the world and a place along it, as in `z0.4`, or hundredths of what there is, as in
/// `z50%`; then perhaps `:` and a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceOrder {
    /// The axis: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where along it.
    pub place: SlicePlace,
    /// What its colours mean.
    pub show: Option<Quantity>,
}

/// A place along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlicePlace {
    /// From the world's origin, m.
    Metres(f64),
    /// A share of the extent of all bodies, 0 to 1.
    Share(f64),
}

impl std::str::FromStr for SliceOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` should be an axis, a place and perhaps a quantity, as in z50%, y0.3 or x50%:coverage"
            )
        };
        let (place, show) = text.split_once(':').map_or((text, None), |(place, show)| (place, Some(show)));
        let show = show.map(str::parse).transpose()?;
        let mut letters = place.chars();
        let axis = letters.next().and_then(|letter| "xyz".find(letter)).ok_or_else(wrong)?;
        let rest = letters.as_str();
        let number =
            |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong);
        let place = match rest.strip_suffix('%') {
            Some(share) => SlicePlace::Share(
                Some(number(share)? / 100.0).filter(|s| (0.0..=1.0).contains(s)).ok_or_else(wrong)?,
            ),
            None => SlicePlace::Metres(number(rest)?),
        };
        Ok(Self { axis, place, show })
    }
}

impl SliceOrder {
    /// The slice through bodies within bounds (world, m). It takes away what is nearer to `eye`.
    #[must_use]
    pub fn slice(&self, (low, high): (DVec3, DVec3), eye: DVec3) -> Slice {
        let axis = self.axis.min(2);
        let at = match self.place {
            SlicePlace::Metres(at) => at,
            SlicePlace::Share(share) => low[axis] + (high[axis] - low[axis]) * share,
        };
        let sign = if eye[axis] < at { -1.0 } else { 1.0 };
        Slice { normal: DVec3::AXES[axis] * sign, at: at * sign, show: self.show, ..Slice::default() }
    }
}
