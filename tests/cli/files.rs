//! The files that the commands write, read back with other people's readers where there are any.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::support::{
    program::{folder, kintsugi, outcome, run, text},
    results::{checked_report, read_npz, read_report},
};

/// One break of the hollow cavity shape, shared by the tests here; `None` where there is no adapter.
fn broken() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let out = folder("files");
            let arguments = ["fracture", "builtin:cavity", "--level", "5", "--seeds", "30", "--rng", "5"];
            run(arguments.into_iter().chain(["--format", "glb,obj,ply,vox,npz", "--out", &text(&out)]))?;
            Some(out)
        })
        .as_deref()
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_is_said_to_be_so() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = folder("not-utf-8");
    let mesh = home.join(std::ffi::OsStr::from_bytes(b"a\xff.obj"));
    std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        .unwrap();
    for command in ["fracture", "simulate"] {
        let mut program = kintsugi([command]);
        program.arg(&mesh).args(["--compute", "cpu", "--out", &text(&home.join("out"))]);
        if command == "simulate" {
            program.args(["--seconds", "0.1"]);
        }
        let (code, _, err) = outcome(&program.output().unwrap());
        assert!(code == 2 && err.contains("not UTF-8") && err.contains("rename"), "{command}: {code}: {err}");
    }
    // A scene there finds a mesh beside it by no name.
    let place = home.join(std::ffi::OsStr::from_bytes(b"b\xff"));
    std::fs::create_dir_all(&place).unwrap();
    std::fs::copy(&mesh, place.join("a.obj")).unwrap();
    std::fs::write(place.join("s.toml"), "[[body]]\nfile = \"a.obj\"\nlevel = 3\n").unwrap();
    let mut program = kintsugi(["simulate"]);
    program.arg(place.join("s.toml")).args(["--seconds", "0.1", "--compute", "cpu"]);
    let (code, _, err) = outcome(&program.args(["--out", &text(&home.join("out"))]).output().unwrap());
    assert!(code == 2 && err.contains("not UTF-8"), "{code}: {err}");
}

