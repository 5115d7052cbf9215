//! Rough and dusty cracks: the triangles of all crossed voxels of the transition level, connected at shared vertices.
//!
//! In: a pattern and the numbers of a crack shape. Out: [`Cracks`]: for rough surfaces one for all objects, for dusty
//! ones one for each object, with dust in front.
//!
//! Where all four edges of a voxel's face are crossed, four regions would meet in the line from its point to the
//! voxel's, and a region that occurs twice would touch itself along it. So the face's point is split in two, a 64th of
//! the way towards two opposite corners: the other two corners' regions meet in a narrow neck between them, and at most
//! three regions meet in any line.

use std::collections::BTreeSet;

use super::{
    cracks::{Cracks, by_a_hair},
    solid::{Point, UNIT_BITS},
};
use crate::fracture::{
    Pattern,
    crack::{CrackUniform, TransitionVoxel, reference::CrackReference},
    dust::{DustTriangle, voxel::split},
};

/// The region in front of a dusty object's border.
pub const DUST: u32 = u32::MAX - 1;

/// log2 of the units of a voxel of level 0 for its points.
const POINT_BITS: u32 = 9;

/// Kinds of vertices that voxels share, as parts of their names.
mod kind {
    /// On an edge; one per axis.
    pub const EDGE: u64 = 0;
    /// On a face; three per axis.
    pub const FACE: u64 = 3;
    /// Inside the voxel; up to four.
    pub const VOXEL: u64 = 12;
}

/// Name of a vertex, the same from all voxels that share it: low corner of its edge, face or voxel, and its kind.
fn name(low: [u32; 3], kind: u64) -> u64 {
    low.iter().fold(kind, |sum, v| sum << 16 | u64::from(*v))
}

/// Triangles with named vertices.
#[derive(Default)]
struct Named {
    corners: Vec<(u64, Point)>,
    triangles: Vec<[u64; 3]>,
    sides: Vec<[u32; 2]>,
}

impl Named {
    fn joined(mut self, salt: u64, everywhere: u32) -> Cracks {
        self.corners.sort_unstable();
        self.corners.dedup_by_key(|corner| corner.0);
        let number = |name: u64| self.corners.partition_point(|known| known.0 < name) as u32;
        Cracks {
            points: self.corners.iter().map(|(name, at)| by_a_hair(*at, *name, salt)).collect(),
            triangles: self.triangles.iter().map(|t| t.map(number)).collect(),
            sides: self.sides,
            everywhere,
        }
    }
}

/// The crossed voxels within `low..high` (coordinates at the transition level).
fn crossed(
    pattern: &Pattern,
    words: &CrackUniform,
    leaf_level: u32,
    [low, high]: [[u32; 3]; 2],
) -> (Vec<TransitionVoxel>, BTreeSet<u32>) {
    let mut cracks = CrackReference::new(pattern, *words, leaf_level);
    let (mut found, mut objects) = (Vec::new(), BTreeSet::new());
    for z in low[2]..high[2] {
        for y in low[1]..high[1] {
            for x in low[0]..high[0] {
                match cracks.voxel([x, y, z]) {
                    Ok(voxel) => {
                        objects.extend(voxel.objects);
                        found.push(voxel);
                    }
                    Err(object) => {
                        objects.insert(object);
                    }
                }
            }
        }
    }
    (found, objects)
}

/// A voxel's coordinates in whole units.
struct Frame {
    place: [u32; 3],
    shift: u32,
}

impl Frame {
    fn new(voxel: &TransitionVoxel, transition: u32) -> Self {
        Self { place: voxel.place, shift: UNIT_BITS - transition - POINT_BITS }
    }

    fn point(&self, p: [i64; 3]) -> Point {
        [0, 1, 2].map(|k| ((i64::from(self.place[k]) << POINT_BITS) + p[k]) << self.shift)
    }

    fn corner(&self, c: usize) -> Point {
        self.point([0, 1, 2].map(|k| (c as i64 >> k & 1) << POINT_BITS))
    }

    fn edge_name(&self, edge: usize) -> u64 {
        let low = edge_ends(edge)[0];
        name([0, 1, 2].map(|k| self.place[k] + (low as u32 >> k & 1)), kind::EDGE + edge as u64 / 4)
    }

    /// The name of a face's point, or of one of the two that it was split into.
    fn face_name(&self, face: usize, which: u64) -> u64 {
        let mut low = self.place;
        low[face / 2] += face as u32 % 2;
        name(low, kind::FACE + 3 * (face as u64 / 2) + which)
    }

    fn inner_name(&self, which: u64) -> u64 {
        name(self.place, kind::VOXEL + which)
    }
}

/// Low and high corner of an edge.
fn edge_ends(edge: usize) -> [usize; 2] {
    let (axis, k) = (edge / 4, edge % 4);
    let low = (k & 1) << ((axis + 1) % 3) | (k >> 1) << ((axis + 2) % 3);
    [low, low | 1 << axis]
}

/// For a face with four crossed edges: the two corners that are cut off, and the two connected between them.
fn parted(voxel: &TransitionVoxel, face: usize) -> Option<([usize; 2], [usize; 2])> {
    let axis = face / 2;
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let base = (face % 2) << axis;
    let (one, other) = ([base, base | u | v], [base | u, base | v]);
    let objects = |pair: [usize; 2]| pair.map(|c| voxel.objects[c]);
    let ([a, c], [b, d]) = (objects(one), objects(other));
    if a == b || b == c || c == d || d == a {
        return None;
    }
    let joins_one = if (a == c) == (b == d) { a.min(c) < b.min(d) } else { a == c };
    Some(if joins_one { (other, one) } else { (one, other) })
}

