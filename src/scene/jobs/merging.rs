//! Pieces on their way to be one body again.
//!
//! In: shapes of parts of one break, and what broke. Out: one shape, from a worker: at level 9 that takes seconds.

use std::sync::{Arc, mpsc};

use crate::{
    bodies::BodyId,
    fracture::{Cancel, CancelOnDrop, FractureError, Pattern, Rejoin, solid::rejoined},
    scene::SandboxError,
    shape::{Octree, Shape},
    svo::{Forest, Grid},
};

/// Why pieces that lie apart are refused.
const APART: &str =
    "they do not touch each other: other pieces, or dust, lie between them; select those in between too";

/// The same of meshes.
const NO_FACES: &str = "they share no faces: other pieces lie between them, or each was cut by itself, as the method \
                        planes does";

/// What one shape is made of.
pub(in crate::scene) enum Ingredients {
    /// Meshes that were cut out of one.
    Meshes(Vec<Arc<Shape>>),
    /// Trees of one break.
    Trees {
        /// What broke, and which tree it is.
        source: (Arc<Forest>, u32),
        pattern: Pattern,
        grid: Grid,
        /// All its parts, and each one's tree and cell.
        forest: Arc<Forest>,
        parts: Vec<(u32, u32)>,
    },
}

/// Bodies that are to be one.
pub(in crate::scene) struct Union {
    /// That with the largest part first.
    pub ids: Vec<BodyId>,
    /// Numbers of the parts of the break that they are, ascending.
    pub parts: Vec<usize>,
    /// It looks and weighs like this.
    pub like: Arc<Shape>,
    pub ingredients: Ingredients,
    /// Whether an opening scene asks for it: it is no step of undo then.
    pub opening: bool,
}

impl Union {
    /// The one shape, in the space of the first of its bodies.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`] where they do not hang together; [`SandboxError::Fracture`], also where it was
    /// cancelled.
    pub fn shape(&self, cancel: &Cancel) -> Result<Shape, SandboxError> {
        let refused = |why: &str| SandboxError::CannotMerge(why.to_owned());
        let (density, look) = (self.like.density(), *self.like.look());
        match &self.ingredients {
            Ingredients::Meshes(shapes) => {
                let meshes: Vec<_> = shapes.iter().filter_map(|shape| shape.as_mesh()).collect();
                let one = rejoined(&meshes)?.ok_or_else(|| refused(NO_FACES))?;
                Ok(Shape::solid(one, density, look))
            }
            Ingredients::Trees { source: (source, tree), pattern, grid, forest, parts } => {
                let rejoin = Rejoin::new((source, *tree), pattern, forest, parts.iter().copied());
                let members: Vec<u32> = self.parts.iter().map(|part| *part as u32).collect();
                let one = rejoin.one_of(&members, cancel).map_err(FractureError::from)?;
                let one = one.ok_or_else(|| refused(APART))?;
                Ok(Shape::octree(Octree::new(&Arc::new(one), 0, *grid), density, look))
            }
        }
    }
}

type Merged = (Union, Result<Shape, SandboxError>);

/// The merge on its way: one at a time.
#[derive(Default)]
pub(in crate::scene) struct Merging {
    job: Option<Job>,
}

struct Job {
    receiver: mpsc::Receiver<Merged>,
    /// With it goes whoever waits.
    #[expect(dead_code, reason = "it does its work when it is dropped")]
    waits: CancelOnDrop,
}

impl Merging {
    /// Whether one is on its way.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Nobody waits for it any more.
    pub fn forget(&mut self) {
        self.job = None;
    }

    /// Has a worker make one shape.
    pub fn start(&mut self, union: Union) {
        let (sender, receiver) = mpsc::channel();
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        std::thread::spawn(move || {
            let shape = union.shape(&cancel);
            // The receiver only disappears with whoever wanted it.
            let _ = sender.send((union, shape));
        });
        self.job = Some(Job { receiver, waits });
    }

    /// What came of it, once.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`]; why one shape could not be made stands beside what it was to be made of.
    pub fn poll(&mut self) -> Result<Option<Merged>, SandboxError> {
        match self.job.as_ref().map(|job| job.receiver.try_recv()) {
            None | Some(Err(mpsc::TryRecvError::Empty)) => Ok(None),
            Some(Ok(merged)) => {
                self.job = None;
                Ok(Some(merged))
            }
            Some(Err(mpsc::TryRecvError::Disconnected)) => {
                self.job = None;
                Err(SandboxError::CannotMerge("it stopped unexpectedly; select fewer pieces".into()))
            }
        }
    }
}
