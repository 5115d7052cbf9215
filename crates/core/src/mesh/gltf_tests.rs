//! What glTF files hold beyond plain triangles: sparse data, instances, skins, morph targets, moved textures, and
//! extensions that are not read.

use serde_json::{Value, json};

use super::{LoadWarning, MapUse, Mesh, MeshError, load_bytes};

/// A file under construction.
pub(super) struct Glb {
    pub document: Value,
    pub binary: Vec<u8>,
}

impl Glb {
    /// A box from 0 to 1, as mesh 0.
    pub fn of_box() -> Self {
        let mut glb = Self {
            document: json!({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
                "nodes": [{"mesh": 0}], "accessors": [], "bufferViews": []}),
            binary: Vec::new(),
        };
        let corners: Vec<[f32; 3]> =
            (0..8).map(|c| [c & 1, c >> 1 & 1, c >> 2].map(|side| side as f32)).collect();
        let triangles: [u16; 36] = [
            0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3,
            5, 3, 7, 5,
        ];
        let positions = glb.floats(&corners, "VEC3");
        let indices = glb.add(&triangles.map(u16::to_le_bytes).concat(), 5123, 36, "SCALAR");
        glb.document["meshes"] =
            json!([{"primitives": [{"attributes": {"POSITION": positions}, "indices": indices}]}]);
        glb
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        let at = self.binary.len();
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        push(
            &mut self.document["bufferViews"],
            json!({"buffer": 0, "byteOffset": at, "byteLength": bytes.len()}),
        )
    }

    pub fn add(&mut self, bytes: &[u8], component: u32, count: usize, kind: &str) -> usize {
        let view = self.view(bytes);
        let accessor = json!({"bufferView": view, "componentType": component, "count": count, "type": kind});
        push(&mut self.document["accessors"], accessor)
    }

    pub fn floats<const N: usize>(&mut self, all: &[[f32; N]], kind: &str) -> usize {
        let bytes: Vec<u8> = all.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        self.add(&bytes, 5126, all.len(), kind)
    }

    pub fn part(&mut self) -> &mut Value {
        &mut self.document["meshes"][0]["primitives"][0]
    }

    pub fn load(self) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
        load_bytes(&self.bytes(), "glb")
    }

    pub fn bytes(mut self) -> Vec<u8> {
        let buffers = &mut self.document["buffers"];
        if buffers.is_null() {
            *buffers = json!([{}]);
        }
        buffers[0]["byteLength"] = self.binary.len().into();
        let mut text = self.document.to_string();
        while !text.len().is_multiple_of(4) {
            text.push(' ');
        }
        let mut out = b"glTF".to_vec();
        out.extend(2u32.to_le_bytes());
        out.extend((28 + text.len() as u32 + self.binary.len() as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", text.as_bytes()), (b"BIN\0", &self.binary)] {
            out.extend((chunk.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(chunk);
        }
        out
    }

    /// The mesh of a file about which there is nothing to say.
    pub fn mesh(self) -> Mesh {
        let (mesh, warnings) = self.load().unwrap();
        assert_eq!(warnings, []);
        mesh
    }
}

pub(super) fn push(list: &mut Value, value: Value) -> usize {
    let list = list.as_array_mut().unwrap();
    list.push(value);
    list.len() - 1
}

fn extent(mesh: &Mesh) -> [[f32; 3]; 2] {
    let by = |pick: fn(f32, f32) -> f32| {
        let first = mesh.positions[0];
        mesh.positions.iter().fold(first, |sum, p| [0, 1, 2].map(|k| pick(sum[k], p[k])))
    };
    [by(f32::min), by(f32::max)]
}

pub(super) fn volume(mesh: &Mesh) -> f32 {
    let at = |i: u32| glam::Vec3::from(mesh.positions[i as usize]);
    mesh.triangles.iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2]))) / 6.0).sum()
}

#[test]
fn parts_without_normals_are_flat() {
    let (mesh, _) = Glb::of_box().load().unwrap();
    assert_eq!(mesh.smoothing, [Mesh::FLAT; 12]);
    let mut glb = Glb::of_box();
    let normals = glb.floats(&[[0.0, 1.0, 0.0]; 8], "VEC3");
    glb.part()["attributes"]["NORMAL"] = json!(normals);
    assert!(glb.load().unwrap().0.smoothing.is_empty());
}

