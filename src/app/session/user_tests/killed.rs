//! The same user, whose whole process is killed at any moment, in the middle of a save or an export, too, and comes
//! back to what is there.
//!
//! In: the actions that the process told before it began each, and digests of all files after each. Out: after each
//! kill no file is another than before the action, but for what that action writes, and that is old or new and whole.

use super::*;
use crate::export::disk::recover_folder;

/// Set in the process that is killed: its folder.
const FOLDER: &str = "KINTSUGI_TEST_KILLED_USER";
/// Set there, too: the step to go on from, so that no two states have the same number.
const STEP: &str = "KINTSUGI_TEST_KILLED_STEP";
/// Longest time from the first word of the process until it is killed, ms.
const LONGEST: u64 = 2500;
const RESULTS: [&str; 2] = ["out-1", "out-2"];

/// SHA-256 of each file.
type Digests = BTreeMap<PathBuf, String>;

fn digests(files: &Files) -> Digests {
    files.iter().map(|(path, bytes)| (path.clone(), sha256(bytes))).collect()
}

/// Files of a results folder as its list has them; nothing without a list.
fn listed(folder: &Path) -> Digests {
    let list = fs::read(folder.join(MANIFEST)).ok();
    let list: serde_json::Value =
        list.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let files = list["files"].as_object().into_iter().flatten();
    files.map(|(name, mark)| (folder.join(name), mark["sha256"].as_str().unwrap().to_owned())).collect()
}

impl World {
    /// Tells what all files hold and which of them exports wrote.
    fn tell(&mut self) {
        let own: Vec<&PathBuf> = self
            .written
            .iter()
            .filter(|(path, bytes)| self.files.get(*path) == Some(*bytes))
            .map(|w| w.0)
            .collect();
        let told = serde_json::json!({ "step": self.step, "files": digests(&self.files), "own": own });
        self.log.as_mut().unwrap().write_all(format!("{told}\n").as_bytes()).unwrap();
    }
}

/// Not a test by itself: the user, until the process is killed.
#[test]
fn the_user_who_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let log = fs::File::create(folder.with_extension("log")).unwrap();
    let mut world = World::over(Folder(folder), variable("KINTSUGI_RANDOM_SEED", 1));
    world.step = variable(STEP, 0) as u32;
    for name in RESULTS {
        let own = listed(&world.path(name));
        let is_own = |(path, bytes): &(&PathBuf, &Vec<u8>)| own.get(*path) == Some(&sha256(bytes));
        let own: Files =
            world.files.iter().filter(is_own).map(|(p, bytes)| (p.clone(), bytes.clone())).collect();
        world.written.extend(own);
    }
    world.log = Some(log);
    loop {
        world.tell();
        world.acts();
        world.check();
    }
}

/// What the process told last.
#[derive(Default)]
struct Told {
    step: u64,
    files: Digests,
    own: BTreeSet<PathBuf>,
    /// The action that it had begun.
    action: Option<usize>,
}

