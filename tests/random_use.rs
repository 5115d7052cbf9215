//! Somebody who does anything at all, in the real window, from a seed: no panic, no piece of mass lost, and no memory
//! that only grows, whatever comes after what, on the cores and on a device that is lost and refuses memory.
//!
//! `KINTSUGI_RANDOM_SECONDS=1800 KINTSUGI_RANDOM_SEED=7 cargo test --release --test random_use` goes on for half an hour,
//! half of it each way. The seed of a failure makes the same moves again.

mod support;

use std::{
    collections::BTreeSet,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;
use support::{
    injure::Dice,
    window::{Display, Program, want_of_tools},
};

/// What hands do, by how often.
#[derive(Clone, Copy, Debug)]
enum Move {
    Point,
    Click,
    Drag,
    Wheel,
    Key,
    Widget,
    Palette,
    Resize,
    Minimise,
    Open,
    Rest,
}

const MOVES: &[Move] = &[
    Move::Point,
    Move::Point,
    Move::Click,
    Move::Click,
    Move::Click,
    Move::Drag,
    Move::Drag,
    Move::Wheel,
    Move::Key,
    Move::Key,
    Move::Key,
    Move::Key,
    Move::Widget,
    Move::Widget,
    Move::Widget,
    Move::Palette,
    Move::Resize,
    Move::Minimise,
    Move::Open,
    Move::Rest,
    Move::Rest,
];

const KEYS: &[&str] = &[
    "ctrl+z",
    "ctrl+z",
    "ctrl+shift+z",
    "space",
    "space",
    "period",
    "Escape",
    "Return",
    "f",
    "a",
    "r",
    "h",
    "i",
    "k",
    "g",
    "t",
    "x",
    "F1",
    "F12",
    "ctrl+e",
    "ctrl+p",
    "Tab",
    "Delete",
    "plus",
    "minus",
    "1",
    "3",
    "7",
];

/// Objects that are small enough to be opened often.
const OBJECTS: &[&str] = &["vase", "column", "box", "sphere", "shell", "cavity", "statue"];

struct Person<'a> {
    program: Program<'a>,
    dice: Dice,
    errors: std::path::PathBuf,
    done: Vec<String>,
    resident: Vec<(f64, u64)>,
    /// What undo and the timeline keep and what is there, bytes, as the window counts it.
    kept: Vec<(f64, u64)>,
    /// How often the window said what a break made of the mass.
    weighed: usize,
    /// Widgets that were pressed.
    pressed: BTreeSet<String>,
    /// Most bodies that there were, objects that were open, losses and refusals that were told.
    bodies: u64,
    objects: BTreeSet<String>,
    told: BTreeSet<String>,
}