/// Without a runtime folder of the user's the program took the temporary one, where anybody may lay a socket.
#[cfg(target_os = "linux")]
#[test]
fn a_socket_in_the_temporary_folder_is_nobody_s_display() {
    use std::time::{Duration, Instant};
    // The path of a socket is short.
    let home = std::env::temp_dir().join(format!("kintsugi-wl-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(home.join("wayland-0")).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut program = kintsugi(["builtin:box"]);
    program.current_dir(&home).env("TMPDIR", &home).env("WAYLAND_DISPLAY", "wayland-0");
    program.env("XDG_STATE_HOME", home.join("state")).env_remove("XDG_RUNTIME_DIR");
    program.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let (mut child, begun) = (program.spawn().unwrap(), Instant::now());
    let mut connected = false;
    while !connected && child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(5) {
        connected = socket.accept().is_ok();
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    child.wait().unwrap();
    assert!(!(connected || socket.accept().is_ok()), "the program trusts whoever made the socket");
    std::fs::remove_dir_all(home).unwrap();
}

#[test]
fn a_rough_break_keeps_all_checks_and_says_how_it_was_made() {
    let out = folder("rough");
    let arguments =
        ["fracture", "builtin:vase", "--level", "6", "--surface", "rough", "--transition-level", "3"];
    let more = ["--noise", "0.4,30,3", "--generations", "2", "--out", &text(&out)];
    if run(arguments.into_iter().chain(more)).is_none() {
        return;
    }
    let report = checked_report(&out);
    assert_eq!(report["parameters"]["surface"], "rough");
    let crack = &report["parameters"]["crack"];
    assert_eq!((&crack["transition_level"], &crack["noise"]["octaves"]), (&3.into(), &3.into()));
    assert!(report["counts"]["swallowed"].is_u64());
    let arrays = read_npz(&out.join("voxels.npz"));
    for normal in arrays["normal"].floats().chunks_exact(3) {
        let length = normal.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 1e-4);
    }
}

#[test]
fn a_dusty_break_keeps_all_checks_and_accounts_for_the_dust() {
    let out = folder("dusty");
    let arguments =
        ["fracture", "builtin:vase", "--level", "6", "--surface", "dusty", "--transition-level", "3"];
    let more = ["--dust", "2.5,0.25", "--generations", "3", "--out", &text(&out)];
    if run(arguments.into_iter().chain(more)).is_none() {
        return;
    }
    let report = checked_report(&out);
    assert_eq!(report["parameters"]["surface"], "dusty");
    let dusty = &report["parameters"]["crack"]["dusty"];
    assert_eq!((&dusty["width"], &dusty["irregularity"]), (&2.5.into(), &0.25.into()));
    let masses = report["pieces"].as_array().unwrap().iter().map(|piece| piece["mass"].as_f64().unwrap());
    let (sum, dust) = (masses.sum::<f64>(), report["dust_mass"].as_f64().unwrap());
    let source = report["source_mass"].as_f64().unwrap();
    println!("{sum} in pieces, {dust} in dust, {source} before; {} voxels", report["dust_voxels"]);
    assert!(((sum + dust) / source - 1.0).abs() < 1e-6 && dust > 0.0);
    assert!(report["dust_voxels"].as_u64().unwrap() > 0);
    assert_eq!(report["dust_voxels"], report["counts"]["dust_voxels"]);
}

fn pieces(folder: &Path) -> usize {
    read_report(folder)["pieces"].as_array().unwrap().len()
}

#[test]
fn arrays_have_the_documented_names_types_and_shapes() {
    let Some(out) = broken() else { return };
    let arrays = read_npz(&out.join("voxels.npz"));
    let counts = &read_report(out)["counts"];
    let count = |name: &str| counts[name].as_u64().unwrap() as usize;
    let (n, p) = (count("fbs"), count("pieces"));
    let shape = |name: &str| (arrays[name].descr.as_str(), arrays[name].shape.clone());
    assert_eq!(shape("source"), ("<i4", vec![count("source_leaves"), 3]));
    assert_eq!(shape("coords"), ("<i4", vec![n, 3]));
    assert_eq!(shape("piece"), ("<i4", vec![n]));
    assert_eq!(shape("cell"), ("<i4", vec![n]));
    assert_eq!(shape("crack"), ("|u1", vec![n]));
    assert_eq!(shape("normal"), ("<f4", vec![n, 3]));
    assert_eq!(shape("seeds"), ("<f8", vec![30, 3]));
    assert_eq!(shape("seed_object"), ("<i4", vec![30]));
    assert_eq!(shape("grid_to_mesh"), ("<f8", vec![4, 4]));
    assert_eq!(arrays["source_inside"].shape[1], 4);
    assert_eq!(arrays["piece_inside"].shape[1], 5);
    assert_eq!(
        arrays.len(),
        22,
        "those that masses and cracks are recomputed from are asked by examples/check_voxels.py"
    );

    let source: BTreeSet<[i32; 3]> = arrays["source"].rows().into_iter().collect();
    let coords = arrays["coords"].rows::<3>();
    for (at, crack) in coords.iter().zip(&arrays["crack"].bytes) {
        assert_eq!(*crack == 1, !source.contains(at), "{at:?}");
    }
    let unique: BTreeSet<[i32; 3]> = coords.iter().copied().collect();
    assert_eq!(unique.len(), count("source_leaves") + count("crack_voxels"));
    for normal in arrays["normal"].floats().chunks_exact(3) {
        let length = normal.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 1e-5, "{normal:?}");
    }
    let ids: BTreeSet<i32> = arrays["piece"].ints().into_iter().collect();
    assert_eq!(ids, (0..p as i32).collect());

    // Voxels without copies are those before; each internal one lies in one piece.
    let volume = |rows: Vec<i32>, stride: usize| -> i64 {
        rows.chunks_exact(stride).map(|r| i64::from(r[3]).pow(3)).sum()
    };
    let before = source.len() as i64 + volume(arrays["source_inside"].ints(), 4);
    let after = unique.len() as i64 + volume(arrays["piece_inside"].ints(), 5);
    assert_eq!(before, after);

    let mut sizes = vec![0i64; p];
    arrays["piece"].ints().iter().for_each(|id| sizes[*id as usize] += 1);
    for row in arrays["piece_inside"].rows::<5>() {
        sizes[row[4] as usize] += i64::from(row[3]).pow(3);
    }
    let report = read_report(out);
    for (piece, size) in report["pieces"].as_array().unwrap().iter().zip(sizes) {
        assert_eq!(piece["voxels"].as_i64(), Some(size));
    }
}

/// Every edge is used as often one way as the other.
fn is_closed(triangles: impl Iterator<Item = [usize; 3]>) -> bool {
    let mut edges: BTreeMap<(usize, usize), i32> = BTreeMap::new();
    for t in triangles {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    !edges.is_empty() && edges.values().all(|sum| *sum == 0)
}

fn volume(positions: &[[f32; 3]], triangles: impl Iterator<Item = [usize; 3]>) -> f64 {
    let p = |i: usize| glam::DVec3::from_array(positions[i].map(f64::from));
    triangles.map(|[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
}

fn triples(indices: &[u32]) -> impl Iterator<Item = [usize; 3]> + Clone + '_ {
    indices.chunks_exact(3).map(|t| [t[0] as usize, t[1] as usize, t[2] as usize])
}

#[test]
fn glb_has_a_closed_named_outward_mesh_a_piece() {
    let Some(out) = broken() else { return };
    let bytes = std::fs::read(out.join("pieces.glb")).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
    let json: serde_json::Value = serde_json::from_slice(&bytes[20..20 + word(12)]).unwrap();
    let binary = &bytes[28 + word(12)..];
    assert_eq!(word(20 + word(12)), binary.len());
    let accessor = |index: &serde_json::Value| {
        let accessor = &json["accessors"][index.as_u64().unwrap() as usize];
        let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let at = view["byteOffset"].as_u64().unwrap() as usize;
        let data = &binary[at..at + view["byteLength"].as_u64().unwrap() as usize];
        (accessor["count"].as_u64().unwrap() as usize, data)
    };
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), pieces(out));
    let mut total = 0.0;
    for (i, node) in nodes.iter().enumerate() {
        assert_eq!(node["name"], format!("piece_{i:03}"));
        let primitives = &json["meshes"][node["mesh"].as_u64().unwrap() as usize]["primitives"];
        // Inside and outside share no vertex; points at the same place are one.
        let (mut positions, mut known) = (Vec::new(), std::collections::HashMap::new());
        let (mut indices, mut materials) = (Vec::new(), Vec::new());
        for primitive in primitives.as_array().unwrap() {
            let attributes = &primitive["attributes"];
            let (count, data) = accessor(&attributes["POSITION"]);
            let floats: Vec<f32> =
                data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
            let points: Vec<[f32; 3]> = floats.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
            assert_eq!(points.len(), count);
            for name in ["NORMAL", "TEXCOORD_0", "_PIECE", "_CELL", "_CRACK_DISTANCE"] {
                assert_eq!(accessor(&attributes[name]).0, count, "{name}");
            }
            let (colors, data) = accessor(&attributes["COLOR_0"]);
            assert_eq!((colors, data.len()), (count, count * 8));
            let (_, data) = accessor(&primitive["indices"]);
            for index in data.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())) {
                let point = points[index as usize];
                indices.push(*known.entry(point.map(f32::to_bits)).or_insert_with(|| {
                    positions.push(point);
                    positions.len() as u32 - 1
                }));
            }
            let material = primitive["material"].as_u64().unwrap() as usize;
            materials.push(json["materials"][material]["name"].as_str().unwrap());
        }
        assert_eq!(materials.last(), Some(&"inside"), "{materials:?}");
        assert!(is_closed(triples(&indices)), "{} is open", node["name"]);
        total += volume(&positions, triples(&indices));
    }
    let mass = read_report(out)["source_mass"].as_f64().unwrap();
    println!("volume of the meshes {total}, of the voxels {mass}");
    assert!((total / mass - 1.0).abs() < 0.002, "{total} of {mass}");
    let meshes = &read_report(out)["meshes"];
    assert_eq!((&meshes["kind"], &meshes["manifold"]), (&"original".into(), &pieces(out).into()), "{meshes}");
    assert_eq!((&meshes["inward_triangles"], &meshes["crowded_edges"]), (&0.into(), &0.into()), "{meshes}");
    // Our own reader, which is written to distrust, agrees.
    let (mesh, _) = kintsugi::mesh::load(&out.join("pieces.glb")).unwrap();
    assert!(!mesh.triangles.is_empty());
}

