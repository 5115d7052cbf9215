//! Parameters of a query of a sphere forest: the relative pose, and which contacts are enough.
//!
//! The floor and the walls: a half-space answers the elementary queries exactly, so that a body that lies on
//! it keeps a few contacts, however many of its points are below it (Glondu et al. 2012, fig. 5).
//!
//! # Data that a query leaves for the next query of the same two bodies
//!
//! In: the points that are no contacts, with an upper bound of the depth of each, and the bodies' later poses. Out: the
//! same bounds there: a depth grows by no more than the body has moved, except for steps in the surface
//! ([`Interior::step`]). So the next query tests only points that may have become deep enough since, however much of a
//! crack is near. Points are visited in the same order with and without this data, so that contacts do not depend on
//! it, and it need not be part of snapshots.

use glam::{DMat4, DVec3};

use super::{
    forest::SphereForest,
    interior::{Depth, Interior},
};

/// Where the forest's body lies in the local space of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    other_from_own: DMat4,
    /// Units of the other for one of the forest's, not rounded down.
    scale: f64,
}

impl Placement {
    /// From a rotation, translation and uniform scale: local space of the forest's body to that of the other.
    #[must_use]
    pub fn new(other_from_own: DMat4) -> Self {
        let axis = |axis: DVec3| other_from_own.transform_vector3(axis).length();
        let longest = axis(DVec3::X).max(axis(DVec3::Y)).max(axis(DVec3::Z));
        Self { other_from_own, scale: longest * (1.0 + 8.0 * f64::EPSILON) }
    }

    /// The transform, as it was given.
    pub(super) fn matrix(&self) -> DMat4 {
        self.other_from_own
    }

    /// Units of the other for one of the forest's.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// A point of the forest in the other's local space.
    #[must_use]
    pub fn place(&self, point: DVec3) -> DVec3 {
        self.other_from_own.transform_point3(point)
    }

    /// More than what rounding moves points of a forest by, units of the other.
    pub(super) fn slack(&self, forest: &SphereForest) -> f64 {
        let (centre, radius) = forest.bound;
        let reach = self.other_from_own.w_axis.truncate().length() + self.scale * (centre.length() + radius);
        64.0 * f64::EPSILON * reach
    }
}

/// Contacts that are searched beyond [`Selection::enough`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// All that is deeper than epsilon, as in the paper.
    #[default]
    Epsilon,
    /// Only what is deeper by epsilon than the deepest contact so far: hardly more than enough, however deep.
    Deepest,
    /// None: the query only tests whether anything touches.
    Nothing,
}

/// How contacts are chosen. Lengths are local units of the other body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Number of contacts that are enough; `None`: all.
    pub enough: Option<usize>,
    /// Depth up to which contacts may be left out. The paper: 0.2 % of the object's radius.
    pub epsilon: f64,
    /// Points outside that are so near are contacts, too; for steps in which something breaks. Not negative.
    pub tolerance: f64,
    /// Contacts that are searched beyond enough.
    pub beyond: Beyond,
    /// Whether directions need not be the best: [`TreeContact::way`](super::TreeContact::way) computes those of the few
    /// that are kept.
    pub quick: bool,
    /// Additional distance of the search for the bounds of the next query; after a motion of eight times this distance
    /// everything is tested again.
    pub slack: f64,
    /// Only points in this half-space, which contains all that may touch, are searched; local space of the other. Must
    /// be `None` with kept data.
    pub below: Option<HalfSpace>,
}

impl Selection {
    /// Eight contacts, and epsilon 0.2 % of the radius (local units of the other body), as in the paper.
    #[must_use]
    pub fn of_radius(radius: f64) -> Self {
        Self {
            enough: Some(8),
            epsilon: 0.002 * radius,
            tolerance: 0.0,
            beyond: Beyond::default(),
            quick: false,
            slack: 0.0,
            below: None,
        }
    }

    /// All contacts.
    #[must_use]
    pub fn all() -> Self {
        Self {
            enough: None,
            epsilon: 0.0,
            tolerance: 0.0,
            beyond: Beyond::default(),
            quick: false,
            slack: 0.0,
            below: None,
        }
    }
}

/// The half-space `normal . p < offset` is solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// Unit, out of the solid; world.
    pub normal: DVec3,
    /// World, m.
    pub offset: f64,
}

impl HalfSpace {
    /// How far `p` is out of the solid, m.
    #[must_use]
    pub fn height(&self, p: DVec3) -> f64 {
        p.dot(self.normal) - self.offset
    }
}

/// Its local space is the world, so a placement for it is that of the body in the world.
impl Interior for HalfSpace {
    fn inside(&self, p: DVec3) -> bool {
        self.height(p) < 0.0
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        let height = self.height(p);
        (height < 0.0).then_some(Depth { distance: -height, direction: self.normal })
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        self.height(p) < r
    }

    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth> {
        let distance = self.height(p);
        (0.0..=within).contains(&distance).then_some(Depth { distance, direction: self.normal })
    }

