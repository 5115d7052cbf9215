//! A scene made by code, read as JSON and as GLB, and what is said of broken ones.

use glam::Vec3;

use serde_json::json;

use super::super::{gltf_tests::Glb, load_bytes};
use super::*;

fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for k in 0..=chunk.len() {
            out.push(DIGITS[(word >> (18 - 6 * k)) as usize & 63] as char);
        }
    }
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    out
}

/// A triangle with indices, colours, texture coordinates and a picture, its node mirrored and moved, and
/// a strip of two triangles without indices in a child.
fn json(buffer_uri: Option<&str>) -> (String, Vec<u8>) {
    let mut data: Vec<u8> = Vec::new();
    for x in [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0f32] {
        data.extend(x.to_le_bytes());
    }
    data.extend([0, 0, 1, 0, 2, 0, 0, 0]); // 48: indices, padded
    data.extend([255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0]); // 56: colours, stride 4
    for x in [0.0, 0.0, 1.0, 0.25, 0.0, 1.0f32] {
        data.extend(x.to_le_bytes()); // 68: uvs
    }
    for x in [[0.6, 0.0, 0.8f32]; 3].concat() {
        data.extend(x.to_le_bytes()); // 92: normals
    }
    let mut png = Vec::new();
    image_bytes(&mut png);
    let png_at = data.len();
    data.extend(&png);
    let uri = buffer_uri.map(|uri| format!("\"uri\":\"{uri}\",")).unwrap_or_default();
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
            "nodes":[{{"mesh":0,"translation":[10,0,0],"scale":[-2,2,4],"children":[1]}},{{"mesh":1,"translation":[0,0,5]}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"COLOR_0":2,"TEXCOORD_0":3,"NORMAL":5}},"indices":1,"material":0}}]}},
            {{"primitives":[{{"attributes":{{"POSITION":4}},"mode":5}}]}}],
            "materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,0.5,0,1],"baseColorTexture":{{"index":0}}}}}}],
            "textures":[{{"source":0}}],"images":[{{"bufferView":3,"mimeType":"image/png"}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
            {{"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}},
            {{"bufferView":2,"componentType":5121,"normalized":true,"count":3,"type":"VEC3"}},
            {{"bufferView":4,"componentType":5126,"count":3,"type":"VEC2"}},
            {{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
            {{"bufferView":5,"componentType":5126,"count":3,"type":"VEC3"}}],
            "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":6}},
            {{"buffer":0,"byteOffset":56,"byteLength":12,"byteStride":4}},{{"buffer":0,"byteOffset":{png_at},"byteLength":{}}},
            {{"buffer":0,"byteOffset":68,"byteLength":24}},{{"buffer":0,"byteOffset":92,"byteLength":36}}],
            "buffers":[{{{uri}"byteLength":{}}}]}}"#,
        png.len(),
        data.len()
    );
    (text, data)
}

fn image_bytes(out: &mut Vec<u8>) {
    let picture = image::RgbaImage::from_pixel(2, 2, image::Rgba([1, 2, 3, 255]));
    picture.write_to(&mut std::io::Cursor::new(out), image::ImageFormat::Png).unwrap();
}

pub fn embedded() -> Vec<u8> {
    let data = encode(&json(None).1);
    json(Some(&format!("data:application/octet-stream;base64,{data}"))).0.into_bytes()
}

