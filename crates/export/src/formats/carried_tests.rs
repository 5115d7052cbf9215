//! Materials of an object arrive at its pieces as they came: names, factors, maps to the byte, coordinates and colours.

mod table;

use std::{io::Cursor, path::PathBuf, sync::Arc};

use serde_json::{Value, json};

use super::Format;
use crate::{
    Assembly, ExportPiece, Meshes, PieceMesh, Placing, Skin, Watch,
    mesh::{Mesh, digest::sha256, load_bytes},
    shape::{Look, Shape},
    voxelize::Progress,
    write,
};

/// A binary glTF file in progress.
#[derive(Default)]
struct Glb {
    document: Value,
    binary: Vec<u8>,
}

impl Glb {
    /// A box of 2 x 1 x 1 whose texture coordinates are half of x, and y; with a material.
    fn of_box(material: Value) -> Self {
        let mut glb = Self {
            document: json!({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
                "materials": [material], "bufferViews": [], "accessors": []}),
            ..Self::default()
        };
        let corners: Vec<[f32; 3]> =
            (0..8).map(|c| [2.0 * (c & 1) as f32, (c >> 1 & 1) as f32, (c >> 2) as f32]).collect();
        let uvs: Vec<[f32; 2]> = corners.iter().map(|[x, y, _]| [x / 2.0, *y]).collect();
        let triangles: [u16; 36] = [
            0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3,
            5, 3, 7, 5,
        ];
        let (position, uv) = (glb.floats(&corners, "VEC3"), glb.floats(&uvs, "VEC2"));
        let indices = glb.add(&triangles.map(u16::to_le_bytes).concat(), 5123, 36, "SCALAR");
        glb.document["meshes"] = json!([{"primitives": [{"attributes": {"POSITION": position, "TEXCOORD_0": uv},
            "indices": indices, "material": 0}]}]);
        glb
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let view = json!({"buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len()});
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let views = self.document["bufferViews"].as_array_mut().unwrap();
        views.push(view);
        views.len() - 1
    }

    fn add(&mut self, bytes: &[u8], component: u32, count: usize, kind: &str) -> usize {
        let view = self.view(bytes);
        let accessors = self.document["accessors"].as_array_mut().unwrap();
        accessors.push(json!({"bufferView": view, "componentType": component, "count": count, "type": kind}));
        accessors.len() - 1
    }

    fn floats<const N: usize>(&mut self, all: &[[f32; N]], kind: &str) -> usize {
        let bytes: Vec<u8> = all.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        self.add(&bytes, 5126, all.len(), kind)
    }

    /// Adds pictures of these kinds as images and textures, each with the sampler of its number.
    fn pictures(&mut self, kinds: &[image::ImageFormat], samplers: Value) {
        let (mut images, mut textures) = (Vec::new(), Vec::new());
        for (number, kind) in kinds.iter().enumerate() {
            let mut bytes = Vec::new();
            let shade =
                |x: u32, y: u32| image::Rgb([(40 * number + 9) as u8, (x * 16) as u8, (y * 16) as u8]);
            image::RgbImage::from_fn(16, 16, shade).write_to(&mut Cursor::new(&mut bytes), *kind).unwrap();
            let view = self.view(&bytes);
            let name = format!("picture {number}");
            images.push(json!({"bufferView": view, "mimeType": kind.to_mime_type(), "name": name}));
            textures.push(match kind {
                image::ImageFormat::WebP => {
                    json!({"extensions": {"EXT_texture_webp": {"source": number}}, "sampler": number})
                }
                _ => json!({"source": number, "sampler": number}),
            });
        }
        self.document["images"] = images.into();
        self.document["textures"] = textures.into();
        self.document["samplers"] = samplers;
    }

    fn bytes(mut self) -> Vec<u8> {
        self.document["buffers"] = json!([{"byteLength": self.binary.len()}]);
        let mut text = self.document.to_string();
        text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(4) - text.len()));
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

    fn parse(bytes: &[u8]) -> Self {
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let document = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        Self { document, binary: bytes[28 + length..].to_vec() }
    }

    fn data(&self, view: &Value) -> &[u8] {
        let view = &self.document["bufferViews"][number(view)];
        &self.binary[view["byteOffset"].as_u64().unwrap_or(0) as usize..][..number(&view["byteLength"])]
    }

    /// A value in which every texture stands with its picture's bytes and its sampler instead of a number.
    fn resolved(&self, value: &Value) -> Value {
        match value {
            Value::Object(entries) => {
                let mut out = Value::Object(
                    entries.iter().map(|(key, entry)| (key.clone(), self.resolved(entry))).collect(),
                );
                if let Some(index) = entries.get("index") {
                    let texture = &self.document["textures"][number(index)];
                    let webp = &texture["extensions"]["EXT_texture_webp"]["source"];
                    let source = if webp.is_null() { &texture["source"] } else { webp };
                    let image = &self.document["images"][number(source)];
                    out["index"] = json!([
                        sha256(self.data(&image["bufferView"])),
                        image["mimeType"],
                        image["name"],
                        self.document["samplers"][number(&texture["sampler"])]
                    ]);
                }
                out
            }
            _ => value.clone(),
        }
    }

    /// Rows of an attribute of the first part with this material.
    fn attribute(&self, material: &str, name: &str) -> Option<Vec<f32>> {
        let materials = self.document["materials"].as_array().unwrap();
        let wanted = materials.iter().position(|known| known["name"] == material)?;
        let parts = self.document["meshes"][0]["primitives"].as_array().unwrap();
        let part = parts.iter().find(|part| number(&part["material"]) == wanted)?;
        let accessor = &self.document["accessors"][number(part["attributes"].get(name)?)];
        let data = self.data(&accessor["bufferView"]);
        Some(match accessor["componentType"].as_u64() {
            Some(5126) => data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect(),
            _ => {
                data.chunks_exact(2).map(|b| f32::from(u16::from_le_bytes([b[0], b[1]])) / 65535.0).collect()
            }
        })
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// One piece: the whole of a file's object.
fn piece_of(bytes: &[u8]) -> (Assembly, Vec<String>) {
    let (mesh, warnings) = load_bytes(bytes, "glb").unwrap();
    (assembly(mesh), warnings.into_iter().map(|warning| warning.0).collect())
}

fn assembly(mesh: Mesh) -> Assembly {
    let surface = PieceMesh::imported(&mesh, 1.0).unwrap();
    let materials = mesh.materials.clone();
    let piece = ExportPiece {
        id: 0,
        shape: Arc::new(Shape::mesh(&Arc::new(mesh), 1.0, 1.0, Look::default())),
        placing: Placing::UNMOVED,
        object: None,
        cell: None,
        parent: None,
        generation: 1,
        insides: Default::default(),
        called: None,
    };
    let mut what = Assembly { pieces: vec![piece], ..Assembly::default() };
    what.meshes = Meshes::originals(vec![Some(Arc::new(surface))]);
    what.skins.insert(None, Skin { materials });
    what
}

fn written(what: &Assembly, format: Format, name: &str) -> (PathBuf, Vec<String>) {
    let folder = std::env::temp_dir().join(format!("kintsugi-carried-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let notes = write(what, format, &folder, &Watch::whole(&Progress::default())).unwrap();
    (folder, notes)
}

fn glb_of(what: &Assembly, name: &str) -> (Glb, Vec<u8>) {
    let (folder, notes) = written(what, Format::Glb, name);
    assert_eq!(notes, Vec::<String>::new());
    let bytes = std::fs::read(folder.join("pieces.glb")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    (Glb::parse(&bytes), bytes)
}

/// A material that says all that is carried, whose maps show pictures 0 to 4.
fn full() -> Value {
    let moved =
        json!({"KHR_texture_transform": {"offset": [0.25, 0.5], "rotation": 0.7, "scale": [2.0, 3.0]}});
    let map = |index: usize| json!({"index": index, "extensions": moved});
    let (mut normal, mut occlusion) = (map(2), map(1));
    (normal["scale"], occlusion["strength"]) = (json!(0.3), json!(0.6));
    json!({
        "name": "Brick \"Wall\"",
        "pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.9, "roughnessFactor": 0.15,
            "baseColorTexture": map(0), "metallicRoughnessTexture": map(1)},
        "normalTexture": normal, "occlusionTexture": occlusion, "emissiveTexture": map(3),
        "emissiveFactor": [1.0, 0.5, 0.25], "alphaMode": "MASK", "alphaCutoff": 0.3, "doubleSided": true,
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4.5},
            "KHR_materials_clearcoat": {"clearcoatFactor": 0.7, "clearcoatTexture": map(4)}},
    })
}

fn full_file() -> Glb {
    use image::ImageFormat::{Jpeg, Png, WebP};
    let mut glb = Glb::of_box(full());
    let sampler = |wrap: u32, filter: u32| json!({"wrapS": wrap, "wrapT": 33648, "magFilter": 9728, "minFilter": filter});
    let samplers = json!([
        sampler(33071, 9987),
        sampler(10497, 9984),
        sampler(33071, 9729),
        sampler(10497, 9986),
        sampler(33648, 9985)
    ]);
    glb.pictures(&[Jpeg, Png, WebP, Jpeg, Png], samplers);
    glb.document["extensionsUsed"] = json!([
        "KHR_texture_transform",
        "EXT_texture_webp",
        "KHR_materials_emissive_strength",
        "KHR_materials_clearcoat"
    ]);
    glb.document["extensionsRequired"] = json!(["EXT_texture_webp"]);
    glb
}

#[test]
fn parts_have_tangents_where_their_material_needs_them() {
    let grain = json!({"name": "m", "extensions": {"KHR_materials_anisotropy": {"anisotropyStrength": 0.5}}});
    let mut grained = Glb::of_box(grain);
    grained.document["extensionsUsed"] = json!(["KHR_materials_anisotropy"]);
    for (number, (file, name, wanted)) in [
        (Glb::of_box(json!({"name": "m"})), "m", false),
        (grained, "m", true),
        (full_file(), "Brick \"Wall\"", true),
    ]
    .into_iter()
    .enumerate()
    {
        let (glb, _) = glb_of(&piece_of(&file.bytes()).0, &format!("tangents-{number}"));
        let tangents = glb.attribute(name, "TANGENT");
        assert_eq!(tangents.is_some(), wanted, "{number}");
        let Some(tangents) = tangents else { continue };
        let normals = glb.attribute(name, "NORMAL").unwrap();
        assert_eq!(tangents.len() / 4, normals.len() / 3);
        let mut signs = [0, 0];
        for (tangent, normal) in tangents.chunks_exact(4).zip(normals.chunks_exact(3)) {
            let dot = |a: &[f32], b: &[f32]| (0..3).map(|k| a[k] * b[k]).sum::<f32>();
            assert!((dot(tangent, tangent) - 1.0).abs() < 1e-5 && dot(tangent, normal).abs() < 1e-5);
            assert_eq!(tangent[3].abs(), 1.0);
            signs[usize::from(tangent[3] < 0.0)] += 1;
            // Coordinates grow along x, and with v up against y.
            if number == 1 && normal[2].abs() > 0.5 {
                assert!((tangent[0] - 1.0).abs() < 1e-5 && tangent[3] == -normal[2].signum());
            }
        }
        // The low side of the box has the coordinates of the high one, seen from behind.
        assert!(signs.iter().all(|count| *count >= 4), "{number}: {signs:?}");
    }
}

#[test]
fn a_material_of_glb_comes_back_whole_and_does_so_again() {
    let first = full_file();
    let wanted = first.resolved(&full());
    let uvs_at = number(&first.document["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"]);
    assert_eq!(uvs_at, 1);
    let mut bytes = first.bytes();
    for round in 0..2 {
        let (what, warnings) = piece_of(&bytes);
        assert_eq!(warnings, Vec::<String>::new(), "{round}");
        let (glb, again) = glb_of(&what, &format!("whole-{round}"));
        let materials = glb.document["materials"].as_array().unwrap();
        assert_eq!(materials.len(), 1);
        assert_eq!(glb.resolved(&materials[0]), wanted, "{round}");
        assert_eq!(glb.document["images"].as_array().unwrap().len(), 5, "a shared picture is there once");
        assert_eq!(glb.document["extensionsRequired"], json!(["EXT_texture_webp"]));
        let uvs = glb.attribute("Brick \"Wall\"", "TEXCOORD_0").unwrap();
        let far = uvs.iter().map(|x| x.min(1.0 - x).abs()).fold(0.0, f32::max);
        assert!(far < 1e-5, "the file's own coordinates, 0 and 1: {far}");
        assert_eq!(glb.attribute("Brick \"Wall\"", "COLOR_0"), None, "the file has no vertex colours");
        bytes = again;
    }
}

#[test]
fn vertex_colours_are_written_once_beside_factor_and_texture() {
    for has_picture in [false, true] {
        let mut pbr =
            json!({"baseColorFactor": [0.2, 0.4, 0.8, 1.0], "metallicFactor": 0.0, "roughnessFactor": 1.0});
        if has_picture {
            pbr["baseColorTexture"] = json!({"index": 0});
        }
        let material = json!({"name": "Painted", "pbrMetallicRoughness": pbr});
        let mut glb = Glb::of_box(material.clone());
        if has_picture {
            glb.pictures(&[image::ImageFormat::Png], json!([{}]));
        }
        let colors = glb.floats(&[[0.5, 0.1, 1.0]; 8], "VEC3");
        glb.document["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = colors.into();
        let (what, warnings) = piece_of(&glb.bytes());
        assert_eq!(warnings, Vec::<String>::new());
        let (glb, _) = glb_of(&what, "painted");
        let factor = &glb.document["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"];
        assert_eq!(*factor, material["pbrMetallicRoughness"]["baseColorFactor"]);
        for row in glb.attribute("Painted", "COLOR_0").unwrap().chunks_exact(4) {
            for (found, wanted) in row.iter().zip([0.5, 0.1, 1.0, 1.0]) {
                assert!((found - wanted).abs() < 0.02, "{row:?}");
            }
        }
    }
}

#[test]
fn coordinates_without_a_picture_stay_those_of_the_file() {
    let mut glb = Glb::of_box(json!({"name": "Plain"}));
    let uvs: Vec<[f32; 2]> =
        (0..8).map(|c| [0.1 + 0.8 * (c & 1) as f32, 0.2 + 0.6 * (c >> 1 & 1) as f32]).collect();
    let accessor = glb.floats(&uvs, "VEC2");
    glb.document["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = accessor.into();
    let (what, warnings) = piece_of(&glb.bytes());
    assert_eq!(warnings, Vec::<String>::new());
    let (glb, _) = glb_of(&what, "plain");
    let found = glb.attribute("Plain", "TEXCOORD_0").unwrap();
    for (k, wanted) in [[0.1f32, 0.9], [0.2, 0.8]].into_iter().enumerate() {
        let own = found.iter().skip(k).step_by(2);
        let ends = own.fold([f32::MAX, f32::MIN], |[low, high], x| [low.min(*x), high.max(*x)]);
        assert!((0..2).all(|i| (ends[i] - wanted[i]).abs() < 1e-5), "{ends:?} for {wanted:?}");
    }
}

#[test]
fn an_index_of_refraction_comes_back_from_usd_and_mtl() {
    let material = json!({"name": "Glass", "extensions": {"KHR_materials_ior": {"ior": 1.33}}});
    let (what, warnings) = piece_of(&Glb::of_box(material).bytes());
    assert_eq!(warnings, Vec::<String>::new());
    for (format, file) in [(Format::Usda, "pieces.usda"), (Format::Obj, "pieces.obj")] {
        let (folder, notes) = written(&what, format, &format!("ior-{file}"));
        let (again, _) = crate::mesh::load(&folder.join(file)).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        let is_there = again.materials.iter().any(|material| material.refraction() == Some(1.33));
        assert!(is_there && !notes.iter().any(|note| note.contains("ior")), "{file}: {notes:?}");
    }
}

#[test]
fn usd_and_mtl_say_what_they_can_and_copy_the_files() {
    let first = full_file();
    let jpeg = first.data(&first.document["images"][0]["bufferView"]).to_vec();
    let (mut what, _) = piece_of(&first.bytes());
    let (folder, notes) = written(&what, Format::Usda, "usd");
    let text = std::fs::read_to_string(folder.join("pieces.usda")).unwrap();
    for part in [
        "def Material \"Brick__Wall_\" (",
        "displayName = \"Brick Wall\"",
        "@./Brick__Wall_.jpg@",
        "@./Brick__Wall__metallic_roughness.png@",
        "@./Brick__Wall__normal.png@",
        "@./Brick__Wall__emissive.jpg@",
        "inputs:wrapS = \"clamp\"",
        "inputs:wrapT = \"mirror\"",
        "inputs:roughness.connect = </kintsugi/materials/Brick__Wall_/metallic_roughness.outputs:g>",
        "inputs:opacity.connect",
        "inputs:opacityThreshold = 0.3",
        "inputs:scale = (0.1, 0.2, 0.3, 0.4)",
        "inputs:scale = (4.5, 2.25, 1.125, 1)",
        "inputs:bias = (0.4, 0.4, 0.4, 0.4)",
    ] {
        assert!(text.contains(part), "{part} is missing of\n{text}");
    }
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert_eq!(std::fs::read(folder.join("Brick__Wall_.jpg")).unwrap(), jpeg);
    assert!(notes.len() == 1 && notes[0].contains("KHR_materials_clearcoat"), "{notes:?}");
    std::fs::remove_dir_all(folder).unwrap();

    let (folder, notes) = written(&what, Format::Obj, "obj");
    let text = std::fs::read_to_string(folder.join("pieces.mtl")).unwrap();
    for part in [
        "newmtl Brick \"Wall\"\n",
        "d 0.4\n",
        "Pr 0.15\nPm 0.9\n",
        "map_Kd Brick__Wall_.jpg\n",
        "map_d Brick__Wall_.jpg\n",
        "map_Bump -bm 0.3 Brick__Wall__normal.png\n",
        "Ke 1 0.5 0.25\n",
    ] {
        assert!(text.contains(part), "{part} is missing of\n{text}");
    }
    assert_eq!(std::fs::read(folder.join("Brick__Wall_.jpg")).unwrap(), jpeg);
    assert_eq!(notes.len(), 3, "{notes:?}");
    // Read back, the picture has its colour once and the material its name.
    let (again, _) = crate::mesh::load(&folder.join("pieces.obj")).unwrap();
    assert_eq!(again.materials[0].name, "Brick \"Wall\"");
    assert_eq!(again.materials[0].maps[&crate::mesh::MapUse::Color].picture.bytes, jpeg);
    assert!(again.colors.iter().all(|color| *color == [255; 3]));
    std::fs::remove_dir_all(folder).unwrap();

    // Blender takes a missing scale for 0 and shows no relief.
    what.skins.get_mut(&None).unwrap().materials[0].normal_scale = 1.0;
    let (folder, _) = written(&what, Format::Obj, "obj-whole");
    let text = std::fs::read_to_string(folder.join("pieces.mtl")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(text.contains("map_Bump -bm 1 Brick"), "{text}");
}

#[test]
fn the_inside_is_named_after_the_one_material_outside() {
    let (mut what, _) = piece_of(&full_file().bytes());
    let name = |what: &Assembly| {
        super::looks::Names::of(what, str::to_owned).name(None, Some(crate::meshes::Side::Inside)).to_owned()
    };
    assert_eq!(name(&what), "inside of Brick \"Wall\"");
    let two = what.skins.get_mut(&None).unwrap();
    two.materials.push(crate::mesh::Material { name: "inside".to_owned(), ..Default::default() });
    assert_eq!(name(&what), "inside_2", "a file's own material keeps its name");
}
