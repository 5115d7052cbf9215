//! Options of generators and responses, as scene files and reports hold them: under names of their own, and also in a
//! build without the generator or the response.

/// Contact level of two bodies of the scene and their pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PairLevel {
    /// Indices of the bodies, from 0; the same index twice means pieces of one body among themselves.
    pub bodies: [usize; 2],
    /// Octree level of both.
    pub level: u32,
}

/// Level of the cells of distance fields where a scene gives none.
pub const FIELD_LEVEL: u32 = 5;

/// Finest level of the cells of distance fields.
pub const MAX_FIELD_LEVEL: u32 = 7;

/// Contacts of a query of distance fields that are enough, where a scene gives no number.
pub(super) const FIELD_POINTS: u32 = 8;

/// Depth up to which contacts of distance fields may be left out where a scene gives none, a share of the radius.
pub(super) const FIELD_EPSILON: f64 = 0.002;

/// Points that a query of distance fields adds to the first ones (Glondu and others 2012, sec. 5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldSelection {
    /// Points deeper than the deepest contact so far.
    #[default]
    Deepest,
    /// All points deeper than epsilon, as published.
    Epsilon,
}

impl FieldSelection {
    /// As the option of the generator has it.
    pub(super) fn as_number(self) -> f64 {
        match self {
            Self::Deepest => 0.0,
            Self::Epsilon => 1.0,
        }
    }
}

/// Constants of the response `penalty`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Penalty {
    /// N/m^5: a volume times an area.
    pub stiffness: f64,
    /// N s/m^3: a speed times an area.
    pub friction: f64,
}

impl Default for Penalty {
    fn default() -> Self {
        Self { stiffness: 1e8, friction: 2000.0 }
    }
}
