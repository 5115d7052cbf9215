//! Distance fields and sphere trees of the bodies that came near each other.
//!
//! In: bodies, and their pieces. Out: for every body the field of which it is a fragment, and its sphere tree. Both are
//! immutable: a break makes a new field (which differs only in the nodes of the broken fragment) and trees of the
//! pieces, so that snapshots of a world (`WorldSnapshot`) stay valid. Bodies that undo and the timeline restore one by
//! one get fields and trees of their own.
//!
//! # Normals of a body's own surface at the points of its tree
//!
//! In: a point of the tree. Out: the direction out of the body there, from its own field. Computed on first use: most
//! points never touch anything.
//!
//! # How near two bodies may come to each other in a step, and which of their points may touch
//!
//! In: two bodies that are near, with their hulls. Out: how much closer their surfaces may come, and half-spaces over
//! which no point of either can reach the other. Pieces of a break mostly fly apart: hardly any of their points is
//! searched then, however fast they are.
//!
//! # The direction out of a body beside its edges: over a face of its hull that supports the other body
//!
//! In: a point of one body beside the surface of the other, and the hulls of both. Out: its depth under a face of the
//! other's hull, and the face's normal. The nearest surface gives the shortest direction out for one point; if a corner
//! stands on a corner, that may be sideways, and beside an edge the voxels slant it. A face of the hull has one normal
//! everywhere, and it is used only if the whole other body lies beyond the point along it (a separating axis at that
//! point). Points off the hulls, as in a hollow, keep the nearest direction.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::{
    distance::{FamilyField, Fragment, FragmentId, MAX_FIELD_LEVEL, Wall},
    interior::Interior,
    spheres::{HalfSpace, ObjectPoint, Sampling, SphereForest, TreeContact},
};
use crate::{
    bodies::{
        Body, BodyId,
        broad_phase::{self, Motion},
        collide::convex::{Face, Solid, apart},
    },
    fracture::MethodOption,
    shape::Shape,
};

/// Octree level of the cells of a field, unless the body collides at a coarser one: 32 cells a side. Finer cells are
/// exact to a smaller depth, coarser ones make less of a copy.
pub const LEVEL: MethodOption = MethodOption {
    name: "field_level",
    help: "Octree level of the cells of distance fields.",
    default: 5.0,
    range: (1.0, MAX_FIELD_LEVEL as f64),
    whole: true,
};

/// The hull goes through samples of leaves, which stick out over it by no more than this.
pub const OVER_HULL_VOXELS: f64 = 1.5;

/// A body as part of a fracture.
#[derive(Clone)]
struct Piece {
    field: Arc<FamilyField>,
    fragment: FragmentId,
    /// Points of it, in local space of the whole object.
    forest: Arc<SphereForest>,
    sampling: Sampling,
}

/// Data of a body that is near another: with that of its hull.
#[derive(Clone)]
pub struct Part {
    piece: Piece,
    /// Points of it and corners of its hull, in local space of the whole object.
    pub forest: Arc<SphereForest>,
    /// The hull, body axes, m, and how far anything may lie outside of it, m.
    pub solid: (Arc<Solid>, f64),
    /// Corners of its hull, if it is not round: a round hull has as many corners as allowed, and samples are as good.
    pub hull: Option<Arc<Solid>>,
    /// Which points of the forest are the hull's corners.
    pub corners: Arc<[u32]>,
    /// Outward directions at the points of the forest.
    pub outward: Arc<Outward>,
    walls: Arc<[Wall]>,
}

impl Piece {
    /// Data of a new body, with a field of that level. `None` if its shape is empty.
    fn alone(body: &Body, field_level: u32) -> Option<Self> {
        let (shape, level) = (&*body.def.shape, body.def.collision_level());
        let field = FamilyField::at_need(shape, level.min(field_level).max(1)).ok()?;
        let sampling = Sampling::new(shape, level);
        let forest = Arc::new(SphereForest::build(&sampling.points(shape)));
        Some(Self { field: Arc::new(field), fragment: FragmentId::WHOLE, forest, sampling })
    }

    /// Whether it is of the level at which a body collides.
    fn is_for(&self, body: &Body) -> bool {
        self.sampling.level == Sampling::new(&body.def.shape, body.def.collision_level()).level
    }

