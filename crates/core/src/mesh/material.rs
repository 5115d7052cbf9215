//! Materials of a mesh: the colour and the texture that voxels are painted with, and what else a file says of a surface, which
//! goes to the pieces as it came.
//!
//! In: what readers find. Out: plain data for the formats of pieces.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

/// An image in memory, RGBA8 rows from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// `width * height * 4` bytes, sRGB.
    pub rgba: Vec<u8>,
}

impl Texture {
    /// The nearest texel at texture coordinates, v up; textures repeat. `None` if texels are missing.
    #[must_use]
    pub fn nearest(&self, [u, v]: [f32; 2]) -> Option<[u8; 3]> {
        let at = |x: f32, size: u32| (((x - x.floor()) * size as f32) as u32).min(size.saturating_sub(1));
        let (x, y) = (at(u, self.width), at(1.0 - v, self.height));
        let start = 4 * (y as usize * self.width as usize + x as usize);
        let rgb = self.rgba.get(start..start + 3)?;
        Some([rgb[0], rgb[1], rgb[2]])
    }
}

/// The kind of an image file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    WebP,
    /// Another one, such as TGA or BMP, which glTF does not have.
    Other,
}

impl PictureKind {
    /// The kind of a file with these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Self::Png,
            [0xff, 0xd8, 0xff, ..] => Self::Jpeg,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::WebP,
            _ => Self::Other,
        }
    }

    /// Its media type, as glTF writes it.
    #[must_use]
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::WebP => "image/webp",
            Self::Other => "application/octet-stream",
        }
    }
}

/// An image file as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its name; empty if it has none.
    pub name: String,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Its kind.
    pub kind: PictureKind,
}

/// What a texture shows beyond its borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// Itself again.
    #[default]
    Repeat,
    /// Itself, every other time mirrored.
    Mirror,
    /// Its border.
    Clamp,
}

/// How a texture is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    /// Beyond its borders along u and v.
    pub wrap: [Wrap; 2],
    /// Filters of enlarging and of shrinking, as glTF numbers them; `None` where the file leaves the choice open.
    pub filters: [Option<u32>; 2],
}

/// Where a texture lies: coordinates are scaled, turned counter-clockwise as v points down, then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureTransform {
    /// Displacement along u and v (v down).
    pub offset: [f64; 2],
    /// Radians.
    pub rotation: f64,
    /// Factors of u and v.
    pub scale: [f64; 2],
}

impl TextureTransform {
    /// Coordinates (v down) as the texture uses them.
    #[must_use]
    pub fn moved(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        let ([sx, sy], [x, y], rotation) = self.numbers();
        let (sin, cos) = (libm::sinf(rotation), libm::cosf(rotation));
        let (u, v) = (sx * u, sy * v);
        [x + cos * u + sin * v, y - sin * u + cos * v]
    }

    /// The coordinates (v down) that [`TextureTransform::moved`] moves to these.
    #[must_use]
    pub fn unmoved(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        let ([sx, sy], [x, y], rotation) = self.numbers();
        let (sin, cos) = (libm::sinf(rotation), libm::cosf(rotation));
        let (u, v) = (u - x, v - y);
        [(cos * u - sin * v) / sx, (sin * u + cos * v) / sy]
    }

    /// Whether coordinates can be moved back.
    #[must_use]
    pub fn is_invertible(&self) -> bool {
        let is_factor = |x: &f64| x.abs() > 1e-9 && x.abs() < 1e9;
        let is_near = |x: &f64| x.abs() < 1e9;
        self.scale.iter().all(is_factor) && self.offset.iter().chain([&self.rotation]).all(is_near)
    }

    fn numbers(&self) -> ([f32; 2], [f32; 2], f32) {
        (self.scale.map(|x| x as f32), self.offset.map(|x| x as f32), self.rotation as f32)
    }
}

/// What a map of a material says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapUse {
    /// Base colour (sRGB) and opacity.
    Color,
    /// Roughness in green, metallic in blue.
    MetallicRoughness,
    /// Normals in tangent space.
    Normal,
    /// Occlusion in red.
    Occlusion,
    /// Emitted light, sRGB.
    Emissive,
}

crate::names! { MapUse:
    Color = "color", MetallicRoughness = "metallic roughness", Normal = "normal", Occlusion = "occlusion",
    Emissive = "emissive",
}

/// A picture on a surface, at the mesh's texture coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialMap {
    /// The picture; maps may share one.
    pub picture: Arc<Picture>,
    /// How it is sampled.
    pub sampler: Sampler,
    /// Where it lies, on coordinates as the file has them. [`Mesh::uvs`](super::Mesh::uvs) are those that the transform of
    /// the colour's map has moved.
    pub transform: Option<TextureTransform>,
    /// Whether it lies at [`Mesh::uvs2`](super::Mesh::uvs2), which no transform has moved.
    pub is_second: bool,
}

