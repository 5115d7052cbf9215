//! Figures 1, 6, 7, 10 and 11, which show a scene, and figure 12, which plots two of them over time.

use super::{
    super::{
        entry::{Made, Table, number, range},
        svg::{Axis, Plot, Series},
        work::Work,
    },
    plays::{BATCHES, BRICKS, MONEYBOX, PLATES, POINTER, Play, Staged, play},
    published,
    tables::{DIFFERS, fragments},
};
use crate::cli::CliError;

pub fn plates(work: &mut Work<'_>) -> Result<Made, CliError> {
    Ok(scene(work, &PLATES)?.note("Four balls fall by themselves; in the paper a user drops them."))
}

pub fn pointer(work: &mut Work<'_>) -> Result<Made, CliError> {
    let note =
        "Four pushes of a hand along given paths stand for the paper's user, who drags bodies with a mouse.";
    Ok(scene(work, &POINTER)?.note(note))
}

pub fn moneybox(work: &mut Work<'_>) -> Result<Made, CliError> {
    scene(work, &MONEYBOX)
}

pub fn batches(work: &mut Work<'_>) -> Result<Made, CliError> {
    scene(work, &BATCHES)
}

pub fn bricks(work: &mut Work<'_>) -> Result<Made, CliError> {
    scene(work, &BRICKS)
}

/// Plays a scene, and shows pictures of it with the figures that the paper's caption has; the paper's stand in a table
/// of their own.
fn scene(work: &mut Work<'_>, staged: &'static Staged) -> Result<Made, CliError> {
    let played = play(work, staged)?;
    let mut made = Made { pictures: played.pictures(work, 4), ..Made::default() };
    let mut table = Table::new("The scene here", &["", "here"]);
    table.row(["fragments".to_owned(), number(fragments(&played.report(work)?), 0)]);
    table.row(["a step, ms: average (greatest)".to_owned(), range(played.range("step_ms"), 2)]);
    made.tables.extend([table, published::caption(staged.name)]);
    made.notes.extend(played.differs);
    Ok(made.notes(DIFFERS))
}

/// Figure 12: counts and times over the steps.
pub fn over_time(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut made = Made::default();
    for staged in [&BATCHES, &BRICKS] {
        let played = play(work, staged)?;
        for (what, plot) in [("counts", counts(&played, work)?), ("times", times(&played))] {
            let file = format!("{}-{what}.svg", staged.name);
            work.write(&file, &plot.svg())?;
            made.pictures.push(super::Shown::new(file, plot.title));
        }
        made.notes.extend(played.differs);
    }
    let note = "Pairs are those that were searched for contacts in a step, after boxes and hulls had ruled out others; the paper \
                counts the pairs that its broad phase puts out.";
    Ok(made.note(note).notes(DIFFERS))
}

const TIME: &str = "simulated time, s";

fn counts(played: &Play, work: &Work<'_>) -> Result<Plot, CliError> {
    let of = |column: &str| played.counts.points("time", column);
    Ok(Plot {
        title: format!("Contacts, points and pairs of `{}`", played.staged.name),
        x: Axis::linear(TIME),
        y: Axis::linear("number"),
        series: vec![
            Series::new("contacts", of("contacts")),
            Series::new("points near", of("near_points")),
            Series::new("points inside", of("points_inside")),
            Series::new("pairs", played.steps(work)?.points("time", "pairs")),
        ],
    })
}

fn times(played: &Play) -> Plot {
    let of = |column: &str| played.counts.points("time", column);
    Plot {
        title: format!("Times of a step of `{}`", played.staged.name),
        x: Axis::linear(TIME),
        y: Axis::linear("ms"),
        series: vec![
            Series::new("a step", of("step_ms")),
            Series::new("finding contacts", of("finding_ms")),
            Series::new("answering them and all else", of("answering_ms")),
            Series::new("fracture", of("fracture_ms")),
            Series::new("update of fields and trees", of("following_ms")),
        ],
    }
}
