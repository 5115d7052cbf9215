//! One file at a place that the user named: written beside it, flushed, renamed.
//!
//! In: a path, bytes. Out: the whole file or the one before. A file that the program did not write is kept under the
//! first free name, `x.before.png`. Pictures carry a signature of the program; of other files `.kintsugi-written.json`
//! beside them has size and SHA-256.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use super::{
    Disk, Kind, Manifest, Mark, RealDisk, UnderWay, change::kept_note, changing, flush_names, free_name,
};
use crate::{ExportError, provenance::VERSION};

/// Numbers the files that this process writes.
static NEXT: AtomicU32 = AtomicU32::new(0);
/// Numbered names that are tried.
const MOST_NAMES: u32 = 10_000;

/// The list of files in a folder that the program wrote there one by one. Results folders have a list of their own:
/// what that one names goes with the next results.
const WRITTEN: &str = ".kintsugi-written.json";

/// How a file that the program wrote is told from somebody's own.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    /// By its bytes.
    Signed(&'a dyn Fn(&[u8]) -> bool),
    /// By the list beside it.
    Listed,
}

/// Writes `bytes` to `path`. A file there that holds other bytes, and that `is_own` does not know as the program's, is
/// kept under a free name; the answer is a line about that. A link is followed; a pipe or a device gets the bytes as they
/// are.
///
/// # Errors
/// [`ExportError::Write`]; what was there is then unchanged.
pub fn put_file(
    path: &Path,
    bytes: &[u8],
    is_own: &dyn Fn(&[u8]) -> bool,
) -> Result<Option<String>, ExportError> {
    put(path, bytes, Known::Signed(is_own))
}

/// The same for a file whose bytes do not say who wrote it: a list beside it does.
///
/// # Errors
/// As [`put_file`].
pub fn put_listed(path: &Path, bytes: &[u8]) -> Result<Option<String>, ExportError> {
    put(path, bytes, Known::Listed)
}

fn put(path: &Path, bytes: &[u8], known: Known<'_>) -> Result<Option<String>, ExportError> {
    let failed = |e: io::Error| ExportError::write(path, e);
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            Err(ExportError::write(path, "there is a folder of that name; give another name"))
        }
        Ok(about) if !about.is_file() => fs::write(path, bytes).map(|()| None).map_err(failed),
        Ok(_) => {
            let real = path.canonicalize().map_err(failed)?;
            clear_away_parts(&real);
            put_on(&RealDisk, &real, bytes, known).map_err(failed)
        }
        Err(_) => {
            clear_away_parts(path);
            put_on(&RealDisk, path, bytes, known).map_err(failed)
        }
    }
}

/// Writes `bytes` to a new file of the first free one of some numbered names in `folder`; the answer is its path. Programs
/// that do so at the same moment get names of their own.
///
/// # Errors
/// [`ExportError::Write`].
pub fn put_new(folder: &Path, name: impl Fn(u32) -> String, bytes: &[u8]) -> Result<PathBuf, ExportError> {
    let temporary = beside(&folder.join(name(1)));
    let under_way = UnderWay::at(&temporary);
    let put = fill(&RealDisk, &temporary, &temporary, bytes).and_then(|()| {
        let _changing = changing();
        take_name(&RealDisk, folder, name, &temporary)
    });
    if put.is_err() {
        // The first error is the one to report.
        let _ = RealDisk.remove_file(&temporary);
    }
    drop(under_way);
    put.map_err(|error| ExportError::write(folder, error))
}

fn take_name(
    disk: &dyn Disk,
    folder: &Path,
    name: impl Fn(u32) -> String,
    temporary: &Path,
) -> io::Result<PathBuf> {
    for path in (1..MOST_NAMES).map(|i| folder.join(name(i))) {
        // Creating a file is the only question about a name whose answer still holds a moment later.
        match disk.create(&path, &[]) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        if let Err(error) = disk.rename(temporary, &path) {
            let _ = disk.remove_file(&path);
            return Err(error);
        }
        return flush_names(disk, folder).map(|()| path);
    }
    Err(io::Error::other(format!("{} has no free name any more; move files away", name(1))))
}

/// The same on any disk, where `path` is no link.
pub(super) fn put_on(
    disk: &dyn Disk,
    path: &Path,
    bytes: &[u8],
    known: Known<'_>,
) -> io::Result<Option<String>> {
    let there = disk.kind(path)?.is_some();
    let is_somebodys = there && {
        let old = disk.read(path)?;
        let is_own = || match known {
            Known::Signed(is_own) => Ok(is_own(&old)),
            Known::Listed => is_listed(disk, path),
        };
        old != bytes && !is_own()?
    };
    let temporary = beside(path);
    let under_way = UnderWay::at(&temporary);
    let (note, mark) = match fill(disk, path, &temporary, bytes).and_then(|()| {
        let mark = if let Known::Listed = known { Some(disk.mark(&temporary)?) } else { None };
        let _changing = changing();
        Ok((swap(disk, path, &temporary, is_somebodys)?, mark))
    }) {
        Ok(done) => done,
        Err(error) => {
            // The first error is the one to report.
            let _ = disk.remove_file(&temporary);
            return Err(error);
        }
    };
    drop(under_way);
    if let Some(mark) = mark {
        // A file that is not on the list is kept the next time, as somebody's own: nothing is lost.
        let _ = list(disk, path, mark);
    }
    Ok(note)
}

