//! The convex hull of whole points, exactly.
//!
//! In: points on a grid. Out: triangles of their hull, counter-clockwise from outside.
//!
//! A tetrahedron grows by the point that sticks out farthest (Quickhull: Barber, Dobkin & Huhdanpaa 1996, ACM TOMS 22), of
//! all its faces ([`convex_hull`]) or of one face after the other ([`fine_convex_hull`]). Every face keeps the points
//! outside it.

use std::collections::HashMap;

use super::exact::{Whole, cross, dot, minus};

/// Coordinates of a grid.
trait Grid: Whole {
    /// Distance of points outside a face, for comparison.
    type Height: Copy + PartialOrd;
    /// Height of `self` above a face, in lengths of its normal.
    fn height(self, per_length: f64) -> Self::Height;
    fn rounded(self) -> f64;
}

impl Grid for i64 {
    /// Cells.
    type Height = f64;
    fn height(self, per_length: f64) -> f64 {
        self as f64 * per_length
    }
    fn rounded(self) -> f64 {
        self as f64
    }
}

impl Grid for i128 {
    /// Height in lengths of the normal: exact, but comparable within one face only.
    type Height = i128;
    fn height(self, _: f64) -> i128 {
        self
    }
    fn rounded(self) -> f64 {
        self as f64
    }
}

/// A face, with the points outside it that no earlier face has.
struct Face<N: Grid> {
    corners: [u32; 3],
    normal: [N; 3],
    level: N,
    /// Reciprocal of the length of the normal.
    per_length: f64,
    outside: Vec<u32>,
    /// The farthest of these, and its distance.
    tip: Option<(N::Height, u32)>,
    gone: bool,
}

impl<N: Grid> Face<N> {
    fn new(points: &[[N; 3]], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|v| points[v as usize]);
        let normal = cross(minus(b, a), minus(c, a));
        let (level, per_length) = (dot(normal, a), 1.0 / square(normal).sqrt());
        Self { corners, normal, level, per_length, outside: Vec::new(), tip: None, gone: false }
    }

    /// Positive outside.
    fn above(&self, p: [N; 3]) -> N {
        dot(self.normal, p) - self.level
    }

    /// Whether a corner at this point replaces it. One in its plane does, too, so that no corner stays inside a side.
    fn sees(&self, p: [N; 3]) -> bool {
        self.above(p) >= N::default()
    }

    /// Distance of a point outside it from its plane.
    fn height(&self, p: [N; 3]) -> Option<N::Height> {
        let above = self.above(p);
        (above > N::default()).then(|| above.height(self.per_length))
    }

    /// The edges, in its direction.
    fn sides(&self) -> [[u32; 2]; 3] {
        let [a, b, c] = self.corners;
        [[a, b], [b, c], [c, a]]
    }

    /// Adds a point at this distance outside. Of equally far points the first is the tip, for any order of calls.
    fn take(&mut self, v: u32, height: N::Height) {
        self.outside.push(v);
        if self.tip.is_none_or(|(most, tip)| height > most || (height == most && v < tip)) {
            self.tip = Some((height, v));
        }
    }
}

/// The squared length.
fn square<N: Grid>(p: [N; 3]) -> f64 {
    p.map(N::rounded).iter().map(|v| v * v).sum::<f64>()
}

/// The first of the farthest points, if any is at a distance.
fn farthest<N: Grid>(points: &[[N; 3]], far: impl Fn([N; 3]) -> f64) -> Option<u32> {
    let (mut most, mut which) = (0.0, None);
    for (i, p) in points.iter().enumerate() {
        let far = far(*p);
        if far > most {
            (most, which) = (far, Some(i as u32));
        }
    }
    which
}

