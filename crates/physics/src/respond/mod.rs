//! What contacts do to velocities. A method is a [`Respond`]; `step.rs` knows no other word for it, and the
//! table here is what scene files, arguments and the window choose from.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the
//! manifolds.

mod heap;
mod impulse;
pub mod penalty;
mod soft;

#[cfg(test)]
pub use heap::parts_of;

use super::{Body, BodyId, ResponseId, collide::Manifold, context::StepContext};
use crate::{
    fracture::MethodOption,
    gpu::GpuError,
    registry::{Entry, NameTaken, Table, setting},
};

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

impl Entry for ResponseEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// What every build has.
const BUILT_IN: &[ResponseEntry] = &[soft::ENTRY, penalty::ENTRY, impulse::ENTRY];

static RESPONSES: Table<ResponseEntry> = Table::new("response", BUILT_IN, &["penalty"]);

/// All responses that there are.
#[must_use]
pub fn responses() -> Vec<&'static ResponseEntry> {
    RESPONSES.all()
}

/// Adds a response, which settings can name from then on. To be called before scenes are read.
///
/// # Errors
/// [`NameTaken`].
pub fn register_response(entry: &'static ResponseEntry) -> Result<(), NameTaken> {
    RESPONSES.add(entry)
}

setting!(ResponseId, ResponseEntry, RESPONSES);

/// The response of a world, made when it is first needed.
#[derive(Default)]
pub struct Responder(Option<(ResponseId, Box<dyn Respond>)>);

impl Responder {
    /// Makes the response that is chosen, if it is not the one that is there.
    pub fn prepare(&mut self, chosen: ResponseId) {
        if self.0.as_ref().is_none_or(|(made, _)| *made != chosen) {
            self.0 = Some((chosen, (chosen.entry().make)()));
        }
    }

    /// As [`Respond::advance`], by the response that was prepared.
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

    /// Tells it that a body is gone.
    pub fn removed(&mut self, id: BodyId, left: &[Body]) {
        if let Some((_, response)) = &mut self.0 {
            response.removed(id, left);
        }
    }

    /// Tells it that there are no bodies any more.
    pub fn cleared(&mut self) {
        if let Some((_, response)) = &mut self.0 {
            response.cleared();
        }
    }
}