/// The place of the list beside `path`, and the name there; `None` for a name that no list can hold.
fn entry(path: &Path) -> Option<(PathBuf, &str)> {
    Some((path.with_file_name(WRITTEN), path.file_name()?.to_str()?))
}

fn is_listed(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    let Some((place, name)) = entry(path) else { return Ok(false) };
    let list = Manifest::at(disk, &place)?.unwrap_or_default();
    Ok(list.files.contains_key(name) && list.files.get(name) == Some(&disk.mark(path)?))
}

/// Notes a file that was written, and forgets those that are gone. A file of the list's name that is no list stays.
fn list(disk: &dyn Disk, path: &Path, mark: Mark) -> io::Result<()> {
    let Some((place, name)) = entry(path) else { return Ok(()) };
    let there = disk.kind(&place)?.is_some();
    let Some(mut list) = Manifest::at(disk, &place)?.or((!there).then(Manifest::default)) else {
        return Ok(());
    };
    VERSION.clone_into(&mut list.version);
    list.files.retain(|name, _| matches!(disk.kind(&path.with_file_name(name)), Ok(Some(Kind::File))));
    list.files.insert(name.to_owned(), mark);
    let temporary = beside(&place);
    let _under_way = UnderWay::at(&temporary);
    let written = disk.create(&temporary, &list.bytes()?).and_then(|()| {
        let _changing = changing();
        disk.rename(&temporary, &place)
    });
    written.inspect_err(|_| drop(disk.remove_file(&temporary)))
}

fn fill(disk: &dyn Disk, path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    // A name that a killed process of the same number left.
    if disk.kind(temporary)? == Some(Kind::File) {
        disk.remove_file(temporary)?;
    }
    // Who may read the file stays as it was.
    disk.create_like(temporary, path, bytes)?;
    disk.sync_file(temporary)
}

/// Writes `bytes` to a file of the program's own, such as a saved scene or its settings, in place of what it held. `path`
/// is no link. A file that is there keeps its access rights.
///
/// # Errors
/// The file system's. What was there is there still, but after a folder that could not be flushed: then the new file is.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    clear_away_parts(path);
    replace_on(&RealDisk, path, bytes)
}

/// The same on any disk. A signal neither waits for it nor takes the temporary file away: a window saves its session after
/// a signal has come.
pub(super) fn replace_on(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    for _ in 0..MOST_NAMES {
        let temporary = beside(path);
        match disk.create_like(&temporary, path, bytes) {
            // Something that lies there already, a link that somebody has put there above all, is not written through.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let placed = created
                    .and_then(|()| disk.sync_file(&temporary))
                    .and_then(|()| disk.rename(&temporary, path));
                if placed.is_err() {
                    // The first error is the one to report.
                    let _ = disk.remove_file(&temporary);
                    return placed;
                }
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                return flush_names(disk, folder).or_else(|error| match error.kind() {
                    // A folder may be writable and not readable. The file itself is flushed by then.
                    io::ErrorKind::PermissionDenied => Ok(()),
                    _ => Err(error),
                });
            }
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "too many hidden files lie beside it; delete .kintsugi-*.part",
    ))
}

/// Puts the new file in its place; somebody's own goes to another name first, flushed.
fn swap(disk: &dyn Disk, path: &Path, temporary: &Path, keeps: bool) -> io::Result<Option<String>> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let kept = if keeps { Some(keep(disk, path, folder)?) } else { None };
    let placed = disk.rename(temporary, path);
    if let (Err(error), Some(kept)) = (&placed, &kept) {
        let error = io::Error::new(error.kind(), error.to_string());
        // Otherwise it stays under the name that keeps it.
        let _ = disk.rename(kept, path);
        return Err(error);
    }
    placed?;
    flush_names(disk, folder)?;
    Ok(kept.map(|kept| kept_note(path, &kept)))
}

fn keep(disk: &dyn Disk, path: &Path, folder: &Path) -> io::Result<PathBuf> {
    let kept = free_name(disk, path)?;
    disk.rename(path, &kept)?;
    match flush_names(disk, folder) {
        Ok(()) => Ok(kept),
        Err(error) => {
            let _ = disk.rename(&kept, path);
            Err(error)
        }
    }
}

/// Beginning and end of the hidden names of files that are being written; the process's number follows the beginning.
const PART: [&str; 2] = [".kintsugi-", ".part"];

/// A hidden name beside `path`, short enough for any file system.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let [beginning, end] = PART;
    path.with_file_name(format!("{beginning}{}-{number}{end}", std::process::id()))
}

