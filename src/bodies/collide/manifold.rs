//! From thousands of collision points to a few that hold a pair apart.
//!
//! In: hits, sorted. Out: one manifold for each touching pair: contacts grouped by normal, and of each group the deepest and
//! the outermost. Points keep the impulse of the last step where they are still the same.

use super::{Hit, Lie, MARGIN_CELLS, Pair, cell_size, cells_to_world, moved, reference::OPPOSING};
use crate::bodies::{
    Body, BodyId,
    surfels::{Shapes, Surfels, is_in_solid},
};
use glam::{DMat4, DVec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Groups of normals a pair may have.
const MAX_GROUPS: usize = 6;
/// Normals closer than this cosine are one group.
const SAME_GROUP: f64 = 0.85;
/// Directions in which a group's outermost points are kept.
const SPREAD: usize = 8;
/// A point of the last manifold is kept until another beats it by this much, cells.
const LOYALTY_CELLS: f64 = 0.15;
/// The deepest point is kept where it is deeper than the outermost by this much, cells.
const DEEPER_CELLS: f64 = 0.02;
/// Siblings may overlap this far at birth and still count as touching, cells.
const BIRTH_CELLS: f64 = 7.0;
/// And only where they still are: a point that has moved this far against its sibling, cells, meets it as it would a stranger.
const BIRTH_WAY: f64 = 2.0;

/// A collision point must be seen before it is deeper than this, cells, and the way since the last look.
const ENTER_CELLS: f64 = 0.5;

/// A point deeper than this, cells, must lie in the solid. Not zero: between two samples, edges cross.
const BESIDE_CELLS: f64 = 0.25;

/// One point of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Names the point from step to step: direction, surfel and side.
    pub key: u64,
    /// Where, world, m.
    pub position: DVec3,
    /// Where it is on the first body, relative to its centre, in its axes, m; and the same on the second (on the floor: world).
    pub anchors: [DVec3; 2],
    /// From the second body (or the floor) to the first, world.
    pub normal: DVec3,
    /// The normal in the axes of the second body.
    pub plane: DVec3,
    /// Separation when the contact was found; the anchors were in one place then.
    pub found: f64,
    /// Gap beyond the gap at birth, m; negative when they overlap.
    pub separation: f64,
    /// Surface that it stands for, m^2.
    pub area: f64,
    /// Normal impulse of the last substep, N s.
    pub normal_impulse: f64,
    /// Friction impulse of the last substep, world, N s.
    pub friction_impulse: DVec3,
    /// Normal impulses of the last step in sum, N s.
    pub total_impulse: f64,
    /// How far the first body has slipped along the second since friction last gave way or the contact was found, world, m.
    pub slip: DVec3,
    /// Whether friction gave way in the last step.
    pub slid: bool,
}

/// The points that hold one pair, or one body and the floor, apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// First body.
    pub first: BodyId,
    /// Second body; none is the floor.
    pub second: Option<BodyId>,
    /// Points; none where the pair was near but did not touch.
    pub points: Vec<Point>,
    /// What resists the first body's rolling on the second, of the last substep, world, N m s.
    pub rolling_impulse: DVec3,
    /// Levels at which they were looked for.
    pub levels: [u32; 2],
    /// How the bodies lay when they were looked for.
    pub lie: Lie,
    /// What all collision points added up to then.
    pub totals: Totals,
    /// All collision points that were let in then, by key, with their separation, m.
    pub seen: Vec<(u64, f64)>,
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

    /// What manifolds are sorted by: pairs first, floor last.
    #[must_use]
    pub fn order(&self) -> (bool, BodyId, Option<BodyId>) {
        (self.second.is_none(), self.first, self.second)
    }
}

/// What all collision points of a step add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Collision points.
    pub points: usize,
    /// m^3.
    pub volume: f64,
}

impl Totals {
    /// Of these points.
    #[must_use]
    pub fn of(points: &[Point]) -> Self {
        let volume = points.iter().map(|p| (-p.separation).max(0.0) * p.area).sum();
        Self { points: points.len(), volume }
    }
}

