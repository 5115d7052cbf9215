//! Manifolds of pairs of octrees.
//!
//! In: hits, sorted, and what is known of the pairs. Out: one manifold for each pair that was searched, with
//! its record. The geometry of each hit is worked out in f64; what never came in through the surface that it
//! is said to have passed is dropped.

use super::{
    pair::{Hit, OctreePair, SurfelCache, are_siblings, cell_size, cells_to_world},
    records::{Before, Record},
    search::OPPOSING,
    smooth::Side,
    surfels::{Surfel, Surfels, is_in_solid},
};
use crate::{
    Body,
    collide::{ChosenAs, Manifold, Point, RelativePose, Touch, inherit, moved, nearest, reduce},
};
use glam::{DMat4, DVec3};
use rayon::prelude::*;

/// Siblings may overlap this far at birth and still count as touching, cells.
const BIRTH_CELLS: f64 = 7.0;
/// Only at points that are still there: a point that has moved this far against its sibling, cells, gets ordinary
/// contacts.
const BIRTH_WAY: f64 = 2.0;

/// A collision point must have been admitted before it is deeper than this plus the motion since the last search,
/// cells.
const ENTER_CELLS: f64 = 0.5;

/// A point deeper than this, cells, must lie in the solid. Not zero: between two samples, edges cross.
const BESIDE_CELLS: f64 = 0.25;

/// Step of the search for the way out of a solid, voxels.
const WAY_OUT_VOXELS: f64 = 0.5;

/// Points farther apart than this plus the motion in the step, cells, have no impulse and are not moved.
const NEAREST_CELLS: f64 = 0.5;
/// Two points on smooth surfaces count as one within this number of cells, if the cosine of their normals is at least
/// this.
const SAME_CELLS: f64 = 0.5;
const SAME_NORMAL: f64 = 0.99;

/// Manifolds of all pairs, by ascending pair; those that do not touch have no points. A pair comes with the index of
/// its manifold among those of `before`.
pub fn pair_manifolds<'a>(
    pairs: impl ExactSizeIterator<Item = (&'a OctreePair, &'a Option<usize>)>,
    hits: &[Hit],
    bodies: &[Body],
    cache: &SurfelCache,
    before: Before<'_>,
) -> Vec<(Manifold, Record)> {
    let mut rest = hits;
    let mut tasks = Vec::with_capacity(pairs.len());
    for (i, (pair, known)) in pairs.enumerate() {
        let count = rest.partition_point(|hit| hit.pair as usize / 2 <= i);
        let (own, later) = rest.split_at(count);
        rest = later;
        tasks.push((pair, *known, own));
    }
    tasks
        .par_iter()
        .with_max_len(4)
        .map(|(pair, known, hits)| {
            let [a, b] = pair.bodies.map(|k| &bodies[k]);
            let old = known.map(|k| &before.manifolds()[k]);
            // Includes motion by the user: a body that was moved by hand has not come in through a surface.
            let radius = a.def.radius().min(b.def.radius());
            let record = known.and_then(|k| before.record(k));
            let since = record.map_or(0.0, |record| RelativePose::new(a, Some(b)).way(&record.pose, radius));
            let surfels = [0, 1].map(|s| {
                let forest = &bodies[pair.bodies[s]].def.octree().forest;
                cache.known(forest, pair.levels[s])
            });
            manifold_of(pair, old, bodies, |known_points| {
                // Bodies that were searched have surfels.
                let [Some(a), Some(b)] = surfels else { return Made::default() };
                let surfels = [a, b];
                let mut found = contact_points(pair, hits, bodies, surfels);
                let comparable = record.filter(|record| record.levels == pair.levels);
                let seen = let_in(&mut found, comparable, pair.way.max(since), pair.cell);
                let points = reduce(&found, known_points, pair.cell);
                Made { points: at_nearest(points, pair, hits, bodies, surfels), seen }
            })
        })
        .collect()
}

/// Contacts of a pair.
#[derive(Default)]
pub struct Made {
    /// The few contact points.
    pub points: Vec<Point>,
    /// All that were let in, by key, with their separations, m.
    pub seen: Vec<(u64, f64)>,
}

/// The manifold of a pair with its record. `make` finds its points; its argument are the points of the `old` manifold
/// at the present poses.
pub fn manifold_of(
    pair: &OctreePair,
    old: Option<&Manifold>,
    bodies: &[Body],
    make: impl FnOnce(&[Point]) -> Made,
) -> (Manifold, Record) {
    let [a, b] = pair.bodies.map(|k| &bodies[k]);
    let known = old.map_or(&[][..], |m| &m.points);
    let known: Vec<Point> = known.iter().map(|p| moved(p, a, Some(b))).collect();
    let Made { mut points, seen } = make(&known);
    inherit(&mut points, &known, pair.cell);
    let (first, second) = (a.id, Some(b.id));
    let pose = RelativePose::new(a, Some(b));
    let record = Record { first, second, levels: pair.levels, pose, collision_points: seen.len(), seen };
    let rolling_impulse = old.map_or(DVec3::ZERO, |m| m.rolling_impulse);
    (Manifold { first, second, points, rolling_impulse, resolution_m: pair.cell }, record)
}

