//! The table of formats in docs/files.md, cell by cell: each column is read, or written and looked at.

mod fbx;

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Glb, assembly, full, full_file, piece_of, written};
use crate::{
    Assembly, ExportPiece, Placing, Target,
    formats::Format,
    import::import,
    mesh::{Alpha, Format as Source, MapUse, Mesh, Wrap, load, load_bytes, may_be_in_another_unit},
    voxelize::Progress,
};

const NAME: &str = "Brick \"Wall\"";

/// What warnings and notes call a second set of texture coordinates.
const SECOND: [&str; 4] = [
    "second texture coordinates",
    "texcoord_1",
    "coordinates of a mesh left out",
    "coordinates st1 left out",
];

/// Rows, each with the words by which warnings and notes name it.
const ROWS: [(&str, &[&str]); 18] = [
    ("name of the material", &["name"]),
    ("base colour", &["base colour"]),
    ("its texture", &["map_kd"]),
    ("normal map", &["normal", "map_bump"]),
    ("metallic, roughness", &["metallic of", "roughness of"]),
    ("their map", &["metallic roughness", "map_pr", "picture of metal"]),
    ("occlusion map", &["occlusion", "map_ao"]),
    ("emitted light", &["emitted"]),
    ("its map", &["emissive", "map_ke"]),
    ("opacity", &["opacity of material"]),
    ("both sides", &["both sides"]),
    ("borders of a texture", &["-clamp"]),
    ("texture coordinates", &["first texture coordinates"]),
    ("second texture coordinates", &SECOND),
    ("vertex colours", &["vertex colours"]),
    ("normals", &["normals"]),
    ("unit of length", &["unit"]),
    ("name of each piece", &["name of"]),
];

/// What a column has, in the order of the rows, and what was said about the rest.
type Column = ([bool; ROWS.len()], Vec<String>);

fn of_mesh(mesh: &Mesh) -> [bool; ROWS.len()] {
    let material = mesh.materials.first().cloned().unwrap_or_default();
    let map = |of: MapUse| material.maps.contains_key(&of);
    [
        material.name == NAME,
        material.color != [255; 3],
        map(MapUse::Color),
        map(MapUse::Normal),
        (material.metallic, material.roughness) == (0.9, 0.15),
        map(MapUse::MetallicRoughness),
        map(MapUse::Occlusion),
        material.emissive == [1.0, 0.5, 0.25],
        map(MapUse::Emissive),
        material.alpha != Alpha::Opaque && (material.opacity() - 0.4).abs() < 1e-6,
        material.is_double_sided,
        material.maps.get(&MapUse::Color).is_some_and(|map| map.sampler.wrap == [Wrap::Clamp; 2]),
        !mesh.uvs.is_empty(),
        !mesh.uvs2.is_empty(),
        !mesh.colors.is_empty(),
        !mesh.normals.is_empty(),
        false,
        false,
    ]
}

