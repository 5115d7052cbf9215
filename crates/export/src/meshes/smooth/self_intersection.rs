//! Finds triangles that intersect, or touch where they share nothing.
//!
//! In: triangles with shared vertices, found by the boxes of their faces. A closed surface whose triangles meet only at
//! shared vertices and edges faces outward everywhere or nowhere.

use crate::geometry::Aabb;
use glam::DVec3;

#[derive(Clone, Copy)]
struct Item {
    low: f32,
    high: f32,
    /// The first columns that the box lies in.
    first: [u32; 2],
    face: u32,
}

/// Boxes in columns along x that are one voxel wide, each column sorted by the boxes' start.
pub struct Columns {
    low: [f64; 2],
    size: [u32; 2],
    starts: Vec<u32>,
    items: Vec<Item>,
    /// Length of the longest box along x.
    longest: f32,
}

impl Columns {
    /// Sorts boxes, one per face.
    pub fn new(boxes: &[Aabb]) -> Self {
        let Aabb { low, high } = boxes.iter().fold(Aabb::NOTHING, |all, own| all.joined(*own));
        let columns = |a: f64, b: f64| if a <= b { (b - a) as u32 + 1 } else { 0 };
        let size = [columns(low.y, high.y), columns(low.z, high.z)];
        let count = size[0] as usize * size[1] as usize;
        let (mut starts, longest) = (vec![0; count + 1], 0.0);
        let mut made = Self { low: [low.y, low.z], size, starts: Vec::new(), items: Vec::new(), longest };
        for span in boxes {
            made.each_column(*span, |column, _| starts[column + 1] += 1);
        }
        (0..count).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let none = Item { low: 0.0, high: 0.0, first: [0; 2], face: 0 };
        let mut items = vec![none; starts[count] as usize];
        let mut longest = 0.0_f32;
        for (face, span) in boxes.iter().enumerate() {
            // Rounded outward.
            let (low, high) = ((span.low.x as f32).next_down(), (span.high.x as f32).next_up());
            longest = longest.max(high - low);
            made.each_column(*span, |column, first| {
                items[next[column] as usize] = Item { low, high, first, face: face as u32 };
                next[column] += 1;
            });
        }
        for column in 0..count {
            items[starts[column] as usize..starts[column + 1] as usize]
                .sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then(a.face.cmp(&b.face)));
        }
        (made.starts, made.items, made.longest) = (starts, items, longest.next_up());
        made
    }

    fn range(&self, span: Aabb) -> [[u32; 2]; 2] {
        let at = |value: f64, axis: usize| {
            ((value - self.low[axis]).max(0.0) as u32).min(self.size[axis].saturating_sub(1))
        };
        [[at(span.low.y, 0), at(span.high.y, 0)], [at(span.low.z, 1), at(span.high.z, 1)]]
    }

    /// Calls `visit` for each column that a box lies in, with the first one.
    fn each_column(&self, span: Aabb, mut visit: impl FnMut(usize, [u32; 2])) {
        let [y, z] = self.range(span);
        for row in z[0]..=z[1] {
            for column in y[0]..=y[1] {
                visit((row * self.size[0] + column) as usize, [y[0], z[0]]);
            }
        }
    }

    /// Calls `visit` once for each face whose box overlaps another box.
    pub fn each_near(&self, span: Aabb, mut visit: impl FnMut(u32)) {
        let (low, high) = (span.low.x as f32, span.high.x as f32);
        self.each_column(span, |column, first| {
            let items = &self.items[self.starts[column] as usize..self.starts[column + 1] as usize];
            let begin = items.partition_point(|item| item.low < low - self.longest);
            for item in items[begin..].iter().take_while(|item| item.low <= high.next_up()) {
                // Reported only in the first of their common columns.
                let common = [first[0].max(item.first[0]), first[1].max(item.first[1])];
                let is_first = (common[1] * self.size[0] + common[0]) as usize == column;
                if is_first && item.high >= low.next_down() {
                    visit(item.face);
                }
            }
        });
    }
}

