//! The meshes that the documents broke, told by what is in them.
//!
//! In: the folder of `--meshes`, the file of `--mesh`; the counts of a mesh that was read. Out: its file; the object
//! that it is. A published figure stands beside ours only where the object measured is the document's. A name is no
//! proof of that: a scene named after the bunny plays with a built-in statue where the bunny's file is missing.

use std::path::{Path, PathBuf};

use crate::{
    cli::{
        CliError,
        input::{about, joined, load_mesh},
        progress::Reporter,
    },
    files::as_text,
    import::ReadMesh,
};

/// A mesh of the Stanford 3D Scanning Repository. The documents name the objects and not the resolution; octrees of all
/// of one object's resolutions differ by a fraction of a percent of their voxels.
struct Known {
    object: &'static str,
    vertices: usize,
    triangles: usize,
}

/// Stanford's resolutions, and a decimated Buddha that is much in use.
const KNOWN: [Known; 6] = [
    Known { object: "bunny", vertices: 35_947, triangles: 69_451 },
    Known { object: "dragon", vertices: 437_645, triangles: 871_414 },
    Known { object: "dragon", vertices: 100_250, triangles: 202_520 },
    Known { object: "dragon", vertices: 22_998, triangles: 47_794 },
    Known { object: "buddha", vertices: 543_652, triangles: 1_087_716 },
    Known { object: "buddha", vertices: 49_950, triangles: 100_000 },
];

/// Endings of mesh files.
const ENDINGS: [&str; 6] = ["ply", "obj", "off", "stl", "glb", "gltf"];

/// The documents' name of the object with this many vertices and triangles in its file.
#[must_use]
pub fn object_of(vertices: usize, triangles: usize) -> Option<&'static str> {
    let same = |known: &&Known| (known.vertices, known.triangles) == (vertices, triangles);
    KNOWN.iter().find(same).map(|known| known.object)
}

/// A mesh of the user's own.
#[derive(Debug)]
pub struct Own {
    /// It; its warnings say how many objects that do not touch it is of.
    pub mesh: ReadMesh,
    /// Its name without the folder, for the page.
    pub name: String,
    /// Octree level; `None`: that of the entry.
    pub level: Option<u32>,
}

/// The folder with the documents' own meshes, if the user has them, and a mesh of the user's own.
#[derive(Debug, Default)]
pub struct Meshes {
    folder: Option<PathBuf>,
    own: Option<Own>,
}

impl Meshes {
    /// The folder of `--meshes`.
    ///
    /// # Errors
    /// [`CliError::Input`] where it is no folder.
    pub fn new(folder: Option<&Path>) -> Result<Self, CliError> {
        match folder {
            Some(path) if !path.is_dir() => {
                let path = path.display();
                let message =
                    format!("--meshes {path}: there is no such folder; give the one that has the meshes");
                Err(CliError::Input(message))
            }
            other => Ok(Self { folder: other.map(Path::to_owned), own: None }),
        }
    }

    /// With a mesh of the user's own, and the octree level for it.
    ///
    /// # Errors
    /// [`CliError::Input`] for a file that is no mesh.
    pub fn with_own(self, path: &Path, level: Option<u32>, reporter: &Reporter) -> Result<Self, CliError> {
        let mesh = joined(load_mesh(path, reporter)?, reporter);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { own: Some(Own { mesh, name, level }), ..self })
    }

    /// The mesh of the user's own.
    #[must_use]
    pub fn own(&self) -> Option<&Own> {
        self.own.as_ref()
    }

    /// The file of that name in it, or one that differs in its ending alone; a name with a path never is there.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        if Path::new(name).file_name()? != name {
            return None;
        }
        let path = self.folder.as_ref()?.join(name);
        let others = ENDINGS.map(|ending| path.with_extension(ending));
        std::iter::once(path).chain(others).find(|path| path.is_file())
    }

    /// The object that the file of that name in it holds.
    ///
    /// # Errors
    /// [`CliError::Input`] for a file that is no mesh.
    pub fn object(&self, name: &str) -> Result<Option<&'static str>, CliError> {
        let Some(path) = self.find(name) else { return Ok(None) };
        let text = as_text(&path).map_err(|why| about(&path, why))?;
        let mesh = crate::import::read(text).map_err(|error| about(Path::new(name), error))?.mesh;
        Ok(object_of(mesh.positions.len(), mesh.triangles.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_told_by_its_counts_and_not_by_its_name() {
        assert_eq!(object_of(35_947, 69_451), Some("bunny"));
        assert_eq!(object_of(22_998, 47_794), Some("dragon"));
        // Planted error to see this fail: compare the triangles alone.
        assert_eq!(object_of(35_946, 69_451), None);
        let home = std::env::temp_dir().join(format!("kintsugi-paper-meshes-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("stanford-bunny.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        let meshes = Meshes::new(Some(&home)).unwrap();
        assert!(meshes.find("stanford-bunny.obj").is_some());
        assert_eq!(
            meshes.find("stanford-bunny.ply"),
            meshes.find("stanford-bunny.obj"),
            "another ending serves"
        );
        assert_eq!(meshes.object("stanford-bunny.obj").unwrap(), None, "a triangle is no bunny");
        assert_eq!([meshes.find("missing.obj"), meshes.find("../stanford-bunny.obj")], [None, None]);
        assert!(Meshes::new(Some(&home.join("none"))).is_err());
        let reporter = Reporter::new(false);
        let own = meshes.with_own(&home.join("stanford-bunny.obj"), Some(5), &reporter).unwrap();
        assert_eq!(
            own.own().map(|own| (own.name.as_str(), own.level)),
            Some(("stanford-bunny.obj", Some(5)))
        );
        assert!(own.with_own(&home.join("none.obj"), None, &reporter).is_err());
        std::fs::remove_dir_all(home).unwrap();
    }
}
