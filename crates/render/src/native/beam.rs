//! Descends an octree with all packets of a tile at once, while octants are larger than the tile.
//!
//! A tile's rays are bounded by intervals: their origins and directions lie in boxes, so the times at which they enter
//! and leave an octant lie in an interval. The eight octants of a node are eight lanes, so a node costs a tile as much
//! as a single ray. A small margin covers rounding. Small octants are passed to the packets, front to back.

use super::{
    packet::{Kind, Packet, Stack, Target, Waiting, mirrored},
    rays::{Rays, UPPER},
    wide::each_axis,
};
use crate::geometry::simd::F32x8;

/// Relative rounding margin between a tile's intervals and its rays.
const SLACK: f32 = 1e-5;

/// Intervals of a tile's rays in a body's grid, mirrored.
struct Beam<L> {
    /// Minimum and maximum, on all lanes.
    origin: [[L; 2]; 3],
    inverse: [[L; 2]; 3],
    start: L,
    end: L,
}

impl<L: F32x8> Beam<L> {
    #[inline(always)]
    fn round<const N: usize>(group: &[Rays<L>; N]) -> Self {
        let (most, least) = (L::splat(f32::INFINITY), L::splat(f32::NEG_INFINITY));
        let mut origin = [[most, least]; 3];
        let mut inverse = [[most, least]; 3];
        let (mut start, mut end) = (most, least);
        for rays in group {
            if rays.alive == 0 {
                continue;
            }
            for k in 0..3 {
                let (o, i) = (rays.origin[k], rays.inverse[k]);
                origin[k] = [origin[k][0].min(o), origin[k][1].max(o)];
                inverse[k] = [inverse[k][0].min(i), inverse[k][1].max(i)];
            }
            start = start.min(rays.start);
            end = end.max(rays.start.add(rays.end));
        }
        let ends = |[low, high]: [L; 2]| [L::splat(low.least()), L::splat(high.greatest())];
        Self {
            origin: [ends(origin[0]), ends(origin[1]), ends(origin[2])],
            inverse: [ends(inverse[0]), ends(inverse[1]), ends(inverse[2])],
            start: L::splat(start.least()),
            end: L::splat(end.greatest()),
        }
    }

    /// When the first ray reaches a plane at the earliest.
    #[inline(always)]
    fn soonest(&self, axis: usize, plane: L) -> L {
        let away = plane.sub(self.origin[axis][1]);
        away.mul(self.inverse[axis][0]).min(away.mul(self.inverse[axis][1]))
    }

    /// When the last ray reaches a plane at the latest.
    #[inline(always)]
    fn latest(&self, axis: usize, plane: L) -> L {
        let away = plane.sub(self.origin[axis][0]);
        away.mul(self.inverse[axis][0]).max(away.mul(self.inverse[axis][1]))
    }
}

/// Traverses the body with all packets of a group.
#[inline(always)]
pub(super) fn descend<L: F32x8, const N: usize>(
    target: &Target<'_>,
    group: &mut [Rays<L>; N],
    packets: &mut [Packet<L>; N],
    fine: u32,
    stack: &mut Stack,
) {
    let body = &target.scene.bodies[target.index as usize];
    let tree = &target.scene.trees[target.index as usize];
    let side = 1u32 << body.level;
    let root = Waiting { node: body.root, p: [0; 3], size: side, lanes: 0, kind: Kind::Node };
    if N == 1 || fine >= side {
        for (rays, packet) in group.iter_mut().zip(packets.iter_mut()).filter(|(rays, _)| rays.alive != 0) {
            stack.rays.clear();
            stack.rays.push(Waiting { lanes: rays.alive, ..root });
            rays.walk(target, &mut packet.hits, &mut stack.rays);
        }
        return;
    }
    let beam = Beam::round(group);
    let upper = each_axis!(k: L::of(UPPER[k]));
    let slope = L::splat(target.cut_slope);
    let slack = L::splat(SLACK * side as f32 * body.voxel);
    stack.beam.clear();
    stack.beam.push(root);
    while let Some(node) = stack.beam.pop() {
        // `lanes` is set if the packets must be tested individually.
        if node.lanes != 0 {
            let mut alive = 0;
            for (rays, packet) in group.iter_mut().zip(packets.iter_mut()) {
                if rays.alive != 0 {
                    rays.enter(target, &node, &mut packet.hits, &mut stack.rays);
                    alive |= rays.alive;
                }
            }
            if alive == 0 {
                return;
            }
            continue;
        }
        let stored = tree.nodes[node.node as usize];
        let half = node.size / 2;
        let edge = L::splat(half as f32);
        let low = each_axis!(k: L::splat(node.p[k] as f32).add(upper[k].mul(edge)));
        let soonest = each_axis!(k: beam.soonest(k, low[k]));
        let latest = each_axis!(k: beam.latest(k, low[k].add(edge)));
        let enter = soonest[0].max(soonest[1]).max(soonest[2]).max(beam.start);
        let exit = latest[0].min(latest[1]).min(latest[2]).min(beam.end);
        let (valid, internal) = (u32::from(stored.valid()), u32::from(stored.internal()));
        let mut there = mirrored(valid | internal, target.mirror)
            & enter.less(exit.mul(L::splat(1.0 + SLACK)).add(slack));
        let small =
            L::splat(half as f32 * body.voxel).less(slope.mul(exit)) | if half <= fine { 0xff } else { 0 };
        while there != 0 {
            let octant = 31 - there.leading_zeros();
            there &= !(1 << octant);
            let p = each_axis!(k: node.p[k] + (octant >> k & 1) * half);
            let of = octant ^ target.mirror;
            let is_inside = internal >> of & 1 == 1;
            let (child, kind) = if is_inside { (0, Kind::Inside) } else { (stored.child(of), Kind::Node) };
            let lanes = if is_inside || small >> octant & 1 == 1 { 0xff } else { 0 };
            stack.beam.push(Waiting { node: child, p, size: half, lanes, kind });
        }
    }
}