/// Four points with a volume, outward.
fn first_tetrahedron<N: Grid>(points: &[[N; 3]]) -> Option<Vec<Face<N>>> {
    let first = *points.first()?;
    let a = farthest(points, |p| square(minus(p, first)))?;
    let at_a = points[a as usize];
    let b = farthest(points, |p| square(minus(p, at_a)))?;
    let ab = minus(points[b as usize], at_a);
    let c = farthest(points, |p| square(cross(ab, minus(p, at_a))))?;
    let normal = cross(ab, minus(points[c as usize], at_a));
    let above = |p: [N; 3]| dot(normal, minus(p, at_a));
    let d = farthest(points, |p| above(p).rounded().abs())?;
    let [b, c] = if above(points[d as usize]) < N::default() { [b, c] } else { [c, b] };
    Some([[a, b, c], [a, c, d], [c, b, d], [b, a, d]].map(|corners| Face::new(points, corners)).into())
}

/// The face that keeps a point which lies outside several. It does not matter for a hull of all corners. A hull that
/// ends earlier may drop a point that belongs to a face which it is hardly above, instead of the one which it is far
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The first that is found.
    First,
    /// The one that it lies farthest outside of; takes longer.
    Farthest,
}

/// A hull, complete or not.
pub struct Grown {
    /// Corners, as indices of points, ascending.
    pub corners: Vec<u32>,
    /// Triangles, by indices of corners, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Points that lie outside, as indices.
    pub outside: Vec<u32>,
}

/// The hull, with at most `most` corners, and none more once no point sticks out by more than `least` cells. Points are
/// those of a grid of 2^19 cells, so that sums of products of three differences fit. `None` if all lie in a plane.
#[must_use]
pub fn convex_hull(points: &[[i64; 3]], most: usize, least: f64, keeper: Keeper) -> Option<Grown> {
    let mut faces = first_tetrahedron(points)?;
    let all: Vec<u32> = (0..points.len() as u32).collect();
    share_out(points, &all, &mut faces, keeper);
    for _ in 4..most.max(4) {
        let farthest = faces.iter().filter(|face| !face.gone).filter_map(|face| face.tip);
        let Some((height, tip)) = farthest.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else {
            break;
        };
        if height <= least {
            break;
        }
        let sees = |face: &Face<i64>| !face.gone && face.sees(points[tip as usize]);
        let seen: Vec<usize> = (0..faces.len()).filter(|k| sees(&faces[*k])).collect();
        grow(points, tip, &seen, &mut faces, keeper);
        if faces.len() > 512 {
            faces.retain(|face| !face.gone);
        }
    }
    faces.retain(|face| !face.gone);
    let mut corners: Vec<u32> = faces.iter().flat_map(|face| face.corners).collect();
    corners.sort_unstable();
    corners.dedup();
    let number = |v: u32| corners.binary_search(&v).unwrap_or_default() as u32;
    let triangles = faces.iter().map(|face| face.corners.map(number)).collect();
    let ascending = |mut face: Face<i64>| {
        face.outside.sort_unstable();
        face.outside
    };
    let outside = faces.into_iter().flat_map(ascending).collect();
    Some(Grown { corners, triangles, outside })
}

/// The triangles of the hull of all points, by their indices. Points are those of a grid of 2^40 cells. `None` if all
/// lie in a plane.
#[must_use]
pub fn fine_convex_hull(points: &[[i128; 3]]) -> Option<Vec<[u32; 3]>> {
    let mut faces = first_tetrahedron(points)?;
    let all: Vec<u32> = (0..points.len() as u32).collect();
    share_out(points, &all, &mut faces, Keeper::First);
    let mut sides = Sides::default();
    sides.add(&faces, 0);
    let (mut next, mut gone) = (0, 0);
    while next < faces.len() {
        if let Some((_, tip)) = faces[next].tip.filter(|_| !faces[next].gone) {
            let seen = sides.take_seen(points[tip as usize], next, &mut faces);
            let before = faces.len();
            grow(points, tip, &seen, &mut faces, Keeper::First);
            sides.add(&faces, before);
            gone += seen.len();
        }
        next += 1;
        if gone > 64 && gone * 2 > faces.len() {
            next -= faces[..next].iter().filter(|face| face.gone).count();
            faces.retain(|face| !face.gone);
            gone = 0;
            sides.0.clear();
            sides.add(&faces, 0);
        }
    }
    Some(faces.iter().filter(|face| !face.gone).map(|face| face.corners).collect())
}