#[test]
fn obj_has_an_object_a_piece() {
    let Some(out) = broken() else { return };
    let text = std::fs::read_to_string(out.join("pieces.obj")).unwrap();
    let objects: Vec<&str> = text.split("\no ").skip(1).collect();
    assert_eq!(objects.len(), pieces(out));
    for (i, object) in objects.iter().enumerate() {
        assert!(object.starts_with(&format!("piece_{i:03}\n")));
        let points = |line: &str| -> Vec<usize> {
            let corners = line.split_whitespace().skip(1).map(|corner| corner.split('/').next().unwrap());
            corners.map(|v| v.parse().unwrap()).collect()
        };
        let faces: Vec<Vec<usize>> = object.lines().filter(|l| l.starts_with("f ")).map(points).collect();
        assert!(is_closed(faces.iter().map(|f| [f[0], f[1], f[2]])), "piece {i} is open");
        assert!(object.contains("usemtl inside") && object.contains("\nvn ") && object.contains("\nvt "));
    }
    let options = tobj::LoadOptions { triangulate: true, single_index: true, ..Default::default() };
    let (models, materials) = tobj::load_obj(out.join("pieces.obj"), &options).unwrap();
    let names: Vec<String> = materials.unwrap().into_iter().map(|material| material.name).collect();
    assert!(names.iter().any(|name| name == "inside"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("outside")), "{names:?}");
    assert!(models.iter().all(|model| !model.mesh.normals.is_empty() && !model.mesh.texcoords.is_empty()));
}

