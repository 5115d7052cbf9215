//! `fracture --overlays`: what `render --show` draws, as `overlays.npz` and PLY files, for every break of a run.
//!
//! In: the result of a break. Out: crack triangles with the objects beside them, separation points, transition voxels,
//! Voronoi faces, the labels of every iteration of the published labelling, and slices of the distance field. The files
//! of the first break have no number; those of later ones that of the break, and say what was broken by what.
//! `docs/files.md` describes them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;

use crate::{
    compute::Compute,
    export::{BrokenObject, ExportError, Npz},
    facade::inside::{breaks_of_cells, cuts_of, look_inside, makers_of, reading_of, write_break},
    fracture::{FractureParams, generations::Plan},
    scene::overlays::{ArraySink, OverlayFileError, OverlayFiles, Part},
};

use super::{CliError, input::Object, progress::Reporter, showing};

/// Folder of the PLY files.
pub const FOLDER: &str = "overlays";
/// File of the arrays.
pub const FILE: &str = "overlays.npz";

/// The overlays to write.
#[derive(Args, Clone, Debug, Default)]
pub struct OverlayArgs {
    #[arg(id = "overlays", long = "overlays", value_name = "LIST", value_delimiter = ',', value_parser = Part::of_data)]
    #[arg(help = format!(
        "Write what each break does inside as overlays.npz and overlays/*.ply (overlays_001.npz and overlays/001/ for the \
         second break, and so on); a list of {}",
        Part::forms_of_data()
    ))]
    parts: Vec<Part>,
}

impl OverlayArgs {
    /// Whether any overlay was chosen.
    pub fn given(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Rejects overlays that a fracture by `params` at `level` does not have.
    pub fn check(&self, level: u32, params: &FractureParams) -> Result<(), CliError> {
        if !params.method.entry().of_voxels && self.given() {
            let method = params.method;
            return Err(CliError::Input(format!(
                "--overlays: what the method {method} does is not made of voxels; leave it out, or take the method octree"
            )));
        }
        showing::check_cracks("--overlays", &makers_of(&self.parts), level, params)
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
        let (makers, cuts) = (makers_of(&self.parts), cuts_of(&self.parts));
        let reading = reading_of(&makers);
        for (number, step) in breaks_of_cells(broken) {
            let (of, source) = ((object, plan), broken.source_of(step));
            let inside = look_inside(compute, of, (step, source), reading, reporter)?;
            let there = folder.join(ply_folder(number));
            fs::create_dir_all(&there).map_err(|e| ExportError::write(&there, e))?;
            let sink = ArraySink::File(Npz::create(&folder.join(npz_name(number)))?);
            let to = OverlayFiles::of_break(&inside, (compute, object.grid), (broken, number), sink);
            reporter.stage("write overlays", |_| -> Result<(), OverlayFileError> {
                Ok(write_break(to.in_folder(there), broken, &makers, &cuts)?.finish()?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::{Surface, crack::CrackShape};

    #[test]
    fn what_a_fracture_has_not_got_is_refused() {
        let args = |list: &str| OverlayArgs {
            parts: list.split(',').map(|name| Part::of_data(name).unwrap()).collect(),
        };
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
            assert!(
                Part::of_data(unwritten).is_err_and(|e| e.contains("transition, triangles, points, faces"))
            );
        }
        assert!(Part::of_data("labels:3").is_err_and(|e| e.contains("leave the number out")));
    }
}