/// What a reader makes of a file of this format.
fn read(source: Source, (mesh, said): (Mesh, Vec<crate::mesh::LoadWarning>)) -> Column {
    let mut has = of_mesh(&mesh);
    // VOX counts voxels, whatever their size.
    has[16] = source != Source::Vox && !may_be_in_another_unit(Some(source), 1e9);
    (has, said.into_iter().map(|warning| warning.0).collect())
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kintsugi-table-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// All that a material and a part can say.
fn all() -> Vec<u8> {
    let mut glb = full_file();
    let mut material = full();
    material["occlusionTexture"]["texCoord"] = 1.into();
    glb.document["materials"] = json!([material]);
    glb.document["samplers"][0]["wrapT"] = 33071.into();
    let second: Vec<[f32; 2]> = (0..8).map(|c| [0.25, c as f32 / 8.0 + 0.05]).collect();
    let normal = |c: usize| [c & 1, c >> 1 & 1, c >> 2].map(|side| (2.0 * side as f32 - 1.0) / 3f32.sqrt());
    let normals: Vec<[f32; 3]> = (0..8).map(normal).collect();
    let added = [
        ("TEXCOORD_1", glb.floats(&second, "VEC2")),
        ("NORMAL", glb.floats(&normals, "VEC3")),
        ("COLOR_0", glb.floats(&[[0.5, 0.25, 1.0]; 8], "VEC3")),
    ];
    for (name, accessor) in added {
        glb.document["meshes"][0]["primitives"][0]["attributes"][name] = accessor.into();
    }
    glb.bytes()
}

const CORNERS: [[i32; 3]; 4] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn obj_in() -> Column {
    let folder = folder("obj");
    image::RgbImage::new(2, 2).save(folder.join("a.png")).unwrap();
    let mtl = format!(
        "newmtl {NAME}\nKd 0.1 0.2 0.3\nd 0.4\nPm 0.9\nPr 0.15\nKe 1 0.5 0.25\nmap_Kd -clamp on a.png\n\
         map_Bump a.png\nmap_Pr a.png\nmap_Pm a.png\nmap_Ke a.png\nmap_AO a.png\n"
    );
    std::fs::write(folder.join("a.mtl"), mtl).unwrap();
    let mut text = format!("mtllib a.mtl\nusemtl {NAME}\nvt 0.5 0.5\nvn 0 0 1\n");
    for [x, y, z] in CORNERS {
        text += &format!("v {x} {y} {z} 0.5 0.25 1\n");
    }
    for face in FACES {
        let [a, b, c] = face.map(|v| v + 1);
        text += &format!("f {a}/1/1 {b}/1/1 {c}/1/1\n");
    }
    std::fs::write(folder.join("a.obj"), text).unwrap();
    let found = load(&folder.join("a.obj")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    read(Source::Obj, found)
}

fn ply_in() -> Column {
    let folder = folder("ply");
    image::RgbImage::new(2, 2).save(folder.join("a.png")).unwrap();
    let mut text = "ply\nformat ascii 1.0\ncomment TextureFile a.png\nelement vertex 4\n".to_owned();
    for name in ["x", "y", "z", "nx", "ny", "nz", "s", "t"] {
        text += &format!("property float {name}\n");
    }
    for name in ["red", "green", "blue"] {
        text += &format!("property uchar {name}\n");
    }
    text += "element face 4\nproperty list uchar int vertex_indices\nend_header\n";
    for [x, y, z] in CORNERS {
        text += &format!("{x} {y} {z} 0 0 1 0.5 0.5 128 64 255\n");
    }
    for [a, b, c] in FACES {
        text += &format!("3 {a} {b} {c}\n");
    }
    std::fs::write(folder.join("a.ply"), text).unwrap();
    let found = load(&folder.join("a.ply")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    read(Source::Ply, found)
}

/// Facets that are green, as VisCAM writes it.
fn stl_in() -> Column {
    let mut bytes = vec![b' '; 80];
    bytes.extend(4u32.to_le_bytes());
    for face in FACES {
        let corners = face.map(|v| CORNERS[v].map(|x| x as f32));
        for x in [[0.0, 0.0, 1.0]].iter().chain(&corners).flatten() {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend((1u16 << 15 | 31 << 5).to_le_bytes());
    }
    read(Source::Stl, load_bytes(&bytes, "stl").unwrap())
}

/// A colour for each corner and one for each face.
fn off_in() -> Column {
    let mut text = "STCNOFF\n4 4 0\n".to_owned();
    for [x, y, z] in CORNERS {
        text += &format!("{x} {y} {z} 0 0 1 128 64 255 255 0.5 0.5\n");
    }
    for [a, b, c] in FACES {
        text += &format!("3 {a} {b} {c} 0 255 0\n");
    }
    read(Source::Off, load_bytes(text.as_bytes(), "off").unwrap())
}

/// What USD gets of all, and of a material without pictures, which shows the colours of vertices.
fn usd_in(what: &Assembly) -> Column {
    let mut painted = Glb::of_box(json!({"name": NAME}));
    let colors = painted.floats(&[[0.5, 0.25, 1.0]; 8], "VEC3");
    painted.document["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = colors.into();
    let [(pictures, said), (colors, _)] = [("pictures", what), ("colors", &piece_of(&painted.bytes()).0)]
        .map(|(name, what)| {
            let (folder, _) = written(what, Format::Usda, &format!("table-usd-{name}"));
            let (mesh, said) = load(&folder.join("pieces.usda")).unwrap();
            std::fs::remove_dir_all(folder).unwrap();
            // Its writer leaves quotes out.
            let is_named = mesh.materials[0].name == NAME.replace('"', "");
            let (mut has, said) = read(Source::Usd, (mesh, said));
            has[0] = is_named;
            (has, said)
        });
    (std::array::from_fn(|row| pictures[row] || colors[row]), said)
}

/// Two voxels, with the palette that the format has where a file has none.
fn vox_in() -> Column {
    let chunk = |name: &[u8; 4], content: &[u8], children: &[u8]| {
        let sizes = [content.len() as u32, children.len() as u32].map(u32::to_le_bytes).concat();
        [&name[..], &sizes, content, children].concat()
    };
    let size = chunk(b"SIZE", &[2u32, 1, 1].map(u32::to_le_bytes).concat(), &[]);
    let voxels = chunk(b"XYZI", &[&[2u8, 0, 0, 0][..], &[0, 0, 0, 9], &[1, 0, 0, 90]].concat(), &[]);
    let main = chunk(b"MAIN", &[], &[size, voxels].concat());
    let bytes = [&b"VOX "[..], &150u32.to_le_bytes(), &main].concat();
    read(Source::Vox, load_bytes(&bytes, "vox").unwrap())
}

fn glb_out(what: &Assembly) -> Column {
    let (folder, notes) = written(what, Format::Glb, "table-glb");
    let bytes = std::fs::read(folder.join("pieces.glb")).unwrap();
    let mut has = of_mesh(&load_bytes(&bytes, "glb").unwrap().0);
    has[16] = Target::ALL.into_iter().all(|target| (Format::Glb.space)(target).per_metre == 1.0);
    has[17] = Glb::parse(&bytes).document["nodes"][0]["name"] == "piece_000";
    std::fs::remove_dir_all(folder).unwrap();
    (has, notes)
}

fn obj_out(what: &Assembly) -> Column {
    let (folder, notes) = written(what, Format::Obj, "table-obj");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (obj, mtl) = (text("pieces.obj"), text("pieces.mtl"));
    let of_mesh = of_mesh(&load(&folder.join("pieces.obj")).unwrap().0);
    let has = |part: &str| mtl.contains(part) || obj.contains(part);
    let found = [
        has(&format!("newmtl {NAME}\n")),
        has("Kd 0."),
        has("map_Kd"),
        has("map_Bump"),
        has("Pr 0.15\nPm 0.9\n"),
        has("map_Pr"),
        has("map_AO"),
        has("Ke 1 0.5 0.25\n"),
        has("map_Ke"),
        has("d 0.4\n"),
        has("doubleSided"),
        has("map_Kd -clamp on"),
        of_mesh[12],
        of_mesh[13],
        of_mesh[14],
        of_mesh[15],
        has("unit"),
        has("o piece_000\n"),
    ];
    std::fs::remove_dir_all(folder).unwrap();
    (found, notes)
}

fn ply_out(what: &Assembly) -> Column {
    let (folder, notes) = written(what, Format::Ply, "table-ply");
    let path = folder.join("ply").join("piece_000.ply");
    let mut has = of_mesh(&load(&path).unwrap().0);
    has[17] = path.is_file();
    std::fs::remove_dir_all(folder).unwrap();
    (has, notes)
}

fn usd_out(what: &Assembly) -> Column {
    let (folder, notes) = written(what, Format::Usda, "table-usd");
    let text = std::fs::read_to_string(folder.join("pieces.usda")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let has = |part: &str| text.contains(part);
    let found = [
        has("displayName = \"Brick Wall\""),
        has("inputs:scale = (0.1, 0.2, 0.3, 0.4)"),
        has("inputs:diffuseColor.connect = </kintsugi/materials/Brick__Wall_/texture.outputs:rgb>"),
        has("inputs:normal.connect"),
        has("inputs:scale = (1, 0.15, 0.9, 1)"),
        has("inputs:roughness.connect"),
        has("inputs:occlusion.connect") && has("inputs:varname = \"st1\""),
        has("inputs:scale = (4.5, 2.25, 1.125, 1)"),
        has("inputs:emissiveColor.connect"),
        has("inputs:opacity.connect"),
        has("doubleSided"),
        has("inputs:wrapS = \"clamp\"") && has("inputs:wrapT = \"clamp\""),
        has("texCoord2f[] primvars:st = ["),
        has("texCoord2f[] primvars:st1 = ["),
        has("primvars:displayColor"),
        has("normal3f[] normals"),
        has("metersPerUnit = 1"),
        has("def Xform \"piece_000\""),
    ];
    (found, notes)
}

/// A piece of voxels: a whole box.
fn voxels() -> Assembly {
    let object = import("builtin:box", 4, &Progress::default()).unwrap();
    let piece = ExportPiece {
        id: 0,
        shape: object.shape,
        placing: Placing::UNMOVED,
        object: None,
        cell: None,
        parent: None,
        generation: 1,
        insides: Default::default(),
        called: None,
    };
    Assembly { pieces: vec![piece], ..Assembly::default() }
}

fn vox_out(what: &Assembly) -> Column {
    let (folder, notes) = written(what, Format::Vox, "table-vox");
    let bytes = std::fs::read(folder.join("pieces.vox")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let mut has = of_mesh(&load_bytes(&bytes, "vox").unwrap().0);
    has[17] = bytes.windows(9).any(|at| at == b"piece_000");
    (has, notes)
}

/// Grids have a number for each voxel: colours, coordinates and normals would be vectors.
fn vdb_out(what: &Assembly) -> Column {
    let (mut bytes, mut notes) = (Vec::new(), Vec::new());
    for format in [Format::Vdb, Format::VdbFog] {
        let (folder, said) = written(what, format, "table-vdb");
        bytes.extend(std::fs::read(folder.join(format.file)).unwrap());
        notes.extend(said);
        std::fs::remove_dir_all(folder).unwrap();
    }
    let has = |part: &str| bytes.windows(part.len()).any(|at| at == part.as_bytes());
    let (material, map, vectors) = (has("material"), has(".png"), has("Tree_vec"));
    let mut found = [false; ROWS.len()];
    for (row, (name, _)) in ROWS.into_iter().enumerate() {
        found[row] = match name {
            "base colour" | "vertex colours" | "normals" => vectors,
            "unit of length" => has("unit"),
            "name of each piece" => has("piece_000"),
            _ if name.contains("coordinates") => vectors,
            _ if name.contains("map") || name.contains("texture") => map,
            _ => material,
        };
    }
    (found, notes)
}

/// Lines of the table: what each row says, `yes`, `named` (left out, and a warning or note names it) or `no`.
fn lines(columns: &[Column]) -> Vec<String> {
    let cell = |row: usize, (has, said): &Column| {
        let is_named = |line: &String| {
            let line = line.to_lowercase();
            ROWS[row].1.iter().any(|word| line.contains(word))
        };
        match (has[row], said.iter().any(is_named)) {
            (true, _) => "yes",
            (false, true) => "named",
            (false, false) => "no",
        }
    };
    let line = |row: usize| {
        let cells: Vec<&str> = columns.iter().map(|column| cell(row, column)).collect();
        format!("| {} | {} |", ROWS[row].0, cells.join(" | "))
    };
    (0..ROWS.len()).map(line).collect()
}

#[test]
fn the_table_of_formats_says_what_they_do() {
    let (what, voxels) = (piece_of(&all()).0, voxels());
    let columns = [
        read(Source::Gltf, load_bytes(&all(), "glb").unwrap()),
        glb_out(&what),
        obj_in(),
        obj_out(&what),
        ply_in(),
        ply_out(&what),
        stl_in(),
        off_in(),
        vox_in(),
        vox_out(&voxels),
        fbx::column(),
        usd_in(&what),
        usd_out(&what),
        vdb_out(&voxels),
    ];
    let wanted = lines(&columns);
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/files.md")).unwrap();
    let head = "| | GLB in | GLB out | OBJ in | OBJ out | PLY in | PLY out | STL in | OFF in | VOX in | VOX out \
                | FBX in | USD in | USD out | VDB out |";
    let table = page.split_once(head).expect("docs/files.md has the table of formats").1;
    let found: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(found == wanted, "docs/files.md says\n{}\nand it is\n{}", found.join("\n"), wanted.join("\n"));
}

#[test]
fn a_package_has_the_layer_first_and_all_pictures_aligned() {
    let (what, _) = piece_of(&all());
    let (folder, notes) = written(&what, Format::Usdz, "usdz");
    let (beside, same) = written(&what, Format::Usdc, "usdz-beside");
    assert_eq!(notes, same);
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut all: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    };
    assert_eq!(names(&folder), ["pieces.usdz"], "nothing stays beside it");
    let bytes = std::fs::read(folder.join("pieces.usdz")).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
    let mut packed = Vec::new();
    for number in 0..archive.len() {
        let mut file = archive.by_index(number).unwrap();
        assert_eq!(
            (file.compression(), file.data_start().unwrap() % 64),
            (zip::CompressionMethod::Stored, 0)
        );
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut content).unwrap();
        let name = file.name().unwrap().into_owned();
        assert!(content == std::fs::read(beside.join(&name)).unwrap(), "{name}");
        packed.push(name);
    }
    assert_eq!(packed[0], "pieces.usdc");
    packed.sort();
    assert_eq!(packed, names(&beside));
    assert!(packed.len() >= 5, "{packed:?}");
    let (of_package, said) = load_bytes(&bytes, "usdz").unwrap();
    let (of_layer, same) = load(&beside.join("pieces.usdc")).unwrap();
    assert!(of_package == of_layer && said == same, "{said:?} {same:?}");
    assert!(of_layer.materials.iter().any(|material| material.maps.len() > 2));
    for folder in [folder, beside] {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// Text has decimals where a binary layer has single precision, so that numbers differ by its last digit.
fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(1.0)
}

/// Fails where a binary layer leaves out, changes or confuses what the text of the same pieces has, or where its bytes change.
#[test]
fn a_binary_layer_has_what_its_text_has_and_the_same_bytes_twice() {
    let (what, _) = piece_of(&all());
    let (folder, notes) = written(&what, Format::Usdc, "usdc");
    let (again, _) = written(&what, Format::Usdc, "usdc-again");
    let (beside, same) = written(&what, Format::Usda, "usdc-beside");
    assert_eq!(notes, same);
    let file = folder.join("pieces.usdc");
    let [bytes, twice] = [&file, &again.join("pieces.usdc")].map(|path| std::fs::read(path).unwrap());
    assert!(bytes.starts_with(b"PXR-USDC\0\x08") && bytes == twice);
    let ((binary, warnings), (text, said)) =
        (load(&file).unwrap(), load(&beside.join("pieces.usda")).unwrap());
    assert_eq!(warnings, said);
    assert!(binary.triangles == text.triangles && binary.parts == text.parts && binary.colors == text.colors);
    assert!(binary.triangle_material == text.triangle_material && binary.smoothing == text.smoothing);
    let floats = |mesh: &Mesh| {
        let of_corners = [&mesh.uvs, &mesh.uvs2].map(|uvs| uvs.as_flattened().to_vec()).concat();
        let of_points = [&mesh.positions, &mesh.normals].map(|all| all.as_flattened().to_vec()).concat();
        [of_points, of_corners].concat()
    };
    let (found, wanted) = (floats(&binary), floats(&text));
    assert!(found.len() == wanted.len() && found.len() >= 24, "{} {}", found.len(), wanted.len());
    assert!(found.iter().zip(&wanted).all(|(a, b)| is_close(f64::from(*a), f64::from(*b))));
    assert_eq!(binary.materials.len(), text.materials.len());
    for (found, wanted) in binary.materials.iter().zip(&text.materials) {
        assert!(found.name == wanted.name && found.maps == wanted.maps, "{}", wanted.name);
        assert_eq!(found.is_double_sided, wanted.is_double_sided, "{}", wanted.name);
        let numbers = |of: &crate::mesh::Material| {
            let cutoff = if let Alpha::Mask(cutoff) = of.alpha { cutoff } else { -1.0 };
            let single = [of.roughness, of.metallic, of.normal_scale, of.occlusion_strength, cutoff];
            [&single[..], &of.emissive, &of.factor.unwrap_or_default()].concat()
        };
        let (a, b) = (numbers(found), numbers(wanted));
        assert!(a.iter().zip(&b).all(|(a, b)| is_close(*a, *b)), "{}: {a:?} {b:?}", wanted.name);
    }
    assert!(binary.materials.iter().any(|material| material.maps.len() > 2));
    for folder in [folder, again, beside] {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// Another program's packing: what `EXT_meshopt_compression` holds comes back as it was.
#[test]
fn what_meshoptimizer_packs_is_read() {
    let plain = Glb::of_box(json!({}));
    let document = plain.document.clone();
    let (mesh, _) = load_bytes(&plain.bytes(), "glb").unwrap();
    // Enough vertices for several blocks, in the order of a strip.
    let side = 40u32;
    let place = |i: u32| [(i % side) as f32 * 0.25, (i / side) as f32, ((i * 7) % 11) as f32 * 0.5];
    let places: Vec<[f32; 3]> = (0..side * side).map(place).collect();
    let quads = (0..side - 1).flat_map(|y| (0..side - 1).map(move |x| y * side + x));
    let indices: Vec<u32> = quads.flat_map(|a| [a, a + 1, a + side, a + 1, a + side + 1, a + side]).collect();
    let unit = |i: u32| {
        let v = glam::Vec3::from(place(i)) - glam::Vec3::new(5.0, 20.0, 2.6);
        v.normalize().extend(1.0).to_array()
    };
    let units: Vec<[f32; 4]> = (0..side * side).map(unit).collect();
    for (mode, is_filtered) in [("TRIANGLES", false), ("INDICES", true)] {
        let mut glb = Glb { document: document.clone(), binary: Vec::new() };
        glb.document["accessors"] = json!([]);
        glb.document["bufferViews"] = json!([]);
        let mut pack = |stream: Vec<u8>, count: usize, stride: usize, mode: &str, filter: &str| {
            let at = glb.view(&stream);
            let packed = json!({"buffer": 0, "byteOffset": glb.document["bufferViews"][at]["byteOffset"],
                "byteLength": stream.len(), "byteStride": stride, "count": count, "mode": mode, "filter": filter});
            let view = &mut glb.document["bufferViews"][at];
            *view = json!({"buffer": 1, "byteLength": count * stride, "extensions": {"EXT_meshopt_compression": packed}});
            if mode == "ATTRIBUTES" {
                view["byteStride"] = stride.into();
            }
        };
        let count = places.len();
        if is_filtered {
            let short = meshopt::encode_filter_exp(&places, 20, meshopt::EncodeExpMode::Separate);
            let stream = meshopt::encode_vertex_buffer_level(&short, 2, Some(0)).unwrap();
            pack(stream, count, 12, "ATTRIBUTES", "EXPONENTIAL");
        } else {
            let stream = meshopt::encode_vertex_buffer_level(&places, 2, Some(0)).unwrap();
            pack(stream, count, 12, "ATTRIBUTES", "NONE");
        }
        let short = meshopt::encode_filter_oct::<i16>(&units, 14);
        let stream = meshopt::encode_vertex_buffer_level(&short, 2, Some(0)).unwrap();
        pack(stream, count, 8, "ATTRIBUTES", "OCTAHEDRAL");
        let stream = match mode {
            "TRIANGLES" => meshopt::encode_index_buffer(&indices, count).unwrap(),
            _ => meshopt::encode_index_sequence(&indices, count).unwrap(),
        };
        pack(stream, indices.len(), 4, mode, "NONE");
        glb.document["accessors"] = json!([
            {"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5122, "normalized": true, "count": count, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5125, "count": indices.len(), "type": "SCALAR"},
        ]);
        glb.document["meshes"] =
            json!([{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2}]}]);
        glb.document["extensionsRequired"] = json!(["EXT_meshopt_compression", "KHR_mesh_quantization"]);
        let (found, warnings) = load_bytes(&glb.bytes(), "glb").unwrap();
        assert_eq!(warnings, [], "{mode}");
        assert!(found.positions == places, "{mode}");
        // The packer may turn the corners of a triangle round.
        let turned = |t: &[u32; 3]| (0..3).map(|k| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]]).min().unwrap();
        let of = |all: &[[u32; 3]]| all.iter().map(turned).collect::<Vec<_>>();
        assert!(of(&found.triangles) == of(indices.as_chunks::<3>().0), "{mode}");
        let far = found
            .normals
            .iter()
            .zip(&units)
            .map(|(n, u)| (0..3).map(|k| (n[k] - u[k]).abs()).fold(0.0, f32::max));
        assert!(far.fold(0.0, f32::max) < 1e-3, "{mode}");
    }
    assert_eq!(mesh.triangles.len(), 12);
}

#[test]
fn an_assembly_of_a_mesh_keeps_its_second_coordinates() {
    let (mesh, _) = load_bytes(&all(), "glb").unwrap();
    let second = mesh.uvs2.clone();
    let what = assembly(mesh);
    let (folder, _) = written(&what, Format::Glb, "second");
    let (again, warnings) = load(&folder.join("pieces.glb")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(warnings, []);
    let sorted = |all: &[[f32; 2]]| {
        let mut bits: Vec<[i64; 2]> =
            all.iter().map(|uv| uv.map(|x| (f64::from(x) * 1e5).round() as i64)).collect();
        bits.sort_unstable();
        bits.dedup();
        bits
    };
    assert_eq!(sorted(&again.uvs2), sorted(&second));
    assert!(again.materials[0].maps[&MapUse::Occlusion].is_second);
    assert!(!again.materials[0].maps[&MapUse::Color].is_second);
}
