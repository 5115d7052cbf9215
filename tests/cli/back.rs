//! Pieces that were written are brought back: whatever the format, they are closed and break again.

use std::{collections::BTreeSet, fmt::Write as _, path::Path};

use kintsugi::mesh::{MapUse, Objects};

use super::support::{
    program::{folder, run, text},
    results::{checked_report, read_report},
};

/// A textured box of 1 by 1 by 1: every side has four quads and corners of its own, with coordinates from 0 to 1.
fn textured_box(home: &Path) -> String {
    image::RgbImage::from_fn(8, 8, |x, y| image::Rgb([if (x + y) % 2 == 0 { 230 } else { 40 }, 90, 60]))
        .save(home.join("skin.png"))
        .unwrap();
    std::fs::write(home.join("box.mtl"), "newmtl Skin\nKd 1 1 1\nmap_Kd skin.png\n").unwrap();
    let (mut out, mut count) = ("mtllib box.mtl\nusemtl Skin\n".to_owned(), 0);
    for (axis, far) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
        for v in [0.0, 0.5, 1.0] {
            for u in [0.0, 0.5, 1.0] {
                let mut p = [0.0; 3];
                (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (f64::from(u8::from(far)), u, v);
                writeln!(out, "v {} {} {}\nvt {u} {v}", p[0], p[1], p[2]).unwrap();
            }
        }
        for (u, v) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let first = count + 3 * v + u + 1;
            let mut quad = [first, first + 1, first + 4, first + 3];
            if !far {
                quad.reverse();
            }
            let corners = quad.map(|i| format!("{i}/{i}"));
            writeln!(out, "f {}", corners.join(" ")).unwrap();
        }
        count += 9;
    }
    let file = home.join("box.obj");
    std::fs::write(&file, out).unwrap();
    text(&file)
}

#[test]
fn pieces_of_every_format_come_back_closed_and_break_again() {
    for surface in ["planar", "rough"] {
        let home = folder(&format!("back-{surface}"));
        let (mesh, out) = (textured_box(&home), home.join("out"));
        let first =
            ["fracture", &mesh, "--level", "5", "--seeds", "6", "--surface", surface, "--compute", "cpu"];
        // An archive is the layer with its pictures, and VOX has no triangles: one kind of cracks is enough for both.
        let once = ["pieces.usdz", "pieces.vox"];
        let more = if surface == "planar" { &once[..] } else { &[] };
        let formats = if more.is_empty() { "glb,obj,usda,ply" } else { "glb,obj,usda,ply,usdz,vox" };
        if run(first.into_iter().chain(["--format", formats, "--out", &text(&out)])).is_none() {
            return;
        }
        let report = checked_report(&out);
        assert!(report["health"]["closed"] == true && report["meshes"]["kind"] == "original", "{surface}");
        assert_eq!(report["health"]["volume_of"], "closed mesh");
        let files = ["pieces.glb", "pieces.obj", "pieces.usda", "ply/piece_000.ply"];
        for file in files.iter().chain(more) {
            let (from, again) =
                (text(&out.join(file)), home.join(format!("again-{}", &file[file.len() - 4..])));
            // The second break goes into the format that it came from, and voxels into meshes as well.
            let (to, format) = (text(&again), file.rsplit('.').next().unwrap());
            let format = if format == "vox" { "vox,glb" } else { format };
            let words = ["fracture", &from, "--level", "5", "--seeds", "5", "--compute", "cpu"];
            run(words.into_iter().chain(["--format", format, "--out", &to]));
            let report = read_report(&again);
            let (health, meshes) = (&report["health"], &report["meshes"]);
            println!("{surface} {file}: {meshes}");
            assert!(health["closed"] == true && health["volume"].as_f64().unwrap() > 0.0, "{file}: {health}");
            // All pieces together are the box again; a box of VOX has 30 voxels a side.
            let (is_piece, is_vox) = (*file == files[3], *file == once[1]);
            let whole = if is_vox { 27_000.0 } else { 1.0 };
            let is_whole = (health["volume"].as_f64().unwrap() / whole - 1.0).abs() < 1e-4;
            assert_eq!(is_whole, !is_piece, "{file}: {health}");
            // What the pieces had between them is gone, though GLB and USD round each piece about its own middle.
            let has_walls = health["inner_walls"].as_u64().unwrap() > 0;
            assert_eq!(has_walls, !is_piece && !is_vox, "{file}: {health}");
            assert_eq!(health["non_manifold_edges"], 0, "{file}: {health}");
            assert!(meshes["meshes"].as_u64().unwrap() > 1, "{file}: {meshes}");
            for sound in ["watertight", "manifold"] {
                assert_eq!(meshes[sound], meshes["meshes"], "{file}: {meshes}");
            }
            // What the format can carry has come twice: the material with its picture to the byte, or colours.
            let [before, after] =
                [&out, &again].map(|folder| kintsugi::import::read(&text(&folder.join(file))).unwrap().mesh);
            if is_piece || is_vox {
                let colors = |mesh: &kintsugi::Mesh| mesh.colors.iter().copied().collect::<BTreeSet<_>>();
                assert!(colors(&after).len() > 8, "{file}");
                assert!(is_piece || colors(&before) == colors(&after), "the palette of {file}");
                continue;
            }
            let skin = std::fs::read(home.join("skin.png")).unwrap();
            for mesh in [before, after] {
                let material = mesh.materials.iter().find(|material| material.name == "Skin").unwrap();
                assert!(material.maps[&MapUse::Color].picture.bytes == skin, "{file}");
                assert!(!mesh.uvs.is_empty(), "{file}");
            }
            let pieces = report["pieces"].as_array().unwrap();
            assert!(pieces.iter().any(|piece| piece["materials"] == serde_json::json!(["Skin"])), "{file}");
        }
    }
}

