//! What the descent hands from level to level: pairs of an object and an octree node. The copying of components uses the same.

use crate::gpu::{Buffer, Gpu, GpuError, read_all};

/// One object (or component) meeting one octree node, as `fracture/voronoi/exact.wgsl` declares it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(in crate::fracture) struct Pair {
    pub source: u32,
    pub object: u32,
    pub key: u32,
    pub list_first: u32,
    pub list_count: u32,
}

/// The pairs of one parent level in order, their octant masks (low byte stored children, next byte internal), and where each
/// pair's children begin in the level below (one element more than pairs; the last is the total).
pub(in crate::fracture) struct Layer {
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
pub(in crate::fracture) fn totals(
    gpu: &Gpu,
    scanned: &[&Buffer<[u32; 2]>],
) -> Result<Vec<[u32; 2]>, GpuError> {
    let ranges: Vec<_> = scanned.iter().map(|buffer| (*buffer, buffer.len() - 1, 1)).collect();
    Ok(read_all(gpu, &ranges)?.into_iter().map(|last| last[0]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Size and offsets of `Pair` as the shader sees them, so that a changed field cannot go unnoticed.
    #[test]
    fn pair_matches_the_shader() {
        let text = crate::gpu::shaders::source("fracture/voronoi/exact");
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
