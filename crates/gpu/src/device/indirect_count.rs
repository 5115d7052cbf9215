//! Counts that only the device knows: the length of a list, and the workgroups of dispatches over it. The pass that
//! sizes the next list writes its count ([`Plan`](super::primitives::Plan)), kernels read it as `size`, and
//! [`Recorder::run_counted`](super::Recorder::run_counted) dispatches by it, so that the host need not wait for it.

use super::{
    Bindable, Gpu, Named, Shared, Traffic,
    kernel::{WORKGROUP, spread},
    layout,
};

/// Same layout as in `shaders/shared/counted.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Counted {
    count: u32,
    groups: [u32; 3],
    blocks: [u32; 3],
    pad: u32,
}

layout!(Counted as "Counted" {
    count, groups: [groups_x, groups_y, groups_z], blocks: [blocks_x, blocks_y, blocks_z], pad
});

/// Items per block of a prefix sum.
pub(super) const SCAN_BLOCK: usize = 1024;

/// Byte offsets in a count of the workgroups for one thread per element, and for one block of a prefix sum.
pub(super) const GROUPS: u64 = 4;
pub(super) const BLOCKS: u64 = 16;

/// A count on the device.
#[derive(Clone, Debug)]
pub struct IndirectCount {
    raw: wgpu::Buffer,
}

impl IndirectCount {
    /// A count that the device will write; 0 until then.
    #[must_use]
    pub fn unknown(gpu: &Gpu) -> Self {
        use wgpu::BufferUsages as Usage;
        let raw = gpu.small_buffer(&wgpu::BufferDescriptor {
            label: Some("count"),
            size: size_of::<Counted>() as u64,
            usage: Usage::UNIFORM | Usage::STORAGE | Usage::INDIRECT | Usage::COPY_DST,
            mapped_at_creation: false,
        });
        Self { raw }
    }

    /// A count that the host knows.
    #[must_use]
    pub fn known(gpu: &Gpu, count: usize) -> Self {
        let own = Self::unknown(gpu);
        let (groups, blocks) = (count.div_ceil(WORKGROUP as usize), count / SCAN_BLOCK + 1);
        let groups = if groups == 0 { [0, 0, 1] } else { spread(groups) };
        let counted = Counted { count: count as u32, groups, blocks: spread(blocks), pad: 0 };
        gpu.queue.write_buffer(&own.raw, 0, bytemuck::bytes_of(&counted));
        gpu.ledger().add(Traffic { bytes_up: size_of::<Counted>() as u64, ..Traffic::default() });
        own
    }

    /// The wgpu buffer.
    pub(super) fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }
}

impl Bindable for IndirectCount {
    fn named(&self, name: &'static str) -> Named<'_> {
        let resource = self.raw.as_entire_binding();
        Named { name, resource, ty: Some(Counted::LAYOUT.name), stride: 0 }
    }
}
