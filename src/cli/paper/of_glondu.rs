//! Glondu and others, 2012: five scenes with contacts by distance fields, and the data behind these contacts.
//!
//! In: the scenes `moneybox`, `batches`, `bricks`, `plates` and `pointer`. Out: entries for all tables and figures. Each
//! scene is played once, by the figure that shows it; tables 2 and 3 and figure 12 read what that play left. The played
//! response is `impulse`, which is nearest to the paper's solver. No object is the paper's: published figures stand in
//! tables of their own, without ratios.

mod bodies;
#[cfg(feature = "papers")]
mod inside;
#[cfg(not(feature = "papers"))]
mod left_out;
mod plays;
mod published;
mod samplings;
mod scenes;
mod tables;

pub(super) use bodies::resting;
#[cfg(feature = "papers")]
use inside::{fields, overhead, sizes, trees};
#[cfg(not(feature = "papers"))]
use left_out::{fields, overhead, sizes, trees};

use super::{
    entry::{Entry, Made, Of, Shown},
    work::Work,
};
use crate::cli::CliError;

const OF: Of = Of("glondu");

pub(super) const ENTRIES: &[Entry] = &[
    OF.by("fig-1", "Balls drop on plates on a shelf", scenes::plates),
    OF.by("fig-2", "Fronts of the update of a distance field after a break", fronts),
    OF.by("fig-3", "The field of an object, exact fields of its pieces, and the updated field", fields),
    OF.by("fig-4", "Points in the order of their distances, and the sphere tree over them", trees),
    OF.by("fig-5", "A plate rolls on the floor with few contacts and with all", samplings::rolling_plate),
    OF.by("fig-6", "Bodies that a hand pushes against each other", scenes::pointer),
    OF.by("fig-7", "A money box falls and breaks", scenes::moneybox),
    OF.by("fig-8", "A sphere with coarser and finer points: times of updates and queries", samplings::sphere),
    OF.by("fig-9", "Queries of updated fields and trees against those made anew", overhead),
    OF.by("fig-10", "27 bunnies fall in three batches", scenes::batches),
    OF.by("fig-11", "32 bricks crash to the ground", scenes::bricks),
    OF.by("fig-12", "Counts and times over the steps of two scenes", scenes::over_time),
    OF.by("table-1", "Triangles, cells and points of the objects", sizes),
    OF.by("table-2", "Fragments, contacts and colliding points of five scenes", tables::counts),
    OF.by("table-3", "Times of a step in five scenes", tables::times),
];

/// Figure 2: nodes that are exact after a break, and the fronts that set out from them.
fn fronts(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, size) = (work.pick("7", "5"), work.pick("640x480", "320x240"));
    let camera = r#"{"target":[0.0,0.5,0.0],"distance":2.3,"yaw":1.5708,"pitch":0.0,"fov_y":0.5}"#;
    let mut made = Made::default();
    let steps = [
        ("x50:0", "Nodes whose distances are exact: corners of the cells that a crack cuts"),
        ("x50:1", "The first step of the fronts, in red"),
        ("x50:3", "The third step"),
        ("x50", "All steps: early ones are green, late ones blue; grey nodes keep their distances"),
    ];
    for (cut, caption) in steps {
        let file = format!("fronts-{}.png", cut.replace(':', "-"));
        work.run_line(&format!(
            "render builtin:box --level {level} --pattern uniform --seeds 6 --show fronts:{cut} --only --camera {camera} \
             --size {size} --out {file}"
        ))?;
        made.pictures.push(Shown::new(file, format!("{caption}.")));
    }
    let note = "A slice through the middle of a box in six pieces. The nodes are those of a lattice; the paper's are those of \
                a mesh of tetrahedra.";
    Ok(made.note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_figures_and_tables_of_the_paper_are_there() {
        let has = |figure: &str| ENTRIES.iter().any(|entry| entry.figure == figure);
        // Planted error to see this fail: leave out an entry.
        assert!((1..=12).all(|number| has(&format!("fig-{number}"))));
        assert!((1..=3).all(|number| has(&format!("table-{number}"))));
        assert_eq!(ENTRIES.len(), 15);
    }
}
