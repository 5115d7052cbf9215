//! Merges pieces into one body.
//!
//! In: shapes of parts of one break, and the broken body. Out: one shape, from a worker, since level 9 takes seconds.

use std::sync::Arc;

use super::worker::Worker;
use crate::{
    bodies::BodyId,
    fracture::{Cancel, FractureError, Rejoin, solid::rejoined},
    scene::SandboxError,
    shape::{Octree, Shape},
    svo::Grid,
};

/// Why separated pieces are refused.
const APART: &str =
    "they do not touch each other: other pieces, or dust, lie between them; select those in between too";

/// Why meshes without common faces are refused.
const NO_FACES: &str = "they share no faces: other pieces lie between them, or each was cut on its own, as by the \
                        method planes";

/// Parts that a merged shape is made from.
pub(in crate::scene) enum Ingredients {
    /// Meshes cut out of one mesh.
    Meshes(Vec<Arc<Shape>>),
    /// Trees of one break.
    Trees { rejoin: Arc<Rejoin>, grid: Grid },
}

/// Bodies to be merged.
pub(in crate::scene) struct Union {
    /// The bodies, the one with the largest part first.
    pub ids: Vec<BodyId>,
    /// Their parts of the break, ascending.
    pub parts: Vec<usize>,
    /// Shape whose appearance and density the merged one takes.
    pub like: Arc<Shape>,
    pub ingredients: Ingredients,
    /// Whether a scene being opened asks for it, so that it is no undo step.
    pub opening: bool,
}

impl Union {
    /// The merged shape, in the space of the first body.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`] if they are not connected; [`SandboxError::Fracture`], also if it was cancelled.
    pub fn shape(&self, cancel: &Cancel) -> Result<Shape, SandboxError> {
        let members: Vec<u32> = self.parts.iter().map(|part| *part as u32).collect();
        joined_shape(&self.ingredients, &members, &self.like, cancel)
    }
}

/// One shape of the parts with these numbers, ascending; of meshes, of all of them. It has the density and the look of
/// `like`.
///
/// # Errors
/// As [`Union::shape`].
pub(super) fn joined_shape(
    ingredients: &Ingredients,
    members: &[u32],
    like: &Shape,
    cancel: &Cancel,
) -> Result<Shape, SandboxError> {
    let refused = |why: &str| SandboxError::CannotMerge(why.to_owned());
    let (density, look) = (like.density(), *like.look());
    match ingredients {
        Ingredients::Meshes(shapes) => {
            let meshes: Vec<_> = shapes.iter().filter_map(|shape| shape.as_mesh()).collect();
            let one = rejoined(&meshes)?.ok_or_else(|| refused(NO_FACES))?;
            Ok(Shape::solid(one, density, look))
        }
        Ingredients::Trees { rejoin, grid } => {
            let one = rejoin.one_of(members, cancel).map_err(FractureError::from)?;
            let one = one.ok_or_else(|| refused(APART))?;
            Ok(Shape::octree(Octree::new(&one, 0, *grid), density, look))
        }
    }
}

type Merged = (Union, Result<Shape, SandboxError>);

/// The merge in progress; one at a time.
#[derive(Default)]
pub(in crate::scene) struct Merging {
    job: Option<Worker<Merged>>,
}

impl Merging {
    /// Whether a merge is in progress.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Cancels the merge.
    pub fn forget(&mut self) {
        self.job = None;
    }

    /// Starts a worker that makes the merged shape.
    pub fn start(&mut self, union: Union) {
        self.job = Some(Worker::start(move |cancel| {
            let shape = union.shape(cancel);
            (union, shape)
        }));
    }

    /// Returns the result once.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`]; why one shape could not be made stands beside what it was to be made of.
    pub fn poll(&mut self) -> Result<Option<Merged>, SandboxError> {
        let Some(ended) = self.job.as_ref().and_then(Worker::ended) else { return Ok(None) };
        self.job = None;
        let stopped = || SandboxError::CannotMerge("it stopped unexpectedly; select fewer pieces".into());
        ended.map(Some).ok_or_else(stopped)
    }
}
