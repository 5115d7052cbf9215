//! Polygons with holes into triangles.
//!
//! In: loops of points in a plane, the inside on their left: borders counter-clockwise, holes clockwise, none
//! crossing. Out: regions, each a border with its holes, cut into triangles by clipping ears. Every edge of every
//! loop is an edge of exactly one triangle, and every other edge of two, because an ear is clipped off a ring
//! whatever its shape: rounding can make a triangle thin, or turn one of no area round, but cannot open a region.
//! Loops that cross are refused; so are those whose triangles cover more than they enclose.

use super::ears::clip_ears;
use super::simple::loops_cross;
use glam::DVec2;
use std::ops::Range;

/// A loop narrower than this does not show by its area whether it is a border or a hole, units; rounding moves points
/// by less than a tenth of it, and a fine unit is 2^-7.
const THIN: f64 = 1e-9;

/// Points this near to each other are one point, units.
const COINCIDE: f64 = 1e-9;

/// How much wider than a loop's line its triangles may overlap, units.
const OVERLAP: f64 = 1e-6;

/// A border and its holes.
pub struct Region {
    /// Counter-clockwise, indices of points.
    pub triangles: Vec<[u32; 3]>,
    /// Which loops it is bordered by.
    pub loops: Vec<u32>,
}

/// No line.
pub const NO_LINE: u32 = u32::MAX;

/// Corners of loops.
pub struct Points {
    /// Where they are.
    pub at: Vec<DVec2>,
    /// Lines that the border of the plane's polygon consists of and the point lies on, or `NO_LINE`. Two points of
    /// one line are not joined, but where a loop does: no polygon needs it, and the polygon on the line's other side
    /// might do the same, so that four triangles would meet there.
    pub lines: Vec<[u32; 2]>,
    /// How far loops may fold over themselves and each other, units.
    pub fold: f64,
}

impl Points {
    /// Whether an edge that no loop has may lead from one to the other.
    pub fn may_join(&self, a: u32, b: u32) -> bool {
        let of_b = self.lines[b as usize];
        !self.lines[a as usize].iter().any(|&line| line != NO_LINE && of_b.contains(&line))
    }

    fn range(&self, range: &Range<u32>) -> &[DVec2] {
        &self.at[range.start as usize..range.end as usize]
    }
}

/// Twice the area, positive where c is on the left of a to b.
pub fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// A loop with what is asked of it again and again.
struct Ring {
    points: Range<u32>,
    area: f64,
    length: f64,
    low: DVec2,
    high: DVec2,
}

impl Ring {
    fn new(points: &Points, range: &Range<u32>) -> Self {
        let ring = points.range(range);
        let origin = ring[0];
        let (mut area, mut length, mut low, mut high) = (0.0, 0.0, origin, origin);
        for (k, &a) in ring.iter().enumerate() {
            let b = ring[(k + 1) % ring.len()];
            area += 0.5 * (a - origin).perp_dot(b - origin);
            length += a.distance(b);
            (low, high) = (low.min(a), high.max(a));
        }
        Self { points: range.clone(), area, length, low, high }
    }

    fn is_thin(&self, points: &Points) -> bool {
        self.area.abs() <= THIN.max(points.fold) * self.length
    }

    fn contains(&self, points: &Points, p: DVec2) -> bool {
        if p.cmplt(self.low).any() || p.cmpgt(self.high).any() {
            return false;
        }
        let ring = points.range(&self.points);
        let mut inside = false;
        for (k, &a) in ring.iter().enumerate() {
            let b = ring[(k + 1) % ring.len()];
            if (a.y > p.y) != (b.y > p.y) && (turn(a, b, p) > 0.0) == (b.y > a.y) {
                inside = !inside;
            }
        }
        inside
    }

    /// Whether most of some points of another loop are inside: loops do not cross, but may touch.
    fn surrounds(&self, points: &Points, other: &Self) -> bool {
        if other.low.cmplt(self.low).any() || other.high.cmpgt(self.high).any() {
            return false;
        }
        let step = (other.points.len() / 9).max(1);
        let (mut inside, mut asked) = (0, 0);
        for p in other.points.clone().step_by(step) {
            asked += 1;
            inside += usize::from(self.contains(points, points.at[p as usize]));
        }
        2 * inside > asked
    }
}

/// All regions, or None where the loops cross or are nested in a way that no solid's are. Thin loops beside others
/// are refused too, or, if `thin_alone`, become regions of their own.
pub fn regions(points: &Points, loops: &[Range<u32>], thin_alone: bool) -> Option<Vec<Region>> {
    if loops_cross(points, loops) {
        return None;
    }
    let rings: Vec<Ring> = loops.iter().map(|range| Ring::new(points, range)).collect();
    if !thin_alone && rings.len() > 1 && rings.iter().any(|ring| ring.is_thin(points)) {
        return None;
    }
    let mut holes_of: Vec<Vec<u32>> = vec![Vec::new(); rings.len()];
    let mut is_hole = vec![false; rings.len()];
    for (index, ring) in rings.iter().enumerate().filter(|(_, ring)| !ring.is_thin(points)) {
        let round = rings
            .iter()
            .enumerate()
            .filter(|&(k, other)| k != index && !other.is_thin(points) && other.surrounds(points, ring));
        // Winding number of the loops round this one, and the nearest of those that are borders.
        let (mut winding, mut nearest) = (0, None);
        for (k, other) in round {
            winding += if other.area > 0.0 { 1 } else { -1 };
            if other.area > 0.0 && nearest.is_none_or(|n: usize| other.area < rings[n].area) {
                nearest = Some(k);
            }
        }
        if ring.area < 0.0 {
            if winding != 1 {
                return None;
            }
            is_hole[index] = true;
            holes_of[nearest?].push(index as u32);
        } else if winding != 0 {
            return None;
        }
    }
    let mut regions = Vec::new();
    for (border, holes) in holes_of.into_iter().enumerate().filter(|&(index, _)| !is_hole[index]) {
        let triangles = region(points, &rings, border, &holes)?;
        let loops = std::iter::once(border as u32).chain(holes).collect();
        regions.push(Region { triangles, loops });
    }
    Some(regions)
}

