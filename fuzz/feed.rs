//! What users' files go through: the fuzzing targets and `tests/corpus.rs` come in here alike.

use kintsugi::{mesh, scene};

/// Kinds of files, as the folders of the corpus are called.
#[allow(dead_code, reason = "a target is one kind")]
pub const KINDS: [&str; 10] = ["obj", "ply", "stl", "off", "gltf", "glb", "vox", "scene", "seeds", "npy"];

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
            let seeds = scene::parse_seeds(bytes, kind == "npy")?;
            assert!(!seeds.is_empty() && seeds.iter().all(|seed| seed.is_finite()));
            Ok(())
        }
        extension => {
            let (mesh, _) = mesh::load_bytes(bytes, extension).map_err(|error| error.message)?;
            let count = mesh.positions.len();
            assert!(!mesh.triangles.is_empty());
            assert!(mesh.triangles.iter().flatten().all(|&corner| (corner as usize) < count));
            assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
            Ok(())
        }
    }
}

/// Asserts that a refusal is one line with a few words in it.
pub fn is_a_line_that_helps(refusal: &str) {
    assert!(!refusal.contains('\n') && refusal.len() > 15, "{refusal:?}");
}