impl Told {
    fn read(log: &Path) -> Self {
        let text = fs::read_to_string(log).unwrap();
        let mut told = Self::default();
        // The last line may have no end.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            if let Some(action) = line.strip_prefix("begins ") {
                told.action = action.trim().parse().ok();
                continue;
            }
            let all: serde_json::Value = serde_json::from_str(line).unwrap();
            told = Self {
                step: all["step"].as_u64().unwrap(),
                files: serde_json::from_value(all["files"].clone()).unwrap(),
                own: serde_json::from_value(all["own"].clone()).unwrap(),
                action: None,
            };
        }
        told
    }

    /// Compares what is there with what was there before the action.
    fn agrees(&self, now: &Digests, when: &str) {
        let all: BTreeSet<&PathBuf> = self.files.keys().chain(now.keys()).collect();
        let changed: Vec<&PathBuf> =
            all.into_iter().filter(|path| self.files.get(*path) != now.get(*path)).collect();
        let is_saved = |path: &Path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            parse_scene(&text, "killed").is_ok_and(|scene| scene.bodies.len() == 1)
        };
        let good = match (self.action, &changed[..]) {
            (_, []) => true,
            // Another program's writing, which is no business of this one.
            (Some(8 | 17), [_]) => true,
            (Some(9..=12 | 14), [one]) if is_saved(one) => true,
            (Some(13 | 14), _) => RESULTS.iter().any(|name| self.is_exported(&changed, now, name)),
            _ => false,
        };
        assert!(good, "{when}: {changed:?}");
    }

    /// Whether all that changed is a whole export into the folder of this name, and what was somebody's own is there.
    fn is_exported(&self, changed: &[&PathBuf], now: &Digests, name: &str) -> bool {
        let is_in = |path: &Path| path.parent().is_some_and(|parent| parent.ends_with(name));
        let Some(folder) = changed.iter().find(|path| is_in(path)).and_then(|path| path.parent()) else {
            return false;
        };
        let list = listed(folder);
        let whole = list.contains_key(&folder.join("report.json"))
            && list.iter().all(|(path, digest)| now.get(path) == Some(digest));
        let is_own = |path: &PathBuf| self.own.contains(path) || path.ends_with(MANIFEST);
        let mut theirs = self.files.iter().filter(|(path, _)| path.starts_with(folder) && !is_own(path));
        let kept = theirs
            .all(|(_, digest)| now.iter().any(|(path, held)| path.starts_with(folder) && held == digest));
        whole && kept && changed.iter().all(|path| path.starts_with(folder))
    }
}

/// Puts in order what a killed process left, as the next run and the next window do. Out: what all files hold.
fn put_in_order(folder: &Path) -> Digests {
    for results in RESULTS.map(|name| folder.join(name)).into_iter().filter(|results| results.exists()) {
        recover_folder(&results).unwrap();
    }
    crate::export::disk::clear_away(folder).unwrap();
    // The next process takes these away at its first file; the model of what is there begins before.
    let is_left = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(".kintsugi-") && name.ends_with(".part")
    };
    let mut files = files_below(folder);
    for (path, _) in files.extract_if(.., |path, _| is_left(path)) {
        fs::remove_file(path).unwrap();
    }
    digests(&files)
}

#[test]
fn a_user_who_is_killed_at_any_moment_finds_old_or_new_files_and_goes_on() {
    let (kills, seed) = (variable("KINTSUGI_KILLS", 5), variable("KINTSUGI_RANDOM_SEED", 1));
    let folder = Folder::new("killed-user");
    for file in ["a.toml", "b.toml", "c.toml"] {
        folder.scene(file, "builtin:box");
    }
    folder.scene("bad.toml", "not-here.obj");
    let log = folder.0.with_extension("log");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut step, mut within) = (0, BTreeMap::<Option<usize>, usize>::new());
    for kill in 0..kills {
        let _ = fs::remove_file(&log);
        let mut command = child("killed::the_user_who_is_killed");
        command.env(FOLDER, &folder.0).env(STEP, step.to_string());
        command.env("KINTSUGI_RANDOM_SEED", (seed * 1000 + kill).to_string()).stdout(Stdio::null());
        let mut user = command.spawn().unwrap();
        let start = Instant::now();
        while fs::metadata(&log).map_or(0, |log| log.len()) == 0 {
            assert!(start.elapsed() < Duration::from_secs(120), "kill {kill}: the user never begins");
            assert!(
                user.try_wait().unwrap().is_none(),
                "kill {kill}: the user ended at the start; see above"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(random.random_range(0..LONGEST)));
        assert!(user.try_wait().unwrap().is_none(), "kill {kill}: the user ended by itself; see above");
        user.kill().unwrap();
        user.wait().unwrap();
        let told = Told::read(&log);
        let when = format!("kill {kill} of seed {seed}, in step {}, action {:?}", told.step, told.action);
        told.agrees(&put_in_order(&folder.0), &when);
        *within.entry(told.action).or_default() += 1;
        step = told.step + 1;
    }
    println!(
        "seed {seed}: killed {kills} times after {step} actions, by the action that was under way: {within:?}"
    );
    let _ = fs::remove_file(log);
}
