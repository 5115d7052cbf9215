//! Eight rays with what they have met so far, and how packets of a tile go through one body together.

use glam::{BVec3, Vec3};

use super::{
    beam,
    lanes::{LANES, Lanes, each_axis},
    leaf::Hit,
    mesh,
    rays::Rays,
    scene::{BODY_SKY, Scene},
};

/// Eight rays with what they have met so far.
#[derive(Clone, Copy)]
pub(super) struct Packet<L> {
    /// World.
    pub origin: [L; 3],
    /// Unit.
    pub direction: [L; 3],
    /// Octants whose edge is less than this times the distance are solid blocks.
    pub cut_slope: f32,
    /// Where the rays begin, m.
    pub first: L,
    /// Rays that still look for something.
    pub open: u32,
    /// Whether anything that they meet will do.
    pub any: bool,
    pub hits: Hits<L>,
}

/// What eight rays met, lane by lane.
#[derive(Clone, Copy)]
pub(super) struct Hits<L> {
    /// Where the rays end, m, until they meet something nearer.
    pub distance: L,
    /// Rays that met something.
    pub met: u32,
    /// Body and leaf as words; of a surface, the triangle in the order of its leaves.
    pub body: L,
    pub leaf: L,
    /// Rays that met a leaf's second plane.
    pub cut: u32,
    /// Rays that met a solid octant; their levels, and the axes of the faces that they came in by.
    pub blocks: u32,
    pub levels: [u32; LANES],
    pub axes: [u32; LANES],
}

impl<L: Lanes> Hits<L> {
    /// Nothing as far as `last`.
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

    /// The same, ray by ray.
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

/// An octant that waits for its turn.
#[derive(Clone, Copy, Default)]
pub(super) struct Waiting {
    pub node: u32,
    /// Low corner, mirrored.
    pub p: [u32; 3],
    /// Edge.
    pub size: u32,
    /// Rays that pass through it.
    pub lanes: u32,
    pub kind: Kind,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Kind {
    #[default]
    Node,
    /// Smaller than the rays' width.
    Block,
    /// Wholly solid.
    Inside,
}

/// Octants that wait: at most seven a level besides the one in hand, and as many blocks.
#[derive(Default)]
pub(super) struct Stack {
    /// For all packets.
    pub beam: Vec<Waiting>,
    /// For one of them.
    pub rays: Vec<Waiting>,
    /// Nodes of a surface.
    pub mesh: Vec<u32>,
}

/// A set of octants with each octant's number xored with `mirror`.
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

/// Dot product with one vector.
#[inline(always)]
pub(super) fn along<L: Lanes>(v: [L; 3], n: [f32; 3]) -> L {
    v[0].mul(L::splat(n[0])).add(v[1].mul(L::splat(n[1]))).add(v[2].mul(L::splat(n[2])))
}

/// Row of an affine map without its last number, of directions.
#[inline(always)]
fn through<L: Lanes>(v: [L; 3], row: [f32; 4]) -> L {
    along(v, [row[0], row[1], row[2]])
}

/// A body as rays of one mirroring see it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub scene: &'a Scene<'a>,
    pub index: u32,
    /// Bit k: axis k runs the other way, so that no direction is negative.
    pub mirror: u32,
    pub cut_slope: f32,
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

/// Walks one body's surface or octree with packets of rays that go about the same way; hits nearer than those so far replace
/// them. Octants with edges of up to `fine` are looked at packet by packet, larger ones for all packets together.
#[inline(always)]
pub(super) fn walk<L: Lanes, const N: usize>(
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
    let cut_slope = packets[0].cut_slope;
    for first in 0..N {
        while waiting[first] != 0 {
            let lane = waiting[first].trailing_zeros();
            let mirror = (0..3).fold(0, |mirror, k| mirror | (signs[first][k] >> lane & 1) << k);
            let target = Target { scene, index, mirror, cut_slope };
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
