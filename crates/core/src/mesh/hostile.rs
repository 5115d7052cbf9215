//! Feeds thousands of damaged files to every reader: each must give a valid mesh or an error of one line.

use glam::Vec3;

#[cfg(feature = "fbx")]
use super::fbx;
#[cfg(feature = "draco")]
use super::gltf_draco_tests;
use super::{Mesh, check, check_apart, gltf, load_bytes, obj, off, ply, stl, usd, usdc, usdz, vox};
use crate::injure::{Dice, injure};

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("obj", obj::tests::MIXED.into()),
        ("ply", ply::tests::TEXT.into()),
        ("ply", ply::tests::STRIPS.into()),
        ("ply", ply::tests::binary(false)),
        ("ply", ply::tests::binary(true)),
        ("stl", stl::tests::TEXT.into()),
        ("stl", stl::tests::binary(2)),
        ("off", off::tests::COLORED.into()),
        ("gltf", gltf::tests::embedded()),
        ("glb", gltf::tests::binary()),
        #[cfg(feature = "draco")]
        ("glb", gltf_draco_tests::file()),
        ("vox", vox::tests::scene()),
        ("usda", usd::tests::SCENE.into()),
        ("usdc", usdc::tests::SCENE.into()),
        ("usdz", usdz::tests::archive(&[("scene.usdc", usdc::tests::SCENE)], 0)),
        #[cfg(feature = "fbx")]
        ("fbx", fbx::tests::SCENE.into()),
    ]
}

fn keeps_its_promises(mesh: &Mesh) -> bool {
    let count = mesh.positions.len();
    mesh.positions.iter().flatten().all(|x| x.is_finite())
        && mesh.triangles.iter().flatten().all(|&i| (i as usize) < count)
        && !mesh.triangles.is_empty()
        && [0, count].contains(&mesh.colors.len())
        && [0, count].contains(&mesh.uvs.len())
        && [0, count].contains(&mesh.uvs2.len())
        && mesh.uvs.iter().chain(&mesh.uvs2).flatten().all(|x| x.is_finite())
        && [0, count].contains(&mesh.normals.len())
        && mesh.normals.iter().all(|n| *n == [0.0; 3] || (Vec3::from(*n).length() - 1.0).abs() < 1e-5)
        && [0, mesh.triangles.len()].contains(&mesh.smoothing.len())
        && mesh.origin.iter().all(|x| x.is_finite())
        && [0, mesh.triangles.len()].contains(&mesh.triangle_material.len())
        && mesh.triangle_material.iter().all(|&m| (m as usize) < mesh.materials.len())
}

#[test]
fn damaged_files_give_a_sound_mesh_or_one_line() {
    let samples = samples();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused, mut united) = (0, 0, 0);
    for (extension, sample) in &samples {
        let (mut read_here, rounds) = (0, 4000);
        for _ in 0..rounds {
            let mut bytes = sample.clone();
            let other = &dice.among(&samples).1;
            injure(&mut bytes, other, &mut dice);
            match load_bytes(&bytes, extension) {
                Ok((mesh, warnings)) => {
                    assert!(keeps_its_promises(&mesh), "{extension}: {:?}", String::from_utf8_lossy(&bytes));
                    assert!(warnings.iter().all(|w| !w.0.contains('\n')));
                    let apart = check_apart(&mesh);
                    assert!(
                        apart.triangles.len() <= mesh.triangles.len(),
                        "{extension}: healing adds triangles"
                    );
                    let (checked, report) = check(&mesh);
                    match report.union.filter(|union| union.united_parts + union.united_alone > 0) {
                        None => assert_eq!(checked.triangles.len(), apart.triangles.len()),
                        // Lines where parts pass through each other divide triangles.
                        Some(union) => {
                            assert_eq!(checked.triangles.len(), union.triangles_after);
                            assert!(keeps_its_promises(&checked), "{extension} united");
                            united += 1;
                        }
                    }
                    read_here += 1;
                }
                Err(error) => {
                    assert!(!error.message.contains('\n') && error.message.len() > 15, "{}", error.message);
                    refused += 1;
                }
            }
        }
        println!("{extension}: {read_here} of {rounds} read");
        read += read_here;
    }
    assert!(united > 0, "no damage makes parts pass through each other");
    assert!(
        read > 1_000 && refused > 1_000,
        "the damage is too mild or too strong: {read} read, {refused} refused"
    );
}