/// Seven pieces are seven objects: each is closed and has the volume and the materials that its entry says, and one of them
/// breaks again while the others stand beside its pieces.
#[test]
fn pieces_that_come_back_apart_are_bodies_of_their_own() {
    let home = folder("back-apart");
    let (mesh, out) = (textured_box(&home), home.join("out"));
    let written = text(&out);
    let first =
        ["fracture", &mesh, "--level", "6", "--seeds", "7", "--pattern", "uniform", "--compute", "cpu"];
    let more = ["--format", "glb,obj,usda,ply", "--prefix", "part", "--out", &written];
    if run(first.into_iter().chain(more)).is_none() {
        return;
    }
    let report = checked_report(&out);
    let pieces = report["pieces"].as_array().unwrap();
    assert!(pieces.len() > 3, "{}", pieces.len());
    let is_whole = |mesh: &kintsugi::Mesh, piece: &serde_json::Value| {
        let (_, health) = kintsugi::mesh::check(mesh);
        let wanted = piece["mesh"]["volume"].as_f64().unwrap();
        assert!(
            health.closed && (health.volume / wanted - 1.0).abs() < 1e-4,
            "{}: {health:?}",
            piece["name"]
        );
    };
    // PLY has a file for each piece, of its name.
    for piece in pieces {
        let file = out.join(format!("ply/{}.ply", piece["name"].as_str().unwrap()));
        let read = kintsugi::import::read(&text(&file)).unwrap();
        assert!(read.objects(Objects::Apart, &Default::default()).unwrap().is_empty());
        is_whole(&read.mesh, piece);
    }
    for (number, file) in ["pieces.glb", "pieces.obj", "pieces.usda"].into_iter().enumerate() {
        let from = text(&out.join(file));
        let (read, progress) = (kintsugi::import::read(&from).unwrap(), Default::default());
        assert!(read.objects(Objects::Touching, &progress).unwrap().is_empty(), "{file}: pieces touch");
        let objects = read.objects(Objects::Apart, &progress).unwrap();
        assert_eq!(objects.len(), pieces.len(), "{file}");
        for ((name, object), piece) in objects.iter().zip(pieces) {
            assert_eq!(name, piece["name"].as_str().unwrap(), "{file}");
            assert!(name.starts_with("part_0"), "{name}");
            is_whole(&object.mesh, piece);
            let used = |k: u32| object.mesh.triangle_material.contains(&k);
            let named = (0..).zip(&object.mesh.materials).filter(|(k, _)| used(*k));
            let named: Vec<&str> = named.map(|(_, material)| material.name.as_str()).collect();
            assert_eq!(
                piece["materials"] == serde_json::json!(["Skin"]),
                named.contains(&"Skin"),
                "{named:?}"
            );
        }
        let again = home.join(format!("again-{number}"));
        let to = text(&again);
        let words = ["fracture", &from, "--objects", "apart", "--level", "5", "--seeds", "5"];
        let more = ["--compute", "cpu", "--format", "glb,usda,obj", "--out", &to];
        run(words.into_iter().chain(more));
        let report = checked_report(&again);
        let (objects, all) = (report["objects"].as_array().unwrap(), report["pieces"].as_array().unwrap());
        assert_eq!(objects.len(), pieces.len(), "{file}");
        let own = objects[0]["pieces"].as_u64().unwrap() as usize;
        assert!(objects[0]["struck"] == true && own > 1 && all.len() == own + objects.len() - 1, "{file}");
        let volume: f64 = all.iter().map(|piece| piece["mesh"]["volume"].as_f64().unwrap()).sum();
        assert!((volume - 1.0).abs() < 1e-3, "{file}: {volume}");
        assert!(all[..own].iter().all(|piece| piece["object"] == objects[0]["name"]), "{file}");
        for (piece, object) in all[own..].iter().zip(&objects[1..]) {
            assert_eq!((&piece["object"], &piece["name"]), (&object["name"], &object["name"]), "{file}");
        }
        // Files have the same names and origins.
        let nodes = glb_nodes(&again.join("pieces.glb"));
        let usd = std::fs::read_to_string(again.join("pieces.usda")).unwrap();
        let obj = std::fs::read_to_string(again.join("pieces.obj")).unwrap();
        for (piece, node) in all.iter().zip(&nodes) {
            let [name, object] = ["name", "object"].map(|field| piece[field].as_str().unwrap());
            assert_eq!(
                (&node["name"], &node["extras"]["object"]),
                (&piece["name"], &piece["object"]),
                "{file}"
            );
            assert_eq!(node["extras"]["materials"], piece["materials"], "{file} {name}");
            assert!(obj.contains(&format!("\no {name}\ng {object}\n")), "{file} {name}");
            let prim = usd.split(&format!("def Xform \"{name}\" (")).nth(1).unwrap();
            assert!(
                prim.split(')').next().unwrap().contains(&format!("string object = \"{object}\"")),
                "{name}"
            );
        }
    }
}

