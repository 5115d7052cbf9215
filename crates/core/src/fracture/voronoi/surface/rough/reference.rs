//! Crack surfaces on the whole grid, by plain loops in 64-bit whole numbers: every transition voxel by itself,
//! every solid leaf against all 24 triangles. No octree, no pruning, no code shared with the kernels.
//!
//! In: solid cells, a pattern and a recipe. Out: which objects get a copy of each leaf.

use std::collections::{BTreeSet, HashMap};

#[cfg(any(test, feature = "testing"))]
use glam::DVec3;

use super::{CrackTriangle, CrackUniform, TransitionVoxel, native};
use crate::{
    fracture::Pattern,
    geometry::exact::{cross, dot, minus},
};

/// Units a grid side.
const SIDE: i64 = 1 << crate::fracture::UNIT_BITS;
/// Edge of a transition voxel in its own units.
const EDGE: i64 = super::UNITS as i64;

type Point = [i64; 3];

/// What becomes of one solid leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafFate {
    /// Objects that get it, ascending.
    pub objects: Vec<u32>,
    /// Whether a crack surface touches it.
    pub touched: bool,
}

#[cfg(any(test, feature = "testing"))]
/// The plane of a triangle as an object on one of its sides sees it from a leaf's centre.
#[derive(Clone, Copy, Debug)]
pub struct LeafPlane {
    /// Out of the object, unit length.
    pub normal: DVec3,
    /// From the leaf's centre to the plane along the normal, voxels.
    pub offset: f64,
    /// From the leaf's centre to the triangle, voxels.
    pub distance: f64,
    points: [Point; 3],
    /// Out of the object, not of unit length.
    whole_normal: Point,
}

#[cfg(any(test, feature = "testing"))]
impl LeafPlane {
    /// Whether the object is what lies behind both triangles: each is behind the other's plane, and they are not in
    /// one plane.
    #[must_use]
    pub fn makes_ridge_with(&self, other: &Self) -> bool {
        let heights = |of: &Self, over: &Self| {
            of.points.map(|p| dot(over.whole_normal, minus(p, over.points[0]))).into_iter()
        };
        let all: Vec<i64> = heights(self, other).chain(heights(other, self)).collect();
        all.iter().all(|h| *h <= 0) && all.iter().any(|h| *h < 0)
    }
}

/// Crack surfaces of one pattern, made as they are asked for.
pub struct CrackReference<'a> {
    pattern: &'a Pattern,
    words: CrackUniform,
    leaf_level: u32,
    owners: HashMap<[u32; 3], u32>,
    voxels: HashMap<[u32; 3], Result<TransitionVoxel, u32>>,
}

impl<'a> CrackReference<'a> {
    /// `words.transition` is the transition level.
    #[must_use]
    pub fn new(pattern: &'a Pattern, words: CrackUniform, leaf_level: u32) -> Self {
        Self { pattern, words, leaf_level, owners: HashMap::new(), voxels: HashMap::new() }
    }

    /// The transition voxel at a place.
    ///
    /// # Errors
    /// The one object that has all its corners, where it is not crossed.
    pub fn voxel(&mut self, place: [u32; 3]) -> Result<TransitionVoxel, u32> {
        if let Some(known) = self.voxels.get(&place) {
            return known.clone();
        }
        let owners = std::array::from_fn(|c| self.owner([0, 1, 2].map(|a| place[a] + (c as u32 >> a & 1))));
        let made = make(place, owners, self.pattern, &self.words);
        self.voxels.insert(place, made.clone());
        made
    }

    /// Nearest seed of a corner of the transition grid, the lowest index where several are.
    fn owner(&mut self, corner: [u32; 3]) -> u32 {
        let (pattern, edge) = (self.pattern, SIDE >> self.words.transition);
        *self.owners.entry(corner).or_insert_with(|| {
            let p = corner.map(|v| i64::from(v) * edge);
            let nearest = (0..pattern.seeds.len()).min_by_key(|s| (distance2(p, pattern.seeds[*s]), *s));
            nearest.unwrap_or(0) as u32
        })
    }