#[test]
fn every_cut_of_every_sample_is_survived() {
    for (extension, sample) in samples() {
        assert!(load_bytes(&sample, extension).is_ok(), "{extension}");
        for end in 0..sample.len() {
            if let Ok((mesh, _)) = load_bytes(&sample[..end], extension) {
                assert!(keeps_its_promises(&mesh), "{extension} cut at {end}");
            }
        }
    }
}

#[test]
fn the_promise_check_sees_a_broken_promise() {
    let sound = || load_bytes(off::tests::COLORED.as_bytes(), "off").unwrap().0;
    assert!(keeps_its_promises(&sound()));
    let breaks: [fn(&mut Mesh); 5] = [
        |m| m.positions[0][1] = f32::NAN,
        |m| m.triangles[0][1] = 4,
        |m| m.colors.truncate(1),
        |m| m.triangle_material[0] = 9,
        |m| m.normals = vec![[0.0, 2.0, 0.0]; m.positions.len()],
    ];
    for damage in breaks {
        let mut mesh = sound();
        damage(&mut mesh);
        assert!(!keeps_its_promises(&mesh));
    }
}

#[test]
fn nodes_that_repeat_one_mesh_are_counted_before_anything_is_decoded() {
    let positions: Vec<u8> =
        (0..90_000).flat_map(|k: u32| ((k * 7919 % 1013) as f32).to_le_bytes()).collect();
    let of = |nodes: usize| {
        let each = vec![r#"{"mesh":0}"#; nodes].join(",");
        let numbers: Vec<String> = (0..nodes).map(|n| n.to_string()).collect();
        let data = base64(&positions);
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"nodes":[{1}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":30000,"type":"VEC3"}}],
            "bufferViews":[{{"buffer":0,"byteLength":{2}}}],
            "buffers":[{{"byteLength":{2},"uri":"data:application/octet-stream;base64,{data}"}}]}}"#,
            numbers.join(","),
            each,
            positions.len()
        )
    };
    let (mesh, _) = load_bytes(of(2).as_bytes(), "gltf").unwrap();
    assert_eq!(mesh.triangles.len(), 20_000);
    let start = std::time::Instant::now();
    let refused = load_bytes(of(20_000).as_bytes(), "gltf").unwrap_err();
    assert!(
        refused.message.contains("600000000 corners") && refused.message.contains("decimate"),
        "{}",
        refused.message
    );
    println!("refused after {:.2} s", start.elapsed().as_secs_f64());
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |three: &[u8]| {
        let word = three.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(word >> shift & 63) as usize]))
    };
    assert!(bytes.len().is_multiple_of(3));
    bytes.chunks_exact(3).flat_map(digits).collect()
}