/// Keeps the points that came in through the surface of their hit; returns their keys, ascending, with their
/// separations.
///
/// A piece whose tip is in a thin wall has samples nearer to the far face than to the near one. If they were pushed out
/// there, the tip would be held in the wall from both sides for ever. But they never passed the far face: at the first
/// search they were deep behind it already.
fn let_in(points: &mut Vec<Point>, before: Option<&Record>, way: f64, cell: f64) -> Vec<(u64, f64)> {
    if let Some(before) = before {
        let deepest = -(ENTER_CELLS * cell + way);
        let was = |p: &Point| {
            let at = before.seen.binary_search_by_key(&p.key, |s| s.0);
            at.map_or(0.0, |i| before.seen[i].1.min(0.0))
        };
        points.retain(|p| p.separation > was(p) + deepest);
    }
    let mut seen: Vec<(u64, f64)> = points.iter().map(|p| (p.key, p.separation)).collect();
    seen.sort_unstable_by_key(|s| s.0);
    seen
}

/// The features of a sample and of its hit surfel that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meets {
    /// The sample touches the surfel's plane.
    Plane,
    /// Both lie at edges.
    Edge,
    /// The surfel's edge touches the sample's plane.
    Face,
}

/// For two surfels at or beside edges that face each other, the plane of the one on a face is used.
fn meets(sample: &Surfel, plane: &Surfel, opposing: bool) -> Meets {
    match (plane.is_sharp() && sample.is_sharp() && opposing, sample.is_face(), plane.is_face()) {
        (true, true, false) => Meets::Face,
        (true, false, false) | (true, true, true) => Meets::Edge,
        _ => Meets::Plane,
    }
}

/// Moves contact points on smooth surfaces to where these are nearest: points a few cells from there are not nearer
/// than that. Pieces of one object are skipped, since their overlap at birth is measured at the samples.
pub fn at_nearest(
    points: Vec<Point>,
    pair: &OctreePair,
    hits: &[Hit],
    bodies: &[Body],
    surfels: [&Surfels; 2],
) -> Vec<Point> {
    let body = pair.bodies.map(|k| &bodies[k]);
    if are_siblings(body[0], body[1]) {
        return points;
    }
    let sides = [0, 1].map(|s| Side {
        body: body[s],
        level: pair.levels[s],
        surfels: surfels[s],
        to_world: cells_to_world(body[s], pair.levels[s]),
    });
    let mut out: Vec<Point> = Vec::with_capacity(points.len());
    let mut moved = Vec::new();
    for p in points {
        let (d, name) = ((p.key >> 32) as u32, p.key as u32);
        let smooth = |s: usize, i: u32| {
            surfels[s].items.get(i as usize).is_some_and(|item| !item.is_sharp() && item.thickness == 0.0)
        };
        let near = p.separation < NEAREST_CELLS * pair.cell + pair.way && smooth(d as usize, name >> 1);
        let hit = near.then(|| hits.iter().find(|hit| hit.pair & 1 == d && hit.a == name)).flatten();
        let touch = hit.filter(|hit| smooth(1 - d as usize, hit.b)).and_then(|hit| {
            let at = if d == 0 { [hit.a >> 1, hit.b] } else { [hit.b, hit.a >> 1] };
            let touch = Touch { position: p.position, normal: p.normal, separation: p.separation };
            nearest([&sides[0], &sides[1]], at.map(|i| i as usize), touch, pair.cell, pair.way)
        });
        match touch {
            None => out.push(p),
            Some(touch) => {
                let known = |q: &Point| {
                    q.normal.dot(touch.normal) > SAME_NORMAL
                        && (q.position - touch.position).length() < SAME_CELLS * pair.cell
                };
                if touch.separation < pair.margin && !moved.iter().any(known) {
                    let both = body.map(Some);
                    let point = Point::new(p.key, both, touch.position, touch.normal, touch.separation);
                    moved.push(Point { why: p.why.chosen_as(ChosenAs::Nearest), ..point });
                }
            }
        }
    }
    out.extend(moved);
    out
}

/// Distance out of a solid in a direction with a plane at distance `plane`, m; `None` if even the start is outside. The
/// plane counts unless the solid ends sooner by more than `slack`. Tested every `step`, m.
fn way_out_of(is_in: impl Fn(f64) -> bool, plane: f64, slack: f64, step: f64) -> Option<f64> {
    if !is_in(0.0) {
        return None;
    }
    let mut ways = (1u32..).map(|k| f64::from(k) * step).take_while(|way| *way < plane - slack);
    // Somewhere between the last place inside and the first outside.
    Some(ways.find(|way| !is_in(*way)).map_or(plane, |way| way - 0.5 * step))
}

