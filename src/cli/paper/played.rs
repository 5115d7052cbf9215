//! A scene that was played for a figure: its frames and the time of its steps.

use super::{
    entry::{Shown, Table, number, ratio},
    log::{Log, mean, quantile},
    work::Work,
};
use crate::cli::CliError;

/// How a scene is played.
pub struct Play<'a> {
    /// File of the scene.
    pub scene: &'a str,
    /// Simulated time, s.
    pub seconds: f64,
    /// Frames a simulated second.
    pub frames: f64,
    /// Camera of the frames, as `render` takes it; `None`: the scene's.
    pub camera: Option<&'a str>,
    /// Levels that it is played coarser.
    pub coarser: u32,
    /// Folder of the play, in that of the entry.
    pub out: &'a str,
    /// Further options.
    pub options: &'a [&'a str],
    /// Frames to keep, by number.
    pub keep: &'a [u32],
}

/// Columns of `steps.csv` with the parts of a step's physics, and what the page calls them.
const PARTS: [(&str, &str); 5] = [
    ("ms broad phase", "broad phase"),
    ("ms narrow phase", "search of pairs"),
    ("ms manifolds", "manifolds"),
    ("ms solver", "response"),
    ("ms sleep and report", "sleep and report"),
];

/// What a play left.
pub struct Played {
    /// `steps.csv`.
    pub steps: Log,
    /// Frames that were kept: the file and the simulated time, s.
    pub frames: Vec<(String, f64)>,
}

impl Play<'_> {
    /// Plays the scene. Its arrays and all other frames are removed: together the plays of a document would fill some
    /// hundred megabytes.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn run(&self, work: &mut Work<'_>) -> Result<Played, CliError> {
        let (seconds, frames) = (self.seconds.to_string(), self.frames.to_string());
        let (coarser, size) = (self.coarser.to_string(), work.size([640, 400]));
        let mut words = vec!["simulate", self.scene, "--seconds", &seconds, "--frames", &frames];
        words.extend(["--size", &size, "--volume-every", "0"]);
        if self.coarser > 0 {
            words.extend(["--coarser", &coarser]);
        }
        if let Some(camera) = self.camera {
            words.extend(["--camera", camera]);
        }
        words.extend(self.options);
        let out = self.out;
        words.extend(["--out", out]);
        work.run(&words)?;
        work.remove(&format!("{out}/trajectory.npz"));
        let mut kept = Vec::new();
        let count = (self.seconds * self.frames).round() as u32;
        for number in 0..=count {
            let file = format!("{out}/frames/{number:05}.png");
            if self.keep.contains(&number) {
                kept.push((file, f64::from(number) / self.frames));
            } else {
                work.remove(&file);
            }
        }
        Ok(Played { steps: work.log(&format!("{out}/steps.csv"))?, frames: kept })
    }
}

impl Played {
    /// The kept frames as pictures of the page; `what` is the caption.
    pub fn shown(&self, what: &str) -> Vec<Shown> {
        let shown = |(file, time): &(String, f64)| Shown::new(file, format!("{what}, after {time:.1} s."));
        self.frames.iter().map(shown).collect()
    }

    /// The first step in which something touches and more bodies are there than at the start; the number of steps where
    /// there is none.
    fn broken_from(&self) -> usize {
        let (bodies, points) = (self.steps.column("bodies"), self.steps.column("contact_points"));
        let first = bodies.first().copied().flatten().unwrap_or(0.0);
        let is_broken = |step: &usize| {
            let of = |column: &[Option<f64>]| column.get(*step).copied().flatten().unwrap_or(0.0);
            of(&bodies) > first && of(&points) > 0.0
        };
        (0..self.steps.len()).find(is_broken).unwrap_or(self.steps.len())
    }

    /// Time that each step spent on physics, ms, from the first step on in which something touches and more bodies are
    /// there than at the start.
    pub fn physics_ms(&self) -> Vec<f64> {
        let parts = PARTS.map(|(column, _)| self.steps.column(column));
        let of_step =
            |step: usize| parts.iter().filter_map(|part| part.get(step).copied().flatten()).sum::<f64>();
        (self.broken_from()..self.steps.len()).map(of_step).collect()
    }