#[test]
fn a_point_with_very_many_texture_coordinates_takes_no_time() {
    use std::fmt::Write as _;
    let mut text = String::from("v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    let faces = 300_000;
    for k in 0..faces {
        writeln!(text, "vt {} 0.5", f64::from(k) / f64::from(faces)).unwrap();
    }
    for k in 1..=faces {
        writeln!(text, "f 1/{k} 2/{k} 3/{k}").unwrap();
    }
    let start = std::time::Instant::now();
    let (mesh, _) = load_bytes(text.as_bytes(), "obj").unwrap();
    println!("read after {:.2} s", start.elapsed().as_secs_f64());
    // Searching a chain of equal vertices took minutes: 45 thousand million steps.
    assert!(mesh.positions.len() == mesh.uvs.len() && mesh.uvs.len() >= faces as usize);
}

#[test]
fn parts_without_corners_are_counted_before_they_are_listed() {
    let of = |count: usize| {
        let list = |one: &str| vec![one; count].join(",");
        format!(
            r#"{{"asset":{{"version":"2.0"}},"nodes":[{}],"meshes":[{{"primitives":[{}]}}]}}"#,
            list(r#"{"mesh":0}"#),
            list("{}")
        )
    };
    // 400 million parts of 80 bytes.
    let refused = load_bytes(of(20_000).as_bytes(), "gltf").unwrap_err().message;
    assert!(refused.contains("400000000 parts") && refused.contains("place fewer"), "{refused}");
    let few = load_bytes(of(30).as_bytes(), "gltf").unwrap_err().message;
    assert!(few.contains("no triangle found"), "{few}");
}

#[test]
fn json_that_becomes_far_larger_in_memory_is_refused() {
    let of =
        |nodes: String| format!(r#"{{"asset":{{"version":"2.0"}},"extras":"{{,\\\"{{","nodes":[{nodes}]}}"#);
    let objects = vec!["{}"; 2_200_000].join(",");
    let refused = load_bytes(of(objects).as_bytes(), "gltf").unwrap_err().message;
    assert!(refused.contains("2200002 objects"), "{refused}");
    let numbers = format!(r#"{{"children":[{}]}}"#, vec!["0"; 9_000_000].join(","));
    let refused = load_bytes(of(numbers).as_bytes(), "gltf").unwrap_err().message;
    assert!(refused.contains("values, and 8388608"), "{refused}");
}

/// A chunk of a VOX file.
fn chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [&name[..], &(body.len() as u32).to_le_bytes(), &[0; 4], body].concat()
}

#[test]
fn faces_of_voxels_are_counted_before_models_are_placed() {
    let number = |n: u32| n.to_le_bytes().to_vec();
    let side = 32u8;
    let all = (0..side).flat_map(|x| (0..side).flat_map(move |y| (0..side).map(move |z| [x, y, z, 1])));
    let voxels: Vec<[u8; 4]> = all.filter(|[x, y, z, _]| (x + y + z).is_multiple_of(2)).collect();
    let of = |times: u32| {
        let transform = |node: u32, child: u32, place: Option<String>| {
            let frame = place.map_or_else(
                || number(0),
                |text| {
                    [number(1), number(2), b"_t".to_vec(), number(text.len() as u32), text.into()].concat()
                },
            );
            let words = [node, 0, child, u32::MAX, u32::MAX, 1].map(u32::to_le_bytes).concat();
            chunk(b"nTRN", &[words, frame].concat())
        };
        let children: Vec<u32> = (0..times).map(|k| 2 + 2 * k).collect();
        let group = [vec![1, 0, times], children.clone()].concat();
        let mut body = [
            chunk(b"SIZE", &[u32::from(side); 3].map(u32::to_le_bytes).concat()),
            chunk(b"XYZI", &[number(voxels.len() as u32), voxels.concat()].concat()),
            transform(0, 1, None),
            chunk(b"nGRP", &group.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>()),
        ]
        .concat();
        for (k, node) in children.into_iter().enumerate() {
            body.extend(transform(node, node + 1, Some(format!("{} 0 0", 40 * k))));
            body.extend(chunk(b"nSHP", &[node + 1, 0, 1, 0, 0].map(u32::to_le_bytes).concat()));
        }
        let main = [&b"MAIN"[..], &number(0), &number(body.len() as u32), &body].concat();
        [&b"VOX "[..], &number(150), &main].concat()
    };
    let faces = 6 * voxels.len();
    let (mesh, _) = load_bytes(&of(2), "vox").unwrap();
    assert_eq!(mesh.triangles.len(), 2 * 2 * faces);
    // 4,000 of them are 393 million faces.
    let start = std::time::Instant::now();
    let refused = load_bytes(&of(4000), "vox").unwrap_err().message;
    println!("refused after {:.2} s", start.elapsed().as_secs_f64());
    assert!(refused.contains("more than 8388608 faces") && refused.contains("fewer models"), "{refused}");
}
