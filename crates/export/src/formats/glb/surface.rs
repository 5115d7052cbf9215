//! Materials, textures, samplers and images of a file, without duplicates.
//!
//! In: materials of pieces. Out: their JSON, and the pictures in the buffer: bytes as they came where glTF has their kind.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};

use super::buffer::Buffer;
use crate::{
    Assembly,
    formats::looks::{IOR, is_clear, own_material, picture, roughness},
    geometry::srgb,
    mesh::{Alpha, MapUse, Material, MaterialMap, PictureKind, Sampler, TextureTransform, Wrap},
    meshes::{Primitive, Side, bake::Maps},
};

/// The extension of textures that are moved, scaled and turned.
const TRANSFORM: &str = "KHR_texture_transform";
/// The extension of WebP pictures.
const WEBP: &str = "EXT_texture_webp";

/// The texture coordinates (v up) of a part's vertices that its tangents go by: those of the map of normals, else of the coat's,
/// else of the grain. `None` for a material that needs no tangents.
pub fn coordinates_of_tangents(own: &Material, part: &Primitive) -> Option<Vec<[f32; 2]>> {
    let of = |extension: &Value, key: &str| {
        let number = extension.get(key)?.get("index")?.as_u64()?;
        own.extension_maps.get(usize::try_from(number).ok()?)
    };
    let grain = own.extensions.get("KHR_materials_anisotropy");
    let coat = || of(own.extensions.get("KHR_materials_clearcoat")?, "clearcoatNormalTexture");
    let map = own.maps.get(&MapUse::Normal).or_else(coat);
    let map = map.or_else(|| of(grain?, "anisotropyTexture"));
    if map.is_none() && grain.is_none() {
        return None;
    }
    let is_second = map.is_some_and(|map| map.is_second);
    // As the file has them, then as the map uses them.
    let moved_by = own.color_transform().filter(|_| !is_second);
    let place = map.and_then(|map| map.transform);
    let used = |[u, v]: &[f32; 2]| {
        let uv = [*u, 1.0 - v];
        let uv = moved_by.map_or(uv, |transform| transform.unmoved(uv));
        let [u, v] = place.map_or(uv, |transform| transform.moved(uv));
        [u, 1.0 - v]
    };
    let own = if is_second { &part.uvs2 } else { &part.uvs };
    Some(own.iter().map(used).collect())
}

/// The lists of a file, in progress.
#[derive(Default)]
pub struct Looks {
    /// `materials`.
    pub materials: Vec<Value>,
    /// `textures`.
    pub textures: Vec<Value>,
    /// `samplers`.
    pub samplers: Vec<Value>,
    /// `images`.
    pub images: Vec<Value>,
    /// Notes about what is left out.
    pub notes: Vec<String>,
    extensions: BTreeSet<String>,
    known: BTreeMap<String, usize>,
    /// Images by the places of their pictures in memory, in which nothing is listed; `None` where one cannot be read.
    known_images: BTreeMap<usize, Option<(usize, bool)>>,
}

impl Looks {
    /// Names of the extensions that are used, and of those that are required.
    pub fn extensions(&self) -> [Vec<Value>; 2] {
        let used = self.extensions.iter().map(|name| name.as_str().into()).collect();
        // A WebP picture has no other to fall back on.
        let required = if self.extensions.contains(WEBP) { vec![WEBP.into()] } else { Vec::new() };
        [used, required]
    }

    /// Index of the material of this unique name, of a side of an object's pieces.
    pub fn material(
        &mut self,
        buffer: &mut Buffer,
        what: &Assembly,
        name: &str,
        (object, side): (Option<usize>, Option<Side>),
    ) -> usize {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let maps = what.maps.get(&object).filter(|_| !matches!(side, Some(Side::Outside { .. })));
        let own = own_material(what, object, side);
        let is_clear = own.is_none() && is_clear(what, object, side);
        let mut material = match (own, maps) {
            (Some((_, own)), _) => self.own(buffer, name, own),
            (None, Some(maps)) => self.baked(buffer, name, maps),
            (None, None) => {
                let rough = roughness(what, object, side);
                let surface = json!({ "metallicFactor": 0.0, "roughnessFactor": rough });
                json!({ "name": name, "pbrMetallicRoughness": surface })
            }
        };
        if is_clear {
            // No volume: its thickness is one number for all pieces, however thick each is.
            let passes = json!({ "transmissionFactor": 1.0 });
            for (name, value) in [("transmission", passes), ("ior", json!({ "ior": IOR }))] {
                let extension = format!("KHR_materials_{name}");
                material["extensions"][&extension] = value;
                self.extensions.insert(extension);
            }
        }
        self.materials.push(material);
        self.known.insert(name.to_owned(), self.materials.len() - 1);
        self.materials.len() - 1
    }

