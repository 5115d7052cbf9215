//! What a finder is: what the world asks it, what it answers, and what the table says of it.

use super::{Manifold, carry};
use crate::{
    Body, BodyDef, BodyId, Detail, Options, Plane,
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

/// Where contacts are to be looked for.
#[derive(Clone, Copy)]
pub struct ContactQuery<'a> {
    /// All bodies, in ascending order of their names.
    pub bodies: &'a [Body],
    /// Pairs of which one body can move, ascending.
    pub pairs: &'a [NearPair],
    /// Bodies that can move: where they meet the planes.
    pub at_planes: &'a [usize],
    /// The floor and the walls.
    pub planes: &'a [Plane],
    /// Manifolds of the last search, in order.
    pub old: &'a [Manifold],
    /// The boxes of the bodies as they lie now.
    pub boxes: &'a [Option<Obb>],
    /// How long the contacts are to hold, s.
    pub dt: f64,
}

impl ContactQuery<'_> {
    /// Whether the boxes of two bodies may meet within [`Self::dt`]: a pair that was near as the step began
    /// may have passed by.
    #[must_use]
    pub fn may_meet(&self, [i, j]: [usize; 2]) -> bool {
        let closer = broad_phase::closer(&self.bodies[i], &self.bodies[j], self.dt);
        match [&self.boxes[i], &self.boxes[j]] {
            [Some(a), Some(b)] => a.overlaps(b, closer),
            _ => false,
        }
    }
}

/// What a finder found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Manifolds that were made anew.
    pub manifolds: Vec<Manifold>,
    /// Manifolds of the last search that still hold, by their numbers in [`ContactQuery::old`]: their points
    /// are moved along with the bodies ([`carry`]).
    pub carried: Vec<usize>,
}

impl From<Vec<Manifold>> for Found {
    fn from(manifolds: Vec<Manifold>) -> Self {
        Self { manifolds, carried: Vec::new() }
    }
}

impl Found {
    /// All manifolds after a search, in order. Of `old`, which is what the search was given, there stays what
    /// is carried along and what rests.
    #[must_use]
    pub fn with_old(self, old: Vec<Manifold>, bodies: &[Body]) -> Vec<Manifold> {
        let mut carried = vec![false; old.len()];
        self.carried.iter().for_each(|&k| carried[k] = true);
        let stays = |(mut manifold, carried): (Manifold, bool)| {
            if carried {
                carry(&mut manifold, bodies);
            } else if !manifold.rests(bodies) {
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

/// A way to find contacts. It keeps what it makes of the shapes, and what it knows of pairs.
pub trait FindContacts: Send + Sync {
    /// By body: how far beyond the bounds of its shape the body's contacts may be found, m. Boxes grow by it.
    fn reach(&self, bodies: &[Body], detail: Detail<'_>) -> Vec<f64>;

    /// As a step begins: writes into each pair how finely it is looked at, m ([`NearPair::resolution_m`]).
    /// Contacts are looked for again before two bodies come half as far towards each other.
    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], detail: Detail<'_>);

    /// As a step begins: the pairs that may meet in it, found by the finder itself along with the contacts that the
    /// following [`Self::find`] is asked for. `query` has no pairs and the `dt` of the whole step; `rounds` is how often
    /// contacts are looked for in it, where that is settled. None: the world finds the pairs, and says so by
    /// [`Self::begin`].
    ///
    /// # Errors
    /// [`GpuError`]; the finder is then as before.
    fn look_ahead(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        rounds: Option<u32>,
    ) -> Result<Option<Vec<NearPair>>, GpuError> {
        let _ = (cx, query, rounds);
        Ok(None)
    }

    /// The manifolds of all pairs of the query that are near, and of the bodies that are near a plane (one
    /// for each, whatever the number of planes), in any order, each made anew or carried along. A pair without
    /// points may have a manifold, to be found again. Old points keep their impulses where they are still the
    /// same ([`inherit`](super::inherit)). Manifolds of which nobody can move are not asked for: the world keeps them as they
    /// are.
    ///
    /// # Errors
    /// [`GpuError`]; the finder is then as before.
    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError>;

    /// Before each step and before each break: the values of options. The finder makes anew what it made with other values.
    fn set_options(&mut self, options: &Options) {
        let _ = options;
    }

    /// How many collision points a manifold had before they were reduced to a few; none where that is not known.
    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        let _ = manifold;
        None
    }

    /// `parent` has broken into `parts`, which are in the world now; it is removed afterwards. True where the finder has
    /// anything to follow then: the step reports the time that it takes.
    fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        let _ = (parent, parts);
        false
    }

    /// A body is gone; `left` are still there.
    fn removed(&mut self, id: BodyId, left: &[Body]) {
        let _ = (id, left);
    }

    /// All bodies are gone.
    fn cleared(&mut self) {}

    /// What it knows of the manifolds of the world as they are now, to be kept with them.
    fn memory(&self) -> FinderMemory {
        None
    }

    /// The world's manifolds are again those of the moment when [`Self::memory`] was asked.
    fn recall(&mut self, memory: &FinderMemory) {
        let _ = memory;
    }
}

/// What may touch.
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

/// Makes a finder, with its passes where there is a device.
pub type MakeFinder = fn(Option<&Gpu>) -> Result<Box<dyn FindContacts>, GpuError>;

/// A way to find contacts, as the table has it.
pub struct FinderEntry {
    /// The word that scene files and arguments name it by.
    pub name: &'static str,
    /// What it is called in the window.
    pub label: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Whether it finds contacts between two such; asked in ascending order, so that a plane is the second.
    pub accepts: fn([Partner; 2]) -> bool,
    /// Its own settings.
    pub options: &'static [MethodOption],
    /// Makes one for a world.
    pub make: MakeFinder,
}

/// What a finder knows beside the manifolds of a world, to be given back with them; empty for one that knows
/// nothing.
pub type FinderMemory = Option<Arc<dyn Any + Send + Sync>>;
