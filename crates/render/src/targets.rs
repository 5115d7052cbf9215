//! Buffers of the picture's size: hits, looks, light, history, and the picture itself.
//!
//! In: a size. Out: buffers for the passes; pictures and hits read back.

use bytemuck::{Pod, Zeroable};

use super::PixelHit;
use crate::gpu::{Buffer, Gpu, GpuError, PICTURE, layout};

/// `PixelHit` in `shaders/render/frame.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct HitData {
    pub body: u32,
    pub leaf: u32,
    pub distance: f32,
    pub normal: u32,
}

layout!(HitData as "PixelHit" { body, leaf, distance, normal });

const BODY_SKY: u32 = u32::MAX;
const BODY_FLOOR: u32 = u32::MAX - 1;
const NO_LEAF: u32 = u32::MAX;

impl HitData {
    /// Decodes the hit.
    pub(super) fn decoded(&self) -> PixelHit {
        match self.body {
            BODY_SKY => PixelHit::Sky,
            BODY_FLOOR => PixelHit::Floor(self.distance),
            body => PixelHit::Body {
                body: body as usize,
                leaf: (self.leaf != NO_LEAF).then_some(self.leaf),
                distance: self.distance,
            },
        }
    }
}

/// Buffers of one picture size.
pub(super) struct Targets {
    pub size: [u32; 2],
    pub hits: Buffer<HitData>,
    pub looks: Buffer<u32>,
    pub lights: Buffer<[u32; 4]>,
    pub history: Buffer<[f32; 4]>,
    pub picture: wgpu::Texture,
    pub view: wgpu::TextureView,
}

impl Targets {
    pub(super) fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, GpuError> {
        let pixels = size[0] as usize * size[1] as usize;
        let picture = gpu.allocate(PICTURE, 4 * pixels as u64, |device| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some("picture"),
                size: extent(size),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage: wgpu::TextureUsages::STORAGE_BINDING
                    | wgpu::TextureUsages::TEXTURE_BINDING
                    | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        })?;
        Ok(Self {
            size,
            hits: Buffer::zeroed(gpu, PICTURE, pixels)?,
            looks: Buffer::zeroed(gpu, PICTURE, pixels)?,
            lights: Buffer::zeroed(gpu, PICTURE, pixels)?,
            history: Buffer::zeroed(gpu, PICTURE, pixels)?,
            view: picture.create_view(&wgpu::TextureViewDescriptor::default()),
            picture,
        })
    }

    /// The picture as RGBA8 rows from the top.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<Vec<u8>, GpuError> {
        read_texture(gpu, &self.picture)
    }

    pub(super) fn read_hits(&self, gpu: &Gpu) -> Result<Vec<PixelHit>, GpuError> {
        Ok(self.hits.read(gpu)?.iter().map(HitData::decoded).collect())
    }
}

fn extent([width, height]: [u32; 2]) -> wgpu::Extent3d {
    wgpu::Extent3d { width, height, depth_or_array_layers: 1 }
}

/// A texture as rows of bytes from the top. Waits for the GPU.
pub(super) fn read_texture(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Vec<u8>, GpuError> {
    let (width, height) = (texture.width(), texture.height());
    let row = width * texture.format().block_copy_size(None).unwrap_or(4);
    let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let staging: Buffer<u32> = Buffer::zeroed(gpu, PICTURE, (padded / 4) as usize * height as usize)?;
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("picture readback") });
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: staging.raw(),
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded),
                rows_per_image: Some(height),
            },
        },
        texture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    let words = staging.read(gpu)?;
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    Ok(bytes.chunks_exact(padded as usize).flat_map(|r| r[..row as usize].iter().copied()).collect())
}
