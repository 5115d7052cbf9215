//! Autosaves: one file per document of a window, so that windows never overwrite each other's, and the files that earlier
//! windows left.
//!
//! A document's file is `session-TIME-PROCESS.toml` in the state folder, with a picture (`.png`) and a lock file that is held
//! while the window lives. The system releases the lock however the window ends, so a file whose lock is free belongs
//! to an earlier session. A starting window deletes earlier sessions that are older than [`KEPT_FOR`], and the oldest of
//! those that hold more than [`KEPT_BYTES`] together.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::crashes;
use crate::{
    render::Pixels,
    scene::{DocumentId, Scene, SceneError, StateId, make_own_folder, save_scene, write_atomically},
};

/// How long earlier sessions are kept.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
/// Size of all earlier sessions that are kept, bytes; the newest is kept whatever its size.
const KEPT_BYTES: u64 = 256 << 20;
/// Lock-free files younger than this may belong to a window that has yet to lock them.
const YOUNG: Duration = Duration::from_secs(20);

/// The autosaves of this window and of earlier ones.
pub struct Autosaves {
    folder: PathBuf,
    /// The document on the screen; sessions of this window's other documents count as earlier ones.
    present: DocumentId,
    own: BTreeMap<DocumentId, Own>,
    earlier: Vec<Earlier>,
}

/// A document's file; locked while the window lives.
struct Own {
    path: PathBuf,
    /// The state that it holds; `None`: nothing.
    holds: Option<StateId>,
    _lock: File,
}

/// Bytes of a session file that are read for its name.
const FIRST_LINES: u64 = 8192;

/// A session that an earlier window left unsaved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Where it is.
    pub path: PathBuf,
    /// When it was saved.
    pub when: SystemTime,
    /// What it shows: the name of the scene, or of its first object's file.
    pub name: String,
    /// Its picture; a window that ends at once leaves none.
    pub picture: Option<Arc<Pixels>>,
}

impl Drop for Own {
    fn drop(&mut self) {
        // A lock file that stays does no harm: the next window deletes it.
        let _ = fs::remove_file(self.path.with_extension("lock"));
    }
}

impl Autosaves {
    /// Opens a state folder and deletes the files in it that no window owns and no session needs.
    pub fn new(folder: PathBuf) -> Self {
        let (present, own) = (DocumentId::default(), BTreeMap::new());
        let mut autosaves = Self { folder, present, own, earlier: Vec::new() };
        autosaves.take_over();
        autosaves.look();
        autosaves.tidy();
        autosaves
    }

    /// Earlier sessions, the newest first.
    pub fn earlier(&self) -> &[Earlier] {
        &self.earlier
    }

    /// Saves a state of a document to the document's file.
    ///
    /// # Errors
    /// [`SceneError`]; the previous file stays.
    pub fn save(&mut self, (of, state): (DocumentId, StateId), scene: &Scene) -> Result<(), SceneError> {
        let mut own = match self.own.remove(&of) {
            Some(own) => own,
            None => claim(&self.folder).map_err(|why| {
                SceneError::new(format!("no file could be made in {}: {why}", self.folder.display()))
            })?,
        };
        let saved = save_scene(&own.path, scene).map(|_| own.holds = Some(state));
        self.own.insert(of, own);
        saved
    }

    /// Writes the picture of a document beside its file. A session without a picture is as good.
    pub fn picture(&self, of: DocumentId, picture: &Pixels) {
        let own = self.own.get(&of).filter(|own| own.holds.is_some());
        if let (Some(own), Some(bytes)) = (own, picture.to_png()) {
            let _ = write_atomically(&own.path.with_extension("png"), &bytes);
        }
    }

    /// Whether the file of a document holds this state; the window has this from its keeper.
    #[cfg(test)]
    pub fn keeps(&self, of: DocumentId, state: StateId) -> bool {
        self.own.get(&of).is_some_and(|own| own.holds == Some(state))
    }

