//! Polygons in a plane: area, what lies inside, and triangles, whose outline is exactly the polygon's, however it was
//! rounded.
//!
//! In: loops of node numbers and the nodes' positions in the plane. Out: triangles, counter-clockwise; always as many
//! as the loops have edges minus two, plus two for each hole, so that a closed surface stays closed. Ears are cut off
//! (Meisters 1975) once holes are joined to the outline by bridges (Eberly).

use glam::DVec2;

#[derive(Clone, Copy)]
struct Vertex {
    node: u32,
    at: DVec2,
}

/// Twice the signed area of (a, b, c): positive where c is on the left of a to b.
#[must_use]
pub fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Twice the signed area of a loop.
#[must_use]
pub fn loop_area(around: &[DVec2]) -> f64 {
    let Some(first) = around.first() else { return 0.0 };
    around.windows(2).map(|edge| (edge[0] - first).perp_dot(edge[1] - first)).sum()
}

/// Whether a loop contains a point, by parity.
#[must_use]
pub fn holds(around: &[DVec2], p: DVec2) -> bool {
    let mut inside = false;
    for (k, a) in around.iter().enumerate() {
        let b = around[(k + 1) % around.len()];
        if (a.y > p.y) != (b.y > p.y) {
            let (low, high) = if a.y < b.y { (*a, b) } else { (b, *a) };
            inside ^= turn(low, high, p) > 0.0;
        }
    }
    inside
}

/// Triangulates the polygon inside `outer` (counter-clockwise) and outside `holes` (clockwise). A diagonal leads from
/// one node to another only where `may_join` holds of the two, or where no other triangle is left.
#[must_use]
pub fn triangulate(
    outer: &[u32],
    holes: &[Vec<u32>],
    place: &dyn Fn(u32) -> DVec2,
    may_join: &dyn Fn(u32, u32) -> bool,
) -> Vec<[u32; 3]> {
    let vertex = |node: &u32| Vertex { node: *node, at: place(*node) };
    let mut ring: Vec<Vertex> = outer.iter().map(vertex).collect();
    let mut inner: Vec<Vec<Vertex>> = holes.iter().map(|hole| hole.iter().map(vertex).collect()).collect();
    // From right to left, so that a bridge only meets holes already connected.
    let right_end =
        |hole: &[Vertex]| (0..hole.len()).max_by(|a, b| hole[*a].at.x.total_cmp(&hole[*b].at.x)).unwrap_or(0);
    let key = |hole: &[Vertex]| hole.get(right_end(hole)).map_or(0.0, |v| v.at.x);
    inner.sort_by(|a, b| key(b).total_cmp(&key(a)));
    for hole in inner.iter().filter(|hole| !hole.is_empty()) {
        let start = right_end(hole);
        let bridge = visible_from(&ring, hole[start].at);
        let around = (0..=hole.len()).map(|k| hole[(start + k) % hole.len()]);
        let mut joined = ring[..=bridge].to_vec();
        joined.extend(around);
        joined.extend_from_slice(&ring[bridge..]);
        ring = joined;
    }
    cut_ears(&ring, may_join)
}

