//! Section 6.1: the same fall at three levels of one pair, beside the same levels of both bodies; and, from `far.rs`, a
//! fall whose levels depend on the distance to the camera.

use std::fmt::Write as _;

use super::far;
use crate::cli::{
    CliError,
    paper::{
        entry::{Made, Table, number, ratio},
        log::{Log, mean},
        svg::{Axis, Plot, Series},
        work::Work,
    },
};

/// Edge of the table, diameter and start of the ball, m.
const TABLE: f64 = 1.0;
const BALL: f64 = 0.5;
const START: f64 = 1.1;

/// A ball that falls onto a table, with octrees of level `finest`; `pair` chooses a level of the pair, else both bodies
/// have it.
fn scene(finest: u32, level: u32, pair: bool) -> String {
    let own = if pair { 5 } else { level };
    let mut text = format!(
        "# A ball falls onto a table (Domaradzki & Martyn 2016, sec. 6.1).\nname = \"fall\"\n\
         contacts = \"octree\"\nresponse = \"penalty\"\n\n\
         [[body]]\nname = \"table\"\nfile = \"builtin:box\"\nlevel = {finest}\nphysics_level = {own}\n\
         size = {TABLE:.1}\non_floor = true\nfixed = true\n\n\
         [[body]]\nname = \"ball\"\nfile = \"builtin:sphere\"\nlevel = {finest}\nphysics_level = {own}\n\
         size = {BALL:.1}\nposition = [0.0, {START:.1}, 0.0]\n"
    );
    if pair {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[[pair]]\nbodies = [\"table\", \"ball\"]\nphysics_level = {level}\n");
    }
    text
}

/// What a play says.
struct Fall {
    /// Mean time of a step in which the bodies touch, ms.
    ms: Option<f64>,
    /// Mean number of collision points in these steps.
    points: Option<f64>,
    /// Height of the ball's centre over time, m.
    height: Vec<(f64, f64)>,
}

fn fall(work: &mut Work<'_>, level: u32, pair: bool) -> Result<Fall, CliError> {
    let name = format!("{}-{level}", if pair { "pair" } else { "both" });
    let (file, seconds) = (format!("{name}.toml"), work.pick("3", "1"));
    work.write(&file, &scene(work.pick(8, 6), level, pair))?;
    work.run(&["simulate", &file, "--seconds", seconds, "--volume-every", "0", "--pairs", "--out", &name])?;
    work.remove(&format!("{name}/trajectory.npz"));
    let steps = work.log(&format!("{name}/steps.csv"))?;
    let pairs = work.log(&format!("{name}/pairs.csv"))?;
    let report = work.json(&format!("{name}/report.json"))?;
    let gravity = report["settings"]["gravity"][1].as_f64().map_or(9.81, f64::abs);
    let mass = report["bodies"][1]["mass"].as_f64().unwrap_or(1.0);
    // The table is fixed, so the energy is the ball's alone.
    let height = steps.points("time", "potential_energy").into_iter();
    Ok(Fall {
        ms: mean(touching(&steps)),
        points: mean(pairs.column("points").into_iter().flatten()),
        height: height.map(|(time, energy)| (time, energy / (mass * gravity))).collect(),
    })
}

/// Times of the steps in which something touches, ms.
fn touching(steps: &Log) -> Vec<f64> {
    let parts = ["ms narrow phase", "ms manifolds", "ms solver"].map(|head| steps.column(head));
    let points = steps.column("contact_points");
    let touches = points.iter().map(|points| points.is_some_and(|points| points > 0.0)).enumerate();
    let of_step =
        |step: usize| parts.iter().filter_map(|part| part.get(step).copied().flatten()).sum::<f64>();
    touches.filter(|(_, touches)| *touches).map(|(step, _)| of_step(step)).collect()
}

/// Section 6.1.
pub fn pair(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut table = Table::new(
        "The same fall at three levels",
        &[
            "level",
            "collision points, mean",
            "step, level of the pair, ms",
            "step, level of both bodies, ms",
            "pair / bodies",
            "rest above the table, mm",
        ],
    );
    let mut series = Vec::new();
    for level in work.pick([5, 6, 7], [4, 5, 6]) {
        let of_pair = fall(work, level, true)?;
        let of_bodies = fall(work, level, false)?;
        let last = of_pair.height.len() / 10;
        let rest = mean(of_pair.height.iter().rev().take(last.max(1)).map(|point| point.1));
        let rest = rest.map(|height| (height - TABLE - BALL / 2.0) * 1000.0);
        table.row([
            level.to_string(),
            number(of_pair.points, 1),
            number(of_pair.ms, 2),
            number(of_bodies.ms, 2),
            ratio(of_pair.ms, of_bodies.ms),
            number(rest, 1),
        ]);
        series.push(Series::new(format!("level {level}"), of_pair.height));
    }
    let plot = Plot {
        title: "Height of the ball's centre".into(),
        x: Axis::linear("time, s"),
        y: Axis::linear("height, m"),
        series,
    };
    work.write("height.svg", &plot.svg())?;
    let caption = "The ball's centre over time, for three levels of the pair; at rest without any overlap it would be at 1.25 m.";
    let of_levels = "The bodies have level 5 of their own in the runs with a level of the pair. The rest is the mean height \
                     of the last tenth of the play; the penalty response holds the ball by an overlap, so it is below 0.";
    let of_cost = "The paper claims that levels of pairs cost nothing extra, and gives no figures; the ratio compares a step \
                   with a level of the pair with a step in which both bodies have that level.";
    let mut made = Made::picture("height.svg", caption).table(table).note(of_levels).note(of_cost);
    let far = far::fall(work)?;
    made.pictures.extend(far.pictures);
    made.tables.extend(far.tables);
    made.notes.extend(far.notes);
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::parse_scene;

    #[test]
    fn the_scene_has_the_level_where_it_is_asked_for() {
        crate::papers::register();
        let with = parse_scene(&scene(8, 6, true), "fall.toml");
        let without = parse_scene(&scene(8, 6, false), "fall.toml");
        if cfg!(feature = "papers") {
            assert!(with.is_ok() && without.is_ok(), "{:?} {:?}", with.err(), without.err());
        }
        assert!(scene(8, 6, true).contains("[[pair]]") && !scene(8, 6, false).contains("[[pair]]"));
    }

    #[test]
    fn only_steps_with_contacts_count() {
        let steps = Log::parse("contact_points,ms narrow phase,ms manifolds,ms solver\n0,9,9,9\n3,1,0,2\n");
        assert_eq!(touching(&steps), [3.0]);
    }
}
