//! `kintsugi dataset`: what is in the folders, killed and begun again, in shards, from a recipe, and with meshes that fail.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, Instant},
};

use kintsugi::mesh::digest::sha256;
use serde_json::Value;

use super::support::{
    program::{folder, kintsugi, outcome, text},
    results::{Array, read_npz},
};

/// Two objects, three breaks each.
const JOBS: &str = "meshes = ['builtin:box', 'builtin:vase']\nlevels = [5]\n[fracture]\nseeds = 7\n\
                    [dataset]\nname = 'small'\nbreaks = 3\npoints = 60\n";

fn dataset(jobs: &Path, more: &[&str]) -> Output {
    let jobs = text(jobs);
    kintsugi(["dataset", &jobs, "--compute", "cpu"].iter().chain(more)).output().unwrap()
}

fn make(jobs: &Path, out: &Path, more: &[&str]) -> Output {
    let out = text(out);
    dataset(jobs, &[&["--out", &out][..], more].concat())
}

#[track_caller]
fn ends_well(output: &Output) -> String {
    let (code, out, err) = outcome(output);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    out
}

fn job_file(home: &Path, content: &str) -> PathBuf {
    let path = home.join("jobs.toml");
    fs::write(&path, content).unwrap();
    path
}

type Rows = Vec<BTreeMap<String, String>>;

fn rows(out: &Path) -> Rows {
    let mut reader = csv::Reader::from_path(out.join("table.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let of =
        |record: csv::StringRecord| header.iter().zip(&record).map(|(n, c)| (n.into(), c.into())).collect();
    reader.records().map(|record| of(record.unwrap())).collect()
}

/// The rows without times.
fn timeless(out: &Path) -> Rows {
    let mut rows = rows(out);
    for row in &mut rows {
        row.retain(|name, _| !name.starts_with("timings_ms.") && !name.ends_with("seconds"));
    }
    rows
}

/// Every file below a folder whose bytes do not depend on times, by its path.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut below = vec![out.to_owned()];
    while let Some(place) = below.pop() {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below.push(path);
                continue;
            }
            let name = text(path.strip_prefix(out).unwrap());
            let timed =
                ["table.csv", "table.arrow", "statistics.html", "dataset.json", ".kintsugi-written.json"];
            if !timed.contains(&name.as_str()) {
                all.insert(name, fs::read(path).unwrap());
            }
        }
    }
    all
}

fn recipe(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("recipe.json")).unwrap()).unwrap()
}

