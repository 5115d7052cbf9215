//! What a mesh file means and how fine its voxels are: the options `--units`, `--up` and `--voxel-size`, which all commands that
//! read meshes have.
//!
//! In: the options, a mesh file, the level if one is given. Out: the mesh in metres where its unit is named, upright, and the
//! level. [`Measures`] applies them, as in scenes, job files and Python.

use std::path::{Path, PathBuf};

use super::{
    CliError,
    input::{about, is_scene, load_mesh},
    options::choice,
    progress::Reporter,
};
use crate::{
    import::ReadMesh,
    measures::Measures,
    mesh::{Format, Units, Up, format_of},
    scene::ReadScene,
};

/// The options that say how large a mesh and its voxels are, and what is up.
#[derive(clap::Args, Clone, Copy, Debug, Default, serde::Serialize)]
pub struct MeasureArgs {
    /// Unit of a mesh file's lengths: mm, cm, m, in, ft; the mesh is then brought to metres, which other options and all
    /// results are in [default: as they are, taken for metres]
    #[arg(long, value_name = "UNIT", value_parser = choice::<Units>(), hide_possible_values = true)]
    units: Option<Units>,
    /// Which axis of a mesh file points up: y, z, x, minus-y, minus-z, minus-x; it is turned so that y does, and
    /// other options mean the turned mesh [default: y]
    #[arg(long, value_name = "AXIS", value_parser = choice::<Up>(), hide_possible_values = true)]
    up: Option<Up>,
    /// Edge of a voxel with its unit, as in 2mm, instead of --level: the lowest level whose voxels are no wider
    #[arg(long, value_name = "LENGTH", value_parser = Units::length, conflicts_with = "level")]
    voxel_size: Option<f64>,
}

impl MeasureArgs {
    fn chosen(&self) -> Measures {
        Measures { units: self.units, up: self.up, voxel_size: self.voxel_size }
    }

    /// The axis that points up.
    pub fn up(&self) -> Up {
        self.up.unwrap_or_default()
    }

    /// Whether no option is given, or only the usual axis.
    pub fn is_default(&self) -> bool {
        self.chosen().is_default()
    }

    /// Whether the level follows from the mesh, where none is given.
    pub fn is_of_mesh(&self, file: &Path) -> bool {
        self.voxel_size.is_some() || format_of(file) == Some(Format::Vox)
    }

    /// Refuses the options for a scene, whose bodies have fields of the same names.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn refuse_scene(&self, file: &Path) -> Result<(), CliError> {
        if self.is_default() || !is_scene(file) {
            return Ok(());
        }
        let message =
            "--units, --up and --voxel-size are for a mesh; a body of a scene has units, up and voxel_size";
        Err(about(file, message))
    }

    /// Gives the mesh of a scene that was made for it the length that it has in its file, its way up and its level.
    ///
    /// # Errors
    /// [`CliError::Input`] where `file` is a scene, or has no such measures.
    pub fn apply(&self, file: &Path, opened: &mut ReadScene) -> Result<(), CliError> {
        self.refuse_scene(file)?;
        self.chosen().check(&file.to_string_lossy()).map_err(|error| about(file, error))?;
        if is_scene(file) {
            return Ok(());
        }
        for body in &mut opened.scene.bodies {
            let length = opened.meshes.get(&body.file).map_or(0.0, ReadMesh::longest_side);
            if let Some(units) = self.units.filter(|_| length > 0.0) {
                body.size = Some(length * units.metres());
            }
            body.up = self.up.unwrap_or(body.up);
            body.voxel_size = self.voxel_size;
        }
        opened.fit_levels().map_err(|error| about(file, error))
    }

    /// Warns where the way up of a mesh that stands in a scene of its own is doubtful; its length is 1 m, whatever the file
    /// says, where no unit is named.
    pub fn tell_doubts(&self, opened: &ReadScene, reporter: &Reporter) {
        let chosen = Measures { units: Some(Units::M), ..self.chosen() };
        for mesh in opened.meshes.values() {
            chosen.doubts(mesh).iter().for_each(|doubt| reporter.warn(&format!("{}: {doubt}", mesh.file)));
        }
    }

    /// The level of one object of a file whose own level is `level`: lower where `--voxel-size` needs no more of the smaller
    /// object.
    pub fn level_of(&self, object: &ReadMesh, level: u32) -> u32 {
        self.voxel_size.and_then(|edge| object.level_for(edge)).map_or(level, |own| own.min(level))
    }

    /// The level at which a mesh is voxelised: the `given` one, or as fine as `--voxel-size` says, or that of a voxel model's
    /// own voxels, else the usual one. The mesh is read only where the level depends on it.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn measure(
        &self,
        file: &Path,
        (given, usual): (Option<u32>, u32),
        reporter: &Reporter,
    ) -> Result<Measured, CliError> {
        let chosen = self.chosen();
        chosen.check(&file.to_string_lossy()).map_err(|error| about(file, error))?;
        let mut measured =
            Measured { chosen, file: file.to_owned(), level: given.unwrap_or(usual), mesh: None };
        if given.is_none() && self.is_of_mesh(file) {
            let mesh = measured.read(reporter)?;
            measured.level = chosen.level(&mesh, given, usual).map_err(|error| about(file, error))?;
            measured.mesh = Some(mesh);
        }
        Ok(measured)
    }
}

