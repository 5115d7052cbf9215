//! `simulate --count-contacts`: the number of contacts, the number of collision points that they replace, and the time
//! of finding them, as in tables 2 and 3 of Glondu and others, 2012.
//!
//! In: the sandbox after every step. Out: `contacts.csv`, one line per step, and a table for the terminal. Lines below
//! the table say which response ran and, for a scene made after one of the paper's, what the paper counts and measures
//! otherwise and where its figures are. No scene has the paper's objects, so its figures stand in no column here.

use std::{fmt::Write as _, path::Path};

use crate::{
    bodies::{FOLLOW, ResponseId, StepReport},
    export::{ExportError, Sheet},
    papers::field::{Colliding, colliding_points},
    scene::Sandbox,
};

const COLUMNS: &str = "time,bodies,contacts,near_contacts,near_points,points_inside,step_ms,finding_ms,answering_ms,\
                       following_ms,fracture_ms";
/// The stages that find contacts.
const FINDING: [&str; 3] = ["broad phase", "narrow phase", "manifolds"];
const MEASURED: &str = "intersection volume";

/// Duration of what a viewer perceives as one moment, s.
const MOMENT_S: f64 = 0.1;

/// Average and maximum.
pub type Range = [f64; 2];

/// Names of the scenes here that are made after the paper's five.
const AFTER_THE_PAPER: [&str; 5] = ["moneybox", "batches", "bricks", "plates", "pointer"];

/// Why no figure of the paper stands in the table.
const NO_FIGURES: &str = "published figures: they are of the paper's own objects, which are not published, so none stands \
                          here; `kintsugi paper glondu table-2 --out DIR` lists them";

/// What the paper counts, and what is counted here.
const COUNTED: &str = "counted: the paper has 224 to 5,870 points an object and counts those that collide; here each cell \
                       of the physics level has a point, points closer than a quarter of a cell are near, and contacts \
                       are also put out for points that meet within the step";

/// Which response ran; for a scene made after one of the paper's also how it differs from the paper's.
fn response_line(response: ResponseId, is_after_paper: bool) -> String {
    let solver = "the paper's solver is an LCP of velocities with friction and a correction of drift";
    match (response == ResponseId::IMPULSE, is_after_paper) {
        (_, false) => format!("response: {response}"),
        (true, true) => format!("response: {response}; {solver}, too"),
        (false, true) => format!("response: {response}; {solver}, as here with --response impulse"),
    }
}

/// Counts and times of one step.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    counts: Colliding,
    step_ms: f64,
    finding_ms: f64,
    following_ms: f64,
    /// Time of the fractures after the step.
    fracture_ms: f64,
}

/// The counts of all steps.
pub struct ContactCounts {
    /// The file.
    pub table: Sheet,
    lines: Vec<Line>,
    /// Index in the log of breaks from which on breaks are not counted yet.
    breaks: usize,
}

