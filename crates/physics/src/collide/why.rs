//! Why a point is a contact: three reasons, each with a name for tables and a number for arrays.
//!
//! In: what a search, the reduction and the carrying of a manifold did with a point. Out: a [`Why`] of three bytes,
//! which lies in padding of the point.

/// Declares reasons. The number of a reason is its place in the list, from 0; numbers are in people's files, so new
/// reasons go to the end.
macro_rules! reasons {
    ($(#[$about:meta])* $reasons:ident { $($(#[$means:meta])* $reason:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $reasons {
            $($(#[$means])* $reason,)*
        }

        impl $reasons {
            /// Name in tables.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }

            /// Number in arrays, from 0.
            #[must_use]
            pub fn code(self) -> i32 {
                self as i32
            }
        }
    };
}

reasons! {
    /// How a search came upon a point.
    FoundAs {
        /// The search makes a candidate of every place where the two surfaces are near.
        #[default]
        Place = "place",
        /// A contact of the last manifold or a corner of the hull, which a query of distance fields tests before all
        /// other points.
        Known = "known",
        /// Among the first points of a query of distance fields, which lie well apart, while it has not enough.
        First = "first",
        /// Beyond enough points of a query of distance fields: deeper than the threshold of its selection.
        Deeper = "deeper",
        /// Of a fast pair: what touches next if the body turns about the contact. No rule leaves such points out.
        Turned = "turned",
    }
}

reasons! {
    /// By which rule a point was chosen among the candidates of its manifold.
    ChosenAs {
        /// No rule left any candidate out.
        #[default]
        Every = "every",
        /// Farthest out of the candidates with its normal, in at least one of eight directions across that normal.
        Outermost = "outermost",
        /// Deepest of the candidates with its normal and outermost in no direction: it is deeper than all that are
        /// outermost, or these are fewer than three.
        Deepest = "deepest",
        /// Place where two smooth surfaces are nearest; it replaces the candidates that lead there.
        Nearest = "nearest",
        /// Lowest place of the ball on which a body lies; it replaces the candidates on that ball.
        Ball = "ball",
    }
}

reasons! {
    /// What the manifold before the last search had of a point.
    Persistence {
        /// Nothing: the search found another point, or the bodies met.
        #[default]
        New = "new",
        /// The same point, which the search found again.
        Again = "again",
        /// The point itself: nothing was searched, since the bodies had hardly moved against each other, or rest.
        Carried = "carried",
    }
}

/// Why a point is a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// How the search came upon it.
    pub found_as: FoundAs,
    /// By which rule it was chosen.
    pub chosen_as: ChosenAs,
    /// What the manifold before had of it.
    pub persistence: Persistence,
}

impl Why {
    /// The same reason, but for the rule by which the point was chosen.
    #[must_use]
    pub fn chosen_as(self, chosen_as: ChosenAs) -> Self {
        Self { chosen_as, ..self }
    }
}

impl From<FoundAs> for Why {
    fn from(found_as: FoundAs) -> Self {
        Self { found_as, ..Self::default() }
    }
}
