//! Polygons with holes into triangles.
//!
//! In: loops of points in a plane, the inside on their left: borders counter-clockwise, holes clockwise, none
//! crossing. Out: regions, each a border with its holes, cut into triangles
//! ([`triangulate`](crate::geometry::polygon::triangulate)). Every edge of every loop is an edge of exactly one
//! triangle, and every other edge of two: rounding can make a triangle thin, or turn one of no area round, but cannot
//! open a region. Loops that cross are refused; so are those whose triangles cover more than they enclose.
//!
//! # Whether loops cross, themselves or each other
//!
//! In: loops of points in a plane. Out: yes or no. Loops of a mesh that does not cross itself do not cross either, so
//! this finds solids that overlap where no edge of the complex happens to. A sweep: edges in the order of their left
//! ends, each against those that reach that far.

use std::ops::Range;

use glam::DVec2;

use crate::geometry::polygon::{holds, triangulate, turn};

/// A loop narrower than this does not show by its area whether it is a border or a hole, units; rounding moves points
/// by less than a tenth of it, and a fine unit is 2^-7.
const THIN: f64 = 1e-9;

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
        p.cmpge(self.low).all() && p.cmple(self.high).all() && holds(points.range(&self.points), p)
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

fn region(points: &Points, rings: &[Ring], border: usize, holes: &[u32]) -> Option<Vec<[u32; 3]>> {
    let nodes = |ring: &Ring| ring.points.clone().collect::<Vec<u32>>();
    let inner: Vec<Vec<u32>> = holes.iter().map(|&h| nodes(&rings[h as usize])).collect();
    let may_join = |a: u32, b: u32| points.may_join(a, b);
    let at = |point: u32| points.at[point as usize];
    let triangles = triangulate(&nodes(&rings[border]), &inner, &at, &may_join);
    let all = holes.iter().map(|&h| &rings[h as usize]).chain([&rings[border]]);
    let (area, length) = all.fold((0.0, 0.0), |(area, length), r| (area + r.area, length + r.length));
    let covered: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(at);
            0.5 * turn(a, b, c).abs()
        })
        .sum();
    (covered - area <= OVERLAP.max(points.fold) * length).then_some(triangles)
}

/// An edge whose ends are farther than this from another edge's line, on its two sides, crosses it, units. Rounding
/// moves points by less than a thousandth of it.
const DEPTH: f64 = 1e-7;

#[derive(Clone, Copy)]
struct Edge {
    from: DVec2,
    to: DVec2,
    low: DVec2,
    high: DVec2,
}

/// Whether any two edges cross. Ones that touch, or lie on each other, do not.
pub fn loops_cross(points: &Points, loops: &[Range<u32>]) -> bool {
    let mut edges: Vec<Edge> = Vec::with_capacity(points.at.len());
    for range in loops {
        let ring = &points.at[range.start as usize..range.end as usize];
        edges.extend(ring.iter().enumerate().map(|(k, &from)| {
            let to = ring[(k + 1) % ring.len()];
            Edge { from, to, low: from.min(to), high: from.max(to) }
        }));
    }
    edges.sort_unstable_by(|a, b| a.low.x.total_cmp(&b.low.x));
    let mut reaching: Vec<Edge> = Vec::new();
    for edge in edges {
        reaching.retain(|other| other.high.x >= edge.low.x);
        if reaching.iter().any(|other| edges_cross(&edge, other, DEPTH.max(points.fold))) {
            return true;
        }
        reaching.push(edge);
    }
    false
}

fn edges_cross(a: &Edge, b: &Edge, depth: f64) -> bool {
    if a.high.y < b.low.y || b.high.y < a.low.y {
        return false;
    }
    let parts = |line: &Edge, p: DVec2, q: DVec2| {
        let depth = depth * line.from.distance(line.to);
        let (x, y) = (turn(line.from, line.to, p), turn(line.from, line.to, q));
        (x > depth && y < -depth) || (x < -depth && y > depth)
    };
    parts(a, b.from, b.to) && parts(b, a.from, a.to)
}
