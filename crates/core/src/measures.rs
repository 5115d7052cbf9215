//! What a mesh file leaves open and a user chose: its unit, its way up, and how fine its voxels are.
//!
//! In: these choices, a mesh that was read. Out: the mesh in metres and upright, and its level; doubts about its size and its
//! way up where nothing was chosen.

use std::{fs::File, io::Read as _, path::Path};

use crate::{
    import::{ImportError, ReadMesh, edge_at, level_for},
    mesh::{Format, Units, Up, format_of, may_be_in_another_unit, z_up_program},
    svo::MAX_LEVEL,
};

/// What is read of a file for the program that wrote it, bytes.
const HEAD: u64 = 4096;

/// What commands, scenes, job files and Python choose alike about a mesh file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// Unit of the file's lengths; `None`: they are taken for metres.
    pub units: Option<Units>,
    /// The axis of the file that points up; `None`: as the mesh is, y where it was just read.
    pub up: Option<Up>,
    /// Widest edge of a voxel, m; `None`: the level decides.
    pub voxel_size: Option<f64>,
}

impl Measures {
    /// Whether nothing is chosen, y pointing up.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.units.is_none() && self.up.is_none_or(|up| up.is_y()) && self.voxel_size.is_none()
    }

    /// Refuses what a file of this name cannot have.
    ///
    /// # Errors
    /// [`ImportError::Measure`] for a unit or an edge of a voxel model's voxels.
    pub fn check(&self, file: &str) -> Result<(), ImportError> {
        let what = match *self {
            _ if format_of(Path::new(file)) != Some(Format::Vox) => return Ok(()),
            Self { units: Some(units), .. } => {
                let units = units.name();
                format!("units {units}: a VOX file counts voxels and has no unit; leave it out")
            }
            Self { voxel_size: Some(_), .. } => {
                "voxel size: a VOX file has voxels of its own; leave it out".to_owned()
            }
            _ => return Ok(()),
        };
        Err(ImportError::Measure { file: file.to_owned(), what })
    }

    /// The mesh in metres and upright, as far as that is chosen.
    ///
    /// # Errors
    /// As of [`Measures::check`].
    pub fn apply(&self, mesh: &ReadMesh) -> Result<ReadMesh, ImportError> {
        self.check(&mesh.file)?;
        let mesh = self.units.map_or_else(|| mesh.clone(), |units| mesh.in_metres(units));
        Ok(self.up.map_or_else(|| mesh.clone(), |up| mesh.stood_up(up)))
    }

    /// The level of a mesh whose measures are applied: as fine as `voxel_size` says, else the `given` one, else that of a
    /// voxel model's own voxels, else the `usual` one.
    ///
    /// # Errors
    /// [`ImportError::Measure`] where no level is that fine.
    pub fn level(&self, mesh: &ReadMesh, given: Option<u32>, usual: u32) -> Result<u32, ImportError> {
        match (self.voxel_size, given) {
            (Some(edge), _) => level_or_refusal(&mesh.file, mesh.longest_side(), edge),
            (None, Some(level)) => Ok(level),
            // A model that finds no room is voxelised as a mesh.
            (None, None) => Ok(mesh.voxel_edge().and_then(|edge| mesh.level_for(edge)).unwrap_or(usual)),
        }
    }

    /// Lines about a mesh as it was read, each with the option that settles it: improbable lengths where no unit is chosen,
    /// and z that seems to point up where no axis is.
    #[must_use]
    pub fn doubts(&self, mesh: &ReadMesh) -> Vec<String> {
        let path = Path::new(&mesh.file);
        let (length, format) = (mesh.longest_side(), format_of(path));
        let mut doubts = Vec::new();
        if self.units.is_none() && may_be_in_another_unit(format, length) {
            doubts.push(match length > 1.0 {
                true => format!(
                    "the object is {length:.0} m long, and its file names no unit; if the file is in millimetres, add \
                     --units mm, else --units cm, m, in or ft"
                ),
                false => format!(
                    "the object is {length:.2e} m long, and its file names no unit; scale it where it was made, or add \
                     --units m if that is its length"
                ),
            });
        }
        if self.up.is_none()
            && let Some(why) = why_z_up(mesh)
        {
            doubts.push(format!("{why}; if the object lies on its back, add --up z, else --up y"));
        }
        doubts
    }
}

/// The lowest level at which no voxel of an object of this length is wider than `edge`, both in m.
///
/// # Errors
/// [`ImportError::Measure`].
pub fn level_or_refusal(file: &str, length: f64, edge: f64) -> Result<u32, ImportError> {
    level_for(length, edge).ok_or_else(|| ImportError::Measure {
        file: file.to_owned(),
        what: format!(
            "voxel size: the object is {length:.3} m long, and voxels of the finest level, {MAX_LEVEL}, are {:.2e} m wide; \
             give at least that much, or the file's unit",
            edge_at(length, MAX_LEVEL)
        ),
    })
}