/// A vertex of the ring visible from p: an end of the nearest edge to the right, or a vertex before it.
fn visible_from(ring: &[Vertex], p: DVec2) -> usize {
    let n = ring.len();
    let mut best: Option<(f64, usize)> = None;
    for k in 0..n {
        let (a, b) = (ring[k].at, ring[(k + 1) % n].at);
        // The outline runs upwards to the right of its inside.
        if a.y <= p.y && b.y >= p.y && a.y < b.y {
            let x = a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y);
            if x >= p.x && best.is_none_or(|(known, _)| x < known) {
                best = Some((x, k));
            }
        }
    }
    let Some((x, k)) = best else {
        let nearest = |i: &usize, j: &usize| {
            ring[*i].at.distance_squared(p).total_cmp(&ring[*j].at.distance_squared(p))
        };
        return (0..n).min_by(nearest).unwrap_or(0);
    };
    let (hit, next) = (DVec2::new(x, p.y), (k + 1) % n);
    let end = if ring[k].at.x > ring[next].at.x { k } else { next };
    let corner = ring[end].at;
    if corner == hit {
        return end;
    }
    // Reflex vertices in the triangle (p, hit, corner) hide the corner; the one at the smallest angle to the ray is
    // visible.
    let (a, b) = if corner.y > p.y { (hit, corner) } else { (corner, hit) };
    let mut seen = (f64::INFINITY, f64::INFINITY, end);
    for i in 0..n {
        let (before, at, after) = (ring[(i + n - 1) % n].at, ring[i].at, ring[(i + 1) % n].at);
        if i == end || at == corner || turn(before, at, after) > 0.0 {
            continue;
        }
        if turn(p, a, at) >= 0.0 && turn(a, b, at) >= 0.0 && turn(b, p, at) >= 0.0 && at.x >= p.x {
            let slope = (at.y - p.y).abs() / (at.x - p.x).max(f64::MIN_POSITIVE);
            let far = at.distance_squared(p);
            if (slope, far) < (seen.0, seen.1) && inside_corner(before, at, after, p) {
                seen = (slope, far, i);
            }
        }
    }
    if seen.2 == end {
        // At bridge ends there are several vertices at one position; the one whose corner opens towards p is used.
        let opens = |i: &usize| {
            ring[*i].at == corner
                && inside_corner(ring[(*i + n - 1) % n].at, corner, ring[(*i + 1) % n].at, p)
        };
        return (0..n).find(opens).unwrap_or(end);
    }
    seen.2
}

/// Whether p lies within the angle (before, at, after) of a counter-clockwise outline.
fn inside_corner(before: DVec2, at: DVec2, after: DVec2, p: DVec2) -> bool {
    if turn(before, at, after) >= 0.0 {
        turn(before, at, p) >= 0.0 && turn(at, after, p) >= 0.0
    } else {
        !(turn(before, at, p) < 0.0 && turn(at, after, p) < 0.0)
    }
}

struct Ring<'a> {
    ring: &'a [Vertex],
    next: Vec<u32>,
    before: Vec<u32>,
    /// Smaller areas count as zero.
    tiny: f64,
}

impl Ring<'_> {
    fn corner(&self, i: usize) -> [usize; 3] {
        [self.before[i] as usize, i, self.next[i] as usize]
    }

    fn corner_area(&self, i: usize) -> f64 {
        let [a, b, c] = self.corner(i).map(|k| self.ring[k].at);
        turn(a, b, c)
    }

    /// Whether no vertex of the outline lies in the ear or on its border.
    fn is_free(&self, i: usize) -> bool {
        let corner = self.corner(i);
        let [a, b, c] = corner.map(|k| self.ring[k].at);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let slack = DVec2::splat(1e-9) * (high - low).max_element();
        let (low, high) = (low - slack, high + slack);
        let mut at = self.next[corner[2]] as usize;
        while at != corner[0] {
            let p = self.ring[at].at;
            if p.cmpge(low).all()
                && p.cmple(high).all()
                && turn(a, b, p) >= -self.tiny
                && turn(b, c, p) >= -self.tiny
                && turn(c, a, p) >= -self.tiny
                && !corner.iter().any(|k| self.ring[*k].node == self.ring[at].node)
            {
                return false;
            }
            at = self.next[at] as usize;
        }
        true
    }
}

