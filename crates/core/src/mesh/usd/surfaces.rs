//! Materials of a USD layer: `UsdPreviewSurface` with numbers and textures.
//!
//! In: the prim that a face is bound to. Out: the number of a material that is read on first use, and what its faces show.

use std::collections::HashMap;

use super::{Attribute, Files, Layer, Names, Prim, find};
use crate::{
    geometry::srgb,
    mesh::{
        Alpha, MapUse, Material, MaterialMap, Wrap,
        unchecked::{Problem, UncheckedMesh},
    },
};

/// Most connections that are followed from an input to its value.
const MOST_STEPS: usize = 8;

/// A material as faces need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface<'a> {
    /// Its number.
    pub number: u32,
    /// Whether it shows the colours of the mesh.
    pub is_painted: bool,
    /// The name of its texture coordinates.
    pub set: Option<&'a str>,
}

/// The value of an input: numbers of its own, or the output of a shader.
#[derive(Clone, Copy)]
struct Input<'a> {
    numbers: &'a [f64],
    from: Option<(&'a Prim<'a>, &'a str)>,
}

impl Input<'_> {
    fn number(&self, other: f64) -> f64 {
        self.numbers.first().copied().filter(|x| x.is_finite()).unwrap_or(other)
    }

    fn rgb(&self, other: f64) -> [f64; 3] {
        let numbers = self.numbers.first_chunk().copied().unwrap_or([other; 3]);
        numbers.map(|x| if x.is_finite() { x } else { other })
    }
}

/// Materials read so far.
pub(super) struct Surfaces<'a> {
    layer: &'a Layer<'a>,
    names: &'a Names<'a>,
    files: &'a Files<'a>,
    known: HashMap<Option<usize>, Surface<'a>>,
}

impl<'a> Surfaces<'a> {
    pub fn new(layer: &'a Layer<'a>, names: &'a Names<'a>, files: &'a Files<'a>) -> Self {
        Self { layer, names, files, known: HashMap::new() }
    }

