//! What materials of a surface show besides their colour: holes where they are transparent, and light that they emit.
//!
//! In: materials. Out: for each of them the least opacity that is drawn, and its light, linear, with a decoded map.

use std::{
    collections::HashMap,
    io::Cursor,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use glam::Vec3;

use crate::{
    mesh::{Alpha, MapUse, Material, Picture, Texture},
    shape::SolidMesh,
};

/// Emitted light of 1 is drawn this bright: about as a white surface in the usual light.
const GAIN: f32 = 2.0;
/// Most pixels of a map of light along a side: it shares the buffer of the surfaces with the colours.
const WIDEST_MAP: u32 = 512;
/// Brightest light of a pixel; `GLOW_MOST` in `shaders/render/frame.wgsl`.
const GLOW_MOST: f32 = 64.0;
/// Opacity below which a material that mixes is not drawn.
const HALF: f32 = 0.5;
/// More than any opacity.
const NOWHERE: f32 = 2.0;
/// Texels of which the opacities are looked at.
const PROBES: usize = 4096;

/// What a material shows besides its colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Effect {
    /// Where the texture is less opaque, there is nothing. 0: the whole surface is there.
    pub least_opacity: f32,
    /// Emitted light, linear, a factor of its map.
    pub light: Vec3,
    /// The map of the light, sRGB, at the texture coordinates of the colour.
    pub map: Option<Arc<Texture>>,
}

/// The effects of materials, in their order.
pub(super) fn effects_of(materials: &[Material]) -> Vec<Effect> {
    let of = |material| {
        let (light, map) = light_of(material);
        Effect { least_opacity: least_opacity(material), light, map }
    };
    materials.iter().map(of).collect()
}

/// The effects of the materials of surfaces; `None` where they have none, and where there is no surface.
pub(super) fn effects_of_surfaces<'a>(
    surfaces: impl Iterator<Item = Option<&'a SolidMesh>>,
) -> Vec<Option<Arc<[Effect]>>> {
    let mut known: HashMap<usize, Option<Arc<[Effect]>>> = HashMap::new();
    let of = |solid: Option<&SolidMesh>| -> Option<Arc<[Effect]>> {
        let solid = solid?;
        let made = known.entry(solid.key().1).or_insert_with(|| {
            let effects = effects_of(solid.materials());
            let has_any = effects.iter().any(|effect| *effect != Effect::default());
            has_any.then(|| effects.into())
        });
        made.clone()
    };
    surfaces.map(of).collect()
}

/// Whether a material emits light.
pub(super) fn emits(material: &Material) -> bool {
    material.emissive.iter().any(|channel| *channel > 0.0)
}

/// The least opacity of the texture that is drawn. A picture without mixtures draws what is at least half there. Where
/// a whole material is less opaque than that, as glass is, all of it is drawn.
fn least_opacity(material: &Material) -> f32 {
    let opacity = material.opacity() as f32;
    match (material.alpha, &material.texture) {
        (Alpha::Mask(least), Some(_)) => least as f32 / opacity.max(1e-6),
        (Alpha::Mask(least), None) if opacity < least as f32 => NOWHERE,
        (Alpha::Blend, Some(texture)) if is_half_there(texture) => HALF,
        _ => 0.0,
    }
}

/// Whether some texels are at least half opaque; of a large texture, some of those that are evenly spread over it.
fn is_half_there(texture: &Texture) -> bool {
    let texels = texture.rgba.as_chunks::<4>().0;
    texels.iter().step_by((texels.len() / PROBES).max(1)).any(|[.., opacity]| *opacity >= 128)
}

/// The light of a material and its map. A map at other coordinates than the colour's is replaced by its mean; one that
/// cannot be decoded emits nothing.
fn light_of(material: &Material) -> (Vec3, Option<Arc<Texture>>) {
    if !emits(material) {
        return (Vec3::ZERO, None);
    }
    let extension = material.extensions.get("KHR_materials_emissive_strength");
    let strength = extension.and_then(|own| own.get("emissiveStrength")?.as_f64()).unwrap_or(1.0);
    let light = Vec3::from(material.emissive.map(|channel| (channel * strength) as f32)) * GAIN;
    let light = if light.is_finite() { light.max(Vec3::ZERO) } else { Vec3::ZERO };
    let Some(map) = material.maps.get(&MapUse::Emissive) else { return (light, None) };
    let Some(decoded) = decoded(&map.picture) else { return (Vec3::ZERO, None) };
    if map.is_second || map.transform != material.color_transform() {
        return (light * decoded.mean, None);
    }
    (light, Some(Arc::clone(&decoded.texture)))
}

/// A decoded map.
struct Decoded {
    texture: Arc<Texture>,
    /// Mean of its texels, linear as pictures reckon it: squares.
    mean: Vec3,
}

/// Maps by their files; `None` where a file cannot be decoded.
type Known = Vec<(Weak<Picture>, Option<Arc<Decoded>>)>;

/// Maps are decoded once, and not for every frame.
static KNOWN: Mutex<Known> = Mutex::new(Vec::new());

fn decoded(picture: &Arc<Picture>) -> Option<Arc<Decoded>> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |(of, _): &&(Weak<Picture>, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(picture));
    if let Some((_, decoded)) = known.iter().find(is_it) {
        return decoded.clone();
    }
    known.retain(|(of, _)| of.strong_count() > 0);
    let decoded = decode(&picture.bytes).map(Arc::new);
    known.push((Arc::downgrade(picture), decoded.clone()));
    decoded
}

