//! Input of the native stages: the frame's constants, rows of bodies, their octrees in memory, boxes.

use std::sync::Arc;

use glam::Vec3;

use super::{leaf::Hit, wide::each_axis};
use crate::geometry::simd::F32x8;
use crate::{
    FrameInput,
    compute::Array,
    frame::frame_data,
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
pub(super) const MARK_CRACK: u32 = 1 << 24;
pub(super) const MARK_SELECTED: u32 = 1 << 25;
pub(super) const MARK_FLAT: u32 = 1 << 26;
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
    pub boxes: Vec<BoxData>,
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
