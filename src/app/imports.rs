//! Remembers the orientation, size and objects chosen for each mesh file, so that a bust that lay on its back needs to be put
//! upright only once.
//!
//! In: a mesh file. Out: its up axis and its length. Only the window uses this memory; commands use their options
//! alone.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    files,
    mesh::{Objects, Up},
    scene::{Scene, SceneBody, make_own_folder, state_folder, write_atomically},
};

/// Most files that are remembered.
const MOST: usize = 1000;
/// Size limit of the memory file, bytes.
const LARGEST: u64 = 1 << 20;

/// How one file was imported.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Import {
    /// The axis that points up.
    up: Up,
    /// Length of its longest side, m.
    size: f64,
    /// Which parts of it are one object, where somebody chose that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    objects: Option<Objects>,
}

fn path() -> PathBuf {
    // Tests leave the memory of whoever runs them alone.
    let tests = || std::env::temp_dir().join(format!("kintsugi-memory-{}", std::process::id()));
    if cfg!(test) { tests() } else { state_folder() }.join("imports.toml")
}

fn read(path: &Path) -> BTreeMap<String, Import> {
    // A memory that cannot be read counts as empty.
    let text = files::read(path, LARGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
}

/// The key under which a file is remembered; `None` for built-in shapes.
fn name(file: &str) -> Option<String> {
    if file.starts_with("builtin:") {
        return None;
    }
    Some(Path::new(file).canonicalize().ok()?.to_string_lossy().into_owned())
}

/// Applies the remembered orientation and size to the mesh of `scene`.
pub fn apply(scene: &mut Scene) {
    if let [body] = &mut scene.bodies[..] {
        apply_to(body);
    }
}

/// Applies the remembered orientation and size to a mesh.
pub fn apply_to(body: &mut SceneBody) {
    apply_from(&path(), body);
}

pub(super) fn apply_from(path: &Path, body: &mut SceneBody) {
    let Some(import) = name(&body.file).and_then(|name| read(path).remove(&name)) else { return };
    body.up = import.up;
    body.objects = import.objects.unwrap_or(body.objects);
    if (1e-4..=1e4).contains(&import.size) {
        body.size = Some(import.size);
    }
}

/// Remembers the orientation and size of a mesh.
///
/// # Errors
/// Errors of the file system.
pub fn remember(file: &str, up: Up, size: f64) -> std::io::Result<()> {
    remember_in(&path(), file, |import| (import.up, import.size) = (up, size))
}

/// Remembers which parts of a mesh file are one object.
///
/// # Errors
/// Errors of the file system.
pub fn remember_objects(file: &str, objects: Objects) -> std::io::Result<()> {
    remember_in(&path(), file, |import| import.objects = Some(objects))
}

/// Which parts of a mesh file are one object, where somebody chose that.
pub fn objects_of(file: &str) -> Option<Objects> {
    name(file).and_then(|name| read(&path()).remove(&name))?.objects
}

fn remember_in(path: &Path, file: &str, change: impl FnOnce(&mut Import)) -> std::io::Result<()> {
    let Some(name) = name(file) else { return Ok(()) };
    let mut all = read(path);
    // A mesh that stands on the floor has these, too.
    let usual = Import { up: Up::Y, size: 1.0, objects: None };
    change(all.entry(name.clone()).or_insert(usual));
    if all.len() > MOST {
        // Drops files that no longer exist first, then any.
        all.retain(|file, _| Path::new(file).exists());
        while all.len() > MOST
            && let Some(other) = all.keys().find(|file| **file != name).cloned()
        {
            all.remove(&other);
        }
    }
    let text = toml::to_string(&all).map_err(std::io::Error::other)?;
    path.parent().map_or(Ok(()), make_own_folder)?;
    write_atomically(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_as_it_was_and_others_are_not() {
        let folder = std::env::temp_dir().join(format!("kintsugi-imports-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (memory, mesh, other) = (folder.join("imports.toml"), folder.join("a.obj"), folder.join("b.obj"));
        std::fs::write(&mesh, "v 0 0 0\n").unwrap();
        std::fs::write(&other, "v 0 0 0\n").unwrap();
        let opened = |file: &Path| {
            let mut scene = Scene::of_mesh(&file.to_string_lossy(), 5);
            apply_from(&memory, &mut scene.bodies[0]);
            (scene.bodies[0].up, scene.bodies[0].size)
        };
        assert_eq!(opened(&mesh), (Up::Y, Some(1.0)));
        let set = |import: &mut Import| (import.up, import.size) = (Up::Z, 2.5);
        remember_in(&memory, &mesh.to_string_lossy(), set).unwrap();
        assert_eq!((opened(&mesh), opened(&other)), ((Up::Z, Some(2.5)), (Up::Y, Some(1.0))));
        remember_in(&memory, "builtin:vase", set).unwrap();
        // Objects are remembered beside size and axis, and alone.
        for file in [&mesh, &other] {
            let together = |import: &mut Import| import.objects = Some(Objects::Together);
            remember_in(&memory, &file.to_string_lossy(), together).unwrap();
            let mut scene = Scene::of_mesh(&file.to_string_lossy(), 5);
            assert_eq!(scene.bodies[0].objects, Objects::Touching);
            apply_from(&memory, &mut scene.bodies[0]);
            assert_eq!(scene.bodies[0].objects, Objects::Together);
        }
        assert_eq!((opened(&mesh), opened(&other)), ((Up::Z, Some(2.5)), (Up::Y, Some(1.0))));
        assert_eq!(read(&memory).len(), 2);
        // A damaged memory does not prevent opening a mesh.
        std::fs::write(&memory, "nonsense").unwrap();
        assert_eq!(opened(&mesh), (Up::Y, Some(1.0)));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
