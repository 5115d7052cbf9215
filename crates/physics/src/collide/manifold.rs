//! Contact manifolds: a few points for each pair that touches.
//!
//! # Contacts that outlive a step
//!
//! In: a pair and its manifold of an earlier step. Out: whether that manifold is still valid, and its points at the
//! bodies' present poses. The points of a pair that has hardly moved against each other are not searched again but
//! carried along as plane and point, each fixed to its body. Newly found points jump by a part of a cell from step to
//! step, and a heap on jumping contacts never comes to rest; a search also costs far more than carrying. (Engines for
//! polyhedra keep persistent manifolds; here the whole manifold of a pair is kept or replaced.)
//!
//! # From thousands of collision points to the few contacts of a pair
//!
//! In: all collision points of a pair, and its contacts of the last step. Out: the deepest and the outermost of each
//! group of normals; points that persist keep the impulse of the last step.

use glam::{DQuat, DVec3};

use super::why::{ChosenAs, Persistence, Why};
use crate::{Body, BodyId, BodyState, body::index_of, integrate::angle_between};

/// A ball that approximates the surface round a contact, in the axes of the body, from its centre of mass,
/// m: the lowest point over a plane stays beneath its middle as the body turns, where a point of the body would rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Its middle.
    pub centre: DVec3,
    /// Its radius.
    pub radius: f64,
}

impl Ball {
    /// Where it is lowest along the unit vector `up`, world, of a body that lies so.
    #[must_use]
    pub fn lowest(
        &self,
        position: DVec3,
        rotation: impl std::ops::Mul<DVec3, Output = DVec3>,
        up: DVec3,
    ) -> DVec3 {
        position + rotation * self.centre - up * self.radius
    }
}

/// One point of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Identifies the point from step to step: direction, surfel and side.
    pub key: u64,
    /// Where, world, m.
    pub position: DVec3,
    /// Position on the first body, relative to its centre, in its axes, m; and on the second (on the floor: world).
    pub anchors: [DVec3; 2],
    /// From the second body (or the floor) to the first, world.
    pub normal: DVec3,
    /// The normal in the axes of the second body.
    pub plane: DVec3,
    /// Separation when the contact was found; the anchors were in one place then.
    pub found: f64,
    /// Gap beyond the gap at birth, m; negative when they overlap.
    pub separation: f64,
    /// Normal impulse of the last substep, N s.
    pub normal_impulse: f64,
    /// Friction impulse of the last substep, world, N s.
    pub friction_impulse: DVec3,
    /// Normal impulses of all substeps since the contacts were last searched, in sum, N s.
    pub total_impulse: f64,
    /// Friction impulses on the first body of the same substeps, in sum, world, N s.
    pub total_friction: DVec3,
    /// Normal impulses of all substeps of the last step, in sum, N s. A response leaves the two sums of a step alone:
    /// [`World::step`](crate::World::step) makes both from the totals of the step's searches.
    pub step_impulse: f64,
    /// Friction impulses on the first body of the same substeps, in sum, world, N s.
    pub step_friction: DVec3,
    /// Displacement of the first body along the second since the contact was found or last slid, world, m.
    pub slip: DVec3,
    /// Whether the contact slid in the last step.
    pub slid: bool,
    /// At a plane, where the first body's surface is part of a ball there.
    pub ball: Option<Ball>,
    /// The body, 0 or 1, with which the contact moves as the two approach, if they touch only later in the step;
    /// `None`: it stays halfway between both.
    pub follows: Option<u8>,
    /// Why the point is a contact.
    pub why: Why,
}

impl Point {
    /// A point at `position` (world, m) with the normal from `b`, or from a plane, to `a`; `separation` as the field.
    /// Its impulses are zero.
    #[must_use]
    pub fn new(
        key: u64,
        [a, b]: [Option<&Body>; 2],
        position: DVec3,
        normal: DVec3,
        separation: f64,
    ) -> Self {
        let in_body = |body: Option<&Body>, v: DVec3| body.map_or(v, |b| b.state.rotation.inverse() * v);
        let arm = |body: Option<&Body>| position - body.map_or(DVec3::ZERO, |b| b.state.position);
        Self {
            key,
            position,
            anchors: [in_body(a, arm(a)), in_body(b, arm(b))],
            normal,
            plane: in_body(b, normal),
            found: separation,
            separation,
            normal_impulse: 0.0,
            friction_impulse: DVec3::ZERO,
            total_impulse: 0.0,
            total_friction: DVec3::ZERO,
            step_impulse: 0.0,
            step_friction: DVec3::ZERO,
            slip: DVec3::ZERO,
            slid: false,
            ball: None,
            follows: None,
            why: Why::default(),
        }
    }
}