/// A mesh whose level is known, and which may have been read for that.
#[derive(Clone)]
pub struct Measured {
    chosen: Measures,
    file: PathBuf,
    /// The level at which it is voxelised.
    pub level: u32,
    mesh: Option<ReadMesh>,
}

impl Measured {
    /// Reads the mesh; doubts about its size and its way up become warnings.
    fn read(&self, reporter: &Reporter) -> Result<ReadMesh, CliError> {
        let mesh = load_mesh(&self.file, reporter)?;
        self.chosen.doubts(&mesh).iter().for_each(|doubt| reporter.warn(&format!("{}: {doubt}", mesh.file)));
        self.chosen.apply(&mesh).map_err(|error| about(&self.file, error))
    }

    /// The mesh, upright.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn mesh(mut self, reporter: &Reporter) -> Result<ReadMesh, CliError> {
        match self.mesh.take() {
            Some(mesh) => Ok(mesh),
            None => self.read(reporter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_that_of_the_edge_and_the_unit() {
        let folder = std::env::temp_dir().join(format!("kintsugi-measures-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("long.obj");
        let text = "v 0 0 0\nv 494 0 0\nv 0 200 0\nv 0 0 200\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
        std::fs::write(&file, text).unwrap();
        let reporter = Reporter::new(false);
        let of = |units, voxel, level| {
            let args = MeasureArgs { units, up: None, voxel_size: voxel };
            args.measure(&file, (level, 8), &reporter)
        };
        let mm = Some(Units::Mm);
        assert_eq!((of(mm, None, None).unwrap().level, of(mm, None, Some(5)).unwrap().level), (8, 5));
        // 494 mm in voxels of 2 mm at most: 254 voxels at level 8, 126 at level 7.
        let fine = of(mm, Some(0.002), None).unwrap();
        assert_eq!(fine.level, 8);
        let mesh = fine.mesh(&reporter).unwrap();
        assert!((mesh.longest_side() - 0.494).abs() < 1e-6, "{}", mesh.longest_side());
        assert_eq!(of(mm, Some(0.004), None).unwrap().level, 7);
        let refused = of(None, Some(0.002), None).err().unwrap().to_string();
        assert!(refused.contains("494.000 m long") && refused.contains("1.21e-1 m"), "{refused}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Every command that reads a mesh has the same group of options.
    #[test]
    fn every_command_that_reads_a_mesh_takes_the_options() {
        let grammar = crate::cli::grammar();
        let of = ["fracture", "simulate", "render", "probe", "stress", "sheet", "compare", "bench"];
        let commands = of.iter().map(|name| grammar.find_subcommand(name).unwrap());
        for command in commands.chain([&grammar]) {
            let options: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
            for option in ["units", "up", "voxel-size", "level"] {
                assert!(options.contains(&option), "{} has no --{option}", command.get_name());
            }
        }
    }
}
