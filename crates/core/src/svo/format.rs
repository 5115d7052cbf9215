//! The octree format. Only this file and `shaders/shared/octree.wgsl` depend on the bit layout.
//!
//! A [`Forest`] is one or many octrees on one grid, stored breadth-first, level by level, tree-major inside a level and
//! in Morton order inside a tree. Only parents are stored; a leaf is an index into [`Leaves`].
//!
//! ```text
//! Node (8 bytes)
//!   word 0  child_base: index of the first stored child (of a node in Forest::nodes; of a leaf when the parent is at level L-1)
//!   word 1  bits  0..8   valid:    octant c has surface below it; its child is child_base + popcount(valid & ((1 << c) - 1))
//!           bits  8..16  internal: octant c lies wholly inside the solid and nothing is stored for it
//!           bits 16..32  zero
//! an octant in neither mask is empty; no octant is in both
//!
//! LeafColor (4 bytes)
//!   bits  0..24  red, green, blue (sRGB)
//!   bit   24     crack: the voxel was made by a fracture
//!   bits 25..32  signed distance from the voxel's centre to the surface along the normal, in 1/64 voxel, two's complement
//! normal (4 bytes)  octahedral, x then y, 16-bit snorm each
//!
//! cut (4 bytes), a second plane of the leaf: where a fracture passes through a boundary voxel, each piece's copy keeps its side
//!   0           none
//!   bits  0..12 octahedral x, 12-bit snorm of the cut's normal, which points out of the piece
//!   bits 12..24 octahedral y
//!   bits 24..32 1..=255: 128 + signed distance from the voxel's centre to the cut along its normal, in 1/128 voxel
//! ```
//! After Domaradzki & Martyn 2016, sec. 3: their descriptor spends 8 bytes on every node and leaf, this one on parents
//! only.
//!
//! Leaves that a fracture in passes left on the device: the arena copies them there instead of uploading them.
//!
//! In: the leaves in parts, in the order in which they were written, and for each node above them the position of its
//! first leaf. Out: words of the arena's buffers, in the order of the nodes.

use std::{
    fmt,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use super::{ArenaBuffers, Key, Keys, Slot};
use crate::{
    geometry::set_bits,
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, bind, shared},
};

/// Finest leaf level: 2^12 cells per side.
pub const MAX_LEVEL: u32 = 12;

/// Finest leaf level in compute passes, whose Morton codes have 32 bits: 2^10 cells per side. Live previews are no
/// finer on any backend.
pub const MAX_PASSES_LEVEL: u32 = 10;

/// A parent node; see the drawing above.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Node {
    /// Index of the first stored child.
    pub child_base: u32,
    /// Valid and internal masks.
    pub masks: u32,
}

crate::gpu::layout!(Node as "Node" { child_base, masks });

impl Node {
    /// A node from its parts.
    #[must_use]
    pub fn new(child_base: u32, valid: u8, internal: u8) -> Self {
        Self { child_base, masks: u32::from(valid) | u32::from(internal) << 8 }
    }

    /// Octants with surface below.
    #[must_use]
    pub fn valid(self) -> u8 {
        self.masks as u8
    }

    /// Octants wholly inside.
    #[must_use]
    pub fn internal(self) -> u8 {
        (self.masks >> 8) as u8
    }

    /// Index of octant `c`'s child; meaningful only where `c` is valid.
    #[must_use]
    pub fn child(self, c: u32) -> u32 {
        self.child_base + (u32::from(self.valid()) & ((1 << c) - 1)).count_ones()
    }
}

/// Colour, crack flag and surface offset of a leaf.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct LeafColor(pub u32);

impl LeafColor {
    /// Packs; `offset` is in voxels and is clamped to one voxel either way.
    #[must_use]
    pub fn new([r, g, b]: [u8; 3], crack: bool, offset: f32) -> Self {
        let q = (offset * 64.0).round().clamp(-64.0, 63.0) as i32;
        Self(
            u32::from(r)
                | u32::from(g) << 8
                | u32::from(b) << 16
                | u32::from(crack) << 24
                | ((q as u32) & 0x7f) << 25,
        )
    }