#[test]
fn sparse_data_take_the_place_of_what_is_there_and_of_nothing() {
    assert_eq!(volume(&Glb::of_box().mesh()), 1.0);
    for has_base in [true, false] {
        let mut glb = Glb::of_box();
        let rows: Vec<u16> = (0..8).filter(|c| !has_base || c >> 1 & 1 == 1).collect();
        let values: Vec<[f32; 3]> = rows
            .iter()
            .map(|&c| [f32::from(c & 1), 2.0 * f32::from(c >> 1 & 1), f32::from(c >> 2)])
            .collect();
        let indices: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        let values: Vec<u8> = values.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let (indices, values) = (glb.view(&indices), glb.view(&values));
        let accessor = &mut glb.document["accessors"][0];
        accessor["sparse"] = json!({"count": rows.len(),
            "indices": {"bufferView": indices, "componentType": 5123}, "values": {"bufferView": values}});
        if !has_base {
            accessor.as_object_mut().unwrap().remove("bufferView");
        }
        assert_eq!(volume(&glb.mesh()), 2.0, "{has_base}");
    }
    // Numbers beyond the data, and a promise of more zeros than a mesh may have.
    let mut glb = Glb::of_box();
    glb.document["accessors"][0]["sparse"] =
        json!({"count": 9, "indices": {"bufferView": 0, "componentType": 5121}});
    let message = glb.load().unwrap_err().message;
    assert!(message.contains("without readable positions"), "{message}");
    let mut glb = Glb::of_box();
    let accessor = &mut glb.document["accessors"][0];
    accessor.as_object_mut().unwrap().remove("bufferView");
    accessor["count"] = 4_000_000_000u64.into();
    accessor["sparse"] = json!({"count": 0});
    let refused = glb.load().unwrap_err().message;
    assert!(refused.contains("4000000000 corners"), "{refused}");
}

#[test]
fn every_node_is_a_part_with_its_path() {
    let mut glb = Glb::of_box();
    glb.document["scenes"] = json!([{"nodes": [2]}]);
    let node = |name: &str| json!({"mesh": 0, "name": name});
    let mut top = node("Table");
    top["children"] = json!([1, 0]);
    glb.document["nodes"] = json!([node("Leg/2"), {"mesh": 0}, top]);
    let mesh = glb.mesh();
    let parts: Vec<_> = mesh.parts.iter().map(|part| (part.object.as_str(), part.node.as_str())).collect();
    assert_eq!(parts, [("Table", "Table"), ("node_1", "Table/node_1"), ("Leg 2", "Table/Leg 2")]);
    assert_eq!(mesh.triangle_part, [vec![0; 12], vec![1; 12], vec![2; 12]].concat());
}

#[test]
fn every_instance_is_there() {
    let mut glb = Glb::of_box();
    let places = glb.floats(&[[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [6.0, 0.0, 0.0]], "VEC3");
    let scales = glb.floats(&[[1.0; 3], [1.0; 3], [1.0, 2.0, -1.0]], "VEC3");
    let instances = json!({"attributes": {"TRANSLATION": places, "SCALE": scales}});
    glb.document["nodes"][0]["extensions"] = json!({"EXT_mesh_gpu_instancing": instances});
    glb.document["nodes"][0]["translation"] = json!([0, 5, 0]);
    glb.document["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
    let mesh = glb.mesh();
    assert_eq!((mesh.triangles.len(), volume(&mesh)), (36, 4.0), "the mirrored one is not inside out");
    assert_eq!(extent(&mesh), [[0.0, 5.0, -1.0], [7.0, 7.0, 1.0]]);
    let copies: Vec<_> = mesh.parts.iter().map(|part| (part.node.as_str(), part.instance)).collect();
    assert_eq!(copies, [("node_0", Some(0)), ("node_0", Some(1)), ("node_0", Some(2))]);
    // Sizes that are cut short are not taken for none at all.
    let mut glb = Glb::of_box();
    let places = glb.floats(&[[0.0; 3], [3.0; 3]], "VEC3");
    let sizes = glb.floats(&[[2.0; 3]], "VEC3");
    glb.document["nodes"][0]["extensions"] =
        json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places, "SCALE": sizes}}});
    let (mesh, warnings) = glb.load().unwrap();
    assert_eq!((mesh.triangles.len(), warnings.len()), (12, 1), "{warnings:?}");
    // As many copies as no scene has, of which the file holds none.
    let mut glb = Glb::of_box();
    let far = push(
        &mut glb.document["accessors"],
        json!({"componentType": 5126, "count": 3_000_000_000u64, "type": "VEC3"}),
    );
    glb.document["nodes"][0]["extensions"] =
        json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": far}}});
    assert!(glb.load().unwrap_err().message.contains("are the most"));
}

