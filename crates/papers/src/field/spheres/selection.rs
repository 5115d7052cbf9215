//! Parameters of a query of a sphere forest: the relative pose, and which contacts are enough.

use super::{forest::SphereForest, planes::HalfSpace};
use glam::{DMat4, DVec3};

/// Where the forest's body lies in the local space of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    other_from_own: DMat4,
    /// Units of the other for one of the forest's, not rounded down.
    scale: f64,
}

impl Placement {
    /// From a rotation, translation and uniform scale: local space of the forest's body to that of the other.
    #[must_use]
    pub fn new(other_from_own: DMat4) -> Self {
        let axis = |axis: DVec3| other_from_own.transform_vector3(axis).length();
        let longest = axis(DVec3::X).max(axis(DVec3::Y)).max(axis(DVec3::Z));
        Self { other_from_own, scale: longest * (1.0 + 8.0 * f64::EPSILON) }
    }

    /// The transform, as it was given.
    pub(super) fn matrix(&self) -> DMat4 {
        self.other_from_own
    }

    /// Units of the other for one of the forest's.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// A point of the forest in the other's local space.
    #[must_use]
    pub fn place(&self, point: DVec3) -> DVec3 {
        self.other_from_own.transform_point3(point)
    }

    /// More than what rounding moves points of a forest by, units of the other.
    pub(super) fn slack(&self, forest: &SphereForest) -> f64 {
        let (centre, radius) = forest.bound;
        let reach = self.other_from_own.w_axis.truncate().length() + self.scale * (centre.length() + radius);
        64.0 * f64::EPSILON * reach
    }
}

/// Contacts that are searched beyond [`Selection::enough`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// All that is deeper than epsilon, as in the paper.
    #[default]
    Epsilon,
    /// Only what is deeper by epsilon than the deepest contact so far: hardly more than enough, however deep.
    Deepest,
    /// None: the query only tests whether anything touches.
    Nothing,
}

/// How contacts are chosen. Lengths are local units of the other body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Number of contacts that are enough; `None`: all.
    pub enough: Option<usize>,
    /// Depth up to which contacts may be left out. The paper: 0.2 % of the object's radius.
    pub epsilon: f64,
    /// Points outside that are so near are contacts, too; for steps in which something breaks. Not negative.
    pub tolerance: f64,
    /// Contacts that are searched beyond enough.
    pub beyond: Beyond,
    /// Whether directions need not be the best: [`TreeContact::way`](super::TreeContact::way) computes those of the few
    /// that are kept.
    pub quick: bool,
    /// Additional distance of the search for the bounds of the next query; after a motion of eight times this distance
    /// everything is tested again.
    pub slack: f64,
    /// Only points in this half-space, which contains all that may touch, are searched; local space of the other. Must
    /// be `None` with kept data.
    pub below: Option<HalfSpace>,
}

impl Selection {
    /// Eight contacts, and epsilon 0.2 % of the radius (local units of the other body), as in the paper.
    #[must_use]
    pub fn of_radius(radius: f64) -> Self {
        Self {
            enough: Some(8),
            epsilon: 0.002 * radius,
            tolerance: 0.0,
            beyond: Beyond::default(),
            quick: false,
            slack: 0.0,
            below: None,
        }
    }

    /// All contacts.
    #[must_use]
    pub fn all() -> Self {
        Self {
            enough: None,
            epsilon: 0.0,
            tolerance: 0.0,
            beyond: Beyond::default(),
            quick: false,
            slack: 0.0,
            below: None,
        }
    }
}
