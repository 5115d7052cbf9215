//! The surfaces of a frame's bodies on the device: hierarchy, triangles, corners, materials and texels in one buffer.
//!
//! In: the bodies of a frame. Out: words as `shaders/render/mesh.wgsl` reads them, and each surface's offset. Surfaces
//! also in the previous frame stay in place, and new ones are appended; unused surfaces are freed when space is needed,
//! or when they take most of the buffer.
//!
//! A buffer may not be larger than the adapter's largest binding (128 MiB on some: about a million triangles). A
//! surface that does not fit is not drawn on that adapter; the others are.
//!
//! # Buffers of the picture's size: hits, looks, light, history, and the picture itself
//!
//! In: a size. Out: buffers for the passes; pictures and hits read back.

use std::collections::{HashMap, HashSet};

use bytemuck::{Pod, Zeroable};

use super::{
    PixelHit, RenderBody,
    effects::{Effect, effects_of},
};
use crate::{
    gpu::{Buffer, Gpu, GpuError, PICTURE, layout},
    mesh::{Material, Texture},
    shape::{PieceMesh, Side, SolidMesh},
    svo::pack_normal,
};

/// Four words, the unit of the buffer.
type Quad = [u32; 4];

/// A buffer with fewer quads than this in use is never compacted.
const SMALL: usize = 1 << 14;
/// Material of a crack face.
const INSIDE: u32 = 0;
/// Quads of a material.
const MATERIAL: usize = 3;
/// Beside the number of materials: some of them have holes.
const CUT_OUT: u32 = 1 << 31;
/// Vertices hold a material's number in three bytes.
const MOST_MATERIALS: u32 = (1 << 24) - 2;

/// Surfaces on the device.
pub(super) struct Surfaces {
    words: Buffer<Quad>,
    /// First unused quad.
    used: usize,
    surfaces: HashMap<Key, Held>,
    /// Materials by their address; the surfaces in the buffer keep them alive.
    materials: HashMap<usize, Materials>,
    /// Surfaces of the last frame, whether they fitted or not.
    shown: Vec<SolidMesh>,
}

/// Materials in the buffer.
#[derive(Clone, Copy)]
struct Materials {
    /// First quad.
    first: usize,
    has_holes: bool,
}

/// See [`SolidMesh::key`].
type Key = (usize, usize);

/// A surface in the buffer, kept alive so that its address is not reused.
struct Held {
    _solid: SolidMesh,
    first: usize,
}

