//! How a field names its fragments, and why there is no field or why it did not change.

/// Id of a fragment of a family; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FragmentId(pub u32);

impl FragmentId {
    /// The unbroken object.
    pub const WHOLE: Self = Self(0);
    /// The id in nodes that lie in no fragment.
    pub(super) const NOBODY: Self = Self(u32::MAX);
}

/// Why a field was not made or changed. The field is then as before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// The level of the field's cells cannot be.
    #[error("field level {asked} is outside 1 to {finest}; choose one of these (5 suits octrees of level 7)")]
    Level {
        /// The level that was asked for.
        asked: u32,
        /// The finest that this object can have.
        finest: u32,
    },
    /// There is no solid.
    #[error("a distance field needs a shape with something in it; leave empty shapes out")]
    Empty,
    /// The fragment is not there, or has broken before.
    #[error("the field has no fragment {}; use the fragments that its last update returned", .0.0)]
    Fragment(FragmentId),
    /// A new fragment lies on another grid, or is of another kind, than the object.
    #[error("part {0} is not on the object's own grid; give parts as the fracture made them")]
    Grid(usize),
    /// The list of parts is empty.
    #[error("a fragment breaks into at least one part; remove it instead")]
    NoParts,
}
