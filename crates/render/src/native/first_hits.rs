//! First hits of a band of rows, tile by tile, eight rays at a time.
//!
//! Rectangles of bodies in the picture, used to select the bodies of a tile instead of testing a hierarchy for every
//! ray.
//!
//! # The picture as a texture of the device that shows the window
//!
//! # Buffers of the picture's size, in memory

use bytemuck::Zeroable;
use glam::Vec3;

use super::{
    BAND,
    light::Texel,
    packet::{Hits, Packet, Stack, walk},
    primary,
    scene::{BODY_SKY, FLAG_FLOOR, Scene},
    surface::Blends,
    wide::{LANES, each_axis},
};
use crate::{
    geometry::simd::{F32x8, Simd, Work},
    gpu::{Gpu, GpuError, PICTURE},
    surfaces::HitData,
    tables::BOX_LEAF,
};

/// Width and height of a tile, pixels.
const TILE: usize = 8;
/// Size of a packet: four pixels in each of two rows.
const PACKET: [usize; 2] = [4, 2];
const PACKETS: usize = TILE * TILE / LANES;

/// A thread's buffers, reused between bands.
#[derive(Default)]
pub(super) struct Scratch {
    blends: Blends,
    stack: Stack,
    /// Bodies that may be visible in the band, and in a tile.
    band: Vec<Silhouette>,
    tile: Vec<Silhouette>,
}

/// First hits of a band of rows.
pub(super) struct FirstHits<'a> {
    pub scene: &'a Scene<'a>,
    /// Silhouettes of all bodies, nearest first.
    pub silhouettes: &'a [Silhouette],
    /// First row of the band.
    pub first: u32,
    pub scratch: &'a mut Scratch,
    pub hits: &'a mut [HitData],
    pub looks: &'a mut [u32],
    /// Emitted light, as [`glow_of`](crate::effects::glow_of) reads it.
    pub glows: &'a mut [u32],
    /// Whether the appearance of hits is computed, too.
    pub looks_too: bool,
}

impl Work for FirstHits<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let width = self.scene.frame.size[0] as usize;
        let rows = self.hits.len() / width;
        let (top, bottom) = (self.first as f32, (self.first + BAND) as f32);
        let Scratch { band, .. } = self.scratch;
        band.clear();
        let met = self.silhouettes.iter().filter(|of| of.meets([0.0, top], [width as f32, bottom]));
        band.extend(met);
        for left in (0..width).step_by(TILE) {
            let Scratch { band, tile, .. } = self.scratch;
            tile.clear();
            let right = (left + TILE) as f32;
            tile.extend(band.iter().filter(|of| of.meets([left as f32, top], [right, bottom])));
            self.tile::<S::F32x8>(left, rows);
        }
    }
}