#[test]
fn a_skin_is_read_in_its_resting_pose_and_not_where_its_node_is() {
    let mut glb = Glb::of_box();
    let joints = glb.add(&[0u8, 1, 0, 0].repeat(8), 5121, 8, "VEC4");
    // Not quite normalised, as packed weights are.
    let weights = glb.floats(&[[0.25, 0.25, 0.0, 0.0]; 8], "VEC4");
    let moved = |x: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, 0.0, 0.0, 1.0f32];
    let inverse = glb.floats(&[moved(0.0), moved(100.0)], "MAT4");
    let part = &mut glb.part()["attributes"];
    (part["JOINTS_0"], part["WEIGHTS_0"]) = (joints.into(), weights.into());
    glb.document["nodes"] = json!([{"mesh": 0, "skin": 0, "translation": [500, 0, 0]},
        {"scale": [0.01, 0.01, 0.01], "children": [2, 3]}, {}, {}]);
    glb.document["scenes"] = json!([{"nodes": [0, 1]}]);
    glb.document["skins"] = json!([{"joints": [2, 3], "inverseBindMatrices": inverse}]);
    let [low, high] = extent(&glb.mesh());
    // Half of it is moved by one unit.
    let near = |a: [f32; 3], b: [f32; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-6);
    assert!(near(low, [0.5, 0.0, 0.0]) && near(high, [0.51, 0.01, 0.01]), "{low:?} {high:?}");
}

#[test]
fn morph_targets_have_their_default_weights() {
    for (of_node, wanted) in [(None, 2.0), (Some(json!([0.0])), 1.0)] {
        let mut glb = Glb::of_box();
        let up: Vec<[f32; 3]> = (0..8).map(|c| [0.0, (c >> 1 & 1) as f32, 0.0]).collect();
        let up = glb.floats(&up, "VEC3");
        glb.part()["targets"] = json!([{"POSITION": up}]);
        glb.document["meshes"][0]["weights"] = json!([1.0]);
        if let Some(weights) = of_node {
            glb.document["nodes"][0]["weights"] = weights;
        }
        assert_eq!(volume(&glb.mesh()), wanted);
    }
}

#[test]
fn textures_are_where_the_file_moves_them_and_old_materials_have_their_colour() {
    let mut picture = Vec::new();
    image::RgbaImage::from_pixel(2, 2, image::Rgba([1, 2, 3, 255]))
        .write_to(&mut std::io::Cursor::new(&mut picture), image::ImageFormat::Png)
        .unwrap();
    for is_old in [false, true] {
        let mut glb = Glb::of_box();
        let uvs: Vec<[f32; 2]> = (0..8).map(|c| [(c & 1) as f32, (c >> 1 & 1) as f32]).collect();
        let (uvs, view) = (glb.floats(&uvs, "VEC2"), glb.view(&picture));
        glb.part()["attributes"]["TEXCOORD_1"] = uvs.into();
        glb.part()["material"] = 0.into();
        glb.document["images"] = json!([{"bufferView": view, "mimeType": "image/png"}]);
        glb.document["textures"] = json!([{"source": 0}]);
        let turned = json!({"scale": [4.0, 2.0], "offset": [0.25, 0.0], "rotation": std::f32::consts::FRAC_PI_2, "texCoord": 1});
        let texture = json!({"index": 0, "extensions": {"KHR_texture_transform": turned}});
        glb.document["materials"] = if is_old {
            let old = json!({"diffuseFactor": [0.0, 1.0, 0.0, 1.0], "diffuseTexture": texture});
            json!([{"extensions": {"KHR_materials_pbrSpecularGlossiness": old}}])
        } else {
            json!([{"pbrMetallicRoughness": {"baseColorFactor": [0.0, 1.0, 0.0, 1.0], "baseColorTexture": texture}}])
        };
        glb.document["extensionsRequired"] =
            json!(["KHR_texture_transform", "KHR_materials_pbrSpecularGlossiness"]);
        let mesh = glb.mesh();
        assert_eq!(mesh.materials[0].color, [0, 255, 0]);
        assert_eq!(mesh.materials[0].texture.as_ref().unwrap().rgba[..4], [1, 2, 3, 255]);
        // A quarter turn takes u to where v was and v to where -u was; v is counted from the top in the file.
        for (corner, [u, v]) in [(0, [0.25, 1.0]), (1, [0.25, 5.0]), (2, [2.25, 1.0])] {
            let [x, y] = mesh.uvs[corner];
            assert!((x - u).abs() < 1e-6 && (y - v).abs() < 1e-6, "{corner}: {x} {y}");
        }
    }
}

