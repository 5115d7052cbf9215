//! Errors that tests plant in the stages themselves, to show that the checks find them. There are none in the
//! program.

use glam::DVec3;

/// What is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// Fronts take the way back towards the surface for the way on.
    #[cfg(test)]
    WrongFront,
    /// Directions lead into the solid.
    #[cfg(test)]
    FlippedDirection,
    /// A coarse cell has a fragment only where all its cells have it.
    #[cfg(test)]
    AndForOr,
    /// Nodes of one new fragment are given to the next.
    #[cfg(test)]
    FragmentsMixedUp,
}

impl Flaw {
    /// What fronts gain on the way from a node with this direction by a step.
    #[must_use]
    pub fn gained(self, direction: DVec3, back: DVec3) -> f64 {
        #[cfg(test)]
        if self == Self::WrongFront {
            return -direction.dot(back);
        }
        direction.dot(back)
    }

    /// The way out.
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

    /// Which of `count` new fragments a node of the k-th is given to.
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
