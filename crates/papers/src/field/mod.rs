//! Contacts by distance fields and sphere trees (Glondu et al. 2012): points of one body that lie in the other.
//!
//! In: near pairs. Out: manifolds. An object has a distance field (`distance/`) and a tree of spheres round points of
//! its surface and interior (`spheres/`); its pieces share the field, and their trees are cut out of its tree, so a
//! fracture rebuilds nothing. `interior.rs` has the queries of trees to a field. `parts.rs` holds both for all bodies,
//! `meeting.rs` queries the tree of each of two bodies against the field of the other, and the tree of a body against
//! the planes.
//!
//! Some eight points of a query are contacts, for any number of colliding points (sec. 5.3): the first points visited,
//! which lie well apart, and deeper ones of the rest; `choice.rs` has the options for that. The last contacts are tested
//! first, and so are the corners of a body's hull (`shape/hull/`); `pairs.rs` caches data of pairs from search to search,
//! `parts.rs` has the normals of surfaces and the direction out beside edges, `time_of_impact.rs` where smooth surfaces
//! and when fast bodies touch.

mod census;
mod choice;
pub mod distance;
pub mod interior;
mod meeting;
mod pairs;
mod parts;
mod sizes;
pub mod spheres;
mod time_of_impact;

#[cfg(test)]
mod choice_tests;
#[cfg(test)]
mod tests;

use crate::bodies::{
    Body, BodyId, GeneratorEntry, Options, Plane, Point,
    collide::pairwise::{Met, NarrowPhase, NearTwo, PairGenerator},
};
pub use census::{Colliding, colliding_points};
use choice::Choice;
pub use choice::{EPSILON, MOST_POINTS, SELECTION};
use pairs::Pairs;
pub use parts::LEVEL;
use parts::{Part, Parts};
pub use sizes::{Sizes, sizes_of};
use spheres::Scratch;
use std::collections::BTreeSet;

/// How the table has it.
pub static ENTRY: GeneratorEntry = GeneratorEntry {
    name: "field",
    label: "distance fields",
    about: "Points of one body are looked up in the distance field of the other; eight that lie well apart are enough \
            (Glondu et al. 2012).",
    accepts: |_| true,
    options: &[LEVEL, SELECTION, MOST_POINTS, EPSILON],
    make: |_| Ok(Box::new(FieldGenerator::default())),
};

/// Finds contacts of distance fields with each other and with planes.
pub type FieldGenerator = PairGenerator<Fields>;

/// Fields and sphere trees of bodies.
#[derive(Default)]
pub struct Fields {
    parts: Parts,
    pairs: Pairs,
    choice: Choice,
}

impl Fields {
    fn of(&self, body: &Body) -> Option<&Part> {
        self.parts.of(body.id)
    }
}

impl NarrowPhase for Fields {
    type Known = ();
    type Scratch = Scratch;
    type Memory = Parts;

    fn resolution(&self, body: &Body) -> f64 {
        body.def.resolution_m()
    }

    fn set_options(&mut self, options: &Options) {
        let choice = Choice::of(options);
        let has_other_fields = self.parts.set_field_level(options.value(&LEVEL) as u32);
        if has_other_fields || choice != self.choice {
            (self.pairs, self.choice) = (Pairs::default(), choice);
        }
    }

    fn follow(&mut self, near: &[&Body]) -> bool {
        self.parts.follow(near)
    }

    fn prepare<'a>(&mut self, near: impl Iterator<Item = &'a Body>) {
        let anew = self.parts.prepare(near);
        if !anew.is_empty() {
            // Cached data of a pair refers to points by index.
            self.pairs.retain(|pair, _| pair.iter().all(|id| !anew.contains(id)));
        }
        self.pairs.next_search();
    }

    fn meet(&self, near: &NearTwo<'_, ()>, scratch: &mut Scratch) -> Met<()> {
        let [Some(a), Some(b)] = near.bodies.map(|body| self.of(body)) else { return None };
        let names = near.bodies.map(|body| body.id);
        let mut memory = self.pairs.take(names);
        let met = meeting::meet(near, ([a, b], &self.choice), &mut memory, scratch);
        self.pairs.put(names, memory);
        met
    }

    fn at_plane(
        &self,
        body: &Body,
        plane: (usize, &Plane),
        known_and_near: (&[Point], f64),
        scratch: &mut Scratch,
    ) -> Option<Vec<Point>> {
        Some(meeting::at_plane(body, (self.of(body)?, &self.choice), plane, known_and_near, scratch))
    }

    fn keeps_all(&self) -> bool {
        self.choice.keeps_all()
    }

    fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        self.parts.broke(parent, parts);
        true
    }

    fn keep(&mut self, left: &[Body]) {
        self.parts.keep(left);
        let there: BTreeSet<BodyId> = left.iter().map(|body| body.id).collect();
        self.pairs.retain(|pair, _| pair.iter().all(|id| there.contains(id)));
    }

    fn memory(&self) -> Parts {
        self.parts.clone()
    }

    fn recall(&mut self, memory: &Parts) {
        self.parts = memory.clone();
        self.pairs = Pairs::default();
    }
}