#[test]
fn what_a_file_requires_is_read_or_it_is_refused_by_name() {
    for name in ["KHR_meshopt_compression", "KHR_texture_basisu", "ACME_holes"] {
        let mut glb = Glb::of_box();
        glb.document["extensionsRequired"] = json!([name]);
        let message = glb.load().unwrap_err().message;
        assert!(message.contains(name) && message.lines().count() == 1, "{message}");
        let mut glb = Glb::of_box();
        glb.document["extensionsUsed"] = json!([name, "KHR_materials_ior", "KHR_lights_punctual"]);
        let (_, warnings) = glb.load().unwrap();
        // Lights are no reason for a refusal, and are named.
        let is_named = |name: &str| warnings.iter().any(|warning| warning.0.contains(name));
        assert!(warnings.len() == 2 && is_named(name) && is_named("KHR_lights_punctual"), "{warnings:?}");
    }
    // A buffer that an extension fills has no data of its own: packed bytes are no positions.
    let mut glb = Glb::of_box();
    glb.document["buffers"] = json!([{}, {"byteLength": 96}]);
    glb.document["bufferViews"][0]["buffer"] = 1.into();
    let message = glb.load().unwrap_err().message;
    assert!(message.contains("without readable positions"), "{message}");
}

#[test]
fn materials_by_choice_are_the_default_ones() {
    let mut glb = Glb::of_box();
    let name = "KHR_materials_variants";
    glb.document["materials"] = json!([{"name": "first"}, {"name": "second"}]);
    glb.part()["material"] = 0.into();
    glb.part()["extensions"] = json!({name: {"mappings": [{"material": 1, "variants": [0]}]}});
    glb.document["extensions"] = json!({name: {"variants": [{"name": "other"}]}});
    for list in ["extensionsUsed", "extensionsRequired"] {
        glb.document[list] = json!([name]);
    }
    let (mesh, warnings) = glb.load().unwrap();
    assert!(warnings.len() == 1 && warnings[0].0.contains(name), "{warnings:?}");
    assert_eq!((mesh.materials.len(), mesh.materials[0].name.as_str()), (1, "first"));
}

#[cfg(not(feature = "draco"))]
#[test]
fn without_the_reader_of_draco_its_feature_is_named() {
    let mut glb = Glb::of_box();
    glb.document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    glb.part()["extensions"] =
        json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}});
    for accessor in glb.document["accessors"].as_array_mut().unwrap() {
        accessor.as_object_mut().unwrap().remove("bufferView");
    }
    let message = glb.load().unwrap_err().message;
    assert!(message.contains("feature `draco`") && message.contains("export it without Draco"), "{message}");
}

#[test]
fn the_first_version_is_named() {
    let plain = br#"{"asset": {"version": "1.0"}, "meshes": {"box": {"primitives": []}}, "buffers": {}}"#;
    let mut binary = b"glTF".to_vec();
    for word in [1u32, 24, 4, 0] {
        binary.extend(word.to_le_bytes());
    }
    binary.extend(b"{}  ");
    for (bytes, extension) in [(&plain[..], "gltf"), (&binary[..], "glb")] {
        let message = load_bytes(bytes, extension).unwrap_err().message;
        assert!(message.contains("version '1.0'") && message.contains("2.0"), "{message}");
    }
}