    /// A material with the textures of crack faces.
    fn baked(&mut self, buffer: &mut Buffer, name: &str, maps: &Maps) -> Value {
        let [color, normal, rough] =
            [("color", &maps.color), ("normal", &maps.normal), ("roughness", &maps.roughness)].map(
                |(shown, png)| {
                    let image = self.image(buffer, &format!("{name}_{shown}"), PictureKind::Png, png);
                    json!({ "index": self.texture((image, false), Sampler::default()) })
                },
            );
        let surface = json!({
            "metallicFactor": 0.0,
            "roughnessFactor": 1.0,
            "baseColorTexture": color,
            "metallicRoughnessTexture": rough,
        });
        json!({ "name": name, "pbrMetallicRoughness": surface, "normalTexture": normal })
    }

    /// A material of the object itself, whole.
    fn own(&mut self, buffer: &mut Buffer, name: &str, own: &Material) -> Value {
        let mut surface = json!({ "metallicFactor": own.metallic, "roughnessFactor": own.roughness });
        match own.factor {
            Some(factor) if factor != [1.0; 4] => surface["baseColorFactor"] = json!(factor),
            None if own.color != [255; 3] => {
                let [r, g, b] = own.color.map(|byte| f32::from(linear(byte)) / 65535.0);
                surface["baseColorFactor"] = json!([r, g, b, 1.0]);
            }
            _ => {}
        }
        let mut material = json!({ "name": name });
        for of in MapUse::ALL {
            let Some(mut info) = self.map(buffer, name, own, of) else { continue };
            match of {
                MapUse::Color => surface["baseColorTexture"] = info,
                MapUse::MetallicRoughness => surface["metallicRoughnessTexture"] = info,
                MapUse::Normal => {
                    if own.normal_scale != 1.0 {
                        info["scale"] = own.normal_scale.into();
                    }
                    material["normalTexture"] = info;
                }
                MapUse::Occlusion => {
                    if own.occlusion_strength != 1.0 {
                        info["strength"] = own.occlusion_strength.into();
                    }
                    material["occlusionTexture"] = info;
                }
                MapUse::Emissive => material["emissiveTexture"] = info,
            }
        }
        material["pbrMetallicRoughness"] = surface;
        if own.emissive != [0.0; 3] {
            material["emissiveFactor"] = json!(own.emissive);
        }
        match own.alpha {
            Alpha::Opaque => {}
            Alpha::Mask(cutoff) => {
                material["alphaMode"] = "MASK".into();
                material["alphaCutoff"] = cutoff.into();
            }
            Alpha::Blend => material["alphaMode"] = "BLEND".into(),
        }
        if own.is_double_sided {
            material["doubleSided"] = true.into();
        }
        for (extension, value) in &own.extensions {
            self.extensions.insert(extension.clone());
            material["extensions"][extension] = self.extension(buffer, (name, extension), value, own);
        }
        material
    }

    /// A carried extension, with the numbers that its textures have here.
    fn extension(
        &mut self,
        buffer: &mut Buffer,
        (name, extension): (&str, &str),
        value: &Value,
        own: &Material,
    ) -> Value {
        let mut out = value.clone();
        for (key, entry) in out.as_object_mut().into_iter().flatten() {
            let number = entry.get("index").and_then(Value::as_u64).filter(|_| key.ends_with("Texture"));
            let map = number.and_then(|number| own.extension_maps.get(usize::try_from(number).ok()?));
            let Some(map) = map else { continue };
            // Readers carry those kinds alone that glTF has.
            let (kind, bytes) = (map.picture.kind, &map.picture.bytes);
            let label = format!("{name}_{extension}_{key}");
            let image = self.image_of(buffer, map, || (label, Some((kind, bytes.as_slice().into()))));
            if let Some(Value::Object(info)) = image.map(|image| self.info(image, map)) {
                for (what, number) in info {
                    entry[what] = number;
                }
            }
        }
        out
    }

