//! Runs that are killed at any moment, by a seed: commands that write into used folders, and the window. After each kill
//! every file is the old or the new one and whole, and what is the user's own is there byte for byte under its name or a
//! `.before` one; the next start finishes what was begun and leaves nothing half-written; a window offers the session.
//!
//! `KINTSUGI_KILLS=200 KINTSUGI_RANDOM_SEED=7 cargo test --release --test killed` kills 200 times.

#![cfg(unix)]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use support::{
    injure::Dice,
    program::{finish, folder, kintsugi, text},
    window::{Display, Program, wait, want_of_tools},
};

const MANIFEST: &str = ".kintsugi-files.json";
const JOURNAL: &str = ".kintsugi-change.json";
/// Names that the user's own files take.
const RESULTS: &[&str] = &["notes.txt", "pieces.obj", "pieces.glb", "voxels.npz", "steps.csv"];
/// One kill in so many is a window's, which takes seconds to start.
const WINDOWS: usize = 6;

fn variable(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn dice() -> Dice {
    Dice((variable("KINTSUGI_RANDOM_SEED", 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

fn names(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).into_iter().flatten();
    all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn sha256(path: &Path) -> String {
    kintsugi::mesh::digest::sha256(&fs::read(path).unwrap())
}

/// A folder of results and what in it is the user's own.
struct Results {
    path: PathBuf,
    own: Vec<(String, Vec<u8>)>,
}

impl Results {
    /// Where there is a report, the list is of its run, and all that the list names is there as it was written, but for what
    /// the user wrote over it.
    fn is_whole(&self, when: &str) {
        if self.path.join("report.json").exists() && !self.wrote("report.json") {
            let list = fs::read(self.path.join(MANIFEST))
                .unwrap_or_else(|e| panic!("{when}: a report and no list: {e}"));
            let list: Value = serde_json::from_slice(&list).unwrap();
            let marks = list["files"].as_object().unwrap();
            assert!(marks.contains_key("report.json"), "{when}: {marks:?}");
            for (name, mark) in marks.iter().filter(|(name, _)| !self.wrote(name)) {
                let path = self.path.join(name);
                assert!(
                    path.exists() && sha256(&path) == mark["sha256"],
                    "{when}: {name} is not of the report's run"
                );
            }
        }
        for (name, bytes) in &self.own {
            let stem = Path::new(name).file_stem().unwrap().to_string_lossy().into_owned();
            let is_kept = |other: &String| *other == *name || other.starts_with(&format!("{stem}.before"));
            let mut kept = names(&self.path).into_iter().filter(is_kept);
            let is_there = kept.any(|other| fs::read(self.path.join(other)).unwrap() == *bytes);
            assert!(is_there, "{when}: the user's own {name} is gone: {:?}", names(&self.path));
        }
    }

    fn wrote(&self, name: &str) -> bool {
        self.own.iter().any(|(own, _)| own == name)
    }

    /// The user writes a file of their own, perhaps over a result.
    fn edits(&mut self, dice: &mut Dice, number: usize, names: &[&str]) {
        let name = *dice.among(names);
        if self.path.exists() && !self.wrote(name) {
            let bytes = format!("of the user, {number}").into_bytes();
            fs::write(self.path.join(name), &bytes).unwrap();
            self.own.push((name.to_owned(), bytes));
        }
    }

    /// After a run that went to its end nothing of a killed one is left.
    fn is_tidy(&mut self, when: &str) {
        // What was kept under another name is not written over any more.
        self.own.retain(|(name, bytes)| fs::read(self.path.join(name)).is_ok_and(|there| there == *bytes));
        self.is_whole(when);
        let left: Vec<String> =
            names(&self.path).into_iter().filter(|name| name.contains("being-written")).collect();
        assert!(left.is_empty() && !self.path.join(JOURNAL).exists(), "{when}: {left:?}");
        assert!(self.path.join("report.json").exists(), "{when}: {:?}", names(&self.path));
    }
}

/// Where a kill came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Before,
    WhileStaged,
    WithinTheChange,
    After,
}

/// Starts a command and kills it: at any time within `whole`, or soon after it began to write.
fn kill(mut command: Command, target: &Path, whole: Duration, dice: &mut Dice) -> Moment {
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let any =
        |most: Duration, dice: &mut Dice| Duration::from_micros(dice.roll(most.as_micros() as usize) as u64);
    let parent = target.parent().unwrap();
    let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
    let is_staged =
        || [target, parent].iter().any(|f| names(f).iter().any(|name| name.contains("being-written")));
    let changes = || target.join(JOURNAL).exists();
    match dice.roll(3) {
        0 => std::thread::sleep(any(whole, dice)),
        1 => {
            while !is_staged() && !ended(&mut child) && start.elapsed() < 20 * whole {}
            std::thread::sleep(any(whole / 4, dice));
        }
        _ => {
            while !changes() && !ended(&mut child) && start.elapsed() < 20 * whole {}
            std::thread::sleep(any(Duration::from_millis(2), dice));
        }
    }
    let gone = ended(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    match (changes(), is_staged()) {
        (true, _) => Moment::WithinTheChange,
        (_, true) => Moment::WhileStaged,
        _ if gone => Moment::After,
        _ => Moment::Before,
    }
}

/// A command that is killed, and what must hold of its files.
struct Killed {
    home: PathBuf,
    results: BTreeMap<&'static str, Results>,
    picture: Option<Vec<u8>>,
    durations: BTreeMap<&'static str, Duration>,
    moments: BTreeMap<(&'static str, Moment), usize>,
}

const COMMANDS: [&str; 6] = ["fracture", "fracture", "fracture", "simulate", "render", "sweep"];
const JOBS: usize = 12;

impl Killed {
    fn new() -> Self {
        let home = folder("killed");
        let scene = "[[body]]\nfile = \"builtin:box\"\nlevel = 4\nposition = [0.0, 0.3, 0.0]\n";
        fs::write(home.join("falls.toml"), scene).unwrap();
        let rng: Vec<usize> = (0..JOBS).collect();
        let jobs =
            format!("meshes = [\"builtin:box\"]\nlevels = [4]\nrng = {rng:?}\nfracture = {{ seeds = 3 }}\n");
        fs::write(home.join("jobs.toml"), jobs).unwrap();
        let results = ["fracture", "simulate", "render"].map(|name| {
            let path = if name == "render" { home.clone() } else { home.join(name) };
            (name, Results { path, own: Vec::new() })
        });
        Self {
            home,
            results: results.into(),
            picture: None,
            durations: BTreeMap::new(),
            moments: BTreeMap::new(),
        }
    }

    fn command(&self, name: &str, number: usize) -> Command {
        let at = |file: &str| text(&self.home.join(file));
        let rng = number.to_string();
        let words: Vec<String> = match name {
            "fracture" => {
                let format = ["glb", "obj", "glb,obj"][number % 3];
                let own = ["builtin:box", "--level", "5", "--seeds", "5", "--rng", &rng, "--format", format];
                [&own.map(str::to_owned)[..], &["--out".into(), at("fracture")]].concat()
            }
            "simulate" => {
                vec![at("falls.toml"), "--seconds".into(), "0.3".into(), "--out".into(), at("simulate")]
            }
            "render" => {
                let own = ["builtin:box", "--level", "4", "--size", "160x120", "--explode", "0.5", "--out"];
                [&own.map(str::to_owned)[..], &[at("picture.png")]].concat()
            }
            _ => vec![at("jobs.toml"), "--out".into(), at("sweep"), "--keep".into(), "report".into()],
        };
        let mut command = kintsugi([name]);
        command.args(words).args(["--compute", "cpu"]);
        command
    }

    fn once(&mut self, number: usize, dice: &mut Dice) {
        let name = *dice.among(&COMMANDS);
        let target = self.home.join(if name == "render" { "picture.png" } else { name });
        if !self.durations.contains_key(name) {
            let start = Instant::now();
            finish(&mut self.command(name, number)).unwrap();
            self.durations.insert(name, start.elapsed());
            self.picture = fs::read(self.home.join("picture.png")).ok();
        }
        if let Some(results) = self.results.get_mut(name) {
            results.edits(dice, number, if name == "render" { &["picture.png"] } else { RESULTS });
        }
        if name == "sweep" && dice.roll(2) == 0 {
            fs::remove_dir_all(&target).unwrap();
        }
        let moment = kill(self.command(name, number), &target, self.durations[name], dice);
        *self.moments.entry((name, moment)).or_default() += 1;
        let when = format!("kill {number}, {name}, {moment:?}");
        self.looks(name, &when);
        finish(&mut self.command(name, number)).unwrap();
        self.looks(name, &when);
        match name {
            "render" => {
                let left: Vec<String> =
                    names(&self.home).into_iter().filter(|name| name.ends_with(".part")).collect();
                assert!(left.is_empty(), "{when}: {left:?}");
                assert!(fs::read(&target).ok() == self.picture, "{when}: another picture");
                // It is kept under another name now.
                self.results.get_mut(name).unwrap().own.clear();
            }
            "sweep" => {
                assert_eq!(self.rows(), JOBS, "{when}");
                let left: Vec<String> = names(&target.join("breaks"))
                    .into_iter()
                    .filter(|name| name.contains("being-written"))
                    .collect();
                assert!(left.is_empty(), "{when}: {left:?}");
                for job in 0..JOBS {
                    let path = target.join(format!("breaks/{job:06}"));
                    Results { path, own: Vec::new() }.is_tidy(&when);
                }
            }
            _ => self.results.get_mut(name).unwrap().is_tidy(&when),
        }
    }

    fn looks(&self, name: &str, when: &str) {
        match name {
            "render" => {
                let (there, own) = (fs::read(self.home.join("picture.png")).ok(), &self.results[name].own);
                // The same picture again, so old and new are the same bytes; or the user's own, or that under another name.
                let is_own = own.iter().any(|(_, bytes)| there.as_ref().is_none_or(|there| there == bytes));
                assert!(
                    is_own || there == self.picture,
                    "{when}: the picture is {:?}",
                    there.map(|there| there.len())
                );
                self.results[name].is_whole(when);
            }
            "sweep" => {
                self.rows();
                for job in
                    names(&self.home.join("sweep/breaks")).into_iter().filter(|name| !name.starts_with('.'))
                {
                    Results { path: self.home.join("sweep/breaks").join(job), own: Vec::new() }
                        .is_whole(when);
                }
            }
            _ => self.results[name].is_whole(when),
        }
    }

    /// Rows of the sweep's table, each of a job of its own and none with an error.
    fn rows(&self) -> usize {
        let Ok(table) = fs::read_to_string(self.home.join("sweep/table.csv")) else { return 0 };
        // A line that was being written when the sweep was killed has no end; the next start drops it.
        let whole = table.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let jobs: Vec<&str> = whole.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(jobs.iter().collect::<BTreeSet<_>>().len(), jobs.len(), "a job twice: {jobs:?}");
        jobs.len()
    }
}

#[test]
fn commands_that_are_killed_leave_old_or_new_files_and_the_next_run_puts_them_in_order() {
    let kills = variable("KINTSUGI_KILLS", 12) * (WINDOWS - 1) / WINDOWS;
    let (mut killed, mut dice) = (Killed::new(), dice());
    for number in 0..kills {
        killed.once(number, &mut dice);
    }
    println!("{kills} kills: {:?}", killed.moments);
    let within = |(_, moment): &&(&str, Moment)| *moment == Moment::WithinTheChange;
    assert!(kills < 100 || killed.moments.keys().any(|key| within(&key)), "no change was broken off");
}

/// A window with a scene that is broken once, and so not saved.
fn broken<'a>(display: &'a Display, scene: &str, number: usize) -> Program<'a> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kintsugi"));
    command.stderr(Stdio::null());
    let mut program = display.start_by(command, &format!("kill-{number}"), &[scene, "--compute", "cpu"]);
    let centre = program.state().unwrap()["object_centre"].clone();
    let [x, y] = support::window::pair(&centre);
    for _ in 0..10 {
        program.point(x, y);
        program.xdotool(&["click", "1"]);
        if program.soon(|state| state["unsaved"] == true) {
            return program;
        }
    }
    program.until("something unsaved", |state| state["unsaved"] == true);
    program
}

/// Starts a window and waits until it offers the last session.
fn is_offered(display: &Display, number: usize) {
    let name = format!("next-{number}");
    let state = display.folder.join(format!("{name}.json"));
    std::thread::scope(|scope| {
        // A remark goes after some seconds, so it is waited for while the window starts.
        let offer = || {
            fs::read_to_string(&state).ok()?.contains("The last session had unsaved changes").then_some(())
        };
        let offered = scope.spawn(move || wait("the offer of the last session", offer));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kintsugi"));
        command.stderr(Stdio::null());
        let next = display.start_by(command, &name, &["builtin:box", "--level", "4", "--compute", "cpu"]);
        offered.join().unwrap();
        drop(next);
    });
}

fn sessions(display: &Display) -> BTreeSet<String> {
    let all = names(&display.folder.join("kintsugi"));
    all.into_iter().filter(|name| name.starts_with("session-") && name.ends_with(".toml")).collect()
}

#[test]
fn a_window_that_is_killed_leaves_its_file_whole_and_its_session_to_the_next() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let kills = variable("KINTSUGI_KILLS", 12) / WINDOWS;
    let mut dice = dice();
    let display = Display::open();
    let scene = display.folder.join("mine.toml");
    let (mut saved, mut offered, mut exported) = (0, 0, 0);
    for number in 0..kills {
        let original = "[[body]]\nfile = \"builtin:box\"\nlevel = 4\non_floor = true\n";
        fs::write(&scene, original).unwrap();
        let before = sessions(&display);
        let mut program = broken(&display, "mine.toml", number);
        // While somebody saves, once a session is kept, while somebody exports.
        let what = number % 3;
        let pause = Duration::from_micros(dice.roll([1_000_000, 60_000, 2_000_000][what]) as u64);
        match what {
            0 => program.keys("ctrl+s"),
            1 => drop(program.until("a session", |_| sessions(&display).len() > before.len())),
            _ => {
                program.keys("ctrl+e");
                program.until("the export panel", |state| state["rects"]["export_go"].is_array());
                program.press("export_go");
            }
        }
        std::thread::sleep(pause);
        // As kill -9 does.
        drop(program);
        let now = fs::read_to_string(&scene).unwrap();
        let is_new = now != original;
        let read =
            kintsugi::scene::load_scene(&scene).unwrap_or_else(|e| panic!("kill {number}: {e}: {now}"));
        assert!(!is_new || what == 0 && read.bodies.len() == 1, "kill {number}: {now}");
        saved += usize::from(is_new);
        for name in names(&display.folder)
            .into_iter()
            .filter(|name| name.contains("-pieces") && !name.starts_with('.'))
        {
            let results = Results { path: display.folder.join(name), own: Vec::new() };
            results.is_whole(&format!("kill {number}"));
            assert!(results.path.join("report.json").exists(), "kill {number}: half an export");
            exported += 1;
            fs::remove_dir_all(&results.path).unwrap();
        }
        if sessions(&display).len() > before.len() {
            is_offered(&display, number);
            offered += 1;
        } else {
            assert!(what != 1, "kill {number}: no session was kept");
        }
    }
    println!(
        "{kills} windows killed: {saved} had saved, {offered} sessions were offered, {exported} had exported"
    );
}