impl Person<'_> {
    fn place(&mut self) -> (f64, f64) {
        (self.dice.roll(1260) as f64 + 10.0, self.dice.roll(780) as f64 + 10.0)
    }

    /// Somewhere in the picture, most often near its middle.
    fn in_picture(&mut self) -> (f64, f64) {
        let near =
            |dice: &mut Dice, middle: f64, half: usize| middle + dice.roll(2 * half) as f64 - half as f64;
        (near(&mut self.dice, 640.0, 180), near(&mut self.dice, 400.0, 200))
    }

    fn moves(&mut self) {
        let what = *self.dice.among(MOVES);
        self.done.push(format!("{what:?}"));
        match what {
            Move::Point => {
                let (x, y) = self.in_picture();
                self.program.point(x, y);
            }
            Move::Click => {
                let (x, y) = self.in_picture();
                self.program.point(x, y);
                let held = *self.dice.among(&["", "", "ctrl", "shift"]);
                if held.is_empty() {
                    self.program.xdotool(&["click", "1"]);
                } else {
                    self.program.xdotool(&["keydown", held, "click", "1", "keyup", held]);
                }
            }
            Move::Drag => {
                let ((x, y), (to_x, to_y)) = (self.place(), self.place());
                let button = *self.dice.among(&["1", "1", "2", "3"]);
                self.program.point(x, y);
                self.program.xdotool(&["mousedown", button]);
                self.program.point((x + to_x) / 2.0, (y + to_y) / 2.0);
                self.program.point(to_x, to_y);
                self.program.xdotool(&["mouseup", button]);
            }
            Move::Wheel => {
                let way = *self.dice.among(&["4", "5"]);
                self.program.xdotool(&["click", "--repeat", "3", way]);
            }
            Move::Key => {
                let key = *self.dice.among(KEYS);
                self.program.keys(key);
            }
            Move::Widget => self.presses_a_widget(),
            Move::Palette => {
                self.program.keys("ctrl+p");
                let word = *self
                    .dice
                    .among(&["undo", "preview", "colour", "rough", "dusty", "reopen", "wire", "run"]);
                self.program.xdotool(&["type", "--delay", "20", word]);
                let end = *self.dice.among(&["Return", "Escape"]);
                self.program.keys(end);
            }
            Move::Resize => {
                let (w, h) = (500 + self.dice.roll(900), 400 + self.dice.roll(500));
                let size = [w.to_string(), h.to_string()];
                self.program.xdotool(&["windowsize", &self.program.window, &size[0], &size[1]]);
            }
            Move::Minimise => {
                self.program.xdotool(&["windowminimize", &self.program.window]);
                std::thread::sleep(Duration::from_millis(400));
                self.program.xdotool(&["windowmap", &self.program.window]);
                self.program.xdotool(&["windowactivate", &self.program.window]);
                self.program.xdotool(&["windowsize", &self.program.window, "1280", "800"]);
            }
            Move::Open => {
                let object = *self.dice.among(OBJECTS);
                if let Some(place) = self.widget("path") {
                    self.program.point(place.0, place.1);
                    self.program.xdotool(&["click", "1"]);
                    self.program.keys("ctrl+a");
                    self.program.xdotool(&["type", "--delay", "20", &format!("builtin:{object}")]);
                    self.program.keys("Return");
                }
            }
            Move::Rest => std::thread::sleep(Duration::from_millis(self.dice.roll(1500) as u64)),
        }
    }

    /// Once something falls apart, whatever comes of chance: on a slow machine it may be nothing in half a minute.
    fn breaks_something(&mut self) {
        for _ in 0..12 {
            self.program.point(640.0, 400.0);
            self.program.xdotool(&["click", "1"]);
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(10) {
                self.looks(start);
                if self.bodies > 1 {
                    return;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        panic!("nothing broke");
    }

    fn widget(&self, name: &str) -> Option<(f64, f64)> {
        let state = self.program.state()?;
        let [x, y, w, h] = [0, 1, 2, 3].map(|i| state["rects"][name][i].as_f64().unwrap_or(f64::NAN));
        (x + w + y + h).is_finite().then_some((x + w / 2.0, y + h / 2.0))
    }

    /// Any that has a name but the level's: an object at the finest takes minutes and many gigabytes.
    fn presses_a_widget(&mut self) {
        let Some(state) = self.program.state() else { return };
        let Some(rects) = state["rects"].as_object() else { return };
        let names: Vec<&String> = rects.keys().filter(|name| !name.contains("level")).collect();
        if names.is_empty() {
            return;
        }
        let name = (*self.dice.among(&names)).clone();
        self.done.push(name.clone());
        if let Some((x, y)) = self.widget(&name) {
            self.program.point(x, y);
            self.program.xdotool(&["click", "1"]);
            self.pressed.insert(name);
        }
    }

    fn looks(&mut self, since: Instant) {
        let said = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let lately = &self.done[self.done.len().saturating_sub(12)..];
        assert!(!said.contains("panicked"), "after {lately:?}: {said}");
        assert!(self.program.is_running(), "it ended after {lately:?}: {said}");
        if let Some(state) = self.program.state() {
            if let Some(bytes) = state["kept_bytes"].as_u64() {
                self.kept.push((since.elapsed().as_secs_f64(), bytes >> 10));
            }
            // A number that is not finite is null in the state, as the error of no break is; but a break has its time.
            let (error, broke) = (state["mass_error"].as_f64(), state["break_ms"].is_number());
            assert_eq!(error.is_some(), broke, "the mass after a break is no number, after {lately:?}");
            if let Some(error) = error {
                assert!(error.abs() < 1e-6, "mass off by {error:e} after {lately:?}");
                self.weighed += 1;
            }
            self.bodies = self.bodies.max(state["bodies"].as_u64().unwrap_or_default());
            self.objects.extend(state["object"].as_str().map(str::to_owned));
            let texts =
                ["errors", "remarks"].iter().flat_map(|kind| state[*kind].as_array().into_iter().flatten());
            self.told.extend(texts.filter_map(Value::as_str).map(str::to_owned));
        }
        self.resident.push((since.elapsed().as_secs_f64(), self.program.resident_kib()));
    }
}

/// The most that was resident in a span of time, MiB.
fn most(resident: &[(f64, u64)], from: f64, to: f64) -> u64 {
    resident.iter().filter(|(t, _)| (from..to).contains(t)).map(|(_, kib)| kib >> 10).max().unwrap_or(0)
}

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn whatever_somebody_does_the_window_goes_on() {
    if let Some(line) = want_of_tools() {
        return support::skip::note(&line);
    }
    let (seconds, seed) = (variable("KINTSUGI_RANDOM_SECONDS", 60), variable("KINTSUGI_RANDOM_SEED", 1));
    for (compute, mishaps) in [("cpu", ""), ("gpu", "lose=250,refuse=2999,configure=9")] {
        let display = Display::open();
        let errors = display.folder.join("stderr");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kintsugi"));
        command.stderr(std::fs::File::create(&errors).unwrap()).env("KINTSUGI_MISHAPS", mishaps);
        let program =
            display.start_by(command, compute, &["builtin:vase", "--level", "5", "--compute", compute]);
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut person = Person {
            program,
            dice,
            errors,
            done: Vec::new(),
            resident: Vec::new(),
            kept: Vec::new(),
            weighed: 0,
            pressed: BTreeSet::new(),
            bodies: 0,
            objects: BTreeSet::new(),
            told: BTreeSet::new(),
        };
        let end = seconds as f64 / 2.0;
        println!(
            "{compute}: seed {seed}, {end:.0} s; again: KINTSUGI_RANDOM_SEED={seed} KINTSUGI_RANDOM_SECONDS={seconds}"
        );
        person.breaks_something();
        person.resident.clear();
        person.kept.clear();
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < end {
            person.moves();
            person.looks(start);
        }
        // It still does what it is asked.
        let frames = |state: &Value| state["window"]["frames"].as_u64();
        // A click may have met the button of the window's frame that hides it.
        person.program.xdotool(&["windowmap", &person.program.window]);
        person.program.xdotool(&["windowactivate", &person.program.window]);
        let before = person.program.state().and_then(|state| frames(&state));
        person.program.xdotool(&["windowsize", &person.program.window, "1180", "760"]);
        person.program.until("another frame", |state| frames(state) > before);
        // What is open and broken changes from minute to minute, so it is long spans that are compared.
        let half = 0.5 * (300.0 + end);
        let in_spans = |what: &[(f64, u64)]| (most(what, 300.0, half), most(what, half, f64::MAX));
        let ((settled, last), kept) = (in_spans(&person.resident), in_spans(&person.kept));
        println!(
            "{compute}: {} moves; at most {settled} MiB from five minutes to {:.0}, {last} MiB after; of these {} and {} are \
             kept to go back to",
            person.done.len(),
            half / 60.0,
            kept.0,
            kept.1
        );
        let has = |word: &str| person.told.iter().filter(|text| text.contains(word)).count();
        let (lost, refused) = (has("device was lost"), has("graphics memory"));
        println!(
            "{} bodies at most; {:?}; {lost} losses told, {refused} refusals",
            person.bodies, person.objects
        );
        println!(
            "{} states with a break; {} widgets: {:?}",
            person.weighed,
            person.pressed.len(),
            person.pressed
        );
        keep(&person, compute);
        assert!(person.weighed > 0, "no state told of a break");
        // One move in seven presses a widget of some hundred, one in 21 opens one of seven objects.
        let moves = person.done.iter().filter(|done| done.as_str() == "Widget").count();
        let opened = person.done.iter().filter(|done| done.as_str() == "Open").count();
        assert!(person.pressed.len() >= (moves / 4).min(20), "{:?} of {moves} presses", person.pressed);
        assert!(opened < 30 || person.objects.len() > 2, "{:?} of {opened} that were opened", person.objects);
        // Of any length: half an hour came to 448 MiB.
        let (greatest, kept_at_most) =
            (most(&person.resident, 0.0, f64::MAX), most(&person.kept, 0.0, f64::MAX));
        assert!(!cfg!(target_os = "linux") || greatest > 0, "the system tells nothing of memory");
        assert!(
            greatest as f64 <= 1024.0 + 1.5 * kept_at_most as f64,
            "{greatest} MiB, of which {kept_at_most} are kept to go back to"
        );
        if end > 600.0 {
            // Undo and the timeline may fill up to their budgets. An octree in memory is up to half as large again as what
            // the window counts of it.
            let kept = kept.1.saturating_sub(kept.0);
            assert!(
                last as f64 <= 1.1 * settled as f64 + 1.5 * kept as f64,
                "{settled} MiB became {last}, of which {kept} are kept to go back to"
            );
        }
    }
}

/// What was said and done, where somebody wants to read it.
fn keep(person: &Person<'_>, compute: &str) {
    if let Some(to) = std::env::var_os("KINTSUGI_RANDOM_LOG") {
        let text: Vec<String> =
            person.resident.iter().map(|(t, kib)| format!("{t:.1},{}", kib >> 10)).collect();
        let to = std::path::Path::new(&to).with_extension(compute);
        std::fs::write(to, format!("{}\n{}\n", text.join("\n"), person.done.join("\n"))).unwrap();
    }
}
