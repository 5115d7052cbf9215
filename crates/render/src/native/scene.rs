//! Input of the native stages: the frame's constants, rows of bodies, their octrees in memory, boxes.
//!
//! # Intersections of rays with an octree's leaves and truncated octants

use std::sync::Arc;

use glam::{Vec3, Vec4};

use super::wide::{LANES, along, cut_of, each_axis, has_cut, normal_of};
use crate::{
    FrameInput,
    backdrop::{Backdrop, Placed},
    clip::{ALONG, interval},
    compute::Array,
    effects::{Effect, effects_of_surfaces},
    frame::{CLIPS_SHIFT, frame_data},
    geometry::simd::F32x8,
    gpu::GpuError,
    shape::{MeshTree, SolidMesh},
    svo::{Forest, LeafColor, Node, Slot},
    tables::{BodyData, BoxData, FrameData, tables},
};

/// `BODY_SKY` and the constants after it in `shaders/render/frame.wgsl`.
pub(super) const BODY_SKY: u32 = u32::MAX;
pub(super) const BODY_FLOOR: u32 = u32::MAX - 1;
pub(super) const NO_LEAF: u32 = u32::MAX;
pub(super) const FLAG_FLOOR: u32 = 1;
pub(super) const FLAG_TRANSPARENT: u32 = 2;
pub(super) const FLAG_SELECTION: u32 = 4;
pub(super) const FLAG_BACKGROUND: u32 = 16;
pub(super) const FLAG_FLOOR_COLOR: u32 = 32;
pub(super) const FLAG_LAMP: u32 = 64;
pub(super) const FLAG_EMITS: u32 = 128;
pub(super) const MARK_MATT: u32 = 1 << 24;
pub(super) const MARK_SELECTED: u32 = 1 << 25;
pub(super) const MARK_GLASS: u32 = 1 << 26;
pub(super) const GOLD_SHIFT: u32 = 27;
pub(super) const GOLD_MOST: f32 = 31.0;

/// An octree's forest in memory. Indices of nodes and leaves are relative to the forest.
#[derive(Clone, Copy, Default)]
pub(super) struct Tree<'a> {
    pub nodes: &'a [Node],
    pub normals: &'a [u32],
    pub colors: &'a [LeafColor],
    pub cuts: &'a [u32],
}

/// A body's surface in memory.
#[derive(Clone, Copy)]
pub(super) struct Surface<'a> {
    pub solid: &'a SolidMesh,
    pub tree: &'a MeshTree,
}

/// Input of a frame's stages besides the previous stage's results.
pub(super) struct Scene<'a> {
    pub frame: FrameData,
    pub bodies: Vec<BodyData>,
    /// Octree of each body; empty if it has none.
    pub trees: Vec<Tree<'a>>,
    /// Surface of each body that is drawn as one.
    pub surfaces: Vec<Option<Surface<'a>>>,
    /// What the materials of each body's surface show besides their colour.
    pub effects: Vec<Option<Arc<[Effect]>>>,
    pub boxes: Vec<BoxData>,
    /// Of which object each body is a piece.
    pub objects: Vec<u32>,
    /// The picture of all directions behind it.
    pub surroundings: Option<Placed>,
    /// Words of [`crate::fracture::Seams`]; empty without any.
    pub seams: &'a [u32],
}

