//! What a brush has painted on an object: dabs that change where the object cracks and what holds its pieces.
//!
//! In: a scene or the window. Out: places, radii and amounts, which the pattern of seeds and the bonds read.

use glam::DVec3;

/// What a dab changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paint {
    /// More seeds, so smaller pieces. The seeds that the pattern has anyway stay where they are.
    #[default]
    Dense,
    /// No crack: cells that meet in the dab stay together.
    Whole,
    /// A crack along a stroke, into the depth.
    Cut,
    /// Weaker bonds, where bonds hold the pieces.
    Weak,
    /// Pieces that cannot move, where bonds hold the pieces.
    Anchor,
}

crate::names! { Paint: Dense = "dense", Whole = "whole", Cut = "cut", Weak = "weak", Anchor = "anchor" }

impl Paint {
    /// The amount of a dab that gives none: seeds that it adds, or the share of a bond's strength that remains; 0 where
    /// an amount means nothing.
    #[must_use]
    pub fn usual_amount(self) -> f64 {
        match self {
            Self::Dense => 4.0,
            Self::Weak => 0.3,
            Self::Whole | Self::Cut | Self::Anchor => 0.0,
        }
    }
}

/// One dab of the brush: a ball round a point of the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dab {
    /// What it changes.
    pub kind: Paint,
    /// Index of the painted body in its scene. A scene file leaves it out: the dabs stand below their body.
    #[serde(default, skip_serializing_if = "crate::parameter::is_default")]
    pub body: u32,
    /// Its middle in shape space, m.
    pub at: DVec3,
    /// Its radius, m.
    pub radius: f64,
    /// [`Paint::Dense`]: seeds that it adds, a whole number. [`Paint::Weak`]: share of a bond's strength that remains. Absent:
    /// [`Paint::usual_amount`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// [`Paint::Cut`]: where the crack comes from, shape space, m: the middle of the dab before it in its stroke. Absent: the
    /// stroke begins here, and this dab cuts nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<DVec3>,
    /// [`Paint::Cut`]: direction in shape space in which the crack goes into the depth, of any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<DVec3>,
}

/// Most dabs in one list: those of one body in a scene, those of all objects in the window.
pub const MAX_DABS: usize = 10_000;
/// Most seeds of one dab.
const MAX_SEEDS_OF_DAB: f64 = 1000.0;

impl Dab {
    /// The amount, or the usual one.
    #[must_use]
    pub fn amount(&self) -> f64 {
        self.amount.unwrap_or(self.kind.usual_amount())
    }

    /// Whether a point of shape space (m) lies in the dab.
    #[must_use]
    pub fn covers(&self, point: DVec3) -> bool {
        point.distance_squared(self.at) <= self.radius * self.radius
    }

    /// What is wrong with it.
    fn problem(&self) -> Option<String> {
        let is_finite = |p: Option<DVec3>| p.is_none_or(DVec3::is_finite);
        if !(self.at.is_finite() && is_finite(self.from)) {
            return Some("has a dab whose place is not finite".into());
        }
        if !(self.radius > 0.0 && self.radius <= 1e6) {
            return Some(format!(
                "has a dab of radius {:?} m; it must be above 0 and at most 1000000",
                self.radius
            ));
        }
        let direction = self.direction.unwrap_or_default();
        if !direction.is_finite() || (self.direction.is_some() && direction.try_normalize().is_none()) {
            return Some(format!("has a dab with the direction {direction}; it must be finite and not zero"));
        }
        let amount = self.amount();
        match self.kind {
            Paint::Cut if self.from.is_some() && self.direction.is_none() => Some(
                "has a cut dab with \"from\" and no \"direction\"; give the direction into the depth".into(),
            ),
            Paint::Dense if !(amount.fract() == 0.0 && (0.0..=MAX_SEEDS_OF_DAB).contains(&amount)) => {
                Some(format!("has a dense dab of {amount:?} seeds; it must be a whole number from 0 to 1000"))
            }
            Paint::Weak if !(0.0..=1.0).contains(&amount) => Some(format!(
                "has a weak dab with the share {amount:?} of the strength; it must be from 0 to 1"
            )),
            _ => None,
        }
    }
}

/// The first thing that is wrong with a list of dabs.
pub(super) fn problem(paint: &[Dab]) -> Option<String> {
    if paint.len() > MAX_DABS {
        return Some(format!(
            "has {} dabs; at most {MAX_DABS} are read: use fewer and larger ones",
            paint.len()
        ));
    }
    paint.iter().find_map(Dab::problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dab_reads_as_it_was_written_and_bad_ones_are_named() {
        let text = "kind = \"dense\"\nat = [0, 1, 2]\nradius = 0.5";
        let dab: Dab = toml::from_str(text).unwrap();
        assert_eq!((dab.amount(), dab.body), (4.0, 0));
        assert_eq!(toml::from_str::<Dab>(&toml::to_string(&dab).unwrap()).unwrap(), dab);
        assert!(dab.covers(DVec3::new(0.0, 1.5, 2.0)) && !dab.covers(DVec3::new(0.0, 1.51, 2.0)));
        assert_eq!(problem(&[dab]), None);
        let weak = |amount| Dab { kind: Paint::Weak, amount: Some(amount), ..dab };
        for (bad, part) in [
            (Dab { at: DVec3::NAN, ..dab }, "not finite"),
            (Dab { radius: 0.0, ..dab }, "radius"),
            (Dab { radius: f64::INFINITY, ..dab }, "radius"),
            (Dab { amount: Some(1.5), ..dab }, "whole number"),
            (Dab { amount: Some(1e9), ..dab }, "whole number"),
            (Dab { from: Some(DVec3::INFINITY), ..dab }, "not finite"),
            (Dab { direction: Some(DVec3::ZERO), ..dab }, "not zero"),
            (Dab { kind: Paint::Cut, from: Some(DVec3::ZERO), ..dab }, "no \"direction\""),
            (weak(1.1), "from 0 to 1"),
            (weak(f64::NAN), "from 0 to 1"),
        ] {
            let what = problem(&[dab, bad]).unwrap();
            assert!(what.contains(part), "{part} in {what}");
        }
        assert!(problem(&vec![dab; MAX_DABS + 1]).unwrap().contains("10001"));
    }
}
