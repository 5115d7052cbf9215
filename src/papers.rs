//! The method of breaking, the generator and the response of the crate kintsugi-papers. A build without the feature
//! `papers` leaves them out: scenes and commands that name them get an error that says so.

#[cfg(feature = "papers")]
pub use kintsugi_papers::{field, penalty, planes, register};

#[cfg(not(feature = "papers"))]
pub use left_out::{field, register};

#[cfg(not(feature = "papers"))]
mod left_out {
    /// Nothing is registered.
    pub fn register() {}

    /// The part of distance fields that commands need.
    pub mod field {
        use crate::bodies::World;

        /// Points of all pairs at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Colliding {
            /// Number of contacts.
            pub contacts: usize,
            /// Number of them closer than a quarter of a cell.
            pub near_contacts: usize,
            /// All points of surfaces that are near.
            pub near: usize,
            /// All points of surfaces that lie inside.
            pub inside: usize,
        }

        /// `None`: distance fields find no contacts here.
        #[must_use]
        pub fn colliding_points(_: &World) -> Option<Colliding> {
            None
        }
    }
}