fn cut_ears(ring: &[Vertex], may_join: &dyn Fn(u32, u32) -> bool) -> Vec<[u32; 3]> {
    let n = ring.len();
    let mut out = Vec::with_capacity(n.saturating_sub(2));
    if n < 3 {
        return out;
    }
    let (low, high) = ring.iter().fold((ring[0].at, ring[0].at), |(l, h), v| (l.min(v.at), h.max(v.at)));
    let mut work = Ring {
        ring,
        next: (0..n as u32).map(|k| (k + 1) % n as u32).collect(),
        before: (0..n as u32).map(|k| (k + n as u32 - 1) % n as u32).collect(),
        tiny: (high - low).length_squared() * 1e-13,
    };
    let (mut at, mut left, mut tried) = (0, n, 0);
    // Conditions on an ear: 0 all, 1 no area will do, 2 only an area, 3 only its diagonal, 4 none.
    let mut lax = 0;
    while left > 3 {
        let [a, b, c] = work.corner(at);
        let fits = match lax {
            0..=3 if !may_join(ring[a].node, ring[c].node) => false,
            0 => work.corner_area(at) > work.tiny && work.is_free(at),
            1 => work.is_free(at) && work.corner_area(at) > -work.tiny,
            2 => work.corner_area(at) > 0.0,
            _ => true,
        };
        if fits {
            out.push([a, b, c].map(|k| ring[k].node));
            (work.next[a], work.before[c]) = (c as u32, a as u32);
            (left, tried, lax) = (left - 1, 0, 0);
            at = work.next[c] as usize;
        } else {
            (tried, at) = (tried + 1, work.next[at] as usize);
            if tried > left {
                (tried, lax) = (0, lax + 1);
            }
        }
    }
    out.push(work.corner(at).map(|k| ring[k].node));
    // A triangle with two equal vertices is a bridge cut off along itself; its two sides are one edge.
    out.retain(|[a, b, c]| a != b && b != c && c != a);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of side 10 with two square holes of side 2, at one height.
    const POINTS: [[f64; 2]; 12] = [
        [0.0, 0.0],
        [10.0, 0.0],
        [10.0, 10.0],
        [0.0, 10.0],
        [2.0, 4.0],
        [2.0, 6.0],
        [4.0, 6.0],
        [4.0, 4.0],
        [6.0, 4.0],
        [6.0, 6.0],
        [8.0, 6.0],
        [8.0, 4.0],
    ];

    fn at(node: u32) -> DVec2 {
        DVec2::from_array(POINTS[node as usize])
    }

    #[test]
    fn triangles_cover_a_polygon_and_keep_the_edges_of_its_loops() {
        let (outer, holes) = ([0, 1, 2, 3], [vec![4, 5, 6, 7], vec![8, 9, 10, 11]]);
        let triangles = triangulate(&outer, &holes, &at, &|_, _| true);
        let areas: Vec<f64> = triangles.iter().map(|t| turn(at(t[0]), at(t[1]), at(t[2]))).collect();
        assert!(areas.iter().all(|area| *area > 0.0), "{areas:?}");
        assert!((areas.iter().sum::<f64>() - 2.0 * 92.0).abs() < 1e-12);
        assert_eq!(triangles.len(), 12 - 2 + 2 * 2);
        let sides: Vec<(u32, u32)> =
            triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
        for ring in [&outer[..], &holes[0], &holes[1]] {
            for (k, from) in ring.iter().enumerate() {
                let to = ring[(k + 1) % ring.len()];
                assert!(sides.contains(&(*from, to)) && !sides.contains(&(to, *from)), "{from} {to}");
            }
        }
    }

    #[test]
    fn no_diagonal_joins_what_may_not_be_joined() {
        let hexagon: Vec<u32> = vec![0, 1, 2, 3, 5, 4];
        let free = triangulate(&hexagon, &[], &at, &|_, _| true);
        let with = |all: &[[u32; 3]], a, b| all.iter().filter(|t| t.contains(&a) && t.contains(&b)).count();
        let used: Vec<(u32, u32)> = (0..6)
            .flat_map(|a| (a + 1..6).map(move |b| (a, b)))
            .filter(|(a, b)| with(&free, *a, *b) == 2)
            .collect();
        assert_eq!(used.len(), 3, "{free:?}");
        for (a, b) in used {
            let bound = triangulate(&hexagon, &[], &at, &|p, q| (p.min(q), p.max(q)) != (a, b));
            assert_eq!((bound.len(), with(&bound, a, b)), (4, 0), "{bound:?}");
        }
    }

    #[test]
    fn a_loop_holds_what_is_inside_of_it() {
        let square = [0, 1, 2, 3].map(at);
        assert_eq!(loop_area(&square), 200.0);
        assert!(holds(&square, DVec2::splat(5.0)) && !holds(&square, DVec2::new(5.0, 11.0)));
    }
}