/// What transparency means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Alpha {
    /// Opacity does not count.
    #[default]
    Opaque,
    /// What is less opaque than this is not there.
    Mask(f64),
    /// Opacity mixes.
    Blend,
}

/// Most light that a surface emits.
const MOST_LIGHT: f64 = 1e6;

/// A surface material: a colour, optionally multiplied by a texture; and what else its file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Its name; empty if the file has none.
    pub name: String,
    /// sRGB base colour.
    pub color: [u8; 3],
    /// Base colour texture, decoded; materials may share one.
    pub texture: Option<Arc<Texture>>,
    /// Base colour as the file has it: linear red, green and blue, and opacity. `None`: [`Material::color`], opaque.
    pub factor: Option<[f64; 4]>,
    /// Whether the colours of vertices multiply it.
    pub is_painted: bool,
    /// Share of a metal, 0 to 1, a factor of its map.
    pub metallic: f64,
    /// Roughness, 0 to 1, a factor of its map.
    pub roughness: f64,
    /// Emitted light, linear, a factor of its map.
    pub emissive: [f64; 3],
    /// Factor of the normal map's slopes.
    pub normal_scale: f64,
    /// Share of the occlusion map that counts.
    pub occlusion_strength: f64,
    /// What transparency means.
    pub alpha: Alpha,
    /// Whether it is seen from behind, too.
    pub is_double_sided: bool,
    /// Its maps.
    pub maps: BTreeMap<MapUse, MaterialMap>,
    /// Extensions of glTF, by name, as they came; their textures have numbers in `extension_maps` as `index`.
    pub extensions: BTreeMap<String, Value>,
    /// Maps of the extensions.
    pub extension_maps: Vec<MaterialMap>,
}

impl Default for Material {
    /// White, opaque and without a name.
    fn default() -> Self {
        Self {
            name: String::new(),
            color: [255; 3],
            texture: None,
            factor: None,
            is_painted: false,
            metallic: 0.0,
            roughness: 0.7,
            emissive: [0.0; 3],
            normal_scale: 1.0,
            occlusion_strength: 1.0,
            alpha: Alpha::Opaque,
            is_double_sided: false,
            maps: BTreeMap::new(),
            extensions: BTreeMap::new(),
            extension_maps: Vec::new(),
        }
    }
}

impl Material {
    /// The opacity of its base colour, 0 to 1.
    #[must_use]
    pub fn opacity(&self) -> f64 {
        self.factor.map_or(1.0, |[.., opacity]| opacity)
    }

    /// Its index of refraction, if its file says one.
    #[must_use]
    pub fn refraction(&self) -> Option<f64> {
        self.extensions.get("KHR_materials_ior")?.get("ior")?.as_f64()
    }

    /// Whether a map lies at the second set of texture coordinates.
    #[must_use]
    pub fn has_second_set(&self) -> bool {
        self.maps.values().chain(&self.extension_maps).any(|map| map.is_second)
    }

    /// Where its colour's texture lies, if a transform of the file says so.
    #[must_use]
    pub fn color_transform(&self) -> Option<TextureTransform> {
        self.maps.get(&MapUse::Color)?.transform
    }

    /// Says an index of refraction, unless it is that of materials that say none.
    pub(super) fn refract(&mut self, ior: f64) {
        if ior > 1.0 && ior != 1.5 && ior.is_finite() {
            self.extensions.insert("KHR_materials_ior".to_owned(), json!({ "ior": ior }));
        }
    }

    /// Says a clear coat and its roughness, both from 0 to 1, where there is some of it.
    pub(super) fn coat(&mut self, factor: f64, roughness: f64) {
        if factor > 0.0 {
            let coat = json!({ "clearcoatFactor": factor, "clearcoatRoughnessFactor": roughness });
            self.extensions.insert("KHR_materials_clearcoat".to_owned(), coat);
        }
    }

    /// Brings factors into the ranges that formats have: what is no number becomes what stands for nothing said, and light above
    /// 1 a strength.
    pub(super) fn settle(&mut self) {
        const STRENGTH: &str = "KHR_materials_emissive_strength";
        let share = |x: f64, other: f64| if x.is_finite() { x.clamp(0.0, 1.0) } else { other };
        self.factor = self.factor.map(|factor| factor.map(|x| share(x, 1.0)));
        (self.metallic, self.roughness) = (share(self.metallic, 0.0), share(self.roughness, 1.0));
        self.occlusion_strength = share(self.occlusion_strength, 1.0);
        self.normal_scale = if self.normal_scale.is_finite() { self.normal_scale } else { 1.0 };
        if let Alpha::Mask(cutoff) = &mut self.alpha {
            *cutoff = if cutoff.is_finite() { cutoff.max(0.0) } else { 0.5 };
        }
        let light = self.emissive.map(|x| if x > 0.0 { x.min(MOST_LIGHT) } else { 0.0 });
        let most = light.into_iter().fold(0.0, f64::max);
        // Some exporters round to just above 1.
        let strength = if most > 1.001 { most } else { 1.0 };
        self.emissive = light.map(|x| (x / strength).min(1.0));
        if strength > 1.0 {
            let known = self.extensions.get(STRENGTH).and_then(|own| own.get("emissiveStrength")?.as_f64());
            let stronger = json!({ "emissiveStrength": strength * known.unwrap_or(1.0) });
            self.extensions.insert(STRENGTH.to_owned(), stronger);
        }
    }

