//! Contacts with planes, the floor and walls: each octree is descended against each plane.
//!
//! In: bodies and planes. Out: one manifold for each body near any. Which cells matter is decided at the
//! physics level; how deep they are, at the leaves, so that the resting height does not depend on the level.

use super::{
    MARGIN_CELLS,
    pair::{SurfelCache, cell_size, cells_to_world},
    records::{Before, Record},
    smooth::Side,
    surfels::{Surfels, first_of_level},
};
use crate::{
    Body, Plane,
    collide::{
        ChosenAs, ContactQuery, InOrder, Manifold, Point, RelativePose, ball_over, holds, inherit,
        leave_to_ball, reduce,
    },
    svo::{
        leaf_sample,
        morton::{self, Key},
    },
};
use glam::{DMat4, DVec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Where the number of the plane begins in the name of a point.
const PLANE_SHIFT: u32 = 48;

/// What is found at the planes.
#[derive(Default)]
pub struct AtPlanes {
    /// Manifolds made anew, with their records.
    pub found: Vec<(Manifold, Record)>,
    /// Numbers of those of the last search that still hold.
    pub carried: Vec<usize>,
}

/// A body that may be near planes, and what is known of it.
pub struct PlaneAsk<'a> {
    /// Its index.
    pub index: usize,
    /// The body.
    pub body: &'a Body,
    /// On which it is looked at.
    pub level: u32,
    /// Distance within which contacts are made, m.
    pub margin: f64,
    /// Its manifold of the last search: number, and the manifold.
    known: Option<(usize, &'a Manifold)>,
    /// Whether that still holds.
    pub is_carried: bool,
}

impl PlaneAsk<'_> {
    /// How fast its points move, at most, m/s.
    #[must_use]
    pub fn speed(body: &Body) -> f64 {
        body.state.linear_velocity.length() + body.state.angular_velocity.length() * body.def.radius()
    }

    /// The planes that it is near, with their numbers.
    pub fn planes<'p>(&self, planes: &'p [Plane]) -> impl Iterator<Item = (usize, &'p Plane)> {
        let (middle, reach) = (self.body.state.position, self.body.def.radius() + self.margin);
        planes.iter().enumerate().filter(move |(_, plane)| plane.distance(middle) <= reach)
    }

    /// The points that held it.
    fn known(&self) -> &[Point] {
        self.known.map_or(&[], |(_, manifold)| &manifold.points)
    }

    /// Those of them at a plane.
    pub fn known_at(&self, number: usize) -> impl Iterator<Item = &Point> {
        self.known().iter().filter(move |p| (p.key >> PLANE_SHIFT) as usize == number)
    }
}

/// The bodies of the query that are asked about, in order; body `i` is looked at on `level(i)`.
pub fn plane_asks<'a>(
    query: &ContactQuery<'a>,
    level: &dyn Fn(usize) -> u32,
    before: Before<'a>,
) -> Vec<PlaneAsk<'a>> {
    let mut manifold_of = InOrder::new(before.manifolds(), Manifold::order);
    let ask = |&k: &usize| {
        let (body, level) = (&query.bodies[k], level(k));
        let margin = plane_margin(cell_size(body, level), PlaneAsk::speed(body) * query.dt);
        let known = manifold_of.find(&(true, body.id, None)).map(|k| (k, &before.manifolds()[k]));
        let record = known.and_then(|(k, _)| before.record(k)).filter(|record| record.levels == [level, 0]);
        let is_carried = known.zip(record).is_some_and(|((_, old), record)| {
            holds(old.resolution_m, &record.pose, body, None, query.dt) && is_of(old, query.planes)
        });
        PlaneAsk { index: k, body, level, margin, known, is_carried }
    };
    query.at_planes.iter().map(ask).collect()
}

/// Finds the contacts of a body at a plane that hold it, with how many there are; given the number of the plane
/// and the surfels of the body.
pub type AtPlane<'a> = dyn Fn(&PlaneAsk<'_>, usize, &Plane, &Surfels) -> (Vec<Point>, usize) + Sync + 'a;

