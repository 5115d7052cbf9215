//! Traces eight rays through one octree front to back, like `walk` in `shaders/render/trace.wgsl`.
//!
//! The rays descend together. For a node, each ray computes by three slabs the intervals of all eight octants at once;
//! an octant is visited once for all rays that pass through it, in an order that is front to back for every ray with
//! the same signs. Unpacking a leaf's plane, the most expensive step, is done once for all rays. Slabs of adjacent
//! octants share their planes to the bit, so no ray slips between two octants.

use glam::Vec3;

use super::{
    packet::{Hits, Kind, Target, Waiting, Waits, mirrored},
    scene::{Leaf, NO_LEAF, Planes, leaf_below},
    wide::{LANES, each_axis},
};
use crate::geometry::{set_bits, simd::F32x8};

/// Rays whose directions have the same signs, in a body's grid, mirrored.
#[derive(Clone, Copy)]
pub(super) struct Rays<L> {
    /// Directions, non-negative.
    pub step: [L; 3],
    pub inverse: [L; 3],
    pub origin: [L; 3],
    /// Where they enter the body's bounds, m; t is relative to it.
    pub start: L,
    /// Positions at the entry.
    at: [L; 3],
    /// Where they leave the bounds or end, relative to the start.
    pub end: L,
    /// Where they reach the bounds' near planes, m.
    faces: [L; 3],
    /// Mask of unfinished rays.
    pub alive: u32,
    /// The leaf that a ray passed through without a hit, if `has_passed`.
    passed: L,
    has_passed: u32,
    passed_cut: u32,
}

/// Position of octant i in its node along each axis.
pub(super) const UPPER: [[f32; LANES]; 3] = [
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
];

/// Octants of a node, mirrored, that rays pass through.
#[derive(Clone, Copy, Default)]
struct Passing {
    octants: u32,
    /// Byte i is the mask of rays that pass through octant i, and of those whose width it is smaller than.
    lanes: u64,
    blocks: u64,
}

/// Transposes an 8 x 8 matrix of bits (Warren, Hacker's Delight, sec. 7-3).
#[inline(always)]
fn transposed(bits: u64) -> u64 {
    let swapped = |bits: u64, by: u32, which: u64| {
        let apart = (bits ^ (bits >> by)) & which;
        bits ^ apart ^ (apart << by)
    };
    let bits = swapped(bits, 7, 0x00aa_00aa_00aa_00aa);
    let bits = swapped(bits, 14, 0x0000_cccc_0000_cccc);
    swapped(bits, 28, 0x0000_0000_f0f0_f0f0)
}

impl<L: F32x8> Rays<L> {
    #[inline(always)]
    pub fn nowhere() -> Self {
        let zero = L::splat(0.0);
        Self {
            step: [zero; 3],
            inverse: [zero; 3],
            origin: [zero; 3],
            start: zero,
            at: [zero; 3],
            end: zero,
            faces: [zero; 3],
            alive: 0,
            passed: zero,
            has_passed: 0,
            passed_cut: 0,
        }
    }

    /// Starts a traversal of `lanes` within bounds; returns the rays that intersect them.
    #[inline(always)]
    pub fn aim(&mut self, (low, high): (Vec3, Vec3), first: L, last: L, lanes: u32) -> u32 {
        let meets = |k: usize, at: f32| L::splat(at).sub(self.origin[k]).mul(self.inverse[k]);
        let faces = each_axis!(k: meets(k, low[k]));
        let backs = each_axis!(k: meets(k, high[k]));
        let start = faces[0].max(faces[1]).max(faces[2]).max(first);
        let at = each_axis!(k: self.origin[k].add(self.step[k].mul(start)));
        let end = backs[0].min(backs[1]).min(backs[2]).min(last).sub(start);
        (self.faces, self.start, self.at, self.end) = (faces, start, at, end);
        self.alive = L::splat(0.0).less(end) & lanes;
        (self.has_passed, self.passed_cut) = (0, 0);
        self.alive
    }

    /// Where the rays reach a plane of the grid, relative to the start.
    #[inline(always)]
    fn plane(&self, axis: usize, at: f32) -> L {
        L::splat(at).sub(self.at[axis]).mul(self.inverse[axis])
    }

    /// Visits one octant and those below it.
    #[inline(always)]
    pub fn enter(&mut self, target: &Target<'_>, of: &Waiting, hits: &mut Hits<L>, stack: &mut Waits) {
        let body = &target.scene.bodies[target.index as usize];
        let (enter, exit) = self.slab(of);
        let lanes = enter.less(exit) & self.alive;
        if lanes == 0 {
            return;
        }
        stack.clear();
        if of.kind == Kind::Inside {
            self.solid(target, of, lanes, hits);
            return;
        }
        let edge = L::splat(of.size as f32 * body.voxel);
        let blocks = edge.less(L::splat(target.cut_slope).mul(self.start.add(enter))) & lanes;
        for (lanes, kind) in [(blocks, Kind::Block), (lanes & !blocks, Kind::Node)] {
            if lanes != 0 {
                stack.push(Waiting { lanes, kind, ..*of });
            }
        }
        self.walk(target, hits, stack);
    }