/// Two triangles count as coplanar if their normals differ by less than 8 degrees (cosine), or point apart.
const ONE_PLANE: f64 = 0.99;

/// Whether two triangles intersect apart from what they share, or come within `near` of it.
pub fn touch(positions: &[DVec3], a: [u32; 3], b: [u32; 3], near: f64) -> bool {
    let (pa, pb) = (a.map(|v| positions[v as usize]), b.map(|v| positions[v as usize]));
    let Aabb { low, high } = Aabb::of(pa);
    let Aabb { low: other_low, high: other_high } = Aabb::of(pb);
    if (other_low - high).max(low - other_high).max_element() > near {
        return false;
    }
    let is_same_place = |i: usize, j: usize| a[i] != b[j] && pa[i].distance_squared(pb[j]) < near * near;
    if (0..9).any(|k| is_same_place(k / 3, k % 3)) {
        return true;
    }
    let lies_on = |(p, of): (&DVec3, &u32), other: [DVec3; 3], corners: [u32; 3]| {
        !corners.contains(of) && is_on(*p, other, near)
    };
    if pa.iter().zip(&a).any(|corner| lies_on(corner, pb, b))
        || pb.iter().zip(&b).any(|corner| lies_on(corner, pa, a))
    {
        return true;
    }
    let edges = [(0, 1), (1, 2), (2, 0)];
    let (na, nb) = ((pa[1] - pa[0]).cross(pa[2] - pa[0]), (pb[1] - pb[0]).cross(pb[2] - pb[0]));
    let in_one_plane = na.dot(nb).abs() > ONE_PLANE * na.length() * nb.length();
    let meets = |(i, j): (usize, usize), (k, l): (usize, usize)| {
        let shares = [b[k], b[l]].contains(&a[i]) || [b[k], b[l]].contains(&a[j]);
        !shares && edges_meet([pa[i], pa[j]], [pb[k], pb[l]], near)
    };
    if in_one_plane && edges.iter().any(|edge| edges.iter().any(|other| meets(*edge, *other))) {
        return true;
    }
    let passing = |p: [DVec3; 3], of: [u32; 3], through: [DVec3; 3], corners: [u32; 3]| {
        edges.iter().any(|(i, j)| {
            !corners.contains(&of[*i]) && !corners.contains(&of[*j]) && passes(p[*i], p[*j], through)
        })
    };
    passing(pa, a, pb, b) || passing(pb, b, pa, a)
}

/// Whether a point lies above or below the inside of a triangle, within `near`.
fn is_on(p: DVec3, [a, b, c]: [DVec3; 3], near: f64) -> bool {
    let normal = (b - a).cross(c - a);
    let height = normal.dot(p - a);
    height * height < near * near * normal.length_squared()
        && [(a, b), (b, c), (c, a)].iter().all(|(from, to)| (*to - *from).cross(p - *from).dot(normal) > 0.0)
}

/// Whether two edges pass each other between their ends, within `near`.
fn edges_meet(one: [DVec3; 2], other: [DVec3; 2], near: f64) -> bool {
    let (u, v, between) = (one[1] - one[0], other[1] - other[0], other[0] - one[0]);
    let across = u.cross(v);
    let square = across.length_squared();
    let height = across.dot(between);
    if square == 0.0 || height * height >= near * near * square {
        return false;
    }
    let (s, t) = (between.cross(v).dot(across), between.cross(u).dot(across));
    s > 0.0 && s < square && t > 0.0 && t < square
}

/// Six times the volume between four points.
fn volume(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    (b - a).cross(c - a).dot(d - a)
}

/// Whether the segment from `from` to `to` passes through a triangle.
fn passes(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let (before, after) = (volume(a, b, c, from), volume(a, b, c, to));
    if before * after >= 0.0 {
        return false;
    }
    let beside = [volume(from, to, a, b), volume(from, to, b, c), volume(from, to, c, a)];
    beside.iter().all(|side| *side > 0.0) || beside.iter().all(|side| *side < 0.0)
}
