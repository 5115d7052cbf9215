//! A piece's mesh as formats write it, with what several of them write about it.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use super::{CrackDistance, PieceMesh};

/// A mesh, and how far its points are from its crack faces: measured when a format first needs it.
#[derive(Clone, Debug, Default)]
pub struct WrittenMesh {
    mesh: Arc<PieceMesh>,
    crack_distances: OnceLock<Vec<f32>>,
}

impl WrittenMesh {
    /// Of each point the distance to the nearest crack face, m; -1 where the mesh has none.
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
