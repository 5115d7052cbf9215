//! The finder and the response of the crate kintsugi-papers. A build without the feature `papers` leaves both out: scenes
//! and commands that name them get an error that says so.

#[cfg(feature = "papers")]
pub use kintsugi_papers::{field, penalty, register};

#[cfg(not(feature = "papers"))]
pub use left_out::{field, register};

#[cfg(not(feature = "papers"))]
mod left_out {
    /// Nothing is registered.
    pub fn register() {}

    /// What commands need of distance fields.
    pub mod field {
        use crate::bodies::World;

        /// Points of all pairs at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Colliding {
            /// Contacts that were put out.
            pub contacts: usize,
            /// Those of them that are near.
            pub near_contacts: usize,
            /// All points of surfaces that are near.
            pub near: usize,
            /// All points of surfaces that lie inside.
            pub inside: usize,
        }

        /// None: no contacts are found by distance fields.
        #[must_use]
        pub fn colliding_points(_: &World) -> Option<Colliding> {
            None
        }
    }
}
