//! Eight rays through one octree, front to back: the native twin of `walk` in `shaders/render/trace.wgsl`.
//!
//! The rays share the descent. Of a node's octants each ray knows by three slabs where it enters and leaves them; an
//! octant is looked at once for all rays that pass through it, in an order that is front to back for every ray whose
//! direction has the same signs. What costs most, unpacking a leaf's plane, is done once for all of them. Slabs of
//! neighbours share their planes to the bit, so nothing slips through between two octants.

use glam::{BVec3, Vec3};

use super::{
    lanes::{LANES, Lanes, each_axis},
    leaf::{Hit, Leaf, leaf_below},
    scene::{NO_LEAF, Scene, Tree},
};
use crate::svo::unpack_normal;

/// Eight rays with what they have met so far.
pub(super) struct Packet<L> {
    /// World.
    pub origin: [L; 3],
    /// Unit.
    pub direction: [L; 3],
    /// Octants whose edge is less than this times the distance are solid blocks.
    pub cut_slope: f32,
    /// Where the rays begin, m.
    pub first: L,
    /// Where they end, m, until they meet something nearer.
    pub hits: [Hit; LANES],
    /// Rays that still look for something.
    pub open: u32,
}

/// An octant that waits for its turn.
#[derive(Clone, Copy, Default)]
pub(super) struct Waiting {
    node: u32,
    /// Low corner, mirrored.
    p: [u32; 3],
    /// Edge.
    size: u32,
    /// Rays that pass through it.
    lanes: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    Node,
    /// Smaller than the rays' width.
    Block,
    /// Wholly solid.
    Inside,
}

/// Octants that wait: at most seven a level besides the one in hand, and as many blocks.
pub(super) type Stack = Vec<Waiting>;

/// Indices of set bits, lowest first.
#[inline(always)]
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let i = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (i < 32).then_some(i as usize)
    })
}

/// A set of octants with each octant's number xored with `mirror`.
#[inline(always)]
fn mirrored(octants: u32, mirror: u32) -> u32 {
    let mut m = octants & 0xff;
    if mirror & 1 != 0 {
        m = (m & 0x55) << 1 | (m >> 1) & 0x55;
    }
    if mirror & 2 != 0 {
        m = (m & 0x33) << 2 | (m >> 2) & 0x33;
    }
    if mirror & 4 != 0 {
        m = (m & 0x0f) << 4 | m >> 4;
    }
    m
}

/// Row of an affine map without its last number, of directions.
#[inline(always)]
fn through<L: Lanes>(v: [L; 3], row: [f32; 4]) -> L {
    along(v, [row[0], row[1], row[2]])
}

/// Dot product with one vector.
#[inline(always)]
fn along<L: Lanes>(v: [L; 3], n: [f32; 3]) -> L {
    v[0].mul(L::splat(n[0])).add(v[1].mul(L::splat(n[1]))).add(v[2].mul(L::splat(n[2])))
}

impl<L: Lanes> Packet<L> {
    /// Walks one body's octree; hits nearer than those so far replace them.
    #[inline(always)]
    pub fn walk(&mut self, scene: &Scene<'_>, index: u32, stack: &mut Stack) {
        let rows = &scene.bodies[index as usize].grid_from_world;
        let origin = each_axis!(k: through(self.origin, rows[k]).add(L::splat(rows[k][3])));
        let direction = each_axis!(k: through(self.direction, rows[k]));
        let signs = each_axis!(k: direction[k].signs());
        let step = each_axis!(k: direction[k].abs());
        let longest = step[0].max(step[1]).max(step[2]).max(L::splat(1e-20));
        let least = longest.mul(L::splat(1e-7));
        let inverse = each_axis!(k: L::splat(1.0).div(step[k].max(least)));
        let mut waiting = self.open;
        while waiting != 0 {
            let first = waiting.trailing_zeros();
            let mirror = (0..3).fold(0, |mirror, k| mirror | (signs[k] >> first & 1) << k);
            let alike = |k: usize| if mirror >> k & 1 == 1 { signs[k] } else { !signs[k] };
            let lanes = waiting & alike(0) & alike(1) & alike(2);
            waiting &= !lanes;
            let (cut_slope, first) = (self.cut_slope, self.first);
            let rays = Rays { scene, index, mirror, step, inverse, origin, cut_slope, first };
            rays.walk(lanes, &mut self.hits, stack);
        }
    }
}

