//! The list of presets: five shipped ones, and those that the user saved, one file each.
//!
//! In: the user's folder. Out: presets in the order of their list, and a message for every invalid file.

use std::path::{Path, PathBuf};

use super::MaterialPreset;
use crate::{
    files,
    scene::{SceneError, make_own_folder, state_folder, write_atomically},
};

/// Size limit of a preset's file, bytes.
const LARGEST: u64 = 256 << 10;
/// Most files of the user's folder that are listed.
const MOST: usize = 500;

/// The shipped presets' files.
const SHIPPED: [&str; 5] = [
    include_str!("../../../assets/presets/ceramic.toml"),
    include_str!("../../../assets/presets/glass.toml"),
    include_str!("../../../assets/presets/concrete.toml"),
    include_str!("../../../assets/presets/wood.toml"),
    include_str!("../../../assets/presets/plaster.toml"),
];

/// A preset in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The preset.
    pub preset: MaterialPreset,
    /// The user's file; `None` for a shipped preset.
    pub file: Option<PathBuf>,
}

/// The folder of the user's presets, in the window's state folder.
#[must_use]
pub fn presets_folder() -> PathBuf {
    state_folder().join("presets")
}

/// All presets, the shipped ones first, and messages about files that were skipped.
#[must_use]
pub fn presets() -> (Vec<Listed>, Vec<String>) {
    presets_in(&presets_folder())
}

pub(super) fn presets_in(folder: &Path) -> (Vec<Listed>, Vec<String>) {
    let (mut listed, mut problems) = (Vec::new(), Vec::new());
    for text in SHIPPED {
        match MaterialPreset::parse(text, "a shipped preset") {
            Ok(preset) => listed.push(Listed { preset, file: None }),
            Err(error) => problems.push(error.message),
        }
    }
    // A missing folder counts as empty.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_toml(path)).collect();
    files.sort();
    if files.len() > MOST {
        problems.push(format!("{} holds more than {MOST} presets; the rest is left out", folder.display()));
    }
    for file in files.into_iter().take(MOST) {
        match read_preset(&file) {
            Ok(preset) if find(&listed, &preset.name).is_some() => problems.push(format!(
                "{}: there is another preset called {:?}; give it a name of its own",
                file.display(),
                preset.name
            )),
            Ok(preset) => listed.push(Listed { preset, file: Some(file) }),
            Err(error) => problems.push(error.message),
        }
    }
    (listed, problems)
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

fn find<'a>(listed: &'a [Listed], name: &str) -> Option<&'a Listed> {
    listed.iter().find(|one| one.preset.name.trim().to_lowercase() == name.trim().to_lowercase())
}

/// Reads a preset's file.
///
/// # Errors
/// [`SceneError`]: one line with the file, and what to do.
pub fn read_preset(file: &Path) -> Result<MaterialPreset, SceneError> {
    let shown = file.display();
    let error = SceneError::new;
    let bytes = files::read(file, LARGEST).map_err(|why| error(format!("{shown}: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|_| error(format!("{shown} is not text")))?;
    MaterialPreset::parse(&text, &shown.to_string())
}

/// Finds a preset by its name in the list, or else reads it from a file.
///
/// # Errors
/// [`SceneError`]: one line that says which there are.
pub fn preset_of(name_or_file: &str) -> Result<MaterialPreset, SceneError> {
    preset_from(&presets_folder(), name_or_file)
}

/// The same for a scene in `folder`: a preset's file is looked up there first.
///
/// # Errors
/// As [`preset_of`].
pub fn preset_beside(folder: &Path, name_or_file: &str) -> Result<MaterialPreset, SceneError> {
    let beside = folder.join(name_or_file);
    if is_toml(&beside) && beside.is_file() { read_preset(&beside) } else { preset_of(name_or_file) }
}

pub(super) fn preset_from(folder: &Path, name_or_file: &str) -> Result<MaterialPreset, SceneError> {
    let (listed, _) = presets_in(folder);
    if let Some(one) = find(&listed, name_or_file) {
        return Ok(one.preset.clone());
    }
    let path = Path::new(name_or_file);
    if is_toml(path) || path.exists() {
        return read_preset(path);
    }
    let names: Vec<_> = listed.iter().map(|one| one.preset.name.to_lowercase()).collect();
    let message =
        format!("no preset is called {name_or_file:?}; there are {}, or name a file", names.join(", "));
    Err(SceneError::new(message))
}

/// Saves a preset among the user's, replacing one of the same name. Returns its file.
///
/// # Errors
/// [`SceneError`] for values out of range, the name of a shipped one, or a folder that cannot be written to.
pub fn save_preset(preset: &MaterialPreset) -> Result<PathBuf, SceneError> {
    save_in(&presets_folder(), preset)
}

pub(super) fn save_in(folder: &Path, preset: &MaterialPreset) -> Result<PathBuf, SceneError> {
    let text = preset.to_text()?;
    let (listed, _) = presets_in(folder);
    let file = match find(&listed, &preset.name) {
        Some(Listed { file: Some(file), .. }) => file.clone(),
        Some(Listed { file: None, .. }) => {
            let message =
                format!("{:?} is one of the program's own presets; give yours another name", preset.name);
            return Err(SceneError::new(message));
        }
        None => free_name(folder, &preset.name).ok_or_else(|| {
            let shown = folder.display();
            SceneError::new(format!(
                "{shown} has no free name for the preset any more; take files away there"
            ))
        })?,
    };
    let write = || {
        make_own_folder(folder)?;
        write_atomically(&file, text.as_bytes())
    };
    let shown = file.display();
    write().map_err(|e| SceneError::new(format!("the preset cannot be saved as {shown}: {e}")))?;
    Ok(file)
}

/// A file name valid on every system, for a name that the user may choose freely.
fn free_name(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.trim().chars().map(plain).collect();
    let name = if name.trim_matches('-').is_empty() { "preset" } else { name.trim_matches('-') };
    let first = folder.join(format!("{name}.toml"));
    let others = (2..=MOST + 2).map(|i| folder.join(format!("{name}-{i}.toml")));
    // A link that leads nowhere is somebody's, too.
    std::iter::once(first).chain(others).find(|path| path.symlink_metadata().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_takes_no_name_that_is_taken() {
        let folder = std::env::temp_dir().join(format!("kintsugi-preset-names-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut preset = presets_in(&folder).0[0].preset.clone();
        "My glaze".clone_into(&mut preset.name);
        while let Some(file) = free_name(&folder, &preset.name) {
            std::fs::write(file, "somebody's").unwrap();
        }
        let error = save_in(&folder, &preset).unwrap_err().message;
        assert!(error.contains("no free name"), "{error}");
        let files = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        assert!(files().count() > MOST);
        assert!(files().all(|file| std::fs::read(file).unwrap() == b"somebody's"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