    fn depth_error(&self) -> f64 {
        0.0
    }
}

/// The depth of a point that was not tested; a point outside has -1.
pub(super) const UNKNOWN: f64 = f64::NEG_INFINITY;

/// A part of the forest that is still to be visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// A node, and what of it.
    pub node: u32,
    pub part: NodePart,
    /// Depth of its point, if it was tested at a node above; negative: outside, or [`UNKNOWN`].
    pub depth: f64,
    /// Nothing of it is deeper than this.
    pub most: f64,
    /// When that bound ends.
    pub passes: Passes,
}

/// When a point that is outside may be inside without having passed through the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    /// Ends at this motion, as counted by [`QueryCache`].
    pub way: f64,
    /// It is no deeper than this then.
    pub most: f64,
}

impl Passes {
    pub const NEVER: Self = Self { way: f64::INFINITY, most: f64::NEG_INFINITY };
}

/// Part of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodePart {
    /// Its point, if this is the point's first node, and its descendants.
    All,
    /// Its point alone.
    Point,
    /// Its descendants.
    Below,
}

/// After a motion of this number of slacks everything is tested again: bounds are wide then.
const MOST_SLACKS: f64 = 8.0;

/// How far bounds reach, local units of the other body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheBounds {
    /// Distance beyond the query's own within which bounds are kept.
    pub slack: f64,
    /// Points farther away than this have no bound but this distance.
    pub farthest: f64,
    /// The motion so far, as counted by [`QueryCache`].
    pub way: f64,
}

/// A bound.
#[derive(Clone, Copy, Debug)]
struct Entry {
    node: u32,
    part: NodePart,
    /// Upper bound of the depth, less the motion at that time, local units of the other.
    most: f32,
    /// The upper bound after a motion by which the point may have passed a step, and that motion.
    passes: [f32; 2],
}

/// Data of two bodies, of the points of the first in the second.
#[derive(Clone, Debug, Default)]
pub struct QueryCache {
    entries: Vec<Entry>,
    /// Upper bound of the motion of any point of the first in the second since the last full test, local units of the
    /// other.
    way: f64,
    farthest: f64,
    at: Option<DMat4>,
}

impl QueryCache {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bodies lie so now.
    pub(super) fn moved<I: Interior + ?Sized>(
        &mut self,
        forest: &SphereForest,
        other: &I,
        placement: &Placement,
        selection: &Selection,
    ) -> CacheBounds {
        let now = placement.matrix();
        let most = MOST_SLACKS * selection.slack;
        let way = self.at.map(|then| self.way + way(forest, other, (then, now), self.farthest));
        self.at = Some(now);
        match way.filter(|way| *way < most && selection.tolerance <= self.farthest) {
            Some(way) => self.way = way,
            None => {
                self.entries.clear();
                (self.way, self.farthest) = (0.0, selection.tolerance + most);
            }
        }
        CacheBounds { slack: selection.slack, farthest: self.farthest, way: self.way }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Open> {
        self.entries.iter().map(|&Entry { node, part, most, passes: [later, way] }| {
            let (most, later, way) =
                (f64::from(most) + self.way, f64::from(later) + self.way, f64::from(way));
            let (most, passes) = match self.way < way {
                true => (most, Passes { way, most: later }),
                false => (most.max(later), Passes::NEVER),
            };
            Open { node, part, depth: UNKNOWN, most, passes }
        })
    }

    pub(super) fn replace(&mut self, left: &[Open]) {
        self.entries.clear();
        let (farthest, way) = (self.farthest, self.way);
        // Depths are rounded up, motions down.
        let less_way = |most: f64| ((most - way) as f32).next_up();
        self.entries.extend(left.iter().map(|open| Entry {
            node: open.node,
            part: open.part,
            most: less_way(open.most.max(-farthest)),
            passes: [less_way(open.passes.most), (open.passes.way as f32).next_down()],
        }));
    }
}

/// How far points of the forest have moved in the other body at most, where they are no farther from it now than
/// `farthest`. For points farther away the bound is only that they do not get nearer than that by this motion.
fn way<I: Interior + ?Sized>(
    forest: &SphereForest,
    other: &I,
    (then, now): (DMat4, DMat4),
    farthest: f64,
) -> f64 {
    // A difference of rotations lengthens no vector by more than this.
    let turned = |m: DMat4| {
        let squares = m.x_axis.truncate().length_squared()
            + m.y_axis.truncate().length_squared()
            + m.z_axis.truncate().length_squared();
        (0.5 * squares).sqrt() * (1.0 + 1e-9)
    };
    let (centre, radius) = forest.bound;
    let moved = now - then;
    let own = moved.transform_point3(centre).length() + turned(moved) * radius;
    let Some((centre, radius)) = other.ball() else { return own };
    let back = DMat4::IDENTITY - then * now.inverse();
    let others = back.transform_point3(centre).length() + turned(back) * (radius + farthest);
    own.min(others)
}
