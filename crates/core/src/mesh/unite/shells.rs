//! The union of two closed surfaces, or of one with itself.
//!
//! In: two shells in whole units, neither of which passes through itself. Out: the parts of each that lie outside the
//! other. Signs are exact ([`crossing`]), and polygons are traced by the sides that they lie on, so the result is closed
//! however the places of new points are rounded. No plane of one may hold a corner of the other.
//!
//! ```text
//! node   0 ..     points of the first shell, then of the second
//!        then     edges of the first through triangles of the second, then the other way round
//! ```

mod alone;

use std::ops::RangeInclusive;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

pub(super) use self::alone::alone;

use crate::geometry::{
    Aabb, BoxTree,
    exact::{Crossing, InOnePlane, crossing},
    polygon::{holds, loop_area, triangulate},
};

/// A place in whole units; differences have at most 40 bits.
pub(super) type Point = [i64; 3];

/// Marks a point that is no vertex of the mesh.
pub(super) const NEW: u32 = u32::MAX;

/// A closed surface.
#[derive(Clone, Debug, Default)]
pub(super) struct Shell {
    pub points: Vec<Point>,
    /// Welded vertex of the mesh at each point, or [`NEW`].
    pub origin: Vec<u32>,
    pub triangles: Vec<[u32; 3]>,
    /// Triangle of the mesh that each triangle is a part of.
    pub source: Vec<u32>,
}

/// Two shells do not meet in whole lines: one passes through itself, or corners of one lie in planes of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tangled;

/// Most triangles of a leaf of the tree.
const LEAF: usize = 4;
/// Intersections of an edge closer than this share of it may be in any order.
const SAME: f64 = 1e-9;

impl Shell {
    /// The shell of these triangles, each with its source, in the numbers of `places`; the first of those are points
    /// with these origins, and the others are new.
    fn of_used(triangles: &[([u32; 3], u32)], places: &[Point], origins: [&[u32]; 2]) -> Self {
        let mut used: Vec<u32> = triangles.iter().flat_map(|(corners, _)| *corners).collect();
        used.par_sort_unstable();
        used.dedup();
        let origin = |node: &u32| {
            let node = *node as usize;
            let second = || origins[1].get(node.checked_sub(origins[0].len())?);
            origins[0].get(node).or_else(second).copied().unwrap_or(NEW)
        };
        let number = |node: u32| used.binary_search(&node).unwrap_or_default() as u32;
        Self {
            points: used.iter().map(|node| places[*node as usize]).collect(),
            origin: used.iter().map(origin).collect(),
            triangles: triangles.iter().map(|(corners, _)| corners.map(number)).collect(),
            source: triangles.iter().map(|(_, source)| *source).collect(),
        }
    }
}

fn real(p: Point) -> DVec3 {
    DVec3::from_array(p.map(|v| v as f64))
}

/// A shell with its edges and a tree of its triangles.
struct Side<'a> {
    shell: &'a Shell,
    /// Ends of each edge, the lower number first.
    edges: Vec<[u32; 2]>,
    /// The edge from each corner of each triangle to the next.
    of: Vec<[u32; 3]>,
    tree: BoxTree<u32>,
}

/// An edge passes through a triangle of the other shell.
#[derive(Clone, Copy)]
struct Met {
    triangle: u32,
    crossing: Crossing,
}

impl Met {
    /// What a way that goes on to the outside adds to the winding number of its start.
    fn winding(&self) -> i32 {
        if self.crossing.to_front { 1 } else { -1 }
    }
}

/// How the other shell, or the same one elsewhere, cuts a side.
struct Cut {
    /// First of `met` on each edge; the last entry is their number.
    first: Vec<u32>,
    met: Vec<Met>,
    /// Winding number at each point of what cuts: 1 inside another shell, else 0.
    within: Vec<i32>,
    /// The winding numbers that there may be.
    levels: RangeInclusive<i32>,
}

impl Cut {
    /// Lists of the intersections on each edge, without winding numbers.
    fn of(lists: Vec<Vec<Met>>, levels: RangeInclusive<i32>) -> Self {
        let (mut first, mut met) = (Vec::with_capacity(lists.len() + 1), Vec::new());
        for list in lists {
            first.push(met.len() as u32);
            met.extend(list);
        }
        first.push(met.len() as u32);
        Self { first, met, within: Vec::new(), levels }
    }
}

