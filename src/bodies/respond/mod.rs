//! What contacts do to velocities. A method is a [`Respond`]; `step.rs` knows no other word for it.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds.

mod group;
mod helpers;
mod mover;
mod parts;
mod penalty;
#[cfg(test)]
mod penalty_tests;
mod rolling;
mod row;
mod soft_step;

pub use penalty::{Penalty, PenaltyStep};
pub use soft_step::SoftStep;
#[cfg(test)]
pub use soft_step::parts_of;

use super::{Body, WorldSettings, collide::Manifold};

/// A way to answer contacts: moves all awake bodies through one step of `settings.dt`.
pub trait Respond {
    /// Bodies that are fixed, frozen or asleep are left where they are.
    fn advance(&self, bodies: &mut [Body], manifolds: &mut [Manifold], settings: &WorldSettings);

    /// Summed intersection volume, m^3, where the method works it out.
    fn intersection_volume(&self) -> Option<f64> {
        None
    }
}

/// The methods there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Response {
    /// [`SoftStep`].
    #[default]
    Soft,
    /// [`PenaltyStep`], the paper's.
    Penalty,
}
