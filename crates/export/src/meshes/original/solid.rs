//! The solid to be cut: a closed triangle mesh in whole units, with surface attributes.
//!
//! In: triangles with welded vertices. Out: the same with their edges, each shared by exactly two triangles that
//! traverse it in opposite directions.
//!
//! # Points in whole numbers, fine enough for a mesh and few enough for exact predicates
//!
//! # A tree of boxes, to find what a segment may meet
//!
//! In: boxes in whole units. Out: which of them a segment's own box and line touch, in a fixed order.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use crate::geometry::{Aabb, BoxTree};

/// An edge of the solid.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its ends, in the direction of the first triangle.
    pub ends: [u32; 2],
    /// The triangle that traverses it forwards, and the one that traverses it backwards.
    pub triangles: [u32; 2],
}

/// A closed mesh to be cut.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    /// Vertices in whole units, even, so that no crack vertex (odd) has equal coordinates.
    pub points: Vec<Point>,
    /// Unrounded vertices, shape space.
    pub places: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Edges of a [`Solid`].
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Edges without duplicates.
    pub list: Vec<Edge>,
    /// The three edges of every triangle, each from a corner to the next.
    pub of_triangle: Vec<[u32; 3]>,
}

/// Number of edges not shared by two consistently oriented triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenEdges(pub usize);

impl Edges {
    /// Pairs the sides of triangles. If more than two meet at an edge they are paired in order.
    ///
    /// # Errors
    /// [`OpenEdges`].
    pub fn of(triangles: &[[u32; 3]]) -> Result<Self, OpenEdges> {
        Self::paired(triangles, &|along, against| {
            along.iter().copied().zip(against.iter().copied()).collect()
        })
    }

    /// Pairs the sides of a solid's triangles. If more than two meet at an edge, those are paired that have the solid
    /// between them, so that solids that touch along an edge are apart.
    ///
    /// # Errors
    /// [`OpenEdges`].
    pub fn around(solid: &Solid) -> Result<Self, OpenEdges> {
        Self::paired(&solid.triangles, &|along, against| with_solid_between(solid, along, against))
    }

    /// At an edge of more than two triangles, `pairs` pairs the sides that traverse it from its lower end with those that
    /// traverse it from its upper end; a side is three times its triangle and the corner that it starts at.
    fn paired(
        triangles: &[[u32; 3]],
        pairs: &(impl Fn(&[u32], &[u32]) -> Vec<(u32, u32)> + Sync),
    ) -> Result<Self, OpenEdges> {
        let (sides, ends, runs) = sorted_sides(triangles);
        // How many edges of a run are open, and the others with both sides.
        let of_run = |run: Range<usize>| {
            let mut from = if run.start == 0 { 0 } else { ends[run.start - 1] as usize };
            let (mut open, mut found) = (0, Vec::with_capacity(RUN / 2));
            for (low, end) in run.clone().zip(&ends[run]) {
                let own = &sides[from..*end as usize];
                from = *end as usize;
                for group in own.chunk_by(|a, b| upper_end(*a) == upper_end(*b)) {
                    let half = group.iter().take_while(|side| !is_turned(**side)).count();
                    let ends = [low as u32, upper_end(group[0])];
                    if 2 * half != group.len() || ends[0] == ends[1] {
                        open += 1;
                    } else if half == 1 {
                        found.push((ends, corner(group[0]), corner(group[1])));
                    } else {
                        let all: Vec<u32> = group.iter().map(|side| corner(*side)).collect();
                        let pairs = pairs(&all[..half], &all[half..]);
                        found.extend(pairs.into_iter().map(|(forth, back)| (ends, forth, back)));
                    }
                }
            }
            (open, found)
        };
        let runs: Vec<(usize, Vec<_>)> = runs.into_par_iter().map(of_run).collect();
        let open: usize = runs.iter().map(|(open, _)| open).sum();
        if open > 0 {
            return Err(OpenEdges(open));
        }
        let mut edges =
            Self { list: Vec::with_capacity(sides.len() / 2), of_triangle: vec![[0; 3]; triangles.len()] };
        for (ends, forth, back) in runs.into_iter().flat_map(|(_, found)| found) {
            let number = edges.list.len() as u32;
            for side in [forth, back] {
                edges.of_triangle[side as usize / 3][side as usize % 3] = number;
            }
            edges.list.push(Edge { ends, triangles: [forth / 3, back / 3] });
        }
        Ok(edges)
    }
}

/// A side of a triangle, as a number that sorts: from the top its upper end, whether it is traversed from that end, and in the
/// lower 31 bits three times the triangle and the corner that it starts at. Its lower end is known by its place in a list.
type Side = u64;

/// Sides of triangles that one thread sorts and pairs at a time.
const RUN: usize = 1 << 14;

/// Bits of three times a triangle and a corner: meshes of 700 million triangles fill the memory of any machine.
const CORNER_BITS: u32 = 31;

fn upper_end(side: Side) -> u32 {
    (side >> (CORNER_BITS + 1)) as u32
}

fn is_turned(side: Side) -> bool {
    side >> CORNER_BITS & 1 == 1
}

