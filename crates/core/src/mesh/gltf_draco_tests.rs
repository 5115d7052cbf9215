//! Parts of glTF that Draco packs, beside the same parts as they were: streams of the library's encoder, and those of
//! `fuzz/corpus`, which Draco's own encoder wrote (`fuzz/draco.mjs`).

use std::path::Path;

use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, GeometryAttributeType as Kind, MeshEncoder, PointAttribute,
};
use serde_json::{Value, json};

use super::{
    Mesh,
    gltf_tests::{Glb, push, volume},
    load_bytes,
};
use crate::injure::{Dice, injure};

const DRACO: &str = "KHR_draco_mesh_compression";

/// A ring round y, whose vertices are doubled where its texture begins.
struct Ring {
    places: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    coordinates: Vec<[f32; 2]>,
    colors: Vec<[u8; 4]>,
    corners: Vec<u32>,
}

/// The same one as in `fuzz/draco.mjs`.
fn ring(around: u32, across: u32) -> Ring {
    let turn = |k: u32, of: u32| std::f64::consts::TAU * f64::from(k % of) / f64::from(of);
    let share = |k: u32, of: u32| (f64::from(k) / f64::from(of)) as f32;
    let (mut places, mut normals) = (Vec::new(), Vec::new());
    let (mut coordinates, mut colors, mut corners) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..=around {
        for k in 0..=across {
            let (a, b) = (turn(i, around), turn(k, across));
            let (cos, sin) = (libm::cos(a), libm::sin(a));
            let [x, y, z] = [libm::cos(b) * cos, libm::sin(b), -libm::cos(b) * sin];
            places.push([2.0 * cos + x, y, -2.0 * sin + z].map(|v| v as f32));
            normals.push([x, y, z].map(|v| v as f32));
            coordinates.push([share(i, around), share(k, across)]);
            colors.push([(i * 7) as u8, (k * 11) as u8, 90, 255]);
        }
    }
    for i in 0..around {
        for k in 0..across {
            let (a, b) = (i * (across + 1) + k, (i + 1) * (across + 1) + k);
            corners.extend([a, b, b + 1, a, b + 1, a + 1]);
        }
    }
    Ring { places, normals, coordinates, colors, corners }
}

/// A file with the ring as it is.
fn plain(ring: &Ring) -> Glb {
    let mut glb = Glb::of_box();
    let corners: Vec<u8> = ring.corners.iter().flat_map(|corner| corner.to_le_bytes()).collect();
    let numbers = [
        glb.floats(&ring.places, "VEC3"),
        glb.floats(&ring.normals, "VEC3"),
        glb.floats(&ring.coordinates, "VEC2"),
        glb.add(ring.colors.as_flattened(), 5121, ring.colors.len(), "VEC4"),
        glb.add(&corners, 5125, ring.corners.len(), "SCALAR"),
    ];
    glb.document["accessors"][numbers[3]]["normalized"] = true.into();
    let [place, normal, coordinate, color, indices] = numbers;
    *glb.part() = json!({"indices": indices, "attributes":
        {"POSITION": place, "NORMAL": normal, "TEXCOORD_0": coordinate, "COLOR_0": color}});
    glb
}

/// The ring as the library's encoder packs it: method 0 in its own order, 1 along edges; speed 0 to 10.
fn stream(ring: &Ring, method: i32, speed: i32) -> Vec<u8> {
    let mut mesh = draco_core::Mesh::new();
    let count = ring.places.len();
    mesh.set_num_points(count);
    for (kind, width, values) in [
        (Kind::Position, 3, ring.places.as_flattened()),
        (Kind::Normal, 3, ring.normals.as_flattened()),
        (Kind::TexCoord, 2, ring.coordinates.as_flattened()),
    ] {
        let mut attribute = PointAttribute::new();
        attribute.init(kind, width, DataType::Float32, false, count);
        attribute.buffer_mut().update_f32s_le(0, values);
        mesh.add_attribute(attribute);
    }
    let mut colors = PointAttribute::new();
    colors.init(Kind::Color, 4, DataType::Uint8, true, count);
    colors.buffer_mut().write(0, ring.colors.as_flattened());
    mesh.add_attribute(colors);
    mesh.try_set_num_faces(ring.corners.len() / 3).unwrap();
    mesh.set_faces_from_flat_indices(&ring.corners);
    encoded(mesh, method, speed)
}

