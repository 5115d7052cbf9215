//! Materials of a layer: UsdPreviewSurface with vertex colours, with the object's own colour and texture, or with the
//! textures of crack faces.

use std::{collections::BTreeMap, io::Write, path::Path};

use crate::{
    Assembly, ExportError, ExportPiece,
    geometry::srgb,
    mesh::Material,
    meshes::{Side, bake::TEXTURES},
    write_png,
};

/// Name of the root prim.
pub const ROOT: &str = "kintsugi";

/// Materials by name; `None` for one that shows vertex colours.
#[derive(Default)]
pub struct Used<'a> {
    names: BTreeMap<(Option<usize>, Option<u32>), String>,
    /// With the roughness of what has none of its own.
    by_name: BTreeMap<String, (Option<&'a Material>, f64)>,
}

impl<'a> Used<'a> {
    /// The name of a side's material.
    pub fn name(&mut self, what: &'a Assembly, piece: &ExportPiece, side: Side) -> &str {
        let number = match side {
            Side::Outside { material } => Some(material),
            Side::Inside => None,
        };
        let by_name = &mut self.by_name;
        self.names.entry((piece.object, number)).or_insert_with(|| {
            let own = number.and_then(|number| what.material(piece.object, number));
            let object = piece.object.map_or(String::new(), |object| format!("_{object}"));
            let name = match (number, own) {
                (None, _) => what.inside_name(piece.object),
                (Some(_), None) => "outside".to_owned(),
                (Some(number), Some(_)) => format!("outside{object}_{number}"),
            };
            let inside = (f64::from(what.inside_roughness(piece.object)) * 100.0).round() / 100.0;
            by_name.insert(name.clone(), (own, if number.is_none() { inside } else { 0.7 }));
            name
        })
    }
}

/// Writes the scope of all materials.
pub fn write(out: &mut impl Write, what: &Assembly, used: &Used<'_>) -> std::io::Result<()> {
    writeln!(out, "    def Scope \"materials\"\n    {{")?;
    for (name, (material, rough)) in &used.by_name {
        if what.is_baked(name) {
            write_baked(out, name)?;
            continue;
        }
        let at = format!("/{ROOT}/materials/{name}");
        let texture = material.and_then(|m| m.texture.as_ref());
        let color = material.map_or([255; 3], |m| m.color).map(srgb::linear);
        let [r, g, b] = color;
        writeln!(
            out,
            "        def Material \"{name}\"\n        {{\n            \
             token outputs:surface.connect = <{at}/surface.outputs:surface>\n\n            \
             def Shader \"surface\"\n            {{\n                \
             uniform token info:id = \"UsdPreviewSurface\"\n                float inputs:roughness = {rough}\n                \
             float inputs:metallic = 0"
        )?;
        let from = match (material.is_some(), texture.is_some()) {
            (false, _) => format!("color3f inputs:diffuseColor.connect = <{at}/color.outputs:result>"),
            (true, true) => format!("color3f inputs:diffuseColor.connect = <{at}/texture.outputs:rgb>"),
            (true, false) => format!("color3f inputs:diffuseColor = ({r}, {g}, {b})"),
        };
        writeln!(out, "                {from}\n                token outputs:surface\n            }}")?;
        if material.is_none() {
            writeln!(
                out,
                "\n            def Shader \"color\"\n            {{\n                \
                 uniform token info:id = \"UsdPrimvarReader_float3\"\n                \
                 string inputs:varname = \"displayColor\"\n                float3 outputs:result\n            }}"
            )?;
        }
        if texture.is_some() {
            writeln!(
                out,
                "\n            def Shader \"texture\"\n            {{\n                \
                 uniform token info:id = \"UsdUVTexture\"\n                asset inputs:file = @./{name}.png@\n                \
                 float2 inputs:st.connect = <{at}/st.outputs:result>\n                \
                 token inputs:sourceColorSpace = \"sRGB\"\n                token inputs:wrapS = \"repeat\"\n                \
                 token inputs:wrapT = \"repeat\"\n                float4 inputs:scale = ({r}, {g}, {b}, 1)\n                \
                 float3 outputs:rgb\n            }}\n"
            )?;
            write_st(out)?;
        }
        writeln!(out, "        }}\n")?;
    }
    writeln!(out, "    }}")
}

/// Writes a material with the textures of crack faces.
fn write_baked(out: &mut impl Write, name: &str) -> std::io::Result<()> {
    let at = format!("/{ROOT}/materials/{name}");
    writeln!(
        out,
        "        def Material \"{name}\"\n        {{\n            \
         token outputs:surface.connect = <{at}/surface.outputs:surface>\n\n            \
         def Shader \"surface\"\n            {{\n                \
         uniform token info:id = \"UsdPreviewSurface\"\n                float inputs:metallic = 0\n                \
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
             asset inputs:file = @./{TEXTURES}/{name}_{shown}.png@\n                \
             float2 inputs:st.connect = <{at}/st.outputs:result>\n                \
             token inputs:sourceColorSpace = \"{space}\"\n                {scale}{output}\n            }}"
        )?;
    }
    writeln!(out)?;
    write_st(out)?;
    writeln!(out, "        }}\n")
}

/// Writes the shader that reads texture coordinates.
fn write_st(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "            def Shader \"st\"\n            {{\n                \
         uniform token info:id = \"UsdPrimvarReader_float2\"\n                \
         string inputs:varname = \"st\"\n                float2 outputs:result\n            }}"
    )
}

/// Writes the textures beside the layer at `path`.
pub fn write_textures(path: &Path, used: &Used<'_>) -> Result<(), ExportError> {
    for (name, (material, _)) in &used.by_name {
        if let Some(texture) = material.and_then(|m| m.texture.as_ref()) {
            let to = path.with_file_name(format!("{name}.png"));
            write_png(&to, [texture.width, texture.height], &texture.rgba)?;
        }
    }
    Ok(())
}