    /// What becomes of the solid leaf at a place; `internal` in the source or boundary.
    pub fn leaf(&mut self, place: [u32; 3], internal: bool) -> LeafFate {
        let shift = self.leaf_level - self.words.transition;
        let crossed = match self.voxel(place.map(|v| v >> shift)) {
            Ok(crossed) => crossed,
            Err(object) => return LeafFate { objects: vec![object], touched: false },
        };
        let edge = EDGE >> shift;
        let low = place.map(|v| i64::from(v) % (1 << shift) * edge);
        let high = low.map(|v| v + edge);
        let sides: BTreeSet<u32> =
            crossed.triangles().filter(|t| touches(t, low, high)).flat_map(|t| t.sides).collect();
        if !sides.is_empty() {
            return LeafFate { objects: sides.into_iter().collect(), touched: true };
        }
        let centre = low.map(|v| v + edge / 2);
        let object = if self.words.votes == 1 && !internal {
            elected(&crossed, centre)
        } else {
            owner_of(&crossed, centre)
        };
        LeafFate { objects: vec![object], touched: false }
    }

    #[cfg(any(test, feature = "testing"))]
    /// Planes of the triangles that touch a leaf and have `object` on one side.
    pub fn planes(&mut self, place: [u32; 3], object: u32) -> Vec<LeafPlane> {
        let shift = self.leaf_level - self.words.transition;
        let Ok(crossed) = self.voxel(place.map(|v| v >> shift)) else { return Vec::new() };
        let edge = EDGE >> shift;
        let low = place.map(|v| i64::from(v) % (1 << shift) * edge);
        let centre = DVec3::from_array(low.map(|v| (v + edge / 2) as f64));
        crossed
            .triangles()
            .filter(|t| t.sides.contains(&object) && touches(t, low, low.map(|v| v + edge)))
            .map(|t| {
                let [e, f, v] = t.points.map(|p| DVec3::from_array(p.map(f64::from)));
                let normal = (f - e).cross(v - e).normalize_or_zero();
                // Towards the high end of the edge, or towards the low one.
                let sign = if (normal[t.axis] > 0.0) == (t.sides[0] == object) { 1 } else { -1 };
                let out = normal * f64::from(sign);
                let whole = t.points.map(|p| p.map(i64::from));
                let whole_out =
                    cross(minus(whole[1], whole[0]), minus(whole[2], whole[0])).map(|v| v * i64::from(sign));
                LeafPlane {
                    normal: out,
                    offset: (e - centre).dot(out) / edge as f64,
                    distance: distance_to_triangle(centre, [e, f, v]) / edge as f64,
                    points: whole,
                    whole_normal: whole_out,
                }
            })
            .collect()
    }
}

#[cfg(any(test, feature = "testing"))]
/// By the foot of the perpendicular where it falls inside, else the nearest point of the border.
fn distance_to_triangle(p: DVec3, corners: [DVec3; 3]) -> f64 {
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
    let sides = [0, 1, 2].map(|k| (corners[k], corners[(k + 1) % 3]));
    if sides.iter().all(|(a, b)| (*b - *a).cross(p - *a).dot(normal) >= 0.0) {
        return (p - corners[0]).dot(normal).abs();
    }
    let to_side = |(a, b): (DVec3, DVec3)| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a.lerp(b, t))
    };
    sides.into_iter().map(to_side).fold(f64::INFINITY, f64::min)
}