    /// sRGB bytes.
    #[must_use]
    pub fn rgb(self) -> [u8; 3] {
        [self.0 as u8, (self.0 >> 8) as u8, (self.0 >> 16) as u8]
    }

    /// Whether the voxel was made by a fracture.
    #[must_use]
    pub fn crack(self) -> bool {
        self.0 >> 24 & 1 == 1
    }

    /// Signed distance from the voxel's centre to its surface along the normal, voxels.
    #[must_use]
    pub fn offset(self) -> f32 {
        ((self.0 as i32) >> 25) as f32 / 64.0
    }
}

/// Unit vector to octahedral 2 x 16-bit snorm. A zero or non-finite vector gives +z.
#[must_use]
#[inline(always)]
pub fn pack_normal(n: glam::Vec3) -> u32 {
    let [x, y] = to_octahedral(n);
    let q = |v: f32| u32::from((v.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    q(x) | q(y) << 16
}

/// Inverse of [`pack_normal`].
#[must_use]
#[inline]
pub fn unpack_normal(word: u32) -> glam::Vec3 {
    let x = f32::from(word as u16 as i16) / 32767.0;
    let y = f32::from((word >> 16) as u16 as i16) / 32767.0;
    from_octahedral(x, y)
}

#[inline(always)]
fn to_octahedral(n: glam::Vec3) -> [f32; 2] {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    let n = if sum > 0.0 && sum.is_finite() { n / sum } else { glam::Vec3::Z };
    if n.z < 0.0 {
        return [(1.0 - n.y.abs()).copysign(n.x), (1.0 - n.x.abs()).copysign(n.y)];
    }
    [n.x, n.y]
}

#[inline]
fn from_octahedral(x: f32, y: f32) -> glam::Vec3 {
    let z = 1.0 - x.abs() - y.abs();
    let t = (-z).max(0.0);
    glam::Vec3::new(x - t.copysign(x), y - t.copysign(y), z).normalize_or(glam::Vec3::Z)
}

/// A leaf's second plane; `offset` in voxels is clamped to 0.99 either way, beyond which it does not meet the voxel.
#[must_use]
pub fn pack_cut(normal: glam::Vec3, offset: f32) -> u32 {
    let [x, y] = to_octahedral(normal);
    let q = |v: f32| ((v.clamp(-1.0, 1.0) * 2047.0).round() as i32 as u32) & 0xfff;
    let o = ((offset * 128.0).round().clamp(-127.0, 127.0) as i32 + 128) as u32;
    q(x) | q(y) << 12 | o << 24
}

/// Inverse of [`pack_cut`]: normal and offset, or `None` where there is no cut.
#[must_use]
#[inline]
pub fn unpack_cut(word: u32) -> Option<(glam::Vec3, f32)> {
    if word >> 24 == 0 {
        return None;
    }
    let part = |v: u32| (((v << 20) as i32) >> 20) as f32 / 2047.0;
    let offset = ((word >> 24) as i32 - 128) as f32 / 128.0;
    Some((from_octahedral(part(word), part(word >> 12)), offset))
}

/// The boundary voxels of a forest: tree-major, Morton order inside a tree; arrays of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaves {
    /// Morton code of the cell at the leaf level.
    pub keys: Keys,
    /// Outward normal, see [`pack_normal`].
    pub normals: Vec<u32>,
    /// Colour, crack flag, surface offset.
    pub colors: Vec<LeafColor>,
    /// Fraction of the voxel that is this object's solid, in (0, 1].
    pub coverage: Vec<f32>,
    /// Second plane, see [`pack_cut`].
    pub cuts: Vec<u32>,
}

impl Leaves {
    /// Appends a range of other leaves.
    pub(crate) fn append(&mut self, from: &Self, range: Range<usize>) {
        self.keys.extend_from_slice(from.keys.slice(range.clone()));
        self.normals.extend_from_slice(&from.normals[range.clone()]);
        self.colors.extend_from_slice(&from.colors[range.clone()]);
        self.coverage.extend_from_slice(&from.coverage[range.clone()]);
        self.cuts.extend_from_slice(&from.cuts[range]);
    }

    /// Number of leaves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no leaves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// One or many octrees on one grid of 2^level cells a side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forest {
    /// Leaf level L, 1..=[`MAX_LEVEL`].
    pub level: u32,
    /// L + 1 offsets: nodes of parent level l are `level_start[l]..level_start[l + 1]`. Roots are nodes `0..trees`.
    pub level_start: Vec<u32>,
    /// Parents of all levels.
    pub nodes: Vec<Node>,
    /// Boundary voxels.
    pub leaves: Leaves,
    /// Trees + 1 offsets: leaves of tree t are `tree_start[t]..tree_start[t + 1]`.
    pub tree_start: Vec<u32>,
    /// Copies of the leaves on the device where passes made them, until an arena takes them.
    pub on_device: super::OnDevice,
}

impl Forest {
    /// Number of octrees.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.tree_start.len().saturating_sub(1)
    }

    /// Like [`Forest::visit_internal`], tree by tree.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_each_internal(&self, mut visit: impl FnMut(usize, [u32; 3], u32)) {
        for tree in 0..self.trees() {
            self.visit_internal(tree, &mut visit);
        }
    }

    /// Calls `visit(tree, [x, y, z], size)` for every internal node of one tree: low corner and edge in leaf units, in
    /// Morton order.
    pub fn visit_internal(&self, tree: usize, visit: &mut impl FnMut(usize, [u32; 3], u32)) {
        self.visit_internal_below((tree as u32, 0, 0), &mut |low, size| visit(tree, low, size));
    }

    /// Like [`Forest::visit_internal`], below a stored node given by its index, its level, and its Morton code at
    /// that level.
    pub fn visit_internal_below(&self, node: (u32, u32, Key), visit: &mut impl FnMut([u32; 3], u32)) {
        let (index, level, key) = node;
        let low = super::morton::decode(key << (3 * (self.level - level)));
        self.visit_octants(self.nodes[index as usize], level, low, visit);
    }

    fn visit_octants(&self, node: Node, level: u32, low: [u32; 3], visit: &mut impl FnMut([u32; 3], u32)) {
        let size = 1 << (self.level - level - 1);
        let (internal, mut child) = (u32::from(node.internal()), node.child_base as usize);
        // Octants of one voxel that hold surface are leaves and no nodes.
        let octants = if size == 1 { internal } else { internal | u32::from(node.valid()) };
        for c in set_bits(octants) {
            let low = std::array::from_fn(|axis| low[axis] + size * (c >> axis & 1));
            if internal >> c & 1 == 1 {
                visit(low, size);
            } else {
                self.visit_octants(self.nodes[child], level + 1, low, visit);
                child += 1;
            }
        }
    }

    /// How many octants [`Forest::visit_internal`] visits.
    #[must_use]
    pub fn internal_octants(&self, tree: usize) -> usize {
        self.octants_below(self.nodes[tree], 0)
    }

    fn octants_below(&self, node: Node, level: u32) -> usize {
        let own = node.internal().count_ones() as usize;
        if level + 1 == self.level || node.valid() == 0 {
            return own;
        }
        let children = node.child_base as usize..(node.child_base + node.valid().count_ones()) as usize;
        own + self.nodes[children].iter().map(|child| self.octants_below(*child, level + 1)).sum::<usize>()
    }
}