/// Manifolds of the query's bodies near a plane; body `i` is looked at on `levels[i]`.
pub fn plane_manifolds(
    query: &ContactQuery<'_>,
    levels: &[u32],
    cache: &mut SurfelCache,
    before: Before<'_>,
    look: &AtPlane<'_>,
) -> AtPlanes {
    let mut carried = Vec::new();
    let mut tasks = Vec::new();
    for ask in plane_asks(query, &|k| levels[k], before) {
        if let Some((k, _)) = ask.known.filter(|_| ask.is_carried) {
            carried.push(k);
        } else if ask.planes(query.planes).next().is_some() {
            let surfels = cache.get(&ask.body.def.octree().forest, ask.level).surfels.clone();
            tasks.push((ask, surfels));
        }
    }
    let made = |(ask, surfels): &(PlaneAsk<'_>, Arc<Surfels>)| {
        let (body, level) = (ask.body, ask.level);
        let (mut points, mut collision_points) = (Vec::new(), 0);
        for (number, plane) in ask.planes(query.planes) {
            let (found, count) = look(ask, number, plane, surfels);
            collision_points += count;
            points.extend(found);
        }
        let resolution_m = cell_size(body, level);
        inherit(&mut points, ask.known(), resolution_m);
        let (first, pose) = (body.id, RelativePose::new(body, None));
        let levels = [level, 0];
        let record = Record { first, second: None, levels, pose, collision_points, seen: Vec::new() };
        let rolling_impulse = ask.known.map_or(DVec3::ZERO, |(_, old)| old.rolling_impulse);
        (Manifold { first, second: None, points, rolling_impulse, resolution_m }, record)
    };
    let found = tasks.par_iter().with_max_len(1).map(made).collect();
    AtPlanes { found, carried }
}

/// The contacts of a body at a plane, by a descent of its octree.
#[must_use]
pub fn descend_to(
    ask: &PlaneAsk<'_>,
    number: usize,
    plane: &Plane,
    surfels: &Surfels,
) -> (Vec<Point>, usize) {
    let mut search = PlaneSearch::new(ask, number, plane, surfels);
    // Crumbs stand on the corners of their voxels.
    if ask.body.def.is_crumb() {
        search.corners();
    } else {
        search.descend(ask.body.def.octree().tree, 0, 0);
    }
    let cell = cell_size(ask.body, ask.level);
    let points = reduce(&search.found, ask.known(), cell);
    (on_balls(points, ask, plane, surfels), search.found.len())
}

/// Where a body lies on a part of a ball, that alone holds it there: a ball rolls on it, and not over the corners of a
/// polygon.
#[must_use]
pub fn on_balls(mut points: Vec<Point>, ask: &PlaneAsk<'_>, plane: &Plane, surfels: &Surfels) -> Vec<Point> {
    let body = ask.body;
    // The lowest alone is looked at: it costs as much as the search.
    let lowest = points.iter().min_by(|a, b| a.separation.total_cmp(&b.separation));
    let Some(&p) = lowest.filter(|_| !body.def.is_crumb()) else { return points };
    let index = (p.key & u64::from(u32::MAX)) as usize;
    let smooth = surfels.items.get(index).is_some_and(|item| !item.is_sharp() && item.thickness == 0.0);
    let cell = cell_size(body, ask.level);
    let side = Side { body, level: ask.level, surfels, to_world: cells_to_world(body, ask.level) };
    let found = smooth.then(|| ball_over(&side, index, plane, p.position, cell)).flatten();
    let Some((place, ball)) = found else { return points };
    leave_to_ball(&mut points, body, plane, &ball, cell);
    if plane.distance(place) < ask.margin {
        let why = p.why.chosen_as(ChosenAs::Ball);
        points.push(Point { ball: Some(ball), why, ..point(body, p.key, place, plane) });
    }
    points
}

