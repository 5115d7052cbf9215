//! `fracture --overlays`: what `render --show` draws, as `overlays.npz` and PLY files, for every break of a run.
//!
//! In: the result of a break. Out: crack triangles with the objects beside them, separation points, transition voxels,
//! Voronoi faces, the labels of every iteration of the published labelling, and slices of the distance field. The files
//! of the first break have no number; those of later ones that of the break, and say what was broken by what.
//! `docs/files.md` describes them.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;

use crate::{
    compute::Compute,
    export::{BrokenObject, ExportError, Npz, coordinates, internal_rows},
    fracture::{BreakStep, FractureParams, VoronoiDetail, generations::Plan},
    scene::{
        FIELD_LEVEL,
        overlays::{Cut, Inside, Maker, OverlayFileError, OverlayFiles, Part, Reading, Reads},
    },
    svo::{
        Forest, Grid,
        morton::{self, Key},
    },
};

use super::{CliError, input::Object, progress::Reporter, showing};

/// Folder of the PLY files.
pub const FOLDER: &str = "overlays";
/// File of the arrays.
pub const FILE: &str = "overlays.npz";

/// The overlays to write.
#[derive(Args, Clone, Debug, Default)]
pub struct OverlayArgs {
    #[arg(id = "overlays", long = "overlays", value_name = "LIST", value_delimiter = ',', value_parser = part)]
    #[arg(help = format!(
        "Write what each break does inside as overlays.npz and overlays/*.ply (overlays_001.npz and overlays/001/ for the \
         second break, and so on); a list of {}",
        names()
    ))]
    parts: Vec<Part>,
}

/// Names of the drawings that are available as data. Seeds and the boundary set are in `voxels.npz`.
fn names() -> String {
    let written = Maker::ALL.into_iter().filter(|maker| maker.write.is_some());
    let form =
        |maker: Maker| if maker.has_cut { format!("{}[:CUT]", maker.name) } else { maker.name.to_owned() };
    written.map(form).collect::<Vec<_>>().join(", ")
}

/// A drawing that is available as data, on its cut if it lies on one.
fn part(text: &str) -> Result<Part, String> {
    let name = text.trim().split(':').next().unwrap_or_default();
    if Maker::named(name).is_none_or(|maker| maker.write.is_none()) {
        return Err(format!("there is no `{name}`; there are {}", names()));
    }
    let part: Part = text.parse()?;
    match part.number {
        Some(_) => Err(format!("`{name}` is written with all its numbers; leave the number out")),
        None => Ok(part),
    }
}

impl OverlayArgs {
    /// Whether any overlay was chosen.
    pub fn given(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The chosen drawings, in the order of the list.
    fn makers(&self) -> Vec<Maker> {
        self.parts.iter().map(|part| part.maker).collect()
    }

    /// The cuts of the chosen drawings that lie on one, each once.
    fn cuts(&self) -> Vec<Cut> {
        let mut cuts = Vec::new();
        for part in self.parts.iter().filter(|part| part.maker.has_cut) {
            if !cuts.contains(&part.cut) {
                cuts.push(part.cut);
            }
        }
        cuts
    }

    /// Rejects overlays that a fracture by `params` at `level` does not have.
    pub fn check(&self, level: u32, params: &FractureParams) -> Result<(), CliError> {
        if !params.method.entry().of_voxels && self.given() {
            let method = params.method;
            return Err(CliError::Input(format!(
                "--overlays: what the method {method} does is not made of voxels; leave it out, or take the method octree"
            )));
        }
        showing::check_cracks("--overlays", &self.makers(), level, params)
    }

    /// Reads the overlays back and writes them.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn write(
        &self,
        compute: &Compute,
        (object, plan): (&Object, &Plan),
        broken: &BrokenObject,
        folder: &Path,
        reporter: &Reporter,
    ) -> Result<(), CliError> {
        if !self.given() {
            return Ok(());
        }
        let (makers, cuts) = (self.makers(), self.cuts());
        let has_fields = makers.iter().any(|maker| maker.reads == Reads::Fields);
        let reading = Reading { fields: has_fields.then_some(FIELD_LEVEL), ..Reading::default() };
        let is_of_cells = |step: &BreakStep| VoronoiDetail::of(&step.result).is_some();
        for (number, step) in broken.steps.iter().enumerate().filter(|(_, step)| is_of_cells(step)) {
            let source = broken.source_of(step);
            let of = (object, plan);
            let inside = showing::look_inside(compute, of, (step, source), reading, reporter)?;
            let there = folder.join(ply_folder(number));
            fs::create_dir_all(&there).map_err(|e| ExportError::write(&there, e))?;
            let at = (broken, step, number);
            let numbers = (step.first_cell as i32, ids_of_trees(&inside, broken, number));
            let npz = Npz::create(&folder.join(npz_name(number)))?;
            let mut files = OverlayFiles::new(&inside, (compute, object.grid), numbers, (npz, there));
            files.cuts.clone_from(&cuts);
            reporter.stage("write overlays", |_| -> Result<(), OverlayFileError> {
                write_grid(&mut files.npz, object.grid)?;
                if broken.steps.len() > 1 {
                    write_broken(&mut files, at)?;
                }
                for maker in Maker::ALL.into_iter().filter(|maker| makers.contains(maker)) {
                    maker.write.map_or(Ok(()), |write| write(&mut files))?;
                }
                Ok(files.npz.finish()?)
            })?;
        }
        Ok(())
    }
}

