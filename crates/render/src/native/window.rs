//! The picture as a texture of the device that shows the window.

use crate::gpu::{Gpu, GpuError, PICTURE};

/// The uploaded texture.
#[derive(Default)]
pub(super) struct Shown {
    texture: Option<wgpu::Texture>,
    /// Whether the texture is out of date.
    pub is_stale: bool,
}

impl Shown {
    /// A view of the texture, into which `picture` (RGBA8 rows from the top) is copied if it is new; `None` without a
    /// picture, or if the device has no memory for it.
    pub fn view(&mut self, gpu: &Gpu, size: [u32; 2], picture: &[u8]) -> Option<wgpu::TextureView> {
        let limit = gpu.limits.max_texture_dimension_2d;
        if picture.is_empty() || size.iter().any(|side| *side > limit) {
            return None;
        }
        let fits = |texture: &wgpu::Texture| [texture.width(), texture.height()] == size;
        let texture = match self.texture.take().filter(fits) {
            Some(texture) => texture,
            None => {
                self.is_stale = true;
                texture(gpu, size).ok()?
            }
        };
        if self.is_stale {
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * size[0]),
                rows_per_image: None,
            };
            gpu.queue.write_texture(texture.as_image_copy(), picture, layout, texture.size());
            self.is_stale = false;
        }
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        self.texture = Some(texture);
        Some(view)
    }
}

fn texture(gpu: &Gpu, [width, height]: [u32; 2]) -> Result<wgpu::Texture, GpuError> {
    gpu.allocate(PICTURE, 4 * u64::from(width) * u64::from(height), |device| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            // Drawn over the window, and read back for picture files.
            usage: wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_DST
                | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    })
}