impl<'a> Scene<'a> {
    /// The scene of frame number `refined` of a refinement.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if the seams are on a device.
    pub fn new(input: &FrameInput<'a>, size: [u32; 2], refined: u32) -> Result<Self, GpuError> {
        // Like the passes, it skips a forest that the arena does not contain.
        let slot_of = |forest: &Arc<Forest>| {
            input.arena.slot(forest).map(|slot| Slot { node_base: 0, leaf_base: 0, ..slot })
        };
        let (bodies, boxes) = tables(input.bodies, slot_of, |_| Some(0));
        let surfaces = input
            .bodies
            .iter()
            .map(|body| body.shape.drawn_surface().map(|solid| Surface { solid, tree: solid.tree() }));
        let trees = input.bodies.iter().map(|body| {
            body.shape.as_octree().map_or_else(Tree::default, |octree| Tree {
                nodes: &octree.forest.nodes,
                normals: &octree.forest.leaves.normals,
                colors: &octree.forest.leaves.colors,
                cuts: &octree.forest.leaves.cuts,
            })
        });
        Ok(Self {
            frame: frame_data(input, size, refined, boxes.len().div_ceil(2) as u32),
            trees: trees.collect(),
            surfaces: surfaces.collect(),
            effects: effects_of_surfaces(input.bodies.iter().map(|body| body.shape.drawn_surface())),
            objects: input.bodies.iter().map(|body| body.object).collect(),
            surroundings: input.options.backdrop.as_ref().and_then(Backdrop::placed),
            bodies,
            boxes,
            seams: input.seams.map_or(Ok(&[][..]), |seams| host(&seams.seams.words))?,
        })
    }

    /// Unit rays through eight positions in the picture, pixels from the top left corner.
    #[inline(always)]
    pub fn rays<L: F32x8>(&self, x: L, y: L) -> [L; 3] {
        let frame = &self.frame;
        let (width, height) = (L::splat(frame.size[0] as f32), L::splat(frame.size[1] as f32));
        let place =
            [x.add(L::splat(frame.jitter[0])).div(width), y.add(L::splat(frame.jitter[1])).div(height)];
        let across = L::splat(2.0).mul(place[0]).sub(L::splat(1.0));
        let down = L::splat(1.0).sub(L::splat(2.0).mul(place[1]));
        let along = each_axis!(k: L::splat(frame.forward[k])
            .add(L::splat(frame.right[k]).mul(across))
            .add(L::splat(frame.up[k]).mul(down)));
        let square = along[0].mul(along[0]).add(along[1].mul(along[1])).add(along[2].mul(along[2]));
        let scale = L::splat(1.0).div(square.sqrt());
        each_axis!(k: along[k].mul(scale))
    }

    /// Narrows rays from `first` to `last` (m) to what the clipping planes leave.
    #[inline(always)]
    pub fn clipped<L: F32x8>(
        &self,
        (origin, direction): (&[L; 3], &[L; 3]),
        (mut first, mut last): (L, L),
    ) -> (L, L) {
        let zero = L::splat(0.0);
        for [x, y, z, at] in self.frame.clips.iter().take(self.clip_count()) {
            let height = along(*origin, [*x, *y, *z]).sub(L::splat(*at));
            let slope = along(*direction, [*x, *y, *z]);
            let comes_in = slope.less(zero);
            let enter = zero.sub(height.div(slope));
            let leave = zero.sub(height.div(slope.max(L::splat(ALONG))));
            first = L::mask(comes_in).select(first.max(enter), first);
            last = L::mask(comes_in).select(last, last.min(leave));
        }
        (first, last)
    }

    /// Number of clipping planes.
    #[inline(always)]
    pub fn clip_count(&self) -> usize {
        (self.frame.flags >> CLIPS_SHIFT) as usize & 7
    }

    /// The face that a clipping plane opens, if the ray from the eye meets one there, inside a body: its distance, m, and its
    /// normal.
    pub fn cap(&self, hit: &Hit, direction: Vec3) -> Option<(f32, Vec3)> {
        if self.clip_count() == 0 {
            return None;
        }
        let planes = self.frame.clips.map(Vec4::from);
        let entry = interval(planes.get(..self.clip_count())?, self.frame.eye, direction).0?;
        (hit.distance <= entry.distance * 1.000_001).then_some((entry.distance, entry.normal))
    }

