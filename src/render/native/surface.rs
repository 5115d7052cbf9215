//! Normal and colour blended over the eight leaves round a grid point, and what a body is made of inside: the native
//! twin of `blended` and `inside_color` in `shaders/render/primary.wgsl`.

use glam::{IVec3, Vec3};

use super::{
    scene::{Tree, smoothstep},
    wide::normal_of,
};
use crate::{
    render::tables::BodyData,
    svo::{LeafColor, unpack_cut},
};

/// Where a body has no inside of its own and no crack leaf is near.
const UNKNOWN_INSIDE: Vec3 = Vec3::new(0.36, 0.33, 0.29);

/// A normal (grid space) and a colour (linear, nearly).
#[derive(Clone, Copy)]
pub(super) struct Surface {
    pub normal: Vec3,
    pub color: Vec3,
}

/// Colours are stored with a square root.
#[inline(always)]
pub(super) fn color_of(leaf: LeafColor) -> Vec3 {
    let [r, g, b] = leaf.rgb();
    let c = Vec3::new(f32::from(r), f32::from(g), f32::from(b)) / 255.0;
    c * c
}

/// What the body is made of at a grid point, as [`color_of`] gives it.
pub(super) fn inside_color(body: &BodyData, point: Vec3) -> Vec3 {
    if body.interior.0[0] >> 24 == 0 {
        return UNKNOWN_INSIDE;
    }
    let scale = (1u32 << (14 - body.level)) as f32;
    let [r, g, b] = body.interior.color_at((point * scale).to_array().map(|v| v as i32));
    color_of(LeafColor::new([r, g, b], false, 0.0))
}

/// A leaf beside a grid point, unpacked.
#[derive(Clone, Copy)]
struct Near {
    normal: Vec3,
    color: Vec3,
    cut: Option<Vec3>,
    is_crack: bool,
}

/// The leaves round a grid point that were looked up last: neighbouring pixels ask for the same ones.
pub(super) struct Blends {
    kept: Vec<Kept>,
}

#[derive(Clone, Copy)]
struct Kept {
    body: u32,
    base: [i32; 3],
    near: [Option<Near>; 8],
}

/// A power of two.
const KEPT: usize = 64;

impl Default for Blends {
    fn default() -> Self {
        Self { kept: vec![Kept { body: u32::MAX, base: [-1; 3], near: [None; 8] }; KEPT] }
    }
}

impl Blends {
    /// Leaves that face away or lie on the other kind of surface (crack or original) take no part, so edges stay
    /// edges.
    #[inline(always)]
    pub fn blended(
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
        let rest = Vec3::ONE - part;
        let mut sum = Surface { normal: own.normal * 0.02, color: own.color * 0.02 };
        let mut total = 0.02;
        for (k, near) in self.around(of, base.to_array()).iter().enumerate() {
            let Some(near) = near else { continue };
            let (mut n, mut c) = (near.normal, near.color);
            let mut same_kind = near.is_crack == own_is_crack;
            if let (true, Some(cut)) = (own_is_crack, near.cut) {
                // A crack goes on in the second plane of the leaves at its rim.
                if !same_kind {
                    (n, c) = (cut, own.color);
                } else if cut.dot(own.normal) > n.dot(own.normal) {
                    n = cut;
                }
                same_kind = true;
            }
            if same_kind {
                let weight = |axis: usize| if k >> axis & 1 == 1 { part[axis] } else { rest[axis] };
                let w = weight(0) * weight(1) * weight(2) * smoothstep(0.1, 0.8, n.dot(own.normal));
                sum.normal += n * w;
                sum.color += c * w;
                total += w;
            }
        }
        Surface { normal: sum.normal / total, color: sum.color / total }
    }

    /// The leaves in the eight cells from `base` on.
    #[inline(always)]
    fn around(
        &mut self,
        (index, body, tree): (u32, &BodyData, &Tree<'_>),
        base: [i32; 3],
    ) -> &[Option<Near>; 8] {
        let [x, y, z] = base.map(|v| v as usize);
        let slot = (x ^ y << 2 ^ z << 4 ^ (index as usize) << 1 ^ z >> 2) & (KEPT - 1);
        let kept = &mut self.kept[slot];
        if kept.body != index || kept.base != base {
            *kept = Kept { body: index, base, near: look_up(body, tree, base.map(|v| v as u32)) };
        }
        &kept.near
    }
}

/// One descent to the smallest node that holds all eight cells, then one from there for each.
#[inline(always)]
fn look_up(body: &BodyData, tree: &Tree<'_>, base: [u32; 3]) -> [Option<Near>; 8] {
    let mut near = [None; 8];
    let differing = base.iter().fold(0, |bits, v| bits | (v ^ (v + 1)));
    let split = 31 - differing.leading_zeros();
    // Loops without closures, which would not be compiled for what the processor has.
    let mut top = Some(body.root);
    let mut bit = body.level;
    while let (Some(index), true) = (top, bit > split + 1) {
        bit -= 1;
        top = down(tree, index, base, bit);
    }
    let Some(top) = top else { return near };
    for (k, near) in near.iter_mut().enumerate() {
        let k = k as u32;
        let cell = [base[0] + (k & 1), base[1] + (k >> 1 & 1), base[2] + (k >> 2)];
        let mut leaf = Some(top);
        let mut bit = split + 1;
        while let (Some(index), true) = (leaf, bit > 0) {
            bit -= 1;
            leaf = down(tree, index, cell, bit);
        }
        if let Some(leaf) = leaf {
            let leaf = leaf as usize;
            let color = tree.colors[leaf];
            let cut = tree.cuts[leaf];
            *near = Some(Near {
                normal: Vec3::from(normal_of(tree.normals[leaf])),
                color: color_of(color),
                cut: if cut >> 24 == 0 { None } else { unpack_cut(cut).map(|(normal, _)| normal) },
                is_crack: color.crack(),
            });
        }
    }
    near
}

/// The child of a node that holds a cell, where there is one.
#[inline(always)]
fn down(tree: &Tree<'_>, index: u32, cell: [u32; 3], bit: u32) -> Option<u32> {
    let node = tree.nodes[index as usize];
    let octant = (cell[0] >> bit & 1) | (cell[1] >> bit & 1) << 1 | (cell[2] >> bit & 1) << 2;
    if node.masks >> octant & 1 == 1 { Some(node.child(octant)) } else { None }
}
