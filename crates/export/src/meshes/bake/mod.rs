//! Bakes the look of crack faces to textures: colour, normal, roughness and height, one atlas an object.
//!
//! In: the meshes of all pieces of an object, before and after their crack faces were displaced, and the material inside.
//! Out: [`Maps`], and the meshes with texture coordinates of the atlas on their crack faces. Three steps: `charts` lays crack
//! faces flat, `pack` gives the charts room in a square, `texels` evaluates the relief at every texel. Charts have world
//! size, and all steps depend on the meshes alone, so that the same pieces give the same bytes.

mod charts;
mod pack;
#[cfg(test)]
mod tests;
mod texels;

use std::{path::Path, sync::Arc};

use glam::Vec3;
use rayon::prelude::*;

pub use self::texels::Cracked;
use self::{
    charts::{Chart, charts},
    pack::pack,
    texels::{Placed, Texels},
};
use super::{PieceMesh, WrittenMesh};
use crate::{ExportError, Watch, fracture::Volume, memory};

/// The folder of the images of an export.
pub const TEXTURES: &str = "textures";

/// Images of the crack faces of an object, square, as PNG.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Maps {
    /// Texels a side.
    pub size: u32,
    /// Side of a texel, m of shape space.
    pub texel: f64,
    /// Largest height, m of shape space; its height is 1 or 255.
    pub height_range: f64,
    /// sRGB with alpha.
    pub color: Vec<u8>,
    /// Tangent space, 0.5 + 0.5 n; y points up in the image.
    pub normal: Vec<u8>,
    /// Roughness is green, metalness (none) blue, as in glTF.
    pub roughness: Vec<u8>,
    /// Signed displacement along the smooth normal that is left beside that of the mesh; 128 is none.
    pub height: Vec<u8>,
}

impl Maps {
    /// All images with what they show.
    #[must_use]
    pub fn all(&self) -> [(&'static str, &[u8]); 4] {
        let Self { color, normal, roughness, height, .. } = self;
        [("color", color), ("normal", normal), ("roughness", roughness), ("height", height)]
    }

    fn of(texels: &Texels, size: u32, texel: f64) -> Result<Self, ExportError> {
        use png::ColorType::{Grayscale, Rgb, Rgba};
        let most = texels.height.iter().fold(0.0f32, |most, height| most.max(height.abs()));
        let unit = if most > 0.0 { 127.0 / most } else { 0.0 };
        let heights: Vec<u8> =
            texels.height.iter().map(|height| (128.0 + height * unit).round() as u8).collect();
        let [color, normal, roughness, height] = [
            (Rgba, texels.color.as_flattened()),
            (Rgb, texels.normal.as_flattened()),
            (Rgb, texels.roughness.as_flattened()),
            (Grayscale, &heights[..]),
        ]
        .map(|(kind, bytes)| {
            encoded(size, kind, bytes).map_err(|e| ExportError::write(Path::new(TEXTURES), e))
        });
        let (color, normal, roughness, height) = (color?, normal?, roughness?, height?);
        Ok(Self { size, texel, height_range: f64::from(most), color, normal, roughness, height })
    }
}

fn encoded(size: u32, kind: png::ColorType, bytes: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size, size);
    encoder.set_color(kind);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    writer.finish()?;
    Ok(file)
}

/// The crack faces of an object in textures whose texels are at least `texel` m wide, and the meshes of its pieces with
/// texture coordinates there; `None` if it has no crack faces. `volumes` are its material and those of later breaks.
///
/// # Errors
/// [`ExportError::Cancelled`], [`ExportError::Memory`], [`ExportError::Format`] if there are too many charts.
pub fn bake(
    pieces: &[Cracked],
    volumes: &[Volume],
    texel: f64,
    watch: &Watch,
) -> Result<Option<(Maps, Vec<WrittenMesh>)>, ExportError> {
    watch.at(0, 1)?;
    let all: Vec<Vec<Chart>> = pieces.par_iter().map(|piece| charts(&piece.flat)).collect();
    let extents: Vec<_> = all.iter().flatten().map(|chart| chart.extent).collect();
    if extents.is_empty() {
        return Ok(None);
    }
    let atlas = pack(&extents, texel).ok_or_else(|| ExportError::Format {
        path: TEXTURES.into(),
        reason: "the crack faces have more parts than a texture has room for; use a lower --level".into(),
    })?;
    memory::check(u64::from(atlas.size).pow(2) * Texels::BYTES).map_err(ExportError::Memory)?;
    let numbered =
        all.iter().enumerate().flat_map(|(piece, charts)| charts.iter().map(move |chart| (piece, chart)));
    let placed = |((piece, chart), corner): (_, &[u32; 2])| Placed { piece, chart, corner: *corner };
    let placed: Vec<Placed<'_>> = numbered.zip(&atlas.corners).map(placed).collect();
    let texels = Texels::of(pieces, &placed, (&atlas, volumes), watch)?;
    let maps = Maps::of(&texels, atlas.size, atlas.texel)?;
    let of_pieces: Vec<&[Placed<'_>]> = placed.chunk_by(|a, b| a.piece == b.piece).collect();
    let meshes = pieces.par_iter().enumerate().map(|(number, piece)| {
        let own = of_pieces.iter().find(|charts| charts[0].piece == number).copied().unwrap_or_default();
        unwrapped(piece, own, &maps)
    });
    let meshes = meshes.collect();
    Ok(Some((maps, meshes)))
}

/// The mesh of a piece with its charts' texture coordinates and u axes.
fn unwrapped(piece: &Cracked, charts: &[Placed<'_>], maps: &Maps) -> WrittenMesh {
    let mut mesh = PieceMesh::clone(&piece.written);
    let mut axes = vec![Vec3::ZERO; mesh.triangles.len()];
    for placed in charts {
        for t in placed.chart.triangles.iter().map(|t| *t as usize) {
            axes[t] = placed.chart.axes[0].as_vec3();
            for (corner, v) in mesh.corners[t].iter_mut().zip(piece.flat.triangles[t]) {
                let at = placed.texel(piece.flat.positions[v as usize], maps.texel) / f64::from(maps.size);
                corner.uv = at.as_vec2().to_array();
            }
        }
    }
    WrittenMesh::unwrapped(Arc::new(mesh), axes)
}
