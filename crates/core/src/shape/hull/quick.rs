//! The convex hull of whole points, exactly.
//!
//! A tetrahedron grows by the point that sticks out farthest, until none does or there are enough (as Quickhull:
//! Barber, Dobkin & Huhdanpaa 1996, ACM TOMS 22). Every face keeps the points outside it.

/// A point of the grid: 20 bits.
type Point = [i64; 3];

/// A face, with the points that lie outside it and that no face before it has.
struct Face {
    corners: [u32; 3],
    normal: [i64; 3],
    level: i64,
    /// One over the length of the normal.
    per_length: f64,
    outside: Vec<u32>,
    /// The farthest of these, and how far.
    tip: Option<(f64, u32)>,
    gone: bool,
}

fn minus(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|k| a[k] - b[k])
}

/// Fits: differences have 20 bits and a sign, so a product of two has 41.
fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Point, b: Point) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Face {
    fn new(points: &[Point], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|v| points[v as usize]);
        let normal = cross(minus(b, a), minus(c, a));
        let length = normal.map(|v| v as f64).iter().map(|v| v * v).sum::<f64>().sqrt();
        let (level, per_length) = (dot(normal, a), 1.0 / length);
        Self { corners, normal, level, per_length, outside: Vec::new(), tip: None, gone: false }
    }

    /// Positive outside.
    fn above(&self, p: Point) -> i64 {
        dot(self.normal, p) - self.level
    }

    /// How far a point that lies outside it is from its plane, cells.
    fn height(&self, p: Point) -> Option<f64> {
        let above = self.above(p);
        (above > 0).then_some(above as f64 * self.per_length)
    }

    /// Takes a point that lies so far outside. Of equally far ones the first is the tip, in whatever order they come.
    fn take(&mut self, v: u32, height: f64) {
        self.outside.push(v);
        if self.tip.is_none_or(|(most, tip)| height > most || (height == most && v < tip)) {
            self.tip = Some((height, v));
        }
    }
}

/// The first of the points that are farthest, if that is anywhere.
fn farthest(points: &[Point], far: impl Fn(Point) -> f64) -> Option<u32> {
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
fn first_tetrahedron(points: &[Point]) -> Option<[[u32; 3]; 4]> {
    let length = |p: Point| p.map(|v| v as f64).iter().map(|v| v * v).sum::<f64>();
    let first = *points.first()?;
    let a = farthest(points, |p| length(minus(p, first)))?;
    let at_a = points[a as usize];
    let b = farthest(points, |p| length(minus(p, at_a)))?;
    let ab = minus(points[b as usize], at_a);
    let c = farthest(points, |p| length(cross(ab, minus(p, at_a))))?;
    let normal = cross(ab, minus(points[c as usize], at_a));
    let d = farthest(points, |p| dot(normal, minus(p, at_a)).unsigned_abs() as f64)?;
    let [b, c] = if dot(normal, minus(points[d as usize], at_a)) < 0 { [b, c] } else { [c, b] };
    Some([[a, b, c], [a, c, d], [c, b, d], [b, a, d]])
}

/// A hull as far as it has grown.
pub struct Grown {
    /// Corners, as numbers of points, ascending.
    pub corners: Vec<u32>,
    /// Triangles, by numbers of corners, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Points that lie outside, as numbers.
    pub outside: Vec<u32>,
}

/// Which of the faces that a point lies outside of keeps it. Of a hull of all corners it does not matter. One that ends before
/// may have kept a point by a face that it is hardly over, and not by the one that it is far out of: then it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The first that is found.
    First,
    /// The one that it lies farthest outside of: takes longer.
    Farthest,
}

/// The hull, with at most `most` corners, and none more once no point sticks out by more than `least` cells. Points are
/// those of a grid of 2^19 cells. `None` where all lie in a plane.
pub fn convex_hull(points: &[Point], most: usize, least: f64, keeper: Keeper) -> Option<Grown> {
    let mut faces: Vec<Face> = first_tetrahedron(points)?.map(|corners| Face::new(points, corners)).into();
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
        grow(points, tip, &mut faces, keeper);
    }
    faces.retain(|face| !face.gone);
    let mut corners: Vec<u32> = faces.iter().flat_map(|face| face.corners).collect();
    corners.sort_unstable();
    corners.dedup();
    let number = |v: u32| corners.binary_search(&v).unwrap_or_default() as u32;
    let triangles = faces.iter().map(|face| face.corners.map(number)).collect();
    let ascending = |mut face: Face| {
        face.outside.sort_unstable();
        face.outside
    };
    let outside = faces.into_iter().flat_map(ascending).collect();
    Some(Grown { corners, triangles, outside })
}

/// Gives every point to its keeper among `faces`.
fn share_out(points: &[Point], some: &[u32], faces: &mut [Face], keeper: Keeper) {
    for v in some {
        let p = points[*v as usize];
        let mut heights = faces.iter().enumerate().filter_map(|(k, face)| Some((face.height(p)?, k)));
        let kept = match keeper {
            Keeper::First => heights.next(),
            // Of equal ones the first.
            Keeper::Farthest => heights.reduce(|most, next| if next.0 > most.0 { next } else { most }),
        };
        if let Some((height, k)) = kept {
            faces[k].take(*v, height);
        }
    }
}

/// Puts a corner where `tip` is: the faces that it sees make way for those between it and their border.
fn grow(points: &[Point], tip: u32, faces: &mut Vec<Face>, keeper: Keeper) {
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
    share_out(points, &freed, &mut new, keeper);
    faces.append(&mut new);
    if faces.len() > 512 {
        faces.retain(|face| !face.gone);
    }
}
