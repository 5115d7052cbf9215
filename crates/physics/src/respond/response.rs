//! What a response is: what a step asks it, and what the table says of it.

use crate::{Body, BodyId, collide::Manifold, context::StepContext, fracture::MethodOption, gpu::GpuError};

/// A way to answer contacts. It keeps what it makes of bodies.
pub trait Respond: Send {
    /// Moves all awake bodies through `cx.settings.dt`, and writes into the manifolds what their points
    /// pressed. Bodies that are fixed, frozen or asleep are left where they are.
    ///
    /// # Errors
    /// [`GpuError`]; the step is then taken back.
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

    /// A body is gone; `left` are still there.
    fn removed(&mut self, id: BodyId, left: &[Body]) {
        let _ = (id, left);
    }

    /// All bodies are gone.
    fn cleared(&mut self) {}
}

/// A way to answer contacts, as the table has it.
pub struct ResponseEntry {
    /// The word that scene files and arguments name it by.
    pub name: &'static str,
    /// What it is called in the window.
    pub label: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Its own settings.
    pub options: &'static [MethodOption],
    /// Makes one for a world.
    pub make: fn() -> Box<dyn Respond>,
}