/// Manifolds of all pairs, in order of pair; those that do not touch have no points. `old` is sorted by [`Manifold::order`].
pub fn pair_manifolds(
    pairs: &[Pair],
    hits: &[Hit],
    bodies: &[Body],
    shapes: &mut Shapes,
    old: &[Manifold],
) -> Vec<Manifold> {
    let mut rest = hits;
    let mut work = Vec::with_capacity(pairs.len());
    for (i, pair) in pairs.iter().enumerate() {
        let count = rest.partition_point(|hit| hit.pair as usize / 2 <= i);
        let (own, later) = rest.split_at(count);
        rest = later;
        let surfels = [0, 1].map(|s| {
            let forest = &bodies[pair.bodies[s]].def.octree().forest;
            shapes.get(forest, pair.levels[s]).surfels.clone()
        });
        work.push((pair, own, surfels));
    }
    work.par_iter()
        .map(|(pair, hits, surfels)| {
            let [a, b] = pair.bodies.map(|k| &bodies[k]);
            let mut found = contact_points(pair, hits, bodies, surfels);
            let before = find(old, a.id, Some(b.id)).map(|k| &old[k]);
            let known: Vec<Point> =
                before.map_or(Vec::new(), |m| m.points.iter().map(|p| moved(p, a, Some(b))).collect());
            let cell = cell_size(a, pair.levels[0]).max(cell_size(b, pair.levels[1]));
            // Also what somebody else moved: a body that was put somewhere has not come in by any way.
            let radius = a.def.radius().min(b.def.radius());
            let since = before.map_or(0.0, |m| Lie::new(a, Some(b)).way(&m.lie, radius));
            let comparable = before.filter(|m| m.levels == pair.levels);
            let seen = let_in(&mut found, comparable, pair.way.max(since), cell);
            let mut points = reduce(&found, &known, cell, SPREAD);
            inherit(&mut points, &known, cell);
            Manifold {
                first: a.id,
                second: Some(b.id),
                points,
                rolling_impulse: before.map_or(DVec3::ZERO, |m| m.rolling_impulse),
                levels: pair.levels,
                lie: Lie::new(a, Some(b)),
                totals: Totals::of(&found),
                seen,
            }
        })
        .collect()
}

/// Where the manifold of a pair is in a sorted list.
#[must_use]
pub fn find(list: &[Manifold], first: BodyId, second: Option<BodyId>) -> Option<usize> {
    let order = (second.is_none(), first, second);
    list.binary_search_by(|m| m.order().cmp(&order)).ok()
}