shared! {
    pub(crate) struct TakeLeavesParams { first_node: u32, nodes: u32, leaf_base: u32, first: u32, end: u32 }
}

/// Path of the kernel.
pub(super) const TAKE: &str = "svo/take_leaves";

/// Some leaves in the order in which they were written.
#[derive(Clone)]
pub struct ResidentPart {
    /// (normal, colour word).
    pub surface: Buffer<[u32; 2]>,
    /// Second planes.
    pub cuts: Buffer<u32>,
    /// Number of leaves; the buffers may be longer.
    pub count: u32,
}

/// All leaves of a forest.
pub struct ResidentLeaves {
    /// The device that holds them.
    pub gpu: Gpu,
    /// Parts in the order in which they were written.
    pub parts: Vec<ResidentPart>,
    /// Position of the first leaf of each node of the last level.
    pub places: Vec<u32>,
}

impl ResidentLeaves {
    /// Whether their numbers match a forest.
    pub(super) fn is_of(&self, forest: &Forest) -> bool {
        let last = forest.level_start.iter().rev().nth(1).map_or(0, |first| *first as usize);
        let count: usize = self.parts.iter().map(|part| part.count as usize).sum();
        self.places.len() == forest.nodes.len() - last && count == forest.leaves.len()
    }

    /// Copies them to their slot in the arena, which already has the forest's nodes. On error nothing is written.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], and earlier errors of the device.
    pub(super) fn put(
        &self,
        kernel: &Kernel,
        buffers: &ArenaBuffers,
        (forest, slot): (&Forest, &Slot),
    ) -> Result<(), GpuError> {
        let ArenaBuffers { nodes, normals, colors, cuts } = buffers;
        let places = Buffer::from_slice(&self.gpu, "places of leaves", &self.places)?;
        let first_node = slot.node_base + forest.level_start[forest.level as usize - 1];
        let (count, leaf_base) = (self.places.len() as u32, slot.leaf_base);
        let mut rec = Recorder::new(&self.gpu, "pieces to the arena");
        let mut first = 0;
        for part in &self.parts {
            let end = first + part.count;
            let params = TakeLeavesParams { first_node, nodes: count, leaf_base, first, end };
            let given = bind![
                nodes, places, surface: part.surface, cuts: part.cuts, out_normals: normals, out_colors: colors,
                out_cuts: cuts,
            ];
            rec.run(kernel, self.places.len(), &params, given)?;
            first = end;
        }
        // Nothing waits for these passes, so errors while they were recorded are reported here.
        self.gpu.check()?;
        rec.submit();
        Ok(())
    }
}

