//! Errors that tests plant, to see whether the checks find them.

/// A planted error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Planted {
    /// Nothing.
    #[default]
    Nothing,
    /// New points grow only the sphere of their parent, and those above up to the first that contains them already.
    RadiusTooSmall,
    /// The last root of each fragment with several is lost.
    LostRoot,
    /// A point whose parent went to another fragment stays with the point that has the parent's number.
    WrongParent,
    /// A point is tested at every node of it, not only at the first.
    MetTwice,
    /// The last contacts are not tested first.
    KnownLost,
    /// The data of the last query ignores steps in the surface.
    StepsForgotten,
}

impl Planted {
    pub(super) fn stops_growing(self) -> bool {
        self == Self::RadiusTooSmall
    }

    pub(super) fn loses_root(self) -> bool {
        self == Self::LostRoot
    }

    pub(super) fn keeps_parent(self) -> bool {
        self == Self::WrongParent
    }

    pub(super) fn forgets_known(self) -> bool {
        self == Self::KnownLost
    }

    pub(super) fn forgets_steps(self) -> bool {
        self == Self::StepsForgotten
    }

    pub(super) fn meets_again(self) -> bool {
        self == Self::MetTwice
    }
}