/// Keeps the points that came in through the surface they are said to have passed; gives their keys, ascending, with their
/// separations.
///
/// A piece whose tip is in a thin wall has samples nearer to the far face than to the near one. Were they pushed out there, the
/// tip would be held in the wall from both sides for ever. But they never passed the far face: when they were first seen they were
/// deep behind it already.
fn let_in(points: &mut Vec<Point>, before: Option<&Manifold>, way: f64, cell: f64) -> Vec<(u64, f64)> {
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

/// The geometry of each hit, in f64.
fn contact_points(pair: &Pair, hits: &[Hit], bodies: &[Body], surfels: &[Arc<Surfels>; 2]) -> Vec<Point> {
    let body = pair.bodies.map(|k| &bodies[k]);
    let to_world: [DMat4; 2] = [0, 1].map(|s| cells_to_world(body[s], pair.levels[s]));
    let cell = [0, 1].map(|s| cell_size(body[s], pair.levels[s]));
    let siblings = body[0].def.is_sibling(&body[1].def) && pair.levels[0] == pair.levels[1];
    let from_to = [to_world[1].inverse() * to_world[0], to_world[0].inverse() * to_world[1]];
    let from_world = body.map(|b| b.state.rotation.inverse());
    let from_voxels = body.map(|b| b.world_from_grid().inverse());
    let in_voxels = |k: usize, p: DVec3| from_voxels[k].transform_point3(p).as_vec3();
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
        let edges = plane.is_sharp() && sample.is_sharp() && n.dot(n_a) <= f64::from(OPPOSING) * cell[a];
        if edges {
            // Two edges: neither plane is right, the mean of both is.
            n = (n - n_a / cell[a]).normalize_or(n);
        }
        let gap = (point - to_world[b].transform_point3(centre.as_dvec3())).dot(n);
        // Round an edge the planes of coarse cells reach beyond the solid; the leaves know. Such a point is not behind any surface,
        // and would hold the pair in a wedge that is not there.
        if gap < -BESIDE_CELLS * cell[b]
            && !is_in_solid(&body[b].def.octree().forest, body[b].def.octree().tree, in_voxels(b, point))
        {
            continue;
        }
        // Where two pieces of one object overlapped when they were made, that is their zero.
        let at_birth = p.as_dvec3() - centre.as_dvec3();
        let zero = if siblings && at_birth.length() < BIRTH_CELLS {
            let mut normal = normal.as_dvec3();
            if edges {
                normal = (normal - n_in_a.as_dvec3()).normalize_or(normal);
            }
            let moved = (from_to[a].transform_point3(p.as_dvec3()) - p.as_dvec3()).length();
            at_birth.dot(normal).min(0.0) * cell[b] * (BIRTH_WAY - moved).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let separation = gap - zero;
        if separation >= pair.margin {
            continue;
        }
        let position = point - n * (0.5 * gap);
        let normal = if a == 0 { n } else { -n };
        out.push(Point {
            key: u64::from(hit.pair & 1) << 32 | u64::from(hit.a),
            position,
            anchors: [0, 1].map(|s| from_world[s] * (position - body[s].state.position)),
            normal,
            plane: from_world[1] * normal,
            found: separation,
            separation,
            area: f64::from(surfels[a].areas[(hit.a >> 1) as usize]) * body[a].def.octree().grid.h.powi(2),
            normal_impulse: 0.0,
            friction_impulse: DVec3::ZERO,
            total_impulse: 0.0,
            slip: DVec3::ZERO,
            slid: false,
        });
    }
    out
}

/// Groups by normal; keeps the deepest and the outermost of each group.
#[must_use]
pub fn reduce(points: &[Point], known: &[Point], cell: f64, directions: usize) -> Vec<Point> {
    let loyal = |p: &Point| if known.iter().any(|k| k.key == p.key) { LOYALTY_CELLS * cell } else { 0.0 };
    let bonus: Vec<f64> = points.iter().map(loyal).collect();
    let mut open: Vec<usize> = (0..points.len()).collect();
    let mut out = Vec::new();
    for _ in 0..MAX_GROUPS {
        // A point just kept is a tenth of a cell's loyalty deeper: enough to break ties, too little to hide depth.
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
        for d in 0..directions {
            // Off the axes, so that a box has no ties but corners.
            let angle = std::f64::consts::TAU * (d as f64 + 0.5) / directions as f64;
            let way = t * angle.cos() + u * angle.sin();
            // Points that are apart count for less than those that touch.
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
        // The deepest counts where it stands out; on a flat face it would only load one spot more than the others.
        let outer = kept.iter().map(|&i| points[i].separation).fold(f64::MAX, f64::min);
        if kept.len() < 3 || points[deepest].separation < outer - DEEPER_CELLS * cell {
            kept.retain(|&i| i != deepest);
            kept.push(deepest);
        }
        out.extend(kept.into_iter().map(|i| points[i]));
    }
    out
}

/// Copies impulses from the last step: from the same point, else from the nearest within a cell.
pub fn inherit(points: &mut [Point], known: &[Point], cell: f64) {
    let mut taken = vec![false; known.len()];
    let mut missing = Vec::new();
    let copy = |p: &mut Point, k: &Point| {
        (p.normal_impulse, p.friction_impulse) = (k.normal_impulse, k.friction_impulse);
    };
    for (i, p) in points.iter_mut().enumerate() {
        match known.iter().position(|k| k.key == p.key && k.normal.dot(p.normal) > SAME_GROUP) {
            Some(k) => {
                taken[k] = true;
                copy(p, &known[k]);
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

/// Two unit vectors across `n`.
#[must_use]
pub fn tangents(n: DVec3) -> (DVec3, DVec3) {
    n.normalize_or(DVec3::Y).any_orthonormal_pair()
}

/// Margin of a body against the floor, m.
#[must_use]
pub fn floor_margin(cell: f64, motion: f64) -> f64 {
    MARGIN_CELLS * cell + motion
}