/// How often contacts are looked for in a step at most.
const MOST_SEARCHES: u32 = 4;
/// The same where the last search found at least so many points: every search costs the solver, which takes so many points
/// eight pairs at a time, new batches.
const MOST_SEARCHES_OF_MANY: (usize, u32) = (3000, 2);

/// How often contacts are looked for in a step at most, by the manifolds of the last search.
#[must_use]
pub fn most_searches(old: &[Manifold]) -> u32 {
    let points: usize = old.iter().map(|manifold| manifold.points.len()).sum();
    let (many, most_of_many) = MOST_SEARCHES_OF_MANY;
    if points < many { MOST_SEARCHES } else { most_of_many }
}

/// The contact points of one pair, or of one body and the floor.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// First body.
    pub first: BodyId,
    /// Second body; `None` is the floor.
    pub second: Option<BodyId>,
    /// Points; empty if the pair was near but did not touch.
    pub points: Vec<Point>,
    /// Impulse of rolling resistance between the two bodies, of the last substep, world, N m s.
    pub rolling_impulse: DVec3,
    /// Length up to which the search resolves, m: the edge of the larger cells for octrees.
    pub resolution_m: f64,
}

impl Manifold {
    /// Whether `id` is one of its bodies.
    #[must_use]
    pub fn touches(&self, id: BodyId) -> bool {
        self.first == id || self.second == Some(id)
    }

    /// Whether it carried anything in the last step.
    #[must_use]
    pub fn presses(&self) -> bool {
        self.points.iter().any(|p| p.total_impulse > 0.0)
    }

    /// Whether neither body can move. The world then keeps it until they wake. `bodies` are by ascending id.
    #[must_use]
    pub fn rests(&self, bodies: &[Body]) -> bool {
        let moves = |id| index_of(bodies, id).is_some_and(|k| bodies[k].moves());
        !moves(self.first) && !self.second.is_some_and(moves)
    }

    /// Marks the points as carried, where the bodies rest and nothing moves the points along.
    pub fn stay(&mut self) {
        // The first search after the bodies fell asleep marks all points, and later ones read one of them.
        if self.points.first().is_some_and(|p| p.why.persistence != Persistence::Carried) {
            self.points.iter_mut().for_each(|p| p.why.persistence = Persistence::Carried);
        }
    }

    /// Sort key of manifolds: pairs first, floor last.
    #[must_use]
    pub fn order(&self) -> (bool, BodyId, Option<BodyId>) {
        (self.second.is_none(), self.first, self.second)
    }
}

/// Where the manifold of a pair is in a sorted list.
#[must_use]
pub fn find(list: &[Manifold], first: BodyId, second: Option<BodyId>) -> Option<usize> {
    let order = (second.is_none(), first, second);
    list.binary_search_by(|m| m.order().cmp(&order)).ok()
}

/// Two unit vectors across `n`.
#[must_use]
pub fn tangents(n: DVec3) -> (DVec3, DVec3) {
    n.normalize_or(DVec3::Y).any_orthonormal_pair()
}

/// A pair is searched again once a point has moved this far against the other body, cells, or would in the coming step.
/// Twice this is less than the margin within which contacts are made, so nothing is missed.
const CARRY_CELLS: f64 = 0.1;

/// How one body of a pair lies to the other: the smaller in the axes of the larger, since that is where
/// turning moves points least. Floor and walls are larger than any body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativePose {
    position: DVec3,
    rotation: DQuat,
}

