//! Scene files: TOML to [`Scene`] and back, with errors that name file, line and field.
//!
//! In: a path. Out: a checked scene whose mesh paths are resolved. Writing goes through a temporary file, a
//! flush and a rename, so that a crash leaves either the old file or the new one.

mod check;
mod of_preset;
mod outside;
mod range;
mod safely;
#[cfg(test)]
mod tests;

pub use check::fracture_problem;
pub use outside::is_below;
pub use safely::{make_own_folder, shipped_scenes, state_folder, write_atomically};

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{
    Scene,
    home::{LARGEST_SCENE, SceneFile},
};
use crate::{
    files::{self, Unread},
    render::Backdrop,
};
use check::{check, line_of};

/// Why a scene could not be read or written: one line that says what, where and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SceneError {
    /// The message, one line.
    pub message: String,
    /// Which files outside its folder the scene names, if it was refused for that; [`load_scene_with_outside`] reads it.
    pub names_outside: Option<String>,
}

impl SceneError {
    pub(crate) fn new(message: String) -> Self {
        Self { message, names_outside: None }
    }
}

fn error(message: impl Into<String>) -> SceneError {
    SceneError::new(message.into())
}

/// Reads a scene file. Relative mesh paths become relative to the scene file's folder; a missing mesh is replaced by
/// its fallback.
///
/// # Errors
/// [`SceneError`] for files that cannot be read, are not TOML, have unknown fields, hold values out of range, or name
/// files outside the scene's folder.
pub fn load_scene(path: &Path) -> Result<Scene, SceneError> {
    Ok(load_scene_file(path)?.0)
}

/// The same for a scene that may name any file: the user has allowed it.
///
/// # Errors
/// As [`load_scene`].
pub fn load_scene_with_outside(path: &Path) -> Result<(Scene, SceneFile), SceneError> {
    load(path, true)
}

/// The same, with the file to save over, which remembers what it held.
///
/// # Errors
/// As [`load_scene`].
pub fn load_scene_file(path: &Path) -> Result<(Scene, SceneFile), SceneError> {
    load(path, false)
}

