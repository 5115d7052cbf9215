//! Whether loops cross, themselves or each other.
//!
//! In: loops of points in a plane. Out: yes or no. Loops of a mesh that does not cross itself do not cross either, so
//! this finds solids that overlap where no edge of the complex happens to. A sweep: edges in the order of their left
//! ends, each against those that reach that far.

use super::triangulate::Points;
use crate::geometry::polygon::turn;
use glam::DVec2;
use std::ops::Range;

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