impl<'a> Side<'a> {
    fn new(shell: &'a Shell) -> Self {
        let mut sides: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * shell.triangles.len());
        for (t, corners) in shell.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), (3 * t + k) as u32));
            }
        }
        sides.par_sort_unstable();
        let (mut edges, mut of) = (Vec::new(), vec![[0; 3]; shell.triangles.len()]);
        for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (_, _, side) in group {
                of[*side as usize / 3][*side as usize % 3] = edges.len() as u32;
            }
            edges.push([group[0].0, group[0].1]);
        }
        // A margin for the rounding of segments.
        let boxes: Vec<Aabb> = shell
            .triangles
            .iter()
            .map(|t| Aabb::of(t.map(|v| real(shell.points[v as usize]))))
            .map(|own| Aabb::new(own.low - 1.0, own.high + 1.0))
            .collect();
        let tree = BoxTree::by_middles((0..boxes.len() as u32).collect(), LEAF, |t: &u32| boxes[*t as usize]);
        Self { shell, edges, of, tree }
    }

    fn corners(&self, t: u32) -> [Point; 3] {
        self.shell.triangles[t as usize].map(|v| self.shell.points[v as usize])
    }

    /// The triangles that count and that the segment p-q passes through.
    fn through(&self, p: Point, q: Point, counts: &dyn Fn(u32) -> bool) -> Result<Vec<Met>, Tangled> {
        let (start, end) = (real(p), real(q));
        let (low, high) = (start.min(end), start.max(end));
        let (middle, half) = ((start + end) / 2.0, (end - start) / 2.0);
        let touches = |own: &Aabb| {
            if own.low.cmpgt(high).any() || own.high.cmplt(low).any() {
                return false;
            }
            // The axes across the segment and an edge of the box.
            let (off, reach, along) = (middle - own.middle(), own.size() / 2.0, half.abs());
            let apart = off.cross(half).abs();
            let most = DVec3::new(
                reach.y * along.z + reach.z * along.y,
                reach.z * along.x + reach.x * along.z,
                reach.x * along.y + reach.y * along.x,
            );
            apart.cmple(most).all()
        };
        let (mut all, mut level) = (Vec::new(), false);
        self.tree.visit(touches, |t| match counts(*t).then(|| crossing(p, q, self.corners(*t))) {
            Some(Ok(Some(crossing))) => all.push(Met { triangle: *t, crossing }),
            Some(Err(InOnePlane)) => level = true,
            Some(Ok(None)) | None => {}
        });
        if level { Err(Tangled) } else { Ok(all) }
    }

    /// The triangles that count on the shortest way from a point to the outside, or on one that hardly differs.
    fn outward(&self, p: Point, counts: &dyn Fn(u32) -> bool) -> Result<Vec<Met>, Tangled> {
        let bounds = self.tree.bounds().filter(|bounds| bounds.holds(real(p)));
        let Some(bounds) = bounds else { return Ok(Vec::new()) };
        let borders =
            [0, 1, 2].map(|k| [bounds.low[k] as i64 - 1_000_003, bounds.high[k] as i64 + 1_000_003]);
        let ways = (0..3).flat_map(|k| borders[k].map(|border| (border, k)));
        let nearest = ways.min_by_key(|(border, k)| (border - p[*k]).abs());
        let turned = |turn: i64| {
            let mut goal = p;
            (0..3).for_each(|k| goal[k] += (turn + 1) * (k as i64 + 3) * 7919);
            if let Some((border, k)) = nearest {
                goal[k] = border;
            }
            self.through(p, goal, counts).ok()
        };
        (0..16).find_map(turned).ok_or(Tangled)
    }

    fn cut_by(&self, other: &Self) -> Result<Cut, Tangled> {
        let place = |v: u32| self.shell.points[v as usize];
        let on = |[a, b]: &[u32; 2]| {
            let mut list = other.through(place(*a), place(*b), &|_| true)?;
            list.sort_by(|a, b| a.crossing.at.total_cmp(&b.crossing.at).then(a.triangle.cmp(&b.triangle)));
            if alternate(&mut list) { Ok(list) } else { Err(Tangled) }
        };
        let lists: Result<Vec<Vec<Met>>, Tangled> = self.edges.par_iter().with_min_len(64).map(on).collect();
        let mut cut = Cut::of(lists?, 0..=1);
        let start = |v: u32| Ok(other.outward(place(v), &|_| true)?.iter().map(Met::winding).sum());
        cut.within = self.windings(&cut, &start)?;
        Ok(cut)
    }

    /// The winding number of what cuts at every point, along edges from one point of each connected run, for which
    /// `start` gives it.
    fn windings(&self, cut: &Cut, start: &dyn Fn(u32) -> Result<i32, Tangled>) -> Result<Vec<i32>, Tangled> {
        let mut links: Vec<(u32, u32, i32)> = Vec::with_capacity(2 * self.edges.len());
        for (e, [a, b]) in self.edges.iter().enumerate() {
            let on = &cut.met[cut.first[e] as usize..cut.first[e + 1] as usize];
            let change = -on.iter().map(Met::winding).sum::<i32>();
            links.extend([(*a, *b, change), (*b, *a, -change)]);
        }
        links.par_sort_unstable();
        let mut within = vec![i32::MAX; self.shell.points.len()];
        let mut stack: Vec<u32> = Vec::new();
        for first in 0..within.len() {
            if within[first] != i32::MAX {
                continue;
            }
            within[first] = start(first as u32)?;
            stack.push(first as u32);
            while let Some(at) = stack.pop() {
                let own = within[at as usize];
                if !cut.levels.contains(&own) {
                    return Err(Tangled);
                }
                let from = links.partition_point(|link| link.0 < at);
                for (_, to, change) in links[from..].iter().take_while(|link| link.0 == at) {
                    let known = &mut within[*to as usize];
                    if *known == i32::MAX {
                        *known = own + change;
                        stack.push(*to);
                    } else if *known != own + change {
                        return Err(Tangled);
                    }
                }
            }
        }
        Ok(within)
    }

    /// What cuts a side of a triangle, in the order in which the triangle runs along it: indices of the cut, and whether
    /// the way leaves the other shell there.
    fn along(&self, cut: &Cut, t: usize, k: usize) -> Vec<(u32, bool)> {
        let e = self.of[t][k] as usize;
        let forth = self.edges[e][0] == self.shell.triangles[t][k];
        let leaves = |n: u32| cut.met[n as usize].crossing.to_front == forth;
        let mut all: Vec<(u32, bool)> = (cut.first[e]..cut.first[e + 1]).map(|n| (n, leaves(n))).collect();
        if !forth {
            all.reverse();
        }
        all
    }

    /// Coordinates of nodes in the plane of a triangle.
    fn flat(&self, t: usize, places: &[Point]) -> impl Fn(u32) -> DVec2 {
        let [a, b, c] = self.corners(t as u32).map(real);
        let normal = (b - a).cross(c - a).normalize_or(DVec3::Y);
        let across = (b - a).normalize_or(normal.any_orthonormal_vector());
        let up = normal.cross(across);
        move |node: u32| {
            let p = real(places[node as usize]) - a;
            DVec2::new(p.dot(across), p.dot(up))
        }
    }

    /// Places of the intersections on the edges.
    fn places(&self, cut: &Cut) -> Vec<Point> {
        let mut places = Vec::with_capacity(cut.met.len());
        for (e, ends) in self.edges.iter().enumerate() {
            let [a, b] = ends.map(|v| real(self.shell.points[v as usize]));
            let on = &cut.met[cut.first[e] as usize..cut.first[e + 1] as usize];
            let at = |met: &Met| (a + (b - a) * met.crossing.at).to_array().map(|v| v.round() as i64);
            places.extend(on.iter().map(at));
        }
        places
    }

    /// The parts of all triangles outside, and the triangle of the mesh that each is a part of. `met` gets the source of
    /// every triangle that is cut, or that is inside. `lines` are sorted; for `numbers` see [`Side::outside`].
    fn all_outside(
        &self,
        cut: &Cut,
        lines: &[Line],
        numbers: [u32; 2],
        places: &[Point],
        met: &mut Vec<u32>,
    ) -> Result<Vec<([u32; 3], u32)>, Tangled> {
        let of = |t: usize| -> Result<(Vec<[u32; 3]>, bool), Tangled> {
            let from = lines.partition_point(|line| (line.0 as usize) < t);
            let count = lines[from..].iter().take_while(|line| line.0 as usize == t).count();
            Ok((self.outside(cut, t, &lines[from..from + count], numbers, places)?, count > 0))
        };
        let all = (0..self.shell.triangles.len()).into_par_iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let mut out = Vec::with_capacity(all.len());
        for ((parts, is_cut), from) in all.into_iter().zip(&self.shell.source) {
            met.extend((is_cut || parts.is_empty()).then_some(*from));
            out.extend(parts.into_iter().map(|part| (part, *from)));
        }
        Ok(out)
    }

    /// The parts of a triangle outside the other shell. `segments` are the lines in it, with the outside on the left;
    /// `numbers` the nodes of the first point and of the first intersection.
    fn outside(
        &self,
        cut: &Cut,
        t: usize,
        segments: &[(u32, u32, u32)],
        numbers: [u32; 2],
        places: &[Point],
    ) -> Result<Vec<[u32; 3]>, Tangled> {
        let [own, nodes] = numbers;
        let corners = self.shell.triangles[t];
        let all = corners.map(|v| own + v);
        if segments.is_empty() {
            return Ok(if cut.within[corners[0] as usize] == 0 { vec![all] } else { Vec::new() });
        }
        let mut around: Vec<[u32; 2]> = segments.iter().map(|(_, from, to)| [*from, *to]).collect();
        let mut border = all.to_vec();
        for k in 0..3 {
            let (mut last, mut within) = (all[k], cut.within[corners[k] as usize]);
            for (n, leaves) in self.along(cut, t, k) {
                if within == 0 {
                    around.push([last, nodes + n]);
                }
                within += if leaves { -1 } else { 1 };
                if !cut.levels.contains(&within) {
                    return Err(Tangled);
                }
                last = nodes + n;
                border.push(last);
            }
            if within == 0 {
                around.push([last, all[(k + 1) % 3]]);
            }
        }
        let flat = self.flat(t, places);
        let outline = |nodes: &[u32]| nodes.iter().map(|node| flat(*node)).collect::<Vec<_>>();
        let (outer, inner): (Vec<_>, Vec<_>) = loops(around).ok_or(Tangled)?.into_iter().partition(|nodes| {
            nodes.iter().any(|node| border.contains(node)) || loop_area(&outline(nodes)) > 0.0
        });
        let mut holes: Vec<Vec<Vec<u32>>> = vec![Vec::new(); outer.len()];
        for hole in inner {
            let p = flat(hole[0]);
            let holder = (0..outer.len())
                .filter(|k| holds(&outline(&outer[*k]), p))
                .min_by(|a, b| loop_area(&outline(&outer[*a])).total_cmp(&loop_area(&outline(&outer[*b]))));
            holes[holder.ok_or(Tangled)?].push(hole);
        }
        let cut_up =
            |(nodes, holes): (Vec<u32>, Vec<Vec<u32>>)| triangulate(&nodes, &holes, &flat, &|_, _| true);
        Ok(outer.into_iter().zip(holes).flat_map(cut_up).collect())
    }
}

