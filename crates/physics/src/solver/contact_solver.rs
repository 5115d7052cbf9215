//! The interface of responses: the trait, and the entry of the table.

use crate::{Body, BodyId, collide::Manifold, context::StepContext, fracture::MethodOption, gpu::GpuError};

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
