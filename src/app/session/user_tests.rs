//! A random user of two windows over the files of one folder: opens, changes, takes back, saves, saves under other names,
//! exports into used folders, has the disk fill up and the windows killed, while another program writes into the same
//! files. After every action each file of the folder is compared with what it must hold.
//!
//! `KINTSUGI_RANDOM_SECONDS=1800 KINTSUGI_KILLS=200 KINTSUGI_RANDOM_SEED=7 cargo test --release --lib user_tests --
//! --nocapture` goes on for half an hour and at least 200 windows that are killed; then it kills the user's whole process
//! 200 times ([`killed`]). The seed of a failure makes the same moves again.

#[cfg(target_os = "linux")]
mod killed;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{self, Stdio},
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{
    Session,
    files_tests::{Folder, answer, closes, open, save, settle, title, tune, written},
};
use crate::{
    app::dialogs::{Answer, Purpose},
    mesh::digest::sha256,
    scene::{ExportOrder, load_scene, parse_scene},
    ui::Command,
};

/// Set in the process that plays the user: its files have a limit of size where the disk is to be full.
const CHILD: &str = "KINTSUGI_TEST_USER";
const MANIFEST: &str = ".kintsugi-files.json";
/// A window keeps no more steps to take back.
const MOST_STEPS: usize = 60;

/// What the walk must come to, if it takes longer than it should.
const RARE: [&str; 6] = [
    "asked about a changed file",
    "asked before closing",
    "exported where somebody's own was kept",
    "exports that failed",
    "offered again",
    "saves that failed",
];

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// All files below a folder but the windows' own.
fn files_below(folder: &Path) -> Files {
    let (mut files, mut open) = (Files::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for path in fs::read_dir(next).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_file() {
                files.insert(path.clone(), fs::read(path).unwrap());
            } else if path != folder.join("state") {
                open.push(path);
            }
        }
    }
    files
}

fn friction_of(text: &[u8]) -> f64 {
    parse_scene(std::str::from_utf8(text).unwrap(), "model").unwrap().bodies[0].friction
}

/// Sets how long a file of this process may become; what is longer fails as on a full disk.
fn limit_files(bytes: Option<u32>) {
    let wanted = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let mut command = process::Command::new("prlimit");
    command.args(["--pid", &process::id().to_string(), &format!("--fsize={wanted}:")]);
    assert!(command.status().expect("prlimit, of util-linux").success());
}

/// A window and what it must show.
struct Window {
    session: Session,
    /// File of each document, and what was in it when it was read or saved.
    documents: Vec<Option<(PathBuf, Vec<u8>)>>,
    /// The state of each document that its file holds.
    saved: Vec<usize>,
    /// Document, friction and number of each state; and the present one.
    states: Vec<(usize, f64, usize)>,
    at: usize,
    given: usize,
    /// Frictions of all states that it ever had.
    had: Vec<f64>,
}

impl Window {
    fn new(session: Session) -> Self {
        let friction = session.sandbox.as_ref().unwrap().tuning().friction;
        Self {
            session,
            documents: vec![None],
            saved: vec![0],
            states: vec![(0, friction, 0)],
            at: 0,
            given: 0,
            had: vec![friction],
        }
    }

    fn push(&mut self, document: usize, friction: f64) {
        self.given += 1;
        self.states.truncate(self.at + 1);
        self.states.push((document, friction, self.given));
        self.had.push(friction);
        self.at += 1;
    }

    fn present(&self) -> (usize, f64, usize) {
        self.states[self.at]
    }

    fn is_unsaved(&self) -> bool {
        let (document, _, number) = self.present();
        self.saved[document] != number
    }

    fn own_file(&self) -> Option<&(PathBuf, Vec<u8>)> {
        self.documents[self.present().0].as_ref()
    }
}

