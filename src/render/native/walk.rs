//! One ray through one octree, front to back: the native twin of `walk` in `shaders/render/trace.wgsl`.
//!
//! The octree is walked in mirrored coordinates in which the ray only ever moves up. A step either descends into the
//! octant that holds the ray, or crosses the nearest face; where a step leaves the parent, the highest changed
//! coordinate bit says which ancestor to go on from.

use glam::Vec3;

use super::scene::{BODY_SKY, NO_LEAF, Scene, Tree, point_through, vector_through};
use crate::svo::{unpack_cut, unpack_normal};

/// A ray in world space.
#[derive(Clone, Copy)]
pub(super) struct Ray {
    /// m.
    pub origin: Vec3,
    /// Unit.
    pub direction: Vec3,
    /// Octants smaller than this plus `cut_slope` times the distance are solid blocks, m.
    pub cut_base: f32,
    pub cut_slope: f32,
    /// Where it begins and ends, m.
    pub first: f32,
    pub last: f32,
}

/// What a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// m.
    pub distance: f32,
    /// Index of the body, or [`BODY_SKY`].
    pub body: u32,
    /// Leaf of the forest; [`NO_LEAF`] in an internal octant.
    pub leaf: u32,
    /// Octree level of the octant that was hit.
    pub level: u32,
    /// Axis of the face through which the ray came in.
    pub axis: u32,
    /// The leaf's second plane is what shows.
    pub cut: bool,
}

impl Hit {
    /// Nothing as far as `last`.
    pub fn none(last: f32) -> Self {
        Self { distance: last, body: BODY_SKY, leaf: NO_LEAF, level: 0, axis: 0, cut: false }
    }
}

/// One over each coordinate, of those that are near zero a large number of their sign.
#[inline(always)]
pub(super) fn safe_inverse(d: Vec3) -> Vec3 {
    let least = 1e-7 * d.abs().max_element().max(1e-20);
    let kept = |v: f32| {
        if v.abs() > least {
            v
        } else if v >= 0.0 {
            least
        } else {
            -least
        }
    };
    Vec3::new(1.0 / kept(d.x), 1.0 / kept(d.y), 1.0 / kept(d.z))
}

/// The first leaf under a node, nearest octants first: an octant that is cut off borrows its colour and normal.
pub(super) fn leaf_below(tree: &Tree<'_>, start: u32, levels: u32, mirror: u32) -> u32 {
    (0..levels).fold(start, |index, _| {
        let node = tree.nodes[index as usize];
        let valid = u32::from(node.valid());
        let nearest = (0..8).map(|k| k ^ mirror).find(|octant| valid >> octant & 1 == 1);
        node.child(nearest.unwrap_or(0))
    })
}

/// What a step of a walk met.
enum Met {
    Leaf,
    Block,
    Inside,
}

/// No ray takes more steps than this.
const MOST_STEPS: u32 = 4096;

