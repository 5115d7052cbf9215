//! Intersections of edges with triangles, and the regions of edges' ends.
//!
//! In: segments and the triangles of the other mesh. Out: sorted intersections; the region of every vertex of the
//! solid; the solid's winding number at every vertex of the cracks.

use rayon::prelude::*;

use crate::geometry::{
    BoxTree, UnionFind,
    exact::{Crossing, InOnePlane, crossing},
};

use super::{
    cracks::{CrackEdge, Cracks},
    solid::{Bounds, Edge, Point, along, bounds_of, meets_any},
};

/// Not determined yet.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// An intersection on an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    pub triangle: u32,
    pub crossing: Crossing,
}

/// Why the arrangement failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Tangle {
    /// Four coplanar points; perturbing the cracks differently helps.
    #[error("a crack runs exactly through a corner or an edge of the mesh")]
    Level,
    /// An edge leaves a region that it is not in: the surface intersects itself there.
    #[error("the mesh passes through itself, so its inside is not clear")]
    Through,
    /// A segment without two ends.
    #[error("a crack and the mesh do not meet in whole lines")]
    Open,
}

impl From<InOnePlane> for Tangle {
    fn from(_: InOnePlane) -> Self {
        Self::Level
    }
}

/// Start of each number's run in a sorted list of numbers below `count`; the last entry is the length.
pub(super) fn starts(sorted: impl Iterator<Item = u32>, count: usize) -> Vec<u32> {
    let mut starts = vec![0; count + 1];
    for number in sorted {
        starts[number as usize + 1] += 1;
    }
    for k in 0..count {
        starts[k + 1] += starts[k];
    }
    starts
}

/// Adds a change to a region's count.
pub(super) fn count(held: &mut Vec<(u32, i32)>, region: u32, change: i32) {
    match held.iter_mut().find(|known| known.0 == region) {
        Some(known) => known.1 += change,
        None => held.push((region, change)),
    }
}

pub(super) type MetLists = (Vec<u32>, Vec<Met>);

/// Edges of a run, whose intersections are in one list: hardly any edge has one.
const RUN: usize = 1024;

/// Edges whose common box is looked up first. Edges that follow each other lie close together in most files, and most of
/// them far from the other mesh.
const CLOSE: usize = 64;

/// The intersections on each of `count` edges, from its first end on; `ends` gives both ends of an edge.
pub(super) fn all_met(
    count: usize,
    ends: &(impl Fn(usize) -> [Point; 2] + Sync),
    tree: &BoxTree<u32>,
    triangle: &(impl Fn(u32) -> [Point; 3] + Sync),
) -> Result<MetLists, Tangle> {
    // Of a run of edges, where each edge's list ends, and all lists.
    let of_run = |run: usize| -> Result<MetLists, Tangle> {
        let edges = run * RUN..count.min((run + 1) * RUN);
        let mut last = Vec::with_capacity(edges.len());
        let mut list: Vec<Met> = Vec::new();
        let close: Vec<[Point; 2]> = edges.map(ends).collect();
        for close in close.chunks(CLOSE) {
            if !meets_any(tree, bounds_of(close.as_flattened())) {
                last.extend(close.iter().map(|_| list.len() as u32));
                continue;
            }
            for &[p, q] in close {
                let (own, mut level) = (list.len(), false);
                along(tree, p, q, &mut |t| match crossing(p, q, triangle(t)) {
                    Ok(found) => list.extend(found.map(|crossing| Met { triangle: t, crossing })),
                    Err(InOnePlane) => level = true,
                });
                if level {
                    return Err(Tangle::Level);
                }
                list[own..].sort_by(|a, b| {
                    a.crossing.at.total_cmp(&b.crossing.at).then(a.triangle.cmp(&b.triangle))
                });
                last.push(list.len() as u32);
            }
        }
        Ok((last, list))
    };
    let runs: Vec<Result<MetLists, Tangle>> = (0..count.div_ceil(RUN)).into_par_iter().map(of_run).collect();
    let (mut first, mut met) = (Vec::with_capacity(count + 1), Vec::new());
    first.push(0);
    for run in runs {
        let (last, list) = run?;
        let before = met.len() as u32;
        first.extend(last.into_iter().map(|last| before + last));
        met.extend(list);
    }
    Ok((first, met))
}

/// Regions at the ends of an edge, from its intersections: the first region is left once more often than entered.
/// `None` if both are the same and the order of intersections is not consistent.
pub(super) fn ends_of(list: &[Met], sides: &impl Fn(&Met) -> (u32, u32)) -> Option<(u32, u32)> {
    let follows = list.windows(2).all(|pair| sides(&pair[0]).1 == sides(&pair[1]).0);
    if let (true, [first, .., last] | [first @ last]) = (follows, list) {
        return Some((sides(first).0, sides(last).1));
    }
    let mut held = Vec::new();
    for met in list {
        let (from, to) = sides(met);
        count(&mut held, from, -1);
        count(&mut held, to, 1);
    }
    let find = |times: i32| held.iter().find(|known| known.1 == times).map(|known| known.0);
    find(-1).zip(find(1))
}

/// Reorders sorted intersections so that each leaves the region that the previous one entered, among those at the same
/// distance within float precision.
pub(super) fn in_order(list: &mut [Met], sides: &impl Fn(&Met) -> (u32, u32)) {
    if list.windows(2).all(|pair| sides(&pair[0]).1 == sides(&pair[1]).0) {
        return;
    }
    let Some((mut region, _)) = ends_of(list, sides).or_else(|| list.first().map(sides)) else { return };
    for k in 0..list.len() {
        let reach = list[k].crossing.at + 1e-9;
        let close = (k..list.len()).take_while(|j| list[*j].crossing.at <= reach);
        let Some(next) = close.into_iter().find(|j| sides(&list[*j]).0 == region) else { return };
        list[k..=next].rotate_right(1);
        region = sides(&list[k]).1;
    }
}

