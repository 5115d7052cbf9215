//! Files as people have them: names, folders, material files, and what is wrong in them.

use super::{
    super::{Alpha, MapUse, Material, Wrap, gltf, vox},
    *,
};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("kintsugi-load-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn refusal(path: &Path) -> String {
    let message = load(path).unwrap_err().message;
    println!("{message}");
    assert!(!message.contains('\n') && message.starts_with(&path.display().to_string().replace('\n', " ")));
    message
}

/// A USD archive is mostly pictures, and text of USD mostly triangles.
#[test]
fn the_memory_that_is_demanded_follows_the_kind_of_file() {
    for (name, wanted) in [
        ("a.obj", MEMORY_OF_TRIANGLES),
        ("a.USDA", MEMORY_OF_TRIANGLES),
        ("a.usdz", MEMORY_OF_PARTS),
        ("a.usdc", MEMORY_OF_PARTS),
        ("a.glb", MEMORY_OF_PARTS),
    ] {
        assert_eq!(memory_of(Path::new(name)), wanted, "{name}");
    }
}

#[test]
fn refusals_are_one_line_that_helps() {
    let folder = folder("refusals");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    assert!(refusal(&folder).contains("folder"));
    assert!(refusal(&folder.join("absent.obj")).contains("not found"));
    assert!(refusal(&write("nothing.ply", b"")).contains("empty"));
    assert!(refusal(&write("blank.obj", b" \r\n\n")).contains("empty"));
    assert!(refusal(&write("model.dae", b"<COLLADA>")).contains(FORMATS));
    assert!(refusal(&write("model.fbx", b"Kaydara FBX")).contains("FBX file: "));
    assert!(refusal(&write("model", b"v 0 0 0")).contains("no extension"));
    assert!(refusal(&write("model.qq", b"v 0 0 0")).contains(".qq is not a mesh format"));
    for (name, way) in
        [("a.DAE", "Blender and export glTF"), ("a.step", "CAD"), ("a.zip", "unpack"), ("a.mtl", "beside it")]
    {
        let said = refusal(&write(name, b"anything"));
        assert!(said.contains(way) && said.contains("OBJ, PLY, STL"), "{said}");
    }
    assert!(refusal(&write("two\nlines.obj", b"hello")).contains("no triangle"));
    assert!(refusal(Path::new("builtin:teapot")).contains("vase, column, box"));
    #[cfg(unix)]
    assert!(refusal(Path::new("/dev/zero")).contains("regular file"));
    let huge = std::fs::File::create(folder.join("huge.stl")).unwrap();
    huge.set_len(FILE_LIMIT + 1).unwrap();
    assert!(refusal(&folder.join("huge.stl")).contains("decimate"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn built_in_shapes_load_by_name() {
    let (mesh, warnings) = load(Path::new("builtin:box")).unwrap();
    assert_eq!((Some(mesh), warnings.len()), (builtin("box"), 0));
}

#[test]
fn what_lies_far_from_the_origin_is_told_of() {
    let warnings = |x: f64| {
        let text = format!("v {x} 0 0\nv {} 0 0\nv {x} 1 0\nf 1 2 3\n", x + 1.0);
        load_bytes(text.as_bytes(), "obj").unwrap().1
    };
    assert!(warnings(0.0).is_empty() && warnings(1000.0).is_empty());
    let far = warnings(500_000.0);
    assert!(far.len() == 1 && far[0].0.contains("move it to the origin"), "{far:?}");
}

#[test]
fn numbers_far_from_the_origin_are_rounded_there() {
    // A sliver of half a unit at coordinates of a map: in single precision its corners would be one.
    let corners = [
        [500_123.25, 120.5, 4_649_776.75],
        [500_123.35, 120.5, 4_649_776.75],
        [500_123.25, 121.0, 4_649_776.95],
    ];
    let lines = |word: &str| corners.map(|[x, y, z]| format!("{word}{x} {y} {z}\n")).concat();
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\nproperty double z\n\
               element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    let stl = format!("solid a\nfacet\nouter loop\n{}endloop\nendfacet\nendsolid a\n", lines("vertex "));
    for (text, extension) in [
        (lines("v ") + "vt 0 0\nvt 1 1\nf 1/1 2/2 3/1\n", "obj"),
        (format!("{ply}{}3 0 1 2\n", lines("")), "ply"),
        (format!("OFF 3 1 0\n{}3 0 1 2\n", lines("")), "off"),
        (stl, "stl"),
    ] {
        let (mesh, warnings) = load_bytes(text.as_bytes(), extension).unwrap();
        assert!(warnings.len() == 1 && warnings[0].0.contains("are counted from"), "{warnings:?}");
        for (i, exact) in mesh.triangles[0].iter().zip(&corners) {
            let there = [0, 1, 2].map(|k| f64::from(mesh.positions[*i as usize][k]) + mesh.origin[k]);
            assert!((0..3).all(|k| (there[k] - exact[k]).abs() < 1e-6), "{extension}: {there:?}");
        }
        let [a, b, c] = mesh.triangles[0].map(|i| glam::Vec3::from(mesh.positions[i as usize]));
        let area = (b - a).cross(c - a).length() / 2.0;
        let exact = 0.1 * (0.5f32 * 0.5 + 0.2 * 0.2).sqrt() / 2.0;
        assert!((area - exact).abs() < 1e-6, "{extension}: {area} for {exact}");
    }
}

#[test]
fn text_in_utf_16_or_with_a_mark_is_the_same_mesh() {
    let text = "# Ä\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let plain = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let (mesh, _) = load_bytes(text.as_bytes(), "obj").unwrap();
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let mark = format!("\u{feff}{text}");
    for (bytes, warns) in [
        (mark.clone().into_bytes(), 0),
        (little(&mark), 1),
        (big(&mark), 1),
        (little(plain), 1),
        (big(plain), 1),
    ] {
        let (read, warnings) = load_bytes(&bytes, "obj").unwrap();
        assert_eq!((&read, warnings.len()), (&mesh, warns), "{warnings:?}");
    }
    let torn = little(&mark.replace("v 1 0", "v x 0"));
    assert!(load_bytes(&torn, "obj").unwrap_err().message.contains("line 3"));
}

#[test]
fn colours_of_blenders_libraries_are_linear_and_a_map_without_one_is_white() {
    let folder = folder("blender");
    image::RgbImage::from_pixel(1, 1, image::Rgb([9, 8, 7])).save(folder.join("t.png")).unwrap();
    let library = "newmtl plain\nKd 0.5 0.25 0.125\nillum 2\nnewmtl shown\nillum 2\nmap_Kd t.png\n";
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n";
    let obj = format!("mtllib a.mtl\n{corners}usemtl plain\nf 1/1 2/2 3/3\nusemtl shown\nf 1/1 3/3 2/2\n");
    std::fs::write(folder.join("a.obj"), obj).unwrap();
    // The sRGB bytes of 0.5, 0.25 and 0.125, and bytes of these as they stand.
    for (head, wanted) in
        [("# Blender 3.4.1 MTL File: 'None'\n", [188, 137, 99]), ("# another\n", [128, 64, 32])]
    {
        std::fs::write(folder.join("a.mtl"), format!("{head}{library}")).unwrap();
        let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let [plain, shown] = [0, 1].map(|t| &mesh.materials[mesh.triangle_material[t] as usize]);
        assert_eq!((plain.name.as_str(), plain.color), ("plain", wanted));
        let is_linear = head.contains("Blender");
        assert_eq!(plain.factor, is_linear.then_some([0.5, 0.25, 0.125, 1.0]));
        assert_eq!((shown.name.as_str(), shown.color), ("shown", [255; 3]));
        assert_eq!(shown.texture.as_ref().unwrap().rgba[..3], [9, 8, 7]);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn libraries_options_of_maps_and_line_ends_are_those_of_the_file() {
    let folder = folder("libraries");
    let picture = |file: &str, shade: u8| {
        let picture = image::RgbaImage::from_pixel(1, 1, image::Rgba([shade, 0, 0, 255]));
        picture.save(folder.join(file)).unwrap();
    };
    picture("tile.png", 1);
    picture("my brick.png", 2);
    let one = "\u{feff}newmtl Tiled\rKd 1 1 1\rd 0.5\rmap_Bump -bm 2 tile.png\rmap_Kd -s 4 2 1 -o 0.25 0 0 -clamp on -mm 0 0.5 tile.png\r";
    std::fs::write(folder.join("one.mtl"), one).unwrap();
    std::fs::write(
        folder.join("two more.mtl"),
        "newmtl Spaced\nmap_Ka my brick.png\nmap_Kd my brick.png\nmap_d my brick.png\n",
    )
    .unwrap();
    for libraries in ["mtllib one.mtl two more.mtl", "mtllib one.mtl\rmtllib two more.mtl"] {
        let text = format!(
            "{libraries}\rv 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rvt 0 0\rvt 1 0\rvt 1 1\rusemtl Tiled\rf 1/1 2/2 3/3\r\
             usemtl Spaced\rf 1/1 3/3 4/9\r"
        );
        std::fs::write(folder.join("a.obj"), text).unwrap();
        let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
        let shade = |t: usize| {
            let material = &mesh.materials[mesh.triangle_material[t] as usize];
            material.texture.as_ref().unwrap().rgba[0]
        };
        assert_eq!((shade(0), shade(1)), (1, 2));
        let uvs = |t: usize| mesh.triangles[t].map(|i| mesh.uvs[i as usize]);
        assert_eq!(uvs(0), [[0.25, 0.0], [4.25, 0.0], [4.25, 2.0]]);
        // Of the other material as they are; a number that names nothing has none of those that were added.
        assert_eq!(uvs(1), [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]);
        let told: Vec<&str> = warnings.iter().map(|w| w.0.as_str()).collect();
        assert!(told.len() == 2 && told.iter().all(|line| line.ends_with("of Tiled")), "{told:?}");
        let tiled = &mesh.materials[mesh.triangle_material[0] as usize];
        assert_eq!(tiled.maps[&MapUse::Color].sampler.wrap, [Wrap::Clamp; 2]);
        for what in ["map_bump", "-mm 0 0.5"] {
            assert!(told.iter().any(|line| line.contains(what)), "{what}: {told:?}");
        }
        let glass = |k: usize| (mesh.materials[k].factor, mesh.materials[k].alpha);
        assert_eq!(glass(0), (Some([1.0, 1.0, 1.0, 0.5]), Alpha::Blend));
        assert_eq!(glass(1), (None, Alpha::Blend), "what is opaque is in its picture");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn statements_of_materials_that_pieces_lack_are_one_warning() {
    let folder = folder("statements");
    let library = "newmtl a\nKd 1 1 1\nKs 1 1 1\nTf 0.5 1 1\nillum 2\nnewmtl b\nKs 0 1 0\nNi 1.25\nnewmtl unused\nPs 1\n";
    std::fs::write(folder.join("a.mtl"), library).unwrap();
    let text = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\nusemtl b\nf 1 3 2\n";
    std::fs::write(folder.join("a.obj"), text).unwrap();
    let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
    let said: Vec<&str> = warnings.iter().map(|warning| warning.0.as_str()).collect();
    assert_eq!(said, ["left out: the statements Ks, Tf of a, b"]);
    assert_eq!(mesh.materials.iter().map(Material::refraction).collect::<Vec<_>>(), [None, Some(1.25)]);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A ring of corners, one of which is drawn in beyond the middle where it is notched.
#[test]
fn a_concave_polygon_that_is_too_large_is_named() {
    for (count, notched) in [(999, true), (1001, false), (1003, true)] {
        let corner = |k: usize| {
            let (turn, far) = (k as f64 * std::f64::consts::TAU / count as f64, notched && k == count / 4);
            let radius = if far { -0.5 } else { 1.0 };
            format!("v {} {} 0\n", radius * libm::cos(turn), radius * libm::sin(turn))
        };
        let mut text: String = (0..count).map(corner).collect();
        text += &format!("f{}\n", (1..=count).map(|k| format!(" {k}")).collect::<String>());
        let (mesh, warnings) = load_bytes(text.as_bytes(), "obj").unwrap();
        assert_eq!(mesh.triangles.len(), count - 2);
        let is_named = warnings.iter().any(|warning| warning.0.contains("concave polygon of more than"));
        assert_eq!((is_named, warnings.len()), (count == 1003, usize::from(count == 1003)), "{warnings:?}");
    }
}

#[test]
fn a_wrong_extension_is_read_by_content_with_a_warning() {
    let off = b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let (mesh, warnings) = load_bytes(off, "obj").unwrap();
    assert_eq!((mesh.triangles.len(), warnings.len()), (1, 1));
    assert!(warnings[0].0.contains("read as OFF"));
}

#[test]
fn references_are_found_beside_the_file_and_missing_ones_are_warnings() {
    let folder = folder("references");
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    let obj = "mtllib sub/a.mtl\nmtllib gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl red\nf 1/1 2/2 3/3\n";
    std::fs::write(folder.join("a.obj"), obj).unwrap();
    std::fs::write(
        folder.join("sub/a.mtl"),
        "newmtl red\nKd 1 0 0\nmap_Kd C:\\old\\t.png\nnewmtl unused\nmap_Kd no.png\n",
    )
    .unwrap();
    image::RgbaImage::from_pixel(2, 1, image::Rgba([9, 8, 7, 255])).save(folder.join("sub/t.png")).unwrap();
    let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].0.contains("gone.mtl"));
    let texture = mesh.materials[mesh.triangle_material[0] as usize].texture.as_ref().unwrap();
    assert_eq!((texture.width, texture.height, &texture.rgba[..4]), (2, 1, &[9, 8, 7, 255][..]));
    std::fs::remove_file(folder.join("sub/t.png")).unwrap();
    let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
    assert_eq!((mesh.materials[0].color, mesh.materials[0].texture.is_none()), ([255, 0, 0], true));
    assert!(warnings.iter().any(|w| w.0.contains("t.png")), "{warnings:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn references_stay_in_the_folder_of_the_mesh() {
    let outer = folder("outside");
    let inner = outer.join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(outer.join("secret.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    let mut references =
        vec!["../secret.mtl".to_owned(), outer.join("secret.mtl").to_string_lossy().into_owned()];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outer.join("secret.mtl"), inner.join("link.mtl")).unwrap();
        references.push("link.mtl".into());
    }
    for reference in references {
        let text = format!("mtllib {reference}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n");
        std::fs::write(inner.join("a.obj"), text).unwrap();
        let (mesh, warnings) = load(&inner.join("a.obj")).unwrap();
        assert!(warnings.iter().any(|w| w.0.contains("outside the folder")), "{reference}: {warnings:?}");
        assert!(mesh.materials.iter().all(|material| material.color != [255, 0, 0]), "{reference}");
    }
    std::fs::remove_dir_all(&outer).unwrap();
}

/// Cancelling stops reading early, wherever a reader spends its time.
#[test]
fn reading_stops_when_nobody_wants_it() {
    const COUNT: usize = 400_000;
    let vertices = |word: &str| (0..COUNT).map(|k| format!("{word}{k} {} 1\n", k % 7)).collect::<String>();
    let faces = |word: &str| (2..COUNT).map(|k| format!("{word}0 {} {k}\n", k - 1)).collect::<String>();
    let obj_faces: String = (3..COUNT).map(|k| format!("f 1 {} {k}\n", k - 1)).collect();
    let of_ply = format!(
        "ply\nformat ascii 1.0\nelement vertex {COUNT}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        COUNT - 2
    );
    let facet =
        "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
    let files = [
        ("obj", vertices("v ") + &obj_faces),
        ("ply", of_ply + &vertices("") + &faces("3 ")),
        ("off", format!("OFF\n{COUNT} {} 0\n", COUNT - 2) + &vertices("") + &faces("3 ")),
        ("stl", format!("solid x\n{}endsolid x\n", facet.repeat(COUNT / 4))),
    ];
    for (extension, text) in files {
        let clock = std::time::Instant::now();
        load_bytes(text.as_bytes(), extension).unwrap();
        let whole = clock.elapsed();
        let cancelled = Progress::default();
        cancelled.cancel();
        let clock = std::time::Instant::now();
        let error = load_bytes_while(text.as_bytes(), extension, &cancelled).unwrap_err();
        let stopped = clock.elapsed();
        println!("{extension}: {whole:.1?} whole, {stopped:.1?} until it stopped");
        assert!(error.is_cancelled && 4 * stopped < whole, "{extension}: {error}");
    }
    for (extension, bytes) in [("glb", gltf::tests::binary()), ("vox", vox::tests::scene())] {
        let cancelled = Progress::default();
        cancelled.cancel();
        assert!(load_bytes_while(&bytes, extension, &cancelled).unwrap_err().is_cancelled, "{extension}");
    }
}

#[test]
fn a_texture_that_many_materials_name_is_decoded_once() {
    let folder = folder("shared-texture");
    image::RgbaImage::from_pixel(4, 4, image::Rgba([9, 8, 7, 255])).save(folder.join("a.png")).unwrap();
    std::fs::write(folder.join("cut.png"), &std::fs::read(folder.join("a.png")).unwrap()[..40]).unwrap();
    let (mut library, mut faces) = (String::new(), String::new());
    for k in 0..60 {
        let file = if k < 30 { "a.png" } else { "cut.png" };
        library += &format!("newmtl m{k}\nKd 1 1 1\nmap_Kd {file}\n");
        faces += &format!("usemtl m{k}\nf 1/1 2/1 3/1\n");
    }
    std::fs::write(folder.join("a.mtl"), library).unwrap();
    let mesh = folder.join("a.obj");
    let text = format!("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n{faces}");
    std::fs::write(&mesh, text).unwrap();
    let (read, warnings) = load(&mesh).unwrap();
    let texture = |k: usize| read.materials[k].texture.as_ref();
    assert!((1..30).all(|k| std::sync::Arc::ptr_eq(texture(0).unwrap(), texture(k).unwrap())));
    assert!((30..60).all(|k| texture(k).is_none()));
    let told = warnings.iter().filter(|warning| warning.0.contains("cut.png")).count();
    assert_eq!(told, 1, "{warnings:?}");
    std::fs::remove_dir_all(folder).unwrap();
}
