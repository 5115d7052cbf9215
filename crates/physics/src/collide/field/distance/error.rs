//! Why there is no field, or why it did not change.

use super::FragmentId;

/// What is wrong with what was asked for. The field is then as before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// The level of the field's cells cannot be.
    #[error("field level {asked} is outside 1 to {finest}; choose one of these (5 suits octrees of level 7)")]
    Level {
        /// What was asked for.
        asked: u32,
        /// The finest that this object can have.
        finest: u32,
    },
    /// There is no solid.
    #[error("a distance field needs a shape with something in it; leave empty shapes out")]
    Empty,
    /// The fragment is not there, or has broken before.
    #[error("the field has no fragment {}; ask for those that its last update named", .0.0)]
    Fragment(FragmentId),
    /// A new fragment lies on another grid, or is of another kind, than the object.
    #[error("part {0} is not on the object's own grid; give parts as the fracture made them")]
    Grid(usize),
    /// Nothing would be left.
    #[error("a fragment breaks into at least one part; remove it instead")]
    NoParts,
}