/// Puts intersections at nearly the same place in an order that enters and leaves by turns. Whether there is one.
fn alternate(list: &mut [Met]) -> bool {
    for k in 1..list.len() {
        let (last, reach) = (list[k - 1].crossing.to_front, list[k].crossing.at + SAME);
        let mut near = (k..list.len()).take_while(|j| list[*j].crossing.at <= reach);
        let next = near.find(|j| list[*j].crossing.to_front != last);
        let Some(next) = next else { return false };
        list[k..=next].rotate_right(1);
    }
    true
}

/// Loops of directed edges. `None` if one does not close.
fn loops(mut around: Vec<[u32; 2]>) -> Option<Vec<Vec<u32>>> {
    around.sort_unstable();
    let (mut done, mut out) = (vec![false; around.len()], Vec::new());
    for first in 0..around.len() {
        if done[first] {
            continue;
        }
        let (mut nodes, mut at) = (Vec::new(), first);
        loop {
            done[at] = true;
            nodes.push(around[at][0]);
            let next = around[at][1];
            if next == around[first][0] {
                break;
            }
            let from = around.partition_point(|edge| edge[0] < next);
            at = (from..around.len()).take_while(|k| around[*k][0] == next).find(|k| !done[*k])?;
        }
        out.push(nodes);
    }
    Some(out)
}