    /// With what the hull of its shape says.
    fn with_hull(self, shape: &Shape) -> Part {
        let own = shape.convex_hull();
        let solid = Arc::new(Solid::of(own));
        let (hull, solid) = ((!own.is_full()).then(|| Arc::clone(&solid)), (solid, own.beyond));
        let at: Vec<ObjectPoint> =
            corners(shape, &hull).map(|position| ObjectPoint { position, on_surface: true }).collect();
        let (own, all) = (self.forest.len() as u32, (self.forest.len() + at.len()) as u32);
        let forest = match at.is_empty() {
            true => Arc::clone(&self.forest),
            false => Arc::new(self.forest.with(&at)),
        };
        let outward = Arc::new(Outward::of(&forest));
        let walls = walls(shape, &hull);
        Part { piece: self, forest, solid, hull, corners: (own..all).collect(), outward, walls }
    }
}

impl Part {
    /// Data of the pieces of these shapes into which the body of this part broke, in their order. `None` if they do not
    /// fit it.
    fn broken(&self, shapes: &[Arc<Shape>]) -> Option<Vec<Piece>> {
        let shapes: Vec<&Shape> = shapes.iter().map(|shape| &**shape).collect();
        let Piece { field, fragment, sampling, .. } = &self.piece;
        let field = || field.after(*fragment, &shapes).ok();
        let forests = || self.forest.fracture(&sampling.fracture(&self.forest, &shapes)).ok();
        let (field, forests) = rayon::join(field, forests);
        let ((field, fragments), forests) = (field?, forests?);
        let field = Arc::new(field);
        let piece = |(fragment, forest)| Piece {
            field: Arc::clone(&field),
            fragment,
            forest: Arc::new(forest),
            sampling: *sampling,
        };
        Some(fragments.into_iter().zip(forests).map(piece).collect())
    }

    /// Whether both are fragments of one field.
    #[cfg(test)]
    pub fn shares_field(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.piece.field, &other.piece.field)
    }

    /// The body as a fragment, for depths. A cached part has one.
    pub fn fragment(&self) -> Option<Fragment<'_>> {
        Some(self.piece.field.fragment(self.piece.fragment)?.within(&self.walls))
    }
}

/// Corners of the hull of a shape, local space: a shape rests on points between the samples of its cells.
fn corners(shape: &Shape, hull: &Option<Arc<Solid>>) -> impl Iterator<Item = DVec3> {
    let (centre, unit) = (shape.centre(), shape.unit_m());
    let corners = hull.as_ref().map(|hull| hull.corners.clone());
    corners.into_iter().flatten().map(move |corner| centre + corner / unit)
}

/// Half-spaces that contain a shape of voxels, local space: one per face of its hull; none without a hull.
fn walls(shape: &Shape, hull: &Option<Arc<Solid>>) -> Arc<[Wall]> {
    let (centre, unit) = (shape.centre(), shape.unit_m());
    let Some(hull) = hull.as_ref().filter(|_| shape.as_octree().is_some()) else { return Arc::default() };
    let wall = |face: &Face| Wall {
        normal: face.normal,
        reach: face.reach / unit + centre.dot(face.normal) + OVER_HULL_VOXELS,
    };
    hull.faces.iter().map(wall).collect()
}

/// A body that broke, and what it broke into.
struct Break {
    part: Part,
    names: Vec<BodyId>,
    shapes: Vec<Arc<Shape>>,
}

/// Cached data of one body.
#[derive(Clone)]
enum Known {
    /// Its shape is empty.
    Empty,
    /// That it is one of these pieces.
    Broken(Arc<Break>),
    /// The fracture that it comes from.
    Piece(Piece),
    /// All.
    Part(Part),
}

/// Cached data of bodies, by id.
#[derive(Clone)]
pub struct Parts {
    /// Level of the cells of fields that are made, unless the body collides at a coarser one.
    field_level: u32,
    known: BTreeMap<BodyId, Known>,
}

impl Default for Parts {
    fn default() -> Self {
        Self { field_level: LEVEL.default as u32, known: BTreeMap::new() }
    }
}

impl Parts {
    /// Data of a body that was prepared.
    #[must_use]
    pub fn of(&self, id: BodyId) -> Option<&Part> {
        match self.known.get(&id)? {
            Known::Part(part) => Some(part),
            Known::Empty | Known::Broken(_) | Known::Piece(_) => None,
        }
    }

    /// Fields are of this level from now on; those of another level are forgotten. Says whether they were.
    pub fn set_field_level(&mut self, level: u32) -> bool {
        let changed = self.field_level != level;
        if changed {
            *self = Self { field_level: level, known: BTreeMap::new() };
        }
        changed
    }

