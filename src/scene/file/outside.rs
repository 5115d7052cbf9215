//! Which files a scene may name: files below its own folder, unless the user allows others.
//!
//! In: a scene as it is written, its folder. Out: the files that lie elsewhere. A scene from elsewhere could otherwise have
//! any file of the user's opened, and on Windows a path to a server would send that server the user's name. Nothing at such
//! a path is touched before the user has allowed it.
//!
//! Scenes that this program saved for the user may name what they name: an export into another folder than the mesh's,
//! or a scene saved beside other meshes, must open again. The state folder holds the hashes of such scenes.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::{Component, Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{SceneError, error, make_own_folder, shipped_scenes, state_folder};
use crate::{
    files,
    mesh::{digest::hexadecimal, references_may_lie_outside},
    scene::Scene,
};

/// The list of hashes, in the state folder: one in hexadecimal digits a line.
const OWN: &str = "own-scenes";
/// Bytes of a line of the list.
const LINE: usize = 65;
/// Length of the list, bytes: some 16,000 scenes. A longer list loses its older half.
const LARGEST: usize = 1 << 20;

/// The files that the scene names, with the field that names each.
fn names(scene: &Scene) -> impl Iterator<Item = (&'static str, &str)> {
    let bodies =
        scene.objects().flat_map(|body| [("file", Some(&body.file)), ("fallback", body.fallback.as_ref())]);
    let seeds = scene.fractures().map(|params| ("seeds_file", params.seeds_file.as_ref()));
    let behind = ("file", scene.backdrop.as_ref().map(|backdrop| &backdrop.file));
    bodies.chain(seeds).chain([behind]).filter_map(|(field, name)| Some((field, name?.as_str())))
}

/// Whether a file that is named so lies below `folder`. The text is judged first, so that nothing outside is touched; then
/// links are resolved. A missing file does no harm.
pub fn is_below(folder: &Path, name: &str) -> bool {
    if name.starts_with("builtin:") || references_may_lie_outside() {
        return true;
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = folder.canonicalize();
    // Windows takes both slashes.
    let name = if cfg!(windows) { name.replace('\\', "/") } else { name.to_owned() };
    let path = Path::new(&name);
    let below = if path.is_absolute() || path.has_root() {
        let Ok(real) = &real else { return false };
        let Ok(below) = path.strip_prefix(real).or_else(|_| path.strip_prefix(folder)) else { return false };
        below
    } else {
        path
    };
    let mut depth = 0_usize;
    for part in below.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::Prefix(_) | Component::RootDir => return false,
        }
    }
    match (folder.join(below).canonicalize(), real) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        _ => true,
    }
}

/// Whether the scene file is the program's own: a shipped one, a session that was kept by itself, or one that the program
/// has saved for this user.
fn is_own(path: &Path, sha256: &[u8; 32]) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let is_in = |folder: PathBuf| {
        real(path).is_some_and(|path| real(&folder).is_some_and(|folder| path.starts_with(folder)))
    };
    is_in(state_folder()) || shipped_scenes().is_some_and(is_in) || {
        let list = files::read(&state_folder().join(OWN), 2 * LARGEST as u64).unwrap_or_default();
        let wanted = line(sha256);
        list.chunks(LINE).any(|line| line == wanted.as_bytes())
    }
}

fn line(sha256: &[u8; 32]) -> String {
    format!("{}\n", hexadecimal(sha256))
}

/// Checks that the scene, as it is written in the file at `path`, names no file outside its folder.
///
/// # Errors
/// [`SceneError`] with [`SceneError::names_outside`] set.
pub(super) fn check(path: &Path, sha256: &[u8; 32], scene: &Scene) -> Result<(), SceneError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let outside: Vec<_> = names(scene).filter(|(_, name)| !is_below(folder, name)).collect();
    let Some((field, name)) = outside.first() else { return Ok(()) };
    if is_own(path, sha256) {
        return Ok(());
    }
    let refused = refusal(field, name, outside.len() - 1);
    Err(SceneError { message: format!("{}: {}", path.display(), refused.message), ..refused })
}

/// The error for a scene that names files outside its folder: the field and name of one, and the number of further ones.
pub(super) fn refusal(field: &str, name: &str, more: usize) -> SceneError {
    let more = match more {
        0 => String::new(),
        1 => " and one file more".to_owned(),
        more => format!(" and {more} files more"),
    };
    let names = format!("{field} {name:?}{more}");
    let message = format!(
        "{names} lies outside the folder of the scene; copy it there, or start with --outside-references if you trust \
         the scene"
    );
    SceneError { names_outside: Some(names), ..error(message) }
}