/// The crack surfaces between all objects, in the voxels `within` of the transition level.
#[must_use]
pub fn rough(
    pattern: &Pattern,
    words: &CrackUniform,
    leaf_level: u32,
    within: [[u32; 3]; 2],
    salt: u64,
) -> Cracks {
    let (voxels, objects) = crossed(pattern, words, leaf_level, within);
    let mut all = Named::default();
    for voxel in &voxels {
        add_rough(voxel, words.transition, &mut all);
    }
    all.joined(salt, objects.first().copied().unwrap_or_default())
}

fn add_rough(voxel: &TransitionVoxel, transition: u32, all: &mut Named) {
    let frame = Frame::new(voxel, transition);
    let inner = (frame.inner_name(0), frame.point(voxel.voxel_point.map(i64::from)));
    all.corners.push(inner);
    let parted: [_; 6] = std::array::from_fn(|face| parted(voxel, face));
    // A face's point as an edge's triangle refers to it.
    let face_corner = |face: usize, edge: usize| -> Option<(u64, Point)> {
        let middle = frame.point(voxel.face_points[face]?.map(i64::from));
        let Some((cut_off, _)) = parted[face] else { return Some((frame.face_name(face, 0), middle)) };
        let which = usize::from(edge_ends(edge).contains(&cut_off[1]));
        let corner = frame.corner(cut_off[which]);
        let moved = [0, 1, 2].map(|k| middle[k] + (corner[k] - middle[k]) / 64);
        Some((frame.face_name(face, 1 + which as u64), moved))
    };
    for triangle in voxel.triangles() {
        let (edge, axis) = (triangle.bit as usize / 2, triangle.axis);
        let faces = [2 * ((axis + 1) % 3) + (edge & 1), 2 * ((axis + 2) % 3) + (edge >> 1 & 1)];
        let Some(on_face) = face_corner(faces[triangle.bit as usize % 2], edge) else { continue };
        let on_edge = (frame.edge_name(edge), frame.point(triangle.points[0].map(i64::from)));
        // Coordinates are small integers, so the sign is exact; it tells on which side the edge's high end is.
        let [e, f, v] = triangle.points.map(|p| p.map(i64::from));
        let (b, c) = ([0, 1, 2].map(|k| f[k] - e[k]), [0, 1, 2].map(|k| v[k] - e[k]));
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let ahead = b[j] * c[k] - b[k] * c[j] > 0;
        all.corners.extend([on_edge, on_face]);
        let names = [on_edge.0, on_face.0, inner.0];
        all.triangles.push(if ahead { names } else { [names[1], names[0], names[2]] });
        all.sides.push(triangle.sides);
    }
    for (face, parted) in parted.into_iter().enumerate() {
        let Some((cut_off, meeting)) = parted else { continue };
        let sides = meeting.map(|c| voxel.objects[c]);
        if sides[0] == sides[1] {
            continue;
        }
        // Between the two regions that meet in the neck, seen from the second one's corner.
        let names = [frame.face_name(face, 1), frame.face_name(face, 2), inner.0];
        let points = [frame.corner(cut_off[0]), frame.corner(cut_off[1]), inner.1];
        let real = |p: Point| glam::DVec3::from_array(p.map(|v| v as f64));
        let [a, b, c] = points.map(real);
        let towards = real(frame.corner(meeting[1])) - real(frame.corner(meeting[0]));
        let ahead = (b - a).cross(c - a).dot(towards) > 0.0;
        all.triangles.push(if ahead { names } else { [names[1], names[0], names[2]] });
        all.sides.push(sides);
    }
}

/// The border of every object with a corner in the voxels `within` of the transition level, by object.
#[must_use]
pub fn dusty(
    pattern: &Pattern,
    words: &CrackUniform,
    leaf_level: u32,
    within: [[u32; 3]; 2],
    salt: u64,
) -> Vec<(u32, Cracks)> {
    let (voxels, objects) = crossed(pattern, words, leaf_level, within);
    let objects: Vec<u32> = objects.into_iter().collect();
    let mut all: Vec<Named> = objects.iter().map(|_| Named::default()).collect();
    for voxel in &voxels {
        let (frame, dust) = (Frame::new(voxel, words.transition), split(voxel, words));
        for object in dust.owners() {
            if let Ok(k) = objects.binary_search(&object) {
                add_fans(&frame, object, dust.border(object), &mut all[k]);
            }
        }
    }
    objects.iter().zip(all).map(|(object, named)| (*object, named.joined(salt, *object))).collect()
}

fn add_fans(frame: &Frame, object: u32, border: &[DustTriangle], all: &mut Named) {
    // Fans are consecutive; within one, each triangle starts where the previous one ends.
    let (mut first, mut fans) = (0, 0);
    for k in 0..border.len() {
        let edge = |t: &DustTriangle| frame.edge_name(t.bit as usize / 2);
        let closes = border[k].points[1] == border[first].points[0] && k > first;
        let next = if closes { &border[first] } else { &border[(k + 1).min(border.len() - 1)] };
        let [from, _, centre] = border[k].points;
        let inner = frame.inner_name(fans);
        all.corners.extend([(edge(&border[k]), frame.point(from)), (inner, frame.point(centre))]);
        all.triangles.push([edge(&border[k]), edge(next), inner]);
        all.sides.push([object, DUST]);
        if closes {
            (first, fans) = (k + 1, fans + 1);
        }
    }
}
