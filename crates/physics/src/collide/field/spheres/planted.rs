//! Errors that tests plant, to see whether the checks find them.

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Planted {
    /// Nothing.
    #[default]
    Nothing,
    /// New points grow only the sphere that they hang on, and those above up to the first that holds them
    /// already.
    RadiusTooSmall,
    /// The last root of each fragment with several is lost.
    LostRoot,
    /// A point whose parent went to another fragment stays with the point that has the parent's number.
    WrongParent,
    /// A point is met at every node of it, not only at the first.
    MetTwice,
    /// Points that touched before are not asked first.
    KnownLost,
    /// What is kept forgets that the surface has steps.
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