/// The contacts with these names, the lower half of their keys, as far as they are near.
#[must_use]
pub fn named(
    ask: &PlaneAsk<'_>,
    number: usize,
    plane: &Plane,
    surfels: &Surfels,
    names: impl Iterator<Item = u32>,
) -> Vec<Point> {
    let mut search = PlaneSearch::new(ask, number, plane, surfels);
    for name in names {
        if ask.body.def.is_crumb() {
            search.corner((name / 8) as usize, name % 8);
        } else {
            search.sample(name);
        }
    }
    search.found
}

/// Distance of a plane within which contacts are made, m, of a body that may move so far.
fn plane_margin(cell: f64, way: f64) -> f64 {
    MARGIN_CELLS * cell + way
}

/// Whether the points of a manifold lie on these planes: floor and walls may be changed between steps.
fn is_of(manifold: &Manifold, planes: &[Plane]) -> bool {
    manifold.points.iter().all(|p| {
        let plane = planes.get((p.key >> PLANE_SHIFT) as usize);
        plane.is_some_and(|at| at.normal == p.plane && (at.distance(p.anchors[1]) - p.found).abs() < 1e-9)
    })
}

struct PlaneSearch<'a> {
    body: &'a Body,
    level: u32,
    to_world: DMat4,
    surfels: &'a Surfels,
    margin: f64,
    plane: &'a Plane,
    first_key: u64,
    found: Vec<Point>,
}

impl<'a> PlaneSearch<'a> {
    fn new(ask: &PlaneAsk<'a>, number: usize, plane: &'a Plane, surfels: &'a Surfels) -> Self {
        Self {
            body: ask.body,
            level: ask.level,
            to_world: ask.body.world_from_grid(),
            surfels,
            margin: ask.margin,
            plane,
            first_key: (number as u64) << PLANE_SHIFT,
            found: Vec::new(),
        }
    }

    fn descend(&mut self, node: u32, level: u32, key: Key) {
        let forest = &self.body.def.octree().forest;
        let Some(&parent) = forest.nodes.get(node as usize) else {
            return;
        };
        for c in 0..8 {
            if parent.valid() >> c & 1 == 0 {
                continue;
            }
            let (child, child_key) = (parent.child(c), key << 3 | Key::from(c));
            let size = f64::from(1u32 << (forest.level - level - 1));
            let low = DVec3::from(morton::decode(child_key).map(f64::from));
            let centre = self.to_world.transform_point3((low + 0.5) * size);
            // Half a diagonal, and a voxel for surfaces that leave their cell.
            if self.plane.distance(centre) - (0.867 * size + 1.0) * self.body.def.octree().grid.h
                >= self.margin
            {
                continue;
            }
            if level + 1 == self.level {
                self.sample(child - first_of_level(forest, self.level));
            } else {
                self.descend(child, level + 1, child_key);
            }
        }
    }

    fn corners(&mut self) {
        let forest = &self.body.def.octree().forest;
        let tree = self.body.def.octree().tree as usize;
        let range = |t: usize| forest.tree_start.get(t).map_or(0, |&i| i as usize);
        for leaf in range(tree)..range(tree + 1) {
            (0..8).for_each(|c| self.corner(leaf, c));
        }
    }

    fn corner(&mut self, leaf: usize, c: u32) {
        let keys = &self.body.def.octree().forest.leaves.keys;
        if leaf >= keys.len() {
            return;
        }
        let low = DVec3::from(morton::decode(keys.at(leaf)).map(f64::from));
        let corner = low + DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from));
        let p = self.to_world.transform_point3(corner);
        if self.plane.distance(p) < self.margin {
            let key = self.first_key | (leaf as u64 * 8 + u64::from(c));
            self.found.push(point(self.body, key, p, self.plane));
        }
    }

    /// The lowest leaf of a cell that is near. The cell's own sample would not do: it may lie beyond the
    /// margin while a corner in the cell is far below the plane already, and the body would rock on that
    /// corner for ever.
    fn sample(&mut self, index: u32) {
        let (body, plane) = (self.body, self.plane);
        let starts = &self.surfels.leaf_start;
        let (Some(first), Some(end)) = (starts.get(index as usize), starts.get(index as usize + 1)) else {
            return;
        };
        let (first, end) = (*first as usize, *end as usize);
        // Of leaves equally low, the outermost, so that a box stands on its corners at every level.
        let beside = |p: &DVec3| (*p - body.state.position).reject_from_normalized(plane.normal).length();
        let rank = |p: &DVec3| plane.distance(*p) - 1e-3 * beside(p);
        let lowest = (first..end)
            .map(|leaf| {
                self.to_world.transform_point3(leaf_sample(&body.def.octree().forest, leaf).0.as_dvec3())
            })
            .min_by(|a, b| rank(a).total_cmp(&rank(b)));
        let Some(p) = lowest.filter(|p| plane.distance(*p) < self.margin) else {
            return;
        };
        self.found.push(point(body, self.first_key | u64::from(index), p, plane));
    }
}

