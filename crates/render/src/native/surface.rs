//! Normal and colour blended over the eight leaves round a grid point, and interior colours, like `blended` and
//! `inside_color` in `shaders/render/primary.wgsl`.
#![allow(
    clippy::needless_range_loop,
    reason = "one index walks many arrays, so that the loop becomes vector code"
)]

use glam::{IVec3, Vec3};

use super::{
    scene::Tree,
    wide::{LANES, along, cut_of, each_axis, has_cut, normal_of},
};
use crate::geometry::simd::F32x8;
use crate::{
    fracture::{Insides, Volume},
    svo::{LeafColor, MAX_LEVEL},
    tables::BodyData,
};

/// Colour of a body without an interior of its own and without a crack leaf nearby.
pub(super) const UNKNOWN_INSIDE: Vec3 = Vec3::new(0.36, 0.33, 0.29);

/// A normal (grid space) and a colour (approximately linear).
#[derive(Clone, Copy)]
pub(super) struct Surface {
    pub normal: Vec3,
    pub color: Vec3,
}

/// Colours are stored as square roots.
#[inline(always)]
pub(super) fn color_of(leaf: LeafColor) -> Vec3 {
    let [r, g, b] = leaf.rgb();
    let c = Vec3::new(f32::from(r), f32::from(g), f32::from(b)) / 255.0;
    c * c
}

/// Interior colour (as from [`color_of`]) and normal of a volume at a point (2^14 units a grid side) of a crack face with
/// the unit normal `normal`, as far as pixels of `finest` units can show them.
pub(super) fn inside_look(volume: &Volume, point: Vec3, normal: Vec3, finest: f32) -> (Vec3, Vec3) {
    if volume.0[0] >> 24 == 0 {
        return (UNKNOWN_INSIDE, normal);
    }
    let relief = volume.relief_at(point, normal, finest);
    (color_of(LeafColor::new(volume.color_on(&relief), false, 0.0)), relief.normal)
}

/// The volume of a body that painted the crack voxel `cell` in the colour `rgb`.
pub(super) fn painter_of(body: &BodyData, (rgb, cell): ([u8; 3], IVec3)) -> Volume {
    let edge = 1i32 << (14 - body.level);
    let insides = Insides { first: body.interior, later: body.later };
    let number = insides.painter_of(&[(rgb, (cell * edge + edge / 2).to_array())]);
    insides.all().nth(number).unwrap_or_default()
}

/// The leaves of eight cells round a grid point, unpacked: lane i holds the cell in octant i.
#[derive(Clone, Copy, Default)]
struct Near {
    normal: [[f32; LANES]; 3],
    color: [[f32; LANES]; 3],
    /// Normal of the second plane.
    cut: [[f32; LANES]; 3],
    /// Masks of cells with a leaf, with a crack leaf, and with a second plane.
    there: u32,
    cracks: u32,
    cuts: u32,
}

/// Cache of the leaves round recent grid points, since adjacent pixels need the same ones.
pub(super) struct Blends {
    kept: Vec<Kept>,
    path: Path,
}

#[derive(Clone, Copy)]
struct Kept {
    body: u32,
    base: [i32; 3],
    near: Near,
}

/// A power of two.
const KEPT: usize = 64;
const _: () = assert!(MAX_LEVEL < 16, "a path has room for every level");

/// The nodes of the last descent; the next one starts at the last common node.
struct Path {
    body: u32,
    base: [u32; 3],
    /// Indexed by the logarithm of a node's edge.
    nodes: [u32; 16],
    /// Logarithm of the last node's edge.
    reached: u32,
}

impl Default for Blends {
    fn default() -> Self {
        let near = Near::default();
        Self {
            kept: vec![Kept { body: u32::MAX, base: [-1; 3], near }; KEPT],
            path: Path { body: u32::MAX, base: [0; 3], nodes: [0; 16], reached: MAX_LEVEL },
        }
    }
}