/// Which face has an edge, in its direction: the face beyond it has the same edge in the other one. To ask every face whether
/// it sees a tip took the square of the corners: two minutes for 40,000.
#[derive(Default)]
struct Sides(HashMap<[u32; 2], usize>);

impl Sides {
    /// Notes the faces from number `first` on.
    fn add<N: Grid>(&mut self, faces: &[Face<N>], first: usize) {
        for (k, face) in faces.iter().enumerate().skip(first) {
            self.0.extend(face.sides().map(|side| (side, k)));
        }
    }

    /// Takes out the faces that see a point, of which `first` is one, and returns their numbers, ascending. They hang together:
    /// where the point lies in the plane of a side and beyond its edge, what is across the edge sees it.
    fn take_seen<N: Grid>(&mut self, p: [N; 3], first: usize, faces: &mut [Face<N>]) -> Vec<usize> {
        let mut seen = vec![first];
        faces[first].gone = true;
        let mut next = 0;
        while let Some(k) = seen.get(next).copied() {
            next += 1;
            for [a, b] in faces[k].sides() {
                self.0.remove(&[a, b]);
                if let Some(beyond) = self.0.get(&[b, a]).copied()
                    && !faces[beyond].gone
                    && faces[beyond].sees(p)
                {
                    faces[beyond].gone = true;
                    seen.push(beyond);
                }
            }
        }
        seen.sort_unstable();
        seen
    }
}

/// Gives every point to its keeper among `faces`.
fn share_out<N: Grid>(points: &[[N; 3]], some: &[u32], faces: &mut [Face<N>], keeper: Keeper) {
    for v in some {
        let p = points[*v as usize];
        let mut heights = faces.iter().enumerate().filter_map(|(k, face)| Some((face.height(p)?, k)));
        let kept = match keeper {
            Keeper::First => heights.next(),
            // The first of equal ones.
            Keeper::Farthest => heights.reduce(|most, next| if next.0 > most.0 { next } else { most }),
        };
        if let Some((height, k)) = kept {
            faces[k].take(*v, height);
        }
    }
}