fn load(path: &Path, may_name_outside: bool) -> Result<(Scene, SceneFile), SceneError> {
    let shown = path.display();
    let bytes = files::read(path, LARGEST_SCENE).map_err(|why| match why {
        Unread::TooLarge { .. } => error(format!("{shown} {why}; a scene is text")),
        Unread::Folder | Unread::NotRegular | Unread::Other(_) => error(format!("{shown} {why}")),
        Unread::NotFound | Unread::Forbidden => error(format!("{shown}: {why}")),
    })?;
    let file = SceneFile::holding(path, &bytes);
    let text = String::from_utf8(bytes).map_err(|e| {
        error(format!("{shown} is not text (byte {}); is it a mesh file?", e.utf8_error().valid_up_to()))
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut scene = parse_scene_in(folder, &text, &shown.to_string(), may_name_outside)?;
    if !may_name_outside {
        outside::check(path, file.sha256(), &scene)?;
    }
    let in_folder = |file: &str| !(file.starts_with("builtin:") || Path::new(file).is_absolute());
    let behind = scene.backdrop.iter().map(|backdrop| &backdrop.file);
    if scene.bodies.iter().map(|body| &body.file).chain(behind).any(|file| in_folder(file)) {
        files::as_text(folder).map_err(|why| error(format!("{shown}: {why}")))?;
    }
    resolve_names(&mut scene, folder);
    read_backdrop(&mut scene, &shown.to_string())?;
    if scene.name.is_empty() {
        scene.name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    }
    Ok((scene, file))
}

/// Reads a scene from text that names files relative to `folder`, as a scene file there would. With `may_name_outside`
/// it may name files that lie elsewhere, too.
///
/// # Errors
/// As [`load_scene`].
pub fn parse_scene_from(folder: &Path, text: &str, may_name_outside: bool) -> Result<Scene, SceneError> {
    let mut scene = parse_scene_in(folder, text, "the scene's text", may_name_outside)?;
    if !may_name_outside {
        outside::check(&folder.join("text"), &Sha256::digest(text).into(), &scene)?;
    }
    resolve_names(&mut scene, folder);
    read_backdrop(&mut scene, "the scene's text")?;
    Ok(scene)
}

/// Reads the picture behind the scene; `shown` names the scene in errors.
fn read_backdrop(scene: &mut Scene, shown: &str) -> Result<(), SceneError> {
    let read = scene.backdrop.as_mut().map_or(Ok(()), Backdrop::open);
    read.map_err(|why| {
        error(format!("{shown}: {why}; without [backdrop] the scene has the light of [light] alone"))
    })
}

/// Makes file names relative to `folder` usable from where the program runs, replaces a missing mesh by its fallback, and
/// sorts events by time.
fn resolve_names(scene: &mut Scene, folder: &Path) {
    let in_folder = |file: &str| {
        if file.starts_with("builtin:") || Path::new(file).is_absolute() {
            return file.to_owned();
        }
        folder.join(file).to_string_lossy().into_owned()
    };
    for body in scene.objects_mut() {
        body.file = in_folder(&body.file);
        body.fallback = body.fallback.as_deref().map(in_folder);
        let missing = !body.file.starts_with("builtin:") && !Path::new(&body.file).exists();
        if let Some(fallback) = body.fallback.clone().filter(|_| missing) {
            body.missing = Some(std::mem::replace(&mut body.file, fallback));
        }
    }
    for params in scene.fractures_mut() {
        params.seeds_file = params.seeds_file.as_deref().map(in_folder);
    }
    if let Some(backdrop) = &mut scene.backdrop {
        backdrop.file = in_folder(&backdrop.file);
    }
    // Sorted by time; events at the same time keep their order in the file.
    scene.events.sort_by(|a, b| a.time().total_cmp(&b.time()));
}

/// Reads a scene from text; `shown` names it in errors. Mesh paths stay as they are written.
///
/// # Errors
/// [`SceneError`].
pub fn parse_scene(text: &str, shown: &str) -> Result<Scene, SceneError> {
    parse_scene_in(Path::new(""), text, shown, true)
}

/// The same for a file in `folder`, where preset files are looked up.
fn parse_scene_in(
    folder: &Path,
    text: &str,
    shown: &str,
    may_name_outside: bool,
) -> Result<Scene, SceneError> {
    crate::papers::register();
    let told = |e: toml::de::Error| {
        let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        error(format!("{shown}, line {line}: {}", e.message().replace('\n', " ")))
    };
    let mut table: toml::Table = toml::from_str(text).map_err(told)?;
    let mut scene: Scene = match of_preset::fill_in(&mut table, folder, may_name_outside) {
        // Parsed from the text, so that errors have line numbers.
        Ok(0) => toml::from_str(text).map_err(told)?,
        Ok(_) => table
            .try_into()
            .map_err(|e: toml::de::Error| error(format!("{shown}: {}", e.message().replace('\n', " "))))?,
        Err(why) => return Err(SceneError { message: format!("{shown}: {}", why.message), ..why }),
    };
    // Where a body names no material, the usual one is its own.
    scene.objects_mut().for_each(|body| body.fracture.interior.is_left_out = false);
    check(&scene).map_err(|problem| {
        error(format!("{shown}, line {}: {} {}", line_of(text, &problem), problem.field(), problem.what))
    })?;
    Ok(scene)
}

/// The name of the first value out of range, and what is wrong; `None` if there is none.
pub(super) fn problem_of(scene: &Scene) -> Option<String> {
    check(scene).err().map(|problem| format!("{} {}", problem.name(), problem.what))
}

/// A relative path with slashes, which every system can read; Windows accepts them like its own backslashes.
fn with_slashes(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// What came of saving a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedScene {
    /// The file and what it holds now.
    pub file: SceneFile,
    /// What was brought into the range that scenes can express, one line each.
    pub remarks: Vec<String>,
}

/// Writes a scene; mesh paths inside the scene file's folder are written relative to it. Values that a scene file cannot
/// express, such as the place of a body that flew off for good, are brought into range.
///
/// # Errors
/// [`SceneError`].
pub fn save_scene(path: &Path, scene: &Scene) -> Result<SavedScene, SceneError> {
    let mut scene = scene.clone();
    let remarks = scene.bring_into_range();
    check(&scene).map_err(|problem| error(format!("cannot save: {} {}", problem.field(), problem.what)))?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let relative = |file: &mut String| {
        if !file.starts_with("builtin:")
            && let Some(full) = canonical(Path::new(file.as_str()))
        {
            *file = match full.strip_prefix(&folder) {
                Ok(below) => with_slashes(below),
                Err(_) => full.to_string_lossy().into_owned(),
            };
        }
    };
    for body in scene.objects_mut() {
        if let Some(missing) = body.missing.take() {
            body.file = missing;
        }
        relative(&mut body.file);
        body.fallback.iter_mut().for_each(relative);
    }
    scene.fractures_mut().filter_map(|params| params.seeds_file.as_mut()).for_each(relative);
    scene.backdrop.iter_mut().for_each(|backdrop| relative(&mut backdrop.file));
    let text =
        toml::to_string_pretty(&scene).map_err(|e| error(format!("cannot save {}: {e}", path.display())))?;
    // A file too large to be opened again is not written; the earlier file stays.
    if text.len() as u64 > LARGEST_SCENE {
        let [size, most] = [text.len() as u64, LARGEST_SCENE].map(|bytes| bytes.div_ceil(1 << 20));
        return Err(error(format!(
            "cannot save {}: it would be {size} MiB, and a scene is read up to {most}; take bodies or events away",
            path.display()
        )));
    }
    parse_scene(&text, &path.display().to_string()).map_err(|e| error(format!("cannot save: {e}")))?;
    write_atomically(path, text.as_bytes())
        .map_err(|e| error(format!("cannot save {}: {e}; save it under another name", path.display())))?;
    outside::note_saved(path, &scene, text.as_bytes());
    Ok(SavedScene { file: SceneFile::holding(path, text.as_bytes()), remarks })
}

/// The absolute path of a file, which need not exist if its folder does.
fn canonical(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.canonicalize()
        .or_else(|_| {
            Ok::<_, std::io::Error>(folder.canonicalize()?.join(path.file_name().unwrap_or_default()))
        })
        .ok()
}
