//! What users' files go through: the fuzzing targets and `src/corpus_tests.rs` come in here alike.
//!
//! A kind of several files is a bundle: `--- NAME`, a line each, and the bytes of that file after it. The first file is the
//! one that is opened; all are laid into a folder of the thread's own.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use kintsugi::{
    app, cli, export,
    mesh::{self, Mesh},
    scene::{self, MaterialPreset, Scene},
};

/// Kinds of files, as the folders of the corpus are called.
#[allow(dead_code, reason = "a target is one kind")]
pub const KINDS: [&str; 24] = [
    "obj",
    "ply",
    "stl",
    "off",
    "gltf",
    "glb",
    "vox",
    "fbx",
    "usda",
    "usdc",
    "usdz",
    "obj_folder",
    "gltf_folder",
    "scene",
    "session",
    "seeds",
    "npy",
    "preset",
    "jobs",
    "camera",
    "settings",
    "imports",
    "repeat",
    "results",
];

/// Most files of a bundle.
const MOST_FILES: usize = 24;

/// Reads `bytes` as a file of this kind. What is read must keep its promises.
///
/// # Errors
/// The refusal.
pub fn feed(kind: &str, bytes: &[u8]) -> Result<(), String> {
    match kind {
        "scene" => {
            let text = String::from_utf8_lossy(bytes);
            let read = scene::parse_scene(&text, "scene").map_err(|error| error.to_string())?;
            // What opens can be saved, and opens again as it was.
            let saved = toml::to_string(&read).expect("a scene that was read can be written");
            let again = scene::parse_scene(&saved, "saved").expect("what was written can be read");
            assert!(again == read, "another scene than was written: {saved}");
            Ok(())
        }
        "seeds" | "npy" => {
            let seeds = scene::parse_seeds(bytes, kind)?;
            assert!(seeds.count() > 0);
            Ok(())
        }
        "preset" => preset(&String::from_utf8_lossy(bytes)),
        "session" => session(bytes),
        "jobs" => {
            let jobs =
                cli::reading::jobs(&Place::new().holding("jobs.toml", bytes)).map_err(|e| e.to_string())?;
            assert!((1..=200_000).contains(&jobs), "{jobs} jobs");
            Ok(())
        }
        "camera" => {
            cli::reading::camera(&Place::new().holding("camera.json", bytes)).map_err(|e| e.to_string())
        }
        "settings" => match app::reading::settings(&Place::new().holding("settings.toml", bytes)) {
            true => Ok(()),
            false => Err("the settings are the defaults".into()),
        },
        "imports" => imports(bytes),
        "repeat" => repeated(bytes),
        "results" => results(bytes),
        "obj_folder" | "gltf_folder" => {
            let place = Place::new();
            let names = place.unpack(bytes);
            let first = names.first().ok_or("there is no file in the bundle")?;
            let (mesh, _) = mesh::load(&place.0.join(first)).map_err(|error| error.message)?;
            is_whole(&mesh);
            Ok(())
        }
        extension => {
            let (mesh, _) = mesh::load_bytes(bytes, extension).map_err(|error| error.message)?;
            is_whole(&mesh);
            Ok(())
        }
    }
}

/// Asserts that a refusal is one line with a few words in it.
pub fn is_a_line_that_helps(refusal: &str) {
    assert!(!refusal.contains('\n') && refusal.len() > 15, "{refusal:?}");
}

/// Asserts what readers promise of a mesh.
fn is_whole(mesh: &Mesh) {
    let count = mesh.positions.len();
    assert!(!mesh.triangles.is_empty());
    assert!(mesh.triangles.iter().flatten().all(|&corner| (corner as usize) < count));
    assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
    assert!([0, count].contains(&mesh.colors.len()) && [0, count].contains(&mesh.uvs.len()));
    assert!([0, count].contains(&mesh.normals.len()));
    assert!([0, mesh.triangles.len()].contains(&mesh.triangle_material.len()));
    assert!(mesh.triangle_material.iter().all(|&material| (material as usize) < mesh.materials.len()));
    for texture in mesh.materials.iter().filter_map(|material| material.texture.as_ref()) {
        assert_eq!(texture.rgba.len(), 4 * texture.width as usize * texture.height as usize);
    }
}

/// A preset that is read can be written, is read again as it was, and is one of a scene.
fn preset(text: &str) -> Result<(), String> {
    let read = MaterialPreset::parse(text, "preset").map_err(|error| error.to_string())?;
    let written = read.to_text().expect("a preset that was read can be written");
    let again = MaterialPreset::parse(&written, "written").expect("what was written can be read");
    assert!(again == read, "another preset than was written: {written}");
    Ok(())
}

/// A session that is offered opens as the window opens it, can be saved, and then opens as it was.
fn session(bytes: &[u8]) -> Result<(), String> {
    let place = Place::new();
    // A session lies in the state folder and may name any file.
    let load = |path: &Path| scene::load_scene_with_outside(path).map(|(scene, _)| scene);
    let read = load(&place.holding("session-1-1.toml", bytes)).map_err(|error| error.to_string())?;
    let saved = place.0.join("saved.toml");
    scene::save_scene(&saved, &read).expect("a session that was read can be saved");
    let again = load(&saved).expect("what was saved can be read");
    let plain = |scene: &Scene| {
        scene.bodies.iter().map(|body| (body.level, body.friction.to_bits())).collect::<Vec<_>>()
    };
    assert!(
        plain(&again) == plain(&read) && again.breaks.len() == read.breaks.len(),
        "another scene than was saved"
    );
    Ok(())
}

