//! Contacts of two bodies: the points of each that lie in the other.
//!
//! In: two bodies with their fields and sphere trees. Out: their manifold. Each tree is queried against the other field
//! (Glondu et al. 2012, sec. 3), and points that will lie in the other body within the step are contacts, too. The
//! normal of a contact is the direction to the nearest surface.

use super::{
    choice::Choice,
    distance::Fragment,
    interior::{Interior, Way},
    pairs::PairMemory,
    parts::{Approach, Faces, Part},
    spheres::{HalfSpace, Placement, Scratch, Selection, TreeContact},
    time_of_impact::{LeafSide, Place, TimeOfImpact, after, time_of_impact},
};
use crate::bodies::{
    Body, Plane,
    collide::{
        Ball, ChosenAs, FoundAs, MARGIN_CELLS, Manifold, Point, RelativePose, SmoothSide, Touch, Why,
        ball_over,
        convex::hull_at_plane,
        hop, inherit, leave_to_ball, moved, nearest,
        pairwise::{Met, NearTwo, Record, plane_key, point_at_plane},
        reduce,
    },
};
use glam::DVec3;

/// The depth that a point of a sibling's crack had where both were made is subtracted within the first distance of that
/// place, and no longer beyond the second, voxels.
const FORGIVEN: [f64; 2] = [1.0, 2.0];
/// No depth of a point counts within this distance of the place where the point was made, voxels: a rough surface has steps between
/// leaves, where a rounding decides how deep the point lies.
const HAIR: f64 = 1e-3;
/// Pairs that approach by more than this share of the smaller radius in a step are fast: their contacts are searched at
/// the time of contact.
const FAST: f64 = 0.5;
/// Largest number of steps of a contact on smooth surfaces towards the place where they are nearest.
const MOST_HOPS: usize = 8;
/// Surfaces touch if the dot product of their normals is below this, as for octrees.
const OPPOSING: f64 = -0.1;
/// Points deeper than this, cells, are contacts whatever surface they came in through.
const DEEP_CELLS: f64 = 0.5;
/// Two points on smooth surfaces count as one within this number of cells, if the cosine of their normals is at least
/// this.
const SAME_CELLS: f64 = 0.5;
const SAME_NORMAL: f64 = 0.99;
/// In the names of points: whose they are, and that they touch only if the body turns.
const OF_SECOND: u64 = 1 << 32;
const TURNED: u64 = 1 << 33;
/// Number of points, well apart, that lie all round a body.
const MOST_TURNED: usize = 32;

/// The manifold of two bodies that may touch within the step, and its record. `choice` selects the points of each query;
/// if it keeps all of them, they are neither thinned nor moved together.
#[must_use]
pub fn meet(
    near: &NearTwo<'_, ()>,
    (parts, choice): ([&Part; 2], &Choice),
    memory: &mut PairMemory,
    scratch: &mut Scratch,
) -> Met<()> {
    let [a, b] = near.bodies;
    let cell = a.def.resolution_m().min(b.def.resolution_m());
    let margin = MARGIN_CELLS * cell;
    let approach = Approach::new([a, b], parts, margin, near.dt);
    let closer = approach.closer;
    let known: Vec<Point> =
        near.old.map_or(&[][..], |m| &m.points).iter().map(|p| moved(p, a, Some(b))).collect();
    let pair = Pair { bodies: [a, b], parts, choice, approach };
    let is_fast = closer > FAST * a.def.radius().min(b.def.radius());
    let mut ways = Vec::new();
    let [points, turned] = match is_fast.then(|| time_of_impact(&pair, margin, near.dt, scratch)) {
        None => [pair.points((&known, margin + closer), (scratch, memory), &mut ways)?, Vec::new()],
        Some(TimeOfImpact::Touches) => {
            [pair.points((&known, margin), (scratch, memory), &mut ways)?, Vec::new()]
        }
        Some(TimeOfImpact::Meets { time, gap }) => {
            pair.points_after(time, (&known, margin.max(2.0 * gap)), (scratch, memory))?
        }
        Some(TimeOfImpact::Passes) => [Vec::new(), Vec::new()],
    };
    let record =
        Record { pose: RelativePose::new(a, Some(b)), touches: points.len(), clear_m: None, known: () };
    if points.is_empty() {
        return Some((None, record));
    }
    let mut kept = if choice.keeps_all() { points } else { reduce(&points, &known, cell) };
    kept.iter_mut().try_for_each(|point| pair.direct(point, &ways))?;
    kept.extend(turned);
    let strangers = a.def.family != b.def.family;
    let sides = || Some([LeafSide::new(a, &parts[0].fragment()?)?, LeafSide::new(b, &parts[1].fragment()?)?]);
    if let Some(sides) = (strangers && !is_fast && !choice.keeps_all()).then(sides).flatten() {
        kept = at_nearest(kept, sides, cell, closer);
    }
    inherit(&mut kept, &known, cell);
    let rolling_impulse = near.old.map_or(DVec3::ZERO, |m| m.rolling_impulse);
    let manifold =
        Manifold { first: a.id, second: Some(b.id), points: kept, rolling_impulse, resolution_m: cell };
    Some((Some(manifold), record))
}

