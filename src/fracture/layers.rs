//! What the passes of a fracture hand to each other.

use crate::{
    gpu::{Buffer, Gpu, GpuError, PendingTimings, Recorder, StageTiming, read_all},
    svo::Node,
};

/// Seeds fit 2^14 units a grid side; see `shaders/fracture/voronoi.wgsl`.
pub(super) const UNIT_BITS: u32 = 14;

/// A pair's source, or an origin's leaf, when there is no stored one.
pub(super) const NO_LEAF: u32 = 0x0fff_ffff;

/// One object (or component) meeting one octree node, as `fracture/voronoi.wgsl` declares it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Pair {
    pub source: u32,
    pub object: u32,
    pub key: u32,
    pub list_first: u32,
    pub list_count: u32,
}

/// The pairs of one parent level in order, their octant masks (low byte stored children, next byte internal), and where each
/// pair's children begin in the level below (one element more than pairs; the last is the total).
pub(super) struct Layer {
    pub pairs: Buffer<Pair>,
    pub masks: Buffer<u32>,
    pub offsets: Buffer<[u32; 2]>,
}

impl Layer {
    pub fn new(gpu: &Gpu, pairs: Buffer<Pair>) -> Result<Self, GpuError> {
        Ok(Self {
            masks: Buffer::zeroed(gpu, "octant masks", pairs.len())?,
            offsets: Buffer::zeroed(gpu, "child offsets", pairs.len() + 1)?,
            pairs,
        })
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Reads the scanned totals.
    pub fn totals(&self, gpu: &Gpu) -> Result<[u32; 2], GpuError> {
        Ok(totals(gpu, &[&self.offsets])?[0])
    }
}

/// Last elements of scanned buffers, with one wait.
pub(super) fn totals(gpu: &Gpu, scanned: &[&Buffer<[u32; 2]>]) -> Result<Vec<[u32; 2]>, GpuError> {
    let ranges: Vec<_> = scanned.iter().map(|buffer| (*buffer, buffer.len() - 1, 1)).collect();
    Ok(read_all(gpu, &ranges)?.into_iter().map(|last| last[0]).collect())
}

/// Leaves in order: (Morton code, origin), (normal, colour word), second plane.
pub(super) struct LeafBuffers {
    pub place: Buffer<[u32; 2]>,
    pub surface: Buffer<[u32; 2]>,
    pub cuts: Buffer<u32>,
}

impl LeafBuffers {
    pub fn new(gpu: &Gpu, leaves: usize) -> Result<Self, GpuError> {
        Ok(Self {
            place: Buffer::zeroed(gpu, "leaf places", leaves)?,
            surface: Buffer::zeroed(gpu, "leaf surfaces", leaves)?,
            cuts: Buffer::zeroed(gpu, "leaf cuts", leaves)?,
        })
    }
}

/// Octrees on the GPU, breadth-first and tree-major, with (tree, Morton code) of every node.
pub(super) struct Octrees {
    pub nodes: Buffer<Node>,
    pub info: Buffer<[u32; 2]>,
    pub level_start: Vec<u32>,
    pub leaves: LeafBuffers,
}

/// Timings of a fracture's submissions, read once at the end: a wait in between would also wait for the window's picture.
#[derive(Default)]
pub(super) struct Clock(Vec<PendingTimings>);

impl Clock {
    pub fn submit(&mut self, rec: Recorder<'_>) {
        self.0.push(rec.submit_pending());
    }

    pub fn read(self, gpu: &Gpu) -> Result<Vec<StageTiming>, GpuError> {
        PendingTimings::collect(gpu, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Size and offsets of `Pair` as the shader sees them, so that a changed field cannot go unnoticed.
    #[test]
    fn pair_matches_the_shader() {
        let text = crate::gpu::shaders::source("fracture/voronoi");
        let module = naga::front::wgsl::parse_str(&text).unwrap();
        let (_, found) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some("Pair")).unwrap();
        let naga::TypeInner::Struct { members, span } = &found.inner else { panic!("Pair is no struct") };
        assert_eq!(*span as usize, size_of::<Pair>());
        let offsets: Vec<_> =
            members.iter().map(|m| (m.name.as_deref().unwrap(), m.offset as usize)).collect();
        assert_eq!(
            offsets,
            [
                ("source", std::mem::offset_of!(Pair, source)),
                ("object", std::mem::offset_of!(Pair, object)),
                ("key", std::mem::offset_of!(Pair, key)),
                ("list_first", std::mem::offset_of!(Pair, list_first)),
                ("list_count", std::mem::offset_of!(Pair, list_count)),
            ]
        );
    }
}
