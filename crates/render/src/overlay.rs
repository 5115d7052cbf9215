//! Lines, discs and translucent triangles over the picture, tested against the ray caster's first hits.
//!
//! In: an [`Overlay`] in world space. Out: a texture of linear colour times alpha, which the compose pass blends over
//! the shaded and tone-mapped picture, before the mean over the refinement's frames; so an overlay is refined like the
//! rest, with the same jitter.
//!
//! It is drawn with four samples per pixel. Lines and points come first and hide each other; triangles follow from far
//! to near, each blended over the previous ones. Parts behind a pixel's first hit are drawn with their opacity times
//! [`Overlay::through`].

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::{Clips, surfaces::HitData, tables::FrameData};
use crate::gpu::{Buffer, Drawing, DrawingForm, Gpu, GpuError, PICTURE, Uniform, bind, layout, shaders};

/// Samples per pixel.
const SAMPLES: u32 = 4;
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Vertices of the polygon that represents a disc.
const DISC_CORNERS: u32 = 12;
/// Parts nearer than this times the camera's distance are clipped.
pub(super) const NEAR: f32 = 1e-3;
/// More triangles than this are drawn unsorted, since sorting them for every picture would take longer than drawing.
const MOST_SORTED: usize = 400_000;

/// A segment of constant width in the picture.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Line {
    /// Start, m.
    pub start: Vec3,
    /// Colour (sRGB) and opacity.
    pub color: [u8; 4],
    /// End, m.
    pub end: Vec3,
    /// Width, pixels.
    pub width: f32,
}

/// A disc that faces the camera.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Point {
    /// Centre, m.
    pub at: Vec3,
    /// Colour (sRGB) and opacity.
    pub color: [u8; 4],
    /// Least radius, pixels.
    pub radius_pixels: f32,
    /// Radius, m, if that is larger.
    pub radius_m: f32,
    /// Reduction of the disc's forward shift, pixels, so that a rim stays behind its smaller disc.
    pub back_pixels: f32,
}

/// A two-sided triangle.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Triangle {
    /// First corner, m.
    pub a: Vec3,
    /// Colour (sRGB) and opacity.
    pub color: [u8; 4],
    /// Second corner, m.
    pub b: Vec3,
    /// Third corner, m.
    pub c: Vec3,
}

/// Shapes to draw over the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// Lines, drawn first; of two at the same depth the first one stays.
    pub lines: Vec<Line>,
    /// Points, drawn after the lines. Each is depth-tested as if nearer by its radius (minus [`Point::back_pixels`]),
    /// so that no triangle cuts it.
    pub points: Vec<Point>,
    /// Triangles, drawn last, slightly farther away.
    pub triangles: Vec<Triangle>,
    /// Parts this far behind a surface still count as on it, m.
    pub lift: f32,
    /// Opacity factor of parts hidden by the object, 0 to 1.
    pub through: f32,
}