    /// Whether an earlier session has appeared since the last call of this function by any window.
    pub fn has_news(&self) -> bool {
        let told = self.folder.join("told");
        let when = fs::metadata(&told).and_then(|about| about.modified()).ok();
        let has = self.earlier.first().is_some_and(|newest| when.is_none_or(|when| newest.when > when));
        if has {
            // Without the marker file the session is announced again.
            let _ = fs::write(told, "");
        }
        has
    }

    /// The newest report of a crash, once for all windows.
    pub fn crash_news(&self) -> Option<PathBuf> {
        let newest = crash_reports(&self.folder).max_by_key(|(when, _)| *when)?;
        let told = self.folder.join("told-crash");
        let known = fs::metadata(&told).and_then(|about| about.modified()).ok();
        if known.is_some_and(|known| newest.0 <= known) {
            return None;
        }
        // Without the marker file the crash is announced again.
        let _ = fs::write(told, "");
        Some(newest.1)
    }

    /// Notes which document is on the screen. No file is deleted, since the oldest may be the one about to be opened.
    pub fn turn_to(&mut self, present: DocumentId) {
        if present != self.present {
            self.present = present;
            self.look();
        }
    }

    /// Deletes the autosave of a document, because all of it is saved.
    pub fn forget(&mut self, of: DocumentId) {
        if let Some(own) = self.own.get_mut(&of).filter(|own| own.holds.is_some()) {
            own.holds = None;
            remove(&own.path);
        }
    }

    /// Looks for sessions of windows that are gone, and of other documents of this window.
    fn look(&mut self) {
        let other = |path: &Path| {
            let of = self.own.iter().find(|(_, own)| own.path == path).map(|(of, _)| *of);
            of.map_or_else(|| is_free(path), |of| of != self.present)
        };
        let mut found: Vec<Earlier> = sessions(&self.folder, "toml")
            .filter(|path| other(path))
            .filter_map(|path| {
                let when = fs::metadata(&path).ok()?.modified().ok()?;
                let known = self.earlier.iter().find(|known| known.path == path && known.when == when);
                let read = || Pixels::from_png(&fs::read(path.with_extension("png")).ok()?).map(Arc::new);
                let picture = known.and_then(|known| known.picture.clone()).or_else(read);
                Some(Earlier { when, name: name_in(&path), path, picture })
            })
            .collect();
        found.sort_by(|a, b| (b.when, &b.path).cmp(&(a.when, &a.path)));
        self.earlier = found;
    }

    /// Renames autosaves of old versions, in which all windows shared one file, to today's form.
    fn take_over(&self) {
        for (i, name) in ["autosave.toml", "earlier.toml"].into_iter().enumerate() {
            let from = self.folder.join(name);
            let Ok(about) = fs::metadata(&from) else { continue };
            let when = about.modified().map_or(0, millis);
            // A file that cannot be renamed stays.
            let _ = fs::rename(from, self.folder.join(format!("session-{when}-{i}.toml")));
        }
    }

    fn tidy(&mut self) {
        let mut bytes = 0;
        let mut newest = true;
        self.earlier.retain(|earlier| {
            bytes += fs::metadata(&earlier.path).map_or(0, |about| about.len());
            let is_young =
                earlier.when.elapsed().is_ok_and(|age| age < KEPT_FOR) || earlier.when > SystemTime::now();
            let stays = is_young && (std::mem::take(&mut newest) || bytes <= KEPT_BYTES);
            if !stays {
                remove(&earlier.path);
            }
            stays
        });
        for (when, path) in crash_reports(&self.folder) {
            if when.elapsed().is_ok_and(|age| age >= KEPT_FOR) {
                let _ = fs::remove_file(path);
            }
        }
        let is_old = |path: &PathBuf| {
            let changed = fs::metadata(path).and_then(|about| about.modified());
            changed.is_ok_and(|when| when.elapsed().is_ok_and(|age| age > YOUNG))
        };
        let is_alone = |picture: &PathBuf| !picture.with_extension("toml").exists();
        for path in sessions(&self.folder, "png").filter(is_alone).filter(is_old) {
            let _ = fs::remove_file(path);
        }
        let locks = sessions(&self.folder, "lock");
        // A window killed while it saved leaves its temporary file.
        for path in locks.chain(sessions(&self.folder, "tmp")).filter(is_old) {
            let session = self.folder.join(session_of(&path)).with_extension("toml");
            if is_free(&session) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Deletes a session and its picture.
fn remove(session: &Path) {
    let _ = fs::remove_file(session);
    let _ = fs::remove_file(session.with_extension("png"));
}

/// Reports of crashes, and when they were written.
fn crash_reports(folder: &Path) -> impl Iterator<Item = (SystemTime, PathBuf)> + use<> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let reports = all.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(crashes::BEGINNING) && name.ends_with(".txt")
    });
    reports.filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
}

