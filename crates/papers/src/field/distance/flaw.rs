//! Errors that tests plant in the stages, to show that the checks find them. The program itself uses none.

use glam::DVec3;

/// A planted error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// Fronts use the direction to the surface as the direction away from it.
    #[cfg(test)]
    WrongFront,
    /// Directions lead into the solid.
    #[cfg(test)]
    FlippedDirection,
    /// A coarse cell has a fragment only where all its cells have it.
    #[cfg(test)]
    AndForOr,
    /// Nodes of one new fragment are assigned to the next.
    #[cfg(test)]
    FragmentsMixedUp,
}

impl Flaw {
    /// What a step of a front adds to the distance of a node with this direction.
    #[must_use]
    pub fn gained(self, direction: DVec3, back: DVec3) -> f64 {
        #[cfg(test)]
        if self == Self::WrongFront {
            return -direction.dot(back);
        }
        direction.dot(back)
    }

    /// The outward direction.
    #[must_use]
    pub fn outward(self, direction: DVec3) -> DVec3 {
        #[cfg(test)]
        if self == Self::FlippedDirection {
            return -direction;
        }
        direction
    }

    /// Whether a coarse cell has what its eight cells have.
    #[must_use]
    pub fn joins(self, below: &[bool; 8]) -> bool {
        #[cfg(test)]
        if self == Self::AndForOr {
            return !below.contains(&false);
        }
        below.contains(&true)
    }

    /// The index of the new fragment, of `count`, to which a node of the k-th is assigned.
    #[must_use]
    pub fn owner(self, k: usize, count: usize) -> usize {
        #[cfg(test)]
        if self == Self::FragmentsMixedUp {
            return (k + 1) % count;
        }
        let _ = count;
        k
    }
}
