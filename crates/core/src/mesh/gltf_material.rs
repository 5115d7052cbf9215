//! Materials of a glTF file, whole: factors, maps with their pictures as they came, and extensions that pieces carry.
//!
//! In: a material's JSON. Out: a [`Material`]; what pieces cannot carry is a warning. Of the older model (specular and
//! glossiness) a material becomes one of metal and roughness.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use super::{
    gltf::{Reader, second_set},
    gltf_json::{MaterialJson, SamplerJson, SpecularGlossiness, TextureInfo, is_carried},
    load::stem_of,
    material::{Alpha, MapUse, Material, MaterialMap, Picture, PictureKind, Sampler, TextureTransform, Wrap},
    unchecked::Problem,
};
use crate::geometry::srgb;

/// Share of light that a surface which is no metal reflects head on.
const DIELECTRIC: f64 = 0.04;

/// Base colour (linear) with opacity, metallic and roughness.
type Factors = ([f64; 4], f64, f64);

impl MaterialJson {
    /// Its maps, in the order of [`MapUse`].
    fn maps(&self) -> impl Iterator<Item = (MapUse, &TextureInfo)> {
        let pbr = &self.pbr_metallic_roughness;
        let (color, rough) = match &self.extensions.specular_glossiness {
            Some(old) => (&old.diffuse_texture, &None),
            None => (&pbr.base_color_texture, &pbr.metallic_roughness_texture),
        };
        let all = [color, rough, &self.normal_texture, &self.occlusion_texture, &self.emissive_texture];
        MapUse::ALL.into_iter().zip(all).filter_map(|(of, info)| Some((of, info.as_ref()?)))
    }

    /// The map of its colour.
    pub fn color_map(&self) -> Option<&TextureInfo> {
        self.maps().find(|(of, _)| *of == MapUse::Color).map(|(_, info)| info)
    }

    /// The set of texture coordinates that is the first one of pieces: that of its first map.
    pub fn set(&self) -> u32 {
        self.maps().next().map_or(0, |(_, info)| info.set())
    }

    /// Whether pieces of this material have tangents: a map of normals, one of a coat's normals, or a grain uses them.
    pub fn has_tangents(&self) -> bool {
        let others = &self.extensions.others;
        let of_coat = |coat: &Value| coat.get("clearcoatNormalTexture").is_some();
        self.normal_texture.is_some()
            || others.contains_key("KHR_materials_anisotropy")
            || others.get("KHR_materials_clearcoat").is_some_and(of_coat)
    }

    fn factors(&self) -> Factors {
        let pbr = &self.pbr_metallic_roughness;
        match &self.extensions.specular_glossiness {
            Some(old) => old.factors(),
            None => (
                // Some exporters round to just above 1.
                pbr.base_color_factor.unwrap_or([1.0; 4]).map(|x| x.clamp(0.0, 1.0)),
                pbr.metallic_factor.unwrap_or(1.0),
                pbr.roughness_factor.unwrap_or(1.0),
            ),
        }
    }

    fn alpha(&self) -> Alpha {
        match self.alpha_mode.as_deref() {
            Some("MASK") => Alpha::Mask(self.alpha_cutoff.unwrap_or(0.5)),
            Some("BLEND") => Alpha::Blend,
            _ => Alpha::Opaque,
        }
    }
}

