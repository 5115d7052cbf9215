//! Makes the shapes of what is left of structures when bonds have failed.
//!
//! In: structures that are no longer connected. Out: a shape for each connected set of parts, from a worker; simulated
//! time stands still until they are there.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    merging::{Ingredients, joined_shape},
    worker::Worker,
};
use crate::{
    bodies::{BodyId, structure::Structure},
    fracture::{Cancel, Rejoin},
    scene::{Blow, SandboxError},
    shape::Shape,
    svo::Forest,
};

/// A body whose structure has come apart.
pub(in crate::scene) struct Split {
    pub body: BodyId,
    /// Its structure, with the bonds that failed.
    pub structure: Structure,
    /// The sets of parts (indices in the structure) that are still connected.
    pub sets: Vec<Vec<u32>>,
    /// What shapes of several parts are made of. Of meshes the list is empty, since the structure has them all.
    pub ingredients: Ingredients,
    /// A blow that pushes what comes free, and how far it reaches, m.
    pub blow: Option<(Blow, f64)>,
    /// Whether a scene that is being opened comes apart, so that no motion is recorded.
    pub opening: bool,
}

/// A body that has come apart, with the shapes of its sets in their order.
pub(in crate::scene) type Apart = (Split, Result<Vec<Arc<Shape>>, SandboxError>);

/// Number of broken bodies whose sorted voxels are kept for the next split.
const RECENT: usize = 4;

/// Structures that come apart, one after the other.
#[derive(Default)]
pub(in crate::scene) struct Splitting {
    /// Parts of the breaks that came apart last, the latest last.
    recent: Vec<Arc<Rejoin>>,
    waiting: Vec<Split>,
    job: Option<Worker<Vec<Apart>>>,
    done: Vec<Apart>,
}

impl Splitting {
    /// Whether shapes are being made or wait to be taken.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || !self.waiting.is_empty() || !self.done.is_empty()
    }

    /// Cancels everything.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Adds a structure.
    pub fn push(&mut self, split: Split) {
        if let Ingredients::Trees { rejoin, .. } = &split.ingredients {
            self.recent.retain(|other| !Arc::ptr_eq(other, rejoin));
            self.recent.push(Arc::clone(rejoin));
            self.recent.drain(..self.recent.len().saturating_sub(RECENT));
        }
        self.waiting.push(split);
    }

    /// The parts of a break whose trees are in `forest`, if it came apart lately.
    pub fn rejoin_of(&self, forest: &Arc<Forest>) -> Option<Arc<Rejoin>> {
        self.recent.iter().find(|rejoin| rejoin.is_of(forest)).cloned()
    }

    /// Returns a body that has come apart; starts a worker on those that wait.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`] if the worker stopped.
    pub fn poll(&mut self) -> Result<Option<Apart>, SandboxError> {
        if !self.done.is_empty() {
            return Ok(Some(self.done.remove(0)));
        }
        if let Some(job) = &self.job {
            let Some(ended) = job.ended() else { return Ok(None) };
            self.job = None;
            let stopped =
                || SandboxError::CannotMerge("the parts that hold could not be made one shape".into());
            self.done = ended.ok_or_else(stopped)?;
            return self.poll();
        }
        if !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            self.job = Some(Worker::start(move |cancel| {
                let made = waiting.into_iter().map(|split| {
                    let shapes = shapes(&split, cancel);
                    (split, shapes)
                });
                made.collect()
            }));
        }
        Ok(None)
    }
}

fn shapes(split: &Split, cancel: &Cancel) -> Result<Vec<Arc<Shape>>, SandboxError> {
    let (parts, whole) = (&split.structure.parts, &split.structure.whole);
    let one = |set: &Vec<u32>| {
        let numbers: Vec<u32> = set.iter().map(|part| parts[*part as usize].number).collect();
        let own = |part: &u32| Arc::clone(&parts[*part as usize].shape);
        let joined = match (set.as_slice(), &split.ingredients) {
            ([alone], _) => return Ok(own(alone)),
            (all, Ingredients::Meshes(_)) => {
                let meshes = Ingredients::Meshes(all.iter().map(own).collect());
                joined_shape(&meshes, &numbers, whole, cancel)
            }
            (_, trees) => joined_shape(trees, &numbers, whole, cancel),
        };
        joined.map(Arc::new)
    };
    if let Ingredients::Trees { rejoin, .. } = &split.ingredients
        && split.sets.iter().any(|set| set.len() > 1)
    {
        rejoin.get_ready();
    }
    split.sets.par_iter().map(one).collect()
}