    /// Hands what was known of bodies that broke on to their pieces, where any of them is among these, on all cores. Says
    /// whether there was anything to do.
    pub fn follow(&mut self, bodies: &[&Body]) -> bool {
        let broken = |body: &&Body| match self.known.get(&body.id) {
            Some(Known::Broken(broken)) => Some((broken.names.clone(), Arc::clone(broken))),
            _ => None,
        };
        let breaks: BTreeMap<Vec<BodyId>, Arc<Break>> = bodies.iter().filter_map(broken).collect();
        let breaks: Vec<Arc<Break>> = breaks.into_values().collect();
        let made: Vec<_> = breaks.par_iter().map(|broken| broken.part.broken(&broken.shapes)).collect();
        for (broken, pieces) in breaks.iter().zip(made) {
            match pieces {
                Some(pieces) => {
                    for (id, piece) in broken.names.iter().zip(pieces) {
                        self.replace_broken(*id, Some(Known::Piece(piece)));
                    }
                }
                // Pieces that do not fit the field get fields of their own: an empty piece beside others, a piece on
                // another grid.
                None => broken.names.iter().for_each(|id| self.replace_broken(*id, None)),
            }
        }
        !breaks.is_empty()
    }

    /// Writes what is known of a piece, if it is still there.
    fn replace_broken(&mut self, id: BodyId, known: Option<Known>) {
        if let Some(Known::Broken(_)) = self.known.get(&id) {
            self.known.remove(&id);
            self.known.extend(known.map(|known| (id, known)));
        }
    }

    /// Makes what is missing of these bodies, on all cores; and what is of another level than they collide at now. Out: the
    /// bodies of which it is made anew.
    pub fn prepare<'a>(&mut self, bodies: impl Iterator<Item = &'a Body>) -> BTreeSet<BodyId> {
        let is_known = |body: &Body| match self.known.get(&body.id) {
            Some(Known::Part(part)) => part.piece.is_for(body),
            Some(Known::Empty) => true,
            Some(Known::Piece(_) | Known::Broken(_)) | None => false,
        };
        let missing: BTreeMap<BodyId, &Body> =
            bodies.filter(|body| !is_known(body)).map(|body| (body.id, body)).collect();
        let was_known = |id: &&BodyId| matches!(self.known.get(id), Some(Known::Part(_)));
        let anew = missing.keys().filter(was_known).copied().collect();
        self.follow(&missing.values().copied().collect::<Vec<_>>());
        let missing: Vec<_> = missing.into_iter().map(|(id, body)| (body, self.known.remove(&id))).collect();
        let level = self.field_level;
        let make = |(body, known): (&Body, Option<Known>)| {
            let piece = match known {
                Some(Known::Piece(piece)) if piece.is_for(body) => Some(piece),
                _ => Piece::alone(body, level),
            };
            let part = piece.map(|piece| Known::Part(piece.with_hull(&body.def.shape)));
            (body.id, part.unwrap_or(Known::Empty))
        };
        let made: Vec<_> = missing.into_par_iter().map(make).collect();
        self.known.extend(made);
        anew
    }

    /// Records that `parent` broke into these pieces. Their data are made when they come near something, so that the
    /// pieces of one break are prepared on all cores.
    pub fn broke(&mut self, parent: &Body, pieces: &[Body]) {
        self.prepare(std::iter::once(parent));
        let Some(part) = self.of(parent.id).cloned() else { return };
        let names: Vec<BodyId> = pieces.iter().map(|piece| piece.id).collect();
        let shapes = pieces.iter().map(|piece| Arc::clone(&piece.def.shape)).collect();
        let broken = Arc::new(Break { part, names, shapes });
        self.known.extend(pieces.iter().map(|piece| (piece.id, Known::Broken(Arc::clone(&broken)))));
    }

    /// Forgets bodies that are not there.
    pub fn keep(&mut self, left: &[Body]) {
        let there: BTreeSet<BodyId> = left.iter().map(|body| body.id).collect();
        self.known.retain(|id, _| there.contains(id));
    }
}

/// Outward directions at all points of a tree, local space.
#[derive(Debug, Default)]
pub struct Outward(Box<[OnceLock<Option<DVec3>>]>);

impl Outward {
    /// For the points of a tree.
    pub fn of(forest: &SphereForest) -> Self {
        Self((0..forest.len()).map(|_| OnceLock::new()).collect())
    }

    /// The direction at a point of the tree; `None` deep in the body.
    pub fn at(&self, point: u32, forest: &SphereForest, own: &Fragment<'_>) -> Option<DVec3> {
        let place = forest.position(point);
        let look = || own.reach(place, own.cell()).map(|on| own.quick_direction(place, &on.way));
        *self.0.get(point as usize)?.get_or_init(look)
    }
}

