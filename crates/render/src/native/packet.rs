//! Packets of eight rays with their hits so far, and the common traversal of a body by a tile's packets.

use glam::{BVec3, Vec3};

use super::{
    beam, mesh,
    rays::Rays,
    scene::{BODY_SKY, Hit, Scene},
    wide::{LANES, along, each_axis},
};
use crate::geometry::simd::F32x8;
use crate::svo::MAX_LEVEL;

/// Eight rays with their hits so far.
#[derive(Clone, Copy)]
pub(super) struct Packet<L> {
    /// Origins, world space.
    pub origin: [L; 3],
    /// Unit directions.
    pub direction: [L; 3],
    /// Octants whose edge is less than this times the distance are treated as solid blocks.
    pub cut_slope: f32,
    /// Start of the rays, m.
    pub first: L,
    /// Mask of rays still searching.
    pub open: u32,
    /// Whether any hit suffices.
    pub any: bool,
    /// Whether the appearance of hits is needed, and not only their distance.
    pub looks: bool,
    pub hits: Hits<L>,
}

/// Hits of eight rays, lane by lane.
#[derive(Clone, Copy)]
pub(super) struct Hits<L> {
    /// End of the rays, m, or the distance of the nearest hit.
    pub distance: L,
    /// Mask of rays with a hit.
    pub met: u32,
    /// Body and leaf as words; for a surface the triangle in the order of its leaves.
    pub body: L,
    pub leaf: L,
    /// Mask of rays that hit a leaf's second plane.
    pub cut: u32,
    /// Mask of rays that hit a solid octant; the octants' levels, and the axes of the faces entered.
    pub blocks: u32,
    pub levels: [u32; LANES],
    pub axes: [u32; LANES],
}

impl<L: F32x8> Hits<L> {
    /// No hits up to `last`.
    #[inline(always)]
    pub fn none(last: L) -> Self {
        let nothing = L::word(BODY_SKY);
        Self {
            distance: last,
            met: 0,
            body: nothing,
            leaf: nothing,
            cut: 0,
            blocks: 0,
            levels: [0; LANES],
            axes: [0; LANES],
        }
    }

    /// The hits ray by ray.
    #[inline(always)]
    pub fn each(&self, scene: &Scene<'_>) -> [Hit; LANES] {
        let mut hits = [Hit::none(0.0); LANES];
        let (distance, body, leaf) = (self.distance.array(), self.body.array(), self.leaf.array());
        for (i, hit) in hits.iter_mut().enumerate() {
            *hit = Hit::none(distance[i]);
            if self.met >> i & 1 == 0 {
                continue;
            }
            hit.body = body[i].to_bits();
            hit.leaf = leaf[i].to_bits();
            hit.cut = self.cut >> i & 1 == 1;
            (hit.level, hit.axis) = if self.blocks >> i & 1 == 1 {
                (self.levels[i], self.axes[i])
            } else {
                (scene.bodies[hit.body as usize].level, 0)
            };
        }
        hits
    }
}

/// An octant to be visited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waiting {
    pub node: u32,
    /// Low corner, mirrored.
    pub p: [u32; 3],
    /// Edge length.
    pub size: u32,
    /// Mask of rays that pass through it.
    pub lanes: u32,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Kind {
    #[default]
    Node,
    /// Smaller than the rays' width.
    Block,
    /// Entirely solid.
    Inside,
}

/// Stack of octants to be visited. Each is two whole words: an entry is often popped right after being pushed, and a
/// processor forwards a store to a load only if the load lies within it.
pub(super) struct Waits {
    count: usize,
    octants: Box<[[u64; 2]; MOST_WAITS]>,
}

/// A power of two.
const MOST_WAITS: usize = 256;
// A node is popped before its octants are pushed, each at most once as a block and once otherwise; two entries are
// there at the start.
const _: () = assert!(2 + 16 * MAX_LEVEL as usize <= MOST_WAITS, "there is room for all that waits");
const _: () = assert!(MAX_LEVEL < 16, "places and edges have 16 bits");

impl Default for Waits {
    fn default() -> Self {
        Self { count: 0, octants: Box::new([[0; 2]; MOST_WAITS]) }
    }
}

