//! Mesh files of convex solids for the checks.

use std::{fmt::Write, path::PathBuf};

use glam::DVec3;

use super::support::program;

/// A folder of one check for mesh files.
pub struct Shapes(PathBuf);

impl Shapes {
    /// The folder `name`, emptied.
    pub fn new(name: &str) -> Self {
        Self(program::folder(name))
    }

    /// A box about its own middle, of these edges (m): its path.
    pub fn cuboid(&self, name: &str, edges: DVec3) -> String {
        let at = |k: u32| (DVec3::from([0, 1, 2].map(|axis| f64::from(k >> axis & 1))) - 0.5) * edges;
        let faces = [[1, 5, 7, 3], [2, 4, 8, 6], [1, 2, 6, 5], [3, 7, 8, 4], [1, 3, 4, 2], [5, 6, 8, 7]];
        self.write(name, (0..8).map(at), faces.iter().map(|face| &face[..]))
    }

    fn write<'a>(
        &self,
        name: &str,
        corners: impl Iterator<Item = DVec3>,
        faces: impl Iterator<Item = &'a [u32]>,
    ) -> String {
        let mut text = String::new();
        for p in corners {
            writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
        }
        for face in faces {
            let corners: Vec<String> = face.iter().map(u32::to_string).collect();
            writeln!(text, "f {}", corners.join(" ")).unwrap();
        }
        let path = self.0.join(name).with_extension("obj");
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }
}