/// Pairs of shells that overlap: an edge of one passes through the other, or a point of one lies inside.
pub(super) fn overlaps(shells: &[Shell]) -> Vec<[u32; 2]> {
    let (mut all, mut of_triangle, mut of_point) = (Shell::default(), Vec::new(), Vec::new());
    for (number, shell) in (0u32..).zip(shells) {
        let first = all.points.len() as u32;
        all.points.extend_from_slice(&shell.points);
        all.triangles.extend(shell.triangles.iter().map(|t| t.map(|v| v + first)));
        of_triangle.extend(std::iter::repeat_n(number, shell.triangles.len()));
        of_point.extend(std::iter::repeat_n(number, shell.points.len()));
    }
    let side = Side::new(&all);
    let through = |[a, b]: &[u32; 2]| {
        let own: u32 = of_point[*a as usize];
        let [from, to] = [a, b].map(|v| all.points[*v as usize]);
        let met = side.through(from, to, &|t| of_triangle[t as usize] != own).unwrap_or_default();
        met.iter().map(|met| [own, of_triangle[met.triangle as usize]]).collect::<Vec<_>>()
    };
    let mut pairs: Vec<[u32; 2]> = side.edges.par_iter().with_min_len(64).flat_map_iter(through).collect();
    let inside = |(own, shell): (usize, &Shell)| {
        let own = own as u32;
        let p = shell.points.first().copied().unwrap_or_default();
        let met = side.outward(p, &|t| of_triangle[t as usize] != own).unwrap_or_default();
        let mut of: Vec<(u32, i32)> =
            met.iter().map(|met| (of_triangle[met.triangle as usize], met.winding())).collect();
        of.sort_unstable();
        let held = of.chunk_by(|a, b| a.0 == b.0).filter(|one| one.iter().map(|met| met.1).sum::<i32>() != 0);
        held.map(|one| [own, one[0].0]).collect::<Vec<_>>()
    };
    pairs.par_extend(shells.par_iter().enumerate().flat_map_iter(inside));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The union of two shells. `met` gets the source of every triangle that is cut, or that lies inside the other shell.
///
/// # Errors
/// [`Tangled`].
pub(super) fn union(one: &Shell, other: &Shell, met: &mut Vec<u32>) -> Result<Shell, Tangled> {
    let sides = [Side::new(one), Side::new(other)];
    let cuts = [sides[0].cut_by(&sides[1])?, sides[1].cut_by(&sides[0])?];
    let second = one.points.len() as u32;
    let nodes = second + other.points.len() as u32;
    let numbers = [[0, nodes], [second, nodes + cuts[0].met.len() as u32]];
    let mut places: Vec<Point> = one.points.iter().chain(&other.points).copied().collect();
    places.extend(sides.iter().zip(&cuts).flat_map(|(side, cut)| side.places(cut)));
    let lines = segments(&sides, &cuts, numbers)?;
    let mut triangles = Vec::new();
    for (k, numbers) in numbers.into_iter().enumerate() {
        triangles.extend(sides[k].all_outside(&cuts[k], &lines[k], numbers, &places, met)?);
    }
    Ok(Shell::of_used(&triangles, &places, [&one.origin, &other.origin]))
}

/// A line across a triangle: triangle, from, to.
type Line = (u32, u32, u32);

/// For each side its lines; the outside of the other shell is on their left, seen from the front.
fn segments(
    sides: &[Side<'_>; 2],
    cuts: &[Cut; 2],
    numbers: [[u32; 2]; 2],
) -> Result<[Vec<Line>; 2], Tangled> {
    // Triangle of the first, of the second, node, and whether the line starts there that has the second's inside on its
    // left.
    let mut ends: Vec<(u32, u32, u32, bool)> = Vec::new();
    for (s, (side, cut)) in sides.iter().zip(cuts).enumerate() {
        for t in 0..side.shell.triangles.len() {
            for k in 0..3 {
                for (n, leaves) in side.along(cut, t, k) {
                    let (own, other, node) = (t as u32, cut.met[n as usize].triangle, numbers[s][1] + n);
                    ends.push(if s == 0 { (own, other, node, leaves) } else { (other, own, node, !leaves) });
                }
            }
        }
    }
    ends.par_sort_unstable();
    let mut out = [Vec::new(), Vec::new()];
    for pair in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let [one, other] = pair else { return Err(Tangled) };
        if one.3 == other.3 {
            return Err(Tangled);
        }
        let (from, to) = if one.3 { (one.2, other.2) } else { (other.2, one.2) };
        out[0].push((one.0, to, from));
        out[1].push((one.1, from, to));
    }
    out[1].par_sort_unstable();
    Ok(out)
}