/// Walks one body's octree; a hit nearer than `best.distance` replaces it.
#[inline(always)]
pub(super) fn walk(scene: &Scene<'_>, index: u32, ray: &Ray, best: &mut Hit) {
    let body = &scene.bodies[index as usize];
    let tree = &scene.trees[index as usize];
    let level = body.level;
    let voxel = body.voxel;
    let origin = point_through(&body.grid_from_world, ray.origin);
    let direction = vector_through(&body.grid_from_world, ray.direction);
    let signed_inverse = safe_inverse(direction);
    let (near, far) = ((body.low - origin) * signed_inverse, (body.high - origin) * signed_inverse);
    let (entry, leave) = (near.min(far), near.max(far));
    let start = entry.max_element().max(ray.first);
    let end = leave.min_element().min(best.distance) - start;
    if end.is_nan() || end <= 0.0 {
        return;
    }
    let side = (1u32 << level) as f32;
    let backward = signed_inverse.cmplt(Vec3::ZERO);
    let mirror = backward.bitmask();
    let inverse = signed_inverse.abs();
    // From here on t counts from the entry into the bounds: small numbers, so that planes keep their precision.
    let at_entry = origin + direction * start;
    let start_point = Vec3::select(backward, Vec3::splat(side) - at_entry, at_entry);

    let mut stack = [0u32; 12];
    let mut size = 1u32 << (level - 1);
    let mut bit = level - 1;
    let mut current = body.root;
    let mut t = 0.0f32;
    let mut axis = if entry.x > entry.y.max(entry.z) {
        0
    } else if entry.y > entry.z {
        1
    } else {
        2
    };
    let upper = |middle: u32, start: f32, inverse: f32, t: f32| (middle as f32 - start) * inverse <= t;
    let mut p = [
        if upper(size, start_point.x, inverse.x, 0.0) { size } else { 0 },
        if upper(size, start_point.y, inverse.y, 0.0) { size } else { 0 },
        if upper(size, start_point.z, inverse.z, 0.0) { size } else { 0 },
    ];
    // Leaf that the ray passed above, whose look an internal octant behind it borrows.
    let mut passed = NO_LEAF;
    let mut passed_cut = false;
    // The octant that the ray is in was looked at: go on behind it.
    let mut done_here = false;
    for _ in 0..MOST_STEPS {
        let node = tree.nodes[current as usize];
        let exits = [
            ((p[0] + size) as f32 - start_point.x) * inverse.x,
            ((p[1] + size) as f32 - start_point.y) * inverse.y,
            ((p[2] + size) as f32 - start_point.z) * inverse.z,
        ];
        let t_exit = exits[0].min(exits[1].min(exits[2]));
        let high = (p[0] >> bit & 1) | (p[1] >> bit & 1) << 1 | (p[2] >> bit & 1) << 2;
        let octant = high ^ mirror;
        let there = node.masks >> octant;
        let mut met = None;
        let mut child = 0;
        if !done_here && there & 1 == 1 {
            child = node.child(octant);
            if size == 1 {
                met = Some(Met::Leaf);
            } else if (size as f32) * voxel < ray.cut_base + ray.cut_slope * (start + t) {
                met = Some(Met::Block);
            } else {
                stack[bit as usize] = current;
                current = child;
                size >>= 1;
                bit -= 1;
                p = [
                    p[0] + if upper(p[0] + size, start_point.x, inverse.x, t) { size } else { 0 },
                    p[1] + if upper(p[1] + size, start_point.y, inverse.y, t) { size } else { 0 },
                    p[2] + if upper(p[2] + size, start_point.z, inverse.z, t) { size } else { 0 },
                ];
                continue;
            }
        } else if !done_here && there >> 8 & 1 == 1 {
            met = Some(Met::Inside);
        }
        match met {
            None => {}
            Some(Met::Block) => {
                let leaf = leaf_below(tree, child, bit, mirror);
                *best = Hit { distance: start + t, body: index, leaf, level: level - bit, axis, cut: false };
                return;
            }
            Some(Met::Inside) => {
                let (leaf, cut) = (passed, passed_cut);
                *best = Hit { distance: start + t, body: index, leaf, level: level - bit, axis, cut };
                return;
            }
            Some(Met::Leaf) => {
                let leaf = Leaf { tree, child, backward, start_point, step: direction, p, t, t_exit };
                let (t_hit, t_leave, cut) = leaf.meet();
                passed_cut = cut;
                if t_hit <= t_leave {
                    if t_hit < end {
                        *best = Hit { distance: start + t_hit, body: index, leaf: child, level, axis, cut };
                    }
                    return;
                }
                passed = child;
            }
        }
        done_here = false;
        t = t_exit;
        if t.is_nan() || t >= end {
            return;
        }
        let crossed = [exits[0] <= t_exit, exits[1] <= t_exit, exits[2] <= t_exit];
        axis = if crossed[0] {
            0
        } else if crossed[1] {
            1
        } else {
            2
        };
        let next = [
            p[0] + if crossed[0] { size } else { 0 },
            p[1] + if crossed[1] { size } else { 0 },
            p[2] + if crossed[2] { size } else { 0 },
        ];
        let changed = (p[0] ^ next[0]) | (p[1] ^ next[1]) | (p[2] ^ next[2]);
        p = next;
        if changed >= size * 2 {
            bit = 31 - changed.leading_zeros();
            if bit >= level {
                return;
            }
            size = 1 << bit;
            current = stack[bit as usize];
            p = p.map(|v| v & !(size - 1));
        }
    }
}

/// A leaf where a ray is in its voxel.
struct Leaf<'a> {
    tree: &'a Tree<'a>,
    child: u32,
    backward: glam::BVec3,
    start_point: Vec3,
    /// Not mirrored yet.
    step: Vec3,
    p: [u32; 3],
    t: f32,
    t_exit: f32,
}

impl Leaf<'_> {
    /// Where the ray meets the solid, where it leaves it, and whether what it meets is the second plane.
    #[inline(always)]
    fn meet(&self) -> (f32, f32, bool) {
        let mirrored = |v: Vec3| Vec3::select(self.backward, -v, v);
        let (t, child) = (self.t, self.child as usize);
        let n = mirrored(unpack_normal(self.tree.normals[child]));
        let step = mirrored(self.step);
        let from_centre =
            self.start_point + step * t - (Vec3::from(self.p.map(|v| v as f32)) + Vec3::splat(0.5));
        let height = from_centre.dot(n) - self.tree.colors[child].offset();
        let slope = step.dot(n);
        let down_to = |height: f32, slope: f32| if slope < 0.0 { t - height / slope } else { 1e30 };
        let mut t_hit = if height > 0.0 { down_to(height, slope) } else { t };
        let mut t_leave = self.t_exit;
        let mut shows_cut = false;
        if t_hit <= self.t_exit
            && let Some((m, offset)) = unpack_cut(self.tree.cuts[child])
        {
            // The solid lies below both planes.
            let m = mirrored(m);
            let cut_height = from_centre.dot(m) - offset;
            let cut_slope = step.dot(m);
            if slope > 0.0 {
                t_leave = t_leave.min(t - height / slope);
            }
            let mut t_cut = t;
            if cut_height > 0.0 {
                t_cut = down_to(cut_height, cut_slope);
            } else if cut_slope > 0.0 {
                t_leave = t_leave.min(t - cut_height / cut_slope);
            }
            // Where the ray comes in by a face of the voxel, the plane shows that faces the ray, or else the
            // nearer one.
            let through_face =
                if (cut_slope < 0.0) != (slope < 0.0) { cut_slope < slope } else { cut_height > height };
            shows_cut = t_cut > t_hit || (t_cut == t_hit && through_face);
            t_hit = t_hit.max(t_cut);
        }
        (t_hit, t_leave, shows_cut)
    }
}
