//! A piece's mesh for formats, with data that several formats write.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use super::{CrackDistance, PieceMesh};

/// A mesh, and the distances of its points from its crack faces, measured on first use.
#[derive(Clone, Debug, Default)]
pub struct WrittenMesh {
    mesh: Arc<PieceMesh>,
    crack_distances: OnceLock<Vec<f32>>,
}

impl WrittenMesh {
    /// The mesh itself.
    #[must_use]
    pub fn mesh(&self) -> &Arc<PieceMesh> {
        &self.mesh
    }

    /// Distance of each point from the nearest crack face, m; -1 if the mesh has none.
    pub fn crack_distances(&self) -> &[f32] {
        self.crack_distances.get_or_init(|| CrackDistance::of(&self.mesh).of_points(&self.mesh.positions))
    }
}

impl From<Arc<PieceMesh>> for WrittenMesh {
    fn from(mesh: Arc<PieceMesh>) -> Self {
        Self { mesh, crack_distances: OnceLock::new() }
    }
}

impl Deref for WrittenMesh {
    type Target = PieceMesh;

    fn deref(&self) -> &PieceMesh {
        &self.mesh
    }
}