    /// The surface of a material, or that of faces without one.
    pub fn get(
        &mut self,
        prim: Option<usize>,
        unchecked: &mut UncheckedMesh,
    ) -> Result<Surface<'a>, Problem> {
        if let Some(known) = self.known.get(&prim) {
            return Ok(*known);
        }
        unchecked.pace.go_on_now()?;
        let (material, is_painted, set) = match prim {
            Some(prim) => self.read(&self.layer.prims[prim], unchecked),
            None => (Material::default(), true, None),
        };
        let surface = Surface { number: unchecked.mesh.materials.len() as u32, is_painted, set };
        unchecked.mesh.materials.push(material);
        self.known.insert(prim, surface);
        Ok(surface)
    }

    /// The value of an input of a prim, through what it is connected to.
    fn input(&self, prim: &'a Prim<'a>, name: &str) -> Input<'a> {
        let (mut prim, mut name) = (prim, name.to_owned());
        for _ in 0..MOST_STEPS {
            let path = prim.text(&format!("{name}.connect"));
            let Some((source, output)) = path.and_then(|path| find(self.names, path)) else { break };
            let source: &'a Prim<'a> = &self.layer.prims[source];
            // The outputs of shaders are made by them; inputs and outputs of what holds shaders hand on.
            if source.kind == "Shader" && output.starts_with("outputs:") {
                return Input { numbers: &[], from: Some((source, output)) };
            }
            (prim, name) = (source, output.to_owned());
        }
        Input { numbers: prim.numbers(&name), from: None }
    }

    /// A material, whether it shows the colours of meshes, and the name of its texture coordinates.
    fn read(&self, prim: &'a Prim<'a>, unchecked: &mut UncheckedMesh) -> (Material, bool, Option<&'a str>) {
        let name = prim.notes.get("displayName");
        let name = name.as_ref().and_then(Attribute::text).unwrap_or(prim.name).to_owned();
        let mut material = Material { name, ..Material::default() };
        let surface = self.input(prim, "outputs:surface").from.map(|(shader, _)| shader);
        let is_read = |shader: &&Prim<'_>| shader.text("info:id") == Some("UsdPreviewSurface");
        let Some(shader) = surface.filter(is_read) else {
            unchecked
                .warn(format!("material {}: only UsdPreviewSurface is read, and it has none", material.name));
            return (material, true, None);
        };
        let input = |name: &str| self.input(shader, &format!("inputs:{name}"));
        let texture =
            |input: &Input<'a>| input.from.filter(|(prim, _)| prim.text("info:id") == Some("UsdUVTexture"));
        let scale = |prim: &Prim<'_>| {
            let numbers = prim.numbers("inputs:scale").first_chunk::<4>().copied().unwrap_or([1.0; 4]);
            numbers.map(|x| if x.is_finite() { x } else { 1.0 })
        };
        let [color, glow, rough, metal, opacity, normal, shade] =
            ["diffuseColor", "emissiveColor", "roughness", "metallic", "opacity", "normal", "occlusion"]
                .map(input);
        let is_painted = color.from.is_some_and(|(prim, _)| {
            prim.text("info:id").is_some_and(|id| id.starts_with("UsdPrimvarReader"))
        });
        let mut set = None;
        let mut rgb = if is_painted { [1.0; 3] } else { color.rgb(0.18) };
        let mut alpha = opacity.number(1.0);
        if let Some((picture, _)) = texture(&color) {
            set = self.set(picture);
            let [r, g, b, a] = scale(picture);
            (rgb, alpha) = ([r, g, b], if opacity.from.is_some() { a } else { alpha });
            if let Some((texture, map)) =
                file_of(picture).and_then(|file| self.files.texture(unchecked, file))
            {
                material.texture = Some(texture);
                material.maps.extend(map.map(|map| (MapUse::Color, wrapped(map, picture))));
            }
        }
        material.color = rgb.map(|x| srgb::byte(x as f32));
        material.factor = Some([rgb[0], rgb[1], rgb[2], alpha]);
        (material.roughness, material.metallic) =
            (rough.number(0.5).clamp(0.0, 1.0), metal.number(0.0).clamp(0.0, 1.0));
        material.emissive = glow.rgb(0.0);
        material.refract(input("ior").number(1.5));
        let share = |name: &str, other: f64| input(name).number(other).clamp(0.0, 1.0);
        material.coat(share("clearcoat", 0.0), share("clearcoatRoughness", 0.01));
        look_at_inputs(shader, unchecked);
        let threshold = input("opacityThreshold").number(0.0);
        if threshold > 0.0 {
            material.alpha = Alpha::Mask(threshold);
        } else if alpha < 1.0 || opacity.from.is_some() {
            material.alpha = Alpha::Blend;
        }
        let mut add = |of: MapUse, input: &Input<'a>| {
            let (picture, _) = texture(input)?;
            set = set.or_else(|| self.set(picture));
            let map = file_of(picture).and_then(|file| self.files.map(unchecked, file))?;
            material.maps.insert(of, wrapped(map, picture));
            Some(scale(picture))
        };
        let [of_normal, of_shade, of_glow] =
            [(MapUse::Normal, &normal), (MapUse::Occlusion, &shade), (MapUse::Emissive, &glow)]
                .map(|(of, input)| add(of, input));
        // Roughness in green and metallic in blue of one picture are a map of pieces; without metal the blue is of no account.
        let is_packed = match (texture(&rough), texture(&metal)) {
            (Some((one, "outputs:g")), Some((other, "outputs:b"))) => std::ptr::eq(one, other),
            (Some((_, "outputs:g")), None) => metal.number(0.0) == 0.0,
            _ => false,
        };
        let of_rough = if is_packed { add(MapUse::MetallicRoughness, &rough) } else { None };
        if let Some([slope, ..]) = of_normal {
            material.normal_scale = slope / 2.0;
        }
        if let Some([share, ..]) = of_shade {
            material.occlusion_strength = share;
        }
        if let Some([r, g, b, _]) = of_glow {
            material.emissive = [r, g, b];
        }
        if let Some([_, factor, of_metal, _]) = of_rough {
            material.roughness = factor;
            material.metallic = if texture(&metal).is_some() { of_metal } else { 0.0 };
        }
        if !is_packed && (rough.from.is_some() || metal.from.is_some()) {
            let name = &material.name;
            unchecked.warn(format!(
                "the pictures of roughness or metal of material {name} left out: pieces have them in channels of one picture"
            ));
        }
        (material, is_painted, set)
    }

    /// The name of the texture coordinates that a texture is at.
    fn set(&self, texture: &'a Prim<'a>) -> Option<&'a str> {
        let mut source = self.input(texture, "inputs:st").from?.0;
        if source.text("info:id") == Some("UsdTransform2d") {
            source = self.input(source, "inputs:in").from?.0;
        }
        source.text("inputs:varname")
    }
}

/// Notes the inputs of a shader that no material of pieces has, where they are more than 0 or connected.
fn look_at_inputs(shader: &Prim<'_>, unchecked: &mut UncheckedMesh) {
    let is_specular = shader.numbers("inputs:useSpecularWorkflow").iter().any(|x| *x != 0.0);
    for (full, value) in &shader.attributes {
        let Some(input) = full.strip_prefix("inputs:") else { continue };
        let name = input.trim_end_matches(".connect");
        let is_connected = name.len() < input.len();
        let is_read = match name {
            "diffuseColor" | "emissiveColor" | "roughness" | "metallic" | "opacity" | "opacityThreshold"
            | "opacityMode" | "normal" | "occlusion" => true,
            "ior" | "clearcoat" | "clearcoatRoughness" => !is_connected,
            // Without the other workflow it does not count, and Blender's `specular` is none of the shader's inputs.
            "specularColor" | "specular" => !is_specular,
            _ => false,
        };
        if !is_read && (is_connected || value.numbers.iter().any(|x| *x != 0.0)) {
            unchecked.left_out.note("inputs of shaders", name);
        }
    }
}

fn file_of<'a>(texture: &'a Prim<'_>) -> Option<&'a str> {
    texture.text("inputs:file").filter(|file| !file.is_empty())
}

/// A map, sampled as its texture says.
fn wrapped(mut map: MaterialMap, texture: &Prim<'_>) -> MaterialMap {
    let wrap = |name: &str| match texture.text(name) {
        Some("mirror") => Wrap::Mirror,
        Some("clamp" | "black") => Wrap::Clamp,
        _ => Wrap::Repeat,
    };
    map.sampler.wrap = [wrap("inputs:wrapS"), wrap("inputs:wrapT")];
    map
}