impl ContactCounts {
    /// Creates `contacts.csv` in `folder`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path, sandbox: &Sandbox) -> Result<Self, ExportError> {
        let table = Sheet::create(&folder.join("contacts.csv"), COLUMNS)?;
        let breaks = sandbox.breaks().records().next_back().map_or(0, |(index, _)| index + 1);
        Ok(Self { table, lines: Vec::new(), breaks })
    }

    /// Counts after the step that `report` describes, and writes a line.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn record(&mut self, sandbox: &Sandbox, report: &StepReport) -> Result<(), ExportError> {
        let counts = colliding_points(sandbox.world()).unwrap_or_default();
        let of = |wanted: &dyn Fn(&str) -> bool| {
            report.timings.iter().filter(|t| wanted(&t.stage)).map(|t| t.ms).fold(0.0, |a, b| a + b)
        };
        // By index and not by number: the log forgets breaks of which nothing is there any more.
        let records = || sandbox.breaks().records().filter(|(index, _)| *index >= self.breaks);
        let fractures = records().map(|(_, record)| record.seconds * 1e3);
        let next_break = records().next_back().map_or(self.breaks, |(index, _)| index + 1);
        let line = Line {
            counts,
            step_ms: of(&|stage| stage != MEASURED && stage != FOLLOW),
            finding_ms: of(&|stage| FINDING.contains(&stage)),
            following_ms: of(&|stage| stage == FOLLOW),
            fracture_ms: fractures.fold(0.0, |a, b| a + b),
        };
        self.breaks = next_break;
        let Colliding { contacts, near_contacts, near, inside } = counts;
        self.table.line(&format!(
            "{},{},{contacts},{near_contacts},{near},{inside},{:.4},{:.4},{:.4},{:.4},{:.4}",
            report.time,
            sandbox.bodies().len(),
            line.step_ms,
            line.finding_ms,
            line.step_ms - line.finding_ms,
            line.following_ms,
            line.fracture_ms,
        ));
        self.lines.push(line);
        self.table.flush()
    }

    /// The table as text, for a scene of this name.
    #[must_use]
    pub fn told(&self, sandbox: &Sandbox, scene: &str) -> String {
        let is_after_paper = AFTER_THE_PAPER.contains(&scene);
        let range = |of: &dyn Fn(&Line) -> f64| -> Range {
            let values = self.lines.iter().map(of);
            let (sum, most) = values.fold((0.0, 0.0f64), |(sum, most), value| (sum + value, most.max(value)));
            [sum / self.lines.len().max(1) as f64, most]
        };
        let count = |of: fn(&Colliding) -> usize| range(&|line| of(&line.counts) as f64);
        let fragments = sandbox.breaks().records().map(|(_, record)| record.cells.len()).sum::<usize>();
        let (near_contacts, near) = (count(|c| c.near_contacts), count(|c| c.near));
        let share = |[part, _]: Range, [whole, _]: Range| if whole > 0.0 { part / whole } else { 0.0 };
        let mut rows = vec![
            ("time step, ms", one(sandbox.settings().dt * 1e3)),
            ("fragments", one(fragments as f64)),
            ("contacts put out", whole(count(|c| c.contacts))),
            ("of them near: closer than a quarter of a cell", whole(near_contacts)),
            ("points near", whole(near)),
            ("of them inside", whole(count(|c| c.inside))),
            ("contacts to points, both near", format!("{:.3}", share(near_contacts, near))),
        ];
        let (step, finding) = (range(&|line| line.step_ms), range(&|line| line.finding_ms));
        let answering = range(&|line| line.step_ms - line.finding_ms);
        let (following, fracture) = (range(&|line| line.following_ms), range(&|line| line.fracture_ms));
        rows.extend([
            ("a step, ms", parts(step)),
            ("- finding contacts", parts(finding)),
            ("- answering them and all else", parts(answering)),
            ("fields and trees after a fracture, greatest, ms", two(following[1])),
            ("fracture, greatest, ms", two(fracture[1])),
        ]);
        let dt = sandbox.settings().dt;
        for (name, ratios) in [
            ("step after a fracture to the median step: median (greatest)", self.after_fractures()),
            (
                "the same to the steps of the tenth of a second that follows",
                to_steps_that_follow(&self.lines, dt),
            ),
        ] {
            if let Some([median, greatest]) = ratios {
                rows.push((name, format!("{} ({})", two(median), two(greatest))));
            }
        }
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let column = rows.iter().map(|(_, ours)| ours.len()).max().unwrap_or(0).max(4);
        let mut out = format!("{:width$}  {:>column$}\n", "average (greatest)", "here");
        for (name, ours) in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name:width$}  {ours:>column$}");
        }
        let _ = writeln!(out, "{}", response_line(sandbox.settings().response, is_after_paper));
        if is_after_paper {
            let _ = writeln!(out, "{COUNTED}\n{NO_FIGURES}");
        }
        out
    }

    /// Time of the steps that follow a fracture, relative to the median step: median and maximum.
    fn after_fractures(&self) -> Option<Range> {
        let mut steps: Vec<f64> = self.lines.iter().map(|line| line.step_ms).collect();
        let after = self.lines.windows(2).filter(|pair| pair[0].fracture_ms > 0.0);
        let mut after: Vec<f64> = after.map(|pair| pair[1].step_ms).collect();
        let usual = median(&mut steps)?;
        let middle = median(&mut after)?;
        let most = after.iter().copied().fold(0.0, f64::max);
        (usual > 0.0).then(|| [middle / usual, most / usual])
    }
}

/// Time of the steps that follow a fracture, relative to the median step within the following moment: median and
/// maximum. This tells how much they stand out, whatever else the scene does.
fn to_steps_that_follow(lines: &[Line], dt: f64) -> Option<Range> {
    let steps = (MOMENT_S / dt).round().max(1.0) as usize;
    let ratio = |k: usize| {
        let next = lines.get(k + 2..)?.iter().take(steps).map(|line| line.step_ms);
        let usual = median(&mut next.collect::<Vec<f64>>()).filter(|usual| *usual > 0.0)?;
        Some(lines[k + 1].step_ms / usual)
    };
    let broke = (0..lines.len()).filter(|k| lines[*k].fracture_ms > 0.0);
    let mut ratios: Vec<f64> = broke.filter_map(ratio).collect();
    let most = ratios.iter().copied().fold(0.0, f64::max);
    Some([median(&mut ratios)?, most])
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn one(value: f64) -> String {
    format!("{value:.0}")
}

fn two(value: f64) -> String {
    format!("{value:.2}")
}

fn whole([average, most]: Range) -> String {
    format!("{average:.0} ({most:.0})")
}

fn parts([average, most]: Range) -> String {
    format!("{average:.2} ({most:.2})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_after_a_fracture_is_held_against_those_that_follow() {
        let line = |step_ms: f64, fracture_ms: f64| Line { step_ms, fracture_ms, ..Line::default() };
        let quiet = std::iter::repeat_n(line(1.0, 0.0), 50);
        let broken = [line(1.0, 9.0), line(60.0, 0.0), line(40.0, 0.0), line(30.0, 0.0), line(20.0, 0.0)];
        let lines: Vec<Line> = quiet.clone().chain(broken).chain(quiet).collect();
        // Three steps of 30 ms make a moment; no step follows the last one.
        assert_eq!(to_steps_that_follow(&lines, 0.03), Some([2.0, 2.0]));
        assert_eq!(to_steps_that_follow(&lines[..52], 0.03), None);
        assert_eq!(to_steps_that_follow(&[], 0.03), None);
    }

    /// Planted error to see this fail: leave out the arm of other responses, so that soft springs pass for the LCP.
    #[test]
    fn the_response_that_ran_is_named_and_one_unlike_the_papers_is_told() {
        assert_eq!(response_line(ResponseId::SOFT, false), "response: soft");
        let soft = response_line(ResponseId::SOFT, true);
        assert!(soft.starts_with("response: soft; ") && soft.contains("--response impulse"), "{soft}");
        let impulse = response_line(ResponseId::IMPULSE, true);
        assert!(impulse.starts_with("response: impulse; ") && !impulse.contains("--response"), "{impulse}");
    }

    #[test]
    fn the_middle_one_is_the_median() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut []), None);
    }
}