/// The memory of imports changes a scene of `/` to a size that scenes may have, or not at all.
fn imports(bytes: &[u8]) -> Result<(), String> {
    let before = Scene::of_mesh("/", 5);
    let mut after = before.clone();
    app::reading::import(&Place::new().holding("imports.toml", bytes), &mut after);
    assert!(after.bodies[0].size.is_none_or(|size| (1e-4..=1e4).contains(&size)));
    if after == before { Err("the memory says nothing of this file".into()) } else { Ok(()) }
}

/// What `repeat` runs for a file: a command of its list that writes to the place that `repeat` chose.
fn repeated(bytes: &[u8]) -> Result<(), String> {
    let (place, target) = (Place::new(), Path::new("/chosen/by/repeat"));
    let names = place.unpack(bytes);
    let first = names.first().ok_or("there is no file in the bundle")?;
    let words = cli::reading::repeated(&place.0.join(first), target).map_err(|error| error.to_string())?;
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let places = words.iter().filter(|word| word.contains("/chosen/by/repeat"));
    let commands = ["fracture", "simulate", "render", "sheet", "compare", "figure"];
    let others = ["repeat", "sweep", "dataset", "bench", "presets", "doctor"];
    // A command that lacks its place refuses to start. A tour is written into the working directory, the fresh folder.
    let is_command = words.first().is_some_and(|word| commands.contains(&word.as_str()));
    assert!(is_command || !words.iter().any(|word| others.contains(&word.as_str())), "{words:?}");
    assert!(places.clone().all(|word| word == "/chosen/by/repeat"), "{words:?}");
    assert!(is_command || places.count() == 0, "{words:?}");
    for option in ["--outside-references", "--json", "--state-file", "--frame-log", "--picture=", "--out=/"] {
        assert!(!words.iter().any(|word| word.starts_with(option) && word != "--picture"), "{words:?}");
    }
    Ok(())
}

/// A folder of results with any list and any journal in it: whatever they say, nothing outside changes, and a file that
/// they do not know by its digest is there afterwards, byte for byte.
fn results(bytes: &[u8]) -> Result<(), String> {
    let place = Place::new();
    let outside = place.holding("outside.txt", b"outside");
    let folder = place.0.join("results");
    fs::create_dir(&folder).unwrap();
    let names = Place::unpack_into(&folder, bytes);
    let journal = fs::read(folder.join(".kintsugi-change.json")).unwrap_or_default();
    let named = String::from_utf8_lossy(&journal).into_owned();
    let is_own = |name: &String| !name.starts_with('.');
    let own = names.iter().filter(|name| is_own(name)).filter_map(|name| fs::read(folder.join(name)).ok());
    let own: Vec<Vec<u8>> = own.filter(|bytes| !named.contains(&mesh::digest::sha256(bytes))).collect();
    let finished = export::disk::recover_folder(&folder);
    assert_eq!(fs::read(outside).unwrap(), b"outside");
    let mut there = Vec::new();
    files_below(&place.0, &mut there);
    for bytes in own {
        assert!(there.contains(&bytes), "{:?} is gone", String::from_utf8_lossy(&bytes));
    }
    let (_, list) = finished.map_err(|error| error.to_string().replace('\n', " "))?;
    assert!(!folder.join(".kintsugi-change.json").exists());
    let (notes, again) = export::disk::recover_folder(&folder).expect("nothing is left to do");
    assert!(list == again && !notes.iter().any(|note| note.contains("is finished")), "{notes:?}");
    if names.is_empty() { Err("there is no file in the bundle".into()) } else { Ok(()) }
}

fn files_below(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { files_below(&path, found) } else { found.push(fs::read(path).unwrap()) }
    }
}

/// An empty folder of this thread's own, in memory where the system has such a place.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let home = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let thread = format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_alphanumeric(), "");
        let folder = home.join(format!("kintsugi-feed-{}-{thread}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn holding(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn unpack(&self, bundle: &[u8]) -> Vec<String> {
        Self::unpack_into(&self.0, bundle)
    }

    /// Lays the files of a bundle into a folder; their names. One that leads out of the folder, or that the system does not
    /// take, is left out.
    fn unpack_into(folder: &Path, bundle: &[u8]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let Some(mut rest) = bundle.strip_prefix(b"--- ") else { return names };
        for _ in 0..MOST_FILES {
            let Some(end) = rest.iter().position(|&b| b == b'\n') else { break };
            let (name, after) = (&rest[..end], &rest[end + 1..]);
            let next = after.windows(5).position(|w| w == b"\n--- ");
            let content = &after[..next.unwrap_or(after.len())];
            let path = Path::new(std::str::from_utf8(name).unwrap_or(""));
            let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
            if stays && (1..80).contains(&name.len()) && path.components().count() <= 4 {
                let there = folder.join(path);
                let made = there.parent().map_or(Ok(()), fs::create_dir_all);
                if made.and_then(|()| fs::write(&there, content)).is_ok() {
                    names.push(path.to_string_lossy().into_owned());
                }
            }
            match next {
                Some(next) => rest = &after[next + 5..],
                None => break,
            }
        }
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
