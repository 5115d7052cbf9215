//! Chlubna, "Brittle Body Simulation on GPU": box cutting and what surrounds it.
//!
//! In: built-in shapes, and meshes and seeds that are written into the folders of the entries. Out: entries for all
//! figures. Line drawings are made of the cells that the program itself cuts, and of the trees that it searches.

mod axes;
mod flat;
mod memory;
mod meshes;
mod times;
mod trees;

use super::{
    entry::{Entry, Made, Of, Shown, Table, number},
    work::Work,
};
use crate::cli::CliError;

const OF: Of = Of("chlubna");

pub(super) const ENTRIES: &[Entry] = &[
    OF.not(
        "fig-1",
        "The scene in the memory of the device",
        "the paper charts a program whose whole scene is in buffers of the graphics device; here bodies and pieces are in \
         the memory of the processor, a device holds copies for the stages that run there, and no command counts the \
         bytes that a step of bodies moves to the device and back (`traffic` of `bench --json` has those of a fracture \
         and of a picture)",
    ),
    OF.by("fig-2", "Sites between the surface and the middle, few and many of them near the blow", sites),
    OF.by("fig-3", "A cell, its planes and its neighbours", flat::cell),
    OF.by("fig-4", "Three iterations of box cutting", flat::iterations),
    OF.by("fig-5", "The greatest distance in a cell shrinks by a cut", flat::shrinking),
    OF.by("fig-6", "Edges of a cell, each with two vertices and two planes", meshes::edges),
    OF.by("fig-7", "The sphere tree over sites", trees::spheres),
    OF.by("fig-8", "Triangles that the planes of cells cut", meshes::cut_triangles),
    OF.by("fig-9", "The surface of a mesh in the cells", surface),
    OF.by("fig-10", "Sites outside of the object", flat::outside),
    OF.by("fig-11", "Vertices and indices of a fragment in memory", memory::fragment),
    OF.by("fig-12", "A tree of boxes over Morton codes", trees::hierarchy),
    OF.by("fig-13", "An axis that separates two bodies", axes::separating),
    OF.by("fig-14", "Time of all cells by the number of sites, with the tree and without", times::neighbours),
    OF.by("fig-15", "Shares of the stages in a fracture", times::stages),
];

/// Figure 2.
fn sites(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, size) = (work.pick("7", "5"), work.pick("640x480", "320x240"));
    let mut made = Made::default();
    for (strength, caption) in [
        ("0", "32 sites between the surface and the middle, without regard to the blow"),
        ("1", "The same with the nearest of eight candidates to the blow for each site"),
    ] {
        let file = format!("sites-{strength}.png");
        work.run_line(&format!(
            "render builtin:statue --level {level} --pattern inward --seeds 32 --blow-strength \
             {strength} --show seeds --through 0.9 --size {size} --out {file}"
        ))?;
        made.pictures.push(Shown::new(file, format!("{caption}.")));
    }
    let note = "A site is drawn by the paper's three samples on a triangle; numbers come from a hash in place of the sine, which \
                differs from one device to the next.";
    Ok(made.note(note))
}

/// Figure 9.
fn surface(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, size) = (work.pick("7", "5"), work.pick("640x480", "320x240"));
    work.run_line(&format!(
        "render builtin:statue --level {level} --method box-cut --pattern inward --seeds 20 --explode \
         0.3 --color-by crack --size {size} --out pieces.png"
    ))?;
    work.run_line(&format!(
        "compare builtin:statue --level {level} --methods box-cut --pattern inward --seeds 20 \
         --repeat 1 --json pieces.json"
    ))?;
    let read = work.json("pieces.json")?;
    let of = |name: &str| read.pointer(&format!("/methods/0/{name}")).and_then(serde_json::Value::as_f64);
    let mut table = Table::new(
        "Pieces of the mesh with its surface",
        &["cells", "pieces", "closed pieces", "triangles", "relative error of the volume"],
    );
    let error = of("volume_error").map_or_else(|| number(None, 0), |error| format!("{error:.1e}"));
    table.row([
        number(of("cells"), 0),
        number(of("pieces"), 0),
        number(of("closed"), 0),
        number(of("triangles"), 0),
        error,
    ]);
    let caption = "A statue cut along its cells, pieces moved apart: the surface keeps its triangles, and cracks are closed by \
                   the cells' faces.";
    Ok(Made::picture("pieces.png", caption).table(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_figures_of_the_paper_are_there() {
        let has = |figure: &str| ENTRIES.iter().any(|entry| entry.figure == figure);
        // Planted error to see this fail: leave out an entry.
        assert!((1..=15).all(|number| has(&format!("fig-{number}"))));
        assert_eq!(ENTRIES.len(), 15);
    }
}
