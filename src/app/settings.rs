//! The user's settings of the window, kept in the folder of the program's state.

use std::path::{Path, PathBuf};

use crate::{
    files,
    scene::{make_own_folder, state_folder, write_atomically},
    ui::Keymap,
};

/// Size limit of the file, bytes.
const LARGEST: u64 = 1 << 16;

/// The settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Mouse and key bindings of the camera.
    pub keymap: Keymap,
    /// Whether the tour of the first start was seen or left.
    pub toured: bool,
}

fn path() -> PathBuf {
    state_folder().join("settings.toml")
}

impl Settings {
    /// Reads the last settings; values that cannot be read get their defaults.
    pub fn read() -> Self {
        Self::read_from(&path())
    }

    pub fn read_from(path: &Path) -> Self {
        let text = files::read(path, LARGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        text.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
    }

    /// Writes the settings.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn write(&self) -> std::io::Result<()> {
        self.write_to(&path())
    }

    fn write_to(&self, path: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        path.parent().map_or(Ok(()), make_own_folder)?;
        write_atomically(path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_is_there_again_and_a_spoilt_file_is_no_harm() {
        let folder = std::env::temp_dir().join(format!("kintsugi-settings-{}", std::process::id()));
        let file = folder.join("settings.toml");
        assert_eq!(Settings::read_from(&file), Settings::default());
        for keymap in Keymap::ALL {
            let chosen = Settings { keymap, toured: keymap != Keymap::Blender };
            chosen.write_to(&file).unwrap();
            assert_eq!(Settings::read_from(&file), chosen);
            // The settings are what the window writes first, so they make the folder of all its files.
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
            }
        }
        std::fs::write(&file, "keymap = \"emacs\"").unwrap();
        assert_eq!(Settings::read_from(&file), Settings::default());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