impl SpecularGlossiness {
    /// The same in the newer model: the metallic share with which a surface reflects as much head on and scatters as much. The
    /// product of a texture and a factor is no such sum, so with a texture the diffuse factor stays.
    fn factors(&self) -> Factors {
        let diffuse = self.diffuse_factor.unwrap_or([1.0; 4]);
        let has_map = self.specular_glossiness_texture.is_some();
        let roughness = if has_map { 0.5 } else { 1.0 - self.glossiness_factor.unwrap_or(1.0) };
        let Some(specular) = self.specular_factor.filter(|_| !has_map) else {
            return (diffuse, 0.0, roughness);
        };
        let [r, g, b, opacity] = diffuse;
        let bright = |[r, g, b]: [f64; 3]| (0.299 * r * r + 0.587 * g * g + 0.114 * b * b).sqrt();
        let scattered = 1.0 - specular.into_iter().fold(0.0, f64::max);
        let (own, shine) = (bright([r, g, b]), bright(specular));
        let metallic = if shine < DIELECTRIC {
            0.0
        } else {
            let half = own * scattered / (1.0 - DIELECTRIC) + shine - 2.0 * DIELECTRIC;
            let root = (half * half - 4.0 * DIELECTRIC * (DIELECTRIC - shine)).max(0.0).sqrt();
            ((root - half) / (2.0 * DIELECTRIC)).clamp(0.0, 1.0)
        };
        if self.diffuse_texture.is_some() {
            return (diffuse, metallic, roughness);
        }
        let color = |k: usize| {
            let of_diffuse = diffuse[k] * scattered / ((1.0 - DIELECTRIC) * (1.0 - metallic).max(1e-6));
            let of_specular = (specular[k] - DIELECTRIC * (1.0 - metallic)) / metallic.max(1e-6);
            let share = metallic * metallic;
            (of_diffuse * (1.0 - share) + of_specular * share).clamp(0.0, 1.0)
        };
        ([color(0), color(1), color(2), opacity], metallic, roughness)
    }
}

fn sampler_of(json: &SamplerJson) -> Sampler {
    let wrap = |number: Option<u32>| match number {
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        _ => Wrap::Repeat,
    };
    let is_filter = |number: &u32| matches!(number, 9728 | 9729 | 9984..=9987);
    Sampler {
        wrap: [wrap(json.wrap_s), wrap(json.wrap_t)],
        filters: [json.mag_filter.filter(|n| *n < 9984).filter(is_filter), json.min_filter.filter(is_filter)],
    }
}

