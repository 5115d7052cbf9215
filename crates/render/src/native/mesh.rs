//! Intersects eight rays with a surface, like `shaders/render/mesh.wgsl`.
//!
//! Rays with the same longest axis are traversed together: a node is tested for each ray by three slabs, and a triangle
//! for all rays that reach it. There are no fused operations, so the two products that tell on which side of an edge a
//! ray passes are equal for both triangles that share it; a ray on an edge counts for both.

use glam::Vec3;

use super::{
    mesh_look::is_hole,
    packet::Packet,
    scene::{Scene, Surface},
    wide::{LANES, along, each_axis},
};
use crate::geometry::simd::F32x8;
use crate::{effects::Effect, shape::TreeNode};

/// Traverses one body's surface with each packet; nearer hits replace earlier ones.
#[inline(always)]
pub(super) fn walk<L: F32x8, const N: usize>(
    packets: &mut [Packet<L>; N],
    scene: &Scene<'_>,
    index: u32,
    surface: &Surface<'_>,
    stack: &mut Vec<u32>,
) {
    let body = &scene.bodies[index as usize];
    let rows = &body.grid_from_world;
    let Some(root) = surface.tree.nodes.first() else { return };
    let effects = scene.effects[index as usize].as_deref().unwrap_or_default();
    let has_holes = effects.iter().any(|effect| effect.least_opacity > 0.0);
    let effects = if has_holes { effects } else { &[] };
    for packet in packets {
        if packet.open == 0 {
            continue;
        }
        let direction = each_axis!(k: along(packet.direction, [rows[k][0], rows[k][1], rows[k][2]]));
        let turned = each_axis!(k: along(packet.origin, [rows[k][0], rows[k][1], rows[k][2]]));
        let origin = each_axis!(k: turned[k].add(L::splat(rows[k][3])));
        let size = each_axis!(k: direction[k].abs());
        let least = size[0].max(size[1]).max(size[2]).max(L::splat(1e-20)).mul(L::splat(1e-7));
        let zero = L::splat(0.0);
        let inverse = each_axis!(k: {
            let one = L::splat(1.0).div(size[k].max(least));
            direction[k].below(zero).select(zero.sub(one), one)
        });
        let slabs = each_axis!(k: {
            let near = L::splat(root.low[k]).sub(origin[k]).mul(inverse[k]);
            near.min(L::splat(root.high[k]).sub(origin[k]).mul(inverse[k]))
        });
        let start = slabs[0].max(slabs[1]).max(slabs[2]).max(packet.first);
        // From here on t is relative to the entry into the bounds: small numbers keep their precision. The rays
        // themselves start at `first`.
        let at = each_axis!(k: origin[k].add(direction[k].mul(start)));
        let long = [
            size[1].at_most(size[0]) & size[2].at_most(size[0]),
            !size[1].at_most(size[0]) | !size[2].at_most(size[0]),
        ];
        let second = long[1] & size[2].at_most(size[1]);
        let majors = [long[0], second, long[1] & !second];
        for (axis, major) in majors.into_iter().enumerate() {
            let lanes = packet.open & major;
            if lanes == 0 {
                continue;
            }
            let axes = [[1usize, 2, 0], [2, 0, 1], [0, 1, 2]][axis];
            let steep = L::splat(1.0).div(direction[axis]);
            // A ray that enters by a clipping plane is inside a surface whose back it meets first, however far away that is.
            let is_opened = packet.looks && scene.clip_count() != 0;
            let opened = if is_opened { zero.less(packet.first) & lanes } else { 0 };
            let mut rays = Rays {
                axes,
                at: [at[axes[0]], at[axes[1]], at[axes[2]]],
                inverse: [inverse[axes[0]], inverse[axes[1]], inverse[axes[2]]],
                shear: [direction[axes[0]].mul(steep), direction[axes[1]].mul(steep), steep],
                first: packet.first.sub(start),
                end: L::mask(opened).select(L::splat(1e9), packet.hits.distance).sub(start),
                backward: each_axis!(k: direction[k].signs() >> lanes.trailing_zeros() & 1 == 1),
                alive: lanes,
                met: 0,
                triangle: zero,
            };
            rays.walk((surface, effects), packet.any, stack);
            if rays.met == 0 {
                continue;
            }
            let mut found = (start.add(rays.end), rays.met);
            if opened & rays.met != 0 {
                found = caps(packet, surface, (rays.triangle, direction), opened, found);
            }
            let ((at, met), hits) = (found, &mut packet.hits);
            let ending = L::mask(met);
            hits.distance = ending.select(at, hits.distance);
            hits.body = ending.select(L::word(index), hits.body);
            hits.leaf = ending.select(rays.triangle, hits.leaf);
            hits.met |= met;
            hits.cut &= !met;
            hits.blocks &= !met;
        }
    }
}

