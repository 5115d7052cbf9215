//! `simulate --count-contacts`: the number of contacts, the number of collision points that they replace, and the time
//! of finding them, as in tables 2 and 3 of Glondu and others, 2012.
//!
//! In: the sandbox after every step. Out: `contacts.csv`, one line per step, and a table for the terminal, beside the
//! paper's figures if the scene is one of its five. Lines below the table say which response ran and what the paper
//! counts and measures otherwise.

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

/// The paper's figures for a scene in tables 2 and 3; `None` where the tables have none.
pub struct Paper {
    /// Name of the scene here.
    scene: &'static str,
    /// Name of the scene in the paper.
    pub called: &'static str,
    /// Time step, ms.
    pub dt_ms: f64,
    /// Fragments in the whole simulation.
    pub fragments: f64,
    /// Contacts that were output.
    pub contacts: Range,
    /// Points that collided.
    pub points: Option<Range>,
    /// Total time of a step, ms.
    pub step_ms: Range,
    /// Time of collision detection in a step, ms.
    pub finding_ms: Range,
    /// Time of physics in a step, ms.
    pub answering_ms: Range,
    /// Greatest time of an update of fields and trees, ms.
    pub following_ms: f64,
    /// Greatest time of a fracture, ms.
    pub fracture_ms: f64,
}

/// The paper's figures for the scene of this name.
pub fn paper_of(scene: &str) -> Option<&'static Paper> {
    PAPER.iter().find(|paper| paper.scene == scene)
}

/// The paper's figures, on one core of an Intel i7-2600 at 3.4 GHz.
static PAPER: [Paper; 5] = [
    Paper {
        scene: "moneybox",
        called: "Piggy bank",
        dt_ms: 15.0,
        fragments: 14.0,
        contacts: [93.0, 463.0],
        points: Some([290.0, 4173.0]),
        step_ms: [1.94, 15.2],
        finding_ms: [1.74, 9.46],
        answering_ms: [0.14, 0.59],
        following_ms: 1.2,
        fracture_ms: 12.5,
    },
    Paper {
        scene: "batches",
        called: "Drop bunnies",
        dt_ms: 5.0,
        fragments: 166.0,
        contacts: [1235.0, 3245.0],
        points: Some([4993.0, 18_592.0]),
        step_ms: [24.5, 81.5],
        finding_ms: [23.0, 70.0],
        answering_ms: [1.3, 3.66],
        following_ms: 4.4,
        fracture_ms: 22.0,
    },
    Paper {
        scene: "bricks",
        called: "Bricks",
        dt_ms: 30.0,
        fragments: 156.0,
        contacts: [671.0, 1379.0],
        points: Some([1334.0, 2700.0]),
        step_ms: [11.7, 29.5],
        finding_ms: [10.7, 27.3],
        answering_ms: [1.0, 2.46],
        following_ms: 1.05,
        fracture_ms: 2.0,
    },
    Paper {
        scene: "plates",
        called: "Plates",
        dt_ms: 30.0,
        fragments: 44.0,
        contacts: [309.0, 524.0],
        points: None,
        step_ms: [7.83, 17.4],
        finding_ms: [6.78, 12.2],
        answering_ms: [0.36, 0.7],
        following_ms: 0.7,
        fracture_ms: 8.0,
    },
    Paper {
        scene: "pointer",
        called: "Interactive bunnies",
        dt_ms: 15.0,
        fragments: 22.0,
        contacts: [326.0, 470.0],
        points: None,
        step_ms: [2.0, 10.6],
        finding_ms: [1.64, 4.0],
        answering_ms: [0.26, 0.41],
        following_ms: 1.0,
        fracture_ms: 9.0,
    },
];

/// What the paper counts, and what is counted here.
const COUNTED: &str = "counted: the paper has 224 to 5,870 points an object and counts those that collide; here each cell \
                       of the physics level has a point, points closer than a quarter of a cell are near, and contacts \
                       are also put out for points that meet within the step";

/// Which response ran; for a scene of the paper also how it differs from the paper's.
fn response_line(response: ResponseId, is_of_paper: bool) -> String {
    let solver = "the paper's solver is an LCP of velocities with friction and a correction of drift";
    match (response == ResponseId::IMPULSE, is_of_paper) {
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
    table: Sheet,
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

    /// The file lies in `folder` now.
    pub fn moved_to(&mut self, folder: &Path) {
        self.table.moved_to(folder);
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
        let paper = paper_of(scene);
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
            ("time step, ms", one(sandbox.settings().dt * 1e3), paper.map(|p| one(p.dt_ms))),
            ("fragments", one(fragments as f64), paper.map(|p| one(p.fragments))),
            ("contacts put out", whole(count(|c| c.contacts)), paper.map(|p| whole(p.contacts))),
            ("of them near: closer than a quarter of a cell", whole(near_contacts), None),
            ("points near", whole(near), paper.and_then(|p| Some(whole(p.points?)))),
            ("of them inside", whole(count(|c| c.inside)), None),
            (
                "contacts to points, both near",
                format!("{:.3}", share(near_contacts, near)),
                paper.and_then(|p| Some(format!("{:.3}", share(p.contacts, p.points?)))),
            ),
        ];
        let (step, finding) = (range(&|line| line.step_ms), range(&|line| line.finding_ms));
        let answering = range(&|line| line.step_ms - line.finding_ms);
        let (following, fracture) = (range(&|line| line.following_ms), range(&|line| line.fracture_ms));
        rows.extend([
            ("a step, ms", parts(step), paper.map(|p| parts(p.step_ms))),
            ("- finding contacts", parts(finding), paper.map(|p| parts(p.finding_ms))),
            ("- answering them and all else", parts(answering), paper.map(|p| parts(p.answering_ms))),
            (
                "fields and trees after a fracture, greatest, ms",
                two(following[1]),
                paper.map(|p| two(p.following_ms)),
            ),
            ("fracture, greatest, ms", two(fracture[1]), paper.map(|p| two(p.fracture_ms))),
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
                rows.push((name, format!("{} ({})", two(median), two(greatest)), None));
            }
        }
        let called = paper.map_or("", |paper| paper.called);
        let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let column = rows.iter().map(|(_, ours, _)| ours.len()).max().unwrap_or(0).max(4);
        let mut out = format!("{:width$}  {:>column$}  {called}\n", "average (greatest)", "here");
        for (name, ours, theirs) in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name:width$}  {ours:>column$}  {}", theirs.unwrap_or_default());
        }
        let _ = writeln!(out, "{}", response_line(sandbox.settings().response, paper.is_some()));
        if paper.is_some() {
            let _ = writeln!(out, "{COUNTED}");
        }
        out.lines().map(|line| format!("{}\n", line.trim_end())).collect()
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
    fn the_papers_ratios_are_those_that_were_asked_for() {
        let ratio = |scene: &str| {
            let paper = PAPER.iter().find(|paper| paper.scene == scene).unwrap();
            paper.contacts[0] / paper.points.unwrap()[0]
        };
        // Ours must reach ratios of at most 0.33, 0.26 and 0.51.
        assert!((ratio("moneybox") - 0.32).abs() < 0.01);
        assert!((ratio("batches") - 0.25).abs() < 0.01);
        assert!((ratio("bricks") - 0.50).abs() < 0.01);
    }

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