struct World {
    folder: Folder,
    random: ChaCha8Rng,
    /// What each file must hold.
    files: Files,
    /// What exports wrote last, and where.
    written: Files,
    windows: [Window; 2],
    /// How often something took place.
    counts: BTreeMap<&'static str, usize>,
    step: u32,
    action: usize,
    /// Where each action is told before it begins.
    log: Option<fs::File>,
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in step {}, action {}", self.step, self.action);
        }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let folder = Folder::new("user");
        for file in ["a.toml", "b.toml", "c.toml"] {
            folder.scene(file, "builtin:box");
        }
        folder.scene("bad.toml", "not-here.obj");
        Self::over(folder, seed)
    }

    /// Over the files that are there.
    fn over(folder: Folder, seed: u64) -> Self {
        let windows = [(); 2].map(|()| Window::new(folder.session()));
        let (files, random) = (files_below(&folder.0), ChaCha8Rng::seed_from_u64(seed));
        Self {
            folder,
            random,
            files,
            written: Files::new(),
            windows,
            counts: BTreeMap::new(),
            step: 0,
            action: 0,
            log: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.0.join(name)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.random.random_range(0..sides)
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// A number that no earlier state and no file has.
    fn unique(&self) -> f64 {
        0.1 + f64::from(self.step) * 1e-5
    }

    /// A scene file of the user's, most often; or one that an export wrote.
    fn any_scene(&mut self) -> PathBuf {
        let names = ["a.toml", "b.toml", "c.toml", "a.toml", "b.toml", "c.toml", "out-1/scene.toml"];
        let name = names[self.roll(names.len())];
        let path = self.path(name);
        if path.parent().is_some_and(Path::exists) { path } else { self.path("a.toml") }
    }

    fn acts(&mut self) {
        self.step += 1;
        let w = self.roll(2);
        let crowded = self.windows[w].at > MOST_STEPS;
        self.action = if crowded { 16 } else { self.roll(18) };
        if let Some(log) = &mut self.log {
            writeln!(log, "begins {}", self.action).unwrap();
        }
        match self.action {
            0..2 => self.takes_back(w),
            2 => self.does_again(w),
            3..6 => {
                let friction = self.unique();
                let window = &mut self.windows[w];
                tune(&mut window.session, friction);
                window.push(window.present().0, friction);
            }
            6 => self.opens(w),
            7 => self.fails_to_open(w),
            8 => self.another_program_writes(),
            9 => {
                let (file, purpose) =
                    (self.any_scene(), [Purpose::Save, Purpose::SaveStanding][self.roll(2)]);
                self.writes(w, &file, purpose, |session| {
                    session.answered(purpose, Answer::Chosen(file.clone()))
                });
            }
            10 => self.saves_by_the_prompt(w),
            11..13 => self.saves(w),
            13 => self.exports(w),
            14 => self.has_no_room(w),
            15 => self.asks_to_close(w),
            16 => self.is_killed(w),
            _ => self.another_program_writes_results(),
        }
        settle(&mut self.windows[w].session);
    }

    fn takes_back(&mut self, w: usize) {
        let window = &mut self.windows[w];
        if window.at > 0 {
            window.session.apply(Command::Undo);
            window.at -= 1;
            self.count("undone");
        }
    }

    fn does_again(&mut self, w: usize) {
        let window = &mut self.windows[w];
        if window.at + 1 < window.states.len() {
            window.session.apply(Command::Redo);
            window.at += 1;
        }
    }

    fn opens(&mut self, w: usize) {
        let file = self.any_scene();
        let Some(text) = self.files.get(&file).cloned() else { return };
        let window = &mut self.windows[w];
        open(&mut window.session, &file);
        let friction = friction_of(&text);
        window.documents.push(Some((file, text)));
        window.push(window.documents.len() - 1, friction);
        window.saved.push(window.given);
        self.count("opened");
    }

    fn fails_to_open(&mut self, w: usize) {
        let (bad, file) = (self.path("bad.toml"), self.any_scene());
        let session = &mut self.windows[w].session;
        session.open(&file, 3);
        session.apply(Command::CancelImport);
        open(session, &bad);
        assert!(!session.errors().is_empty());
        self.count("not opened");
    }

    fn another_program_writes(&mut self) {
        let file = self.any_scene();
        if self.roll(4) == 0 {
            let _ = fs::remove_file(&file);
            self.files.remove(&file);
        } else {
            let theirs =
                format!("[[body]]\nfile = \"builtin:sphere\"\nlevel = 3\nfriction = {}\n", self.unique());
            fs::write(&file, &theirs).unwrap();
            self.files.insert(file, theirs.into_bytes());
        }
        self.count("written by another program");
    }

    fn another_program_writes_results(&mut self) {
        let name = ["out-1", "out-2"][self.roll(2)];
        let folder = self.path(name);
        if !folder.exists() {
            return;
        }
        let names = ["report.json", "pieces.glb", "pieces.obj", "notes.txt", "pieces.before.glb", MANIFEST];
        let file = folder.join(names[self.roll(names.len())]);
        if file.ends_with(MANIFEST) || self.roll(4) == 0 {
            let _ = fs::remove_file(&file);
            self.files.remove(&file);
        } else {
            let theirs = format!("of another program, {}", self.step).into_bytes();
            fs::write(&file, &theirs).unwrap();
            self.files.insert(file, theirs);
        }
        self.count("results changed by another program");
    }

    /// Does what writes the present document to `file`, and looks whether it did or said why not.
    fn writes(&mut self, w: usize, file: &Path, purpose: Purpose, act: impl FnOnce(&mut Session)) {
        let window = &mut self.windows[w];
        act(&mut window.session);
        written(&mut window.session);
        let now = fs::read(file).ok();
        let (document, friction, number) = window.present();
        if !window.session.errors().is_empty() {
            assert_eq!(
                now.as_ref(),
                self.files.get(file),
                "a save that failed: {:?}",
                window.session.errors()
            );
            return self.count("saves that failed");
        }
        let text = now.expect("a scene that was saved");
        assert_eq!(friction_of(&text), friction, "{}", file.display());
        if purpose == Purpose::Save {
            window.documents[document] = Some((file.to_owned(), text.clone()));
            window.saved[document] = number;
        }
        self.files.insert(file.to_owned(), text);
        self.count("saved");
    }

    /// Names a file in the window's own prompt; one that is there has to be named twice.
    fn saves_by_the_prompt(&mut self, w: usize) {
        let file = self.any_scene();
        self.windows[w].session.apply(Command::SaveAsDialog);
        let answer = Command::AnswerPrompt(Some(file.clone()));
        if self.files.contains_key(&file) {
            self.windows[w].session.apply(answer);
            assert_eq!(fs::read(&file).ok().as_ref(), self.files.get(&file), "named once");
            if self.roll(2) == 0 {
                return self.windows[w].session.apply(Command::AnswerPrompt(None));
            }
        }
        self.writes(w, &file.clone(), Purpose::Save, |session| {
            session.apply(Command::AnswerPrompt(Some(file)))
        });
    }

    fn saves(&mut self, w: usize) {
        let Some((own, seen)) = self.windows[w].own_file().cloned() else {
            let session = &mut self.windows[w].session;
            session.apply(Command::SaveDialog);
            assert!(session.path_prompt().is_some(), "it has no file");
            return session.apply(Command::AnswerPrompt(None));
        };
        if self.files.get(&own).is_none_or(|there| *there == seen) {
            return self.writes(w, &own, Purpose::Save, |session| session.apply(Command::SaveDialog));
        }
        let over = self.roll(2) == 0;
        let session = &mut self.windows[w].session;
        save(session);
        assert_eq!(title(session), Some("The file has changed"));
        if over {
            self.writes(w, &own, Purpose::Save, |session| session.apply(Command::AnswerQuestion(1)));
        } else {
            answer(session, 2);
        }
        self.count("asked about a changed file");
    }

    /// Exports and compares the folder: all as before, or the list of the new results with all of them, and what was not
    /// the program's under its own or another name.
    fn exports(&mut self, w: usize) {
        let name = ["out-1", "out-2"][self.roll(2)];
        let folder = self.path(name);
        let session = &mut self.windows[w].session;
        let order = ExportOrder { folder: folder.display().to_string(), ..session.exporting.order.clone() };
        session.apply(Command::ChangeExport(Box::new(order)));
        session.apply(Command::Export);
        let start = Instant::now();
        while session.exporting.job.is_some() {
            assert!(start.elapsed() < Duration::from_secs(120), "the export never ends");
            session.poll();
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_in = |path: &PathBuf| path.starts_with(&folder);
        let before: Files = self.files.extract_if(.., |path, _| is_in(path)).collect();
        let now = files_below(&folder);
        if !session.errors().is_empty() {
            assert!(now == before, "an export that failed: {:?}", session.errors());
            self.files.extend(now);
            return self.count("exports that failed");
        }
        let list: serde_json::Value = serde_json::from_slice(&now[&folder.join(MANIFEST)]).unwrap();
        let marks = list["files"].as_object().unwrap();
        let new: BTreeSet<PathBuf> = marks.keys().map(|name| folder.join(name)).collect();
        assert!(new.contains(&folder.join("report.json")));
        for (name, mark) in marks {
            assert_eq!(mark["sha256"], sha256(&now[&folder.join(name)]), "{name}");
        }
        let mut kept = BTreeSet::new();
        for (path, bytes) in before.iter().filter(|(path, _)| !path.ends_with(MANIFEST)) {
            let name = format!("{}.before", path.file_stem().unwrap().to_string_lossy());
            let aside = now.iter().find(|(other, held)| {
                let is_named = other.file_name().unwrap().to_string_lossy().starts_with(&name);
                *held == bytes && is_named && !before.contains_key(*other)
            });
            kept.extend(aside.map(|(other, _)| other.clone()));
            let is_own = self.written.get(path) == Some(bytes);
            let stays = !new.contains(path) && now.get(path) == Some(bytes);
            assert!(is_own || stays || aside.is_some(), "{} of somebody's own is gone", path.display());
        }
        for path in now.keys().filter(|path| !path.ends_with(MANIFEST)) {
            let is_old = before.get(path) == now.get(path);
            assert!(new.contains(path) || kept.contains(path) || is_old, "{} is nobody's", path.display());
        }
        self.written.retain(|path, _| !is_in(path));
        self.written.extend(new.into_iter().map(|path| (path.clone(), now[&path].clone())));
        self.files.extend(now);
        self.count(if kept.is_empty() { "exported" } else { "exported where somebody's own was kept" });
    }

    /// Does one of the things that write while files can hold hardly anything.
    fn has_no_room(&mut self, w: usize) {
        limit_files(Some([0, 100, 1500][self.roll(3)]));
        match self.roll(4) {
            0 => self.exports(w),
            1 => self.asks_to_close(w),
            _ => self.saves(w),
        }
        limit_files(None);
        self.count("no room");
    }

    /// Whether a session in the state folder has this friction.
    fn is_kept(&self, friction: f64) -> bool {
        let sessions =
            fs::read_dir(self.path("state")).into_iter().flatten().map(|entry| entry.unwrap().path());
        let mut scenes = sessions.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        scenes.any(|path| match load_scene(&path) {
            Ok(scene) => scene.bodies[0].friction == friction,
            // The worker of the other window may delete a session that needs no keeping any more.
            Err(error) => {
                assert!(!path.exists(), "{error}");
                false
            }
        })
    }

    /// A window may close once all is saved or kept; it asks otherwise.
    fn asks_to_close(&mut self, w: usize) {
        let (unsaved, friction) = (self.windows[w].is_unsaved(), self.windows[w].present().1);
        let session = &mut self.windows[w].session;
        if closes(session) {
            session.saving.closes = false;
            assert!(!unsaved || self.is_kept(friction), "{friction} is neither saved nor kept");
            return self.count("kept");
        }
        assert!(unsaved && title(session) == Some("Unsaved changes"), "{:?}", title(session));
        session.apply(Command::AnswerQuestion(2));
        self.count("asked before closing");
    }

    /// The window is gone without a word. What was kept of it is offered to the next.
    fn is_killed(&mut self, w: usize) {
        let (unsaved, friction) = (self.windows[w].is_unsaved(), self.windows[w].present().1);
        // Where the other window had the same friction, the session may be of that window, which lives.
        let kept = unsaved && !self.windows[1 - w].had.contains(&friction) && self.is_kept(friction);
        // The old one goes first: while it lives its session is its own.
        self.windows[w].session = Session::new();
        let mut fresh = self.folder.session();
        if kept {
            let start = Instant::now();
            let is_offered = |session: &Session| {
                // The worker of the other window may delete one that is listed here.
                let earlier = session.saving.earlier().iter();
                let mut scenes = earlier.filter_map(|earlier| load_scene(&earlier.path).ok());
                scenes.any(|scene| scene.bodies[0].friction == friction)
            };
            // A worker looks for sessions.
            while !is_offered(&fresh) {
                assert!(start.elapsed() < Duration::from_secs(20), "{friction} is not offered");
                fresh.poll();
                fresh.autosave(false);
                std::thread::sleep(Duration::from_millis(1));
            }
            self.count("offered again");
        }
        self.windows[w] = Window::new(fresh);
        self.count("killed");
    }

    fn check(&mut self) {
        let now = files_below(&self.folder.0);
        let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&now), names(&self.files));
        for (path, bytes) in &self.files {
            assert!(now[path] == *bytes, "{} holds {}", path.display(), String::from_utf8_lossy(&now[path]));
        }
        for window in &mut self.windows {
            let (_, friction, _) = window.present();
            let (unsaved, own) = (window.is_unsaved(), window.own_file().map(|(file, _)| file.clone()));
            let session = &mut window.session;
            let sandbox = session.sandbox.as_ref().unwrap();
            assert_eq!((sandbox.tuning().friction, sandbox.is_unsaved()), (friction, unsaved));
            assert_eq!(sandbox.file().map(|file| file.path().to_owned()), own);
            assert!(session.question().is_none() && session.path_prompt().is_none());
            let shown: Vec<u64> = session.notices().iter().map(|notice| notice.id).collect();
            shown.into_iter().for_each(|id| session.apply(Command::Dismiss(id)));
        }
    }
}

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Not a test by itself: the user, in a process of its own.
#[test]
fn the_user_of_the_walk() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let (seconds, seed) = (variable("KINTSUGI_RANDOM_SECONDS", 15), variable("KINTSUGI_RANDOM_SEED", 1));
    let kills = variable("KINTSUGI_KILLS", 1);
    let mut world = World::new(seed);
    let start = Instant::now();
    let missing = |world: &World| RARE.iter().find(|what| !world.counts.contains_key(*what)).copied();
    let killed = |world: &World| world.counts.get("killed").map_or(0, |count| *count as u64);
    while start.elapsed() < Duration::from_secs(seconds)
        || killed(&world) < kills
        || missing(&world).is_some()
    {
        assert!(
            world.step < 3000 || missing(&world).is_none(),
            "it never came to this: {:?}",
            missing(&world)
        );
        world.acts();
        world.check();
    }
    println!("seed {seed}: {} actions in {seconds} s: {:?}", world.step, world.counts);
}

/// Plays `test` of this file in a process of its own, whose files can be given a limit; the signal of the limit is
/// ignored, so that it is an error.
#[cfg(target_os = "linux")]
fn child(test: &str) -> process::Command {
    let program = std::env::current_exe().unwrap();
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut command = process::Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(program);
    command.args(["--exact", &name, "--nocapture"]).stdin(Stdio::null());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_a_user_of_two_windows_does_every_file_holds_what_it_must() {
    let output = child("the_user_of_the_walk").env(CHILD, "1").output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{}", said[0]);
    assert!(output.status.success() && said[0].contains(" actions in "), "{}\n{}", said[0], said[1]);
}