    /// Location of a hit for callers: the leaf, or the index of the surface's triangle.
    #[inline(always)]
    pub fn leaf_of(&self, hit: &Hit) -> u32 {
        let triangle = |of: &Surface<'_>| of.tree.triangles[hit.leaf as usize].index;
        self.surfaces[hit.body as usize].as_ref().map_or(hit.leaf, triangle)
    }

    /// Whether there is anything but floor and sky.
    pub fn has_bodies(&self) -> bool {
        !self.boxes.is_empty()
    }
}

fn host(words: &Array<u32>) -> Result<&[u32], GpuError> {
    words.host()
}

/// Applies an affine map, given by its rows, to a point.
pub(super) fn point_through(rows: &[[f32; 4]; 3], p: Vec3) -> Vec3 {
    let row = |r: [f32; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
    Vec3::new(row(rows[0]), row(rows[1]), row(rows[2]))
}

/// Applies an affine map, given by its rows, to a direction.
pub(super) fn vector_through(rows: &[[f32; 4]; 3], v: Vec3) -> Vec3 {
    let row = |r: [f32; 4]| r[0] * v.x + r[1] * v.y + r[2] * v.z;
    Vec3::new(row(rows[0]), row(rows[1]), row(rows[2]))
}

/// 0 below `low`, 1 above `high`, a cubic in between.
#[inline(always)]
pub(super) fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A bijective hash of 32 bits; `hash_u32` in `shaders/render/frame.wgsl`.
#[inline(always)]
pub(super) fn hash(value: u32) -> u32 {
    let v = value.wrapping_mul(0x9e37_79b1);
    let v = (v ^ (v >> 15)).wrapping_mul(0x85eb_ca77);
    let v = (v ^ (v >> 13)).wrapping_mul(0xc2b2_ae3d);
    v ^ (v >> 16)
}

/// Maps a hash to [0, 1) uniformly.
#[inline(always)]
pub(super) fn unit_from_hash(value: u32) -> f32 {
    (hash(value) >> 8) as f32 / 16_777_216.0
}

/// The first hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// Distance, m.
    pub distance: f32,
    /// Index of the body, or [`BODY_SKY`].
    pub body: u32,
    /// Leaf of the forest; [`NO_LEAF`] in an internal octant.
    pub leaf: u32,
    /// Octree level of the octant that was hit.
    pub level: u32,
    /// Axis of the face through which the ray entered.
    pub axis: u32,
    /// Whether the hit is on the leaf's second plane.
    pub cut: bool,
}

impl Hit {
    /// No hit up to `last`.
    pub fn none(last: f32) -> Self {
        Self { distance: last, body: BODY_SKY, leaf: NO_LEAF, level: 0, axis: 0, cut: false }
    }
}

/// The first leaf below a node, nearest octants first, which gives a truncated octant its colour and normal.
pub(super) fn leaf_below(tree: &Tree<'_>, start: u32, levels: u32, mirror: u32) -> u32 {
    (0..levels).fold(start, |index, _| {
        let node = tree.nodes[index as usize];
        let valid = u32::from(node.valid());
        let nearest = (0..8).map(|k| k ^ mirror).find(|octant| valid >> octant & 1 == 1);
        node.child(nearest.unwrap_or(0))
    })
}

/// Planes of up to eight siblings, mirrored.
pub(super) struct Planes {
    normals: [[f32; LANES]; 3],
}

impl Planes {
    /// Planes of the leaves from `first` on.
    #[inline(always)]
    pub fn of(tree: &Tree<'_>, first: u32, mirror: u32) -> Self {
        let mut words = [0u32; LANES];
        let there = tree.normals.get(first as usize..).unwrap_or_default();
        match there.first_chunk() {
            Some(all) => words = *all,
            None => words[..there.len()].copy_from_slice(there),
        }
        let mut normals = [[0.0f32; LANES]; 3];
        let sign = each_axis!(k: if mirror >> k & 1 == 1 { -1.0f32 } else { 1.0 });
        for i in 0..LANES {
            let n = normal_of(words[i]);
            (normals[0][i], normals[1][i], normals[2][i]) = (n[0] * sign[0], n[1] * sign[1], n[2] * sign[2]);
        }
        Self { normals }
    }