impl Blends {
    /// Leaves that face away or belong to another kind of surface (crack or original) are excluded, so edges stay
    /// sharp.
    #[inline(always)]
    pub fn blended<L: F32x8>(
        &mut self,
        of: (u32, &BodyData, &Tree<'_>),
        own: Surface,
        own_is_crack: bool,
        point: Vec3,
    ) -> Surface {
        let last = (1i32 << of.1.level) - 2;
        let from = point - 0.5;
        let base = from.floor().as_ivec3().clamp(IVec3::ZERO, IVec3::splat(last));
        let part = (from - base.as_vec3()).clamp(Vec3::ZERO, Vec3::ONE);
        let near = self.around(of, base.to_array());
        let facing = each_axis!(k: own.normal[k]);
        let mut normal = each_axis!(k: L::of(near.normal[k]));
        let mut color = each_axis!(k: L::of(near.color[k]));
        let mut takes = near.there & if own_is_crack { near.cracks } else { !near.cracks };
        let mut alike = along(normal, facing);
        if own_is_crack && near.cuts != 0 {
            // A crack continues in the second plane of the leaves at its rim.
            let cut = each_axis!(k: L::of(near.cut[k]));
            let cut_alike = along(cut, facing);
            let rim = near.cuts & !takes;
            let second = L::mask(near.cuts & takes & alike.less(cut_alike) | rim);
            alike = second.select(cut_alike, alike);
            normal = each_axis!(k: second.select(cut[k], normal[k]));
            let rim = L::mask(rim);
            color = each_axis!(k: rim.select(L::splat(own.color[k]), color[k]));
            takes |= near.cuts;
        }
        // Octants in the upper half of axis k.
        const UPPER: [u32; 3] = [0b1010_1010, 0b1100_1100, 0b1111_0000];
        let shares = each_axis!(k: L::mask(UPPER[k]).select(L::splat(part[k]), L::splat(1.0 - part[k])));
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let t = alike.sub(L::splat(0.1)).div(L::splat(0.8 - 0.1)).max(zero).min(one);
        let open = t.mul(t).mul(L::splat(3.0).sub(L::splat(2.0).mul(t)));
        let weight = shares[0].mul(shares[1]).mul(shares[2]).mul(open);
        let weight = L::mask(takes).select(weight, zero);
        let total = 0.02 + weight.sum();
        let blend = |own: f32, of: L| (own * 0.02 + of.mul(weight).sum()) / total;
        Surface {
            normal: Vec3::from(each_axis!(k: blend(facing[k], normal[k]))),
            color: Vec3::from(each_axis!(k: blend(own.color[k], color[k]))),
        }
    }

    /// Of the crack leaves in the eight cells round a point, the colour and the cell of the one that faces most as `facing`.
    pub fn crack_near(
        &mut self,
        of: (u32, &BodyData, &Tree<'_>),
        facing: Vec3,
        point: Vec3,
    ) -> Option<([u8; 3], IVec3)> {
        let last = (1i32 << of.1.level) - 2;
        let base = (point - 0.5).floor().as_ivec3().clamp(IVec3::ZERO, IVec3::splat(last));
        let near = self.around(of, base.to_array());
        let along = |k: usize| Vec3::new(near.normal[0][k], near.normal[1][k], near.normal[2][k]).dot(facing);
        let cracks = (0..LANES).filter(|k| near.cracks >> k & 1 == 1).map(|k| (along(k), k));
        let (_, k) = cracks.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
        let rgb = [0, 1, 2].map(|channel: usize| (near.color[channel][k].sqrt() * 255.0).round() as u8);
        let octant = IVec3::new(k as i32 & 1, k as i32 >> 1 & 1, k as i32 >> 2);
        Some((rgb, base + octant))
    }

    /// The leaves in the eight cells from `base` on.
    #[inline(always)]
    fn around(&mut self, (index, body, tree): (u32, &BodyData, &Tree<'_>), base: [i32; 3]) -> &Near {
        let [x, y, z] = base.map(|v| v as usize);
        let slot = (x ^ y << 2 ^ z << 4 ^ (index as usize) << 1 ^ z >> 2) & (KEPT - 1);
        let kept = &mut self.kept[slot];
        if kept.body != index || kept.base != base {
            (kept.body, kept.base) = (index, base);
            let base = base.map(|v| v as u32);
            match self.path.down_to(index, body, tree, base) {
                Some((top, size)) => look_up(tree, top, size, base, &mut kept.near),
                None => (kept.near.there, kept.near.cracks, kept.near.cuts) = (0, 0, 0),
            }
        }
        &kept.near
    }
}

impl Path {
    /// The smallest node that contains all eight cells from `base` on, and the logarithm of its edge.
    #[inline(always)]
    fn down_to(
        &mut self,
        index: u32,
        body: &BodyData,
        tree: &Tree<'_>,
        base: [u32; 3],
    ) -> Option<(u32, u32)> {
        let spread = (base[0] ^ (base[0] + 1)) | (base[1] ^ (base[1] + 1)) | (base[2] ^ (base[2] + 1));
        let wanted = 32 - spread.leading_zeros();
        let mut size = body.level;
        if self.body == index {
            let apart = (base[0] ^ self.base[0]) | (base[1] ^ self.base[1]) | (base[2] ^ self.base[2]);
            self.reached = (32 - apart.leading_zeros()).max(self.reached);
            size = self.reached.max(wanted);
        } else {
            (self.body, self.reached) = (index, size);
            self.nodes[size as usize & 15] = body.root;
        }
        self.base = base;
        let mut node = self.nodes[size as usize & 15];
        while size > wanted {
            size -= 1;
            node = down(tree, node, base, size)?;
            self.nodes[size as usize & 15] = node;
            self.reached = size;
        }
        Some((node, size))
    }
}

/// Looks up the eight cells from `base` on, below a node with edge 2^`size` that contains them all.
#[inline(always)]
fn look_up(tree: &Tree<'_>, top: u32, size: u32, base: [u32; 3], near: &mut Near) {
    (near.there, near.cracks, near.cuts) = (0, 0, 0);
    let (mut normals, mut colors, mut cuts) = ([0u32; LANES], [0u32; LANES], [0u32; LANES]);
    // Along an axis on which `base` is even, both cells have the same parent.
    let odd = (base[0] & 1) | (base[1] & 1) << 1 | (base[2] & 1) << 2;
    let mut parents = [None; LANES];
    for k in 0..LANES as u32 {
        let cell = [base[0] + (k & 1), base[1] + (k >> 1 & 1), base[2] + (k >> 2)];
        let first = (k & odd) as usize;
        if first == k as usize {
            let mut node = Some(top);
            let mut bit = size;
            while let (Some(index), true) = (node, bit > 1) {
                bit -= 1;
                node = down(tree, index, cell, bit);
            }
            parents[first] = node;
        }
        let Some(leaf) = parents[first].and_then(|parent| down(tree, parent, cell, 0)) else { continue };
        let (leaf, k) = (leaf as usize, k as usize);
        let (color, cut) = (tree.colors[leaf], tree.cuts[leaf]);
        (normals[k], colors[k], cuts[k]) = (tree.normals[leaf], color.0, cut);
        near.there |= 1 << k;
        near.cracks |= u32::from(color.crack()) << k;
        near.cuts |= u32::from(has_cut(cut)) << k;
    }
    for k in 0..LANES {
        let n = normal_of(normals[k]);
        (near.normal[0][k], near.normal[1][k], near.normal[2][k]) = (n[0], n[1], n[2]);
        for channel in 0..3 {
            let c = (colors[k] >> (8 * channel) & 0xff) as f32 / 255.0;
            near.color[channel][k] = c * c;
        }
    }
    if near.cuts != 0 {
        for k in 0..LANES {
            let (n, _) = cut_of(cuts[k]);
            (near.cut[0][k], near.cut[1][k], near.cut[2][k]) = (n[0], n[1], n[2]);
        }
    }
}

/// The child of a node that contains a cell, if it exists.
#[inline(always)]
fn down(tree: &Tree<'_>, index: u32, cell: [u32; 3], bit: u32) -> Option<u32> {
    let node = tree.nodes[index as usize];
    let octant = (cell[0] >> bit & 1) | (cell[1] >> bit & 1) << 1 | (cell[2] >> bit & 1) << 2;
    if node.masks >> octant & 1 == 1 { Some(node.child(octant)) } else { None }
}