fn corner(side: Side) -> u32 {
    (side & ((1 << CORNER_BITS) - 1)) as u32
}

/// The sides of triangles by their lower ends, and those of one in ascending order; where those of each lower end end; and
/// runs of lower ends that have about [`RUN`] sides each.
fn sorted_sides(triangles: &[[u32; 3]]) -> (Vec<Side>, Vec<u32>, Vec<Range<usize>>) {
    let ends_of = |corners: &[u32; 3], k: usize| {
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        (a.min(b), a.max(b), a > b)
    };
    let count = triangles.iter().flatten().max().map_or(0, |v| *v as usize + 1);
    let mut ends = vec![0u32; count + 1];
    for corners in triangles {
        (0..3).for_each(|k| ends[ends_of(corners, k).0 as usize + 1] += 1);
    }
    (0..count).for_each(|v| ends[v + 1] += ends[v]);
    let mut sides: Vec<Side> = vec![0; 3 * triangles.len()];
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (low, high, turned) = ends_of(corners, k);
            let place = &mut ends[low as usize];
            sides[*place as usize] =
                (u64::from(high) << 1 | u64::from(turned)) << CORNER_BITS | (3 * t + k) as u64;
            *place += 1;
        }
    }
    // The place after the last side of a lower end is where its sides end.
    ends.truncate(count);
    let (mut runs, mut from) = (Vec::new(), 0);
    for v in 0..count {
        let before = if from == 0 { 0 } else { ends[from - 1] };
        if (ends[v] - before) as usize >= RUN || v + 1 == count {
            runs.push(from..v + 1);
            from = v + 1;
        }
    }
    let mut rest = &mut sides[..];
    let mut parts = Vec::with_capacity(runs.len());
    let mut start = 0;
    for run in &runs {
        let end = ends[run.end - 1] as usize;
        let (part, others) = rest.split_at_mut(end - start);
        parts.push((run.clone(), start, part));
        (rest, start) = (others, end);
    }
    parts.into_par_iter().for_each(|(run, start, part)| {
        let mut from = start;
        for end in ends[run].iter().map(|end| *end as usize) {
            part[from - start..end - start].sort_unstable();
            from = end;
        }
    });
    (sides, ends, runs)
}

/// Steps of a turn round an edge; triangles in one step lie in one plane.
const STEPS: f64 = 1e7;