impl RelativePose {
    /// Two bodies with equal poses.
    pub const SAME: Self = Self { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// The pose of `a` relative to `b`, or to the planes.
    #[must_use]
    pub fn new(a: &Body, b: Option<&Body>) -> Self {
        let Some(b) = b else {
            return Self { position: a.state.position, rotation: a.state.rotation };
        };
        let (small, large) = if a.def.radius() <= b.def.radius() { (a, b) } else { (b, a) };
        let inverse = large.state.rotation.inverse();
        Self {
            position: inverse * (small.state.position - large.state.position),
            rotation: inverse * small.state.rotation,
        }
    }

    /// Farthest that a point within `radius` of the smaller body's centre has moved since `then`.
    #[must_use]
    pub fn way(&self, then: &Self, radius: f64) -> f64 {
        // A quaternion and its negative are one rotation.
        let turned = angle_between(self.rotation, then.rotation);
        let turned = turned.min(std::f64::consts::TAU - turned);
        (self.position - then.position).length() + turned * radius
    }
}

/// Speed at which points of the smaller body may move against the larger, at most, m/s.
#[must_use]
pub fn speed_between(a: &Body, b: Option<&Body>) -> f64 {
    let still = BodyState::at(DVec3::ZERO);
    let other = b.map_or(&still, |b| &b.state);
    let (small, large) = match b {
        Some(b) if b.def.radius() < a.def.radius() => (b, &a.state),
        _ => (a, other),
    };
    let arm = small.state.position - large.position;
    let v = small.state.linear_velocity - large.linear_velocity - large.angular_velocity.cross(arm);
    let turn = if b.is_some() {
        small.state.angular_velocity - large.angular_velocity
    } else {
        small.state.angular_velocity
    };
    v.length() + turn.length() * small.def.radius()
}

/// How far the bodies of a manifold of this resolution may move against each other before it is searched again, m.
#[must_use]
pub fn carry_way(resolution_m: f64) -> f64 {
    CARRY_CELLS * resolution_m
}

/// Whether a manifold that was found at the relative pose `then` is still valid in the coming `dt`; `resolution_m` is
/// the manifold's own.
#[must_use]
pub fn holds(resolution_m: f64, then: &RelativePose, a: &Body, b: Option<&Body>, dt: f64) -> bool {
    let radius = b.map_or(f64::MAX, |b| b.def.radius()).min(a.def.radius());
    let near = carry_way(resolution_m);
    speed_between(a, b) * dt <= near && RelativePose::new(a, b).way(then, radius) <= near
}

/// Moves the points to the bodies' present poses.
pub fn carry(manifold: &mut Manifold, bodies: &[Body]) {
    let find = |id| index_of(bodies, id).map(|i| &bodies[i]);
    let Some(a) = find(manifold.first) else { return };
    let b = manifold.second.and_then(find);
    for p in &mut manifold.points {
        *p = moved(p, a, b);
        p.why.persistence = Persistence::Carried;
    }
}

/// A point where the bodies now are.
#[must_use]
pub fn moved(p: &Point, a: &Body, b: Option<&Body>) -> Point {
    let on_a = a.state.position + a.state.rotation * p.anchors[0];
    let (on_b, normal) = match b {
        Some(b) => (b.state.position + b.state.rotation * p.anchors[1], b.state.rotation * p.plane),
        None => (p.anchors[1], p.plane),
    };
    let apart = on_a - on_b;
    let lowest = p.ball.map(|ball| ball.lowest(a.state.position, a.state.rotation, normal));
    let along = (lowest.unwrap_or(on_a) - on_b).dot(normal);
    let slip = apart.reject_from_normalized(normal);
    let position = if b.is_some() { (on_a + on_b) * 0.5 } else { lowest.unwrap_or(on_a) };
    let mut out = Point { position, normal, separation: p.found + along, slip, ..*p };
    if p.slid {
        // It sticks again where it is now.
        out.slip = DVec3::ZERO;
        out.slid = false;
        out.anchors[1] = match b {
            Some(b) => b.state.rotation.inverse() * (on_b + slip - b.state.position),
            None => on_b + slip,
        };
    }
    out
}

/// Groups of normals a pair may have.
const MAX_GROUPS: usize = 6;
/// Normals closer than this cosine are one group.
pub(super) const SAME_GROUP: f64 = 0.85;
/// Directions in which a group's outermost points are kept.
const SPREAD: usize = 8;
/// A point of the last manifold is kept until another beats it by this much, cells.
const LOYALTY_CELLS: f64 = 0.15;
/// The deepest point is kept if it is deeper than the outermost by this much, cells.
const DEEPER_CELLS: f64 = 0.02;

/// Groups by normal; keeps the deepest and the outermost of each group, and writes into each which of these it is.
/// `known` are the points of the last step, `cell` is the resolution of the pair, m.
#[must_use]
pub fn reduce(points: &[Point], known: &[Point], cell: f64) -> Vec<Point> {
    let loyal = |p: &Point| if known.iter().any(|k| k.key == p.key) { LOYALTY_CELLS * cell } else { 0.0 };
    let bonus: Vec<f64> = points.iter().map(loyal).collect();
    let mut open: Vec<usize> = (0..points.len()).collect();
    let mut out = Vec::new();
    for _ in 0..MAX_GROUPS {
        // A point of the last manifold counts as deeper by a tenth of a cell's loyalty: enough to break ties, too
        // little to hide depth.
        let depth = |&i: &usize| points[i].separation - 0.1 * bonus[i];
        let Some(deepest) = open.iter().copied().min_by(|a, b| depth(a).total_cmp(&depth(b))) else {
            break;
        };
        let normal = points[deepest].normal;
        let (group, left): (Vec<usize>, Vec<usize>) =
            open.into_iter().partition(|&i| points[i].normal.dot(normal) > SAME_GROUP);
        open = left;
        let mut kept = Vec::new();
        let (t, u) = tangents(normal);
        let touching = points[deepest].separation.max(0.0);
        let centre = points[deepest].position;
        for d in 0..SPREAD {
            // Off the axes, so that a box has no ties but corners.
            let angle = std::f64::consts::TAU * (d as f64 + 0.5) / SPREAD as f64;
            let (s, c) = libm::sincos(angle);
            let way = t * c + u * s;
            // Points that do not touch count less than those that do.
            let reach = |&i: &usize| {
                let apart = (points[i].separation - touching).max(0.0);
                (points[i].position - centre).dot(way) + bonus[i] - 10.0 * apart
            };
            let best = group.iter().copied().max_by(|a, b| reach(a).total_cmp(&reach(b)).then(b.cmp(a)));
            if let Some(best) = best
                && !kept.contains(&best)
            {
                kept.push(best);
            }
        }
        // The deepest counts if it stands out; on a flat face it would only load one spot more than the others.
        let outer = kept.iter().map(|&i| points[i].separation).fold(f64::MAX, f64::min);
        let is_outermost = kept.contains(&deepest);
        if kept.len() < 3 || points[deepest].separation < outer - DEEPER_CELLS * cell {
            kept.retain(|&i| i != deepest);
            kept.push(deepest);
        }
        out.extend(kept.into_iter().map(|i| {
            let chosen_as = match points[i].why.chosen_as {
                ChosenAs::Every if i == deepest && !is_outermost => ChosenAs::Deepest,
                ChosenAs::Every => ChosenAs::Outermost,
                replaces_others => replaces_others,
            };
            Point { why: points[i].why.chosen_as(chosen_as), ..points[i] }
        }));
    }
    out
}

/// Copies impulses from the last step: from the same point, else from the nearest within a cell. Marks points that are
/// the same.
pub fn inherit(points: &mut [Point], known: &[Point], cell: f64) {
    let mut taken = vec![false; known.len()];
    let mut missing = Vec::new();
    let copy = |p: &mut Point, k: &Point| {
        (p.normal_impulse, p.friction_impulse) = (k.normal_impulse, k.friction_impulse);
        // A search in the middle of a step goes on with the sums of the step.
        (p.step_impulse, p.step_friction) = (k.step_impulse, k.step_friction);
    };
    for (i, p) in points.iter_mut().enumerate() {
        match known.iter().position(|k| k.key == p.key && k.normal.dot(p.normal) > SAME_GROUP) {
            Some(k) => {
                taken[k] = true;
                copy(p, &known[k]);
                p.why.persistence = Persistence::Again;
            }
            None => missing.push(i),
        }
    }
    for i in missing {
        let p = &mut points[i];
        let near = (0..known.len())
            .filter(|&k| !taken[k] && known[k].normal.dot(p.normal) > SAME_GROUP)
            .map(|k| ((known[k].anchors[0] - p.anchors[0]).length(), k))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some((distance, k)) = near
            && distance < 1.5 * cell
        {
            taken[k] = true;
            copy(p, &known[k]);
        }
    }
}