fn decode(bytes: &[u8]) -> Option<Decoded> {
    let reader = image::ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut picture = reader.decode().ok()?;
    if picture.width().max(picture.height()) > WIDEST_MAP {
        picture = picture.thumbnail(WIDEST_MAP, WIDEST_MAP);
    }
    let picture = picture.into_rgba8();
    let (width, height) = picture.dimensions();
    let rgba = picture.into_raw();
    let texels = rgba.as_chunks::<4>().0;
    let squares = texels.iter().map(|[r, g, b, _]| {
        let c = Vec3::new(f32::from(*r), f32::from(*g), f32::from(*b)) / 255.0;
        (c * c).as_dvec3()
    });
    let mean = (squares.sum::<glam::DVec3>() / texels.len().max(1) as f64).as_vec3();
    Some(Decoded { texture: Arc::new(Texture { width, height, rgba }), mean })
}

/// A pixel's emitted light as a word: square roots of its channels' shares, and of how bright it is; `glow_pack` in
/// `shaders/render/frame.wgsl`.
pub(super) fn glow_word(light: Vec3) -> u32 {
    let scale = ((light.max_element().clamp(0.0, GLOW_MOST) / GLOW_MOST).sqrt() * 255.0).ceil();
    let full = (scale * scale * (GLOW_MOST / 65025.0)).max(1e-9);
    let byte = |channel: f32| ((channel / full).clamp(0.0, 1.0).sqrt() * 255.0 + 0.5) as u32;
    byte(light.x) | byte(light.y) << 8 | byte(light.z) << 16 | (scale as u32) << 24
}

/// The light of a word of [`glow_word`], linear.
pub(super) fn glow_of(word: u32) -> [f32; 3] {
    let [r, g, b, scale] = word.to_le_bytes().map(|byte| f32::from(byte) / 255.0);
    let full = scale * scale * GLOW_MOST;
    [r * r * full, g * g * full, b * b * full]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{MaterialMap, PictureKind, TextureTransform};

    fn texture(opacities: &[u8]) -> Option<Arc<Texture>> {
        let rgba = opacities.iter().flat_map(|opacity| [9, 9, 9, *opacity]).collect();
        Some(Arc::new(Texture { width: opacities.len() as u32, height: 1, rgba }))
    }

    #[test]
    fn opacity_is_cut_where_the_file_says() {
        let of = |alpha, opacity: f64, texture: Option<Arc<Texture>>| {
            let factor = Some([1.0, 1.0, 1.0, opacity]);
            effects_of(&[Material { alpha, factor, texture, ..Material::default() }])[0].least_opacity
        };
        let mixed = || texture(&[0, 60, 200, 255]);
        assert_eq!(of(Alpha::Opaque, 0.1, mixed()), 0.0);
        assert_eq!(of(Alpha::Mask(0.3), 1.0, mixed()), 0.3);
        assert_eq!(of(Alpha::Mask(0.3), 0.5, mixed()), 0.6);
        assert_eq!(of(Alpha::Mask(0.3), 0.5, None), 0.0);
        assert!(of(Alpha::Mask(0.3), 0.2, None) > 1.0, "no part of it is there");
        assert_eq!(of(Alpha::Blend, 1.0, mixed()), 0.5);
        // Glass stays in the picture.
        assert_eq!(of(Alpha::Blend, 0.1, None), 0.0);
        assert_eq!(of(Alpha::Blend, 1.0, texture(&[90, 100])), 0.0);
    }

    #[test]
    fn light_has_its_strength_and_its_map() {
        let mut bytes = Vec::new();
        let png = image::RgbImage::from_fn(2, 1, |x, _| image::Rgb([if x == 0 { 255 } else { 0 }; 3]));
        png.write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
        let picture =
            |bytes: Vec<u8>| Arc::new(Picture { name: String::new(), bytes, kind: PictureKind::Png });
        let map = |picture, transform| MaterialMap {
            picture,
            sampler: crate::mesh::Sampler::default(),
            transform,
            is_second: false,
        };
        let plain = Material { emissive: [1.0, 0.5, 0.0], ..Material::default() };
        let effect = |material: &Material| effects_of(std::slice::from_ref(material)).remove(0);
        assert_eq!(effect(&Material::default()), Effect::default());
        assert_eq!(effect(&plain).light, Vec3::new(2.0, 1.0, 0.0));
        let with = |map: MaterialMap| Material { maps: [(MapUse::Emissive, map)].into(), ..plain.clone() };
        let png = picture(bytes);
        let mapped = effect(&with(map(Arc::clone(&png), None)));
        assert_eq!((mapped.light, mapped.map.map(|of| of.width)), (Vec3::new(2.0, 1.0, 0.0), Some(2)));
        // Elsewhere than the colour: its mean.
        let moved = TextureTransform { offset: [0.5, 0.0], rotation: 0.0, scale: [1.0; 2] };
        let mean = effect(&with(map(png, Some(moved))));
        assert_eq!((mean.light, mean.map), (Vec3::new(1.0, 0.5, 0.0), None));
        let broken = effect(&with(map(picture(vec![1, 2, 3]), None)));
        assert_eq!(broken, Effect::default());
    }

    #[test]
    fn light_comes_back_from_its_word() {
        assert_eq!(glow_of(glow_word(Vec3::ZERO)), [0.0; 3]);
        for light in [Vec3::new(2.0, 1.0, 0.0), Vec3::new(0.01, 0.02, 0.03), Vec3::new(60.0, 3.0, 20.0)] {
            let back = Vec3::from(glow_of(glow_word(light)));
            assert!((back - light).abs().max_element() <= 0.02 * light.max_element(), "{light} {back}");
        }
        assert!(Vec3::from(glow_of(glow_word(Vec3::splat(1e9)))).max_element() <= GLOW_MOST);
    }
}