/// The geometry of each hit, in f64. Of the number of a hit's pair only the direction counts.
#[must_use]
pub fn contact_points(
    pair: &OctreePair,
    hits: &[Hit],
    bodies: &[Body],
    surfels: [&Surfels; 2],
) -> Vec<Point> {
    let body = pair.bodies.map(|k| &bodies[k]);
    let to_world: [DMat4; 2] = [0, 1].map(|s| cells_to_world(body[s], pair.levels[s]));
    let cell = [0, 1].map(|s| cell_size(body[s], pair.levels[s]));
    let siblings = are_siblings(body[0], body[1]) && pair.levels[0] == pair.levels[1];
    let from_to = [to_world[1].inverse() * to_world[0], to_world[0].inverse() * to_world[1]];
    let from_voxels = body.map(|b| b.world_from_grid().inverse());
    let in_voxels = |k: usize, p: DVec3| from_voxels[k].transform_point3(p).as_vec3();
    let is_in = |body: &Body, p| is_in_solid(&body.def.octree().forest, body.def.octree().tree, p);
    let mut out = Vec::with_capacity(hits.len());
    for hit in hits {
        let (a, b) = ((hit.pair & 1) as usize, 1 - (hit.pair & 1) as usize);
        let (Some(sample), Some(plane)) =
            (surfels[a].items.get((hit.a >> 1) as usize), surfels[b].items.get(hit.b as usize))
        else {
            continue;
        };
        let (p, n_in_a) = sample.side(hit.a & 1);
        let n_a = to_world[a].transform_vector3(n_in_a.as_dvec3());
        let point = to_world[a].transform_point3(p.as_dvec3());
        let (mut centre, mut normal) = plane.side(0);
        let turned =
            |n: glam::Vec3| (to_world[b].transform_vector3(n.as_dvec3()) / cell[b]).normalize_or_zero();
        if plane.thickness > 0.0 && turned(normal).dot(n_a) > 0.0 {
            (centre, normal) = plane.side(1);
        }
        let mut n = turned(normal);
        let opposing = n.dot(n_a) <= f64::from(OPPOSING) * cell[a];
        let met = meets(sample, plane, opposing);
        let way_out = match met {
            Meets::Plane => normal.as_dvec3(),
            // Neither plane is right, the mean of both is.
            Meets::Edge => {
                n = (n - n_a / cell[a]).normalize_or(n);
                (normal - n_in_a).as_dvec3().normalize_or(normal.as_dvec3())
            }
            // Here the other body's edge touches the plane.
            Meets::Face => {
                n = -n_a / cell[a];
                -n_in_a.as_dvec3()
            }
        };
        let on_b = to_world[b].transform_point3(centre.as_dvec3());
        let mut gap = (point - on_b).dot(n);
        // Round an edge the planes of coarse cells extend beyond the solid; the leaves decide. Such a point is not
        // behind any surface, and would wedge the pair without one.
        let (behind, tip, out_of) = if met == Meets::Face { (a, on_b, -n) } else { (b, point, n) };
        if gap < -BESIDE_CELLS * cell[b] {
            // If the plane of an edge is oblique in a thin wall, it is farther away than the way out.
            let is_in = |way: f64| is_in(body[behind], in_voxels(behind, tip + out_of * way));
            let step = WAY_OUT_VOXELS * body[behind].def.shape.unit_m();
            let Some(depth) = way_out_of(is_in, -gap, BESIDE_CELLS * cell[b], step) else { continue };
            gap = -depth;
        }
        // Where two pieces of one object overlapped when they were made, that is their zero.
        let at_birth = p.as_dvec3() - centre.as_dvec3();
        let zero = if siblings && at_birth.length() < BIRTH_CELLS {
            let moved = (from_to[a].transform_point3(p.as_dvec3()) - p.as_dvec3()).length();
            at_birth.dot(way_out).min(0.0) * cell[b] * (BIRTH_WAY - moved).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let separation = gap - zero;
        if separation >= pair.margin {
            continue;
        }
        let normal = if a == 0 { n } else { -n };
        out.push(Point::new(
            u64::from(hit.pair & 1) << 32 | u64::from(hit.a),
            body.map(Some),
            if behind == a { on_b + n * (0.5 * gap) } else { point - n * (0.5 * gap) },
            normal,
            separation,
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall of a metre, and a way aslant through it.
    #[test]
    fn nothing_is_deeper_than_the_way_out_of_the_solid() {
        let is_in = |from: f64| move |way: f64| (0.0..1.0).contains(&(from + 0.5 * way));
        let out = |from, plane| way_out_of(is_in(from), plane, 0.1, 0.02);
        // Half of a metre is left, which is a metre along the way.
        let found = out(0.5, 3.0).expect("inside");
        assert!((found - 1.0).abs() <= 0.02, "{found}");
        // A plane that is nearer, or beyond the end by no more than the slack, counts as it is.
        assert_eq!(out(0.5, 0.7), Some(0.7));
        assert_eq!(out(0.5, 1.08), Some(1.08));
        assert_eq!(out(1.2, 3.0), None);
    }
}