    /// The vertex's own colour in a painted product of it and [`Material::color`], as
    /// [`Corner::color`](crate::shape::Corner::color) holds it.
    #[must_use]
    pub fn paint_of(&self, product: [u8; 3]) -> [u8; 3] {
        std::array::from_fn(|k| match (u32::from(product[k]), u32::from(self.color[k])) {
            (_, 0) => 255,
            // The least one whose product is that, as products are rounded down.
            (product, base) => (product * 255).div_ceil(base).min(255) as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_comes_back_from_its_product() {
        for base in 1..=255u8 {
            let material = Material { color: [base; 3], ..Material::default() };
            for own in 0..=255u8 {
                let product = (u32::from(own) * u32::from(base) / 255) as u8;
                let [back, ..] = material.paint_of([product; 3]);
                let again = (u32::from(back) * u32::from(base) / 255) as u8;
                assert_eq!(again, product, "{own} x {base}");
                assert!(base < 255 || back == own);
            }
        }
        let black = Material { color: [0, 255, 0], ..Material::default() };
        assert_eq!(black.paint_of([0, 9, 0]), [255, 9, 255]);
    }

    #[test]
    fn factors_come_into_their_ranges_and_those_within_stay() {
        let mut wild = Material {
            factor: Some([1.000_000_24, -0.5, f64::NAN, 0.25]),
            metallic: f64::INFINITY,
            roughness: 7.0,
            occlusion_strength: -1.0,
            normal_scale: f64::NAN,
            emissive: [4.0, 2.0, f64::NAN],
            alpha: Alpha::Mask(-1.0),
            ..Material::default()
        };
        wild.settle();
        assert_eq!(wild.factor, Some([1.0, 0.0, 1.0, 0.25]));
        let shares = (wild.metallic, wild.roughness, wild.occlusion_strength, wild.normal_scale);
        assert_eq!((shares, wild.alpha), ((0.0, 1.0, 0.0, 1.0), Alpha::Mask(0.0)));
        let strength = |material: &Material| material.extensions["KHR_materials_emissive_strength"].clone();
        assert_eq!((wild.emissive, strength(&wild)), ([1.0, 0.5, 0.0], json!({ "emissiveStrength": 4.0 })));
        let settled = wild.clone();
        wild.settle();
        assert_eq!(wild, settled);
        wild.emissive = [3.0, 0.0, 0.0];
        wild.settle();
        assert_eq!(strength(&wild), json!({ "emissiveStrength": 12.0 }));
    }

    #[test]
    fn coordinates_are_moved_and_moved_back() {
        let transform = TextureTransform { offset: [0.25, -3.0], rotation: 0.7, scale: [4.0, -0.5] };
        assert!(transform.is_invertible());
        for uv in [[0.0, 0.0], [0.3, 0.9], [-2.0, 5.0]] {
            let back = transform.unmoved(transform.moved(uv));
            assert!((0..2).all(|k| (back[k] - uv[k]).abs() < 1e-5), "{uv:?} {back:?}");
        }
        assert!(!TextureTransform { scale: [0.0, 1.0], ..transform }.is_invertible());
        assert!(!TextureTransform { rotation: 1e300, ..transform }.is_invertible());
    }

    #[test]
    fn pictures_are_told_by_their_bytes() {
        let of = |format| {
            let mut bytes = Vec::new();
            let picture = image::RgbImage::from_pixel(2, 2, image::Rgb([1, 2, 3]));
            picture.write_to(&mut std::io::Cursor::new(&mut bytes), format).unwrap();
            PictureKind::of(&bytes)
        };
        assert_eq!(of(image::ImageFormat::Png), PictureKind::Png);
        assert_eq!(of(image::ImageFormat::Jpeg), PictureKind::Jpeg);
        assert_eq!(of(image::ImageFormat::WebP), PictureKind::WebP);
        assert_eq!(of(image::ImageFormat::Bmp), PictureKind::Other);
        assert_eq!(PictureKind::of(&[]), PictureKind::Other);
    }
}