/// Leaves that the passes left on the device, until an arena takes them. They contain no information besides the
/// forest's, so comparisons ignore them; a copy of the forest, which may be changed, has none.
#[derive(Default)]
pub struct OnDevice(Mutex<Option<Box<ResidentLeaves>>>);

impl OnDevice {
    /// Leaves to be taken once.
    #[must_use]
    pub fn resident(leaves: ResidentLeaves) -> Self {
        Self(Mutex::new(Some(Box::new(leaves))))
    }

    /// Takes the leaves if they are on this device; others are dropped.
    pub(super) fn take(&self, gpu: &Gpu) -> Option<Box<ResidentLeaves>> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        left.filter(|left| left.gpu.is_same(gpu))
    }
}

impl Clone for OnDevice {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for OnDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnDevice")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn normals_survive_packing() {
        for n in [Vec3::X, Vec3::NEG_Z, Vec3::new(-0.3, 0.5, -0.8), Vec3::new(1.0, -1.0, 0.01)] {
            let n = n.normalize();
            assert!(unpack_normal(pack_normal(n)).dot(n) > 0.999_999, "{n}");
        }
        assert_eq!(unpack_normal(pack_normal(Vec3::NAN)), Vec3::Z);
    }

    #[test]
    fn cuts_survive_packing() {
        assert_eq!(unpack_cut(0), None);
        for (n, offset) in [(Vec3::Z, 0.0), (Vec3::new(-0.6, 0.3, -0.2), 0.7), (Vec3::NEG_X, -0.86)] {
            let (m, o) = unpack_cut(pack_cut(n.normalize(), offset)).unwrap();
            assert!(m.dot(n.normalize()) > 0.999_99 && (o - offset).abs() < 0.005, "{n} {offset}: {m} {o}");
        }
    }

    #[test]
    fn leaf_color_keeps_its_parts() {
        let c = LeafColor::new([10, 200, 255], true, -0.5);
        assert_eq!(c.rgb(), [10, 200, 255]);
        assert!(c.crack());
        assert!((c.offset() + 0.5).abs() < 1e-6);
        assert!((LeafColor::new([0; 3], false, 0.75).offset() - 0.75).abs() < 1e-6);
    }
}