    /// What takes the time after the break: the parts of the dearest step, and the means of the others.
    pub fn parts(&self) -> Table {
        let heads: Vec<&str> =
            ["", "pairs searched"].into_iter().chain(PARTS.map(|(_, head)| head)).collect();
        let mut table = Table::new("What takes the physics time of a step after the break, ms", &heads);
        let (ms, from) = (self.physics_ms(), self.broken_from());
        let dearest = (0..ms.len()).max_by(|a, b| ms[*a].total_cmp(&ms[*b])).unwrap_or(0);
        let columns: Vec<Vec<Option<f64>>> = std::iter::once("pairs")
            .chain(PARTS.map(|(column, _)| column))
            .map(|column| self.steps.column(column).split_off(from))
            .collect();
        let mut line = |head: &str, is_in: &dyn Fn(usize) -> bool| {
            let cells = columns.iter().map(|column| {
                let cells = column.iter().enumerate().filter(|(step, _)| is_in(*step));
                number(mean(cells.filter_map(|(_, cell)| *cell)), 1)
            });
            table.row(std::iter::once(head.to_owned()).chain(cells));
        };
        line("dearest step", &|step| step == dearest);
        line("mean of the others", &|step| step != dearest);
        table
    }

    /// The time of its steps beside the range that a paper published, ms.
    pub fn times(&self, published: Option<[f64; 2]>) -> Table {
        let ms = self.physics_ms();
        let mut table = Table::new(
            "Physics time of a step after the break, ms",
            &["", "steps", "lowest tenth", "mean", "highest tenth", "most"],
        );
        let at = |share: f64| quantile(ms.iter().copied(), share);
        let cells = [at(0.1), mean(ms.iter().copied()), at(0.9), at(1.0)];
        let row = |head: &str, steps: String, cells: [Option<f64>; 4]| {
            let cells = cells.map(|cell| number(cell, 1));
            [head.to_owned(), steps].into_iter().chain(cells).collect::<Vec<_>>()
        };
        table.row(row("ours", ms.len().to_string(), cells));
        if let Some([low, high]) = published {
            // A range has no mean: its middle would be a figure that nobody published.
            let published = [Some(low), None, Some(high), None];
            table.row(row("published range", "-".to_owned(), published));
            let ratios = cells.into_iter().zip(published).map(|(ours, published)| ratio(ours, published));
            table.row(["ratio".to_owned(), "-".to_owned()].into_iter().chain(ratios));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_count_from_the_break_on() {
        let steps = Log::parse(
            "bodies,contact_points,ms broad phase,ms narrow phase,ms manifolds,ms solver,ms sleep and report\n\
             1,4,9,9,9,9,9\n5,0,9,9,9,9,9\n5,2,1,2,0,1,0\n5,0,1,0,0,0,1\n",
        );
        let played = Played { steps, frames: vec![("played/frames/00003.png".into(), 0.3)] };
        // Planted error to see this fail: count from the first contact on.
        assert_eq!(played.physics_ms(), [4.0, 2.0]);
        let parts = played.parts();
        assert_eq!(parts.rows[0][1..], ["-", "1.0", "2.0", "0.0", "1.0", "0.0"], "pairs are not in this log");
        assert_eq!(parts.rows[1][1..], ["-", "1.0", "0.0", "0.0", "0.0", "1.0"]);
        let table = played.times(Some([2.0, 4.0]));
        assert_eq!(table.rows.len(), 3);
        assert_eq!(table.rows[0], ["ours", "2", "2.0", "3.0", "4.0", "4.0"]);
        assert_eq!(table.rows[2], ["ratio", "-", "1.00", "-", "1.00", "-"]);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        assert_eq!(played.times(None).rows.len(), 1, "no published figure stands beside another object");
        assert_eq!(played.shown("A vase")[0].caption, "A vase, after 0.3 s.");
    }
}