    /// The texture of a map of a material; `None` where it has none, or it cannot be read.
    fn map(&mut self, buffer: &mut Buffer, name: &str, own: &Material, of: MapUse) -> Option<Value> {
        let label = match of {
            MapUse::Color => name.to_owned(),
            _ => format!("{name} {}", of.name()),
        };
        let Some(map) = own.maps.get(&of) else {
            let (kind, bytes) = picture(own, of, true)?;
            let image = self.image(buffer, &label, kind, &bytes);
            return Some(json!({ "index": self.texture((image, false), Sampler::default()) }));
        };
        let image = self.image_of(buffer, map, || (label, picture(own, of, true)));
        if image.is_none() {
            self.notes
                .push(format!("GLB: the {} map of material {name} left out: it cannot be read", of.name()));
        }
        Some(self.info(image?, map))
    }

    /// The image of a map's picture, and whether it is WebP; added on first use, as `bytes` gives its name, its kind and bytes.
    fn image_of<'b>(
        &mut self,
        buffer: &mut Buffer,
        map: &MaterialMap,
        bytes: impl FnOnce() -> (String, Option<(PictureKind, Cow<'b, [u8]>)>),
    ) -> Option<(usize, bool)> {
        let place = Arc::as_ptr(&map.picture).addr();
        if let Some(known) = self.known_images.get(&place) {
            return *known;
        }
        let (label, found) = bytes();
        let label = if map.picture.name.is_empty() { &label } else { &map.picture.name };
        let image =
            found.map(|(kind, bytes)| (self.image(buffer, label, kind, &bytes), kind == PictureKind::WebP));
        self.known_images.insert(place, image);
        image
    }

    /// The reference to a texture of this image, as a map shows it.
    fn info(&mut self, image: (usize, bool), map: &MaterialMap) -> Value {
        let mut info = json!({ "index": self.texture(image, map.sampler) });
        if map.is_second {
            info["texCoord"] = 1.into();
        }
        if let Some(TextureTransform { offset, rotation, scale }) = map.transform {
            self.extensions.insert(TRANSFORM.to_owned());
            let mut entry = json!({});
            if offset != [0.0; 2] {
                entry["offset"] = json!(offset);
            }
            if rotation != 0.0 {
                entry["rotation"] = rotation.into();
            }
            if scale != [1.0; 2] {
                entry["scale"] = json!(scale);
            }
            info["extensions"] = json!({ TRANSFORM: entry });
        }
        info
    }

    /// Index of the texture of an image with a sampler.
    fn texture(&mut self, (image, is_webp): (usize, bool), sampler: Sampler) -> usize {
        let wrap = |wrap: Wrap| match wrap {
            Wrap::Repeat => 10497,
            Wrap::Mirror => 33648,
            Wrap::Clamp => 33071,
        };
        let [wrap_s, wrap_t] = sampler.wrap.map(wrap);
        let mut own = json!({ "wrapS": wrap_s, "wrapT": wrap_t });
        for (name, filter) in ["magFilter", "minFilter"].into_iter().zip(sampler.filters) {
            if let Some(number) = filter {
                own[name] = number.into();
            }
        }
        let sampler = place_of(&mut self.samplers, own);
        let texture = if is_webp {
            self.extensions.insert(WEBP.to_owned());
            json!({ "sampler": sampler, "extensions": { WEBP: { "source": image } } })
        } else {
            json!({ "source": image, "sampler": sampler })
        };
        place_of(&mut self.textures, texture)
    }

    /// Adds an image; its index.
    fn image(&mut self, buffer: &mut Buffer, name: &str, kind: PictureKind, bytes: &[u8]) -> usize {
        let view = buffer.view(bytes, None);
        self.images.push(json!({ "name": name, "bufferView": view, "mimeType": kind.mime() }));
        self.images.len() - 1
    }
}

/// The place of a value in a list, to which it is added on first use.
fn place_of(list: &mut Vec<Value>, value: Value) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// sRGB byte to linear 16 bits.
pub fn linear(byte: u8) -> u16 {
    (srgb::linear(byte) * 65535.0).round() as u16
}
