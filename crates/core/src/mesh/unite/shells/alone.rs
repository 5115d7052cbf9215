//! The union of a closed surface with itself.
//!
//! In: a shell that may pass through itself. Out: the parts of it outside of which the winding number is 0: one surface
//! round all places that it encloses at least once.
//!
//! Where two of its triangles meet, the winding number of the whole shell is W outside both, W + 1 within one of them and
//! W + 2 within both, so outside of each triangle it is W on one side of the line and W + 1 on the other. Lines with W = 0
//! or W = -1 bound what remains; the others lie within or without it.

use glam::DVec2;
use rayon::prelude::*;

use super::{Cut, Line, Met, Point, Shell, Side, Tangled};
use crate::geometry::exact::orient;

/// Attempts to find a place in front of a triangle, each four times as far from it as the one before.
const TRIES: u32 = 8;
/// Lines that reach across each other by less are taken to touch, units: places of nodes are rounded.
const TOUCH: f64 = 1024.0;

/// The shell without what is inside of it, and how many times it encloses a place at most; `None` if no edge passes
/// through a triangle.
///
/// # Errors
/// [`Tangled`] if three triangles meet in a point inside of one, if two that share a vertex pass through each other, or
/// if a corner lies in the plane of a triangle nearby.
pub fn alone(shell: &Shell) -> Result<Option<(Shell, i32)>, Tangled> {
    let side = Side::new(shell);
    let Some(cut) = side.cut_by_itself()? else { return Ok(None) };
    let nodes = shell.points.len() as u32;
    let mut places: Vec<Point> = shell.points.clone();
    places.extend(side.places(&cut));
    let lines = side.lines(&cut, nodes)?;
    side.check_apart(&lines, &places)?;
    let layers = 1 + cut.within.iter().copied().max().unwrap_or_default().max(0);
    let outer: Vec<Line> = lines
        .into_iter()
        .filter_map(|((t, from, to), level)| match level {
            0 => Some((t, from, to)),
            -1 => Some((t, to, from)),
            _ => None,
        })
        .collect();
    let triangles = side.all_outside(&cut, &outer, [0, nodes], &places, &mut Vec::new())?;
    Ok(Some((Shell::of_used(&triangles, &places, [&shell.origin, &[]]), layers)))
}

impl Side<'_> {
    /// What of the shell cuts its edges; `None` if nothing does.
    fn cut_by_itself(&self) -> Result<Option<Cut>, Tangled> {
        let place = |v: u32| self.shell.points[v as usize];
        let on = |[a, b]: &[u32; 2]| {
            let is_apart = |t: u32| self.shell.triangles[t as usize].iter().all(|v| v != a && v != b);
            let mut list = self.through(place(*a), place(*b), &is_apart)?;
            list.sort_by(|a, b| a.crossing.at.total_cmp(&b.crossing.at).then(a.triangle.cmp(&b.triangle)));
            Ok(list)
        };
        let lists: Result<Vec<Vec<Met>>, Tangled> = self.edges.par_iter().with_min_len(64).map(on).collect();
        let mut cut = Cut::of(lists?, i32::MIN..=i32::MAX - 1);
        if cut.met.is_empty() {
            return Ok(None);
        }
        let mut one_of = vec![0u32; self.shell.points.len()];
        for (t, corners) in (0..).zip(&self.shell.triangles) {
            corners.iter().for_each(|v| one_of[*v as usize] = t);
        }
        cut.within = self.windings(&cut, &|v| self.level_at(v, one_of[v as usize]))?;
        Ok(Some(cut))
    }

    /// The winding number in front of the surface at a corner of triangle `t`.
    fn level_at(&self, corner: u32, t: u32) -> Result<i32, Tangled> {
        let [a, b, c] = self.corners(t);
        let [ra, rb, rc] = [a, b, c].map(super::real);
        let front = (rb - ra).cross(rc - ra).normalize_or_zero();
        let before = |k: u32| {
            let p = (ra + rb + rc) / 3.0 + front * f64::from(64 << (2 * k));
            p.to_array().map(|v| v.round() as i64)
        };
        let p = (0..TRIES).map(before).find(|p| orient(a, b, c, *p) > 0.0).ok_or(Tangled)?;
        let at_start: i32 = self.outward(p, &|_| true)?.iter().map(Met::winding).sum();
        let is_apart = |t: u32| !self.shell.triangles[t as usize].contains(&corner);
        let on_the_way = self.through(p, self.shell.points[corner as usize], &is_apart)?;
        Ok(at_start - on_the_way.iter().map(Met::winding).sum::<i32>())
    }

    /// The lines in which triangles meet, each once for either triangle, sorted, and the lower of the two winding numbers
    /// in front of it. The inside of the other triangle is on the right.
    fn lines(&self, cut: &Cut, nodes: u32) -> Result<Vec<(Line, i32)>, Tangled> {
        // The triangle with the lower number, the other one, node, whether the line starts there that has the second's
        // inside on its left, and the level.
        let mut ends: Vec<(u32, u32, u32, bool, i32)> = Vec::new();
        for t in 0..self.shell.triangles.len() {
            for k in 0..3 {
                let mut level = cut.within[self.shell.triangles[t][k] as usize];
                for (n, leaves) in self.along(cut, t, k) {
                    let (own, other, node) = (t as u32, cut.met[n as usize].triangle, nodes + n);
                    let next = level + if leaves { -1 } else { 1 };
                    let lower = level.min(next);
                    level = next;
                    ends.push(if own < other {
                        (own, other, node, leaves, lower)
                    } else {
                        (other, own, node, !leaves, lower)
                    });
                }
            }
        }
        ends.par_sort_unstable();
        let mut lines = Vec::with_capacity(ends.len());
        for pair in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let [one, other] = pair else { return Err(Tangled) };
            if one.3 == other.3 || one.4 != other.4 {
                return Err(Tangled);
            }
            let (from, to) = if one.3 { (one.2, other.2) } else { (other.2, one.2) };
            lines.extend([((one.0, to, from), one.4), ((one.1, from, to), one.4)]);
        }
        lines.par_sort_unstable();
        Ok(lines)
    }

    /// Fails if two lines in a triangle cross: three triangles meet there, and no node is at that place.
    fn check_apart(&self, lines: &[(Line, i32)], places: &[Point]) -> Result<(), Tangled> {
        let runs: Vec<&[(Line, i32)]> =
            lines.chunk_by(|a, b| a.0.0 == b.0.0).filter(|run| run.len() > 1).collect();
        let is_apart = |run: &&[(Line, i32)]| {
            let flat = self.flat(run[0].0.0 as usize, places);
            let ends: Vec<_> = run.iter().map(|((_, a, b), _)| ([*a, *b], [flat(*a), flat(*b)])).collect();
            ends.iter().enumerate().all(|(k, (nodes, [p, q]))| {
                ends[..k].iter().all(|(others, [r, s])| {
                    let is_across = divides([*p, *q], [*r, *s]) && divides([*r, *s], [*p, *q]);
                    nodes.iter().any(|node| others.contains(node)) || !is_across
                })
            })
        };
        if runs.par_iter().all(is_apart) { Ok(()) } else { Err(Tangled) }
    }
}

/// Whether the ends of a segment lie on both sides of the line through another.
fn divides([p, q]: [DVec2; 2], ends: [DVec2; 2]) -> bool {
    let way = (q - p).normalize_or_zero();
    let [a, b] = ends.map(|end| way.perp_dot(end - p));
    a.min(b) < -TOUCH && a.max(b) > TOUCH
}
