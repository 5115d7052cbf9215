//! Response of bodies to contacts. A method is a [`ContactSolver`]; `step.rs` uses only this trait, and scene files,
//! arguments and the window choose from the table here.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds.

mod contact_solver;
mod impulse;
mod sequential;
mod soft;
#[cfg(test)]
mod testing;
mod wide;

#[cfg(test)]
pub use sequential::parts_of;

pub use contact_solver::{ContactSolver, SolverEntry};
pub use soft::SoftStep;

use super::{Body, BodyId, ResponseId, collide::Manifold, context::StepContext};
use crate::{
    gpu::GpuError,
    registry::{Entry, NameTaken, Table, setting},
};

impl Entry for SolverEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// What every build has.
const BUILT_IN: &[SolverEntry] = &[soft::ENTRY, impulse::ENTRY];

static RESPONSES: Table<SolverEntry> = Table::new("response", BUILT_IN, &["penalty"]);

/// All responses.
#[must_use]
pub fn solvers() -> Vec<&'static SolverEntry> {
    RESPONSES.all()
}

/// Adds a response, which settings can name from then on. To be called before scenes are read.
///
/// # Errors
/// [`NameTaken`].
pub fn register_solver(entry: &'static SolverEntry) -> Result<(), NameTaken> {
    RESPONSES.add(entry)
}

setting!(ResponseId, SolverEntry, RESPONSES);

/// The response of a world, made when it is first needed.
#[derive(Default)]
pub struct ActiveSolver(Option<(ResponseId, Box<dyn ContactSolver>)>);

impl ActiveSolver {
    /// Makes the response that is chosen, if it is not the one that is there.
    pub fn prepare(&mut self, chosen: ResponseId) {
        if self.0.as_ref().is_none_or(|(made, _)| *made != chosen) {
            self.0 = Some((chosen, (chosen.entry().make)()));
        }
    }

    /// See [`ContactSolver::advance`], by the response that was prepared.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError> {
        match &mut self.0 {
            Some((_, response)) => response.advance(cx, bodies, manifolds),
            None => Ok(()),
        }
    }

    /// Tells it that a body has broken.
    pub fn broke(&mut self, parent: &Body, parts: &[Body]) {
        if let Some((_, response)) = &mut self.0 {
            response.broke(parent, parts);
        }
    }

    /// Passes the removal of a body to the response.
    pub fn removed(&mut self, id: BodyId, left: &[Body]) {
        if let Some((_, response)) = &mut self.0 {
            response.removed(id, left);
        }
    }

    /// Passes the removal of all bodies to the response.
    pub fn cleared(&mut self) {
        if let Some((_, response)) = &mut self.0 {
            response.cleared();
        }
    }
}