/// Adds a corner at `tip`: the faces that see it, ascending, are replaced by faces between it and their border.
fn grow<N: Grid>(points: &[[N; 3]], tip: u32, seen: &[usize], faces: &mut Vec<Face<N>>, keeper: Keeper) {
    let (mut sides, mut freed): (Vec<[u32; 2]>, Vec<u32>) = (Vec::new(), Vec::new());
    for k in seen {
        let face = &mut faces[*k];
        face.gone = true;
        sides.extend(face.sides());
        freed.append(&mut face.outside);
    }
    sides.sort_unstable();
    let border = sides.iter().filter(|[a, b]| sides.binary_search(&[*b, *a]).is_err());
    let mut new: Vec<Face<N>> = border.map(|[a, b]| Face::new(points, [*a, *b, tip])).collect();
    share_out(points, &freed, &mut new, keeper);
    faces.append(&mut new);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of all kinds: in a ball, on a small grid where many lie in one plane, and nearly flat.
    fn clouds() -> Vec<Vec<[i64; 3]>> {
        let mut state = 5u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as i64
        };
        let mut all = Vec::new();
        for count in [4, 5, 8, 30, 200] {
            for size in [[3, 3, 3], [5, 4, 3], [1 << 19, 1 << 19, 1 << 19], [1 << 19, 1 << 19, 2]] {
                all.push((0..count).map(|_| size.map(&mut next)).collect());
            }
        }
        all
    }

    /// Whether triangles close a solid that holds all points and has no corner that is none of theirs.
    fn holds_all(points: &[[i64; 3]], triangles: &[[u32; 3]]) -> bool {
        let wide = |v: u32| points[v as usize].map(i128::from);
        let none_above = triangles.iter().all(|t| {
            let [a, b, c] = t.map(wide);
            let normal = cross(minus(b, a), minus(c, a));
            points.iter().all(|p| dot(normal, minus(p.map(i128::from), a)) <= 0)
        });
        let mut edges: Vec<[u32; 2]> =
            triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
        edges.sort_unstable();
        let is_closed = edges.windows(2).all(|e| e[0] != e[1])
            && edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok());
        none_above && is_closed && triangles.len() >= 4
    }

    /// Whether all points lie in one plane, by all fours of them.
    fn is_flat(points: &[[i64; 3]]) -> bool {
        let wide: Vec<[i128; 3]> = points.iter().map(|p| p.map(i128::from)).collect();
        let first = wide[0];
        let from_first: Vec<[i128; 3]> = wide.iter().map(|p| minus(*p, first)).collect();
        let normal = from_first
            .iter()
            .flat_map(|u| from_first.iter().map(|v| cross(*u, *v)))
            .find(|n| *n != [0; 3])
            .unwrap_or_default();
        from_first.iter().all(|p| dot(normal, *p) == 0)
    }

    #[test]
    fn hulls_hold_all_points_and_flat_ones_have_none() {
        let mut flat = 0;
        for points in clouds() {
            let coarse = convex_hull(&points, usize::MAX, 0.0, Keeper::First);
            let fine: Vec<[i128; 3]> = points.iter().map(|p| p.map(i128::from)).collect();
            let fine = fine_convex_hull(&fine);
            if is_flat(&points) {
                flat += 1;
                assert!(coarse.is_none() && fine.is_none());
                continue;
            }
            let coarse = coarse.expect("not flat");
            let named: Vec<[u32; 3]> =
                coarse.triangles.iter().map(|t| t.map(|k| coarse.corners[k as usize])).collect();
            assert!(holds_all(&points, &named) && coarse.outside.is_empty());
            assert!(holds_all(&points, &fine.expect("not flat")));
            // A point farther out is not held.
            let mut more = points.clone();
            more.push([1 << 21, 0, 0]);
            assert!(!holds_all(&more, &named));
        }
        assert!(flat < 5, "{flat} flat clouds");
    }

    /// So that only neighbours need be asked: compared with all faces, tip by tip.
    #[test]
    fn the_faces_that_see_a_tip_hang_together() {
        for points in clouds() {
            let points: Vec<[i128; 3]> = points.iter().map(|p| p.map(i128::from)).collect();
            let Some(mut faces) = first_tetrahedron(&points) else { continue };
            let all: Vec<u32> = (0..points.len() as u32).collect();
            share_out(&points, &all, &mut faces, Keeper::First);
            let mut sides = Sides::default();
            sides.add(&faces, 0);
            let mut next = 0;
            while next < faces.len() {
                if let Some((_, tip)) = faces[next].tip.filter(|_| !faces[next].gone) {
                    let p = points[tip as usize];
                    let sees = |k: &usize| !faces[*k].gone && faces[*k].sees(p);
                    let asked: Vec<usize> = (0..faces.len()).filter(sees).collect();
                    let seen = sides.take_seen(p, next, &mut faces);
                    assert_eq!(seen, asked);
                    let before = faces.len();
                    grow(&points, tip, &seen, &mut faces, Keeper::First);
                    sides.add(&faces, before);
                }
                next += 1;
            }
            let left = faces.iter().filter(|face| !face.gone).count();
            assert_eq!(sides.0.len(), 3 * left, "edges of faces that are gone are forgotten");
        }
    }

    #[test]
    fn what_a_hull_of_few_corners_leaves_out_lies_outside() {
        for points in clouds().into_iter().filter(|points| points.len() >= 30 && !is_flat(points)) {
            for keeper in [Keeper::First, Keeper::Farthest] {
                let few = convex_hull(&points, 6, 0.0, keeper).expect("not flat");
                assert!(few.corners.len() <= 6);
                let corner = |k: u32| points[few.corners[k as usize] as usize].map(i128::from);
                let is_outside = |v: u32| {
                    few.triangles.iter().any(|t| {
                        let [a, b, c] = t.map(corner);
                        let to_point = minus(points[v as usize].map(i128::from), a);
                        dot(cross(minus(b, a), minus(c, a)), to_point) > 0
                    })
                };
                let wanted: Vec<u32> = (0..points.len() as u32).filter(|v| is_outside(*v)).collect();
                let mut found = few.outside.clone();
                found.sort_unstable();
                assert_eq!(found, wanted);
            }
        }
    }
}