/// Winding numbers of the solid at the cracks' vertices, along edges from one vertex of each connected component.
pub(super) fn wind(
    edges: &[CrackEdge],
    first: &[u32],
    met: &[Met],
    points: &[Point],
    far: &impl Fn(Point) -> Result<i32, Tangle>,
) -> Result<Vec<i32>, Tangle> {
    let mut links: Vec<(u32, u32, i32)> = Vec::with_capacity(2 * edges.len());
    for (e, edge) in edges.iter().enumerate() {
        let on = &met[first[e] as usize..first[e + 1] as usize];
        let change = on.iter().map(|met| if met.crossing.to_front { -1 } else { 1 }).sum::<i32>();
        let [a, b] = edge.ends;
        links.extend([(a, b, change), (b, a, -change)]);
    }
    links.par_sort_unstable();
    let from = starts(links.iter().map(|link| link.0), points.len());
    let mut windings = vec![i32::MAX; points.len()];
    for start in 0..points.len() {
        if windings[start] != i32::MAX || from[start] == from[start + 1] {
            continue;
        }
        windings[start] = far(points[start])?;
        let mut stack = vec![start];
        while let Some(at) = stack.pop() {
            for (_, to, change) in &links[from[at] as usize..from[at + 1] as usize] {
                let winding = windings[at] + change;
                if windings[*to as usize] == i32::MAX {
                    windings[*to as usize] = winding;
                    stack.push(*to as usize);
                } else if windings[*to as usize] != winding {
                    return Err(Tangle::Open);
                }
            }
        }
    }
    Ok(windings)
}

/// The region of every vertex: from the intersections on its edges, then along edges without intersections, and for
/// components without any from `far`.
pub(super) fn regions(
    edges: &[Edge],
    (first, met): (&[u32], &[Met]),
    sides: &impl Fn(&Met) -> (u32, u32),
    points: &[Point],
    far: &impl Fn(Point) -> Result<u32, Tangle>,
) -> Result<Vec<u32>, Tangle> {
    let on = |e: usize| &met[first[e] as usize..first[e + 1] as usize];
    let mut joined = UnionFind::new(points.len());
    for (_, edge) in edges.iter().enumerate().filter(|(e, _)| on(*e).is_empty()) {
        let [a, b] = edge.ends;
        joined.join(a, b);
    }
    // Until all are known, the region of a set stands at its root, which is its lowest vertex.
    let mut regions = vec![UNKNOWN; points.len()];
    for (e, edge) in edges.iter().enumerate().filter(|(e, _)| !on(*e).is_empty()) {
        let Some((from, to)) = ends_of(on(e), sides) else { continue };
        for (end, region) in edge.ends.into_iter().zip([from, to]) {
            let known = &mut regions[joined.find(end) as usize];
            if *known != UNKNOWN && *known != region {
                return Err(Tangle::Through);
            }
            *known = region;
        }
    }
    for at in 0..points.len() {
        let root = joined.find(at as u32) as usize;
        if regions[root] == UNKNOWN {
            regions[root] = far(points[root])?;
        }
        regions[at] = regions[root];
    }
    Ok(regions)
}

/// The region of a point, from the first crack on the way to the centre of some crack triangle.
pub(super) fn region_at(
    p: Point,
    cracks: &Cracks,
    tree: &BoxTree<u32>,
    triangle: &impl Fn(u32) -> [Point; 3],
) -> Result<u32, Tangle> {
    if cracks.triangles.is_empty() {
        return Ok(cracks.everywhere);
    }
    'aims: for aim in 0..cracks.triangles.len().min(64) {
        let [a, b, c] = triangle((aim * 7919 % cracks.triangles.len()) as u32);
        // Slightly beyond the centre, so that at least this triangle is intersected.
        let goal = [0, 1, 2].map(|k| {
            let middle = (a[k] + b[k] + c[k]) / 3;
            middle + (middle - p[k]) / 64
        });
        let (mut best, mut level): (Option<Met>, bool) = (None, false);
        along(tree, p, goal, &mut |t| match crossing(p, goal, triangle(t)) {
            Ok(Some(crossing)) if best.is_none_or(|known| crossing.at < known.crossing.at) => {
                best = Some(Met { triangle: t, crossing });
            }
            Ok(_) => {}
            Err(InOnePlane) => level = true,
        });
        if level {
            continue 'aims;
        }
        if let Some(met) = best {
            let [behind, front] = cracks.sides[met.triangle as usize];
            return Ok(if met.crossing.to_front { behind } else { front });
        }
    }
    Err(Tangle::Level)
}

/// The solid's winding number at a point.
pub(super) fn winding_at(
    p: Point,
    bounds: Bounds,
    tree: &BoxTree<u32>,
    triangle: &impl Fn(u32) -> [Point; 3],
) -> Result<i32, Tangle> {
    if (0..3).any(|k| p[k] < bounds[0][k] || p[k] > bounds[1][k]) {
        return Ok(0);
    }
    for turn in 0..16 {
        let mut goal = [0, 1, 2].map(|k| bounds[1][k] + 1 + 2 * (turn * (k as i64 + 3) * 7919));
        goal[turn as usize % 3] += 1_000_003;
        let (mut winding, mut level) = (0, false);
        along(tree, p, goal, &mut |t| match crossing(p, goal, triangle(t)) {
            Ok(Some(crossing)) => winding += if crossing.to_front { 1 } else { -1 },
            Ok(None) => {}
            Err(InOnePlane) => level = true,
        });
        if !level {
            return Ok(winding);
        }
    }
    Err(Tangle::Level)
}
