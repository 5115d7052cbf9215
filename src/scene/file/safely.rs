//! Atomic writing of files, and the folders that the program uses.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::{export::disk::replace_file, launch};

/// Writes `bytes` beside `path`, flushes them to the disk, and renames. A link stays a link: the file that it leads to is
/// written. A file that is there keeps its access rights.
///
/// # Errors
/// The file system's; and for a file that may not be written, or is none. What was there is there still.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = led_to(path)?;
    may_be_replaced(&path)?;
    replace_file(&path, bytes)
}

/// The file that a chain of links leads to, which need not exist.
fn led_to(path: &Path) -> io::Result<PathBuf> {
    if let Ok(there) = path.canonicalize() {
        return Ok(there);
    }
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "is a link that leads to itself"))
}

/// A rename asks only for the folder's rights, so a file that may not be written is refused here.
fn may_be_replaced(path: &Path) -> io::Result<()> {
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !about.is_file() {
        let what = if about.is_dir() { "is a folder" } else { "is not a regular file" };
        return Err(io::Error::new(ErrorKind::InvalidInput, what));
    }
    OpenOptions::new().write(true).open(path).map(drop)
}

/// The folder of the window's own files: in the user's state folder, or else, for a user without a home, in the temporary
/// folder.
#[must_use]
pub fn state_folder() -> PathBuf {
    state_folder_of(std::env::var_os("XDG_STATE_HOME").map(PathBuf::from), std::env::home_dir())
}

fn state_folder_of(state: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
    let home = home.map(|home| home.join(".local/state"));
    // A relative path, or an empty one, would be another folder wherever the program is started.
    let own = [state, home].into_iter().flatten().find(|folder| folder.is_absolute());
    own.map_or_else(|| std::env::temp_dir().join(of_this_user()), |folder| folder.join("kintsugi"))
}

/// A name that no other user's program takes.
fn of_this_user() -> String {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if let Ok(about) = fs::metadata("/proc/self") {
            return format!("kintsugi-{}", about.uid());
        }
    }
    "kintsugi".to_owned()
}

/// Makes a folder that only its user may look into, and the folders above it. A folder of the window that is there and that
/// others may look into, as earlier versions made it, is closed to them.
///
/// # Errors
/// The file system's; and for a folder in the temporary folder that somebody else has made.
pub fn make_own_folder(folder: &Path) -> io::Result<()> {
    let state = state_folder();
    if folder != state && folder.starts_with(&state) {
        make_own_folder(&state)?;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let about = fs::symlink_metadata(folder)?;
        let is_foreign = fs::metadata("/proc/self").is_ok_and(|own| own.uid() != about.uid());
        // No other folder than the window's, such as the temporary folder itself.
        let is_the_windows = folder.starts_with(&state) || folder.ends_with("kintsugi");
        if is_the_windows && about.is_dir() && !is_foreign && about.mode() & 0o077 != 0 {
            // A file system without rights has nothing to close.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
        }
        if folder.starts_with(std::env::temp_dir()) && (is_foreign || about.is_symlink()) {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "somebody else has made it; set HOME"));
        }
        Ok(())
    }
    #[cfg(not(unix))]
    fs::create_dir_all(folder)
}

/// The folder of the shipped scenes: in the folder that [`launch`] names, beside or above the executable, in `share/kintsugi`
/// above it, or in the source tree. `None` if only the executable was installed.
#[must_use]
pub fn shipped_scenes() -> Option<PathBuf> {
    scenes_of(launch::share(), std::env::current_exe().ok().as_deref())
}

fn scenes_of(share: Option<&Path>, program: Option<&Path>) -> Option<PathBuf> {
    let above = program.into_iter().flat_map(|program| program.ancestors().skip(1));
    let above = above.flat_map(|place| [place.to_owned(), place.join("share/kintsugi")]);
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let places = share.map(Path::to_owned).into_iter().chain(above).chain([sources]);
    places.map(|place| place.join("assets/scenes")).find(|folder| folder.join("vase.toml").is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("kintsugi-safely-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_link_stays_and_the_file_that_it_leads_to_is_written_with_its_rights() {
        let folder = folder("link");
        fs::create_dir(folder.join("real")).unwrap();
        let (real, link) = (folder.join("real/a.toml"), folder.join("a.toml"));
        symlink("real/a.toml", &link).unwrap();
        write_atomically(&link, b"one").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"one", "a link to a file that is not there yet");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        write_atomically(&link, b"two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read(&real).unwrap().as_slice(), mode(&real)), (b"two".as_slice(), 0o600));
        symlink("loop", folder.join("loop")).unwrap();
        assert!(write_atomically(&folder.join("loop"), b"x").is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_longest_name_that_can_be_opened_can_be_saved() {
        let folder = folder("long");
        let path = folder.join(format!("{}ü.toml", "a".repeat(248)));
        write_atomically(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = folder("none");
        assert!(write_atomically(&folder, b"x").unwrap_err().to_string().contains("folder"));
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(write_atomically(&pipe, b"x").unwrap_err().to_string().contains("regular"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn shipped_scenes_lie_where_the_host_says_beside_the_program_or_where_it_was_installed() {
        let home = folder("shipped");
        let scenes = |place: &str| {
            let folder = home.join(place).join("assets/scenes");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("vase.toml"), "").unwrap();
            folder
        };
        let program = home.join("usr/bin/kintsugi");
        let found = |share: Option<&Path>| scenes_of(share, Some(&program));
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
        assert_eq!((found(None), scenes_of(None, None)), (Some(sources.clone()), Some(sources.clone())));
        let installed = scenes("usr/share/kintsugi");
        assert_eq!(found(None), Some(installed));
        let beside = scenes("usr/bin");
        assert_eq!(found(None), Some(beside.clone()), "an unpacked archive has them beside the program");
        let host = home.join("host");
        assert_eq!(found(Some(&host)), Some(beside), "a host's folder may lack them");
        let of_host = scenes("host");
        assert_eq!(
            (found(Some(&host)), scenes_of(Some(&host), None)),
            (Some(of_host.clone()), Some(of_host))
        );
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn a_home_that_is_empty_or_relative_is_none() {
        let of = |state: Option<&str>, home: Option<&str>| {
            state_folder_of(state.map(PathBuf::from), home.map(PathBuf::from))
        };
        let temporary = std::env::temp_dir().join(of_this_user());
        for nowhere in [None, Some(""), Some("."), Some("home/me")] {
            assert_eq!(of(nowhere, nowhere), temporary, "{nowhere:?}");
            assert_eq!(of(nowhere, Some("/home/me")), Path::new("/home/me/.local/state/kintsugi"));
            assert_eq!(of(Some("/state"), nowhere), Path::new("/state/kintsugi"));
        }
        assert!(temporary.is_absolute());
    }

    #[test]
    fn the_windows_own_folder_is_for_its_user_alone() {
        let folder = folder("own").join("state/kintsugi");
        make_own_folder(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        make_own_folder(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700, "as an earlier version left it");
        assert!(state_folder().is_absolute());
        fs::remove_dir_all(folder.ancestors().nth(2).unwrap()).unwrap();
    }
}