    /// Normal of one of them.
    #[inline(always)]
    pub fn normal(&self, leaf: u32) -> [f32; 3] {
        let leaf = leaf as usize & (LANES - 1);
        each_axis!(k: self.normals[k][leaf])
    }
}

/// A leaf with the interval of eight rays in its voxel, mirrored.
pub(super) struct Leaf<'a, L> {
    pub tree: &'a Tree<'a>,
    pub child: u32,
    pub mirror: u32,
    pub normal: [f32; 3],
    /// Low corner.
    pub p: [u32; 3],
    /// Where the rays enter and leave the voxel.
    pub enter: L,
    pub leave: L,
}

/// Where rays hit the solid in a leaf, where they leave it, and which of them hit the second plane. A ray that leaves
/// before it hits passes through.
pub(super) struct Met<L> {
    pub at: L,
    pub leave: L,
    pub cut: u32,
}

impl<L: F32x8> Leaf<'_, L> {
    #[inline(always)]
    pub fn meet(&self, start: &[L; 3], step: &[L; 3]) -> Met<L> {
        let (t, child) = (self.enter, self.child as usize);
        let from_centre = each_axis!(k: start[k].add(step[k].mul(t)).sub(L::splat(self.p[k] as f32 + 0.5)));
        let height = along(from_centre, self.normal).sub(L::splat(self.tree.colors[child].offset()));
        let slope = along(*step, self.normal);
        let at = down_to(t, height, slope);
        let met = Met { at, leave: self.leave, cut: 0 };
        let word = self.tree.cuts[child];
        if !has_cut(word) {
            return met;
        }
        self.cut(&met, cut_of(word), (height, slope), from_centre, step)
    }

    /// Intersects the leaf with its second plane: the solid lies below both.
    #[inline(always)]
    fn cut(
        &self,
        met: &Met<L>,
        (m, offset): ([f32; 3], f32),
        (height, slope): (L, L),
        from_centre: [L; 3],
        step: &[L; 3],
    ) -> Met<L> {
        let (zero, t) = (L::splat(0.0), self.enter);
        let m = each_axis!(k: if self.mirror >> k & 1 == 1 { -m[k] } else { m[k] });
        let cut_height = along(from_centre, m).sub(L::splat(offset));
        let cut_slope = along(*step, m);
        // An upward ray leaves the solid through a plane.
        let up = |height: L, slope: L, is_below: u32| {
            let out = self.leave.min(t.sub(height.div(slope)));
            L::mask(zero.less(slope) & is_below).select(out, self.leave)
        };
        let cut_is_below = !zero.less(cut_height);
        let leave = up(height, slope, !0).min(up(cut_height, cut_slope, cut_is_below));
        let cut_at = down_to(t, cut_height, cut_slope);
        // Where the ray enters by a face of the voxel, the visible plane is the one that faces the ray, or else the
        // nearer one.
        let one_faces = cut_slope.less(zero) ^ slope.less(zero);
        let through_face = one_faces & cut_slope.less(slope) | !one_faces & height.less(cut_height);
        let is_tied = cut_at.at_most(met.at) & met.at.at_most(cut_at);
        let shows = met.at.less(cut_at) | is_tied & through_face;
        Met { at: met.at.max(cut_at), leave, cut: shows & met.at.at_most(self.leave) }
    }
}

/// When rays with height `height` over a plane at `t`, changing by `slope`, are below it; far away if never.
#[inline(always)]
fn down_to<L: F32x8>(t: L, height: L, slope: L) -> L {
    let zero = L::splat(0.0);
    let down = slope.below(zero).select(t.sub(height.div(slope)), L::splat(1e30));
    zero.below(height).select(down, t)
}