/// Where rays that enter by a clipping plane meet a surface: at its cap, where they enter, if they meet a back; else where they
/// meet it, if that is nearer than what they met before. In and out: distances, and the rays that meet it.
#[inline(always)]
fn caps<L: F32x8>(
    packet: &Packet<L>,
    surface: &Surface<'_>,
    (triangle, direction): (L, [L; 3]),
    opened: u32,
    (at, mut met): (L, u32),
) -> (L, u32) {
    let (mut at, first, nearest) = (at.array(), packet.first.array(), packet.hits.distance.array());
    let (triangle, direction) = (triangle.array(), each_axis!(k: direction[k].array()));
    let looked_at = opened & met;
    for lane in (0..LANES).filter(|lane| looked_at >> lane & 1 == 1) {
        let stored = &surface.tree.triangles[triangle[lane].to_bits() as usize];
        let [a, b, c] = [stored.a, stored.b, stored.c].map(Vec3::from);
        let along = Vec3::new(direction[0][lane], direction[1][lane], direction[2][lane]);
        if (b - a).cross(c - a).dot(along) > 0.0 {
            at[lane] = first[lane];
        } else if at[lane] >= nearest[lane] {
            met &= !(1 << lane);
        }
    }
    (L::of(at), met)
}

/// Rays with the same longest axis, which becomes their third.
struct Rays<L> {
    /// Permutation of the tree's axes.
    axes: [usize; 3],
    /// Origins at the entry into the bounds.
    at: [L; 3],
    inverse: [L; 3],
    /// Slopes along the third axis, and the reciprocal of the direction's third component.
    shear: [L; 3],
    /// Start and end of the rays.
    first: L,
    end: L,
    /// Whether the first ray goes backwards along each axis of the tree.
    backward: [bool; 3],
    alive: u32,
    met: u32,
    /// Index in the order of the leaves, as a word.
    triangle: L,
}

impl<L: F32x8> Rays<L> {
    #[inline(always)]
    fn walk(&mut self, (surface, effects): (&Surface<'_>, &[Effect]), any: bool, stack: &mut Vec<u32>) {
        let tree = surface.tree;
        stack.clear();
        stack.push(0);
        while let Some(mut index) = stack.pop() {
            loop {
                let node = &tree.nodes[index as usize];
                let lanes = self.enter(node) & self.alive;
                if lanes == 0 {
                    break;
                }
                if node.is_leaf() {
                    for k in node.triangles() {
                        self.try_triangle(
                            (surface, effects),
                            bytemuck::cast_ref(&tree.triangles[k]),
                            k as u32,
                            lanes,
                        );
                    }
                    if any {
                        self.alive &= !self.met;
                        if self.alive == 0 {
                            return;
                        }
                    }
                    break;
                }
                // The nearer child for the first ray is visited next.
                let far = u32::from(!self.backward[(node.count_and_axis >> 8) as usize % 3]);
                stack.push(node.first + far);
                index = node.first + 1 - far;
            }
        }
    }

    /// Rays that intersect a box.
    #[inline(always)]
    fn enter(&self, node: &TreeNode) -> u32 {
        let words: &[f32; 8] = bytemuck::cast_ref(node);
        let plane = |k: usize, side: usize| {
            L::splat(words[(side + self.axes[k]) & 7]).sub(self.at[k]).mul(self.inverse[k])
        };
        let (low, high) = (each_axis!(k: plane(k, 0)), each_axis!(k: plane(k, 4)));
        let enter = low[0].min(high[0]).max(low[1].min(high[1])).max(low[2].min(high[2])).max(self.first);
        let leave = low[0].max(high[0]).min(low[1].max(high[1])).min(low[2].max(high[2])).min(self.end);
        enter.at_most(leave)
    }

    /// `effects` of materials with holes, or none.
    #[inline(always)]
    fn try_triangle(
        &mut self,
        (surface, effects): (&Surface<'_>, &[Effect]),
        words: &[f32; 12],
        number: u32,
        lanes: u32,
    ) {
        let corner = |first: usize| {
            let p = each_axis!(k: L::splat(words[(first + self.axes[k]).min(11)]).sub(self.at[k]));
            [p[0].sub(self.shear[0].mul(p[2])), p[1].sub(self.shear[1].mul(p[2])), p[2]]
        };
        let (a, b, c) = (corner(0), corner(4), corner(8));
        let beside = |p: &[L; 3], q: &[L; 3]| p[0].mul(q[1]).sub(p[1].mul(q[0]));
        let (u, v, w) = (beside(&c, &b), beside(&a, &c), beside(&b, &a));
        let zero = L::splat(0.0);
        // Inside if the signs agree for all edges: not both a negative and a positive one.
        let (least, most) = (u.min(v).min(w), u.max(v).max(w));
        let lanes = lanes & !(least.less(zero) & zero.less(most));
        if lanes == 0 {
            return;
        }
        let height = u.mul(a[2]).add(v.mul(b[2])).add(w.mul(c[2])).mul(self.shear[2]);
        // Edge-on the sum is zero and t is NaN, which compares as not less.
        let whole = u.add(v).add(w);
        let t = height.div(whole);
        let mut met = lanes & self.first.at_most(t) & t.less(self.end);
        if !effects.is_empty() && met != 0 {
            let weights = [u.div(whole).array(), v.div(whole).array(), w.div(whole).array()];
            let is_open = |lane: &usize| is_hole(surface, effects, number, weights.map(|of| of[*lane]));
            let looked_at = met;
            let open = (0..LANES).filter(|lane| looked_at >> lane & 1 == 1).filter(is_open);
            met = open.fold(met, |met, lane| met & !(1 << lane));
        }
        if met == 0 {
            return;
        }
        let ending = L::mask(met);
        self.end = ending.select(t, self.end);
        self.triangle = ending.select(L::word(number), self.triangle);
        self.met |= met;
    }
}