impl Reader<'_> {
    /// The whole material of a number that the file has.
    pub(super) fn carried(&mut self, number: usize) -> Result<Material, Problem> {
        let root = self.root;
        let Some(json) = root.materials.get(number) else { return Ok(Material::default()) };
        let name = json.name.clone().unwrap_or_default().trim().to_owned();
        let shown = if name.is_empty() { format!("material {number}") } else { format!("material {name}") };
        let (factor, metallic, roughness) = json.factors();
        let [r, g, b, _] = factor.map(|x| x as f32);
        let mut material = Material {
            name,
            color: [r, g, b].map(srgb::byte),
            factor: Some(factor),
            metallic,
            roughness,
            emissive: json.emissive_factor,
            normal_scale: json.normal_texture.as_ref().and_then(|info| info.scale).unwrap_or(1.0),
            occlusion_strength: json.occlusion_texture.as_ref().and_then(|info| info.strength).unwrap_or(1.0),
            alpha: json.alpha(),
            is_double_sided: json.double_sided,
            ..Material::default()
        };
        let set = json.set();
        for (of, info) in json.maps() {
            if of == MapUse::Color {
                material.texture = self.texture(info.index)?;
                if material.texture.is_none() {
                    continue;
                }
            }
            let what = format!("the {} map of {shown}", of.name());
            if let Some(map) = self.map(info, set, &what)? {
                material.maps.insert(of, map);
            }
        }
        let old = json.extensions.specular_glossiness.as_ref();
        if old.is_some_and(|old| old.specular_glossiness_texture.is_some()) {
            self.warn_once(format!("the map of specular colours and gloss of {shown} left out"));
        }
        for (name, value) in &json.extensions.others {
            match value {
                Value::Object(_) if is_carried(name) => {
                    let value = self.carry(value, set, &mut material.extension_maps, (name, &shown))?;
                    material.extensions.insert(name.clone(), value);
                }
                // That it is left out was said of the whole file.
                _ if root.extensions_used.contains(name) && !is_carried(name) => {}
                _ => self.warn_once(format!("the extension {name} of {shown} left out")),
            }
        }
        Ok(material)
    }

    /// An extension with its textures, whose numbers become those in `maps`.
    fn carry(
        &mut self,
        extension: &Value,
        set: u32,
        maps: &mut Vec<MaterialMap>,
        (name, shown): (&str, &str),
    ) -> Result<Value, Problem> {
        let mut out = extension.clone();
        let Some(entries) = out.as_object_mut() else { return Ok(out) };
        let textures: Vec<String> = entries.keys().filter(|key| key.ends_with("Texture")).cloned().collect();
        for key in textures {
            let what = format!("{key} of {name} of {shown}");
            let info = entries.get(&key).and_then(|value| serde_json::from_value(value.clone()).ok());
            let Some(info): Option<TextureInfo> = info else {
                entries.remove(&key);
                self.warn_once(format!("{what} left out: it is no texture"));
                continue;
            };
            let Some(map) = self.map(&info, set, &what)? else {
                entries.remove(&key);
                continue;
            };
            if let Some(entry) = entries.get_mut(&key).and_then(Value::as_object_mut) {
                entry.insert("index".into(), maps.len().into());
                // Writers say at which set of coordinates the picture lies, and where.
                entry.remove("texCoord");
                entry.remove("extensions");
            }
            maps.push(map);
        }
        Ok(out)
    }

    /// The map of a texture; `what` is its name in messages, `set` the first set of coordinates of pieces.
    fn map(&mut self, info: &TextureInfo, set: u32, what: &str) -> Result<Option<MaterialMap>, Problem> {
        let is_second = info.set() == second_set(set);
        if info.set() != set && !is_second {
            self.warn_once(format!(
                "{what} left out: it uses set {} of the texture coordinates, and pieces have sets {set} and {}",
                info.set(),
                second_set(set)
            ));
            return Ok(None);
        }
        let Some(source) = self.source(info.index) else { return Ok(None) };
        let Some(picture) = self.picture(source)? else { return Ok(None) };
        if picture.kind == PictureKind::Other {
            self.warn_once(format!("{what} left out: its picture is neither PNG nor JPEG nor WebP"));
            return Ok(None);
        }
        let root = self.root;
        let sampler = root.textures.get(info.index).and_then(|texture| root.samplers.get(texture.sampler?));
        let transform = info.transform().filter(TextureTransform::is_invertible);
        let sampler = sampler.map(sampler_of).unwrap_or_default();
        Ok(Some(MaterialMap { picture, sampler, transform, is_second }))
    }

    /// The number of the image that a texture shows.
    pub(super) fn source(&mut self, texture: usize) -> Option<usize> {
        let root = self.root;
        let found = root.textures.get(texture).and_then(|texture| {
            texture.extensions.webp.as_ref().and_then(|webp| webp.source).or(texture.source)
        });
        let found = found.filter(|source| *source < root.images.len());
        if found.is_none() {
            self.warn_once("a texture without a picture that can be read is left out".to_owned());
        }
        found
    }

    /// The file of an image as it came, read once.
    pub(super) fn picture(&mut self, source: usize) -> Result<Option<Arc<Picture>>, Problem> {
        if let Some(known) = self.pictures.get(&source) {
            return Ok(known.clone());
        }
        self.unchecked.pace.go_on_now()?;
        let picture = self.read_picture(source);
        self.pictures.insert(source, picture.clone());
        Ok(picture)
    }

    fn read_picture(&mut self, source: usize) -> Option<Arc<Picture>> {
        let root = self.root;
        let image = root.images.get(source)?;
        let name = image.name.as_deref().unwrap_or_default();
        let Some(view) = image.buffer_view else {
            let uri = image.uri.as_deref()?;
            let shown = image.shown();
            return match self.file(uri) {
                Ok(bytes) => {
                    let stem = if uri.starts_with("data:") { "" } else { stem_of(uri) };
                    let name = if name.is_empty() { stem } else { name };
                    self.unchecked.keep_picture(name, &shown, Cow::Owned(bytes))
                }
                Err(why) => {
                    self.unchecked.warn(format!("texture {shown}: {why}"));
                    None
                }
            };
        };
        match self.view(view) {
            Some((data, _)) => self.unchecked.keep_picture(name, &image.shown(), Cow::Borrowed(data)),
            None => {
                self.unchecked.warn("an embedded texture is cut short and left out");
                None
            }
        }
    }
}