/// The nodes of a GLB.
fn glb_nodes(file: &Path) -> Vec<serde_json::Value> {
    let bytes = std::fs::read(file).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let root: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    root["nodes"].as_array().unwrap().clone()
}

/// A box: its name, its low corner and its sides.
pub type NamedBox = (&'static str, [f64; 3], [f64; 3]);

/// A table of 4 by 1 by 2.
pub const TABLE: NamedBox = ("Table", [0.0; 3], [4.0, 1.0, 2.0]);
/// A vase that hangs half a unit above the table.
pub const VASE: NamedBox = ("Vase", [1.0, 1.5, 0.5], [1.0; 3]);

/// Writes an OBJ file with an object for each box.
pub fn boxes(file: &Path, boxes: &[NamedBox]) {
    let mut obj = String::new();
    for (k, (name, low, size)) in boxes.iter().enumerate() {
        writeln!(obj, "o {name}").unwrap();
        for i in 0..8 {
            let at = |axis: usize| low[axis] + if i >> axis & 1 == 1 { size[axis] } else { 0.0 };
            writeln!(obj, "v {} {} {}", at(0), at(1), at(2)).unwrap();
        }
        for face in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
            let [a, b, c, d] = face.map(|i: usize| i + 8 * k);
            writeln!(obj, "f {a} {b} {c} {d}").unwrap();
        }
    }
    std::fs::write(file, obj).unwrap();
}

