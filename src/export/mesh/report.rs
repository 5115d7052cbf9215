//! What a report says of the meshes beside it.

use rayon::prelude::*;

use super::{MeshCheck, MeshKind};
use crate::export::{Assembly, ExportError, Watch};

/// Of all meshes of an export.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct MeshReport {
    /// Which meshes.
    pub kind: MeshKind,
    /// Pieces whose mesh is smooth since none of the original lies in them: it does within voxels of others.
    pub without_original: usize,
    /// Pieces that have triangles.
    pub meshes: usize,
    /// Of these, how many are closed: every edge has two triangles, which go along it opposite ways.
    pub watertight: usize,
    /// Closed, with one fan of triangles round every point.
    pub manifold: usize,
    /// Largest difference of a mesh's volume from its piece's, of pieces of 8 voxels or more, as a share of it.
    pub volume_error: f64,
    /// Counts over all of them; volume in shape space's cubic units.
    #[serde(flatten)]
    pub counts: MeshCheck,
}

impl MeshReport {
    /// Looks all meshes over.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`].
    pub fn of(what: &Assembly, kind: MeshKind, watch: &Watch) -> Result<Self, ExportError> {
        let mut report = Self { kind, without_original: what.without_original(), ..Self::default() };
        // So many at a time: meshes are made as they are asked for.
        const AT_ONCE: usize = 16;
        let numbers: Vec<usize> = (0..what.pieces.len()).collect();
        for some in numbers.chunks(AT_ONCE) {
            watch.at(some[0], numbers.len())?;
            let checks: Vec<(usize, MeshCheck)> =
                some.par_iter().map(|i| (*i, MeshCheck::of(&what.mesh(*i)))).collect();
            for (i, check) in checks.into_iter().filter(|(_, check)| check.triangles > 0) {
                report.meshes += 1;
                report.watertight += usize::from(check.is_watertight());
                report.manifold += usize::from(check.is_manifold());
                let shape = &what.pieces[i].shape;
                let (voxels, volume) =
                    (shape.as_octree().map(|octree| octree.mass.voxels), shape.mass().volume_m3);
                if voxels.is_none_or(|voxels| voxels >= 8) && volume > 0.0 {
                    report.volume_error = report.volume_error.max((check.volume / volume - 1.0).abs());
                }
                report.counts += check;
            }
        }
        Ok(report)
    }
}