impl FirstHits<'_> {
    /// Computes a tile of the band with `rows` rows.
    #[inline(always)]
    fn tile<L: F32x8>(&mut self, left: usize, rows: usize) {
        let frame = &self.scene.frame;
        let width = frame.size[0] as usize;
        let mut packets = [self.packet::<L>(left, 0); PACKETS];
        for (i, packet) in packets.iter_mut().enumerate().skip(1) {
            *packet = self.packet::<L>(left, i);
        }
        let Scratch { stack, tile, .. } = &mut *self.scratch;
        for of in tile.iter() {
            let farthest = packets.iter().fold(L::splat(0.0), |far, packet| far.max(packet.hits.distance));
            if of.near > farthest.greatest() {
                break;
            }
            let edge = (TILE / 2) as f32 * frame.pixel_cone * of.near;
            let voxel = self.scene.bodies[of.body as usize].voxel;
            let fine = ((edge / voxel).min(1024.0) as u32).next_power_of_two().max(2);
            walk(&mut packets, self.scene, of.body, fine, stack);
        }
        for (k, packet) in packets.iter().enumerate() {
            // Clipping planes end rays before floor and sky.
            let is_cut = self.scene.clip_count() != 0;
            let beyond =
                if is_cut { reach(self.scene, packet.direction[1]) } else { packet.hits.distance }.array();
            if packet.hits.met == 0 {
                self.store_beyond(left, k, beyond);
                continue;
            }
            let each = each_axis!(k: packet.direction[k].array());
            let hits = packet.hits.each(self.scene);
            let [from_x, from_row] = place(k);
            for (i, hit) in hits.iter().enumerate() {
                let (x, row) = (left + from_x + i % PACKET[0], from_row + i / PACKET[0]);
                if x >= width || row >= rows {
                    continue;
                }
                let at = row * width + x;
                // Written word by word: assembling a whole hit in memory and reading it at once would stall.
                let (stored, look) = (&mut self.hits[at], &mut self.looks[at]);
                if hit.body == BODY_SKY {
                    let HitData { body, leaf, distance, normal } = primary::beyond(beyond[i]);
                    (stored.body, stored.leaf) = (body, leaf);
                    (stored.distance, stored.normal) = (distance, normal);
                    *look = 0;
                } else {
                    let along = glam::Vec3::new(each[0][i], each[1][i], each[2][i]);
                    let cap = self.scene.cap(hit, along);
                    let distance = cap.map_or(hit.distance, |(distance, _)| distance);
                    (stored.body, stored.leaf, stored.distance) = (hit.body, hit.leaf, distance);
                    if !self.looks_too {
                        stored.leaf = self.scene.leaf_of(hit);
                        continue;
                    }
                    (stored.leaf, stored.normal, *look, self.glows[at]) =
                        primary::appearance::<L>(self.scene, (hit, cap), along, &mut self.scratch.blends);
                }
            }
        }
    }

    /// Stores floor and sky for a packet that hit no body.
    #[inline(always)]
    fn store_beyond(&mut self, left: usize, k: usize, distance: [f32; LANES]) {
        let width = self.scene.frame.size[0] as usize;
        let [from_x, from_row] = place(k);
        for line in 0..PACKET[1] {
            let x = left + from_x;
            let from = (from_row + line) * width + x;
            let count = PACKET[0].min(width.saturating_sub(x));
            let hits = self.hits.get_mut(from..from + count).unwrap_or_default();
            for (stored, last) in hits.iter_mut().zip(&distance[line * PACKET[0]..]) {
                let HitData { body, leaf, distance, normal } = primary::beyond(*last);
                (stored.body, stored.leaf) = (body, leaf);
                (stored.distance, stored.normal) = (distance, normal);
            }
            self.looks.get_mut(from..from + count).unwrap_or_default().fill(0);
        }
    }

    /// Packet `k` of a tile.
    #[inline(always)]
    fn packet<L: F32x8>(&self, left: usize, k: usize) -> Packet<L> {
        let frame = &self.scene.frame;
        let [x, row] = place(k);
        let (x, row) = (left + x, self.first as usize + row);
        let columns = L::of(std::array::from_fn(|i| (x + i % PACKET[0]) as f32 + 0.5));
        let lines = L::of(std::array::from_fn(|i| (row + i / PACKET[0]) as f32 + 0.5));
        let direction = self.scene.rays(columns, lines);
        let origin = each_axis!(k: L::splat(frame.eye[k]));
        let whole = (L::splat(0.0), reach(self.scene, direction[1]));
        let (first, last) = self.scene.clipped((&origin, &direction), whole);
        Packet {
            origin,
            direction,
            cut_slope: frame.pixel_cone,
            first,
            open: (1 << LANES) - 1,
            any: false,
            looks: true,
            hits: Hits::none(last),
        }
    }
}

/// Upper left pixel of a packet in its tile.
#[inline(always)]
fn place(packet: usize) -> [usize; 2] {
    const ACROSS: usize = TILE / PACKET[0];
    [packet % ACROSS * PACKET[0], packet / ACROSS * PACKET[1]]
}

/// Distance at which rays reach the floor, m, by their upward component; 1e9 if there is no floor.
#[inline(always)]
fn reach<L: F32x8>(scene: &Scene<'_>, up: L) -> L {
    let frame = &scene.frame;
    let never = L::splat(1e9);
    if frame.flags & FLAG_FLOOR == 0 {
        return never;
    }
    let t = L::splat(frame.floor_y - frame.eye.y).div(up);
    let meets = up.less(L::splat(-1e-6)) & L::splat(0.0).less(t);
    L::mask(meets).select(t.min(never), never)
}

/// A body in the picture.
#[derive(Clone, Copy)]
pub(super) struct Silhouette {
    pub body: u32,
    /// Lower bound of the distance of hits, m.
    pub near: f32,
    /// First and last pixel that may show it.
    low: [f32; 2],
    high: [f32; 2],
}

/// Rays pass up to this far from their pixel's corner.
const MARGIN: f32 = 2.0;