#[cfg(test)]
mod resident_leaves_tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        fracture::ball,
        gpu::shaders,
        svo::{Arena, LeafColor},
    };

    /// A ball that follows something else in the arena, its leaves written node by node in reverse order, in parts that
    /// end within nodes.
    fn shuffled(gpu: &Gpu) -> Arc<Forest> {
        let mut forest = ball(5);
        let count = forest.leaves.len();
        forest.leaves.cuts = (0..count as u32).map(|i| i << 8 | 7).collect();
        forest.leaves.colors = (0..count as u32).map(LeafColor).collect();
        let last = &forest.nodes[forest.level_start[4] as usize..];
        let (mut places, mut order) = (vec![0; last.len()], Vec::new());
        for (i, node) in last.iter().enumerate().rev() {
            places[i] = order.len() as u32;
            order.extend(node.child_base..node.child_base + node.valid().count_ones());
        }
        assert_eq!(order.len(), count);
        let part = |order: &[u32]| {
            let of =
                |leaf: &u32| [forest.leaves.normals[*leaf as usize], forest.leaves.colors[*leaf as usize].0];
            let surface: Vec<[u32; 2]> = order.iter().map(of).collect();
            let cuts: Vec<u32> = order.iter().map(|leaf| forest.leaves.cuts[*leaf as usize]).collect();
            ResidentPart {
                surface: Buffer::from_slice(gpu, "surface", &surface).unwrap(),
                cuts: Buffer::from_slice(gpu, "cuts", &cuts).unwrap(),
                count: order.len() as u32,
            }
        };
        let parts = order.chunks(333).map(part).collect();
        forest.on_device = OnDevice::resident(ResidentLeaves { gpu: gpu.clone(), parts, places });
        Arc::new(forest)
    }

    /// Number of words of the forest that differ in the arena.
    fn wrong(gpu: &Gpu, arena: &Arena, forest: &Arc<Forest>) -> usize {
        let (slot, buffers) = (arena.slot(forest).unwrap(), arena.buffers().unwrap());
        let there = [&buffers.normals, &buffers.colors, &buffers.cuts]
            .map(|of| of.read_range(gpu, slot.leaf_base as usize, slot.leaves as usize).unwrap());
        let colors: Vec<u32> = forest.leaves.colors.iter().map(|color| color.0).collect();
        let wanted = [&forest.leaves.normals, &colors, &forest.leaves.cuts];
        let pairs = there.iter().zip(wanted).flat_map(|(there, wanted)| there.iter().zip(wanted));
        pairs.filter(|(there, wanted)| there != wanted).count()
    }

    #[test]
    fn leaves_come_from_the_device_in_the_order_of_the_nodes() {
        let Some(gpu) = Gpu::for_test() else { return };
        let before = Arc::new(ball(4));
        let text = || shaders::source(TAKE);
        let taken = |text: String| {
            let mut arena = Arena::new(&gpu).unwrap();
            arena.plant(Kernel::from_text(&gpu, TAKE, text));
            let forest = shuffled(&gpu);
            arena.insert(&before).unwrap();
            arena.insert(&forest).unwrap();
            assert!(forest.on_device.take(&gpu).is_none(), "it is taken once");
            wrong(&gpu, &arena, &before) + wrong(&gpu, &arena, &forest)
        };
        assert_eq!(taken(text()), 0);
        for (from, to) in [
            ("places[i]", "places[0]"),
            ("leaf - params.first]", "leaf]"),
            ("leaf < params.end", "leaf + 1u < params.end"),
            ("params.leaf_base + node.child_base", "node.child_base"),
            ("params.first_node + i", "i"),
            ("words.y", "words.x"),
        ] {
            assert!(text().contains(from), "{from}");
            assert!(taken(text().replace(from, to)) > 0, "`{to}` for `{from}` goes unnoticed");
        }
    }

    #[test]
    fn a_copy_has_nothing_on_the_device() {
        let Some(gpu) = Gpu::for_test() else { return };
        let forest = shuffled(&gpu);
        let mut changed = Forest::clone(&forest);
        changed.leaves.cuts.fill(0);
        let changed = Arc::new(changed);
        let mut arena = Arena::new(&gpu).unwrap();
        arena.insert(&changed).unwrap();
        assert_eq!(wrong(&gpu, &arena, &changed), 0);
    }
}
