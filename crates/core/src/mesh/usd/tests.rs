//! Layers as people's programs write them, and what is no layer.

use glam::Vec3;

use super::super::{Alpha, MapUse, Mesh, load_bytes};

/// In centimetres with z up: a notched quadrangle, 2 m up and turned, its faces of two materials; what must not arrive is
/// hidden, a guide, inactive, or only a class.
pub const SCENE: &str = r#"#usda 1.0
(
    defaultPrim = "root"
    doc = """two "words" of
    a person # no comment"""
    metersPerUnit = 0.01
    upAxis = "Z"
    customLayerData = { string note = "(unpaired" }
)

def Xform "root" (
    kind = "component"
)
{
    double3 xformOp:translate = (0, 0, 200)
    float xformOp:rotateZ = 90
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
    double3 xformOp:other.timeSamples = {
        0: (1, 2, 3),
        1: (4, 5, 6),
    }

    def Mesh "arrow" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [4, 3]
        int[] faceVertexIndices = [1, 2, 3, 0, 0, 2, 4]
        point3f[] points = [(0, 0, 0), (100, -100, 0), (0, 200, 0), (-100, -100, 0), (300, 300, 0)]
        rel material:binding = </root/looks/Red>
        color3f[] primvars:displayColor = [(0, 1, 0)]
        texCoord2f[] primvars:UVMap = [(0, 0), (1, 0), (1, 1)] (
            interpolation = "faceVarying"
        )
        int[] primvars:UVMap:indices = [0, 1, 2, 0, 2, 1, 0]

        def GeomSubset "last"
        {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [1]
            rel material:binding = </root/looks/Painted>
        }
    }

    def Mesh "hidden"
    {
        token visibility = "invisible"
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(9, 9, 9), (8, 9, 9), (9, 8, 9)]
        uniform token subdivisionScheme = "none"
    }

    def Mesh "off" (
        active = false
    )
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(9, 9, 9), (8, 9, 9), (9, 8, 9)]
        uniform token subdivisionScheme = "none"
        uniform token purpose = "guide"
    }

    def Scope "looks"
    {
        def Material "Red" (
            displayName = "Red \"one\""
        )
        {
            color3f inputs:tint = (1, 0, 0)
            token outputs:surface.connect = </root/looks/Red/s.outputs:surface>

            def Shader "s"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor.connect = </root/looks/Red.inputs:tint>
                float inputs:opacity = 0.5
                float inputs:roughness = 0.25
                token outputs:surface
            }
        }

        def Material "Painted"
        {
            token outputs:surface.connect = </root/looks/Painted/s.outputs:surface>

            def Shader "s"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor.connect = </root/looks/Painted/c.outputs:result>
                token outputs:surface
            }

            def Shader "c"
            {
                uniform token info:id = "UsdPrimvarReader_float3"
                string inputs:varname = "displayColor"
                float3 outputs:result
            }
        }
    }
}

class Mesh "pattern"
{
}
"#;

