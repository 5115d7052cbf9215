//! Distance fields and sphere trees of the bodies that have met.
//!
//! In: bodies, and what they break into. Out: for every body the field that it is a fragment of and its sphere tree. Both
//! never change: a break makes a field that follows it (a copy in which only the nodes of what broke are written) and trees
//! of the pieces, so what is kept for undo and the timeline stays as it was, and a moment that is gone back to goes on as it
//! did the first time.

use super::{
    distance::{FamilyField, Fragment, FragmentId, Wall},
    outward::Outward,
    spheres::{CrackPoint, ObjectPoint, Sampling, SphereForest},
};
use crate::{
    bodies::{
        Body, BodyId,
        collide::convex::{Face, MOST_CORNERS, Solid, hull_of},
    },
    shape::Shape,
};
use glam::DVec3;
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Level of the cells of a field where nobody says otherwise, unless the body collides at a coarser one: 32 cells a side.
/// Finer ones are exact to a smaller depth, coarser ones make less of a copy.
pub const FIELD_LEVEL: u32 = 5;

/// The hull goes through samples of leaves, which stick out over it by no more than this.
const OVER_HULL_VOXELS: f64 = 1.5;

/// What is known of one body.
#[derive(Clone)]
pub struct Part {
    field: Arc<FamilyField>,
    fragment: FragmentId,
    /// Points of it, in local space of the whole object.
    pub forest: Arc<SphereForest>,
    sampling: Sampling,
    /// The hull, body axes, m, where it is not round: then it has as many corners as it may, and samples are as good.
    pub hull: Option<Arc<Solid>>,
    /// Which points of the forest are the hull's corners.
    pub corners: Arc<[u32]>,
    /// Which way its surface looks at the points of the forest.
    pub outward: Arc<Outward>,
    walls: Arc<[Wall]>,
}

/// Which points of a forest are these.
fn places_of(corners: impl Iterator<Item = DVec3>, forest: &SphereForest) -> Arc<[u32]> {
    let bits = |p: DVec3| p.to_array().map(f64::to_bits);
    let corners: BTreeSet<_> = corners.map(bits).collect();
    let is_corner = |(_, point): &(u32, ObjectPoint)| corners.contains(&bits(point.position));
    (0u32..).zip(forest.points()).filter(is_corner).map(|(index, _)| index).collect()
}

/// The hull of a shape, unless it is round.
fn hull(shape: &Shape) -> Option<Arc<Solid>> {
    Some(hull_of(shape)).filter(|hull| hull.corners.len() < MOST_CORNERS).map(Arc::new)
}

impl Part {
    /// Of a body of which nothing is known, with a field of that level. None where its shape is empty.
    fn alone(body: &Body, field_level: u32) -> Option<Self> {
        let (shape, level) = (&*body.def.shape, body.def.collision_level());
        let field = FamilyField::new(shape, level.min(field_level).max(1)).ok()?;
        let sampling = Sampling::new(shape, level);
        let mut points = sampling.points(shape);
        let hull = hull(shape);
        points.extend(corners(shape, &hull).map(|position| ObjectPoint { position, on_surface: true }));
        let forest = Arc::new(SphereForest::build(&points));
        let corners = places_of(corners(shape, &hull), &forest);
        let outward = Arc::new(Outward::of(&forest));
        let (field, fragment) = (Arc::new(field), FragmentId::WHOLE);
        let walls = walls(shape, &hull);
        Some(Self { field, fragment, forest, sampling, hull, corners, outward, walls })
    }

    /// Of the pieces that the body of this part broke into, in their order. None where they do not fit it.
    fn broken(&self, pieces: &[Body]) -> Option<Vec<Self>> {
        let shapes: Vec<_> = pieces.iter().map(|piece| &*piece.def.shape).collect();
        let field = || {
            let mut field = FamilyField::clone(&self.field);
            let update = field.fracture(self.fragment, &shapes).ok()?;
            Some((Arc::new(field), update.fragments))
        };
        let hulls: Vec<_> = shapes.par_iter().map(|shape| hull(shape)).collect();
        let forests = || {
            let mut fracture = self.sampling.fracture(&self.forest, &shapes);
            for ((new, shape), hull) in fracture.cracks.iter_mut().zip(&shapes).zip(&hulls) {
                new.extend(corners(shape, hull).map(|position| CrackPoint { position, neighbour: None }));
            }
            self.forest.fracture(&fracture).ok()
        };
        let (field, forests) = rayon::join(field, forests);
        let ((field, fragments), forests) = (field?, forests?);
        let part = |(((fragment, forest), hull), shape): (((_, _), _), &&Shape)| Self {
            field: Arc::clone(&field),
            fragment,
            corners: places_of(corners(shape, &hull), &forest),
            outward: Arc::new(Outward::of(&forest)),
            walls: walls(shape, &hull),
            forest: Arc::new(forest),
            sampling: self.sampling,
            hull,
        };
        Some(fragments.into_iter().zip(forests).zip(hulls).zip(&shapes).map(part).collect())
    }