/// How the best direction of a point follows.
pub struct WayOut {
    key: u64,
    /// Local space of the body that the point lies in.
    position: DVec3,
    way: Way,
}

/// Two bodies that may touch, with the data of each.
pub struct Pair<'a> {
    /// The bodies.
    pub bodies: [&'a Body; 2],
    /// Their fields and trees.
    pub parts: [&'a Part; 2],
    /// Which points are contacts.
    pub choice: &'a Choice,
    /// How they approach until their next search.
    pub approach: Approach,
}

impl Pair<'_> {
    /// The points of each within `reach` m of the other; `known` were its last contacts.
    fn points(
        &self,
        (known, reach): (&[Point], f64),
        (scratch, memory): (&mut Scratch, &mut PairMemory),
        ways: &mut Vec<WayOut>,
    ) -> Option<Vec<Point>> {
        let mut points = self.points_of(0, (known, reach), (scratch, memory, ways))?;
        points.extend(self.points_of(1, (known, reach), (scratch, memory, ways))?);
        Some(points)
    }

    /// Contacts at points of the body of this number near the other.
    fn points_of(
        &self,
        number: usize,
        (known, reach): (&[Point], f64),
        (scratch, memory, ways): (&mut Scratch, &mut PairMemory, &mut Vec<WayOut>),
    ) -> Option<Vec<Point>> {
        let [own, other] = [number, 1 - number].map(|k| self.bodies[k]);
        let [part, of_other] = [number, 1 - number].map(|k| self.parts[k]);
        let is_second = number == 1;
        let fragment = of_other.fragment()?;
        let world_from_own = own.def.world_from_grid(&own.state);
        let world_from_other = other.def.world_from_grid(&other.state);
        let unit = other.def.shape.unit_m();
        let placement = Placement::new(world_from_other.inverse() * world_from_own);
        let is_own = |p: &&Point| p.key & TURNED == 0 && (p.key & OF_SECOND != 0) == is_second;
        // Pieces of one object share a local space. Overlap where they were made causes no contact.
        let grid = |body: &Body| body.def.shape.as_octree().map(|octree| octree.grid);
        let are_siblings =
            own.def.family == other.def.family && own.def.shape.unit_m() == unit && grid(own) == grid(other);
        let faces = Faces::new([own, other], [part, of_other]).filter(|_| !are_siblings);
        // A body with few corners rests on them.
        let corners = if faces.is_some() { &part.corners[..] } else { &[] };
        let known = known.iter().filter(is_own).map(|p| p.key as u32);
        let known: Vec<u32> = corners.iter().copied().chain(known).collect();
        let selection = self.choice.selection(own, reach, unit);
        let is_new = memory.is_new();
        let (kept, births) = (&mut memory.kept[number], &mut memory.births[number]);
        // Pairs that approach by more than that have to search everything again, and most new pieces fly apart.
        if self.approach.closer > selection.slack * unit || (is_new && are_siblings) {
            let below = self.approach.reaching[number].map(|reaching| local(reaching, other));
            let selection = Selection { below, ..selection };
            part.forest.query_again(&fragment, &placement, &selection, &known, scratch);
        } else {
            part.forest.query_kept(&fragment, &placement, &selection, &known, (kept, &mut *scratch));
        }
        let own_fragment = part.fragment()?;
        let other_from_own = other.state.rotation.inverse() * own.state.rotation;
        // The nearest surface of something thin may be the far one, or its rim: that is not what the point came in
        // through.
        let deep = DEEP_CELLS * own.def.resolution_m().min(other.def.resolution_m()) / unit;
        let opposed = |contact: &TreeContact| {
            if contact.depth > deep {
                return true;
            }
            let own_way = part.outward.at(contact.point, &part.forest, &own_fragment);
            own_way.is_none_or(|outward| (other_from_own * outward).dot(contact.direction) < OPPOSING)
        };
        let found_as = found_as(scratch.contacts(), &known, self.choice);
        let mut point = |(number, contact): (usize, &TreeContact)| {
            let at_birth = if are_siblings {
                forgiven(&fragment, part.forest.position(contact.point), contact, births)
            } else {
                0.0
            };
            let on_face =
                faces.as_ref().and_then(|faces| faces.at(part.forest.position(contact.point), contact));
            if on_face.is_none() && !opposed(contact) {
                return None;
            }
            let (depth, direction) = on_face.unwrap_or((contact.depth, contact.direction));
            let gap = (at_birth - depth) * unit;
            let out = other.state.rotation * direction;
            // Halfway between the point and the surface.
            let place = world_from_other.transform_point3(contact.position + direction * (0.5 * depth));
            let key = u64::from(contact.point) | if is_second { OF_SECOND } else { 0 };
            if on_face.is_none() {
                ways.push(WayOut { key, position: contact.position, way: contact.way });
            }
            let (bodies, normal) = if is_second { ([other, own], -out) } else { ([own, other], out) };
            let point = Point::new(key, bodies.map(Some), place, normal, gap);
            Some(Point { why: found_as(number).into(), ..point })
        };
        Some(scratch.contacts().iter().enumerate().filter_map(&mut point).collect())
    }

    /// Computes the best direction of a point: that takes longer than all the rest, so it is done only for the points
    /// that are kept.
    fn direct(&self, point: &mut Point, ways: &[WayOut]) -> Option<()> {
        let Some(out) = ways.iter().find(|out| out.key == point.key) else { return Some(()) };
        let [a, b] = self.bodies;
        let is_of_second = point.key & OF_SECOND != 0;
        let other = usize::from(!is_of_second);
        let fragment = self.parts[other].fragment()?;
        let direction = self.bodies[other].state.rotation * fragment.direction(out.position, &out.way);
        let normal = if is_of_second { -direction } else { direction };
        let directed = Point::new(point.key, [Some(a), Some(b)], point.position, normal, point.separation);
        *point = Point { why: point.why, ..directed };
        Some(())
    }

    /// The points at the poses after `time` s, at the bodies' present poses; and [`Self::turned`].
    fn points_after(
        &self,
        time: f64,
        (known, reach): (&[Point], f64),
        (scratch, memory): (&mut Scratch, &mut PairMemory),
    ) -> Option<[Vec<Point>; 2]> {
        let [a, b] = self.bodies;
        let then = self.bodies.map(|body| after(body, time));
        let approach = Approach { reaching: [None; 2], ..self.approach };
        let pair = Pair { bodies: [&then[0], &then[1]], approach, ..*self };
        let mut ways = Vec::new();
        let mut points = pair.points((known, reach), (scratch, memory), &mut ways)?;
        points.iter_mut().try_for_each(|point| pair.direct(point, &ways))?;
        let small = usize::from(b.def.radius() < a.def.radius());
        let turned = pair.turned(small, &points)?;
        let now = |p: &Point| {
            let on = [a, b].map(|body| body.state.position);
            let on_a = on[0] + a.state.rotation * p.anchors[0];
            let on_b = on[1] + b.state.rotation * p.anchors[1];
            let normal = b.state.rotation * p.plane;
            let gap = p.separation + (on_a - on_b).dot(normal);
            // The smaller one's place is where it will be pushed.
            let later = gap > reach;
            let at = if later { [on_a, on_b][small] } else { (on_a + on_b) * 0.5 };
            let point = Point::new(p.key, [Some(a), Some(b)], at, normal, gap);
            Point { follows: later.then_some(small as u8), why: p.why, ..point }
        };
        Some([points, turned].map(|points| points.iter().map(now).collect()))
    }

    /// Points of the body `own` that touch next if it turns about its contacts: a fast body turns by much before its
    /// next search, and with one contact point alone it would turn into the other body. They count if the other body
    /// lies behind the plane of the deepest of `points`.
    fn turned(&self, own: usize, points: &[Point]) -> Option<Vec<Point>> {
        let [body, other] = [self.bodies[own], self.bodies[1 - own]];
        let fragment = self.parts[1 - own].fragment()?;
        let cell = body.def.resolution_m().max(other.def.resolution_m());
        let deepest = points.iter().min_by(|a, b| a.separation.total_cmp(&b.separation));
        let Some(deepest) = deepest else { return Some(Vec::new()) };
        let out = if own == 0 { deepest.normal } else { -deepest.normal };
        let forest = &self.parts[own].forest;
        let world_from_own = body.def.world_from_grid(&body.state);
        let point = |index: u32| {
            let place = world_from_own.transform_point3(forest.position(index));
            let height = (place - deepest.position).dot(out);
            let foot =
                other.def.shape.to_local(other.state.position, other.state.rotation, place - out * height);
            let key = TURNED | u64::from(index) | if own == 1 { OF_SECOND } else { 0 };
            let [a, b] = self.bodies;
            let behind = fragment.sphere_meets(foot, cell / other.def.shape.unit_m());
            behind.then(|| {
                let place = place - out * (0.5 * height);
                let point = Point::new(key, [Some(a), Some(b)], place, deepest.normal, height);
                Point { why: FoundAs::Turned.into(), ..point }
            })
        };
        Some((0..forest.len().min(MOST_TURNED) as u32).filter_map(point).collect())
    }
}