impl Surfaces {
    /// An empty buffer.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self::within(Buffer::zeroed(gpu, "surfaces", 1)?))
    }

    fn within(words: Buffer<Quad>) -> Self {
        let (surfaces, materials) = (HashMap::new(), HashMap::new());
        Self { words, used: 0, surfaces, materials, shown: Vec::new() }
    }

    /// The words of all surfaces.
    pub fn words(&self) -> &Buffer<Quad> {
        &self.words
    }

    /// First quad of a surface; `None` if it is not in the buffer.
    pub fn place(&self, solid: &SolidMesh) -> Option<u32> {
        u32::try_from(self.surfaces.get(&solid.key())?.first).ok()
    }

    /// Uploads the surfaces of `bodies` that are not in the buffer.
    ///
    /// # Errors
    /// [`GpuError`]; what was there is there still.
    pub fn hold(&mut self, gpu: &Gpu, bodies: &[RenderBody]) -> Result<(), GpuError> {
        let mut keys = HashSet::new();
        let surfaces = bodies.iter().filter_map(|body| body.shape.drawn_surface());
        let shown: Vec<&SolidMesh> = surfaces.filter(|solid| keys.insert(solid.key())).collect();
        if shown.iter().map(|solid| solid.key()).eq(self.shown.iter().map(SolidMesh::key)) {
            return Ok(());
        }
        let is_new = |solid: &&&SolidMesh| !self.surfaces.contains_key(&solid.key());
        let new: Vec<&SolidMesh> = shown.iter().filter(is_new).copied().collect();
        let needed = quads_of_all(&new, self.materials.keys().copied().collect());
        let is_waste = self.used > SMALL.max(4 * quads_of_all(&shown, HashSet::new()));
        if self.used + needed <= self.words.len() && !is_waste {
            let most = self.words.len() - self.used;
            let mut packed = Packed { first: self.used, quads: Vec::new(), most };
            new.iter().for_each(|solid| self.append(&mut packed, solid));
            self.words.write(gpu, self.used, &packed.quads);
            self.used += packed.quads.len();
        } else {
            self.rebuild(gpu, &shown)?;
        }
        self.shown = shown.into_iter().cloned().collect();
        Ok(())
    }

    /// Moves exactly these surfaces to a new buffer.
    fn rebuild(&mut self, gpu: &Gpu, shown: &[&SolidMesh]) -> Result<(), GpuError> {
        let most = (gpu.max_binding() / size_of::<Quad>() as u64) as usize;
        let mut packed = Packed { first: 0, quads: Vec::new(), most };
        let mut next = Self::within(self.words.clone());
        shown.iter().for_each(|solid| next.append(&mut packed, solid));
        next.used = packed.quads.len();
        let room = (next.used + next.used / 2).clamp(1, most.max(1));
        next.words = Buffer::zeroed(gpu, "surfaces", room)?;
        next.words.write(gpu, 0, &packed.quads);
        *self = next;
        Ok(())
    }

    /// Packs a surface, and its materials unless they are there; does nothing if they do not fit.
    fn append(&mut self, packed: &mut Packed, solid: &SolidMesh) {
        let known = self.materials.get(&solid.key().1).copied();
        let beside = if known.is_some() { 0 } else { quads_of_materials(solid.materials()) };
        if packed.quads.len() + quads_of(solid) + beside > packed.most {
            tracing::warn!("a surface of {} triangles does not fit", solid.surface().triangles.len());
            return;
        }
        let materials = known.unwrap_or_else(|| {
            let effects = effects_of(solid.materials());
            let has_holes = effects.iter().any(|effect| effect.least_opacity > 0.0);
            let made = Materials { first: packed.end(), has_holes };
            packed.materials(solid.materials(), &effects);
            self.materials.insert(solid.key().1, made);
            made
        });
        let first = packed.end();
        packed.surface(solid, materials);
        let held = Held { _solid: solid.clone(), first };
        self.surfaces.insert(solid.key(), held);
    }
}

/// Size of a surface, quads.
fn quads_of(solid: &SolidMesh) -> usize {
    let tree = solid.tree();
    1 + 2 * tree.nodes.len() + 6 * tree.triangles.len()
}

/// Size of surfaces with their materials, quads, without duplicates and without materials already there.
fn quads_of_all(solids: &[&SolidMesh], mut there: HashSet<usize>) -> usize {
    let of = |solid: &&SolidMesh| {
        let is_new = there.insert(solid.key().1);
        quads_of(solid) + if is_new { quads_of_materials(solid.materials()) } else { 0 }
    };
    solids.iter().map(of).sum()
}

fn quads_of_materials(materials: &[Material]) -> usize {
    let effects = effects_of(materials);
    let sizes = textures(materials, &effects).map(|(_, texels)| texels.len().div_ceil(4));
    MATERIAL * materials.len() + sizes.sum::<usize>()
}

/// Size and texels of a texture.
type Texels<'a> = ([u32; 2], &'a [[u8; 4]]);

/// Of each material the texture of its colour, then the map of its light; a size of 0 without one.
fn textures<'a>(materials: &'a [Material], effects: &'a [Effect]) -> impl Iterator<Item = Texels<'a>> {
    let of = |(material, effect): (&'a Material, &'a Effect)| {
        [material.texture.as_deref(), effect.map.as_deref()].map(|of| of.and_then(texels).unwrap_or_default())
    };
    materials.iter().zip(effects).flat_map(of)
}

