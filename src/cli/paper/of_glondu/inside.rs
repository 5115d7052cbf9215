//! Table 1 and figures 3, 4 and 9, which no command prints: made in process by the fields and trees themselves.

mod costs;
mod drawn;

pub use self::{
    costs::overhead,
    drawn::{fields, trees},
};

use std::sync::Arc;

use glam::DVec3;

use super::{
    super::{
        entry::{Made, Table},
        work::Work,
    },
    plays::BUNNY,
    resting,
};
use crate::{
    Fracture, Object,
    bodies::{World, WorldSettings},
    cli::CliError,
    fracture::Preset,
    papers::field::sizes_of,
    shape::Shape,
};

/// A built-in shape that broke into the cells of this many seeds: the whole and its pieces, in one local space.
fn broken(name: &str, level: u32, seeds: u32) -> Result<(Arc<Shape>, Vec<Arc<Shape>>), CliError> {
    let object = Object::open(format!("builtin:{name}"), level)?;
    let pieces = object.fracture(&Fracture::new().cells(seeds).pattern(Preset::Uniform))?;
    let broken = pieces.broken();
    let parts = broken.steps.first().map(|step| step.result.parts.as_slice()).unwrap_or_default();
    Ok((Arc::clone(&broken.source), parts.iter().map(|part| Arc::clone(&part.shape)).collect()))
}

/// The error of data that do not fit each other.
fn unfit(error: impl std::fmt::Display) -> CliError {
    CliError::Outcome(format!("the field or the trees do not follow the break: {error}"))
}

/// An object of table 1: its name, file, leaf level and contact level in the scenes, and the published counts of
/// triangles, tetrahedra and points.
struct Row {
    name: &'static str,
    file: &'static str,
    levels: [u32; 2],
    published: [u32; 3],
}

const ROWS: [Row; 5] = [
    Row { name: "piggy bank", file: "builtin:pig", levels: [8, 5], published: [9_722, 20_807, 5_870] },
    Row { name: "bunny", file: BUNNY, levels: [7, 5], published: [7_940, 18_767, 5_089] },
    Row { name: "brick", file: "builtin:brick", levels: [7, 5], published: [468, 594, 224] },
    Row { name: "plate", file: "builtin:plate", levels: [8, 6], published: [5_392, 8_617, 2_711] },
    Row { name: "shelf", file: "builtin:shelf", levels: [8, 6], published: [4_652, 10_200, 2_989] },
];

/// Table 1.
pub fn sizes(work: &mut Work<'_>) -> Result<Made, CliError> {
    let heads = ["object", "measured", "triangles of the mesh", "cells of the field"];
    let heads = [&heads[..], &["points of the tree: surface + inside"]].concat();
    let mut table = Table::new("Sizes of the objects here", &heads);
    let mut made = Made::default();
    for Row { name, file, levels, .. } in ROWS {
        let (path, shown) = match work.meshes().find(file) {
            Some(path) => (path, file),
            None if file == BUNNY => ("builtin:statue".into(), "builtin:statue"),
            None => (file.into(), file),
        };
        if shown != file {
            made.notes.push(format!(
                "`{file}` is not in the folder of `--meshes`; the object measured is `{shown}`."
            ));
        }
        let coarser = work.pick(0, 2);
        let [level, physics_level] = levels.map(|level| level - coarser);
        let object = Object::open(path, level)?;
        let mut world = World::on_cpu(WorldSettings::default());
        world.add(resting(&object.shape, physics_level, DVec3::ZERO));
        let sizes = world.bodies.first().and_then(sizes_of).unwrap_or_default();
        table.row([
            name.to_owned(),
            shown.to_owned(),
            object.mesh.triangles.len().to_string(),
            sizes.cells.to_string(),
            format!("{} + {}", sizes.points_on_surface, sizes.points_inside),
        ]);
    }
    made.tables.push(table);
    let mut published =
        Table::new("The paper's own objects, published", &["object", "triangles", "tetrahedra", "points"]);
    for Row { name, published: [triangles, tetrahedra, points], .. } in ROWS {
        published.row([name.to_owned(), triangles.to_string(), tetrahedra.to_string(), points.to_string()]);
    }
    let note = "Bodies collide as octrees, so points follow from the level at which they do: one for each cell of the surface. \
                Built-in shapes are made after the paper's descriptions, since its meshes are not published, and no bunny \
                of Stanford's has the paper's 7,940: the counts of the paper's own objects stand in a table of their own.";
    Ok(made.table(published).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fill_what_they_are_of() {
        let (whole, pieces) = broken("box", 5, 4).unwrap();
        let volume: f64 = pieces.iter().map(|piece| piece.mass().volume_m3).sum();
        // Planted error to see this fail: leave the last piece out.
        assert_eq!(pieces.len(), 4);
        assert!((volume / whole.mass().volume_m3 - 1.0).abs() < 1e-6, "{volume}");
    }
}