/// How a query came upon its contacts, by their number: points that it tests first come first, then those that were
/// missing to enough, then deeper ones.
fn found_as(contacts: &[TreeContact], known: &[u32], choice: &Choice) -> impl Fn(usize) -> FoundAs + use<> {
    let enough = choice.enough;
    let tested_first = match enough {
        None => 0,
        Some(_) => contacts.iter().take_while(|contact| known.contains(&contact.point)).count(),
    };
    move |number| match enough {
        None => FoundAs::Place,
        Some(_) if number < tested_first => FoundAs::Known,
        Some(enough) if number < enough => FoundAs::First,
        Some(_) => FoundAs::Deeper,
    }
}

/// A half-space of the world in the local space of a body.
fn local(half_space: HalfSpace, body: &Body) -> HalfSpace {
    let HalfSpace { normal, offset } = half_space;
    let origin = body.def.world_from_grid(&body.state).transform_point3(DVec3::ZERO);
    let offset = (offset - normal.dot(origin)) / body.def.shape.unit_m();
    HalfSpace { normal: body.state.rotation.inverse() * normal, offset }
}

/// The points, moved to where smooth surfaces are nearest; of those that reach one place the deepest is kept. Bodies
/// may approach by `way` m before they touch.
fn at_nearest(points: Vec<Point>, sides: [LeafSide<'_>; 2], cell: f64, way: f64) -> Vec<Point> {
    let bodies = sides.each_ref().map(|side| Some(side.body()));
    let mut out: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        let reach = point.separation.abs() + cell;
        let places = [(0, -point.normal), (1, point.normal)]
            .map(|(s, outward)| sides[s].place(point.position, outward, reach));
        let touch = Touch { position: point.position, normal: point.normal, separation: point.separation };
        let touch = match places {
            [Some(a), Some(b)] => nearest_from([&sides[0], &sides[1]], [a, b], touch, cell, way),
            _ => None,
        };
        let Some(touch) = touch else {
            out.push(point);
            continue;
        };
        let same = |p: &Point| {
            p.position.distance(touch.position) < SAME_CELLS * cell
                && p.normal.dot(touch.normal) > SAME_NORMAL
        };
        let moved = Point::new(point.key, bodies, touch.position, touch.normal, touch.separation);
        let moved = Point { why: point.why.chosen_as(ChosenAs::Nearest), ..moved };
        match out.iter_mut().find(|p| same(p)) {
            Some(known) if moved.separation < known.separation => *known = moved,
            Some(_) => {}
            None => out.push(moved),
        }
    }
    out
}