    /// Visits all octants on the stack.
    #[inline(always)]
    pub fn walk(&mut self, target: &Target<'_>, hits: &mut Hits<L>, stack: &mut Waits) {
        while let Some(mut waiting) = stack.pop() {
            waiting.lanes &= self.alive;
            if waiting.lanes == 0 {
                continue;
            }
            match waiting.kind {
                Kind::Node if waiting.size == 2 => self.leaves(target, &waiting, hits),
                Kind::Node => self.octants(target, &waiting, stack),
                _ => self.solid(target, &waiting, waiting.lanes, hits),
            }
            if self.alive == 0 {
                return;
            }
        }
    }

    /// Where the rays enter and leave an octant.
    #[inline(always)]
    fn slab(&self, of: &Waiting) -> (L, L) {
        let low = each_axis!(k: self.plane(k, of.p[k] as f32));
        let high = each_axis!(k: self.plane(k, (of.p[k] + of.size) as f32));
        let enter = low[0].max(low[1]).max(low[2]).max(L::splat(0.0));
        (enter, high[0].min(high[1]).min(high[2]).min(self.end))
    }

    /// Where the rays reach the three planes of a node along each axis.
    #[inline(always)]
    fn grid(&self, node: &Waiting) -> [[L; 3]; 3] {
        let half = node.size / 2;
        each_axis!(k: each_axis!(i: self.plane(k, (node.p[k] + i as u32 * half) as f32)))
    }

    /// Ends rays at a solid octant.
    #[inline(always)]
    fn solid(&mut self, target: &Target<'_>, of: &Waiting, lanes: u32, hits: &mut Hits<L>) {
        let (enter, _) = self.slab(of);
        if !target.looks {
            self.stop(target, lanes, enter, (enter, 0), hits);
            return;
        }
        let tree = &target.scene.trees[target.index as usize];
        let level = target.scene.bodies[target.index as usize].level;
        let below = of.size.trailing_zeros();
        let (leaf, cut) = match of.kind {
            Kind::Block => (L::word(leaf_below(tree, of.node, below, target.mirror)), 0),
            _ => {
                let passed = L::mask(self.has_passed);
                (passed.select(self.passed, L::word(NO_LEAF)), self.passed_cut & self.has_passed)
            }
        };
        self.stop(target, lanes, enter, (leaf, cut), hits);
        hits.blocks |= lanes;
        for lane in set_bits(lanes) {
            let lane = lane as usize;
            (hits.levels[lane], hits.axes[lane]) = (level - below, self.axis(of.p, lane));
        }
    }

    /// Ends rays at distance `at` from their starts, at a leaf or its second plane.
    #[inline(always)]
    fn stop(&mut self, target: &Target<'_>, lanes: u32, at: L, (leaf, cut): (L, u32), hits: &mut Hits<L>) {
        let ending = L::mask(lanes);
        hits.distance = ending.select(self.start.add(at), hits.distance);
        hits.body = ending.select(L::word(target.index), hits.body);
        hits.leaf = ending.select(leaf, hits.leaf);
        hits.cut = hits.cut & !lanes | cut & lanes;
        hits.blocks &= !lanes;
        hits.met |= lanes;
        self.alive &= !lanes;
    }

    /// Pushes the octants of a node that rays pass through, the nearest on top.
    #[inline(always)]
    fn octants(&self, target: &Target<'_>, node: &Waiting, stack: &mut Waits) {
        let body = &target.scene.bodies[target.index as usize];
        let tree = &target.scene.trees[target.index as usize];
        let stored = tree.nodes[node.node as usize];
        let half = node.size / 2;
        let (valid, internal) = (u32::from(stored.valid()), u32::from(stored.internal()));
        let there = mirrored(valid | internal, target.mirror);
        let edge = L::splat(half as f32 * body.voxel);
        let slope = L::splat(target.cut_slope);
        let passing = self.passing(node, there, (edge, slope));
        let mut any = passing.octants;
        while any != 0 {
            let octant = 31 - any.leading_zeros();
            any &= !(1 << octant);
            let p = each_axis!(k: node.p[k] + (octant >> k & 1) * half);
            let of = octant ^ target.mirror;
            let lanes = (passing.lanes >> (8 * octant)) as u32 & 0xff;
            if internal >> of & 1 == 1 {
                stack.push(Waiting { node: 0, p, size: half, lanes, kind: Kind::Inside });
                continue;
            }
            let child = stored.child(of);
            let blocks = (passing.blocks >> (8 * octant)) as u32 & lanes;
            if blocks != 0 {
                stack.push(Waiting { node: child, p, size: half, lanes: blocks, kind: Kind::Block });
            }
            if lanes != blocks {
                stack.push(Waiting { node: child, p, size: half, lanes: lanes & !blocks, kind: Kind::Node });
            }
        }
    }

