//! From thousands of collision points to the few contacts of a pair.
//!
//! In: all collision points of a pair, and its contacts of the last step. Out: the deepest and the outermost of each
//! group of normals; points that persist keep the impulse of the last step.

use super::{Point, tangents};

/// Groups of normals a pair may have.
const MAX_GROUPS: usize = 6;
/// Normals closer than this cosine are one group.
const SAME_GROUP: f64 = 0.85;
/// Directions in which a group's outermost points are kept.
const SPREAD: usize = 8;
/// A point of the last manifold is kept until another beats it by this much, cells.
const LOYALTY_CELLS: f64 = 0.15;
/// The deepest point is kept if it is deeper than the outermost by this much, cells.
const DEEPER_CELLS: f64 = 0.02;

/// Groups by normal; keeps the deepest and the outermost of each group. `known` are the points of the last
/// step, `cell` is the resolution of the pair, m.
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