/// All bodies that can be drawn, nearest first.
pub(super) fn silhouettes(scene: &Scene<'_>) -> Vec<Silhouette> {
    let bodies = scene.boxes.iter().filter(|of| of.first & BOX_LEAF != 0);
    let mut all: Vec<Silhouette> = bodies
        .filter_map(|of| {
            let (low, high) = (of.low, of.high);
            let near = scene.frame.eye.distance(scene.frame.eye.clamp(low, high));
            let [from, to] = rectangle(scene, low, high)?;
            // Reduced so that rounding cannot exclude a hit.
            Some(Silhouette { body: of.first & !BOX_LEAF, near: near * 0.9999, low: from, high: to })
        })
        .collect();
    all.sort_by(|a, b| a.near.total_cmp(&b.near).then(a.body.cmp(&b.body)));
    all
}

impl Silhouette {
    /// Whether it may be visible in a rectangle of pixels.
    #[inline(always)]
    pub fn meets(&self, low: [f32; 2], high: [f32; 2]) -> bool {
        (0..2).all(|k| self.low[k] <= high[k] && self.high[k] >= low[k])
    }
}

/// Bounding rectangle of a box in the picture; the whole picture if the box reaches behind the camera, `None` if all of
/// it is behind.
fn rectangle(scene: &Scene<'_>, low: Vec3, high: Vec3) -> Option<[[f32; 2]; 2]> {
    let frame = &scene.frame;
    let (mut from, mut to) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let over_square = |v: Vec3| v / v.length_squared();
    let (right, up) = (over_square(frame.right), over_square(frame.up));
    let near = 1e-3 * (frame.target - frame.eye).length();
    let mut before = 0;
    for k in 0..8 {
        let corner = Vec3::select(glam::BVec3::new(k & 1 != 0, k & 2 != 0, k & 4 != 0), high, low);
        let from_eye = corner - frame.eye;
        let depth = from_eye.dot(frame.ahead);
        if depth <= near {
            continue;
        }
        before += 1;
        // Relative to the picture's middle, which a lens shifts.
        let p = from_eye - (frame.forward - frame.ahead) * depth;
        let at = Vec3::new(p.dot(right) / depth, -p.dot(up) / depth, 0.0);
        (from, to) = (from.min(at), to.max(at));
    }
    let size = frame.size.map(|v| v as f32);
    match before {
        // The camera may be inside the box, just before its farthest corner.
        0 if frame.eye.clamp(low, high).distance(frame.eye) > 2.0 * near => None,
        8 => {
            let pixel = |of: Vec3, k: usize| (of[k] + 1.0) * 0.5 * size[k];
            Some([
                [pixel(from, 0) - MARGIN, pixel(from, 1) - MARGIN],
                [pixel(to, 0) + MARGIN, pixel(to, 1) + MARGIN],
            ])
        }
        _ => Some([[-MARGIN; 2], size.map(|v| v + MARGIN)]),
    }
}

/// The uploaded texture.
#[derive(Default)]
pub struct Shown {
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

/// Hits, looks, light, overlay, history and the picture of one size.
#[derive(Default)]
pub struct Targets {
    pub size: [u32; 2],
    pub hits: Vec<HitData>,
    /// Colours and marks of all pixels, then the light that they emit.
    pub looks: Vec<u32>,
    pub lights: Vec<Texel>,
    /// Linear, premultiplied; empty if there is no overlay.
    pub overlay: Vec<[f32; 4]>,
    /// Rows of four planes: accumulated colour, linear and premultiplied; and alpha.
    pub history: Vec<f32>,
    /// RGBA8 rows from the top.
    pub picture: Vec<u8>,
}

impl Targets {
    /// Resizes the buffers; returns whether the size has changed.
    pub fn resize(&mut self, size: [u32; 2]) -> bool {
        if self.size == size {
            return false;
        }
        let pixels = size[0] as usize * size[1] as usize;
        self.size = size;
        self.hits.resize(pixels, HitData::zeroed());
        self.looks.resize(2 * pixels, 0);
        self.history.resize(4 * pixels, 0.0);
        self.picture.resize(4 * pixels, 0);
        true
    }

    /// Makes room for the light of a frame.
    pub fn light_for(&mut self, [width, height]: [u32; 2]) {
        self.lights.resize(width as usize * height as usize, [0; 4]);
    }

    /// The history, pixel by pixel.
    #[cfg(test)]
    pub fn history_pixels(&self) -> Vec<[f32; 4]> {
        let width = self.size[0] as usize;
        let rows = self.history.chunks_exact(4 * width);
        rows.flat_map(|row| (0..width).map(|x| std::array::from_fn(|k| row[k * width + x]))).collect()
    }
}