/// File name of a break's arrays: `overlays.npz` for the first, `overlays_001.npz` for the next.
fn npz_name(number: usize) -> String {
    if number == 0 { FILE.to_owned() } else { FILE.replace('.', &format!("_{number:03}.")) }
}

/// Folder of a break's PLY files.
fn ply_folder(number: usize) -> PathBuf {
    let folder = PathBuf::from(FOLDER);
    if number == 0 { folder } else { folder.join(format!("{number:03}")) }
}

/// Piece id of every tree of break `number`; -1 for none. Ids are those of the report: those of the final pieces,
/// then those of pieces that broke again.
fn ids_of_trees(inside: &Inside, broken: &BrokenObject, number: usize) -> Vec<i32> {
    let mut piece_of_tree = vec![-1; inside.fracture.forest.trees()];
    let ids = broken.pieces.iter().chain(&broken.broken_again).zip(0..);
    for (at, id) in ids.filter(|(at, _)| at.step == number) {
        let tree = inside.fracture.pieces.get(at.piece).map(|piece| piece.tree as usize);
        if let Some(slot) = tree.and_then(|tree| piece_of_tree.get_mut(tree)) {
            *slot = id;
        }
    }
    piece_of_tree
}

fn write_grid(npz: &mut Npz, grid: Grid) -> Result<(), ExportError> {
    npz.array("level", &[], &[grid.level as i32])?;
    npz.array("grid_to_mesh", &[4, 4], &grid.to_mesh().transpose().to_cols_array())
}

/// Writes the broken trees, the pieces and the seeds: for several breaks `voxels.npz` contains only the final pieces.
/// `number` is the row of the arrays of breaks in `voxels.npz`.
fn write_broken(
    files: &mut OverlayFiles<'_>,
    (broken, step, number): (&BrokenObject, &BreakStep, usize),
) -> Result<(), ExportError> {
    let (npz, first_seed) = (&mut files.npz, files.first_seed);
    let (forest, tree) = broken.source_of(step);
    let piece = step.parent.and_then(|at| broken.broken_again.iter().position(|p| *p == at));
    let piece = piece.map_or(-1, |at| (broken.pieces.len() + at) as i32);
    npz.array("break", &[], &[number as i32])?;
    npz.array("broken_piece", &[], &[piece])?;
    npz.array("first_seed", &[], &[first_seed])?;
    let source = forest.leaves.keys.slice(leaves_of(forest, tree));
    npz.array("source", &[source.len(), 3], &coordinates(source))?;
    let inside = internal_rows(forest, tree as usize, None);
    npz.array("source_inside", &[inside.len() / 4, 4], &inside)?;

    let uncracked: HashSet<Key> = source.iter().collect();
    let (mut voxels, mut cells) = (Vec::new(), Vec::new());
    let made = &files.inside.fracture;
    for piece in &made.pieces {
        let keys = made.forest.leaves.keys.slice(leaves_of(&made.forest, piece.tree));
        for key in keys.iter().filter(|key| !uncracked.contains(key)) {
            voxels.push(morton::decode(key).map(|v| v as i32));
            cells.push(first_seed + piece.cell as i32);
        }
    }
    npz.array("crack_voxels", &[voxels.len(), 3], voxels.as_flattened())?;
    npz.array("crack_cells", &[cells.len()], &cells)
}

/// Range of a tree's leaves.
fn leaves_of(forest: &Forest, tree: u32) -> std::ops::Range<usize> {
    let start = |tree: usize| forest.tree_start[tree] as usize;
    start(tree as usize)..start(tree as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::{Surface, crack::CrackShape};

    #[test]
    fn what_a_fracture_has_not_got_is_refused() {
        let args =
            |list: &str| OverlayArgs { parts: list.split(',').map(|name| part(name).unwrap()).collect() };
        let planar = FractureParams::default();
        let refused =
            |list: &str, params: &FractureParams| args(list).check(7, params).unwrap_err().to_string();
        assert!(args("faces,labels,flood").check(7, &planar).is_ok());
        for name in ["transition", "triangles", "points"] {
            let said = refused(&format!("faces,{name}"), &planar);
            assert!(said.contains(&format!("--overlays {name} belongs to --surface rough")), "{said}");
        }
        let crack = CrackShape { transition_level: Some(7), ..CrackShape::default() };
        let finest = FractureParams { surface: Surface::Rough, crack, ..planar };
        assert!(refused("points", &finest).contains("below 7"));
        for unwritten in ["seeds", "wireframe:3", "nothing"] {
            assert!(part(unwritten).is_err_and(|e| e.contains("transition, triangles, points, faces")));
        }
        assert!(part("labels:3").is_err_and(|e| e.contains("leave the number out")));
    }
}