/// How two bodies come closer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// No point of either comes closer to the other's surface by more than this, m.
    pub closer: f64,
    /// Half-space per body (world) that holds all its points that may come within the margin of the other. `None`: no
    /// restriction.
    pub reaching: [Option<HalfSpace>; 2],
}

impl Approach {
    /// The approach of two bodies in `dt` s; they touch within `margin` m.
    ///
    /// Along the axis along which their hulls are farthest apart, or overlap least, only the motion along it counts. If
    /// a plane separates them, or nearly, that is how much closer they may come; if they overlap by more, only points
    /// in or near the overlap may come closer in any other direction.
    #[must_use]
    pub fn new([a, b]: [&Body; 2], parts: [&Part; 2], margin: f64, dt: f64) -> Self {
        let any_way = broad_phase::closer(a, b, dt);
        if any_way <= margin {
            return Self { closer: any_way, reaching: [None; 2] };
        }
        let [of_a, of_b] = parts.map(|part| &part.solid);
        let (apart, way) = apart([&of_a.0, &of_b.0], [a, b], margin);
        let across = (b.state.linear_velocity - a.state.linear_velocity).dot(way).max(0.0);
        let across = any_way.min((across + Motion::of(a).spin + Motion::of(b).spin) * dt);
        if apart - of_a.1 - of_b.1 >= -margin {
            return Self { closer: across, reaching: [None; 2] };
        }
        let near = across + margin;
        let reaching = [over(b, parts[1], way, near), over(a, parts[0], -way, near)].map(Some);
        Self { closer: any_way, reaching }
    }
}

/// The half-space of the points of a body that lie outside along `way` by no more than `near` m.
fn over(body: &Body, part: &Part, way: DVec3, near: f64) -> HalfSpace {
    let (solid, beyond) = &part.solid;
    let state = &body.state;
    let reach = solid.lined_up.reach(state.rotation.inverse() * way) + way.dot(state.position);
    let over_hull = match body.def.shape.as_octree() {
        Some(_) => OVER_HULL_VOXELS * body.def.shape.unit_m(),
        None => 0.0,
    };
    HalfSpace { normal: way, offset: reach + beyond + over_hull + near }
}

/// The surface lies on a face of the hull within this, voxels of the hull's body.
const ON_FACE: f64 = 0.75;
/// A body counts as beginning at a point along a direction within this, voxels of that body.
const BEGINS: f64 = 0.3;

/// The hulls of the body whose points are tested, and of the other body.
pub struct Faces<'a> {
    own: &'a Solid,
    other: &'a Solid,
    /// Centre of mass in local space and local unit (m) of both.
    space: [(DVec3, f64); 2],
    /// Turns the other's axes to one's own.
    own_from_other: DQuat,
}

impl<'a> Faces<'a> {
    /// The hulls of two bodies; `None` if one of them has no hull of few corners.
    pub fn new([own, other]: [&Body; 2], [of_own, of_other]: [&'a Part; 2]) -> Option<Self> {
        let space = [own, other].map(|body| (body.def.shape.centre(), body.def.shape.unit_m()));
        let own_from_other = own.state.rotation.inverse() * other.state.rotation;
        Some(Self { own: of_own.hull.as_deref()?, other: of_other.hull.as_deref()?, space, own_from_other })
    }

    /// Depth of a contact under the face of the other's hull on which it lies, local units of the other, and the normal
    /// there; `None` if it lies on no face that supports the point's body. `point` is in the local space of its own
    /// body.
    pub fn at(&self, point: DVec3, contact: &TreeContact) -> Option<(f64, DVec3)> {
        let [(own_centre, own_unit), (centre, unit)] = self.space;
        let own_point = (point - own_centre) * own_unit;
        let place = (contact.position - centre) * unit;
        let foot = place + contact.direction * (contact.depth * unit);
        let faces = self.other.faces.iter();
        let on_it = faces.filter(|face| (face.reach - face.normal.dot(foot)).abs() < ON_FACE * unit);
        let held = on_it.filter(|face| self.begins(own_point, face.normal, own_unit));
        let depths = held.map(|face| ((face.reach - face.normal.dot(place)) / unit, face.normal));
        depths.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Whether no part of the point's body lies before `point` along a direction of the other's axes.
    fn begins(&self, point: DVec3, direction: DVec3, own_unit: f64) -> bool {
        let way = self.own_from_other * direction;
        let least = point.dot(way) - BEGINS * own_unit;
        self.own.corners.iter().all(|corner| corner.dot(way) > least)
    }
}
