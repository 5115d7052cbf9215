//! The surfaces of a frame's bodies on the device: hierarchy, triangles, corners, materials and texels in one buffer.
//!
//! In: the bodies of a frame. Out: words as `shaders/render/mesh.wgsl` reads them, and where each surface begins. What
//! the frame before showed as well stays where it is; what is new is written behind it; what nothing shows any more
//! gives its place back when room is needed, or when it is most of what is held.
//!
//! A buffer may not be larger than the adapter's largest binding (128 MiB on some: about a million triangles). A
//! surface that does not fit is not drawn on that adapter; the others are.

use std::collections::{HashMap, HashSet};

use super::RenderBody;
use crate::{
    gpu::{Buffer, Gpu, GpuError},
    mesh::Material,
    shape::{PieceMesh, Side, SolidMesh},
    svo::pack_normal,
};

/// Four words, the unit of the buffer.
type Quad = [u32; 4];

/// Held for less than four times what is shown it is not worth while to move everything.
const SMALL: usize = 1 << 14;
/// Material of a crack face.
const INSIDE: u32 = 0;
/// Corners hold a material's number in three times eight bits.
const MOST_MATERIALS: u32 = (1 << 24) - 2;

/// Surfaces on the device.
pub(super) struct Surfaces {
    words: Buffer<Quad>,
    /// First free quad.
    used: usize,
    surfaces: HashMap<Key, Held>,
    /// First quads of materials, by their address; surfaces that are held hold them.
    materials: HashMap<usize, usize>,
    /// What the last frame showed, whether it fitted or not.
    shown: Vec<SolidMesh>,
}

/// See [`SolidMesh::key`].
type Key = (usize, usize);

/// A surface in the buffer. Keeping it keeps its address from being used again.
struct Held {
    _solid: SolidMesh,
    first: usize,
}

impl Surfaces {
    /// None.
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

    /// First quad of a surface; `None` where it is not there.
    pub fn place(&self, solid: &SolidMesh) -> Option<u32> {
        u32::try_from(self.surfaces.get(&solid.key())?.first).ok()
    }

    /// Sees to it that the surfaces of `bodies` are there.
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

    /// Puts these surfaces, and nothing else, into a buffer of their own.
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

    /// Packs a surface, and its materials where they are not there yet; neither where they do not fit.
    fn append(&mut self, packed: &mut Packed, solid: &SolidMesh) {
        let known = self.materials.get(&solid.key().1).copied();
        let beside = if known.is_some() { 0 } else { quads_of_materials(solid.materials()) };
        if packed.quads.len() + quads_of(solid) + beside > packed.most {
            tracing::warn!("a surface of {} triangles does not fit", solid.surface().triangles.len());
            return;
        }
        let first_material = known.unwrap_or_else(|| {
            let first = packed.end();
            packed.materials(solid.materials());
            self.materials.insert(solid.key().1, first);
            first
        });
        let first = packed.end();
        packed.surface(solid, first_material);
        let held = Held { _solid: solid.clone(), first };
        self.surfaces.insert(solid.key(), held);
    }
}

/// Quads that a surface takes.
fn quads_of(solid: &SolidMesh) -> usize {
    let tree = solid.tree();
    1 + 2 * tree.nodes.len() + 6 * tree.triangles.len()
}

/// Quads that surfaces take with their materials, each once, beside those that are there.
fn quads_of_all(solids: &[&SolidMesh], mut there: HashSet<usize>) -> usize {
    let of = |solid: &&SolidMesh| {
        let is_new = there.insert(solid.key().1);
        quads_of(solid) + if is_new { quads_of_materials(solid.materials()) } else { 0 }
    };
    solids.iter().map(of).sum()
}

fn quads_of_materials(materials: &[Material]) -> usize {
    materials
        .iter()
        .map(|material| 1 + texels(material).map_or(0, |(_, texels)| texels.len().div_ceil(4)))
        .sum()
}

/// Size and texels of a material's texture, where it has a whole one.
fn texels(material: &Material) -> Option<([u32; 2], &[[u8; 4]])> {
    let texture = material.texture.as_ref()?;
    let count = (texture.width as usize).checked_mul(texture.height as usize)?;
    let texels = texture.rgba.as_chunks().0.get(..count)?;
    (count > 0).then_some(([texture.width, texture.height], texels))
}

/// Quads that follow those in front of `first`.
struct Packed {
    first: usize,
    quads: Vec<Quad>,
    /// No more fit.
    most: usize,
}

impl Packed {
    fn end(&self) -> usize {
        self.first + self.quads.len()
    }

    /// Colour, size and first texel of each, then the texels.
    fn materials(&mut self, materials: &[Material]) {
        let mut next = self.end() + materials.len();
        for material in materials {
            let found = texels(material);
            let ([width, height], length) =
                found.map_or(([0; 2], 0), |(size, texels)| (size, texels.len().div_ceil(4)));
            self.quads.push([word(material.color), width, height, next as u32]);
            next += length;
        }
        for (_, texels) in materials.iter().filter_map(texels) {
            self.quads.extend(texels.chunks(4).map(|four| {
                let mut quad = [0; 4];
                quad.iter_mut().zip(four).for_each(|(word, texel)| *word = u32::from_le_bytes(*texel));
                quad
            }));
        }
    }

    /// A head that says where triangles, corners and materials begin and how many materials there are; nodes,
    /// triangles, corners.
    fn surface(&mut self, solid: &SolidMesh, materials: usize) {
        let (tree, surface) = (solid.tree(), solid.surface());
        let first = self.end();
        let triangles = first + 1 + 2 * tree.nodes.len();
        let corners = triangles + 3 * tree.triangles.len();
        self.quads.push([triangles as u32, corners as u32, materials as u32, solid.materials().len() as u32]);
        self.quads.extend_from_slice(bytemuck::cast_slice(&tree.nodes));
        self.quads.extend_from_slice(bytemuck::cast_slice(&tree.triangles));
        let last = solid.materials().len() as u32;
        for triangle in &tree.triangles {
            self.quads.extend(packed_corners(surface, triangle.index as usize, last));
        }
    }
}

/// Normal, colour and place in the texture of a triangle's corners. The highest bytes of the colours are its material's
/// number plus one, or [`INSIDE`].
fn packed_corners(surface: &PieceMesh, triangle: usize, materials: u32) -> [Quad; 3] {
    let material = match surface.faces[triangle].side {
        Side::Inside => INSIDE,
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