/// A table that the blow does not hit stays whole beside the pieces of the vase above it; together they are one object.
#[test]
fn the_blow_breaks_the_object_that_it_hits() {
    let home = folder("back-struck");
    let file = home.join("set.obj");
    boxes(&file, &[TABLE, VASE]);
    let broken = |name: &str, more: &[&str]| {
        let out = home.join(name);
        let options = ["--level", "5", "--seeds", "6", "--compute", "cpu", "--format", "glb"];
        let place = ["fracture".to_owned(), text(&file), "--out".to_owned(), text(&out)];
        run(place.into_iter().chain(options.iter().chain(more).map(|word| (*word).to_owned())))
            .map(|_| checked_report(&out))
    };
    let Some(report) = broken("vase", &["--impact", "1.5,2.4,0.9"]) else { return };
    let names = |report: &serde_json::Value| -> Vec<String> {
        let objects = report["objects"].as_array().unwrap();
        objects.iter().map(|object| object["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&report), ["Vase", "Table"]);
    let all = report["pieces"].as_array().unwrap();
    let (table, vase) = all.split_last().unwrap();
    assert!(table["name"] == "Table" && (table["volume"].as_f64().unwrap() - 8.0).abs() < 1e-9, "{table}");
    assert!(vase.iter().all(|piece| piece["object"] == "Vase") && vase.len() > 1);
    let volume: f64 = vase.iter().map(|piece| piece["mesh"]["volume"].as_f64().unwrap()).sum();
    assert!((volume - 1.0).abs() < 1e-4, "{volume}");
    assert_eq!(names(&broken("table", &["--impact", "0,0.5,1"]).unwrap()), ["Table", "Vase"]);
    let one = broken("one", &["--objects", "together"]).unwrap();
    assert!(one["objects"].is_null());
    let of: BTreeSet<&str> =
        one["pieces"].as_array().unwrap().iter().map(|piece| piece["object"].as_str().unwrap()).collect();
    assert_eq!(of.into_iter().collect::<Vec<_>>(), ["Table", "Vase"]);
}

/// A box without its bottom, the same with a bar through the hole, and one in whose seams corners are a millionth apart, keep
/// triangles and texture, and no space counts twice.
#[test]
fn a_hole_and_loose_seams_cost_no_texture() {
    let home = folder("back-healed");
    let whole = std::fs::read_to_string(textured_box(&home)).unwrap();
    // The four quads of the low y side are the third block of faces.
    let mut faces = 0;
    let open: String = whole
        .lines()
        .filter(|line| {
            faces += usize::from(line.starts_with("f "));
            !(line.starts_with("f ") && (9..=12).contains(&faces))
        })
        .fold(String::new(), |all, line| all + line + "\n");
    let mut through = open.clone();
    for i in 0..8 {
        let at = |axis: usize, ends: [f64; 2]| if i >> axis & 1 == 1 { ends[1] } else { ends[0] };
        let p = [at(0, [0.3, 0.6]), at(1, [-0.25, 0.6]), at(2, [0.35, 0.55])];
        writeln!(through, "v {} {} {}", p[0], p[1], p[2]).unwrap();
    }
    for face in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
        // The box has 54 corners.
        writeln!(through, "f {}", face.map(|i| format!("{}/1", i + 54)).join(" ")).unwrap();
    }
    let mut corner = 0;
    let loose = whole.lines().fold(String::new(), |mut all, line| {
        let moved = line.strip_prefix("v ").map(|numbers| {
            corner += 1;
            let of = |(k, number): (usize, &str)| {
                let v: f64 = number.parse().unwrap();
                format!(" {:.7}", v + f64::from((corner * (k as u32 + 3)) % 9) * 1e-7)
            };
            format!("v{}", numbers.split(' ').enumerate().map(of).collect::<String>())
        });
        all += moved.as_deref().unwrap_or(line);
        all + "\n"
    });
    for (name, mesh, healed, volume) in [
        ("open", open, "cap_holes", 1.0),
        ("through", through, "cap_holes", 1.0 + 0.3 * 0.2 * 0.25),
        ("loose", loose, "welded_corners", 1.0),
    ] {
        let (file, out) = (home.join(format!("{name}.obj")), home.join(name));
        std::fs::write(&file, mesh).unwrap();
        let words =
            ["fracture", &text(&file), "--level", "5", "--seeds", "6", "--compute", "cpu"].map(str::to_owned);
        let more = ["--format", "obj", "--out", &text(&out)].map(str::to_owned);
        if run(words.into_iter().chain(more)).is_none() {
            return;
        }
        let report = checked_report(&out);
        let (health, meshes) = (&report["health"], &report["meshes"]);
        assert!(health[healed].as_u64().unwrap() > 0, "{name}: {health}");
        assert_eq!(meshes["kind"], "original", "{name}");
        assert_eq!(meshes["watertight"], meshes["meshes"], "{name}");
        assert!((meshes["volume"].as_f64().unwrap() - volume).abs() < 1e-4, "{name}: {meshes}");
        let coordinates = std::fs::read_to_string(out.join("pieces.obj")).unwrap();
        assert!(coordinates.lines().any(|line| line.starts_with("vt ")), "{name}");
    }
}
