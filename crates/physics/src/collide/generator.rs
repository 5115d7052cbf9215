//! The interface of contact generators: the trait, its input and output, and the entry of the table.

use super::{Manifold, carry};
use crate::{
    Body, BodyDef, BodyId, LevelOfDetail, Options, Plane,
    broad_phase::{self, NearPair, Obb},
    context::StepContext,
    fracture::MethodOption,
    gpu::{Gpu, GpuError},
    shape::Kind,
};
use rayon::prelude::*;
use std::{any::Any, sync::Arc};

/// How far beyond touching a contact is made, cells.
pub const MARGIN_CELLS: f64 = 0.25;

/// Fewer manifolds are not worth a second thread.
const MANY: usize = 512;

/// Input of a contact search.
#[derive(Clone, Copy)]
pub struct ContactQuery<'a> {
    /// All bodies, by ascending id.
    pub bodies: &'a [Body],
    /// Pairs of which one body can move, ascending.
    pub pairs: &'a [NearPair],
    /// Bodies that can move, for contacts with the planes.
    pub at_planes: &'a [usize],
    /// The floor and the walls.
    pub planes: &'a [Plane],
    /// Manifolds of the last search, sorted.
    pub old: &'a [Manifold],
    /// The boxes of the bodies at their present poses.
    pub boxes: &'a [Option<Obb>],
    /// How long the contacts have to stay valid, s.
    pub dt: f64,
}

impl ContactQuery<'_> {
    /// Whether the boxes of two bodies may overlap within [`Self::dt`]: bodies near each other at the start of the step
    /// may have passed each other.
    #[must_use]
    pub fn may_meet(&self, [i, j]: [usize; 2]) -> bool {
        let closer = broad_phase::closer(&self.bodies[i], &self.bodies[j], self.dt);
        match [&self.boxes[i], &self.boxes[j]] {
            [Some(a), Some(b)] => a.overlaps(b, closer),
            _ => false,
        }
    }
}

/// Result of a contact search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// New manifolds.
    pub manifolds: Vec<Manifold>,
    /// Manifolds of the last search that are still valid, by index in [`ContactQuery::old`]: their points are moved
    /// along with the bodies ([`carry`]).
    pub carried: Vec<usize>,
}

impl From<Vec<Manifold>> for Found {
    fn from(manifolds: Vec<Manifold>) -> Self {
        Self { manifolds, carried: Vec::new() }
    }
}

impl Found {
    /// All manifolds after a search, sorted. Of `old`, the input of the search, carried and resting manifolds stay.
    #[must_use]
    pub fn with_old(self, old: Vec<Manifold>, bodies: &[Body]) -> Vec<Manifold> {
        let mut carried = vec![false; old.len()];
        self.carried.iter().for_each(|&k| carried[k] = true);
        let stays = |(mut manifold, carried): (Manifold, bool)| {
            if carried {
                carry(&mut manifold, bodies);
            } else if manifold.rests(bodies) {
                manifold.stay();
            } else {
                return None;
            }
            Some(manifold)
        };
        let stay: Vec<Manifold> =
            old.into_par_iter().zip(carried).with_min_len(MANY).filter_map(stays).collect();
        let mut out = self.manifolds;
        out.extend(stay);
        out.sort_by_key(Manifold::order);
        out
    }
}

/// A method for finding contacts. It caches data of shapes and of pairs.
pub trait ContactGenerator: Send + Sync {
    /// By body: how far beyond the bounds of its shape the body's contacts may be found, m. Boxes grow by it.
    fn reach(&self, bodies: &[Body], detail: LevelOfDetail<'_>) -> Vec<f64>;

    /// Called at the start of a step: writes into each pair the size of its collision cells, m
    /// ([`NearPair::resolution_m`]). Contacts are searched again before two bodies approach by half that size.
    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], detail: LevelOfDetail<'_>);

    /// Called at the start of a step: the pairs that may touch in it, found by the generator itself together with the
    /// contacts for the following [`Self::find`]. `query` has no pairs and the `dt` of the whole step; `rounds` is the
    /// number of searches in the step, if fixed. `None`: the world finds the pairs and passes them to [`Self::begin`].
    ///
    /// # Errors
    /// [`GpuError`]; the generator is then as before.
    fn look_ahead(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        rounds: Option<u32>,
    ) -> Result<Option<Vec<NearPair>>, GpuError> {
        let _ = (cx, query, rounds);
        Ok(None)
    }

    /// The manifolds of all pairs of the query that are near, and of the bodies near planes (one per body, for any
    /// number of planes), in any order, each new or carried along. A pair without points may have a manifold, so that
    /// the next search finds it. Points that persist keep their impulses ([`inherit`](super::inherit)). Manifolds of
    /// two resting bodies are no part of the query: the world keeps them.
    ///
    /// # Errors
    /// [`GpuError`]; the generator is then as before.
    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError>;

    /// Called before each step and each break: sets the values of options. The generator rebuilds data made with other
    /// values.
    fn set_options(&mut self, options: &Options) {
        let _ = options;
    }

    /// Number of collision points of a manifold before their reduction to a few; `None` if unknown.
    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        let _ = manifold;
        None
    }

    /// Name of the generator that found a manifold, where this one passes pairs on to others; `None`: this one.
    fn finder(&self, manifold: &Manifold) -> Option<&'static str> {
        let _ = manifold;
        None
    }

    /// `parent` has broken into `parts`, which are in the world now; it is removed afterwards. Returns whether the
    /// generator has data to update: the step then reports the time of the update.
    fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        let _ = (parent, parts);
        false
    }

    /// A body was removed; `left` are the remaining bodies.
    fn removed(&mut self, id: BodyId, left: &[Body]) {
        let _ = (id, left);
    }

    /// All bodies were removed.
    fn cleared(&mut self) {}

    /// The generator's data of the world's present manifolds, to be kept in snapshots.
    fn memory(&self) -> GeneratorMemory {
        None
    }

    /// The world's manifolds are again those at the time of this [`Self::memory`].
    fn recall(&mut self, memory: &GeneratorMemory) {
        let _ = memory;
    }
}

/// A kind of partner in contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partner {
    /// A body whose shape is of this kind.
    Shape(Kind),
    /// The floor or a wall.
    Plane,
}

impl Partner {
    /// A body, by the kind of its shape.
    #[must_use]
    pub fn of(def: &BodyDef) -> Self {
        Self::Shape(def.shape.kind())
    }
}

/// Makes a generator, with its passes if there is a device.
pub type MakeGenerator = fn(Option<&Gpu>) -> Result<Box<dyn ContactGenerator>, GpuError>;

/// An entry of the table of generators.
pub struct GeneratorEntry {
    /// Its name in scene files and arguments.
    pub name: &'static str,
    /// Label in the window.
    pub label: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Whether it finds contacts between two such partners; called in ascending order, so that a plane is the second.
    pub accepts: fn([Partner; 2]) -> bool,
    /// Its own settings.
    pub options: &'static [MethodOption],
    /// Makes one for a world.
    pub make: MakeGenerator,
}

/// Data of a generator beside the manifolds of a world, for snapshots; empty for a generator without data.
pub type GeneratorMemory = Option<Arc<dyn Any + Send + Sync>>;