fn point(body: &Body, key: u64, p: DVec3, plane: &Plane) -> Point {
    Point::new(key, [Some(body), None], p, plane.normal, plane.distance(p))
}

#[cfg(test)]
mod tests {
    use super::super::records::Records;
    use super::*;
    use crate::WorldSettings;
    use crate::testing::{body, by_octrees, grid, scattered, shattered_block, world};
    use glam::DQuat;
    use std::sync::Arc;

    /// However a piece is turned, the lowest of all its leaf samples is a contact once it is within the
    /// margin, at any level.
    #[test]
    fn the_lowest_leaf_is_never_missed() {
        let (low, high) = ([4; 3], [28; 3]);
        let forest = Arc::new(shattered_block(5, low, high, &scattered(low, high, 12)));
        let plane = Plane { normal: DVec3::Y, offset: 0.0 };
        let (mut asked, mut cache) = (0, SurfelCache::default());
        for tree in 0..forest.trees() as u32 {
            for turn in 0..24 {
                let mut world = by_octrees(world(WorldSettings::default()));
                world.add(body(&forest, tree, grid(5, 1.0), 3, DVec3::ZERO));
                let way = DVec3::new(f64::from(turn) - 11.5, f64::from(turn % 5), f64::from(turn % 7) - 3.0);
                let mut bodies = std::mem::take(&mut world.bodies);
                bodies[0].state.rotation = DQuat::from_scaled_axis(way * 0.3);
                bodies[0].state.position = DVec3::ZERO;
                let to_world = bodies[0].world_from_grid();
                let leaves =
                    forest.tree_start[tree as usize] as usize..forest.tree_start[tree as usize + 1] as usize;
                let height = |leaf| to_world.transform_point3(leaf_sample(&forest, leaf).0.as_dvec3()).y;
                let lowest = leaves.map(height).fold(f64::MAX, f64::min);
                if bodies[0].def.is_crumb() {
                    continue;
                }
                for level in 3..=5 {
                    // A hair within the margin, and well in the floor.
                    let margin = plane_margin(cell_size(&bodies[0], level), 0.0);
                    for gap in [0.95 * margin, -0.4 * margin] {
                        bodies[0].state.position.y = gap - lowest;
                        let query = ContactQuery {
                            bodies: &bodies,
                            pairs: &[],
                            at_planes: &[0],
                            planes: &[plane],
                            old: &[],
                            boxes: &[None],
                            dt: 0.01,
                        };
                        let nothing = Records::default();
                        let before = Before::new(&[], &nothing, &[]);
                        let found = plane_manifolds(&query, &[level], &mut cache, before, &descend_to).found;
                        let points = found.iter().flat_map(|(m, _)| &m.points);
                        let deepest = points.map(|p| p.separation).fold(f64::MAX, f64::min);
                        // Points about as low may stand for it.
                        let least = 0.03 * cell_size(&bodies[0], level) + 1e-3 * bodies[0].def.radius();
                        assert!((deepest - gap).abs() < least, "level {level}, {gap}: {deepest}");
                        asked += 1;
                        bodies[0].state.position.y = 0.0;
                    }
                }
            }
        }
        assert!(asked > 1000, "{asked}");
    }
}