    /// Which existing octants the rays pass through. Most nodes are reached by one to three of eight rays, so each ray
    /// tests all octants at once: the octants are lanes.
    #[inline(always)]
    fn passing(&self, node: &Waiting, there: u32, (edge, slope): (L, L)) -> Passing {
        let half = L::splat((node.size / 2) as f32);
        let low = each_axis!(k: L::splat(node.p[k] as f32).add(L::of(UPPER[k]).mul(half)));
        let high = each_axis!(k: low[k].add(half));
        let (at, inverse) = (each_axis!(k: self.at[k].array()), each_axis!(k: self.inverse[k].array()));
        let (start, end) = (self.start.array(), self.end.array());
        let mut passing = Passing::default();
        for lane in set_bits(node.lanes) {
            let lane = lane as usize & (LANES - 1);
            let plane = |k: usize, plane: L| plane.sub(L::splat(at[k][lane])).mul(L::splat(inverse[k][lane]));
            let enter = plane(0, low[0]).max(plane(1, low[1])).max(plane(2, low[2])).max(L::splat(0.0));
            let exit =
                plane(0, high[0]).min(plane(1, high[1])).min(plane(2, high[2])).min(L::splat(end[lane]));
            let octants = enter.less(exit) & there;
            let blocks = edge.less(slope.mul(L::splat(start[lane]).add(enter))) & octants;
            passing.octants |= octants;
            passing.lanes |= u64::from(octants) << (8 * lane);
            passing.blocks |= u64::from(blocks) << (8 * lane);
        }
        (passing.lanes, passing.blocks) = (transposed(passing.lanes), transposed(passing.blocks));
        passing
    }

    /// Tests the leaves of a node of the last level.
    #[inline(always)]
    fn leaves(&mut self, target: &Target<'_>, node: &Waiting, hits: &mut Hits<L>) {
        let tree = &target.scene.trees[target.index as usize];
        let stored = tree.nodes[node.node as usize];
        let [x, y, z] = self.grid(node);
        let (valid, internal) = (u32::from(stored.valid()), u32::from(stored.internal()));
        let mut there = mirrored(valid | internal, target.mirror);
        let mut open = node.lanes;
        let planes = Planes::of(tree, stored.child_base, target.mirror);
        while there != 0 && open != 0 {
            let octant = there.trailing_zeros();
            there &= there - 1;
            let high = each_axis!(k: (octant >> k & 1) as usize);
            let enter = x[high[0]].max(y[high[1]]).max(z[high[2]]).max(L::splat(0.0));
            let leave = x[high[0] + 1].min(y[high[1] + 1]).min(z[high[2] + 1]);
            let lanes = enter.less(leave.min(self.end)) & open;
            if lanes == 0 {
                continue;
            }
            let p = each_axis!(k: node.p[k] + high[k] as u32);
            let of = octant ^ target.mirror;
            if internal >> of & 1 == 1 {
                let of = Waiting { node: 0, p, size: 1, lanes, kind: Kind::Inside };
                self.solid(target, &of, lanes, hits);
                open &= !lanes;
                continue;
            }
            let child = stored.child(of);
            let normal = planes.normal(child - stored.child_base);
            let leaf = Leaf { tree, child, mirror: target.mirror, normal, p, enter, leave };
            let met = leaf.meet(&self.at, &self.step);
            // A ray that ends before the hit is finished, too.
            let done = met.at.at_most(met.leave) & lanes;
            open &= !done;
            let near = done & met.at.less(self.end);
            self.stop(target, near, met.at, (L::word(child), met.cut), hits);
            self.alive &= !done;
            let passing = lanes & !done;
            self.passed = L::mask(passing).select(L::word(child), self.passed);
            self.has_passed |= passing;
            self.passed_cut = self.passed_cut & !passing | met.cut & passing;
        }
    }

    /// Axis of the face through which a ray entered an octant.
    #[inline(always)]
    fn axis(&self, p: [u32; 3], lane: usize) -> u32 {
        let low = each_axis!(k: (p[k] as f32 - self.at[k].array()[lane]) * self.inverse[k].array()[lane]);
        let [x, y, z] = if low[0].max(low[1]).max(low[2]) > 0.0 {
            low
        } else {
            each_axis!(k: self.faces[k].array()[lane])
        };
        if x >= y && x >= z {
            0
        } else if y >= z {
            1
        } else {
            2
        }
    }
}

const _: () = assert!(LANES == 8, "a node's octants are lanes");

#[cfg(test)]
mod tests {
    use super::transposed;

    #[test]
    fn rows_of_bits_become_columns() {
        let bit = |of: u64, row: u32, column: u32| of >> (8 * row + column) & 1;
        let mut bits = 0x0123_4567_89ab_cdef_u64;
        for _ in 0..100 {
            bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
            let turned = transposed(bits);
            let wrong = (0..64u32).filter(|i| bit(turned, i / 8, i % 8) != bit(bits, i % 8, i / 8)).count();
            assert_eq!((wrong, transposed(turned)), (0, bits), "{bits:x} {turned:x}");
        }
    }
}