/// The contact of two points where their surfaces are nearest: the contacts of fast bodies are searched far ahead, and
/// the first points are far from the final contact.
fn nearest_from(
    sides: [&LeafSide<'_>; 2],
    mut at: [Place; 2],
    mut touch: Touch,
    cell: f64,
    way: f64,
) -> Option<Touch> {
    for _ in 0..MOST_HOPS {
        let (next, near) = hop(sides, at, touch, cell)?;
        if near {
            break;
        }
        touch = next;
        at = [sides[0].beside(at[0], touch.position)?, sides[1].beside(at[1], touch.position)?];
    }
    nearest(sides, at, touch, cell, way)
}

/// How deep a point was in its sibling where both were made, as far as that still counts, local units: siblings have
/// one local space, so there it lay at `made`.
fn forgiven(other: &Fragment<'_>, made: DVec3, now: &TreeContact, births: &mut Vec<(u32, f64)>) -> f64 {
    let moved = made.distance(now.position);
    if moved < HAIR {
        return now.depth.max(0.0);
    }
    let counts = (FORGIVEN[1] - moved) / (FORGIVEN[1] - FORGIVEN[0]);
    if counts <= 0.0 {
        return 0.0;
    }
    let known = births.iter().find(|(point, _)| *point == now.point).map(|(_, depth)| *depth);
    let depth = known.unwrap_or_else(|| {
        let depth = other.reach(made, 0.0).map_or(0.0, |reached| reached.depth);
        births.push((now.point, depth));
        depth
    });
    counts.min(1.0) * depth
}

/// Contacts at points of a body within `near` m of the plane with this index. A body with a hull of few corners rests
/// on these, whether or not it is hollow; if `choice` keeps all points, every body rests on all of its points.
#[must_use]
pub fn at_plane(
    body: &Body,
    (part, choice): (&Part, &Choice),
    (number, plane): (usize, &Plane),
    (known, near): (&[Point], f64),
    scratch: &mut Scratch,
) -> Vec<Point> {
    if let Some(hull) = part.hull.as_ref().filter(|_| !choice.keeps_all()) {
        return hull_at_plane(body, hull, (number, plane), near);
    }
    let placement = Placement::new(body.def.world_from_grid(&body.state));
    let floor = HalfSpace { normal: plane.normal, offset: plane.offset };
    let known: Vec<u32> = known.iter().filter_map(|p| point_at_plane(number, p.key)).collect();
    part.forest.query_again(&floor, &placement, &choice.selection(body, near, 1.0), &known, scratch);
    let named = |point: u32, place: DVec3| {
        Point::new(plane_key(number, point), [Some(body), None], place, plane.normal, plane.distance(place))
    };
    let contacts = scratch.contacts();
    let found_as = found_as(contacts, &known, choice);
    let point = |(number, contact): (usize, &TreeContact)| Point {
        why: found_as(number).into(),
        ..named(contact.point, contact.position)
    };
    let mut points: Vec<Point> = contacts.iter().enumerate().map(point).collect();
    if choice.keeps_all() {
        return points;
    }
    let lowest = contacts.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
    if let Some((point, place, ball)) = lowest.and_then(|lowest| ball_at_plane(body, part, plane, lowest)) {
        leave_to_ball(&mut points, body, plane, &ball, body.def.resolution_m());
        if plane.distance(place) < near {
            let why = Why::from(FoundAs::Place).chosen_as(ChosenAs::Ball);
            points.push(Point { ball: Some(ball), why, ..named(point, place) });
        }
    }
    points
}

/// Where a body lies on a part of a ball: the point of the lowest contact, the lowest place, and the ball.
fn ball_at_plane(
    body: &Body,
    part: &Part,
    plane: &Plane,
    lowest: &TreeContact,
) -> Option<(u32, DVec3, Ball)> {
    let side = LeafSide::new(body, &part.fragment()?)?;
    let cell = body.def.resolution_m();
    let at = side.place(lowest.position, -plane.normal, cell)?;
    let (place, ball) = ball_over(&side, at, plane, lowest.position, cell)?;
    Some((lowest.point, place, ball))
}