#[test]
fn a_layer_arrives_in_metres_with_y_up() {
    for extension in ["usda", "usd"] {
        let (mesh, warnings) = load_bytes(SCENE.as_bytes(), extension).unwrap();
        assert_eq!(warnings, []);
        assert_eq!((mesh.triangles.len(), mesh.materials.len()), (3, 2));
        let corners = |t: usize| mesh.triangles[t].map(|i| Vec3::from(mesh.positions[i as usize]));
        // The notch is the last corner, so that a fan from the first one would fold over the outline.
        for t in 0..2 {
            let [a, b, c] = corners(t);
            assert!(((b - a).cross(c - a) - Vec3::new(0.0, 2.0, 0.0)).length() < 1e-5, "{t}: {a} {b} {c}");
        }
        let of = |t: usize| &mesh.materials[mesh.triangle_material[t] as usize];
        assert_eq!(
            (of(0).name.as_str(), of(0).color, of(0).alpha),
            ("Red \\\"one\\\"", [255, 0, 0], Alpha::Blend)
        );
        assert_eq!((of(0).factor, of(0).roughness), (Some([1.0, 0.0, 0.0, 0.5]), 0.25));
        assert_eq!((of(2).name.as_str(), of(2).color), ("Painted", [255; 3]));
        let color = |t: usize| mesh.triangles[t].map(|i| mesh.colors[i as usize]);
        assert_eq!((color(0), color(2)), ([[255; 3]; 3], [[0, 255, 0]; 3]));
        // Point 2, (0, 200, 0), is turned to (-200, 0, 0) and then lifted: in metres with y up (-2, 2, 0).
        let tip = mesh.triangles[2].map(|i| (mesh.positions[i as usize], mesh.uvs[i as usize]));
        assert!(Vec3::from(tip[1].0).distance(Vec3::new(-2.0, 2.0, 0.0)) < 1e-5, "{tip:?}");
        assert_eq!(tip.map(|(_, uv)| uv), [[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
        assert!(mesh.smoothing.iter().all(|shading| *shading == Mesh::FLAT));
    }
}

#[test]
fn steps_of_a_placement_come_in_the_order_of_usd() {
    let close = |kind: &str, numbers: &[f64], from: [f64; 3], to: [f64; 3]| {
        let there = super::step(kind, numbers).unwrap().transform_point3(from.into());
        assert!(there.distance(to.into()) < 1e-12, "{kind}: {there}");
    };
    // x to y about z; then, in XYZ, x first: z to -y about x, then that to x about z.
    close("rotateZ", &[90.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    close("rotateXYZ", &[90.0, 0.0, 90.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
    close("rotateZYX", &[90.0, 0.0, 90.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]);
    close("orient", &[2.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let rows = [2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 5.0, 6.0, 7.0, 1.0];
    close("transform", &rows, [1.0, 1.0, 1.0], [7.0, 9.0, 11.0]);
    assert!(super::step("rotateQ", &[1.0]).is_none() && super::step("scale", &[1.0]).is_none());
}

#[test]
fn maps_go_by_the_channels_that_are_connected() {
    let folder = std::env::temp_dir().join(format!("kintsugi-usd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    image::RgbaImage::from_pixel(1, 1, image::Rgba([9, 8, 7, 255])).save(folder.join("a.png")).unwrap();
    let texture = |name: &str, scale: &str| {
        format!(
            "def Shader \"{name}\" {{ uniform token info:id = \"UsdUVTexture\"\nasset inputs:file = @./a.png@\n\
             token inputs:wrapS = \"clamp\"\nfloat4 inputs:scale = {scale} }}\n"
        )
    };
    let text = format!(
        "#usda 1.0\n(metersPerUnit = 1)\ndef Mesh \"m\" {{ int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n\
         point3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\nuniform token subdivisionScheme = \"none\"\n\
         rel material:binding = </M> }}\ndef Material \"M\" {{\n\
         token outputs:surface.connect = </M/s.outputs:surface>\ndef Shader \"s\" {{\n\
         uniform token info:id = \"UsdPreviewSurface\"\ncolor3f inputs:diffuseColor.connect = </M/c.outputs:rgb>\n\
         float inputs:roughness.connect = </M/r.outputs:g>\nfloat inputs:metallic.connect = </M/r.outputs:b>\n\
         normal3f inputs:normal.connect = </M/n.outputs:rgb> }}\n{}{}{} }}\n",
        texture("c", "(0.5, 1, 1, 1)"),
        texture("r", "(1, 0.5, 0.75, 1)"),
        texture("n", "(4, 4, 2, 1)")
    );
    let path = folder.join("a.usda");
    std::fs::write(&path, &text).unwrap();
    let (mesh, warnings) = super::super::load(&path).unwrap();
    assert_eq!(warnings, []);
    let material = &mesh.materials[0];
    assert_eq!(material.texture.as_ref().unwrap().rgba, [9, 8, 7, 255]);
    assert_eq!(material.factor, Some([0.5, 1.0, 1.0, 1.0]));
    assert_eq!((material.roughness, material.metallic, material.normal_scale), (0.5, 0.75, 2.0));
    let maps: Vec<MapUse> = material.maps.keys().copied().collect();
    assert_eq!(maps, [MapUse::Color, MapUse::MetallicRoughness, MapUse::Normal]);
    // Metal in another channel is no map of pieces, and is said to be left out.
    std::fs::write(&path, text.replace("</M/r.outputs:b>", "</M/r.outputs:r>")).unwrap();
    let (mesh, warnings) = super::super::load(&path).unwrap();
    assert!(!mesh.materials[0].maps.contains_key(&MapUse::MetallicRoughness));
    assert!(warnings.len() == 1 && warnings[0].0.contains("metal"), "{warnings:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn other_kinds_and_damage_are_refused_in_a_line() {
    let deep = "def \"a\" {".repeat(300);
    for (bytes, says) in [
        (&b"PXR-USDC\0\x03\0"[..], "usdcat"),
        (b"PK\x03\x04....", "archive"),
        (b"#usda 1.0\ndef Mesh \"m\" {\n point3f[] points = [(0,", "ends too early"),
        (b"#usda 1.0\n)", "line 1"),
        (format!("#usda 1.0\n{deep}").as_bytes(), "deeper"),
        (b"#usda 1.0\n(metersPerUnit = 1)\n", "no triangle"),
    ] {
        let message = load_bytes(bytes, "usdc").unwrap_err().message;
        assert!(message.contains(says) && !message.contains('\n'), "{says}: {message}");
    }
    let cut = SCENE.replace("faceVertexCounts = [4, 3]", "faceVertexCounts = [4, 300]");
    let (mesh, warnings) = load_bytes(cut.as_bytes(), "usda").unwrap();
    assert!(
        mesh.triangles.len() == 2 && warnings.iter().any(|w| w.0.contains("corners are missing")),
        "{warnings:?}"
    );
}

#[test]
fn values_inputs_and_motion_that_pieces_lack_are_named() {
    let text = "#usda 1.0\n(metersPerUnit = 1)\ndef Skeleton \"bones\" {\n}\ndef Mesh \"m\" {\n\
        int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\nuniform token subdivisionScheme = \"none\"\n\
        point3f[] points.timeSamples = { 0: [(0,0,0),(1,0,0),(0,1,0)], 1: [(0,0,0),(2,0,0),(0,1,0)] }\n\
        float[] primvars:heat = [1, 2, 3]\nfloat[] primvars:displayOpacity = [1]\nfloat[] primvars:crackDistance = [0]\n\
        rel material:binding = </M>\n}\ndef Material \"M\" {\ntoken outputs:surface.connect = </M/s.outputs:surface>\n\
        def Shader \"s\" {\nuniform token info:id = \"UsdPreviewSurface\"\nfloat inputs:ior = 1.25\n\
        float inputs:clearcoat = 0.5\nfloat inputs:clearcoatRoughness = 0.25\nfloat inputs:displacement = 0.5\n\
        float inputs:specular = 0.5\nint inputs:useSpecularWorkflow = 0\ntoken outputs:surface\n}\n}\n";
    let said = |text: &str| {
        let (mesh, warnings) = load_bytes(text.as_bytes(), "usda").unwrap();
        (mesh, warnings.into_iter().map(|warning| warning.0).collect::<Vec<_>>())
    };
    let (mesh, warnings) = said(text);
    let wanted = [
        "prims of type Skeleton left out (1): only meshes are read",
        "the animation of the file left out: meshes stand as at its first moment",
        "inputs of shaders left out: displacement",
        "values of meshes (primvars) left out: heat",
    ];
    assert_eq!(warnings, wanted);
    assert_eq!(mesh.positions[1], [1.0, 0.0, 0.0]);
    let extensions = &mesh.materials[0].extensions;
    assert_eq!(extensions["KHR_materials_ior"]["ior"], 1.25);
    assert_eq!(extensions["KHR_materials_clearcoat"]["clearcoatFactor"], 0.5);
    // One moment is no motion, and what is 0 or 1 as without it says nothing.
    let still = text
        .replace(", 1: [(0,0,0),(2,0,0),(0,1,0)]", "")
        .replace("displacement = 0.5", "displacement = 0")
        .replace("primvars:heat", "primvars:piece")
        .replace("Skeleton", "Scope");
    assert_eq!(said(&still).1, [""; 0]);
}

#[test]
fn what_an_instancer_places_is_left_out_and_said() {
    let mesh = |name: &str, x: u32| {
        format!(
            "def Mesh \"{name}\" {{\nint[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\nint[] holeIndices = [-1]\n\
             point3f[] points = [({x}, 0, 0), ({x}, 1, 0), ({x}, 0, 1)]\n}}\n"
        )
    };
    let text = format!(
        "#usda 1.0\n(metersPerUnit = 1)\n{}def DistantLight \"sun\" {{\n}}\ndef Camera \"eye\" {{\n}}\ndef PointInstancer \"many\" {{\ndef Scope \"prototypes\" {{\n{}}}\n}}\n",
        mesh("own", 1),
        mesh("placed", 5)
    );
    let (mesh, warnings) = load_bytes(text.as_bytes(), "usda").unwrap();
    // A hole below 0 is none.
    assert_eq!((mesh.triangles.len(), mesh.positions.len()), (1, 3));
    assert!(mesh.positions.iter().all(|p| p[0] + mesh.origin[0] as f32 == 1.0), "{:?}", mesh.positions);
    for kind in ["PointInstancer", "DistantLight", "Camera"] {
        let said = format!("{kind} left out (1)");
        assert!(warnings.iter().any(|warning| warning.0.contains(&said)), "{warnings:?}");
    }
    // Both meshes have no scheme of subdivision, which is said once.
    assert_eq!(warnings.iter().filter(|warning| warning.0.contains("subdivision")).count(), 1);
}