#[test]
fn ply_has_a_file_a_piece() {
    let Some(out) = broken() else { return };
    for i in 0..pieces(out) {
        let path = out.join(format!("ply/piece_{i:03}.ply"));
        let (mesh, warnings) = kintsugi::mesh::load(&path).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(mesh.colors.len(), mesh.positions.len());
        // The reader splits vertices where texture coordinates differ.
        let mut first = std::collections::HashMap::new();
        let mut place =
            |v: u32| *first.entry(mesh.positions[v as usize].map(f32::to_bits)).or_insert(v as usize);
        let triangles: Vec<_> = mesh.triangles.iter().map(|t| t.map(&mut place)).collect();
        assert!(is_closed(triangles.into_iter()), "{path:?} is open");
    }
}

#[test]
fn vox_has_a_model_a_piece_with_its_voxels() {
    let Some(out) = broken() else { return };
    let bytes = std::fs::read(out.join("pieces.vox")).unwrap();
    let data = dot_vox::load_bytes(&bytes).unwrap();
    let report = read_report(out);
    let pieces = report["pieces"].as_array().unwrap();
    assert_eq!(data.models.len(), pieces.len());
    for (model, piece) in data.models.iter().zip(pieces) {
        assert_eq!(Some(model.voxels.len() as u64), piece["voxels"].as_u64());
    }
    assert_eq!(data.palette.len(), 256);
}

