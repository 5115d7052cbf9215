//! Plays of the five scenes, each made once in a run.
//!
//! In: a scene's name. Out: its play, in the folder of the figure that shows the scene. An entry that needs the same
//! play finds it there, and plays the scene itself where that figure was not made in the same run.

use std::fs;

use super::super::{entry::Shown, log::Log, work::Work};
use crate::cli::{CliError, contact_counts::Range};

/// The bunny that the scenes name.
pub const BUNNY: &str = "stanford-bunny.obj";

/// How one of the five scenes is played.
pub struct Staged {
    /// Name of the shipped scene.
    pub name: &'static str,
    /// The figure that shows it.
    pub figure: &'static str,
    /// Simulated time, s; and where shorter plays are wanted.
    pub seconds: [&'static str; 2],
    /// Simulated time between two pictures, s: a whole number of steps.
    pub every: f64,
    /// A mesh that it names and that users can get; else its shapes are built in.
    pub mesh: Option<&'static str>,
    /// What is added to the scene's text.
    pub added: fn() -> String,
}

fn nothing() -> String {
    String::new()
}

const fn staged(name: &'static str, figure: &'static str, seconds: [&'static str; 2], every: f64) -> Staged {
    Staged { name, figure, seconds, every, mesh: None, added: nothing }
}

pub static MONEYBOX: Staged = staged("moneybox", "fig-7", ["3", "0.9"], 0.3);
pub static BRICKS: Staged = staged("bricks", "fig-11", ["4.8", "0.9"], 0.6);
pub static PLATES: Staged = staged("plates", "fig-1", ["3.9", "0.9"], 0.3);
pub static BATCHES: Staged = Staged { mesh: Some(BUNNY), ..staged("batches", "fig-10", ["2", "0.3"], 0.1) };
pub static POINTER: Staged =
    Staged { mesh: Some(BUNNY), added: hands, ..staged("pointer", "fig-6", ["4.2", "1.2"], 0.3) };

/// All of them, in the order of the paper's tables.
pub static ALL: [&Staged; 5] = [&MONEYBOX, &BATCHES, &BRICKS, &PLATES, &POINTER];

/// Where the five bodies of `pointer` stand, x and z, m.
const PLACES: [[f64; 2]; 5] =
    [[-0.9308, -0.3157], [-0.5097, -0.0086], [0.0, 0.1], [0.5097, -0.0086], [0.9308, -0.3157]];
/// Speed at which a hand moves, m/s, and height at which it holds a body, m.
const HAND_SPEED: f64 = 3.0;
const HAND_HEIGHT: f64 = 0.25;
/// Time step of `pointer`, s.
const DT: f64 = 0.015;

/// Four pushes of a hand, in place of the paper's user: each takes a body to the place of another one.
fn hands() -> String {
    let push = |(time, from, to): (f64, usize, usize)| {
        let ([x, z], [to_x, to_z]) = (PLACES[from], PLACES[to]);
        let way = ((to_x - x) * (to_x - x) + (to_z - z) * (to_z - z)).sqrt();
        let steps = (way / HAND_SPEED / DT) as u32 + 20;
        let place = |step: u32| {
            let share = (f64::from(step) * DT * HAND_SPEED / way).min(1.0);
            format!("[{:.4}, {HAND_HEIGHT}, {:.4}]", x + (to_x - x) * share, z + (to_z - z) * share)
        };
        let path: Vec<String> = (0..steps).map(place).collect();
        format!(
            "\n[[event]]\nkind = \"hand\"\ntime = {time:?}\nbody = {from}\nanchor = [0.0, 0.0, 0.0]\npath = [{}]\n",
            path.join(", ")
        )
    };
    [(0.3, 1, 2), (1.2, 3, 2), (2.1, 0, 1), (3.0, 4, 3)].map(push).concat()
}

/// A play that lies in some folder.
pub struct Play {
    /// The scene.
    pub staged: &'static Staged,
    /// Its folder, seen from the entry's own folder.
    folder: String,
    /// Which mesh is missing and what was played instead, or how the mesh differs from the paper's.
    pub differs: Option<String>,
    /// Counts and times of its steps.
    pub counts: Log,
}

/// The play of a scene: the one of the figure that shows it, or a new one.
///
/// # Errors
/// [`CliError`] of the command.
pub fn play(work: &mut Work<'_>, staged: &'static Staged) -> Result<Play, CliError> {
    let theirs = format!("../{}/play", staged.figure);
    let is_there = work.folder().join(&theirs).join("contacts.csv").is_file();
    let folder = if is_there { theirs } else { played(work, staged)? };
    let counts = work.log(&format!("{folder}/contacts.csv"))?;
    let differs = staged.mesh.map(|mesh| match work.meshes().find(mesh) {
        Some(_) => format!(
            "`{}`: the bunnies are `{mesh}` of the folder of `--meshes`; the paper's have 7,940 triangles and are not \
             published.",
            staged.name
        ),
        None => format!(
            "`{}`: `{mesh}` is not in the folder of `--meshes`; the object measured is `builtin:statue`.",
            staged.name
        ),
    });
    Ok(Play { staged, folder, differs, counts })
}

/// Plays a scene in the entry's own folder.
fn played(work: &mut Work<'_>, staged: &Staged) -> Result<String, CliError> {
    let scene = work.scene_with(staged.name, |text| text + &(staged.added)())?;
    let seconds = work.pick(staged.seconds[0], staged.seconds[1]);
    let rate = format!("{:.6}", 1.0 / staged.every);
    let (coarser, size) = (work.pick("0", "2"), work.pick("640x400", "240x150"));
    work.run_line(&format!(
        "simulate {} --coarser {coarser} --seconds {seconds} --contacts field --response impulse \
         --count-contacts --volume-every 0 --frames {rate} --size {size} --out play",
        scene.file
    ))?;
    // The states of all bodies in all steps are tens of megabytes that no figure needs.
    work.remove("play/trajectory.npz");
    Ok("play".into())
}

impl Play {
    /// Its `report.json`.
    ///
    /// # Errors
    /// [`CliError::Outcome`] where it is missing.
    pub fn report(&self, work: &Work<'_>) -> Result<serde_json::Value, CliError> {
        work.json(&format!("{}/report.json", self.folder))
    }

    /// Its `steps.csv`.
    ///
    /// # Errors
    /// [`CliError::Outcome`] where it is missing.
    pub fn steps(&self, work: &Work<'_>) -> Result<Log, CliError> {
        work.log(&format!("{}/steps.csv", self.folder))
    }

    /// Average and maximum of a column of its counts.
    #[must_use]
    pub fn range(&self, column: &str) -> Option<Range> {
        self.counts.range(column)
    }

    /// At most this many of its pictures, from the first to the last; the others are removed. Only for a play in the
    /// entry's own folder.
    #[must_use]
    pub fn pictures(&self, work: &Work<'_>, most: usize) -> Vec<Shown> {
        let frames = work.folder().join(&self.folder).join("frames");
        let entries = fs::read_dir(frames).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| name.ends_with(".png"));
        names.sort();
        let last = names.len().saturating_sub(1);
        let gaps = most.saturating_sub(1).max(1);
        let chosen: Vec<usize> = (0..most).map(|k| (k * last + gaps / 2) / gaps).collect();
        let mut shown = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let file = format!("{}/frames/{name}", self.folder);
            if chosen.contains(&index) {
                let number = name.trim_end_matches(".png").parse::<u32>().unwrap_or_default();
                let seconds = f64::from(number) * self.staged.every;
                shown.push(Shown::new(file, format!("After {seconds:.2} s.")));
            } else {
                work.remove(&file);
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::{super::published::PAPER, *};

    #[test]
    fn the_hands_of_the_scene_are_events_that_end_where_another_body_stands() {
        let table: toml::Table = hands().parse().unwrap();
        let events = table["event"].as_array().unwrap();
        assert_eq!(events.len(), 4);
        let path = events[0]["path"].as_array().unwrap();
        let last = path.last().unwrap().as_array().unwrap();
        let place = [0, 2].map(|axis| last[axis].as_float().unwrap());
        // Planted error to see this fail: swap both bodies of a push.
        assert!(place.iter().zip(PLACES[2]).all(|(a, b)| (a - b).abs() < 1e-3), "{place:?}");
    }

    #[test]
    fn every_scene_has_figures_of_the_paper_and_whole_steps_between_pictures() {
        for (staged, paper) in ALL.into_iter().zip(&PAPER) {
            assert_eq!(staged.name, paper.scene);
            let steps = staged.every * 1e3 / paper.dt_ms;
            // Planted error to see this fail: a picture every 0.25 s of steps of 30 ms.
            assert!((steps - steps.round()).abs() < 1e-9, "{}: {steps}", staged.name);
            assert!(staged.seconds.iter().all(|text| text.parse::<f64>().is_ok_and(|s| s > 0.0)));
        }
    }
}