impl Overlay {
    /// Whether there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.points.is_empty() && self.triangles.is_empty()
    }

    /// What of it lies on the drawn side of clipping planes, or in them.
    #[must_use]
    pub fn clipped(&self, clips: &Clips) -> Self {
        let mut left = self.clone();
        for plane in clips.planes() {
            let height = |p: Vec3| plane.truncate().dot(p) - plane.w;
            // Rounding of a place that lies in the plane.
            let slack = 1e-5 * plane.w.abs().max(1.0);
            left.points.retain(|point| height(point.at) <= slack);
            left.lines.retain_mut(|line| {
                let ends = [height(line.start), height(line.end)];
                let cut = |a: Vec3, b: Vec3, [from, to]: [f32; 2]| a.lerp(b, from / (from - to));
                match ends.map(|end| end <= slack) {
                    [true, true] => true,
                    [false, false] => false,
                    [true, false] => {
                        line.end = cut(line.start, line.end, ends);
                        true
                    }
                    [false, true] => {
                        line.start = cut(line.start, line.end, ends);
                        true
                    }
                }
            });
            let is_whole = |t: &Triangle| [t.a, t.b, t.c].iter().all(|p| height(*p) <= slack);
            let (mut whole, crossed): (Vec<_>, Vec<_>) = left.triangles.into_iter().partition(is_whole);
            for triangle in crossed {
                let mut polygon: Vec<Vec3> = Vec::with_capacity(4);
                let corners = [triangle.a, triangle.b, triangle.c];
                for (k, corner) in corners.iter().enumerate() {
                    let next = corners[(k + 1) % 3];
                    let (from, to) = (height(*corner), height(next));
                    if from <= 0.0 {
                        polygon.push(*corner);
                    }
                    if (from <= 0.0) != (to <= 0.0) {
                        polygon.push(corner.lerp(next, from / (from - to)));
                    }
                }
                let Some((a, rest)) = polygon.split_first() else { continue };
                whole.extend(rest.windows(2).map(|pair| Triangle {
                    a: *a,
                    b: pair[0],
                    c: pair[1],
                    ..triangle
                }));
            }
            left.triangles = whole;
        }
        left
    }

    /// The twelve edges of a box given by its low corner and its three edges, m.
    pub fn wire_box(&mut self, low: Vec3, edges: [Vec3; 3], color: [u8; 4], width: f32) {
        let corner = |c: usize| (0..3).fold(low, |p, a| if c >> a & 1 == 1 { p + edges[a] } else { p });
        for axis in 0..3 {
            for c in (0..8).filter(|c| c >> axis & 1 == 0) {
                let (start, end) = (corner(c), corner(c | 1 << axis));
                self.lines.push(Line { start, color, end, width });
            }
        }
    }

    /// Drawing order of triangles: by their centres, from far to near.
    #[must_use]
    pub fn back_to_front(&self, eye: Vec3, forward: Vec3) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.triangles.len() as u32).collect();
        if order.len() <= MOST_SORTED {
            let depth = |i: &u32| {
                let t = &self.triangles[*i as usize];
                (t.a + t.b + t.c - 3.0 * eye).dot(forward)
            };
            order.sort_by_cached_key(|i| std::cmp::Reverse(ordered(depth(i))));
        }
        order
    }
}

/// Maps a float to an integer with the same order.
fn ordered(x: f32) -> i32 {
    let bits = x.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

/// `Layer` in `shaders/render/overlay.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct LayerData {
    pub near: f32,
    pub lift: f32,
    pub through: f32,
    pub pad: f32,
}

layout!(LayerData as "Layer" { near, lift, through, pad });

/// The compiled passes and their buffers.
pub(super) struct OverlayPass {
    lines: Drawing,
    points: Drawing,
    triangles: Drawing,
    layer: Uniform<LayerData>,
    loaded: Option<Loaded>,
    targets: Option<Targets>,
    /// One transparent pixel, used without an overlay.
    nothing: wgpu::TextureView,
}

/// An overlay on the device.
struct Loaded {
    of: Arc<Overlay>,
    lines: Option<wgpu::Buffer>,
    points: Option<wgpu::Buffer>,
    triangles: Option<wgpu::Buffer>,
    /// Camera position and direction that the triangles are sorted for.
    sorted_for: Option<[Vec3; 2]>,
}

struct Targets {
    size: [u32; 2],
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    picture: wgpu::TextureView,
}

