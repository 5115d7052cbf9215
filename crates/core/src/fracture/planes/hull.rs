//! The convex hull of points, decided exactly.
//!
//! In: points within the unit box about zero. Out: triangles of their hull, counter-clockwise from outside.
//!
//! Points are rounded to a grid of 2^40 cells a side, on which no sum of products rounds. A tetrahedron grows by
//! the point that sticks out farthest from one of its faces, until none does (Quickhull: Barber, Dobkin & Huhdanpaa
//! 1996, ACM TOMS 22); every face keeps the points outside it.

use glam::DVec3;

/// Of the grid: differences have 40 bits and a sign, so sums of products of three fit.
type Point = [i128; 3];

/// Cells of the grid in a unit.
const CELLS: f64 = (1u64 << 40) as f64;

struct Face {
    corners: [u32; 3],
    normal: Point,
    level: i128,
    outside: Vec<u32>,
    gone: bool,
}

fn minus(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|k| a[k] - b[k])
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Point, b: Point) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Face {
    fn new(points: &[Point], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|v| points[v as usize]);
        let normal = cross(minus(b, a), minus(c, a));
        Self { corners, normal, level: dot(normal, a), outside: Vec::new(), gone: false }
    }

    /// Positive outside.
    fn above(&self, p: Point) -> i128 {
        dot(self.normal, p) - self.level
    }

    /// The farthest of its points outside; of equals the first.
    fn farthest(&self, points: &[Point]) -> Option<u32> {
        let above = |v: u32| self.above(points[v as usize]);
        self.outside.iter().copied().max_by(|a, b| above(*a).cmp(&above(*b)).then(b.cmp(a)))
    }
}

/// Triangles as indices of `points`, counter-clockwise from outside; `None` where all points lie in a plane.
pub(super) fn convex_hull(points: &[DVec3]) -> Option<Vec<[u32; 3]>> {
    let grid: Vec<Point> = points.iter().map(|p| p.to_array().map(|v| (v * CELLS).round() as i128)).collect();
    let mut faces: Vec<Face> = first_tetrahedron(&grid)?.map(|corners| Face::new(&grid, corners)).into();
    let all: Vec<u32> = (0..grid.len() as u32).collect();
    share_out(&grid, &all, &mut faces);
    let mut next = 0;
    while next < faces.len() {
        if let Some(tip) = faces[next].farthest(&grid) {
            grow(&grid, tip, &mut faces);
        }
        next += 1;
        // A face whose points are all dealt with is never looked at again, but to see whether a tip hides it.
        if next > 64 && faces.iter().filter(|face| face.gone).count() * 2 > faces.len() {
            next -= faces[..next].iter().filter(|face| face.gone).count();
            faces.retain(|face| !face.gone);
        }
    }
    Some(faces.iter().filter(|face| !face.gone).map(|face| face.corners).collect())
}

/// Four points with a volume, outward.
fn first_tetrahedron(points: &[Point]) -> Option<[[u32; 3]; 4]> {
    let farthest = |far: &dyn Fn(Point) -> f64| -> Option<u32> {
        let all = points.iter().zip(0u32..).map(|(p, i)| (far(*p), i));
        let (most, i) = all.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        (most > 0.0).then_some(i)
    };
    let squared = |p: Point| p.iter().map(|v| (*v as f64) * (*v as f64)).sum::<f64>();
    let first = *points.first()?;
    let a = farthest(&|p| squared(minus(p, first)))?;
    let at_a = points[a as usize];
    let b = farthest(&|p| squared(minus(p, at_a)))?;
    let ab = minus(points[b as usize], at_a);
    let c = farthest(&|p| squared(cross(ab, minus(p, at_a))))?;
    let normal = cross(ab, minus(points[c as usize], at_a));
    let d = farthest(&|p| dot(normal, minus(p, at_a)).unsigned_abs() as f64)?;
    let [b, c] = if dot(normal, minus(points[d as usize], at_a)) < 0 { [b, c] } else { [c, b] };
    Some([[a, b, c], [a, c, d], [c, b, d], [b, a, d]])
}

/// Gives every point to the first of `faces` that it is outside of.
fn share_out(points: &[Point], some: &[u32], faces: &mut [Face]) {
    for v in some {
        if let Some(face) = faces.iter_mut().find(|face| face.above(points[*v as usize]) > 0) {
            face.outside.push(*v);
        }
    }
}

/// Puts a corner where `tip` is: the faces that it sees make way for those between it and their border.
fn grow(points: &[Point], tip: u32, faces: &mut Vec<Face>) {
    let (mut sides, mut freed): (Vec<[u32; 2]>, Vec<u32>) = (Vec::new(), Vec::new());
    // A face in whose plane the tip lies goes, too, so that no corner stays inside a side.
    let seen = |face: &Face| !face.gone && face.above(points[tip as usize]) >= 0;
    for face in faces.iter_mut().filter(|face| seen(face)) {
        face.gone = true;
        let [a, b, c] = face.corners;
        sides.extend([[a, b], [b, c], [c, a]]);
        freed.append(&mut face.outside);
    }
    sides.sort_unstable();
    let border = sides.iter().filter(|[a, b]| sides.binary_search(&[*b, *a]).is_err());
    let mut new: Vec<Face> = border.map(|[a, b]| Face::new(points, [*a, *b, tip])).collect();
    freed.sort_unstable();
    share_out(points, &freed, &mut new);
    faces.append(&mut new);
}
