//! Small files that would fill any memory or take hours: each ends within two seconds and a gigabyte of address space.

#![cfg(target_os = "linux")]

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::BufWriter,
    path::Path,
    process::Command,
    time::Instant,
};

use super::support::program::{folder, kintsugi, outcome, run, text};

/// Address space of the program, KiB.
const SPACE: u32 = 1 << 20;
/// What a file may take, s, on a machine that takes [`REFERENCE`] for the reference.
const LIMIT: f64 = 2.0;
/// What `fracture builtin:statue --level 7` takes on two cores of 2.5 GHz, s.
const REFERENCE: f64 = 0.5;

/// Parts of a file.
const MANY: usize = 20_000;

/// The program with little address space.
fn confined(arguments: &[&str]) -> Command {
    let program = kintsugi(arguments);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {SPACE}; exec \"$0\" \"$@\"")]);
    command.arg(program.get_program()).args(program.get_args());
    // Each thread's heap and stack is address space, too.
    command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn gltf(nodes: &str, rest: &str) -> String {
    format!(r#"{{"asset":{{"version":"2.0"}},"nodes":[{nodes}]{rest}}}"#)
}

fn repeated(one: &str, count: usize) -> String {
    vec![one; count].join(",")
}

/// 20,000 nodes name one mesh of 20,000 parts without corners: 32 GB of parts.
fn parts(file: &Path) {
    let rest = format!(r#","meshes":[{{"primitives":[{}]}}]"#, repeated("{}", 20_000));
    fs::write(file, gltf(&repeated(r#"{"mesh":0}"#, 20_000), &rest)).unwrap();
}

/// Six megabytes of `{}`, each of which becomes a node.
fn objects(file: &Path) {
    fs::write(file, gltf(&repeated("{}", 2_200_000), "")).unwrap();
}

/// A glTF file of nodes that name the mesh of these parts, over the corners of a tetrahedron.
fn tetrahedra(nodes: &str, materials: &str, parts: &str) -> String {
    // The tetrahedron, in base64.
    let data = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAIBAAEDAQIDAAMC";
    let rest = format!(
        r#","materials":[{materials}],"meshes":[{{"primitives":[{parts}]}}],
        "buffers":[{{"byteLength":60,"uri":"data:application/octet-stream;base64,{data}"}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5121,"count":12,"type":"SCALAR"}}]"#
    );
    gltf(nodes, &rest)
}

/// 20,000 parts with a material each.
fn materials(file: &Path) {
    let part = |k: usize| format!(r#"{{"attributes":{{"POSITION":0}},"indices":1,"material":{k}}}"#);
    let parts: Vec<String> = (0..MANY).map(part).collect();
    fs::write(file, tetrahedra(r#"{"mesh":0}"#, &repeated("{}", MANY), &parts.join(","))).unwrap();
}

/// 20,000 nodes name one tetrahedron: each part touches each.
fn coincident(file: &Path) {
    let part = r#"{"attributes":{"POSITION":0},"indices":1}"#;
    fs::write(file, tetrahedra(&repeated(r#"{"mesh":0}"#, MANY), "{}", part)).unwrap();
}

/// The same as objects of an OBJ file, as meshes of a layer of USD, and as models of an FBX file.
fn named(file: &Path) {
    let mut text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n".to_owned();
    for k in 0..MANY {
        writeln!(text, "o p{k}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3").unwrap();
    }
    fs::write(file, text).unwrap();
}

fn meshes(file: &Path) {
    let mut text = "#usda 1.0\n(metersPerUnit = 1)\n".to_owned();
    for k in 0..MANY {
        writeln!(
            text,
            "def Mesh \"m{k}\" {{ int[] faceVertexCounts = [3,3,3,3]\nint[] faceVertexIndices = \
             [0,2,1,0,1,3,1,2,3,0,3,2]\npoint3f[] points = [(0,0,0),(1,0,0),(0,1,0),(0,0,1)] }}"
        )
        .unwrap();
    }
    fs::write(file, text).unwrap();
}

fn models(file: &Path) {
    let mut text = "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n    FBXHeaderVersion: 1003\n    FBXVersion: 7400\n}\n\
        Objects:  {\n    Geometry: 10, \"Geometry::a\", \"Mesh\" {\n        Vertices: *12 {\n            a: \
        0,0,0,1,0,0,0,1,0,0,0,1\n        }\n        PolygonVertexIndex: *12 {\n            a: \
        0,2,-2,0,1,-4,1,2,-4,0,3,-3\n        }\n    }\n"
        .to_owned();
    for k in 100..100 + MANY {
        writeln!(text, "    Model: {k}, \"Model::m{k}\", \"Mesh\" {{\n        Version: 232\n    }}").unwrap();
    }
    text += "}\nConnections:  {\n";
    for k in 100..100 + MANY {
        writeln!(text, "    C: \"OO\",{k},0\n    C: \"OO\",10,{k}").unwrap();
    }
    fs::write(file, text + "}\n").unwrap();
}

/// Four thousand million faces, the first of as many corners.
fn counts(file: &Path) {
    let mut bytes =
        b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nelement face 4000000000\nproperty list uint int vertex_indices\nend_header\n"
            .to_vec();
    bytes.extend([0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].into_iter().flat_map(f32::to_le_bytes));
    bytes.extend(4_000_000_000u32.to_le_bytes());
    bytes.extend([0; 64]);
    fs::write(file, bytes).unwrap();
}

/// A packed layer whose 2^40 words take 2^40 bytes.
fn words(file: &Path) {
    let long = |all: &[u64]| -> Vec<u8> { all.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let section = [long(&[1 << 40, 1 << 40, 16]), vec![0; 16]].concat();
    let (start, size) = (88, section.len() as u64);
    let mut name = b"TOKENS".to_vec();
    name.resize(16, 0);
    let head = [&b"PXR-USDC\0\x08\0\0\0\0\0\0"[..], &long(&[start + size]), &[0; 64]].concat();
    let list = [long(&[1]), name, long(&[start, size])].concat();
    fs::write(file, [head, section, list].concat()).unwrap();
}

/// An archive whose layer has four thousand million bytes.
fn archive(file: &Path) {
    let size: Vec<u8> = [0u8, 0xff, 0xff, 0xff].repeat(2);
    let common: Vec<u8> = [&[20u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &size, &[6, 0]].concat();
    let layer = [&b"PK\x03\x04"[..], &common, &[0, 0], b"a.usda#usda 1.0\n"].concat();
    let entry = [&b"PK\x01\x02\x14\0"[..], &common, &[0; 16], b"a.usda"].concat();
    let sizes = [entry.len() as u32, layer.len() as u32].map(u32::to_le_bytes).concat();
    let end = [&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &sizes, &[0, 0]].concat();
    fs::write(file, [layer, entry, end].concat()).unwrap();
}

/// A part packed by Draco that says of itself that it has four thousand million faces and points.
fn packed(file: &Path) {
    // "DRACO", version 2.2, a mesh by edgebreaker, and counts of seven bits a byte, in base64.
    let data = "RFJBQ08CAgEBAAD/////D/////8P/////w//////DwAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
    let rest = format!(
        r#","extensionsUsed":["KHR_draco_mesh_compression"],"extensionsRequired":["KHR_draco_mesh_compression"],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"extensions":
        {{"KHR_draco_mesh_compression":{{"bufferView":0,"attributes":{{"POSITION":0}}}}}}}}]}}],
        "buffers":[{{"byteLength":52,"uri":"data:application/octet-stream;base64,{data}"}}],
        "bufferViews":[{{"buffer":0,"byteLength":52}}],
        "accessors":[{{"componentType":5126,"count":4294967295,"type":"VEC3"}},
                     {{"componentType":5125,"count":4294967295,"type":"SCALAR"}}]"#
    );
    fs::write(file, gltf(r#"{"mesh":0}"#, &rest)).unwrap();
}

/// 3,000 boxes in one place: 4.5 million pairs.
fn bodies(file: &Path) {
    fs::write(file, "[[body]]\nfile = \"builtin:box\"\nlevel = 2\n".repeat(3000)).unwrap();
}

/// One checkerboard of 64 voxels a side, placed 639 times: a thousand million triangles.
fn faces(file: &Path) {
    let chunk = |name: &[u8; 4], body: &[u8]| -> Vec<u8> {
        [&name[..], &(body.len() as u32).to_le_bytes(), &[0; 4], body].concat()
    };
    let words = |all: &[u32]| -> Vec<u8> { all.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let mut voxels = Vec::new();
    for [x, y, z] in (0..1u32 << 18).map(|k| [k & 63, k >> 6 & 63, k >> 12]) {
        if (x + y + z).is_multiple_of(2) {
            voxels.extend([x as u8, y as u8, z as u8, 1]);
        }
    }
    let times = 639u32;
    let nodes: Vec<u32> = (0..times).map(|k| 2 + 2 * k).collect();
    let mut body = chunk(b"SIZE", &words(&[64; 3]));
    body.extend(chunk(b"XYZI", &[words(&[voxels.len() as u32 / 4]), voxels].concat()));
    body.extend(chunk(b"nTRN", &words(&[0, 0, 1, u32::MAX, u32::MAX, 1, 0])));
    body.extend(chunk(b"nGRP", &words(&[&[1, 0, times][..], &nodes].concat())));
    for node in nodes {
        let at = format!("{} {} {}", 65 * (node % 18), 65 * (node / 18 % 9), 65 * (node / 162));
        let head = words(&[node, 0, node + 1, u32::MAX, u32::MAX, 1, 1, 2]);
        let frame = [&b"_t"[..], &words(&[at.len() as u32]), at.as_bytes()].concat();
        body.extend(chunk(b"nTRN", &[head, frame].concat()));
        body.extend(chunk(b"nSHP", &words(&[node + 1, 0, 1, 0, 0])));
    }
    let main = [&b"MAIN"[..], &words(&[0, body.len() as u32]), &body].concat();
    fs::write(file, [&b"VOX "[..], &words(&[150]), &main].concat()).unwrap();
}

/// 20,000 materials name one picture of 134 million pixels whose end is missing.
fn textures(file: &Path) {
    let side = 11_584;
    let picture = file.with_file_name("short.png");
    {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(&picture).unwrap()), side, side);
        encoder.set_color(png::ColorType::Rgba);
        let mut writer = encoder.write_header().unwrap();
        let mut rows = writer.stream_writer().unwrap();
        let row = vec![0; 4 * side as usize];
        (0..side).for_each(|_| std::io::Write::write_all(&mut rows, &row).unwrap());
        rows.finish().unwrap();
    }
    let whole = fs::read(&picture).unwrap();
    fs::write(&picture, &whole[..whole.len() * 9 / 10]).unwrap();
    let (mut library, mut mesh) =
        (String::new(), "mtllib many.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n".to_owned());
    for k in 0..20_000 {
        writeln!(library, "newmtl m{k}\nmap_Kd short.png").unwrap();
        writeln!(mesh, "usemtl m{k}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3").unwrap();
    }
    fs::write(file.with_file_name("many.mtl"), library).unwrap();
    fs::write(file, mesh).unwrap();
}

/// A scene of 4,000 named bodies and 60,000 pairs of the last two.
fn pairs(file: &Path) {
    let mut scene = String::new();
    for i in 0..4000 {
        let place = 2 * i;
        writeln!(
            scene,
            "[[body]]\nfile = \"builtin:box\"\nlevel = 2\nname = \"b{i}\"\nposition = [{place}, 5, 0]"
        )
        .unwrap();
    }
    scene += &"[[pair]]\nbodies = [\"b3999\", \"b3998\"]\nphysics_level = 2\n".repeat(60_000);
    fs::write(file, scene).unwrap();
}

/// Writes a file of one kind.
type Make = fn(&Path);

#[test]
fn small_hostile_files_end_within_two_seconds_and_a_gigabyte() {
    let home = folder("hostile");
    let reference = seconds(|| {
        let out = text(&home.join("reference"));
        run(["fracture", "builtin:statue", "--level", "7", "--compute", "cpu", "--out", &out]).unwrap();
    });
    let limit = LIMIT * (reference / REFERENCE).max(1.0);
    println!("the reference took {reference:.2} s: a file may take {limit:.2} s");
    let made: [(&str, Make); 15] = [
        ("parts.gltf", parts),
        ("objects.gltf", objects),
        ("materials.gltf", materials),
        ("faces.vox", faces),
        ("textures.obj", textures),
        ("pairs.toml", pairs),
        ("coincident.gltf", coincident),
        ("objects.obj", named),
        ("meshes.usda", meshes),
        ("models.fbx", models),
        ("faces.ply", counts),
        ("tokens.usdc", words),
        ("layer.usdz", archive),
        ("packed.gltf", packed),
        ("bodies.toml", bodies),
    ];
    for (name, make) in made {
        let file = home.join(name);
        make(&file);
        let (file, out) = (text(&file), text(&home.join(format!("out-{name}"))));
        let fracture = ["fracture", &file, "--level", "3", "--compute", "cpu", "--out", &out];
        let step = ["--seconds", "0.01", "--volume-every", "0"];
        let simulate = [&["simulate", &file, "--compute", "cpu", "--out", &out][..], &step].concat();
        let arguments = if name.ends_with(".toml") { &simulate[..] } else { &fracture[..] };
        let start = Instant::now();
        let (code, _, err) = outcome(&confined(arguments).output().unwrap());
        let took = start.elapsed().as_secs_f64();
        let last = err.lines().last().unwrap_or("");
        println!("{name}: {took:.2} s, code {code}: {last}");
        // Many parts in one place are an object like any other.
        let is_read = ["coincident.gltf", "objects.obj", "meshes.usda", "models.fbx"].contains(&name);
        assert!(code == 0 || (code == 2 && !is_read), "{name} ended with {code}: {err}");
        assert!(took < limit, "{name} took {took:.2} s: {err}");
    }
}
