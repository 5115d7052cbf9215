//! Draws egui's triangles on the cores, as egui-wgpu's shader does.
//!
//! In: primitives in points, egui's textures. Out: pixels of the window, 0RGB. Colours are premultiplied and blended as
//! sRGB bytes, as egui specifies. A pixel belongs to the triangle that contains its centre, on an edge to the triangle
//! on the right or below; an edge shared by two triangles is computed identically for both, so no pixel is blended
//! twice.

use std::collections::HashMap;

use egui::{
    ClippedPrimitive, Color32, ColorImage, ImageData, TextureId,
    epaint::{ImageDelta, Mesh, Primitive, Vertex},
};

use super::area::Area;

/// A sample this near to a texel's centre takes that texel's colour unblended, texels.
const NEAR: f32 = 1.0 / 64.0;

/// egui's textures in memory.
#[derive(Default)]
pub struct Textures(HashMap<TextureId, ColorImage>);

impl Textures {
    /// Replaces a texture, or a part of one.
    pub fn set(&mut self, id: TextureId, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        match (delta.pos, self.0.get_mut(&id)) {
            (Some([left, top]), Some(whole)) => {
                let ([width, height], [across, down]) = (image.size, whole.size);
                if left + width > across || top + height > down {
                    return;
                }
                for (y, row) in image.pixels.chunks_exact(width.max(1)).enumerate() {
                    let at = (top + y) * across + left;
                    whole.pixels[at..at + width].copy_from_slice(row);
                }
            }
            (None, _) => {
                self.0.insert(id, ColorImage::clone(image));
            }
            (Some(_), None) => {}
        }
    }

    /// Frees a texture.
    pub fn free(&mut self, id: TextureId) {
        self.0.remove(&id);
    }
}

/// Rows of a window.
pub struct Rows<'a> {
    /// Width, pixels.
    pub width: usize,
    /// Number of the first row.
    pub first: i32,
    /// Whole rows, 0RGB.
    pub pixels: &'a mut [u32],
}

impl Rows<'_> {
    /// Columns `from..to` of row `y`, which must be among these rows.
    pub fn row(&mut self, y: i32, from: i32, to: i32) -> &mut [u32] {
        let start = (y - self.first) as usize * self.width;
        &mut self.pixels[start + from as usize..start + to as usize]
    }
}

/// Paints primitives at `scale` pixels per point within `area`, which must lie in `rows`.
pub fn paint(
    rows: &mut Rows<'_>,
    area: Area,
    primitives: &[ClippedPrimitive],
    textures: &Textures,
    scale: f32,
) {
    for ClippedPrimitive { clip_rect, primitive } in primitives {
        let clip = Area::rounded(*clip_rect * scale).and(area);
        let Primitive::Mesh(mesh) = primitive else { continue };
        let Some(texture) = textures.0.get(&mesh.texture_id).filter(|_| !clip.is_empty()) else { continue };
        paint_mesh(rows, clip, mesh, texture, scale);
    }
}

fn paint_mesh(rows: &mut Rows<'_>, clip: Area, mesh: &Mesh, texture: &ColorImage, scale: f32) {
    for corners in mesh.indices.as_chunks::<3>().0 {
        let at = corners.map(|k| mesh.vertices.get(k as usize).copied().unwrap_or_default());
        if let Some(triangle) = Triangle::new(at, texture, scale) {
            triangle.paint(rows, clip);
        }
    }
}

/// A vertex in pixels, texels and channels of 0..=255.
#[derive(Clone, Copy)]
struct Corner {
    at: [f32; 2],
    /// Texture position, texels; red, green, blue, alpha.
    values: [f32; 6],
}

impl Corner {
    fn new(vertex: Vertex, texture: &ColorImage, scale: f32) -> Self {
        let [r, g, b, a] = vertex.color.to_array().map(f32::from);
        let [u, v] = [0, 1].map(|k| vertex.uv[k] * texture.size[k] as f32 - 0.5);
        Self { at: [vertex.pos.x * scale, vertex.pos.y * scale], values: [u, v, r, g, b, a] }
    }
}

struct Triangle<'a> {
    /// Sorted by y, then x.
    corners: [Corner; 3],
    /// Change of the values per pixel to the right, and per pixel down.
    slopes: [[f32; 6]; 2],
    texture: &'a ColorImage,
    /// The texel, if all vertices use the same one.
    texel: Option<Color32>,
    /// The colour, if the triangle is of one colour.
    flat: Option<Color32>,
}

impl<'a> Triangle<'a> {
    /// `None` if the triangle has no area.
    fn new(vertices: [Vertex; 3], texture: &'a ColorImage, scale: f32) -> Option<Self> {
        let mut corners = vertices.map(|vertex| Corner::new(vertex, texture, scale));
        corners.sort_by(|a, b| a.at[1].total_cmp(&b.at[1]).then(a.at[0].total_cmp(&b.at[0])));
        let [a, b, c] = corners;
        let [ab, ac] = [b, c].map(|to| [to.at[0] - a.at[0], to.at[1] - a.at[1]]);
        let double_area = ab[0] * ac[1] - ab[1] * ac[0];
        if !double_area.is_finite() || double_area == 0.0 {
            return None;
        }
        let rise = |k: usize| [b.values[k] - a.values[k], c.values[k] - a.values[k]];
        let slope = |k: usize, [to_b, to_c]: [f32; 2]| match k {
            0 => (to_b * ac[1] - to_c * ab[1]) / double_area,
            _ => (to_c * ab[0] - to_b * ac[0]) / double_area,
        };
        let slopes: [[f32; 6]; 2] = std::array::from_fn(|axis| std::array::from_fn(|k| slope(axis, rise(k))));
        let [first, second, third] = vertices;
        let one_colour = first.color == second.color && second.color == third.color;
        let one_texel = first.uv == second.uv && second.uv == third.uv;
        let texel = one_texel.then(|| sample(texture, a.values[0], a.values[1]));
        let flat = texel.filter(|_| one_colour).map(|texel| multiply(first.color, texel));
        Some(Self { corners, slopes, texture, texel, flat })
    }