#[test]
fn factors_a_bit_above_one_are_one() {
    let mut glb = Glb::of_box();
    let surface = json!({"baseColorFactor": [1.000_000_24, 0.5, 0.25, 1.0], "metallicFactor": 1.000_000_24});
    glb.document["materials"] = json!([{"pbrMetallicRoughness": surface}]);
    glb.part()["material"] = 0.into();
    let (mesh, warnings) = glb.load().unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let material = &mesh.materials[0];
    assert_eq!((material.factor, material.metallic), (Some([1.0, 0.5, 0.25, 1.0]), 1.0));
}

#[test]
fn lines_of_many_parts_are_said_once() {
    let mut glb = Glb::of_box();
    let mut lines = glb.part().clone();
    lines["mode"] = 1.into();
    for _ in 0..7 {
        push(&mut glb.document["meshes"][0]["primitives"], lines.clone());
    }
    let (mesh, warnings) = glb.load().unwrap();
    assert_eq!((mesh.triangles.len(), warnings.len()), (12, 1), "{warnings:?}");
    assert!(warnings[0].0.ends_with("can be broken (7 times)"), "{warnings:?}");
}

#[test]
fn webp_pictures_are_read() {
    for has_other in [false, true] {
        let encode = |color: [u8; 3], format: image::ImageFormat| {
            let mut bytes = Vec::new();
            let picture = image::RgbImage::from_pixel(2, 2, image::Rgb(color));
            picture.write_to(&mut std::io::Cursor::new(&mut bytes), format).unwrap();
            bytes
        };
        let mut glb = Glb::of_box();
        let webp = glb.view(&encode([9, 8, 7], image::ImageFormat::WebP));
        let png = glb.view(&encode([1, 2, 3], image::ImageFormat::Png));
        glb.document["images"] = json!([{"bufferView": webp, "mimeType": "image/webp"}, {"bufferView": png, "mimeType": "image/png"}]);
        let mut texture = json!({"extensions": {"EXT_texture_webp": {"source": 0}}});
        if has_other {
            texture["source"] = 1.into();
        }
        glb.document["textures"] = json!([texture]);
        glb.document["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
        glb.part()["material"] = 0.into();
        let mesh = glb.mesh();
        assert_eq!(mesh.materials[0].texture.as_ref().unwrap().rgba[..3], [9, 8, 7]);
    }
}

#[test]
fn whatever_is_left_out_is_named() {
    let mut glb = Glb::of_box();
    let uvs = glb.floats(&[[0.5f32, 0.25]; 8], "VEC2");
    let colors = glb.floats(&[[0.5f32, 0.5, 0.5, 0.25]; 8], "VEC4");
    let attributes = &mut glb.part()["attributes"];
    for name in ["TEXCOORD_0", "TEXCOORD_1", "TEXCOORD_2"] {
        attributes[name] = uvs.into();
    }
    attributes["COLOR_0"] = colors.into();
    glb.part()["material"] = 0.into();
    let mut picture = Vec::new();
    image::RgbImage::new(2, 2)
        .write_to(&mut std::io::Cursor::new(&mut picture), image::ImageFormat::Png)
        .unwrap();
    let view = glb.view(&picture);
    glb.document["images"] = json!([{"bufferView": view, "mimeType": "image/png"}]);
    glb.document["textures"] = json!([{"source": 0}]);
    glb.document["materials"] = json!([{
        "name": "Wall",
        "normalTexture": {"index": 0},
        "occlusionTexture": {"index": 0, "texCoord": 2},
        "extensions": {"KHR_materials_sheen": {"sheenColorTexture": {"index": 0, "texCoord": 2}, "sheenRoughnessFactor": 0.5},
            "KHR_materials_unlit": {}, "ACME_glitter": {}},
    }]);
    glb.document["animations"] = json!([{}, {}]);
    glb.document["cameras"] = json!([{"type": "perspective"}]);
    let (mesh, warnings) = glb.load().unwrap();
    let said: Vec<&str> = warnings.iter().map(|warning| warning.0.as_str()).collect();
    for part in [
        "the animations of the file left out (2)",
        "the cameras of the file left out (1)",
        "opacity of vertex colours (COLOR_0)",
        "TEXCOORD_2",
        "the occlusion map of material Wall",
        "sheenColorTexture of KHR_materials_sheen of material Wall",
        "ACME_glitter of material Wall",
    ] {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is missing of {said:#?}");
    }
    assert_eq!(said.len(), 7, "{said:#?}");
    let material = &mesh.materials[0];
    let maps: Vec<MapUse> = material.maps.keys().copied().collect();
    assert_eq!((maps, material.is_painted, mesh.uvs[0]), (vec![MapUse::Normal], true, [0.5, 0.75]));
    assert_eq!(material.extensions["KHR_materials_sheen"], json!({"sheenRoughnessFactor": 0.5}));
    assert_eq!(material.maps[&MapUse::Normal].picture.bytes, picture);
    // One that pieces cannot carry is refused where it is required.
    let mut glb = Glb::of_box();
    glb.document["extensionsRequired"] = json!(["KHR_materials_of_tomorrow"]);
    let message = glb.load().unwrap_err().message;
    assert!(message.contains("KHR_materials_of_tomorrow"), "{message}");
}

#[test]
fn two_sets_of_coordinates_are_read_whichever_the_colour_uses() {
    for first in [0, 1] {
        let mut glb = Glb::of_box();
        let sets = [[0.5f32, 0.25], [0.125, 0.75]].map(|uv| glb.floats(&[uv; 8], "VEC2"));
        for (number, accessor) in sets.into_iter().enumerate() {
            glb.part()["attributes"][format!("TEXCOORD_{number}")] = accessor.into();
        }
        let mut picture = Vec::new();
        image::RgbImage::new(2, 2)
            .write_to(&mut std::io::Cursor::new(&mut picture), image::ImageFormat::Png)
            .unwrap();
        let view = glb.view(&picture);
        glb.document["images"] = json!([{"bufferView": view, "mimeType": "image/png"}]);
        glb.document["textures"] = json!([{"source": 0}]);
        glb.part()["material"] = 0.into();
        glb.document["materials"] = json!([{
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": first}},
            "occlusionTexture": {"index": 0, "texCoord": 1 - first},
        }]);
        let (mesh, warnings) = glb.load().unwrap();
        assert_eq!(warnings, []);
        let (of_color, other) =
            if first == 0 { ([0.5, 0.75], [0.125, 0.25]) } else { ([0.125, 0.25], [0.5, 0.75]) };
        assert_eq!((mesh.uvs[3], mesh.uvs2[3], mesh.uvs2.len()), (of_color, other, 8));
        let is_second = |of| mesh.materials[0].maps[&of].is_second;
        assert!(!is_second(MapUse::Color) && is_second(MapUse::Occlusion));
    }
}

#[test]
fn transforms_without_volume_are_named_and_left_out() {
    for (transform, parent, is_kept) in [
        (json!({"mesh": 0, "scale": [1e-20, 1e-20, 1e-20]}), 1.0, true),
        (json!({"mesh": 0, "scale": [1.0, 0.0, 1.0]}), 1.0, false),
        (json!({"mesh": 0, "scale": [1e30, 1e30, 1e30]}), 1e30, false),
        (json!({"mesh": 0, "matrix": [1, 2, 3, 0, 2, 4, 6, 0, 0, 0, 1, 0, 0, 0, 0, 1]}), 1.0, false),
    ] {
        let mut glb = Glb::of_box();
        let parent = json!({"children": [1], "scale": [parent, parent, parent]});
        glb.document["nodes"] = json!([{"mesh": 0}, transform.clone(), parent]);
        glb.document["scenes"] = json!([{"nodes": [0, 2]}]);
        let (mesh, warnings) = glb.load().unwrap();
        assert_eq!(mesh.triangles.len(), if is_kept { 24 } else { 12 }, "{transform}");
        let is_named = warnings.iter().any(|warning| warning.0.starts_with("node 1 left out"));
        assert_eq!(is_named, !is_kept, "{transform} {warnings:?}");
    }
}

#[test]
fn packed_views_are_unpacked_and_damaged_ones_are_named() {
    let packed_box = |damage: bool| {
        let mut glb = Glb::of_box();
        let plain: Vec<u8> = glb.binary[..96].to_vec();
        let mut stream = super::gltf_meshopt::tests::pack_attributes(&plain, 12, &[0, 1, 2, 3]);
        if damage {
            stream.truncate(stream.len() - 1);
        }
        let at = glb.binary.len();
        glb.binary.extend(&stream);
        glb.document["buffers"] = json!([{}, {"byteLength": 96, "uri": "nowhere.bin",
            "extensions": {"EXT_meshopt_compression": {"fallback": true}}}]);
        glb.document["bufferViews"][0] = json!({"buffer": 1, "byteLength": 96, "byteStride": 12,
            "extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteOffset": at, "byteLength": stream.len(),
            "byteStride": 12, "count": 8, "mode": "ATTRIBUTES"}}});
        glb.document["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
        glb.document["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
        glb
    };
    let (mesh, warnings) = packed_box(false).load().unwrap();
    assert_eq!(warnings, []);
    assert_eq!(mesh, Glb::of_box().mesh());
    let message = packed_box(true).load().unwrap_err().message;
    assert!(message.contains("buffer view 0 left out (EXT_meshopt_compression)"), "{message}");
}

#[test]
fn the_older_model_becomes_the_newer_one() {
    let material = |old: Value| {
        let mut glb = Glb::of_box();
        glb.part()["material"] = 0.into();
        glb.document["materials"] = json!([{"extensions": {"KHR_materials_pbrSpecularGlossiness": old}}]);
        glb.mesh().materials[0].clone()
    };
    // What is no metal reflects 4 %, in grey.
    let plastic =
        material(json!({"diffuseFactor": [0.5, 0.25, 0.125, 0.75], "specularFactor": [0.04, 0.04, 0.04],
        "glossinessFactor": 0.25}));
    let factor = plastic.factor.unwrap();
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-6;
    assert!(near(plastic.metallic, 0.0) && near(plastic.roughness, 0.75), "{plastic:?}");
    assert!(
        [0.5, 0.25, 0.125, 0.75].iter().zip(factor).all(|(wanted, found)| near(found, *wanted)),
        "{factor:?}"
    );
    // Gold scatters nothing, and its colour is what it reflects.
    let gold = material(json!({"diffuseFactor": [0, 0, 0, 1], "specularFactor": [1.0, 0.75, 0.3]}));
    let factor = gold.factor.unwrap();
    assert!(near(gold.metallic, 1.0) && near(gold.roughness, 0.0), "{gold:?}");
    assert!([1.0, 0.75, 0.3].iter().zip(factor).all(|(wanted, found)| near(found, *wanted)), "{factor:?}");
}

#[test]
fn damage_anywhere_is_survived() {
    let mut glb = Glb::of_box();
    let joints = glb.add(&[0u8, 1, 0, 0].repeat(8), 5121, 8, "VEC4");
    let weights = glb.floats(&[[0.5, 0.5, 0.0, 0.0]; 8], "VEC4");
    let inverse = glb.floats(&[[1.0f32; 16]; 2], "MAT4");
    let (up, places) = (glb.floats(&[[0.0, 1.0, 0.0]; 8], "VEC3"), glb.floats(&[[0.0; 3], [3.0; 3]], "VEC3"));
    let (rows, values) = (glb.view(&[1, 0, 5, 0]), glb.view(&[0; 24]));
    glb.document["accessors"][0]["sparse"] = json!({"count": 2,
        "indices": {"bufferView": rows, "componentType": 5123}, "values": {"bufferView": values}});
    let part = glb.part();
    (part["attributes"]["JOINTS_0"], part["attributes"]["WEIGHTS_0"]) = (joints.into(), weights.into());
    part["targets"] = json!([{"POSITION": up}]);
    glb.document["meshes"][0]["weights"] = json!([0.5]);
    let copies = json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}});
    glb.document["nodes"] =
        json!([{"mesh": 0, "skin": 0}, {"children": [2, 3]}, {}, {}, {"mesh": 0, "extensions": copies}]);
    glb.document["scenes"] = json!([{"nodes": [0, 1, 4]}]);
    glb.document["skins"] = json!([{"joints": [2, 3], "inverseBindMatrices": inverse}]);
    let whole = glb.bytes();
    assert_eq!(load_bytes(&whole, "glb").unwrap().0.triangles.len(), 36);
    let mut random = 9u64;
    let mut roll = |sides: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % sides
    };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + roll(4) {
            let at = roll(bytes.len());
            // Digits become other digits, so that numbers are wrong and the JSON is still one.
            let is_digit = bytes[at].is_ascii_digit();
            bytes[at] = if is_digit { b'0' + roll(10) as u8 } else { roll(256) as u8 };
        }
        match load_bytes(&bytes, "glb") {
            Ok((mesh, _)) => {
                read += 1;
                assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 400 && refused > 400, "{read} read, {refused} refused");
}