impl OverlayPass {
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Self::from_source(gpu, shaders::source("render/overlay"))
    }

    /// Like [`OverlayPass::new`], from the shader's text, so that tests can plant errors.
    pub fn from_source(gpu: &Gpu, source: String) -> Result<Self, GpuError> {
        use wgpu::PrimitiveTopology::{TriangleList, TriangleStrip};
        let make = |corners, array_stride: usize, attributes: &[wgpu::VertexAttribute], topology, solid| {
            let form = DrawingForm {
                corners,
                instance: Some(wgpu::VertexBufferLayout {
                    array_stride: array_stride as u64,
                    step_mode: wgpu::VertexStepMode::Instance,
                    attributes,
                }),
                topology,
                depth: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(solid),
                    depth_compare: Some(wgpu::CompareFunction::Greater),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                samples: SAMPLES,
                target: wgpu::ColorTargetState {
                    format: COLOR,
                    blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                },
            };
            Drawing::new(gpu, "render/overlay", &source, form)
        };
        const LINE: [wgpu::VertexAttribute; 4] =
            wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4, 2 => Float32x3, 3 => Float32];
        const POINT: [wgpu::VertexAttribute; 4] =
            wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4, 2 => Float32x2, 3 => Float32];
        const TRIANGLE: [wgpu::VertexAttribute; 4] =
            wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4, 2 => Float32x3, 3 => Float32x3];
        let usage = wgpu::TextureUsages::TEXTURE_BINDING;
        Ok(Self {
            lines: make("line", size_of::<Line>(), &LINE, TriangleStrip, true),
            points: make("point", size_of::<Point>(), &POINT, TriangleStrip, true),
            triangles: make("triangle", size_of::<Triangle>(), &TRIANGLE, TriangleList, false),
            layer: Uniform::new(gpu, &LayerData::zeroed()),
            loaded: None,
            targets: None,
            nothing: texture(gpu, [1, 1], 1, COLOR, usage)?,
        })
    }

    /// Input of the compose pass if there is no overlay.
    pub fn nothing(&self) -> wgpu::TextureView {
        self.nothing.clone()
    }

    /// Records the pass; `frame` is in `uniform`, `hits` are this frame's. Returns its target.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when the adapter cannot hold the overlay.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        overlay: &Arc<Overlay>,
        (frame, uniform): (&FrameData, &Uniform<FrameData>),
        hits: &Buffer<HitData>,
    ) -> Result<wgpu::TextureView, GpuError> {
        let loaded = match self.loaded.take() {
            Some(loaded) if Arc::ptr_eq(&loaded.of, overlay) => loaded,
            _ => Loaded::new(gpu, overlay)?,
        };
        let loaded = self.loaded.insert(loaded);
        loaded.sort(gpu, frame.eye, frame.ahead);
        let targets = match self.targets.take() {
            Some(targets) if targets.size == frame.size => targets,
            _ => Targets::new(gpu, frame.size)?,
        };
        let targets = self.targets.insert(targets);
        let near = NEAR * (frame.target - frame.eye).length().max(1e-6);
        let through = overlay.through.clamp(0.0, 1.0);
        let layer = LayerData { near, lift: overlay.lift.max(0.0), through, pad: 0.0 };
        self.layer.write(gpu, &layer);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("render/overlay"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &targets.samples,
                depth_slice: None,
                resolve_target: Some(&targets.picture),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        let given = bind![frame: uniform, hits, layer: self.layer];
        let draws = [
            (&self.lines, &loaded.lines, 4, overlay.lines.len()),
            (&self.points, &loaded.points, DISC_CORNERS, overlay.points.len()),
            (&self.triangles, &loaded.triangles, 3, overlay.triangles.len()),
        ];
        for (drawing, buffer, corners, count) in draws {
            if let Some(buffer) = buffer {
                drawing.begin(gpu, &mut pass, given)?;
                pass.set_vertex_buffer(0, buffer.slice(..));
                pass.draw(0..corners, 0..count as u32);
            }
        }
        drop(pass);
        Ok(targets.picture.clone())
    }

    /// The resolved texture, for tests.
    #[cfg(test)]
    pub fn picture(&self) -> Option<&wgpu::Texture> {
        self.targets.as_ref().map(|targets| targets.picture.texture())
    }
}

