//! Materials of a layer: UsdPreviewSurface with vertex colours, with the object's own colour and maps, or with the textures of
//! crack faces.

use std::{collections::BTreeMap, io::Write, path::Path};

use super::super::looks::{IOR, Names, OPACITY, is_clear, left_out, letters, own_material, roughness};
use crate::{
    Assembly, ExportError, ExportPiece,
    geometry::srgb,
    mesh::{Alpha, MapUse, Material, Wrap},
    meshes::{Side, bake::TEXTURES},
};

/// Name of the root prim.
pub const ROOT: &str = "kintsugi";

/// Names of materials; of those that pieces show, the object and the side of one that does.
pub struct Used {
    names: Names,
    by_name: BTreeMap<String, (Option<usize>, Side)>,
}

impl Used {
    /// The names of all materials of pieces, none of them used.
    pub fn new(what: &Assembly) -> Self {
        Self { names: Names::of(what, clean), by_name: BTreeMap::new() }
    }

    /// The name of a side's material.
    pub fn name(&mut self, piece: &ExportPiece, side: Side) -> &str {
        let name = self.names.name(piece.object, Some(side));
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), (piece.object, side));
        }
        name
    }
}

/// A name that a prim can have.
fn clean(name: &str) -> String {
    let name = letters(name);
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { name } else { format!("_{name}") }
}

/// Writes the scope of all materials.
pub fn write(out: &mut impl Write, what: &Assembly, used: &Used) -> std::io::Result<()> {
    writeln!(out, "    def Scope \"materials\"\n    {{")?;
    for (name, (object, side)) in &used.by_name {
        let is_clear = is_clear(what, *object, Some(*side));
        if let Some((number, own)) = own_material(what, *object, Some(*side)) {
            let file = |of: MapUse| used.names.file(*object, number, of);
            write_own(out, name, own, &file)?;
        } else if side.is_crack() && what.maps.contains_key(object) {
            write_baked(out, name, &what.inside_name(*object), is_clear)?;
        } else {
            write_painted(out, name, roughness(what, *object, Some(*side)), is_clear)?;
        }
    }
    writeln!(out, "    }}")
}

/// Writes a material that shows vertex colours.
fn write_painted(out: &mut impl Write, name: &str, rough: f64, is_clear: bool) -> std::io::Result<()> {
    let at = format!("/{ROOT}/materials/{name}");
    begin(out, name, name, is_clear)?;
    writeln!(
        out,
        "                float inputs:roughness = {rough}\n                float inputs:metallic = 0\n                \
         color3f inputs:diffuseColor.connect = <{at}/color.outputs:result>\n                \
         token outputs:surface\n            }}"
    )?;
    write_vertex_color(out)?;
    writeln!(out, "        }}\n")
}

/// Writes the beginning of a material and of its surface, which light passes through if it is clear.
fn begin(out: &mut impl Write, name: &str, shown: &str, is_clear: bool) -> std::io::Result<()> {
    let shown: String = shown.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
    let about = if shown == name {
        String::new()
    } else {
        format!(" (\n            displayName = \"{shown}\"\n        )")
    };
    writeln!(
        out,
        "        def Material \"{name}\"{about}\n        {{\n            \
         token outputs:surface.connect = </{ROOT}/materials/{name}/surface.outputs:surface>\n\n            \
         def Shader \"surface\"\n            {{\n                \
         uniform token info:id = \"UsdPreviewSurface\""
    )?;
    if is_clear {
        let indent = " ".repeat(16);
        writeln!(out, "{indent}float inputs:opacity = {OPACITY}\n{indent}float inputs:ior = {IOR}")?;
    }
    Ok(())
}

/// A texture of the object's own material.
struct Shown<'a> {
    /// Name of its prim.
    prim: &'static str,
    file: &'a str,
    wrap: [Wrap; 2],
    /// Name of the prim that reads its texture coordinates.
    st: &'static str,
    space: &'static str,
    scale: [f64; 4],
    bias: [f64; 4],
    /// Types and names of the outputs.
    outputs: &'static [&'static str],
}