/// Corners of the triangles of a piece's OBJ file, by a reader of somebody else's: those of the outside, then the rest.
fn triangles(file: &Path) -> Vec<[[f32; 3]; 3]> {
    let (models, _) = tobj::load_obj(file, &tobj::LoadOptions::default()).unwrap();
    let mut all = Vec::new();
    for tobj::Model { mesh, .. } in models {
        let point = |i: &u32| -> [f32; 3] {
            mesh.positions[3 * *i as usize..3 * *i as usize + 3].try_into().unwrap()
        };
        all.extend(mesh.indices.chunks_exact(3).map(|t| [point(&t[0]), point(&t[1]), point(&t[2])]));
    }
    all
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Volume by the divergence theorem.
fn volume(triangles: &[[[f32; 3]; 3]]) -> f64 {
    let of = |t: &[[f32; 3]; 3]| {
        let [a, b, c] = t.map(|p| p.map(f64::from));
        dot(a, cross(b, c)) / 6.0
    };
    triangles.iter().map(of).sum()
}

/// Everything about a break that its arrays and its mesh files have to agree on.
fn check_break(out: &Path, row: &BTreeMap<String, String>) {
    let place = out.join(&row["path"]);
    let arrays = read_npz(&out.join("arrays").join(&row["path"]).join("pieces.npz"));
    let ints = |name: &str| arrays[name].ints();
    let floats = |name: &str| arrays[name].floats();
    let shape = |name: &str| arrays[name].shape.clone();
    let count: usize = row["counts.pieces"].parse().unwrap();
    assert!(count > 1, "{row:?}");
    assert_eq!(ints("piece"), (0..count as i32).collect::<Vec<_>>());
    for (name, wanted) in [
        ("mass", vec![count]),
        ("volume", vec![count]),
        ("centre", vec![count, 3]),
        ("bounds", vec![count, 2, 3]),
        ("cell", vec![count]),
        ("parent", vec![count]),
        ("impact_point", vec![3]),
        ("impact_direction", vec![3]),
        ("start_rotation", vec![count, 4]),
        ("start_translation", vec![count, 3]),
        ("voxels_sha256", vec![32]),
        ("mesh_volume", vec![count]),
        ("face_start", vec![count + 1]),
        ("point_start", vec![count + 1]),
    ] {
        assert_eq!(shape(name), wanted, "{name}");
    }

    // Nothing is lost, and the report's mass is the same.
    let whole: f64 = floats("volume").iter().sum();
    let source: f64 = row["source_mass"].parse().unwrap();
    assert!((whole / source - 1.0).abs() < 1e-6, "{whole} of {source}");
    assert_eq!(floats("mass"), floats("volume"));
    let direction = floats("impact_direction");
    assert!((direction.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(
        floats("start_rotation")
            .chunks(4)
            .all(|q| (q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12)
    );
    assert_ne!(floats("start_rotation")[..4], floats("start_rotation")[4..8]);

    // The folder holds the meshes and nothing else; they are those of the arrays.
    let mut names: Vec<String> =
        fs::read_dir(&place).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    let mut wanted: Vec<String> = (0..count).map(|id| format!("piece_{id}.obj")).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    let (face_start, face_beyond) = (ints("face_start"), ints("face_beyond"));
    let meshes: Vec<_> = (0..count).map(|id| triangles(&place.join(format!("piece_{id}.obj")))).collect();
    for (id, mesh) in meshes.iter().enumerate() {
        let span = face_start[id] as usize..face_start[id + 1] as usize;
        assert_eq!(mesh.len(), span.len(), "piece {id}");
        let of_mesh = floats("mesh_volume")[id];
        assert!((volume(mesh) - of_mesh).abs() < 1e-4 * whole, "piece {id}: {} {of_mesh}", volume(mesh));
        // Crack faces are in a group after the others.
        let outside = face_beyond[span.clone()].iter().take_while(|beyond| **beyond == -1).count();
        assert!(face_beyond[span][outside..].iter().all(|beyond| *beyond != -1), "piece {id}");
        let obj = fs::read_to_string(place.join(format!("piece_{id}.obj"))).unwrap();
        let before = obj.split("g crack\n").next().unwrap();
        assert_eq!(before.lines().filter(|line| line.starts_with("f ")).count(), outside, "piece {id}");
    }
    assert_eq!(*face_start.last().unwrap() as usize, face_beyond.len());

    // Who touches whom: the list and the faces say the same.
    let pairs: Vec<[i32; 2]> = arrays["touching"].rows::<2>();
    assert!(pairs.windows(2).all(|two| two[0] < two[1]) && pairs.iter().all(|[a, b]| a < b));
    assert_eq!(pairs.len().to_string(), row["adjacencies"]);
    for name in ["touching_area", "touching_centre", "touching_normal"] {
        assert_eq!(shape(name)[0], pairs.len(), "{name}");
    }
    let (areas, normals, centres) = (floats("touching_area"), floats("touching_normal"), floats("centre"));
    let mean = areas.iter().sum::<f64>() / areas.len() as f64;
    let mut of_faces: BTreeMap<[i32; 2], usize> = BTreeMap::new();
    for id in 0..count {
        let own = &face_beyond[face_start[id] as usize..face_start[id + 1] as usize];
        for beyond in own {
            assert!((-2..count as i32).contains(beyond) && *beyond != id as i32);
            if *beyond >= 0 {
                let (a, b) = (id as i32, *beyond);
                *of_faces.entry([a.min(b), a.max(b)]).or_default() += 1;
            }
        }
    }
    let known: BTreeSet<_> = pairs.iter().collect();
    let all: usize = of_faces.values().sum();
    let stray: usize = of_faces.iter().filter(|(pair, _)| !known.contains(pair)).map(|(_, n)| n).sum();
    assert!(all > 0 && stray * 20 <= all, "{stray} of {all} faces border on pieces that are not in the list");
    for (k, pair) in pairs.iter().enumerate().filter(|(k, _)| areas[*k] > 0.05 * mean) {
        assert!(of_faces.contains_key(pair), "{pair:?} share {}, but no face", areas[k]);
    }
    // Most normals point from the first centre to the second; pieces may be bent round each other.
    let at = |list: &[f64], k: usize| [list[3 * k], list[3 * k + 1], list[3 * k + 2]];
    let forward = pairs.iter().enumerate().filter(|(k, [a, b])| {
        dot(at(&normals, *k), sub(at(&centres, *b as usize), at(&centres, *a as usize))) > 0.0
    });
    assert!(forward.count() * 10 >= pairs.len() * 7);

    check_points(&arrays, &meshes, count);
    assert_eq!(shape("points")[0].to_string(), row["points"]);
}

/// Points lie on their triangles, in the bounds of their piece, and know what is beyond as their triangle does.
fn check_points(arrays: &BTreeMap<String, Array>, meshes: &[Vec<[[f32; 3]; 3]>], count: usize) {
    let (start, triangle) = (arrays["point_start"].ints(), arrays["triangle"].ints());
    let (points, normals) = (arrays["points"].floats(), arrays["normals"].floats());
    let (beyond, crack, bounds) =
        (arrays["beyond"].ints(), &arrays["crack"].bytes, arrays["bounds"].floats());
    let (face_start, face_beyond) = (arrays["face_start"].ints(), arrays["face_beyond"].ints());
    assert_eq!(start, (0..=count as i32).map(|id| 60 * id).collect::<Vec<_>>());
    assert_eq!((arrays["points"].shape[0], beyond.len(), crack.len()), (60 * count, 60 * count, 60 * count));
    for id in 0..count {
        let (low, high) = (&bounds[6 * id..6 * id + 3], &bounds[6 * id + 3..6 * id + 6]);
        let size = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
        for i in start[id] as usize..start[id + 1] as usize {
            let point: [f64; 3] = points[3 * i..3 * i + 3].try_into().unwrap();
            let normal: [f64; 3] = normals[3 * i..3 * i + 3].try_into().unwrap();
            assert!((0..3).all(|k| (low[k] - 1e-5..=high[k] + 1e-5).contains(&point[k])), "{point:?}");
            assert!((dot(normal, normal) - 1.0).abs() < 1e-5);
            let t = triangle[i] as usize;
            let own = face_beyond[face_start[id] as usize + t];
            assert_eq!((beyond[i], crack[i]), (own, u8::from(own != -1)));
            let [a, b, c] = meshes[id][t].map(|p| p.map(f64::from));
            let flat = cross(sub(b, a), sub(c, a));
            let length = dot(flat, flat).sqrt();
            if length > 1e-6 * size * size {
                let off = dot(sub(point, a), flat) / length;
                assert!(off.abs() < 1e-4 * size, "point {i} of piece {id} is {off} off its triangle");
                assert!(dot(normal, flat) > 0.0, "point {i} of piece {id} faces inward");
            }
        }
    }
}

/// The digest as docs/dataset.md describes it, from the files.
fn digest(out: &Path, path: &str) -> String {
    let npz = out.join("arrays").join(path).join("pieces.npz");
    let arrays = read_npz(&npz);
    let mut zip = zip::ZipArchive::new(fs::File::open(&npz).unwrap()).unwrap();
    let mut bytes = Vec::new();
    let mut add = |name: &str, kind: &str, shape: &[usize], data: &[u8]| {
        bytes.extend([name.as_bytes(), b"\0", kind.as_bytes(), b"\0"].concat());
        bytes.extend((shape.len() as u64).to_le_bytes());
        shape.iter().for_each(|n| bytes.extend((*n as u64).to_le_bytes()));
        bytes.extend(data);
    };
    for i in 0..zip.len() {
        let entry = zip.by_index(i).unwrap();
        let name = entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
        let Array { descr, shape, bytes } = &arrays[&name];
        add(&name, descr, shape, bytes);
    }
    for id in 0..arrays["piece"].shape[0] {
        let obj = fs::read_to_string(out.join(path).join(format!("piece_{id}.obj"))).unwrap();
        let lines = |start: &'static str| obj.lines().filter_map(move |line| line.strip_prefix(start));
        let vertices: Vec<u8> = lines("v ")
            .flat_map(|line| {
                line.split(' ').flat_map(|x| x.parse::<f32>().unwrap().to_le_bytes()).collect::<Vec<_>>()
            })
            .collect();
        let corner =
            |word: &str| (word.split("//").next().unwrap().parse::<u32>().unwrap() - 1).to_le_bytes();
        let triangles: Vec<u8> =
            lines("f ").flat_map(|line| line.split(' ').flat_map(corner).collect::<Vec<_>>()).collect();
        add(&format!("piece_{id}.vertices"), "<f4", &[vertices.len() / 12, 3], &vertices);
        add(&format!("piece_{id}.triangles"), "<u4", &[triangles.len() / 12, 3], &triangles);
    }
    sha256(&bytes)
}

#[test]
fn a_set_has_pieces_points_and_neighbours_that_agree_with_each_other() {
    let home = folder("dataset-layout");
    let (jobs, out) = (job_file(&home, JOBS), home.join("out"));
    let said = ends_well(&make(&jobs, &out, &[]));
    assert!(said.starts_with("6 breaks, 0 failed, ") && said.contains("breaks a second"), "{said}");
    let rows = rows(&out);
    assert_eq!(rows.len(), 6);
    let paths: Vec<&str> = rows.iter().map(|row| row["path"].as_str()).collect();
    assert_eq!(
        paths[..4],
        ["small/box/fractured_0", "small/box/fractured_1", "small/box/fractured_2", "small/vase/fractured_0",]
    );
    for row in &rows {
        assert_eq!((row["error"].as_str(), row["checks.all_hold"].as_str()), ("", "true"));
        check_break(&out, row);
        assert_eq!(digest(&out, &row["path"]), row["sha256"]);
    }
    let digests: BTreeSet<_> = rows.iter().map(|row| &row["sha256"]).collect();
    assert_eq!(digests.len(), 6, "other random seeds, other breaks");
    let blows: BTreeSet<_> = rows.iter().map(|row| &row["parameters.impact.point.x"]).collect();
    assert!(blows.len() > 2, "{blows:?}");

    // The recipe, the lists and the statistics say what the table does.
    let recipe = recipe(&out);
    assert_eq!(recipe["jobs"], JOBS);
    assert_eq!(recipe["file"], "jobs.toml");
    assert_eq!(recipe["meshes"][1]["file"], "builtin:vase");
    for (row, digest) in rows.iter().zip(recipe["breaks"].as_array().unwrap()) {
        assert_eq!(digest, &row["sha256"][..16]);
    }
    let mut listed = BTreeMap::new();
    for part in ["train", "val", "test"] {
        let list = fs::read_to_string(out.join(format!("data_split/small.{part}.txt"))).unwrap();
        list.lines().for_each(|line| assert!(listed.insert(line.to_owned(), part).is_none(), "{line} twice"));
    }
    assert_eq!(listed.len(), 2);
    for row in &rows {
        assert_eq!(listed[&format!("small/{}", row["object"])], row["split"]);
    }
    let page = fs::read_to_string(out.join("statistics.html")).unwrap();
    assert!(page.contains("<td>6</td>") && page.matches("<svg").count() == 5);
    let identity: Value = serde_json::from_slice(&fs::read(out.join("dataset.json")).unwrap()).unwrap();
    assert_eq!(identity["dataset"]["name"], "small");
    assert_eq!(identity["dataset"]["breaks"], 6);
    assert!(out.join("table.arrow").is_file());
}

#[test]
fn a_set_that_was_killed_and_gone_on_with_is_the_same_to_the_byte() {
    let home = folder("dataset-killed");
    let (jobs, whole, killed) = (job_file(&home, JOBS), home.join("whole"), home.join("killed"));
    ends_well(&make(&jobs, &whole, &[]));
    let lines =
        || fs::read(killed.join("table.csv")).map_or(0, |b| b.iter().filter(|b| **b == b'\n').count());
    for wanted in [2, 4] {
        let words = ["dataset", &text(&jobs), "--out", &text(&killed), "--compute", "cpu"];
        let (mut child, start) = (kintsugi(words).spawn().unwrap(), Instant::now());
        while lines() < wanted
            && child.try_wait().unwrap().is_none()
            && start.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // A fast machine may have been through.
        let table = fs::read_to_string(killed.join("table.csv")).unwrap();
        let mut table: String = table.split_inclusive('\n').take(wanted).collect();
        table += "5,builtin:va";
        fs::write(killed.join("table.csv"), table).unwrap();
    }
    // Left by a kill between both folders of a break, and within one.
    let half = killed.join("small/vase/fractured_2");
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("piece_77.obj"), "o half\n").unwrap();
    fs::create_dir_all(killed.join("arrays/small/vase/.fractured_9-being-written-1-0/new/meshes")).unwrap();
    let (code, _, err) = outcome(&make(&jobs, &killed, &[]));
    assert!(code == 0 && err.lines().count() == 1 && err.contains("fractured_2.before"), "{code}: {err}");
    // Meshes that are not this break's are somebody's until they are looked at.
    let kept = killed.join("arrays/small/vase/fractured_2.before");
    assert_eq!(fs::read_to_string(kept.join("piece_77.obj")).unwrap(), "o half\n");
    fs::remove_dir_all(kept).unwrap();
    assert_eq!(timeless(&whole), timeless(&killed));
    let (whole, killed) = (files(&whole), files(&killed));
    assert_eq!(whole.keys().collect::<Vec<_>>(), killed.keys().collect::<Vec<_>>());
    assert!(whole.len() > 6 * 3);
    for (name, bytes) in &whole {
        assert!(killed[name] == *bytes, "{name} differs");
    }
}

#[test]
fn shards_give_the_recipe_the_lists_and_the_table_of_the_whole() {
    let home = folder("dataset-shards");
    let (jobs, whole, joined) = (job_file(&home, JOBS), home.join("whole"), home.join("joined"));
    let shards = [home.join("shard-1"), home.join("shard-2")];
    for (k, out) in shards.iter().enumerate() {
        ends_well(&make(&jobs, out, &["--shard", &format!("{}/2", k + 1)]));
    }
    let of_first: Vec<bool> =
        recipe(&shards[0])["breaks"].as_array().unwrap().iter().map(Value::is_null).collect();
    assert_eq!(of_first, [false, true, false, true, false, true]);
    let list = format!("{},{}", text(&shards[0]), text(&shards[1]));
    let (code, _, err) = outcome(&make(&jobs, &joined, &["--merge", &text(&shards[0])]));
    assert!(code == 2 && err.contains("3 jobs, the first of them number 1"), "{code} {err}");
    ends_well(&make(&jobs, &joined, &["--merge", &list]));
    ends_well(&make(&jobs, &whole, &[]));
    assert_eq!(timeless(&joined), timeless(&whole));
    let (whole, joined) = (files(&whole), files(&joined));
    assert_eq!(joined.len(), 4, "recipe and three lists: {:?}", joined.keys());
    for (name, bytes) in &joined {
        assert!(whole[name] == *bytes, "{name} differs");
    }
}

/// A tetrahedron that is 1 + `more` high, as OBJ.
fn tetrahedron(more: f64) -> String {
    format!("v 0 0 0\nv 1 0 0\nv 0 {} 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n", 1.0 + more)
}

#[test]
fn a_recipe_gives_the_same_set_from_meshes_of_any_name() {
    let home = folder("dataset-recipe");
    let (first, second) = (home.join("first"), home.join("second"));
    for (place, name, more) in
        [("", "a.obj", 0.25), ("found/deep", "x.dat.obj", 0.25), ("found", "y.obj", 0.5)]
    {
        fs::create_dir_all(home.join(place)).unwrap();
        fs::write(home.join(place).join(name), tetrahedron(more)).unwrap();
    }
    let jobs = job_file(
        &home,
        "meshes = ['a.obj', 'builtin:box']\nlevels = [5]\n[fracture]\nseeds = 5\nsurface = 'rough'\n\
         [dataset]\nbreaks = 2\npoints = 90\nper_area = true\nformat = 'ply'\nmesh = 'smooth'\n\
         keep = ['meshes', 'points', 'report', 'voxels']\n",
    );
    ends_well(&make(&jobs, &first, &[]));
    let contents = fs::read(home.join("a.obj")).unwrap();
    let mesh = &recipe(&first)["meshes"][0];
    assert_eq!(mesh["sha256"], sha256(&contents));
    assert_eq!(mesh["bytes"], contents.len());
    assert_eq!(mesh["triangles"], 4);
    for name in ["piece_0.ply", "piece_1.ply"] {
        assert!(first.join("everyday/a/fractured_1").join(name).is_file());
    }
    for name in ["pieces.npz", "voxels.npz", "report.json"] {
        assert!(first.join("arrays/everyday/a/fractured_1").join(name).is_file());
    }

    // Somewhere else, where the mesh has another name.
    let there = folder("dataset-recipe-there");
    fs::copy(first.join("recipe.json"), there.join("recipe.json")).unwrap();
    let (recipe_file, found) = (there.join("recipe.json"), text(&home.join("found")));
    let said = ends_well(&make(&recipe_file, &second, &["--meshes", &found]));
    assert!(said.ends_with("4 of 4 breaks have the recipe's hash\n"), "{said}");
    let same = |name: &String| !name.ends_with("report.json") && !name.ends_with(".kintsugi-files.json");
    let (a, b) = (files(&first), files(&second));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in a.iter().filter(|(name, _)| same(name)) {
        assert!(b[name] == *bytes, "{name} differs");
    }
    let said = ends_well(&dataset(&recipe_file, &["--verify", "3", "--meshes", &found]));
    assert_eq!(said, "3 of 3 breaks have the recipe's hash\n");
    let said = ends_well(&dataset(&jobs, &["--verify", "--out", &text(&first)]));
    assert_eq!(said, "4 of 4 breaks have the recipe's hash\n");

    // Without the mesh its breaks fail, and the others are made.
    let (code, said, err) = outcome(&make(&recipe_file, &home.join("without"), &[]));
    assert!(code == 1 && said.starts_with("4 breaks, 2 failed"), "{code} {said}{err}");
    assert!(err.contains("--meshes is missing"), "{err}");
}

#[test]
fn a_wrong_hash_and_a_damaged_file_are_found() {
    let home = folder("dataset-verify");
    let (jobs, out) = (job_file(&home, JOBS), home.join("out"));
    ends_well(&make(&jobs, &out, &[]));
    let mut planted = recipe(&out);
    let digest = planted["breaks"][4].as_str().unwrap().to_owned();
    let other = if digest.starts_with('0') { "1" } else { "0" };
    planted["breaks"][4] = format!("{other}{}", &digest[1..]).into();
    let path = home.join("planted.json");
    fs::write(&path, planted.to_string()).unwrap();
    for more in [&["--verify"][..], &["--verify", "--out", &text(&out)]] {
        let (code, said, err) = outcome(&dataset(&path, more));
        assert!(code == 1 && said.contains("5 of 6 breaks have the recipe's hash"), "{code} {said}{err}");
        assert!(said.starts_with("break 4, small/vase/fractured_1: it is "), "{said}");
        assert!(said.contains(&digest) && err.starts_with("error: 1 of 6 breaks"), "{said}{err}");
    }
    // One point that lies elsewhere, and a file that is gone.
    let piece = out.join("small/box/fractured_0/piece_1.obj");
    let obj = fs::read_to_string(&piece).unwrap();
    let point = obj.lines().find(|line| line.starts_with("v ")).unwrap();
    let damaged = obj.replacen(point, "v 7 7 7", 1);
    fs::write(&piece, damaged).unwrap();
    fs::remove_file(out.join("small/vase/fractured_0/piece_0.obj")).unwrap();
    let (code, said, _) = outcome(&dataset(&jobs, &["--verify", "--out", &text(&out)]));
    assert!(code == 1 && said.contains("4 of 6 breaks"), "{said}");
    assert!(said.contains("break 0, small/box/fractured_0: it is") && said.contains("piece_0.obj"), "{said}");
}

#[test]
fn a_mesh_that_fails_is_a_row_and_moves_no_object_to_another_part() {
    let home = folder("dataset-errors");
    fs::write(home.join("broken.obj"), "v 0 0 0\nf 1 2 3\n").unwrap();
    (0..4).for_each(|k| fs::write(home.join(format!("t{k}.obj")), tetrahedron(0.1 * f64::from(k))).unwrap());
    let set = |meshes: &str, out: &Path| {
        let dataset = "levels = [4]\n[fracture]\nseeds = 4\n[dataset]\nbreaks = 1\nkeep = ['points']\npoints = 40\n\
                       split = { train = 0.4, val = 0.3, test = 0.3 }\n";
        make(&job_file(&home, &format!("meshes = [{meshes}]\n{dataset}")), out, &[])
    };
    let (few, many) = (home.join("few"), home.join("many"));
    ends_well(&set("'t1.obj', 't3.obj'", &few));
    let output = set("'t0.obj', 'missing.obj', 't1.obj', 'broken.obj', 't2.obj', 't3.obj'", &many);
    let (code, said, err) = outcome(&output);
    assert!(code == 1 && said.starts_with("6 breaks, 2 failed"), "{code} {said}{err}");
    assert!(err.lines().last().unwrap().starts_with("error: 2 of 6 breaks failed"), "{err}");
    let all = rows(&many);
    let failed: Vec<&str> =
        all.iter().filter(|r| !r["error"].is_empty()).map(|r| r["mesh"].as_str()).collect();
    assert_eq!(failed, ["missing.obj", "broken.obj"]);
    assert!(all[1]["error"].contains("missing.obj") && all[1]["path"].is_empty());
    assert_eq!(recipe(&many)["breaks"][1], Value::Null);
    for row in rows(&few) {
        let same = all.iter().find(|other| other["mesh"] == row["mesh"]).unwrap();
        assert_eq!((&same["split"], &same["sha256"]), (&row["split"], &row["sha256"]));
    }
    let lists: Vec<String> = ["train", "val", "test"]
        .iter()
        .flat_map(|part| {
            let list = fs::read_to_string(many.join(format!("data_split/everyday.{part}.txt"))).unwrap();
            list.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(lists.len(), 4, "failed objects are in no list: {lists:?}");
    assert!(!many.join("everyday").exists(), "no meshes were wanted");

    // A break whose checks do not hold, or at which the program panics, is a row without files.
    let jobs = job_file(&home, JOBS);
    for (mishap, why) in [("2", "its checks do not hold"), ("panic 2", "panicked: a check that panics")] {
        let out = home.join(mishap.replace(' ', "-"));
        let words = ["dataset", &text(&jobs), "--out", &text(&out), "--compute", "cpu"];
        let output = kintsugi(words).env("KINTSUGI_BROKEN_CHECK", mishap).output().unwrap();
        assert_eq!(outcome(&output).0, 1);
        let failed: Rows = rows(&out).into_iter().filter(|row| !row["error"].is_empty()).collect();
        assert!(failed.len() == 1 && failed[0]["error"].starts_with(why), "{failed:?}");
        assert!(!out.join("small/box/fractured_1").exists() && out.join("small/box/fractured_2").exists());
    }
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line() {
    let home = folder("dataset-refused");
    let (jobs, out) = (job_file(&home, JOBS), home.join("out"));
    ends_well(&make(&jobs, &out, &["--shard", "1/3"]));
    let refused = |output: &Output, what: &str| {
        let (code, _, err) = outcome(output);
        assert!(code == 2 && err.lines().count() == 1 && err.contains(what), "{what}: {code} {err}");
    };
    refused(&make(&jobs, &out, &[]), "shard 1/3, this is all jobs");
    refused(&dataset(&jobs, &[]), "--out");
    refused(&dataset(&jobs, &["--verify"]), "recipe.json");
    refused(&make(&jobs, &out, &["--meshes", "x"]), "--meshes is for recipes");
    refused(&make(&out.join("recipe.json"), &out, &[]), "would be replaced");
    let sweep = ["sweep", &text(&jobs), "--out", &text(&home.join("sweep")), "--compute", "cpu"];
    refused(&kintsugi(sweep).output().unwrap(), "`kintsugi dataset`");
    for (content, what) in [
        (JOBS.replace("breaks = 3", "breaks = 2"), "another job file"),
        (JOBS.replace("points = 60", "points = 61"), "another [dataset] table"),
        (JOBS.replace("points = 60", "pionts = 60"), "unknown field `pionts`"),
        (JOBS.replace("levels = [5]", "levels = [5]\nrng = [1]"), "given twice"),
    ] {
        refused(&make(&job_file(&home, &content), &out, &["--shard", "1/3"]), what);
    }
    fs::write(home.join("other.json"), "{\"breaks\": 3}").unwrap();
    refused(&make(&home.join("other.json"), &home.join("new"), &[]), "no recipe");
    assert!(!home.join("new").exists());

    // A set of somebody else has the same folders and names.
    let theirs = home.join("theirs/everyday/vase/fractured_0/piece_0.obj");
    fs::create_dir_all(theirs.parent().unwrap()).unwrap();
    fs::write(&theirs, "theirs").unwrap();
    let named =
        job_file(&home, "meshes = ['builtin:vase']\nlevels = [4]\n[dataset]\nbreaks = 1\npoints = 0\n");
    refused(&make(&named, &home.join("theirs"), &[]), "it has `everyday`, which");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
}