/// An empty file in `folder` that has no name, so that it ends with this process, however that ends.
pub(crate) fn nameless(folder: &Path) -> io::Result<fs::File> {
    let path = beside(&folder.join("any"));
    let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

/// Takes away what killed processes left half-written beside `path`, at the first file that this process writes there.
/// Where the system does not tell which processes are alive, all of it stays.
pub(crate) fn clear_away_parts(path: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_new = SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    let processes = Path::new("/proc/self").exists();
    if !(is_new && processes) {
        return;
    }
    for name in RealDisk.list(folder).unwrap_or_default() {
        let [beginning, end] = PART;
        let middle = name.strip_prefix(beginning).and_then(|rest| rest.strip_suffix(end));
        let process =
            middle.and_then(|middle| middle.split_once('-')).and_then(|(id, _)| id.parse::<u32>().ok());
        if process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(folder.join(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_in_one_folder_never_write_the_same_picture() {
        let home = std::env::temp_dir().join(format!("kintsugi-new-names-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("2.png"), "mine").unwrap();
        let windows = 8;
        let start = std::sync::Barrier::new(windows);
        let (home, start) = (&home, &start);
        let put = |window: usize| {
            start.wait();
            let bytes = |i| format!("picture {i} of window {window}").into_bytes();
            let put = |i| (put_new(home, |n| format!("{n}.png"), &bytes(i)).unwrap(), bytes(i));
            (0..50).map(put).collect::<Vec<_>>()
        };
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..windows).map(|window| scope.spawn(move || put(window))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        for (path, bytes) in &all {
            assert_eq!(&fs::read(path).unwrap(), bytes, "{}", path.display());
        }
        assert_eq!(fs::read(home.join("2.png")).unwrap(), b"mine");
        assert_eq!(fs::read_dir(home).unwrap().count(), all.len() + 1, "nothing else is left");
        fs::remove_dir_all(home).unwrap();
    }

    /// Somebody looks at the file at every moment while it is written, and must never find bytes that he may read.
    #[cfg(unix)]
    #[test]
    fn a_file_has_its_rights_before_its_bytes() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = std::env::temp_dir().join(format!("kintsugi-rights-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        let path = home.join("a.toml");
        fs::write(&path, "old").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for rights in [0o600, 0o640, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(rights)).unwrap();
            let (is_done, begun) = (std::sync::atomic::AtomicBool::new(false), std::time::Instant::now());
            let found = std::thread::scope(|scope| {
                let look = scope.spawn(|| {
                    let mut found = BTreeSet::new();
                    while !is_done.load(Ordering::SeqCst) && begun.elapsed().as_secs() < 60 {
                        for entry in fs::read_dir(&home).unwrap().flatten() {
                            if let Ok(about) = entry.metadata()
                                && about.len() > 0
                            {
                                found.insert(about.permissions().mode() & 0o777);
                            }
                        }
                    }
                    found
                });
                for _ in 0..20 {
                    replace_file(&path, &vec![7; 1 << 20]).unwrap();
                    assert_eq!(put_file(&path, &vec![8; 1 << 20], &|_| true).unwrap(), None);
                }
                is_done.store(true, Ordering::SeqCst);
                look.join().unwrap()
            });
            assert_eq!((found, mode(&path)), (BTreeSet::from([rights]), rights));
        }
        fs::remove_dir_all(home).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_lies_where_the_hidden_file_would_be_is_not_followed() {
        let home = std::env::temp_dir().join(format!("kintsugi-planted-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        let (victim, path) = (home.join("victim"), home.join("a.toml"));
        fs::write(&victim, "keep me").unwrap();
        let next = NEXT.load(Ordering::Relaxed);
        // Other tests take numbers meanwhile.
        for number in next..next + 100 {
            let planted = home.join(format!(".kintsugi-{}-{number}.part", std::process::id()));
            std::os::unix::fs::symlink(&victim, planted).unwrap();
        }
        replace_file(&path, b"one").unwrap();
        assert_eq!(
            (fs::read(&victim).unwrap(), fs::read(&path).unwrap()),
            (b"keep me".to_vec(), b"one".to_vec())
        );
        fs::remove_dir_all(home).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn links_and_permissions_stay_and_what_a_killed_process_left_goes() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = std::env::temp_dir().join(format!("kintsugi-single-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        // No process has the largest number.
        let left = home.join(format!(".kintsugi-{}-0.part", u32::MAX));
        let alive = home.join(".kintsugi-1-0.part");
        [&left, &alive].iter().for_each(|path| fs::write(path, "half").unwrap());
        let (real, link) = (home.join("real.csv"), home.join("link.csv"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("real.csv", &link).unwrap();
        assert_eq!(put_file(&link, b"new", &|old| old == b"old").unwrap(), None);
        assert!(!left.exists() && alive.exists());
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        // The same bytes are nothing to keep; others are.
        assert_eq!(put_file(&real, b"new", &|_| false).unwrap(), None);
        assert!(put_file(&real, b"newer", &|_| false).unwrap().unwrap().contains("real.before.csv"));
        assert_eq!(fs::read(home.join("real.before.csv")).unwrap(), b"new");
        fs::remove_dir_all(home).unwrap();
    }
}