/// The crossed voxel, or the object that owns all corners. `owners` are seeds.
fn make(
    place: [u32; 3],
    owners: [u32; 8],
    pattern: &Pattern,
    words: &CrackUniform,
) -> Result<TransitionVoxel, u32> {
    let objects = owners.map(|seed| pattern.objects[seed as usize]);
    if objects.iter().all(|o| *o == objects[0]) {
        return Err(objects[0]);
    }
    let size = SIDE >> words.transition;
    let low = place.map(|v| i64::from(v) * size);
    let corner = |c: usize| -> Point { std::array::from_fn(|a| low[a] + size * (c >> a & 1) as i64) };
    let inner = |v: i64| v.clamp(1, EDGE - 1);

    let mut edge_points = [None; 12];
    for (edge, point) in edge_points.iter_mut().enumerate() {
        let [a, b] = native::edge_corners(edge);
        if objects[a] == objects[b] {
            continue;
        }
        let weights = [a, b].map(|c| weight(corner(c), words));
        let difference = weights[0] - weights[1];
        let amplitude = i64::from(words.amplitude);
        let offset = if words.offset == 0 {
            EDGE / 2 + amplitude * difference / (2 * (weights[0] + weights[1] + 1))
        } else {
            let seeds = [owners[a], owners[b]].map(|s| pattern.seeds[s as usize]);
            // How much farther the other end's seed is; it falls from `first` >= 0 to `last` <= 0 along the edge.
            let lead = |c: usize| distance2(corner(c), seeds[1]) - distance2(corner(c), seeds[0]);
            let (first, last) = (lead(a), lead(b));
            let crossing = inner(EDGE * first / (first - last));
            EDGE / 2 + (crossing - EDGE / 2) * i64::from(words.strength) / 256 + amplitude * difference / 255
        };
        let mut at = [0, 1, 2].map(|axis| EDGE * (a >> axis & 1) as i64);
        at[edge / 4] = inner(offset);
        *point = Some(at.map(|v| v as i32));
    }

    let mut face_points = [None; 6];
    for (face, point) in face_points.iter_mut().enumerate() {
        let on_face: Vec<[i32; 3]> = (0..12)
            .filter(|e| native::edge_faces(*e).contains(&face))
            .filter_map(|e| edge_points[e])
            .collect();
        if on_face.is_empty() {
            continue;
        }
        let (axis, side) = (face / 2, (face % 2) as i64);
        let mut at = mean(&on_face);
        let mut origin = low;
        origin[axis] += side * size;
        let random = hash(origin, words.salt ^ (0xface_0000 + axis as u32));
        for (k, byte) in [(1, random & 0xff), (2, random >> 8 & 0xff)] {
            let b = (axis + k) % 3;
            at[b] = inner(at[b] + (i64::from(byte) - 128) * i64::from(words.face) / 128);
        }
        *point = Some(at.map(|v| v as i32));
    }

    let crossed: Vec<[i32; 3]> = face_points.iter().flatten().copied().collect();
    let mut voxel_point = mean(&crossed);
    let random = hash(low, words.salt ^ 0x0b0d_0000);
    for (a, v) in voxel_point.iter_mut().enumerate() {
        let byte = i64::from(random >> (8 * a) & 0xff);
        *v = inner(*v + (byte - 128) * i64::from(words.voxel) / 128);
    }
    let voxel_point = voxel_point.map(|v| v as i32);
    Ok(TransitionVoxel { place, objects, edge_points, face_points, voxel_point })
}

fn mean(points: &[[i32; 3]]) -> Point {
    std::array::from_fn(|a| points.iter().map(|p| i64::from(p[a])).sum::<i64>() / points.len() as i64)
}

fn distance2(p: Point, seed: [i32; 3]) -> i64 {
    (0..3).map(|a| (p[a] - i64::from(seed[a])).pow(2)).sum()
}

/// A random word of a lattice point; all arithmetic modulo 2^32.
fn hash(p: Point, salt: u32) -> u32 {
    let stirred = p.iter().fold(salt, |h, v| {
        let h = (h ^ *v as u32).wrapping_mul(0x9e37_79b1);
        let h = (h ^ h >> 15).wrapping_mul(0x85eb_ca77);
        h ^ h >> 13
    });
    let h = stirred.wrapping_mul(0xc2b2_ae3d);
    h ^ h >> 16
}

/// Weight of a corner, 0 to 255: value noise in layers.
pub(in crate::fracture) fn weight(p: Point, words: &CrackUniform) -> i64 {
    let total: i64 = (0..words.octaves)
        .map(|octave| {
            let salt = words.salt.wrapping_add(octave.wrapping_mul(0x3c6e_f372));
            value_noise(p, i64::from(words.frequency << octave), salt) << (words.octaves - 1 - octave)
        })
        .sum();
    total / ((1 << words.octaves) - 1)
}

fn value_noise(p: Point, frequency: i64, salt: u32) -> i64 {
    let scaled = p.map(|v| v * frequency);
    let cell = scaled.map(|v| v / SIDE);
    let smooth = scaled.map(|v| {
        let t = v % SIDE / 64;
        t * t * (768 - 2 * t) / 65536
    });
    let at = |x: i64, y: i64, z: i64| i64::from(hash([cell[0] + x, cell[1] + y, cell[2] + z], salt) >> 24);
    let mix = |a: i64, b: i64, axis: usize| (a * (256 - smooth[axis]) + b * smooth[axis]) / 256;
    let row = |y: i64, z: i64| mix(at(0, y, z), at(1, y, z), 0);
    let sheet = |z: i64| mix(row(0, z), row(1, z), 1);
    mix(sheet(0), sheet(1), 2)
}