impl Waits {
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    #[inline(always)]
    pub fn push(&mut self, of: Waiting) {
        let [x, y, z] = of.p.map(u64::from);
        let place = x | y << 16 | z << 32 | u64::from(of.size) << 48;
        let what = u64::from(of.node) | u64::from(of.lanes) << 32 | (of.kind as u64) << 40;
        self.octants[self.count & (MOST_WAITS - 1)] = [place, what];
        self.count += 1;
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<Waiting> {
        self.count = self.count.checked_sub(1)?;
        let [place, what] = self.octants[self.count & (MOST_WAITS - 1)];
        let part = |from: u32| (place >> from) as u32 & 0xffff;
        let kind = match what >> 40 {
            0 => Kind::Node,
            1 => Kind::Block,
            _ => Kind::Inside,
        };
        let lanes = (what >> 32) as u32 & 0xff;
        Some(Waiting { node: what as u32, p: [part(0), part(16), part(32)], size: part(48), lanes, kind })
    }
}

/// Stacks of the traversals.
#[derive(Default)]
pub(super) struct Stack {
    /// For all packets together.
    pub beam: Waits,
    /// For one packet.
    pub rays: Waits,
    /// Nodes of a surface.
    pub mesh: Vec<u32>,
}

/// The set of octants after xoring each octant's number with `mirror`.
#[inline(always)]
pub(super) fn mirrored(octants: u32, mirror: u32) -> u32 {
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

/// Product of an affine map's row and a direction.
#[inline(always)]
fn through<L: F32x8>(v: [L; 3], row: [f32; 4]) -> L {
    along(v, [row[0], row[1], row[2]])
}

/// A body mirrored for rays of the same signs.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub scene: &'a Scene<'a>,
    pub index: u32,
    /// Bit k: axis k is reversed, so that no direction is negative.
    pub mirror: u32,
    pub cut_slope: f32,
    /// See [`Packet::looks`].
    pub looks: bool,
}

impl Target<'_> {
    /// Mirrored bounds of the body.
    #[inline(always)]
    fn bounds(&self) -> (Vec3, Vec3) {
        let body = &self.scene.bodies[self.index as usize];
        let side = (1u32 << body.level) as f32;
        let backward = BVec3::new(self.mirror & 1 != 0, self.mirror & 2 != 0, self.mirror & 4 != 0);
        let low = Vec3::select(backward, side - body.high, body.low);
        (low, Vec3::select(backward, side - body.low, body.high))
    }
}

/// Traverses one body's surface or octree with packets of roughly parallel rays; nearer hits replace earlier ones.
/// Octants with edges up to `fine` are visited packet by packet, larger ones for all packets together.
#[inline(always)]
pub(super) fn walk<L: F32x8, const N: usize>(
    packets: &mut [Packet<L>; N],
    scene: &Scene<'_>,
    index: u32,
    fine: u32,
    stack: &mut Stack,
) {
    if let Some(surface) = &scene.surfaces[index as usize] {
        mesh::walk(packets, scene, index, surface, &mut stack.mesh);
        return;
    }
    let body = &scene.bodies[index as usize];
    let rows = &body.grid_from_world;
    let side = L::splat((1u32 << body.level) as f32);
    let mut group = [Rays::<L>::nowhere(); N];
    let mut origins = [[L::splat(0.0); 3]; N];
    let mut signs = [[0u32; 3]; N];
    let mut waiting = [0u32; N];
    for (i, packet) in packets.iter().enumerate() {
        if packet.open == 0 {
            continue;
        }
        waiting[i] = packet.open;
        let direction = each_axis!(k: through(packet.direction, rows[k]));
        origins[i] = each_axis!(k: through(packet.origin, rows[k]).add(L::splat(rows[k][3])));
        signs[i] = each_axis!(k: direction[k].signs());
        let step = each_axis!(k: direction[k].abs());
        let longest = step[0].max(step[1]).max(step[2]).max(L::splat(1e-20));
        let least = longest.mul(L::splat(1e-7));
        group[i].step = step;
        group[i].inverse = each_axis!(k: L::splat(1.0).div(step[k].max(least)));
    }
    let Packet { cut_slope, looks, .. } = packets[0];
    for first in 0..N {
        while waiting[first] != 0 {
            let lane = waiting[first].trailing_zeros();
            let mirror = (0..3).fold(0, |mirror, k| mirror | (signs[first][k] >> lane & 1) << k);
            let target = Target { scene, index, mirror, cut_slope, looks };
            let (low, high) = target.bounds();
            let mut any = 0;
            for (i, rays) in group.iter_mut().enumerate() {
                let alike = |k: usize| if mirror >> k & 1 == 1 { signs[i][k] } else { !signs[i][k] };
                let lanes = waiting[i] & alike(0) & alike(1) & alike(2);
                waiting[i] &= !lanes;
                rays.alive = 0;
                if lanes == 0 {
                    continue;
                }
                let o = &origins[i];
                rays.origin = each_axis!(k: if mirror >> k & 1 == 1 { side.sub(o[k]) } else { o[k] });
                any |= rays.aim((low, high), packets[i].first, packets[i].hits.distance, lanes);
            }
            if any != 0 {
                beam::descend(&target, &mut group, packets, fine, stack);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Waiting, Waits};
    use crate::svo::MAX_LEVEL;

    #[test]
    fn what_waits_comes_back_as_it_was() {
        let side = 1 << MAX_LEVEL;
        let all = [
            Waiting { node: u32::MAX, p: [side, 0, side - 1], size: side, lanes: 0xff, kind: Kind::Inside },
            Waiting { node: 7, p: [1, 2, 3], size: 1, lanes: 0x81, kind: Kind::Block },
            Waiting::default(),
        ];
        let mut waits = Waits::default();
        all.iter().for_each(|of| waits.push(*of));
        let mut back: Vec<Waiting> = std::iter::from_fn(|| waits.pop()).collect();
        back.reverse();
        assert_eq!((back.as_slice(), waits.pop()), (&all[..], None));
        waits.push(all[1]);
        waits.clear();
        assert_eq!(waits.pop(), None);
    }
}