/// The name of the scene in a session file, or of its first object's file, by the first lines: a session can be large.
fn name_in(path: &Path) -> String {
    let mut start = Vec::new();
    // What cannot be read has no name.
    let _ = File::open(path).and_then(|file| file.take(FIRST_LINES).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let value = |key: &str| {
        let quoted = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        quoted.split('"').next().filter(|value| !value.is_empty())
    };
    let file = || Some(Path::new(value("file")?).file_stem()?.to_string_lossy().replace("builtin:", ""));
    value("name").map(str::to_owned).or_else(file).unwrap_or_default()
}

/// Session files with this extension.
fn sessions(folder: &Path, ending: &'static str) -> impl Iterator<Item = PathBuf> + use<> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(move |path| path.extension().is_some_and(|e| e == ending) && !session_of(path).is_empty())
}

/// The part `session-TIME-PROCESS` of a file name, or an empty string.
fn session_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.starts_with("session-") { name.split('.').next().unwrap_or_default() } else { "" }
}

/// Whether no window holds the lock of this session.
fn is_free(session: &Path) -> bool {
    match File::open(session.with_extension("lock")) {
        // The lock is held as long as `file` lives.
        Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Creates a file that no other window uses, and locks it.
fn claim(folder: &Path) -> io::Result<Own> {
    make_own_folder(folder)?;
    let process = std::process::id();
    let mut when = millis(SystemTime::now());
    loop {
        let path = folder.join(format!("session-{when}-{process}.toml"));
        let lock_path = path.with_extension("lock");
        match File::create_new(&lock_path) {
            // A session that this process saved within the same millisecond keeps its name.
            Ok(_) if path.exists() => {
                fs::remove_file(lock_path)?;
                when += 1;
            }
            Ok(lock) => {
                // A file system without locks still keeps sessions, but also offers those of running windows.
                let _ = lock.try_lock();
                return Ok(Own { path, holds: None, _lock: lock });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => when += 1,
            Err(error) => return Err(error),
        }
    }
}

fn millis(when: SystemTime) -> u128 {
    when.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        process::{Command, Stdio},
    };

    use rand::{RngExt as _, SeedableRng as _};

    use super::*;
    use crate::scene::{load_scene, parse_scene};

    /// Set in the process that saves until it is killed.
    const FOLDER: &str = "KINTSUGI_TEST_AUTOSAVES";

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("kintsugi-autosaves-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn scene(number: f64) -> Scene {
        let text = format!("[[body]]\nfile = \"builtin:box\"\nlevel = 3\nposition = [{number}, 0.0, 0.0]\n");
        parse_scene(&text, "test").unwrap()
    }

    fn number(path: &Path) -> f64 {
        load_scene(path).unwrap().bodies[0].position[0]
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut all: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    }

    /// The first document of a window and a few more, each in one state.
    fn documents() -> [(DocumentId, StateId); 3] {
        let mut homes = crate::scene::testing_homes();
        [(); 3].map(|()| homes())
    }

    fn numbers(autosaves: &Autosaves) -> Vec<f64> {
        autosaves.earlier().iter().map(|earlier| number(&earlier.path)).collect()
    }

    #[test]
    fn two_windows_keep_to_their_own() {
        let folder = folder("two");
        let [one, two, _] = documents();
        let (mut a, mut b) = (Autosaves::new(folder.clone()), Autosaves::new(folder.clone()));
        a.save(one, &scene(1.0)).unwrap();
        b.save(one, &scene(2.0)).unwrap();
        // A third window sees two running windows, hence no earlier session.
        assert_eq!(Autosaves::new(folder.clone()).earlier(), []);
        assert_eq!((b.has_news(), b.earlier().len()), (false, 0));
        a.forget(one.0);
        drop(a);
        b.save(one, &scene(3.0)).unwrap();
        drop(b);
        let mut third = Autosaves::new(folder.clone());
        assert_eq!((third.has_news(), third.has_news()), (true, false));
        assert_eq!(numbers(&third), [3.0]);
        // The scene opened next is saved beside it, and undo goes back to the first one's own file.
        third.turn_to(one.0);
        third.save(one, &scene(4.0)).unwrap();
        third.turn_to(two.0);
        third.save(two, &scene(5.0)).unwrap();
        assert_eq!(numbers(&third), [4.0, 3.0]);
        assert!(third.keeps(one.0, one.1) && !third.keeps(two.0, one.1));
        third.turn_to(one.0);
        assert_eq!(numbers(&third), [5.0, 3.0]);
        third.save(one, &scene(6.0)).unwrap();
        // A scene that the user saved needs no autosave; earlier sessions stay.
        third.forget(two.0);
        assert!(!third.keeps(two.0, two.1));
        drop(third);
        let fourth = Autosaves::new(folder.clone());
        assert_eq!(numbers(&fourth), [6.0, 3.0]);
        assert_eq!(names(&folder).len(), 3, "{:?}", names(&folder));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_session_has_a_picture_that_goes_with_it() {
        let folder = folder("picture");
        let [one, two, _] = documents();
        let picture = Pixels { size: [3, 2], rgba: (0..24).collect() };
        let mut window = Autosaves::new(folder.clone());
        window.picture(one.0, &picture);
        assert!(!folder.exists(), "a document that is not kept has none");
        for of in [one, two] {
            window.save(of, &scene(1.0)).unwrap();
            window.picture(of.0, &picture);
        }
        window.forget(two.0);
        drop(window);
        fs::write(folder.join("session-1-1.png"), "of a session that is gone").unwrap();
        File::options()
            .write(true)
            .open(folder.join("session-1-1.png"))
            .unwrap()
            .set_modified(SystemTime::now() - YOUNG * 2)
            .unwrap();
        let mut next = Autosaves::new(folder.clone());
        let shown: Vec<_> = next.earlier().iter().map(|earlier| earlier.picture.clone()).collect();
        assert_eq!(shown, [Some(Arc::new(picture))]);
        assert_eq!(names(&folder).len(), 2, "{:?}", names(&folder));
        // What is damaged is no picture, and the session stays.
        fs::write(next.earlier()[0].path.with_extension("png"), "no picture").unwrap();
        next.earlier.clear();
        next.look();
        assert_eq!(next.earlier()[0].picture, None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn sessions_of_one_millisecond_have_names_of_their_own() {
        let folder = folder("quick");
        fs::create_dir_all(&folder).unwrap();
        for _ in 0..200 {
            let own = claim(&folder).unwrap();
            fs::write(&own.path, "").unwrap();
        }
        assert_eq!(names(&folder).len(), 200);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn sessions_are_kept_by_age_and_size_and_not_by_their_number() {
        let folder = folder("many");
        fs::create_dir_all(&folder).unwrap();
        let day = Duration::from_secs(24 * 3600);
        let now = SystemTime::now();
        let keep = |name: &str, number: f64, days: u32, bytes: u64| {
            let path = folder.join(name);
            save_scene(&path, &scene(number)).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            if bytes > 0 {
                // Takes no room on the disk.
                file.set_len(bytes).unwrap();
            }
            file.set_modified(now - day * days).unwrap();
        };
        for i in 0..40 {
            keep(&format!("session-{i}-1.toml"), f64::from(i), i, 0);
        }
        // All windows shared this one.
        keep("autosave.toml", 99.0, 29, 0);
        let mut last = Autosaves::new(folder.clone());
        let mut wanted: Vec<f64> = (0..30).map(f64::from).collect();
        let kept = numbers(&last);
        assert!(kept.contains(&99.0), "{kept:?}");
        wanted.insert(kept.iter().position(|n| *n == 99.0).unwrap(), 99.0);
        assert_eq!(kept, wanted);
        // The oldest is still there when it is chosen to be opened, which leaves one session more.
        let [one, two, _] = documents();
        let oldest = last.earlier().last().unwrap().path.clone();
        last.turn_to(one.0);
        last.save(one, &scene(100.0)).unwrap();
        last.turn_to(two.0);
        assert!(oldest.exists() && last.earlier().len() == 32);
        drop(last);
        keep("session-0-1.toml", 0.0, 0, KEPT_BYTES - 20_000);
        keep("session-5-1.toml", 5.0, 5, 40_000);
        let small = Autosaves::new(folder.clone());
        let found: Vec<_> = small.earlier().iter().filter_map(|e| e.path.file_name()?.to_str()).collect();
        assert!(found.contains(&"session-4-1.toml") && !found.contains(&"session-5-1.toml"), "{found:?}");
        keep("session-0-1.toml", 0.0, 0, 2 * KEPT_BYTES);
        for earlier in small.earlier().iter().filter(|e| !e.path.ends_with("session-0-1.toml")) {
            fs::remove_file(&earlier.path).unwrap();
        }
        assert_eq!(Autosaves::new(folder.clone()).earlier().len(), 1, "the newest is kept whatever its size");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_is_said() {
        let file = folder("file");
        fs::write(&file, "no folder").unwrap();
        let refused = Autosaves::new(file.clone()).save(documents()[0], &scene(1.0)).unwrap_err().to_string();
        assert!(refused.contains("no file could be made"), "{refused}");
        fs::remove_file(file).unwrap();
    }

    /// The body of the killed process; without the variable it returns at once.
    #[test]
    fn saves_until_it_is_killed() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        let mut autosaves = Autosaves::new(folder.into());
        for i in 1.. {
            autosaves.save(documents()[0], &scene(f64::from(i))).unwrap();
            // One line a save, past what the test harness captures.
            std::io::Write::write_all(&mut std::io::stderr(), format!("saved {i}\n").as_bytes()).unwrap();
        }
    }

    /// Kills the process 200 times at random moments: the last save that it announced exists, or the one after it.
    #[cfg(unix)]
    #[test]
    fn what_was_saved_survives_kill_9() {
        let folder = folder("killed");
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        for round in 0..200 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "app::autosaves::tests::saves_until_it_is_killed", "--nocapture"])
                .env(FOLDER, &folder)
                .stderr(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
            let mut told = 0.0;
            for _ in 0..random.random_range(1..4) {
                let line = lines.find(|line| line.starts_with("saved ")).unwrap();
                told = line["saved ".len()..].parse().unwrap();
            }
            std::thread::sleep(Duration::from_micros(random.random_range(0..3000)));
            child.kill().unwrap();
            child.wait().unwrap();
            let more = lines.filter_map(|line| line.strip_prefix("saved ")?.parse::<f64>().ok());
            told = more.fold(told, f64::max);
            let left = Autosaves::new(folder.clone());
            let Some(newest) = left.earlier().first() else { panic!("round {round}: {:?}", names(&folder)) };
            let found = number(&newest.path);
            assert!(found == told || found == told + 1.0, "round {round}: {found} is there, {told} was told");
        }
        // The next window deletes temporary files and locks once they are no longer young.
        for path in sessions(&folder, "tmp").chain(sessions(&folder, "lock")) {
            let old = SystemTime::now() - 2 * YOUNG;
            File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
        Autosaves::new(folder.clone());
        assert_eq!(
            sessions(&folder, "tmp").chain(sessions(&folder, "lock")).count(),
            0,
            "{:?}",
            names(&folder)
        );
        fs::remove_dir_all(folder).unwrap();
    }
}