impl Loaded {
    fn new(gpu: &Gpu, overlay: &Arc<Overlay>) -> Result<Self, GpuError> {
        Ok(Self {
            lines: upload(gpu, &overlay.lines)?,
            points: upload(gpu, &overlay.points)?,
            triangles: upload(gpu, &overlay.triangles)?,
            of: Arc::clone(overlay),
            sorted_for: None,
        })
    }

    fn sort(&mut self, gpu: &Gpu, eye: Vec3, forward: Vec3) {
        let Some(buffer) = self.triangles.as_ref().filter(|_| self.sorted_for != Some([eye, forward])) else {
            return;
        };
        let order = self.of.back_to_front(eye, forward);
        let sorted: Vec<Triangle> = order.iter().map(|i| self.of.triangles[*i as usize]).collect();
        gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(&sorted));
        self.sorted_for = Some([eye, forward]);
    }
}

fn upload<T: Pod>(gpu: &Gpu, data: &[T]) -> Result<Option<wgpu::Buffer>, GpuError> {
    if data.is_empty() {
        return Ok(None);
    }
    let needed = size_of_val(data) as u64;
    if needed > gpu.limits.max_buffer_size {
        let allowed = gpu.limits.max_buffer_size;
        return Err(GpuError::TooLarge { what: "the overlay".into(), needed, allowed });
    }
    let buffer = gpu.allocate("the overlay", needed, |device| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("overlay"),
            size: needed,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    })?;
    gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(data));
    Ok(Some(buffer))
}

impl Targets {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, GpuError> {
        let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let read = attachment | wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_SRC;
        Ok(Self {
            size,
            samples: texture(gpu, size, SAMPLES, COLOR, attachment)?,
            depth: texture(gpu, size, SAMPLES, DEPTH, attachment)?,
            picture: texture(gpu, size, 1, COLOR, read)?,
        })
    }
}

fn texture(
    gpu: &Gpu,
    [width, height]: [u32; 2],
    sample_count: u32,
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> Result<wgpu::TextureView, GpuError> {
    let bytes = 4 * u64::from(sample_count) * u64::from(width) * u64::from(height);
    let texture = gpu.allocate(PICTURE, bytes, |device| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: Some("overlay"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    })?;
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_put_in_order() {
        let numbers = [f32::NEG_INFINITY, -3.0, -1e-30, -0.0, 0.0, 1e-30, 2.5, 7.0, f32::INFINITY];
        assert!(numbers.windows(2).all(|w| ordered(w[0]) <= ordered(w[1])));
        assert!(ordered(-3.0) < ordered(-2.0) && ordered(2.0) < ordered(3.0));
    }

    #[test]
    fn triangles_go_from_far_to_near() {
        let at = |z: f32| Triangle {
            a: Vec3::new(0.0, 0.0, z),
            color: [255; 4],
            b: Vec3::new(1.0, 0.0, z),
            c: Vec3::new(0.0, 1.0, z),
        };
        let overlay = Overlay { triangles: vec![at(0.0), at(-4.0), at(2.0), at(-1.0)], ..Overlay::default() };
        assert_eq!(overlay.back_to_front(Vec3::new(0.0, 0.0, 5.0), Vec3::NEG_Z), [1, 3, 0, 2]);
        assert_eq!(overlay.back_to_front(Vec3::new(0.0, 0.0, -9.0), Vec3::Z), [2, 0, 3, 1]);
    }

    #[test]
    fn a_wire_box_has_its_twelve_edges_once() {
        let mut overlay = Overlay::default();
        overlay.wire_box(Vec3::ONE, [Vec3::X, Vec3::Y * 2.0, Vec3::Z * 3.0], [1, 2, 3, 4], 1.0);
        assert_eq!(overlay.lines.len(), 12);
        let lengths: f32 = overlay.lines.iter().map(|l| l.start.distance(l.end)).sum();
        assert!((lengths - 24.0).abs() < 1e-5);
        for (i, line) in overlay.lines.iter().enumerate() {
            assert!(!overlay.lines[..i].contains(line));
        }
    }
}