/// A loop without points that stand on the one before, which are cut off as triangles without area: the moved mesh
/// (see `exact`) has vertices an infinitely small step apart, and edges of no length have no left side.
fn distinct(points: &Points, ring: &Ring, triangles: &mut Vec<[u32; 3]>) -> Vec<u32> {
    let coincide =
        |a: u32, b: u32| points.at[a as usize].distance_squared(points.at[b as usize]) <= COINCIDE * COINCIDE;
    let mut left = ring.points.len();
    let mut kept: Vec<u32> = Vec::with_capacity(left);
    for point in ring.points.clone() {
        let next = if point + 1 == ring.points.end { ring.points.start } else { point + 1 };
        match kept.last() {
            Some(&last) if left > 3 && coincide(last, point) && points.may_join(last, next) => {
                triangles.push([last, point, next]);
                left -= 1;
            }
            _ => kept.push(point),
        }
    }
    while let [first, .., before, last] = kept[..]
        && kept.len() > 3
        && coincide(first, last)
        && points.may_join(before, first)
    {
        triangles.push([before, last, first]);
        kept.pop();
    }
    kept
}

fn region(points: &Points, rings: &[Ring], border: usize, holes: &[u32]) -> Option<Vec<[u32; 3]>> {
    let mut triangles = Vec::new();
    let mut ring = distinct(points, &rings[border], &mut triangles);
    // The rightmost first: what is right of it can only be the border or holes that already belong to it.
    let mut order = holes.to_vec();
    order.sort_by(|&a, &b| rings[b as usize].high.x.total_cmp(&rings[a as usize].high.x));
    let waiting: Vec<Vec<u32>> =
        order.iter().map(|&h| distinct(points, &rings[h as usize], &mut triangles)).collect();
    for k in 0..waiting.len() {
        bridge(points, &mut ring, &waiting[k..]);
    }
    triangles.extend(clip_ears(points, &ring));
    let all = holes.iter().map(|&h| &rings[h as usize]).chain([&rings[border]]);
    let (area, length) = all.fold((0.0, 0.0), |(area, length), r| (area + r.area, length + r.length));
    let covered: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| points.at[i as usize]);
            0.5 * turn(a, b, c).abs()
        })
        .sum();
    (covered - area <= OVERLAP.max(points.fold) * length).then_some(triangles)
}

/// Joins the first hole to the ring by an edge that is walked there and back: from a point of the hole to the nearest
/// point of the ring that it sees.
fn bridge(points: &Points, ring: &mut Vec<u32>, holes: &[Vec<u32>]) {
    let at = |index: u32| points.at[index as usize];
    let hole = &holes[0];
    let start = (0..hole.len()).fold(0, |best, k| if at(hole[k]).x > at(hole[best]).x { k } else { best });
    let from = at(hole[start]);
    let mut nearest: Vec<(f64, usize)> =
        ring.iter().enumerate().map(|(k, &i)| (from.distance_squared(at(i)), k)).collect();
    nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let sees = |k: usize| {
        let to = at(ring[k]);
        let opens = |ring: &[u32], k: usize, p: DVec2| {
            let (before, after) =
                (at(ring[(k + ring.len() - 1) % ring.len()]), at(ring[(k + 1) % ring.len()]));
            is_in_corner(before, at(ring[k]), after, p)
        };
        let blocks = |a: u32, b: u32| {
            let ends = [hole[start], ring[k]];
            !ends.contains(&a) && !ends.contains(&b) && meets(from, to, at(a), at(b))
        };
        let blocked = |ring: &[u32]| (0..ring.len()).any(|j| blocks(ring[j], ring[(j + 1) % ring.len()]));
        opens(ring, k, from)
            && opens(hole, start, to)
            && !blocked(ring)
            && !holes.iter().any(|hole| blocked(hole))
    };
    // Where it sees none, as where loops touch, the nearest is taken; if that matters, the triangles overlap, which
    // is seen by their area.
    let to = nearest.iter().map(|n| n.1).find(|&k| sees(k)).unwrap_or(nearest[0].1);
    let there_and_back = (0..=hole.len()).map(|k| hole[(start + k) % hole.len()]).chain([ring[to]]);
    let inserted: Vec<u32> = there_and_back.collect();
    ring.splice(to + 1..to + 1, inserted);
}

/// Whether p lies in the corner at b of a ring that comes from a and goes to c, with the inside on the left.
fn is_in_corner(a: DVec2, b: DVec2, c: DVec2, p: DVec2) -> bool {
    let (left_of_first, left_of_second) = (turn(a, b, p) > 0.0, turn(b, c, p) > 0.0);
    if turn(a, b, c) > 0.0 { left_of_first && left_of_second } else { left_of_first || left_of_second }
}

/// Whether two segments have a point in common.
fn meets(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    let apart = |p: DVec2, q: DVec2, r: DVec2, s: DVec2| {
        let (x, y) = (turn(p, q, r), turn(p, q, s));
        (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0)
    };
    let boxes = a.min(b).cmple(c.max(d)).all() && c.min(d).cmple(a.max(b)).all();
    boxes && !apart(a, b, c, d) && !apart(c, d, a, b)
}