/// Size and texels of a texture, if it is complete.
fn texels(texture: &Texture) -> Option<Texels<'_>> {
    let count = (texture.width as usize).checked_mul(texture.height as usize)?;
    let texels = texture.rgba.as_chunks().0.get(..count)?;
    (count > 0).then_some(([texture.width, texture.height], texels))
}

/// Packed quads, to be written from `first` on.
struct Packed {
    first: usize,
    quads: Vec<Quad>,
    /// Limit of the buffer.
    most: usize,
}

impl Packed {
    fn end(&self) -> usize {
        self.first + self.quads.len()
    }

    /// Packs of each material its colour, size and first texel; its least opacity and its light; size and first texel of
    /// the light's map. Then the texels.
    fn materials(&mut self, materials: &[Material], effects: &[Effect]) {
        let mut next = self.end() + MATERIAL * materials.len();
        let mut placed = |of: Option<&Texture>| {
            let ([width, height], texels) = of.and_then(texels).unwrap_or_default();
            let first = next as u32;
            next += texels.len().div_ceil(4);
            [width, height, first]
        };
        for (material, effect) in materials.iter().zip(effects) {
            let [width, height, first] = placed(material.texture.as_deref());
            let [r, g, b] = effect.light.to_array().map(f32::to_bits);
            self.quads.push([word(material.color), width, height, first]);
            self.quads.push([effect.least_opacity.to_bits(), r, g, b]);
            let [width, height, first] = placed(effect.map.as_deref());
            self.quads.push([width, height, first, 0]);
        }
        for (_, texels) in textures(materials, effects) {
            self.quads.extend(texels.chunks(4).map(|four| {
                let mut quad = [0; 4];
                quad.iter_mut().zip(four).for_each(|(word, texel)| *word = u32::from_le_bytes(*texel));
                quad
            }));
        }
    }

    /// Packs a header with the offsets of triangles, vertices and materials and the number of materials; then nodes,
    /// triangles, vertices.
    fn surface(&mut self, solid: &SolidMesh, materials: Materials) {
        let (tree, surface) = (solid.tree(), solid.surface());
        let first = self.end();
        let triangles = first + 1 + 2 * tree.nodes.len();
        let corners = triangles + 3 * tree.triangles.len();
        let count = solid.materials().len() as u32 | if materials.has_holes { CUT_OUT } else { 0 };
        self.quads.push([triangles as u32, corners as u32, materials.first as u32, count]);
        self.quads.extend_from_slice(bytemuck::cast_slice(&tree.nodes));
        self.quads.extend_from_slice(bytemuck::cast_slice(&tree.triangles));
        let last = solid.materials().len() as u32;
        for triangle in &tree.triangles {
            self.quads.extend(packed_corners(surface, triangle.index as usize, last));
        }
    }
}

/// Normal, colour and texture coordinates of a triangle's vertices. The highest bytes of the colours hold the
/// material's number plus one, or [`INSIDE`].
fn packed_corners(surface: &PieceMesh, triangle: usize, materials: u32) -> [Quad; 3] {
    let material = match surface.faces[triangle].side {
        Side::Inside | Side::Later(_) => INSIDE,
        Side::Outside { material } => material.min(materials).min(MOST_MATERIALS) + 1,
    };
    let corners = &surface.corners[triangle];
    [0, 1, 2].map(|k| {
        let corner = &corners[k];
        let color = word(corner.color) | (material >> (8 * k) & 0xff) << 24;
        [pack_normal(corner.normal), color, corner.uv[0].to_bits(), corner.uv[1].to_bits()]
    })
}

fn word([r, g, b]: [u8; 3]) -> u32 {
    u32::from_le_bytes([r, g, b, 0])
}

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
    /// Colours and marks of all pixels, then the light that they emit.
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
            looks: Buffer::zeroed(gpu, PICTURE, 2 * pixels)?,
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
    gpu.submit([encoder.finish()]);
    let words = staging.read(gpu)?;
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    Ok(bytes.chunks_exact(padded as usize).flat_map(|r| r[..row as usize].iter().copied()).collect())
}