/// Writes a material of the object itself; `file` has the files of its maps.
fn write_own<'a>(
    out: &mut impl Write,
    name: &str,
    own: &Material,
    file: &impl Fn(MapUse) -> Option<&'a str>,
) -> std::io::Result<()> {
    let at = format!("/{ROOT}/materials/{name}");
    let factor = own.factor.unwrap_or_else(|| {
        let [r, g, b] = own.color.map(|byte| f64::from(srgb::linear(byte)));
        [r, g, b, 1.0]
    });
    let [r, g, b, opacity] = factor;
    let (mut inputs, mut textures) = (Vec::new(), Vec::new());
    let mut constant = |input: &str, value: String| inputs.push(format!("{input} = {value}"));
    let has = |of: MapUse| file(of).is_some();
    let color = |[r, g, b]: [f64; 3]| format!("({r}, {g}, {b})");
    let mut connected = Vec::new();
    let mut connect = |input: &str, output: &str| {
        connected.push(format!("{input}.connect = <{at}/{output}>"));
    };
    if has(MapUse::Color) {
        connect("color3f inputs:diffuseColor", "texture.outputs:rgb");
    } else if own.is_painted {
        connect("color3f inputs:diffuseColor", "color.outputs:result");
    } else {
        constant("color3f inputs:diffuseColor", color([r, g, b]));
    }
    if has(MapUse::MetallicRoughness) {
        connect("float inputs:roughness", "metallic_roughness.outputs:g");
        connect("float inputs:metallic", "metallic_roughness.outputs:b");
    } else {
        constant("float inputs:roughness", own.roughness.to_string());
        constant("float inputs:metallic", own.metallic.to_string());
    }
    if let Some(ior) = own.refraction() {
        constant("float inputs:ior", ior.to_string());
    }
    if has(MapUse::Normal) {
        connect("normal3f inputs:normal", "normal.outputs:rgb");
    }
    if has(MapUse::Occlusion) {
        connect("float inputs:occlusion", "occlusion.outputs:r");
    }
    let strength = own.extensions.get("KHR_materials_emissive_strength");
    let strength = strength.and_then(|value| value.get("emissiveStrength")?.as_f64()).unwrap_or(1.0);
    let emissive = own.emissive.map(|part| part * strength);
    if has(MapUse::Emissive) {
        connect("color3f inputs:emissiveColor", "emissive.outputs:rgb");
    } else if emissive != [0.0; 3] {
        constant("color3f inputs:emissiveColor", color(emissive));
    }
    if own.alpha != Alpha::Opaque {
        if has(MapUse::Color) {
            connect("float inputs:opacity", "texture.outputs:a");
        } else {
            constant("float inputs:opacity", opacity.to_string());
        }
        if let Alpha::Mask(cutoff) = own.alpha {
            constant("float inputs:opacityThreshold", cutoff.to_string());
        }
    }
    let mut add = |of: MapUse, prim: &'static str, space: &'static str, (scale, bias), outputs| {
        let map = own.maps.get(&of);
        let wrap = map.map_or([Wrap::Repeat; 2], |map| map.sampler.wrap);
        let st = if map.is_some_and(|map| map.is_second) { "st1" } else { "st" };
        textures.extend(file(of).map(|file| Shown { prim, file, wrap, st, space, scale, bias, outputs }));
    };
    let (slope, share) = (own.normal_scale, own.occlusion_strength);
    let [er, eg, eb] = emissive;
    let none = [0.0; 4];
    add(MapUse::Color, "texture", "sRGB", (factor, none), &["float3 outputs:rgb", "float outputs:a"]);
    add(
        MapUse::MetallicRoughness,
        "metallic_roughness",
        "raw",
        ([1.0, own.roughness, own.metallic, 1.0], none),
        &["float outputs:g", "float outputs:b"],
    );
    let signed = ([2.0 * slope, 2.0 * slope, 2.0, 1.0], [-slope, -slope, -1.0, 0.0]);
    add(MapUse::Normal, "normal", "raw", signed, &["float3 outputs:rgb"]);
    add(MapUse::Occlusion, "occlusion", "raw", ([share; 4], [1.0 - share; 4]), &["float outputs:r"]);
    add(MapUse::Emissive, "emissive", "sRGB", ([er, eg, eb, 1.0], none), &["float3 outputs:rgb"]);
    let shown = if own.name.is_empty() { name } else { &own.name };
    begin(out, name, shown, false)?;
    for line in inputs.iter().chain(&connected) {
        writeln!(out, "                {line}")?;
    }
    writeln!(out, "                token outputs:surface\n            }}")?;
    if own.is_painted && !has(MapUse::Color) {
        write_vertex_color(out)?;
    }
    for texture in &textures {
        write_texture(out, &at, texture)?;
    }
    for set in ["st", "st1"] {
        if textures.iter().any(|texture| texture.st == set) {
            writeln!(out)?;
            write_st(out, set)?;
        }
    }
    writeln!(out, "        }}\n")
}