fn encoded(mesh: draco_core::Mesh, method: i32, speed: i32) -> Vec<u8> {
    let mut options = EncoderOptions::new();
    options.set_encoding_method(method);
    options.set_global_int("encoding_speed", speed);
    options.set_global_int("decoding_speed", speed);
    for (attribute, bits) in [(0, 12), (1, 9), (2, 11)] {
        options.set_attribute_int(attribute, "quantization_bits", bits);
    }
    let (mut encoder, mut out) = (MeshEncoder::new(), EncoderBuffer::new());
    encoder.set_mesh(mesh);
    encoder.encode(&options, &mut out).unwrap();
    out.data().to_vec()
}

/// A file whose part is a stream.
fn packed(ring: &Ring, stream: &[u8]) -> Glb {
    let mut glb = plain(ring);
    let view = glb.view(stream);
    glb.part()["extensions"] = json!({DRACO: {"bufferView": view,
        "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "COLOR_0": 3}}});
    for accessor in glb.document["accessors"].as_array_mut().unwrap() {
        accessor.as_object_mut().unwrap().remove("bufferView");
    }
    for list in ["extensionsUsed", "extensionsRequired"] {
        glb.document[list] = json!([DRACO]);
    }
    glb
}

/// A small file, for damage of any kind.
pub(super) fn file() -> Vec<u8> {
    let ring = ring(5, 4);
    packed(&ring, &stream(&ring, 1, 5)).bytes()
}

/// Compares what was unpacked with what was packed: triangles, turned and ordered as they may be, and all attributes of
/// their vertices. A vertex is the one nearest in place and texture coordinates, at most `step` away.
fn compare(found: &Mesh, wanted: &Mesh, step: f32) -> Result<(), String> {
    let far = |k: usize, w: usize| {
        let place = (0..3).map(|c| (found.positions[k][c] - wanted.positions[w][c]).abs());
        let uv = (0..2).map(|c| (found.uvs[k][c] - wanted.uvs[w][c]).abs());
        place.chain(uv).fold(0.0, f32::max)
    };
    let mut of = Vec::new();
    for k in 0..found.positions.len() {
        let nearest = (0..wanted.positions.len()).min_by(|a, b| far(k, *a).total_cmp(&far(k, *b))).unwrap();
        if far(k, nearest) > step {
            return Err(format!("vertex {k} is {} away", far(k, nearest)));
        }
        let normal = (0..3).map(|c| (found.normals[k][c] - wanted.normals[nearest][c]).abs());
        if normal.fold(0.0, f32::max) > 0.03 || found.colors[k] != wanted.colors[nearest] {
            return Err(format!("vertex {k} has another normal or colour"));
        }
        of.push(nearest as u32);
    }
    let turned = |t: &[u32; 3]| (0..3).map(|k| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]]).min().unwrap();
    let sorted = |all: Vec<[u32; 3]>| {
        let mut all: Vec<_> = all.iter().map(turned).collect();
        all.sort_unstable();
        all
    };
    let triangles = found.triangles.iter().map(|t| t.map(|corner| of[corner as usize])).collect();
    let same = sorted(triangles) == sorted(wanted.triangles.clone());
    same.then_some(()).ok_or_else(|| "other triangles".to_owned())
}

#[test]
fn what_was_packed_comes_back_within_its_steps_by_every_method_and_speed() {
    for (around, across) in [(12, 8), (36, 14)] {
        let ring = ring(around, across);
        let wanted = plain(&ring).mesh();
        for (method, speed) in [(0, 0), (0, 5), (0, 10), (1, 0), (1, 3), (1, 5), (1, 7), (1, 9)] {
            let mesh = packed(&ring, &stream(&ring, method, speed)).mesh();
            // Half of 6 / 4095, the step of 12 bits over the ring's width.
            assert_eq!(compare(&mesh, &wanted, 8e-4), Ok(()), "{around} {across} {method} {speed}");
            assert!((volume(&mesh) / volume(&wanted) - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn what_the_encoder_of_draco_itself_writes_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/glb");
    for (name, (around, across), step) in [
        ("draco-edgebreaker", (12, 8), 1.6e-3),
        ("draco-valence", (36, 14), 1.6e-3),
        ("draco-sequential", (12, 8), 1.6e-3),
        ("draco-exact", (12, 8), 1e-6),
        ("draco-none", (12, 8), 1e-6),
    ] {
        let (mesh, warnings) = load_bytes(&std::fs::read(folder.join(name)).unwrap(), "glb").unwrap();
        assert_eq!(warnings, [], "{name}");
        assert_eq!(compare(&mesh, &plain(&ring(around, across)).mesh(), step), Ok(()), "{name}");
    }
}

#[test]
fn the_comparison_sees_a_vertex_that_moved_a_wrong_colour_and_a_triangle_turned_over() {
    let wanted = plain(&ring(5, 4)).mesh();
    assert_eq!(compare(&wanted, &wanted, 1e-6), Ok(()));
    let damage: [fn(&mut Mesh); 4] = [
        |mesh| mesh.positions[7][1] += 0.01,
        |mesh| mesh.colors[7][0] ^= 1,
        |mesh| mesh.normals[7] = [0.0; 3],
        |mesh| mesh.triangles[7].swap(0, 1),
    ];
    for change in damage {
        let mut mesh = wanted.clone();
        change(&mut mesh);
        assert!(compare(&mesh, &wanted, 1e-3).is_err());
    }
}

#[test]
fn a_part_whose_accessors_and_stream_disagree_is_named() {
    let ring = ring(5, 4);
    let stream = stream(&ring, 1, 5);
    let id =
        |part: &mut Value, name: &str, id: u32| part["extensions"][DRACO]["attributes"][name] = id.into();
    let numbers = |glb: &mut Glb| -> [usize; 5] {
        let part = glb.part().clone();
        let of = |name: &str| part["attributes"][name].as_u64().unwrap() as usize;
        let indices = part["indices"].as_u64().unwrap() as usize;
        [of("POSITION"), of("NORMAL"), of("TEXCOORD_0"), of("COLOR_0"), indices]
    };
    let count = |glb: &mut Glb, accessor: usize, count: u64| {
        let number = numbers(glb)[accessor];
        glb.document["accessors"][number]["count"] = count.into();
    };
    type Change<'a> = &'a dyn Fn(&mut Glb);
    let changes: [(Change<'_>, &str); 13] = [
        (&|glb| (0..4).for_each(|k| count(glb, k, 31)), "another number of vertices"),
        (&|glb| (0..4).for_each(|k| count(glb, k, 29)), "another number of vertices"),
        (&|glb| (0..4).for_each(|k| count(glb, k, 10_000_000)), "larger than packed parts"),
        (&|glb| count(glb, 1, 31), "different numbers of vertices"),
        (&|glb| count(glb, 4, 117), "holds more than its accessors count"),
        (&|glb| count(glb, 4, 123), "another number of vertices or triangles"),
        (&|glb| count(glb, 4, 121), "no multiple of three"),
        (&|glb| count(glb, 4, 3_000_000_000), "corners of triangles"),
        (&|glb| glb.part()["mode"] = 5.into(), "no list of triangles"),
        (&|glb| id(glb.part(), "NORMAL", 9), "lacks an attribute"),
        (&|glb| id(glb.part(), "NORMAL", 2), "another number of components"),
        (&|glb| id(glb.part(), "TANGENT", 1), "has no accessor"),
        (&|glb| _ = glb.part().as_object_mut().unwrap().remove("indices"), "counts its corners"),
    ];
    assert_eq!((ring.places.len(), ring.corners.len()), (30, 120));
    assert!(packed(&ring, &stream).load().is_ok());
    for (change, said) in changes {
        let mut glb = packed(&ring, &stream);
        change(&mut glb);
        let message = glb.load().unwrap_err().message;
        assert!(message.contains(said) && message.lines().count() == 1, "{said}: {message}");
    }
    let message = packed(&ring, &stream[..stream.len() - 9]).load().unwrap_err().message;
    assert!(message.contains("cut short") && message.contains("export it without Draco"), "{message}");
}

#[test]
fn plain_data_beside_a_stream_are_read_where_it_is_damaged_and_by_parts_without_it() {
    let small = ring(12, 8);
    let whole = stream(&small, 1, 5);
    let mut large = ring(12, 8);
    large.places.iter_mut().flatten().for_each(|x| *x *= 2.0);
    let of_small = volume(&plain(&small).mesh());
    for (end, times, warned) in [(whole.len(), 1.0, 0), (60, 8.0, 1)] {
        let mut glb = plain(&large);
        let view = glb.view(&whole[..end]);
        let mut part = glb.part().clone();
        part["extensions"] = json!({DRACO: {"bufferView": view,
            "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "COLOR_0": 3}}});
        push(&mut glb.document["meshes"][0]["primitives"], part);
        glb.document["extensionsUsed"] = json!([DRACO]);
        let (mesh, warnings) = glb.load().unwrap();
        assert_eq!(warnings.len(), warned, "{warnings:?}");
        // The first part has the same accessors and no stream.
        assert!((volume(&mesh) / of_small - 8.0 - times).abs() < 0.01, "{end}: {}", volume(&mesh) / of_small);
    }
}

#[test]
fn a_few_bytes_that_hold_a_million_vertices_are_not_more_than_accessors_count() {
    const MANY: usize = 1_000_000;
    let mut mesh = draco_core::Mesh::new();
    mesh.set_num_points(MANY);
    let mut attribute = PointAttribute::new();
    attribute.init(Kind::Position, 3, DataType::Float32, false, MANY);
    mesh.add_attribute(attribute);
    mesh.try_set_num_faces(1).unwrap();
    mesh.set_face_from_indices(0, [0, 1, 2]);
    let stream = encoded(mesh, 0, 5);
    assert!(stream.len() < 200, "{} bytes", stream.len());
    let mut glb = packed(&ring(5, 4), &stream);
    glb.part()["extensions"][DRACO]["attributes"] = json!({"POSITION": 0});
    let message = glb.load().unwrap_err().message;
    // And not: another number, which would be known when all is unpacked.
    assert!(message.contains("holds more than its accessors count"), "{message}");
}

#[test]
fn parts_that_say_they_are_large_are_no_longer_unpacked_when_all_are_too_large() {
    let ring = ring(5, 4);
    let mut glb = packed(&ring, &stream(&ring, 1, 5));
    let sound = glb.part().clone();
    // Each some 250 MB.
    let mut accessor =
        glb.document["accessors"][sound["attributes"]["POSITION"].as_u64().unwrap() as usize].clone();
    accessor["count"] = 9_000_000.into();
    let mut large = sound.clone();
    large["attributes"] = json!({"POSITION": push(&mut glb.document["accessors"], accessor)});
    large["extensions"][DRACO]["attributes"] = json!({"POSITION": 0});
    for _ in 0..5 {
        push(&mut glb.document["meshes"][0]["primitives"], large.clone());
    }
    let (mesh, warnings) = glb.load().unwrap();
    assert_eq!(mesh.triangles.len(), 40);
    for (part, said) in
        [(1, "another number of vertices"), (4, "another number of vertices"), (5, "larger than")]
    {
        let is_named = |text: &str| text.contains(&format!("part {part} of")) && text.contains(said);
        assert!(warnings.iter().any(|warning| is_named(&warning.0)), "{part}: {warnings:?}");
    }
}

#[test]
fn damaged_streams_end_in_a_mesh_or_one_line_and_in_no_panic() {
    let ring = ring(12, 8);
    let wholes = [(0, 5), (1, 0), (1, 5), (1, 9)].map(|(method, speed)| stream(&ring, method, speed));
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..4000 {
        let (mut bytes, other) = (dice.among(&wholes).clone(), dice.among(&wholes).clone());
        if dice.roll(2) == 0 {
            // Behind the head, whose damage is seen at once.
            let at = 11 + dice.roll(bytes.len() - 11);
            bytes[at] ^= 1 << dice.roll(8);
        } else {
            injure(&mut bytes, &other, &mut dice);
        }
        match packed(&ring, &bytes).load() {
            Ok((mesh, _)) => {
                assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
                read += 1;
            }
            Err(error) => {
                assert!(error.message.lines().count() == 1, "{}", error.message);
                // This is what is said of a panic.
                assert!(!error.message.contains("its stream is damaged;"), "{}", error.message);
                refused += 1;
            }
        }
    }
    assert!(read > 200 && refused > 200, "{read} read, {refused} refused");
}