pub fn binary() -> Vec<u8> {
    let (mut text, mut data) = json(None);
    while text.len() % 4 != 0 {
        text.push(' ');
    }
    data.resize(data.len().next_multiple_of(4), 0);
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((28 + text.len() as u32 + data.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text.as_bytes()), (b"BIN\0", &data)] {
        out.extend((chunk.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

#[test]
fn transforms_colours_textures_and_primitives_arrive() {
    for (bytes, extension) in [(embedded(), "gltf"), (binary(), "glb")] {
        let (mesh, warnings) = load_bytes(&bytes, extension).unwrap();
        assert_eq!(warnings, []);
        // The node mirrors x, so the triangle's order is reversed to keep its front.
        assert_eq!(mesh.triangles, [[0, 2, 1], [3, 5, 4], [5, 6, 4]]);
        assert_eq!(mesh.positions[1], [8.0, 0.0, 0.0]);
        assert_eq!(mesh.positions[6], [8.0, 2.0, 20.0]);
        assert_eq!((mesh.triangles.len(), mesh.colors[1], mesh.colors[5]), (3, [0, 255, 0], [255; 3]));
        assert_eq!(mesh.uvs[1], [1.0, 0.75]);
        // A normal is divided by the node's scales: x by -2, z by 4.
        let normal = Vec3::new(-0.3, 0.0, 0.2).normalize();
        assert!(Vec3::from(mesh.normals[2]).distance(normal) < 1e-6 && mesh.normals[3] == [0.0; 3]);
        assert_eq!(mesh.triangle_material, [0, 1, 1]);
        assert_eq!((mesh.materials[0].color, mesh.materials[1].color), ([255, 188, 0], [255; 3]));
        assert_eq!(mesh.materials[0].texture.as_ref().unwrap().rgba[..4], [1, 2, 3, 255]);
    }
}

#[test]
fn attributes_and_nodes_that_pieces_lack_are_named_and_those_of_our_own_files_are_not() {
    let read = |names: &[&str], material: serde_json::Value, weight: f32| {
        let mut glb = Glb::of_box();
        let accessor = glb.floats(&[[0.0f32; 4]; 8], "VEC4");
        for name in names {
            glb.part()["attributes"][*name] = accessor.into();
        }
        glb.part()["targets"] = json!([{"POSITION": 0, "COLOR_0": accessor}]);
        glb.part()["material"] = 0.into();
        glb.document["meshes"][0]["weights"] = json!([weight]);
        glb.document["materials"] = json!([material]);
        let (_, warnings) = glb.load().unwrap();
        warnings.into_iter().map(|warning| warning.0).collect::<Vec<_>>()
    };
    let plain = json!({"name": "m"});
    let named = read(&["_HEAT", "TANGENT", "_CELL", "COLOR_1", "JOINTS_0", "WEIGHTS_4"], plain.clone(), 0.0);
    assert_eq!(named, ["attributes of vertices left out: COLOR_1, TANGENT, WEIGHTS_4, _HEAT"]);
    let own = ["_PIECE", "_CELL", "_BEYOND", "_CELL_BEYOND", "_CRACK_DISTANCE"];
    assert_eq!(read(&own, plain.clone(), 0.0), [""; 0]);
    // A grain uses tangents, which pieces have then.
    let grained = json!({"extensions": {"KHR_materials_anisotropy": {"anisotropyStrength": 0.5}}});
    assert_eq!(read(&["TANGENT"], grained, 0.0), [""; 0]);
    assert_eq!(read(&[], plain, 0.5), ["attributes of morph targets left out: COLOR_0"]);
    let mut glb = Glb::of_box();
    glb.document["nodes"] = json!([{"mesh": 0}, {"mesh": 0}, {"name": "empty"}]);
    let (mesh, warnings) = glb.load().unwrap();
    assert_eq!((mesh.triangles.len(), warnings.len()), (12, 1));
    assert_eq!(warnings[0].0, "meshes of nodes that are not in the shown scene left out (1)");
}

#[test]
fn base64_and_percent_signs() {
    for sample in [&b""[..], b"a", b"ab", b"abc", b"\xff\xfe\xfd\xfc"] {
        assert_eq!(base64(&encode(sample)).as_deref(), Some(sample));
    }
    assert_eq!(base64("a?b"), None);
    assert_eq!(unescape("my%20file%2.bin%"), "my file%2.bin%");
}

#[test]
fn loops_and_promises_beyond_the_data_are_survived() {
    let text = String::from_utf8(embedded()).unwrap();
    let looped = text.replace("\"translation\":[0,0,5]", "\"children\":[0,1],\"translation\":[0,0,5]");
    assert_eq!(load_bytes(looped.as_bytes(), "gltf").unwrap().0.triangles.len(), 3);
    let huge = text.replace("\"count\":3,\"type\":\"SCALAR\"", "\"count\":3000000000,\"type\":\"SCALAR\"");
    let (mesh, warnings) = load_bytes(huge.as_bytes(), "gltf").unwrap();
    assert_eq!(mesh.triangles.len(), 2);
    assert!(warnings[0].0.contains("indices"), "{warnings:?}");
    let missing = json(Some("absent.bin")).0;
    let message = load_bytes(missing.as_bytes(), "gltf").unwrap_err().message;
    assert!(message.contains("no triangle"), "{message}");
}