/// Whether a triangle and a closed box have a point in common: no gap along any of the 13 axes on which two such
/// convex bodies can be told apart.
fn touches(triangle: &CrackTriangle, low: Point, high: Point) -> bool {
    let corners = triangle.points.map(|p| p.map(i64::from));
    let edges: Vec<Point> = (0..3).map(|k| minus(corners[(k + 1) % 3], corners[k])).collect();
    let units: [Point; 3] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let mut axes: Vec<Point> = units.to_vec();
    axes.push(cross(edges[0], edges[1]));
    for edge in &edges {
        axes.extend(units.iter().map(|unit| cross(*edge, *unit)));
    }
    axes.iter().all(|axis| {
        let on_axis = corners.map(|p| dot(p, *axis));
        let box_low: i64 = (0..3).map(|a| (axis[a] * low[a]).min(axis[a] * high[a])).sum();
        let box_high: i64 = (0..3).map(|a| (axis[a] * low[a]).max(axis[a] * high[a])).sum();
        let (first, last) = (on_axis.iter().min(), on_axis.iter().max());
        first.is_some_and(|v| *v <= box_high) && last.is_some_and(|v| *v >= box_low)
    })
}

/// Whose region a point lies in that is on no triangle. Seen from the voxel point, the regions are cones over the
/// six walls; a wall is cut into sectors by the lines from its face point to its edge points.
fn owner_of(voxel: &TransitionVoxel, p: Point) -> u32 {
    let v = voxel.voxel_point.map(i64::from);
    let d = minus(p, v);
    // The wall that the ray from v through p meets first: the largest share of the way to it, compared without
    // division.
    let gap = |axis: usize| if d[axis] > 0 { EDGE - v[axis] } else { v[axis] };
    let mut axis = 0;
    for other in 1..3 {
        if d[other].abs() * gap(axis) > d[axis].abs() * gap(other) {
            axis = other;
        }
    }
    let side = usize::from(d[axis] > 0);
    let face = 2 * axis + side;
    // Corners of the wall, counter-clockwise as (b, c) axes see them, and the edges between one and the next.
    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
    let corner = |i: usize, j: usize| side << axis | i << b | j << c;
    let ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
    let Some(f) = voxel.face_points[face] else { return voxel.objects[ring[0]] };
    let edge_between = |x: usize, y: usize| {
        (0..12).find(|e| {
            let [low, high] = native::edge_corners(*e);
            low == x.min(y) && high == x.max(y)
        })
    };
    // Cut points in that order, each with the object of the corner behind it.
    let mut cuts: Vec<(Point, u32)> = Vec::new();
    for k in 0..4 {
        let (from, to) = (ring[k], ring[(k + 1) % 4]);
        if let Some(point) = edge_between(from, to).and_then(|e| voxel.edge_points[e]) {
            cuts.push((point.map(i64::from), voxel.objects[to]));
        }
    }
    let f = f.map(i64::from);
    let facing = if side == 1 { 1 } else { -1 };
    // On which side of the plane through v, f and a cut point p lies; positive is counter-clockwise of the line f
    // to cut.
    let turn = |cut: Point| facing * dot(cross(minus(f, v), minus(cut, v)), minus(p, v)).signum();
    for k in 0..cuts.len() {
        let ((from, object), (to, _)) = (cuts[k], cuts[(k + 1) % cuts.len()]);
        let (x, y) = (minus(from, f), minus(to, f));
        let opening = x[b] * y[c] - x[c] * y[b];
        let within =
            if opening > 0 { turn(from) >= 0 && turn(to) < 0 } else { turn(from) >= 0 || turn(to) < 0 };
        if within {
            return object;
        }
    }
    voxel.objects[ring[0]]
}

/// 2018, sec. 5.3: every triangle votes for the object of the edge's end on whose side the point lies. The lowest
/// of the most voted.
fn elected(voxel: &TransitionVoxel, p: Point) -> u32 {
    let mut votes: HashMap<u32, u32> = HashMap::new();
    for triangle in voxel.triangles() {
        let [e, f, v] = triangle.points.map(|q| q.map(i64::from));
        let normal = cross(minus(f, e), minus(v, e));
        let high = dot(normal, minus(p, e)) * normal[triangle.axis].signum() > 0;
        *votes.entry(triangle.sides[usize::from(high)]).or_default() += 1;
    }
    votes
        .into_iter()
        .max_by_key(|(object, count)| (*count, u32::MAX - object))
        .map_or(0, |(object, _)| object)
}