/// A model whose voxels are fewer than the level has room for: they come back one by one, each in one piece, in the colours of
/// the file and one for the inside.
#[test]
fn the_voxels_of_a_model_are_those_of_its_pieces() {
    use dot_vox::{Color, DotVoxData, Model, Size, Voxel};
    let home = folder("own-voxels");
    let colors = [[200, 40, 30], [240, 220, 180], [60, 90, 160], [90, 200, 80]];
    let color = |[r, g, b]: [u8; 3]| Color { r, g, b, a: 255 };
    let mut palette: Vec<Color> = colors.map(color).to_vec();
    palette.resize(256, color([0; 3]));
    let of = |x: u8| (0..12).flat_map(move |y: u8| (0..9).map(move |z: u8| [x, y, z]));
    let cells: BTreeSet<[u8; 3]> = (0..20).flat_map(of).collect();
    let voxel = |[x, y, z]: &[u8; 3]| Voxel { x: *x, y: *y, z: *z, i: (x / 4 + y / 4 + z / 3) % 4 };
    let data = DotVoxData {
        version: 150,
        index_map: Vec::new(),
        models: vec![Model { size: Size { x: 20, y: 12, z: 9 }, voxels: cells.iter().map(voxel).collect() }],
        palette,
        materials: Vec::new(),
        scenes: Vec::new(),
        layers: Vec::new(),
    };
    let file = home.join("model.vox");
    data.write_vox(&mut std::fs::File::create(&file).unwrap()).unwrap();
    for level in [None, Some("6")] {
        let out = home.join(level.unwrap_or("own"));
        let mut arguments: Vec<&str> = vec!["fracture"];
        let (file, place) = (text(&file), text(&out));
        arguments.extend([file.as_str(), "--seeds", "8", "--format", "vox", "--out", place.as_str()]);
        arguments.extend(level.into_iter().flat_map(|level| ["--level", level]));
        let Some(_) = run(arguments) else { return };
        assert_eq!(read_report(&out)["parameters"]["level"], if level.is_some() { 6 } else { 5 });
        let written = dot_vox::load_bytes(&std::fs::read(out.join("pieces.vox")).unwrap()).unwrap();
        let mut found: Vec<[i32; 3]> = Vec::new();
        let mut used = BTreeSet::new();
        for scene in &written.scenes {
            let dot_vox::SceneNode::Transform { frames, child, .. } = scene else { continue };
            let Some(dot_vox::SceneNode::Shape { models, .. }) = written.scenes.get(*child as usize) else {
                continue;
            };
            let at: Vec<i32> =
                frames[0].attributes["_t"].split(' ').map(|number| number.parse().unwrap()).collect();
            let model = &written.models[models[0].model_id as usize];
            let size = [model.size.x, model.size.y, model.size.z];
            for v in &model.voxels {
                let own = [v.x, v.y, v.z];
                found.push([0, 1, 2].map(|k| at[k] - (size[k] / 2) as i32 + i32::from(own[k])));
                let c = written.palette[usize::from(v.i)];
                used.insert([c.r, c.g, c.b]);
            }
        }
        let low = [0, 1, 2].map(|k| found.iter().map(|at| at[k]).min().unwrap());
        let mut found: Vec<[u8; 3]> =
            found.iter().map(|at| [0, 1, 2].map(|k| u8::try_from(at[k] - low[k]).unwrap())).collect();
        found.sort_unstable();
        assert_eq!(found, cells.iter().copied().collect::<Vec<_>>(), "each voxel once, at level {level:?}");
        assert!(colors.iter().all(|color| used.contains(color)) && used.len() <= 5, "{used:?}");
    }
}