/// Rays whose directions have the same signs, in the grid of a body.
struct Rays<'a, L> {
    scene: &'a Scene<'a>,
    index: u32,
    mirror: u32,
    /// Mirrored: nowhere negative.
    step: [L; 3],
    inverse: [L; 3],
    /// Not mirrored.
    origin: [L; 3],
    cut_slope: f32,
    first: L,
}

/// What holds for all rays while they walk.
struct Entry<L> {
    /// Where they enter the body's bounds, m; from there t counts.
    start: L,
    /// There, mirrored.
    at: [L; 3],
    /// Where the walk ends.
    end: L,
    /// Where each ray enters the bounds, along each axis.
    faces: [[f32; LANES]; 3],
}

impl<L: Lanes> Rays<'_, L> {
    #[inline(always)]
    fn walk(&self, lanes: u32, hits: &mut [Hit; LANES], stack: &mut Stack) {
        let body = &self.scene.bodies[self.index as usize];
        let tree = &self.scene.trees[self.index as usize];
        let side = (1u32 << body.level) as f32;
        let backward = BVec3::new(self.mirror & 1 != 0, self.mirror & 2 != 0, self.mirror & 4 != 0);
        let far = L::splat(side);
        let origin: [L; 3] =
            each_axis!(k: if self.mirror >> k & 1 == 1 { far.sub(self.origin[k]) } else { self.origin[k] });
        let low = Vec3::select(backward, side - body.high, body.low);
        let high = Vec3::select(backward, side - body.low, body.high);
        let faces: [L; 3] = each_axis!(k: L::splat(low[k]).sub(origin[k]).mul(self.inverse[k]));
        let backs: [L; 3] = each_axis!(k: L::splat(high[k]).sub(origin[k]).mul(self.inverse[k]));
        let start = faces[0].max(faces[1]).max(faces[2]).max(self.first);
        let best = L::of(hits.map(|hit| hit.distance));
        let end = backs[0].min(backs[1]).min(backs[2]).min(best).sub(start);
        let mut alive = L::splat(0.0).less(end) & lanes;
        if alive == 0 {
            return;
        }
        let at = each_axis!(k: origin[k].add(self.step[k].mul(start)));
        let entry = Entry { start, at, end, faces: each_axis!(k: faces[k].array()) };
        let mut passed = [(NO_LEAF, false); LANES];
        stack.clear();
        let root = Waiting { node: body.root, p: [0; 3], size: side as u32, lanes: alive, kind: Kind::Node };
        stack.push(root);
        while let Some(mut waiting) = stack.pop() {
            waiting.lanes &= alive;
            if waiting.lanes == 0 {
                continue;
            }
            match waiting.kind {
                Kind::Node if waiting.size == 2 => {
                    alive &= !self.leaves(&waiting, &entry, alive, &mut passed, hits);
                    if alive == 0 {
                        return;
                    }
                }
                Kind::Node => self.octants(&waiting, &entry, stack),
                kind => {
                    let level = body.level - waiting.size.trailing_zeros();
                    let (enter, _) = self.slab(&waiting, &entry);
                    let distance = enter.add(entry.start).array();
                    let below = match kind {
                        Kind::Block => leaf_below(tree, waiting.node, body.level - level, self.mirror),
                        _ => NO_LEAF,
                    };
                    for lane in bits(waiting.lanes) {
                        let (leaf, cut) = if kind == Kind::Block { (below, false) } else { passed[lane] };
                        let axis = self.axis(&entry, waiting.p, lane);
                        hits[lane] =
                            Hit { distance: distance[lane], body: self.index, leaf, level, axis, cut };
                    }
                    alive &= !waiting.lanes;
                    if alive == 0 {
                        return;
                    }
                }
            }
        }
    }

    /// Where the rays meet the planes of a grid.
    #[inline(always)]
    fn planes(&self, entry: &Entry<L>, axis: usize, at: u32) -> L {
        L::splat(at as f32).sub(entry.at[axis]).mul(self.inverse[axis])
    }

    /// Where the rays enter and leave an octant.
    #[inline(always)]
    fn slab(&self, of: &Waiting, entry: &Entry<L>) -> (L, L) {
        let low = each_axis!(k: self.planes(entry, k, of.p[k]));
        let high = each_axis!(k: self.planes(entry, k, of.p[k] + of.size));
        let enter = low[0].max(low[1]).max(low[2]).max(L::splat(0.0));
        (enter, high[0].min(high[1]).min(high[2]).min(entry.end))
    }

    /// The three planes a node has along each axis.
    #[inline(always)]
    fn grid(&self, node: &Waiting, entry: &Entry<L>) -> [[L; 3]; 3] {
        let half = node.size / 2;
        each_axis!(k: each_axis!(i: self.planes(entry, k, node.p[k] + i as u32 * half)))
    }

    /// Puts the octants of a node that rays pass through on the stack, the nearest on top.
    #[inline(always)]
    fn octants(&self, node: &Waiting, entry: &Entry<L>, stack: &mut Stack) {
        let body = &self.scene.bodies[self.index as usize];
        let tree = &self.scene.trees[self.index as usize];
        let stored = tree.nodes[node.node as usize];
        let half = node.size / 2;
        let [x, y, z] = self.grid(node, entry);
        let (valid, internal) = (u32::from(stored.valid()), u32::from(stored.internal()));
        let mut there = mirrored(valid | internal, self.mirror);
        let edge = L::splat(half as f32 * body.voxel);
        let slope = L::splat(self.cut_slope);
        while there != 0 {
            let octant = 31 - there.leading_zeros();
            there &= !(1 << octant);
            let high = each_axis!(k: (octant >> k & 1) as usize);
            let enter = x[high[0]].max(y[high[1]]).max(z[high[2]]).max(L::splat(0.0));
            let exit = x[high[0] + 1].min(y[high[1] + 1]).min(z[high[2] + 1]).min(entry.end);
            let mut lanes = enter.less(exit) & node.lanes;
            if lanes == 0 {
                continue;
            }
            let p = each_axis!(k: node.p[k] + high[k] as u32 * half);
            let of = octant ^ self.mirror;
            if internal >> of & 1 == 1 {
                stack.push(Waiting { node: 0, p, size: half, lanes, kind: Kind::Inside });
                continue;
            }
            let child = stored.child(of);
            let blocks = edge.less(slope.mul(entry.start.add(enter))) & lanes;
            if blocks != 0 {
                stack.push(Waiting { node: child, p, size: half, lanes: blocks, kind: Kind::Block });
                lanes &= !blocks;
            }
            if lanes != 0 {
                stack.push(Waiting { node: child, p, size: half, lanes, kind: Kind::Node });
            }
        }
    }

    /// Tries the leaves of a node of the last level; the rays that are done.
    #[inline(always)]
    fn leaves(
        &self,
        node: &Waiting,
        entry: &Entry<L>,
        alive: u32,
        passed: &mut [(u32, bool); LANES],
        hits: &mut [Hit; LANES],
    ) -> u32 {
        let tree = &self.scene.trees[self.index as usize];
        let stored = tree.nodes[node.node as usize];
        let [x, y, z] = self.grid(node, entry);
        let (valid, internal) = (u32::from(stored.valid()), u32::from(stored.internal()));
        let mut there = mirrored(valid | internal, self.mirror);
        let mut open = node.lanes & alive;
        while there != 0 && open != 0 {
            let octant = there.trailing_zeros();
            there &= there - 1;
            let high = each_axis!(k: (octant >> k & 1) as usize);
            let enter = x[high[0]].max(y[high[1]]).max(z[high[2]]).max(L::splat(0.0));
            let leave = x[high[0] + 1].min(y[high[1] + 1]).min(z[high[2] + 1]);
            let lanes = enter.less(leave.min(entry.end)) & open;
            if lanes == 0 {
                continue;
            }
            let p = each_axis!(k: node.p[k] + high[k] as u32);
            let of = octant ^ self.mirror;
            if internal >> of & 1 == 1 {
                let distance = enter.add(entry.start).array();
                let level = self.scene.bodies[self.index as usize].level;
                for lane in bits(lanes) {
                    let (leaf, cut) = passed[lane];
                    let axis = self.axis(entry, p, lane);
                    hits[lane] = Hit { distance: distance[lane], body: self.index, leaf, level, axis, cut };
                }
                open &= !lanes;
                continue;
            }
            open &= !self.leaf(tree, (stored.child(of), p), (enter, leave), entry, lanes, passed, hits);
        }
        node.lanes & alive & !open
    }

    /// Tries one leaf; the rays that are done.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "it is a part of `leaves`, which has them at hand")]
    fn leaf(
        &self,
        tree: &Tree<'_>,
        (child, p): (u32, [u32; 3]),
        (enter, leave): (L, L),
        entry: &Entry<L>,
        lanes: u32,
        passed: &mut [(u32, bool); LANES],
        hits: &mut [Hit; LANES],
    ) -> u32 {
        let backward = BVec3::new(self.mirror & 1 != 0, self.mirror & 2 != 0, self.mirror & 4 != 0);
        let plane = unpack_normal(tree.normals[child as usize]);
        let n = Vec3::select(backward, -plane, plane);
        let offset = tree.colors[child as usize].offset();
        let has_cut = tree.cuts[child as usize] >> 24 != 0;
        let from_centre =
            each_axis!(k: entry.at[k].add(self.step[k].mul(enter)).sub(L::splat(p[k] as f32 + 0.5)));
        let n = n.to_array();
        let height = along(from_centre, n).sub(L::splat(offset));
        let slope = along(self.step, n);
        let down = enter.sub(height.div(slope));
        let above = L::splat(0.0).less(height);
        let towards = slope.less(L::splat(0.0));
        let (enter, leave, down) = (enter.array(), leave.array(), down.array());
        let (start, end) = (entry.start.array(), entry.end.array());
        let level = self.scene.bodies[self.index as usize].level;
        let mut done = 0;
        for lane in bits(lanes) {
            let (mut t_hit, mut t_leave, mut cut) = (enter[lane], leave[lane], false);
            if above >> lane & 1 == 1 {
                t_hit = if towards >> lane & 1 == 1 { down[lane] } else { 1e30 };
            }
            if has_cut {
                let vector = |of: &[L; 3]| Vec3::from(of.map(|axis| axis.array()[lane]));
                let leaf = Leaf {
                    tree,
                    child,
                    backward,
                    start_point: vector(&entry.at),
                    step: vector(&self.step),
                    p,
                    t: enter[lane],
                    t_exit: leave[lane],
                };
                (t_hit, t_leave, cut) = leaf.meet();
            }
            if t_hit <= t_leave {
                done |= 1 << lane;
                if t_hit < end[lane] {
                    let axis = self.axis(entry, p, lane);
                    let distance = start[lane] + t_hit;
                    hits[lane] = Hit { distance, body: self.index, leaf: child, level, axis, cut };
                }
            } else {
                passed[lane] = (child, cut);
            }
        }
        done
    }

    /// Axis of the face through which a ray came into an octant.
    #[inline(always)]
    fn axis(&self, entry: &Entry<L>, p: [u32; 3], lane: usize) -> u32 {
        let at = |k: usize| (p[k] as f32 - entry.at[k].array()[lane]) * self.inverse[k].array()[lane];
        let low = [at(0), at(1), at(2)];
        let of = |x: f32, y: f32, z: f32| {
            if x >= y && x >= z {
                0
            } else if y >= z {
                1
            } else {
                2
            }
        };
        if low[0].max(low[1]).max(low[2]) > 0.0 {
            return of(low[0], low[1], low[2]);
        }
        let [x, y, z] = each_axis!(k: entry.faces[k][lane]);
        of(x, y, z)
    }
}