    /// Whether both are fragments of one field.
    #[cfg(test)]
    pub fn shares_field(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.field, &other.field)
    }

    /// The body, to be asked for depths. A part that is kept has one.
    pub fn fragment(&self) -> Option<Fragment<'_>> {
        Some(self.field.fragment(self.fragment)?.within(&self.walls))
    }
}

/// Corners of the hull of a shape, local space: what a shape stands on lies between the samples of its cells.
fn corners(shape: &Shape, hull: &Option<Arc<Solid>>) -> impl Iterator<Item = DVec3> {
    let (centre, unit) = (shape.centre(), shape.unit_m());
    let corners = hull.as_ref().map(|hull| hull.corners.clone());
    corners.into_iter().flatten().map(move |corner| centre + corner / unit)
}

/// Half-spaces that hold a shape of voxels, local space: over the faces of its hull. What has no hull has none.
fn walls(shape: &Shape, hull: &Option<Arc<Solid>>) -> Arc<[Wall]> {
    let (centre, unit) = (shape.centre(), shape.unit_m());
    let Some(hull) = hull.as_ref().filter(|_| shape.as_octree().is_some()) else { return Arc::default() };
    let wall = |face: &Face| Wall {
        normal: face.normal,
        reach: face.reach / unit + centre.dot(face.normal) + OVER_HULL_VOXELS,
    };
    hull.faces.iter().map(wall).collect()
}

/// What is known of bodies, by name. Of an empty shape it is known that there is nothing.
#[derive(Clone)]
pub struct Parts {
    /// Level of the cells of fields that are made, unless the body collides at a coarser one.
    field_level: u32,
    known: BTreeMap<BodyId, Option<Part>>,
}

impl Default for Parts {
    fn default() -> Self {
        Self { field_level: FIELD_LEVEL, known: BTreeMap::new() }
    }
}

impl Parts {
    /// What is known of a body.
    #[must_use]
    pub fn of(&self, id: BodyId) -> Option<&Part> {
        self.known.get(&id)?.as_ref()
    }

    /// Fields are of this level from now on; those of another level are forgotten. Says whether they were.
    pub fn set_field_level(&mut self, level: u32) -> bool {
        let changed = self.field_level != level;
        if changed {
            *self = Self { field_level: level, known: BTreeMap::new() };
        }
        changed
    }

    /// Makes what is missing of these bodies, on all cores.
    pub fn prepare<'a>(&mut self, bodies: impl Iterator<Item = &'a Body>) {
        let missing: BTreeMap<BodyId, &Body> =
            bodies.filter(|body| !self.known.contains_key(&body.id)).map(|body| (body.id, body)).collect();
        let missing: Vec<_> = missing.into_iter().collect();
        let level = self.field_level;
        let made: Vec<_> = missing.into_par_iter().map(|(id, body)| (id, Part::alone(body, level))).collect();
        self.known.extend(made);
    }

    /// What is known of `parent` is handed on to the pieces that it broke into.
    pub fn broke(&mut self, parent: &Body, pieces: &[Body]) {
        self.prepare(std::iter::once(parent));
        // What a field cannot follow begins by itself: an empty piece beside others, a piece on another grid.
        let Some(parts) = self.of(parent.id).and_then(|known| known.broken(pieces)) else { return };
        self.known.extend(pieces.iter().map(|piece| piece.id).zip(parts.into_iter().map(Some)));
    }

    /// Forgets bodies that are not there.
    pub fn keep(&mut self, left: &[Body]) {
        let there: BTreeSet<BodyId> = left.iter().map(|body| body.id).collect();
        self.known.retain(|id, _| there.contains(id));
    }
}
