//! What the lengths of a mesh file mean, and how fine its voxels are: the options `--units` and `--voxel-size`.
//!
//! In: the options, a mesh file, the level if one is given. Out: the mesh in metres where its unit is named, and the level.

use std::path::{Path, PathBuf};

use super::{
    CliError,
    input::{Object, about, is_scene, load_mesh, voxelise},
    options::choice,
    progress::Reporter,
};
use crate::{
    import::ReadMesh,
    mesh::{Format, Units, Up, format_of, may_be_millimetres},
    scene::ReadScene,
    svo::MAX_LEVEL,
};

/// The option that says what a mesh file's lengths are.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct UnitArgs {
    /// Unit of a mesh file's lengths: mm, cm, m, in, ft; the mesh is then brought to metres, which other options and all
    /// results are in [default: as they are, taken for metres]
    #[arg(long, value_name = "UNIT", value_parser = choice::<Units>(), hide_possible_values = true)]
    units: Option<Units>,
}

/// The options that say how large a mesh and its voxels are.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct MeasureArgs {
    #[command(flatten)]
    units: UnitArgs,
    /// Edge of a voxel with its unit, as in 2mm, instead of --level: the lowest level whose voxels are no wider
    #[arg(long, value_name = "LENGTH", value_parser = Units::length, conflicts_with = "level")]
    voxel_size: Option<f64>,
}

impl UnitArgs {
    fn refuse_voxels(&self, file: &Path) -> Result<(), CliError> {
        match self.units {
            Some(units) if format_of(file) == Some(Format::Vox) => {
                let units = units.name();
                Err(about(
                    file,
                    format!("--units {units}: a VOX file counts voxels and has no unit; leave it out"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// A mesh in metres; as it is, with a question if it is strangely long, where no unit is named.
    fn of(&self, mesh: ReadMesh, reporter: &Reporter) -> ReadMesh {
        if let Some(units) = self.units {
            return mesh.in_metres(units);
        }
        let (length, format) = (mesh.longest_side(), format_of(Path::new(&mesh.file)));
        if may_be_millimetres(format, length) {
            reporter.warn(&format!(
                "{}: the object is {length:.0} m long; if the file is in millimetres, add --units mm",
                mesh.file
            ));
        }
        mesh
    }

    /// Gives the mesh of a scene that was made for it the length that it has in its file.
    ///
    /// # Errors
    /// [`CliError::Input`] where `file` is a scene, or a file without lengths.
    pub fn apply(&self, file: &Path, opened: &mut ReadScene) -> Result<(), CliError> {
        let Some(units) = self.units else { return Ok(()) };
        if is_scene(file) {
            let message = "--units is for a mesh; a scene has meters_per_unit, and a body its size";
            return Err(about(file, message));
        }
        self.refuse_voxels(file)?;
        for body in &mut opened.scene.bodies {
            let length = opened.meshes.get(&body.file).map_or(0.0, ReadMesh::longest_side) * units.metres();
            if length > 0.0 {
                body.size = Some(length);
            }
        }
        Ok(())
    }
}

impl MeasureArgs {
    /// Whether neither option is given.
    pub fn is_default(&self) -> bool {
        self.units.units.is_none() && self.voxel_size.is_none()
    }

    /// The level at which a mesh is voxelised: the `given` one, or as fine as `--voxel-size` says, or that of a voxel model's
    /// own voxels, else the usual one. The mesh is read only where the level depends on it.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn measure(
        &self,
        (file, up): (&Path, Up),
        (given, usual): (Option<u32>, u32),
        reporter: &Reporter,
    ) -> Result<Measured, CliError> {
        self.units.refuse_voxels(file)?;
        let is_vox = format_of(file) == Some(Format::Vox);
        if is_vox && self.voxel_size.is_some() {
            return Err(about(file, "--voxel-size: a VOX file has voxels of its own; leave it out"));
        }
        let mut measured = Measured {
            units: self.units,
            file: file.to_owned(),
            up,
            level: given.unwrap_or(usual),
            mesh: None,
        };
        if self.voxel_size.is_some() || (is_vox && given.is_none()) {
            let mesh = measured.read(reporter)?;
            measured.level = match self.voxel_size {
                Some(edge) => mesh.level_for(edge).ok_or_else(|| too_fine(file, &mesh))?,
                // A model that finds no room is voxelised as a mesh.
                None => mesh.voxel_edge().and_then(|edge| mesh.level_for(edge)).unwrap_or(usual),
            };
            measured.mesh = Some(mesh);
        }
        Ok(measured)
    }
}

fn too_fine(file: &Path, mesh: &ReadMesh) -> CliError {
    let length = mesh.longest_side();
    let least = length / f64::from((1u32 << MAX_LEVEL) - 2);
    about(
        file,
        format!(
            "--voxel-size: the object is {length:.3} m long, and voxels of the finest level, {MAX_LEVEL}, are {least:.2e} m wide; \
             give at least that much, or the file's unit with --units"
        ),
    )
}

/// A mesh whose level is known, and which may have been read for that.
pub struct Measured {
    units: UnitArgs,
    file: PathBuf,
    up: Up,
    /// The level at which it is voxelised.
    pub level: u32,
    mesh: Option<ReadMesh>,
}

impl Measured {
    fn read(&self, reporter: &Reporter) -> Result<ReadMesh, CliError> {
        Ok(self.units.of(load_mesh(&self.file, reporter)?, reporter).stood_up(self.up))
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

    /// The voxelised mesh.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn object(self, reporter: &Reporter) -> Result<Object, CliError> {
        let level = self.level;
        voxelise(&self.mesh(reporter)?, level, reporter)
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
            let args = MeasureArgs { units: UnitArgs { units }, voxel_size: voxel };
            args.measure((&file, Up::Y), (level, 8), &reporter)
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
}