/// Pairs the sides at an edge of more than two triangles. Round the edge, seen along it, a triangle that runs against it
/// begins a wedge of the solid, and one that runs along it ends one. Of two in one plane the wedge that ends comes first,
/// since solids touch there.
fn with_solid_between(solid: &Solid, along: &[u32], against: &[u32]) -> Vec<(u32, u32)> {
    let corner = |side: u32, k: u32| solid.triangles[side as usize / 3][(side + k) as usize % 3];
    let place = |v: u32| DVec3::from_array(solid.points[v as usize].map(|x| x as f64));
    let (low, high) = (place(corner(along[0], 0)), place(corner(along[0], 1)));
    let axis = (high - low).normalize_or(DVec3::X);
    let across = axis.any_orthonormal_vector();
    let up = axis.cross(across);
    let turned = |side: u32| {
        let p = place(corner(side, 2)) - low;
        let (x, y) = (p.dot(across), p.dot(up));
        // Grows with the angle, from 0 to 4.
        let share = y / (x.abs() + y.abs()).max(f64::MIN_POSITIVE);
        let quarter = if x < 0.0 {
            2.0 - share
        } else if y < 0.0 {
            4.0 + share
        } else {
            share
        };
        (quarter * STEPS).round() as i64 % (4.0 * STEPS) as i64
    };
    let mut round: Vec<(i64, bool, u32)> = along.iter().map(|side| (turned(*side), false, *side)).collect();
    round.extend(against.iter().map(|side| (turned(*side), true, *side)));
    round.sort_unstable();
    let (mut begun, mut pairs, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for (_, begins, side) in round {
        if begins {
            begun.push(side);
        } else if let Some(begin) = begun.pop() {
            pairs.push((side, begin));
        } else {
            // Its wedge begins before the first triangle.
            left.push(side);
        }
    }
    pairs.extend(left.into_iter().zip(begun.into_iter().rev()));
    pairs
}

/// Edges and boxes of a solid, which every cut needs.
pub struct Prepared {
    /// Its edges.
    pub edges: Edges,
    /// Hierarchy of its triangles' boxes.
    pub tree: BoxTree<u32>,
}

impl Prepared {
    /// Prepares a solid, whose edges may be known.
    ///
    /// # Errors
    /// [`OpenEdges`].
    pub fn new(solid: &Solid, edges: Option<Edges>) -> Result<Self, OpenEdges> {
        let bounds = |t: &[u32; 3]| bounds_of(&t.map(|i| solid.points[i as usize]));
        let tree = || tree_of(&solid.triangles.par_iter().map(bounds).collect::<Vec<_>>());
        let (edges, tree) = rayon::join(|| edges.map_or_else(|| Edges::of(&solid.triangles), Ok), tree);
        Ok(Self { edges: edges?, tree })
    }
}

/// A point in whole units: 2^39 a grid side, at most half a side outside the grid, so that a determinant of
/// differences fits 128 bits.
pub type Point = [i64; 3];

/// log2 of the units of a grid side.
pub const UNIT_BITS: u32 = 39;

/// Low and high corner.
pub type Bounds = [Point; 2];

/// Most boxes of a leaf.
const LEAF: usize = 4;

/// The box of some points.
#[must_use]
pub fn bounds_of(points: &[Point]) -> Bounds {
    let ends = |pick: fn(i64, i64) -> i64| {
        let first = points.first().copied().unwrap_or_default();
        points.iter().fold(first, |sum, p| [0, 1, 2].map(|k| pick(sum[k], p[k])))
    };
    [ends(i64::min), ends(i64::max)]
}

/// A tree over `boxes`, by their numbers, split in the middle of the longest side of their centres.
#[must_use]
pub fn tree_of(boxes: &[Bounds]) -> BoxTree<u32> {
    let centre = |i: u32, k: usize| boxes[i as usize][0][k] + boxes[i as usize][1][k];
    // A margin for the rounding of whole numbers to floats.
    let bounds = |i: &u32| {
        let [low, high] = boxes[*i as usize].map(|p| DVec3::from_array(p.map(|v| v as f64)));
        Aabb::new(low - 1.0, high + 1.0)
    };
    let part = |run: &mut [u32], _: DVec3| {
        let (mut first, mut last) = ([i64::MAX; 3], [i64::MIN; 3]);
        for &i in &*run {
            for k in 0..3 {
                let middle = centre(i, k);
                (first[k], last[k]) = (first[k].min(middle), last[k].max(middle));
            }
        }
        let axis = (0..3).max_by_key(|k| last[*k] - first[*k]).unwrap_or(0);
        run.select_nth_unstable_by_key(run.len() / 2, |i| (centre(*i, axis), *i));
    };
    BoxTree::new((0..boxes.len() as u32).collect(), LEAF, bounds, part)
}

/// Whether a leaf's box of a tree has a point in common with `bounds`.
pub fn meets_any(tree: &BoxTree<u32>, bounds: Bounds) -> bool {
    let [low, high] = bounds.map(|p| DVec3::from_array(p.map(|v| v as f64)));
    // A margin for the rounding of whole numbers to floats.
    let bounds = Aabb::new(low - 1.0, high + 1.0);
    let found = std::cell::Cell::new(false);
    tree.visit(|own| !found.get() && own.meets(&bounds), |_| found.set(true));
    found.get()
}

/// Calls `met` with each box of a tree that the segment p-q may touch.
pub fn along(tree: &BoxTree<u32>, p: Point, q: Point, met: &mut impl FnMut(u32)) {
    let (start, end) = (p.map(|v| v as f64), q.map(|v| v as f64));
    let per_length = [0, 1, 2].map(|k| 1.0 / (end[k] - start[k]));
    let touches = |bounds: &Aabb| {
        let (mut enter, mut leave) = (-1e-9_f64, 1.0_f64 + 1e-9);
        for k in 0..3 {
            let (low, high) = (bounds.low[k], bounds.high[k]);
            if start[k].max(end[k]) < low || start[k].min(end[k]) > high {
                return false;
            }
            if end[k] != start[k] {
                let (a, b) = ((low - start[k]) * per_length[k], (high - start[k]) * per_length[k]);
                enter = enter.max(a.min(b) - 1e-9);
                leave = leave.min(a.max(b) + 1e-9);
            }
        }
        enter <= leave
    };
    tree.visit(touches, |item| met(*item));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_sorted_as_by_comparing_all() {
        for count in [0u32, 1, 2, 300, 4 * RUN as u32] {
            let vertex = |i: u32| i.wrapping_mul(2_654_435_761) >> 7 & 31;
            let triangles: Vec<[u32; 3]> =
                (0..count).map(|t| [vertex(3 * t), vertex(3 * t + 1), vertex(3 * t + 2)]).collect();
            let mut wanted = Vec::new();
            for (t, corners) in triangles.iter().enumerate() {
                for (k, (a, b)) in
                    [(0, 1), (1, 2), (2, 0)].map(|(i, j)| (corners[i], corners[j])).iter().enumerate()
                {
                    wanted.push((*a.min(b), *a.max(b), a > b, (3 * t + k) as u32));
                }
            }
            wanted.sort_unstable();
            let (sides, ends, runs) = sorted_sides(&triangles);
            let mut found = Vec::new();
            for (low, end) in (0..).zip(&ends) {
                let own = &sides[found.len()..*end as usize];
                found.extend(own.iter().map(|s| (low, upper_end(*s), is_turned(*s), corner(*s))));
            }
            assert_eq!(found, wanted);
            let joined: Vec<usize> = runs.iter().cloned().flatten().collect();
            assert_eq!(joined, (0..ends.len()).collect::<Vec<_>>());
            assert!(count < 400 || runs.len() > 4, "{}", runs.len());
        }
    }
}