/// Writes a texture of an object's own material.
fn write_texture(out: &mut impl Write, at: &str, shown: &Shown<'_>) -> std::io::Result<()> {
    let [u, v] = shown.wrap.map(|wrap| match wrap {
        Wrap::Repeat => "repeat",
        Wrap::Mirror => "mirror",
        Wrap::Clamp => "clamp",
    });
    let four = |[x, y, z, w]: [f64; 4]| format!("({x}, {y}, {z}, {w})");
    writeln!(
        out,
        "\n            def Shader \"{}\"\n            {{\n                \
         uniform token info:id = \"UsdUVTexture\"\n                asset inputs:file = @./{}@\n                \
         float2 inputs:st.connect = <{at}/{}.outputs:result>\n                \
         token inputs:sourceColorSpace = \"{}\"\n                token inputs:wrapS = \"{u}\"\n                \
         token inputs:wrapT = \"{v}\"\n                float4 inputs:scale = {}\n                \
         float4 inputs:bias = {}",
        shown.prim,
        shown.file,
        shown.st,
        shown.space,
        four(shown.scale),
        four(shown.bias)
    )?;
    for output in shown.outputs {
        writeln!(out, "                {output}")?;
    }
    writeln!(out, "            }}")
}

/// Writes the shader that reads vertex colours.
fn write_vertex_color(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "\n            def Shader \"color\"\n            {{\n                \
         uniform token info:id = \"UsdPrimvarReader_float3\"\n                \
         string inputs:varname = \"displayColor\"\n                float3 outputs:result\n            }}"
    )
}

/// Writes a material with the textures of crack faces, whose files begin with `files`.
fn write_baked(out: &mut impl Write, name: &str, files: &str, is_clear: bool) -> std::io::Result<()> {
    let at = format!("/{ROOT}/materials/{name}");
    begin(out, name, name, is_clear)?;
    writeln!(
        out,
        "                float inputs:metallic = 0\n                \
         color3f inputs:diffuseColor.connect = <{at}/color.outputs:rgb>\n                \
         normal3f inputs:normal.connect = <{at}/normal.outputs:rgb>\n                \
         float inputs:roughness.connect = <{at}/roughness.outputs:g>\n                \
         token outputs:surface\n            }}"
    )?;
    let signed = "float4 inputs:scale = (2, 2, 2, 1)\n                float4 inputs:bias = (-1, -1, -1, 0)\n                ";
    for (shown, space, scale, output) in [
        ("color", "sRGB", "", "float3 outputs:rgb"),
        ("normal", "raw", signed, "float3 outputs:rgb"),
        ("roughness", "raw", "", "float outputs:g"),
    ] {
        writeln!(
            out,
            "\n            def Shader \"{shown}\"\n            {{\n                \
             uniform token info:id = \"UsdUVTexture\"\n                \
             asset inputs:file = @./{TEXTURES}/{files}_{shown}.png@\n                \
             float2 inputs:st.connect = <{at}/st.outputs:result>\n                \
             token inputs:sourceColorSpace = \"{space}\"\n                {scale}{output}\n            }}"
        )?;
    }
    writeln!(out)?;
    write_st(out, "st")?;
    writeln!(out, "        }}\n")
}

/// Writes the shader that reads a set of texture coordinates.
fn write_st(out: &mut impl Write, set: &str) -> std::io::Result<()> {
    writeln!(
        out,
        "            def Shader \"{set}\"\n            {{\n                \
         uniform token info:id = \"UsdPrimvarReader_float2\"\n                \
         string inputs:varname = \"{set}\"\n                float2 outputs:result\n            }}"
    )
}

/// Writes the textures beside the layer at `path`; notes about what is left out of materials.
pub fn write_textures(path: &Path, what: &Assembly, used: &Used) -> Result<Vec<String>, ExportError> {
    let mut notes = Vec::new();
    for (name, (object, side)) in &used.by_name {
        if let Some((number, own)) = own_material(what, *object, Some(*side)) {
            used.names.write_files(path, (*object, number), own, &mut notes)?;
            let said = ["KHR_materials_emissive_strength", "KHR_materials_ior"];
            left_out("USD", (name, own), &said, &mut notes);
        }
    }
    Ok(notes)
}
