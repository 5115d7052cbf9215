//! Response of bodies to contacts. A method is a [`ContactSolver`]; `step.rs` uses only this trait, and scene files,
//! arguments and the window choose from the table here.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds.

mod impulse;
mod sequential;
mod soft;
#[cfg(test)]
mod testing;
mod wide;

#[cfg(test)]
pub use sequential::parts_of;
#[cfg(test)]
pub(crate) use wide::passes::{layouts, run_every_kernel};

pub use soft::SoftStep;

use super::{Body, BodyId, ResponseId, collide::Manifold, context::StepContext};
use crate::{
    fracture::MethodOption,
    gpu::GpuError,
    registry::{Entry, NameTaken, Table, setting},
};

/// A method of responding to contacts. It caches data of bodies.
pub trait ContactSolver: Send {
    /// Moves all awake bodies through `cx.settings.dt`, and writes the points' impulses into the manifolds. Fixed,
    /// frozen and sleeping bodies stay in place.
    ///
    /// # Errors
    /// [`GpuError`]; the step is then undone.
    fn advance(
        &mut self,
        cx: &mut StepContext<'_>,
        bodies: &mut [Body],
        manifolds: &mut [Manifold],
    ) -> Result<(), GpuError>;

    /// `parent` has broken into `parts`, which are in the world now; it is removed afterwards.
    fn broke(&mut self, parent: &Body, parts: &[Body]) {
        let _ = (parent, parts);
    }

    /// A body was removed; `left` are the remaining bodies.
    fn removed(&mut self, id: BodyId, left: &[Body]) {
        let _ = (id, left);
    }

    /// All bodies were removed.
    fn cleared(&mut self) {}
}

/// An entry of the table of responses.
pub struct SolverEntry {
    /// Its name in scene files and arguments.
    pub name: &'static str,
    /// Label in the window.
    pub label: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Its own settings.
    pub options: &'static [MethodOption],
    /// Makes one for a world.
    pub make: fn() -> Box<dyn ContactSolver>,
}

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
    /// A response in the place of the one of this name.
    #[cfg(test)]
    pub fn of(chosen: ResponseId, response: Box<dyn ContactSolver>) -> Self {
        Self(Some((chosen, response)))
    }

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