    fn paint(&self, rows: &mut Rows<'_>, clip: Area) {
        let [a, b, c] = &self.corners;
        let [top, bottom] = [a, c].map(|corner| first_middle(corner.at[1]));
        let low_x = a.at[0].min(b.at[0]).min(c.at[0]);
        let high_x = a.at[0].max(b.at[0]).max(c.at[0]);
        if first_middle(high_x) <= clip.min[0] || first_middle(low_x) >= clip.max[0] {
            return;
        }
        for y in top.max(clip.min[1])..bottom.min(clip.max[1]) {
            let middle = y as f32 + 0.5;
            let long = crossing(a, c, middle);
            let short =
                if first_middle(b.at[1]) > y { crossing(a, b, middle) } else { crossing(b, c, middle) };
            let [from, to] = [long.min(short), long.max(short)].map(first_middle);
            let (from, to) = (from.max(clip.min[0]), to.min(clip.max[0]));
            if from < to {
                self.span(rows.row(y, from, to), from, y);
            }
        }
    }

    /// Paints a span of row `y` from column `x` on.
    fn span(&self, out: &mut [u32], x: i32, y: i32) {
        if let Some(color) = self.flat {
            if color.is_opaque() {
                out.fill(packed(color));
            } else if color != Color32::TRANSPARENT {
                out.iter_mut().for_each(|pixel| *pixel = over(color, *pixel));
            }
            return;
        }
        let corner = &self.corners[0];
        let [right, down] = [x as f32 + 0.5 - corner.at[0], y as f32 + 0.5 - corner.at[1]];
        let value = |k: usize| corner.values[k] + right * self.slopes[0][k] + down * self.slopes[1][k];
        let start: [f32; 6] = [0, 1, 2, 3, 4, 5].map(value);
        for (i, pixel) in (0u16..).zip(out) {
            let values: [f32; 6] = std::array::from_fn(|k| start[k] + f32::from(i) * self.slopes[0][k]);
            let [u, v, r, g, b, a] = values;
            let texel = self.texel.unwrap_or_else(|| sample(self.texture, u, v));
            if texel != Color32::TRANSPARENT {
                let [r, g, b, a] = [r, g, b, a].map(|channel| (channel + 0.5) as u8);
                *pixel = over(multiply(Color32::from_rgba_premultiplied(r, g, b, a), texel), *pixel);
            }
        }
    }
}

/// The first pixel whose centre is at or right of `x`.
fn first_middle(x: f32) -> i32 {
    (x - 0.5).ceil() as i32
}

/// The x at which an edge crosses the height `y`; `from` is the upper vertex.
fn crossing(from: &Corner, to: &Corner, y: f32) -> f32 {
    let height = to.at[1] - from.at[1];
    if height <= 0.0 {
        return from.at[0];
    }
    from.at[0] + (to.at[0] - from.at[0]) * ((y - from.at[1]) / height)
}

/// Samples the texture bilinearly; `u` and `v` are in texels from the centre of the first one.
fn sample(texture: &ColorImage, u: f32, v: f32) -> Color32 {
    let most = texture.size.map(|side| side.saturating_sub(1));
    let texel = |x: f32, y: f32| {
        let at = [(x.max(0.0) as usize).min(most[0]), (y.max(0.0) as usize).min(most[1])];
        texture.pixels.get(at[1] * texture.size[0] + at[0]).copied().unwrap_or_default()
    };
    let nearest = [u.round(), v.round()];
    if (u - nearest[0]).abs() < NEAR && (v - nearest[1]).abs() < NEAR {
        return texel(nearest[0], nearest[1]);
    }
    let (left, top) = (u.floor(), v.floor());
    let (across, down) = (u - left, v - top);
    let four =
        [texel(left, top), texel(left + 1.0, top), texel(left, top + 1.0), texel(left + 1.0, top + 1.0)];
    let [a, b, c, d] = four.map(|color| color.to_array().map(f32::from));
    let mixed: [u8; 4] = std::array::from_fn(|k| {
        let (upper, lower) = (a[k] + (b[k] - a[k]) * across, c[k] + (d[k] - c[k]) * across);
        (upper + (lower - upper) * down + 0.5) as u8
    });
    let [r, g, b, a] = mixed;
    Color32::from_rgba_premultiplied(r, g, b, a)
}

/// `product / 255`, rounded.
fn of_255(product: u32) -> u32 {
    (product * 257 + 32768) >> 16
}

fn multiply(a: Color32, b: Color32) -> Color32 {
    if b == Color32::WHITE {
        return a;
    }
    let (a, b) = (a.to_array(), b.to_array());
    let [r, g, b, a] = std::array::from_fn(|k| of_255(u32::from(a[k]) * u32::from(b[k])) as u8);
    Color32::from_rgba_premultiplied(r, g, b, a)
}

/// A colour as 0RGB.
pub fn packed(color: Color32) -> u32 {
    u32::from_be_bytes([0, color.r(), color.g(), color.b()])
}

/// Blends a premultiplied colour over a pixel.
fn over(color: Color32, pixel: u32) -> u32 {
    let left = 255 - u32::from(color.a());
    let channel = |shift: u32, own: u8| {
        // Additive colours can exceed 255.
        (u32::from(own) + of_255(((pixel >> shift) & 255) * left)).min(255) << shift
    };
    channel(16, color.r()) | channel(8, color.g()) | channel(0, color.b())
}