/// Why z seems to point up in the file of a mesh: the program that wrote the file, or a flat base below it; `None` where y may
/// point up, and for formats that say it.
#[must_use]
pub fn why_z_up(mesh: &ReadMesh) -> Option<String> {
    let path = Path::new(&mesh.file);
    let format = format_of(path)?;
    if !matches!(format, Format::Obj | Format::Ply | Format::Stl | Format::Off) || !mesh.up.is_y() {
        return None;
    }
    if let Some(program) = z_up_program(format, &head_of(path)) {
        return Some(format!("the file comes from {program}, where z mostly points up"));
    }
    mesh.mesh.stands_along_z().then(|| "its one flat base faces along -z".to_owned())
}

/// The first bytes of a file; none of what is no file.
fn head_of(file: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if file.is_file()
        && let Ok(open) = File::open(file)
    {
        // What cannot be read names no program.
        let _ = open.take(HEAD).read_to_end(&mut head);
    }
    head
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mesh::Mesh;

    /// A prism of `sides` on its base at z = 0 that ends in a point, `length` high.
    fn cone(file: &str, length: f32) -> ReadMesh {
        let sides = 12u32;
        let corner = |i: u32| {
            let angle = f64::from(i) / f64::from(sides) * std::f64::consts::TAU;
            [(libm::cos(angle) * 0.3) as f32 * length, (libm::sin(angle) * 0.3) as f32 * length, 0.0]
        };
        let mut positions: Vec<[f32; 3]> = (0..sides).map(corner).collect();
        positions.extend([[0.0, 0.0, 0.0], [0.0, 0.0, length]]);
        let triangles = (0..sides)
            .flat_map(|i| {
                let next = (i + 1) % sides;
                [[sides, next, i], [sides + 1, i, next]]
            })
            .collect();
        let mesh = Arc::new(Mesh { positions, triangles, ..Mesh::default() });
        ReadMesh::again(file.into(), mesh, Arc::default(), Up::Y, Vec::new())
    }

    #[test]
    fn doubts_name_the_option_and_choices_silence_them() {
        let said = |file: &str, length: f32, by: Measures| by.doubts(&cone(file, length)).join("\n");
        let none = Measures::default();
        let bust = said("bust.stl", 494.0, none);
        assert!(bust.contains("the object is 494 m long") && bust.contains("add --units mm"), "{bust}");
        assert!(bust.contains("faces along -z") && bust.contains("add --up z"), "{bust}");
        assert!(said("bust.stl", 0.0005, none).contains("5.00e-4 m long"));
        let chosen = Measures { units: Some(Units::M), up: Some(Up::Y), ..none };
        assert_eq!(said("bust.stl", 494.0, chosen), "");
        for named in ["bust.glb", "bust.fbx", "bust.usda", "builtin:box"] {
            assert_eq!(said(named, 494.0, none), "", "{named}");
        }
        let upright = cone("bust.obj", 1.0).stood_up(Up::Z);
        let again = ReadMesh::again("bust.obj".into(), upright.mesh, Arc::default(), Up::Y, Vec::new());
        assert_eq!(none.doubts(&again), Vec::<String>::new(), "y points up now");
    }

    #[test]
    fn measures_give_metres_an_axis_and_a_level() {
        let mm = Measures { units: Some(Units::Mm), up: Some(Up::Z), voxel_size: Some(0.002) };
        let mesh = mm.apply(&cone("bust.stl", 494.0)).unwrap();
        assert!((mesh.longest_side() - 0.494).abs() < 1e-6 && mesh.up == Up::Z);
        // 494 mm in voxels of 2 mm at most: 254 voxels at level 8.
        assert_eq!(mm.level(&mesh, None, 5).unwrap(), 8);
        assert_eq!(Measures::default().level(&mesh, None, 5).unwrap(), 5);
        assert_eq!(Measures::default().level(&mesh, Some(6), 5).unwrap(), 6);
        let fine = Measures { voxel_size: Some(0.002), ..Measures::default() };
        let refused = fine.level(&cone("bust.stl", 494.0), None, 5).unwrap_err().to_string();
        assert!(refused.contains("494.000 m long") && refused.contains("1.21e-1 m"), "{refused}");
        assert!(mm.check("a.vox").is_err_and(|why| why.to_string().contains("counts voxels")));
        assert!(fine.check("a.vox").is_err() && Measures::default().check("a.vox").is_ok());
    }

    #[test]
    fn the_level_is_the_lowest_that_is_fine_enough() {
        for length in [0.494, 1.0, 3.7] {
            for level in 2..=MAX_LEVEL {
                let edge = edge_at(length, level);
                assert_eq!(level_for(length, edge), Some(level));
                assert_eq!(level_for(length, edge * 0.999), (level < MAX_LEVEL).then_some(level + 1));
            }
        }
        assert_eq!(level_for(0.0, 1.0), None);
    }
}