/// Notes that the program has saved this scene for the user, as `text`, so that it opens again. The note is written only
/// for a scene that names files outside its folder. A state folder that cannot be written is no error: opening the scene
/// then takes the user's leave.
pub(super) fn note_saved(path: &Path, scene: &Scene, text: &[u8]) {
    let folder = path.parent().unwrap_or(Path::new(""));
    // Judged as though nothing were allowed, since the next start may allow nothing.
    let leads_outside = names(scene).any(|(_, name)| {
        !name.starts_with("builtin:") && (Path::new(name).is_absolute() || !is_below(folder, name))
    });
    let state = state_folder();
    if !leads_outside || path.starts_with(&state) {
        return;
    }
    let sha256: [u8; 32] = Sha256::digest(text).into();
    let append = || -> std::io::Result<()> {
        make_own_folder(&state)?;
        let list = state.join(OWN);
        let there = files::read(&list, 2 * LARGEST as u64).unwrap_or_default();
        let line = line(&sha256);
        if there.chunks(LINE).any(|one| one == line.as_bytes()) {
            return Ok(());
        }
        if there.len() >= LARGEST {
            let half = there.len() / 2 / LINE * LINE;
            super::write_atomically(&list, &there[half..])?;
        }
        let mut file: File = OpenOptions::new().append(true).create(true).open(&list)?;
        file.write_all(line.as_bytes())
    };
    let _ = append();
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::scene::{load_scene, load_scene_with_outside, save_scene};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("kintsugi-outside-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("scenes/below")).unwrap();
        folder.canonicalize().unwrap()
    }

    #[test]
    fn a_scene_names_files_below_its_folder_unless_the_user_allows_others() {
        let folder = folder("rule");
        let scenes = folder.join("scenes");
        for place in ["secret.obj", "scenes/own.obj", "scenes/below/deep.obj"] {
            fs::write(folder.join(place), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.join("secret.obj"), scenes.join("link.obj")).unwrap();
        let outside = folder.join("secret.obj").display().to_string();
        let inside = scenes.join("own.obj").display().to_string();
        let cases = [
            (inside.as_str(), true),
            ("own.obj", true),
            ("./below/../own.obj", true),
            ("below/deep.obj", true),
            ("missing.obj", true),
            ("builtin:box", true),
            (outside.as_str(), false),
            ("../secret.obj", false),
            ("below/../../secret.obj", false),
            ("../scenes/own.obj", false),
            ("/nowhere/at/all.obj", false),
            ("//server/share/mesh.obj", false),
            #[cfg(unix)]
            ("link.obj", false),
        ];
        let file = scenes.join("a.toml");
        let body = |name: &str| format!("[[body]]\nfile = \"{name}\"\nlevel = 3\n");
        for (name, fine) in cases {
            let within = [
                body(name),
                format!("{}fallback = \"{name}\"\n", body("own.obj")),
                format!("{}[body.fracture]\nseeds_file = \"{name}\"\n", body("own.obj")),
                format!(
                    "{}[[event]]\nkind = \"impact\"\ntime = 1.0\nbody = 0\npoint = [0, 0, 0]\ndirection = [0, 0, 1]\nspeed = \
                     1.0\n[event.fracture]\nseeds_file = \"{name}\"\n",
                    body("own.obj")
                ),
            ];
            for (field, text) in ["file", "fallback", "seeds_file", "seeds_file"].into_iter().zip(within) {
                fs::write(&file, &text).unwrap();
                match load_scene(&file) {
                    Ok(_) => assert!(fine, "{name} as {field} was read"),
                    Err(error) => {
                        assert!(!fine && error.names_outside.is_some(), "{name}: {error}");
                        let said = error.message;
                        assert!(
                            said.contains(field)
                                && said.contains(name)
                                && said.contains("--outside-references"),
                            "{said}"
                        );
                    }
                }
                assert!(load_scene_with_outside(&file).is_ok(), "{name} as {field} is allowed");
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_preset_file_of_a_scene_lies_below_its_folder_too() {
        let folder = folder("preset");
        let preset = "name = \"Own\"\ndensity = 1234.0\n";
        fs::write(folder.join("own.toml"), preset).unwrap();
        fs::write(folder.join("scenes/own.toml"), preset).unwrap();
        let file = folder.join("scenes/a.toml");
        for (name, fine) in [("own.toml", true), ("../own.toml", false)] {
            let text = format!("[[body]]\nfile = \"builtin:box\"\nlevel = 3\npreset = \"{name}\"\n");
            fs::write(&file, text).unwrap();
            let read = load_scene(&file);
            assert_eq!(read.is_ok(), fine, "{name}: {read:?}");
            assert!(
                fine || read
                    .is_err_and(|error| error.names_outside.is_some_and(|names| names.contains("preset")))
            );
            assert!(load_scene_with_outside(&file).is_ok(), "{name} is allowed");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_scene_that_the_program_saved_opens_again_whatever_it_names_and_not_once_it_is_edited() {
        let folder = folder("saved");
        let mesh = folder.join("mesh.obj");
        fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        let file = folder.join("scenes/saved.toml");
        save_scene(&file, &Scene::of_mesh(&mesh.display().to_string(), 3)).unwrap();
        assert!(load_scene(&file).is_ok(), "{:?}", load_scene(&file));
        let copied = folder.join("copy.toml");
        fs::copy(&file, &copied).unwrap();
        assert!(load_scene(&copied).is_ok());
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("mesh.obj", "other.obj")).unwrap();
        assert!(load_scene(&file).is_err_and(|error| error.names_outside.is_some()));
        fs::remove_dir_all(folder).unwrap();
    }
}