#[test]
fn a_simulation_is_logged_and_repeats() {
    let home = folder("simulate");
    let scene = home.join("drop.toml");
    std::fs::write(
        &scene,
        "[[body]]\nfile = \"builtin:box\"\nlevel = 4\nsize = 0.5\nposition = [0.0, 1.0, 0.0]\n\
         [[event]]\nkind = \"impact\"\ntime = 0.1\npoint = [0.0, 1.2, 0.0]\ndirection = [0.0, -1.0, 0.0]\n",
    )
    .unwrap();
    let simulate = |out: &Path| run(["simulate", &text(&scene), "--seconds", "0.3", "--out", &text(out)]);
    let (a, b) = (home.join("a"), home.join("b"));
    if simulate(&a).is_none() {
        return;
    }
    simulate(&b);
    let arrays = read_npz(&a.join("trajectory.npz"));
    let bodies = arrays["mass"].shape[0];
    assert!(bodies > 5, "{bodies} bodies");
    assert_eq!(arrays["time"].shape, [31]);
    assert_eq!(arrays["position"].shape, [31, bodies, 3]);
    assert_eq!(arrays["rotation"].shape, [31, bodies, 4]);
    assert_eq!(arrays["linear_velocity"].shape, [31, bodies, 3]);
    assert_eq!(arrays["angular_velocity"].shape, [31, bodies, 3]);
    let (mass, born) = (arrays["mass"].floats(), arrays["born"].floats());
    let died = arrays["died"].floats();
    let pieces: f64 = mass[1..].iter().sum();
    assert!((pieces / mass[0] - 1.0).abs() < 1e-6, "{pieces} of {}", mass[0]);
    assert_eq!(born[0], 0.0);
    assert!(died[0].is_finite() && born[1..].iter().all(|t| *t == died[0]), "{died:?} {born:?}");
    // Free fall of the whole body: v after n steps is g n dt.
    let velocity = arrays["linear_velocity"].floats();
    let fifth = velocity[5 * bodies * 3 + 1];
    assert!((fifth + 9.81 * 0.05).abs() < 1e-4, "{fifth}");

    let csv = std::fs::read_to_string(a.join("steps.csv")).unwrap();
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for wanted in ["time", "bodies", "awake", "pairs", "contact_points", "kinetic_energy", "momentum_y"] {
        assert!(columns.contains(&wanted), "{wanted} is missing");
    }
    assert_eq!(csv.lines().count(), 31);
    assert!(csv.lines().all(|line| line.split(',').count() == columns.len()));
    let bytes = |out: &Path| std::fs::read(out.join("trajectory.npz")).unwrap();
    assert!(bytes(&a) == bytes(&b), "the same scene moved otherwise");
}

#[test]
fn references_leave_the_folder_of_a_mesh_only_where_the_user_says_so() {
    let outer = folder("outside-references");
    let inner = outer.join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(outer.join("red.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let mesh = inner.join("a.obj");
    std::fs::write(&mesh, format!("mtllib ../red.mtl\n{tetrahedron}")).unwrap();
    for (allowed, more) in [(false, None), (true, Some("--outside-references"))] {
        let out = inner.join("out");
        let arguments = [
            "fracture",
            &text(&mesh),
            "--level",
            "4",
            "--seeds",
            "3",
            "--compute",
            "cpu",
            "--out",
            &text(&out),
        ]
        .map(str::to_owned);
        let output = kintsugi(arguments.into_iter().chain(more.map(str::to_owned))).output().unwrap();
        let (code, _, err) = outcome(&output);
        assert_eq!(code, 0, "{err}");
        let warnings = read_report(&out)["input"]["warnings"].to_string();
        assert_eq!(warnings.contains("outside the folder"), !allowed, "{warnings}");
    }
}

/// A small file that would have filled any memory.
#[test]
fn thirty_thousand_bodies_in_one_place_are_refused() {
    let folder = folder("crowd");
    let scene = folder.join("crowd.toml");
    let body = "[[body]]\nfile = \"builtin:box\"\nlevel = 3\n";
    std::fs::write(&scene, body.repeat(30_000)).unwrap();
    let start = std::time::Instant::now();
    let arguments = [
        "simulate",
        &text(&scene),
        "--seconds",
        "1",
        "--compute",
        "cpu",
        "--out",
        &text(&folder.join("out")),
    ]
    .map(str::to_owned);
    let output = kintsugi(arguments).output().unwrap();
    let (code, _, err) = outcome(&output);
    println!("refused after {:.1?}: {err}", start.elapsed());
    assert!(code == 2 && err.contains("move them apart"), "{code}: {err}");
}
