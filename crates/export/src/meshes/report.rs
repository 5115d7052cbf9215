//! Section of a report about meshes.
//!
//! # Totals over the meshes of many pieces: number of triangles, and of closed meshes
//!
//! In: shapes of any kind. Out: counts, to compare the pieces of several methods.

use std::sync::Arc;

use rayon::prelude::*;

use super::{MeshCheck, MeshKind, bake::Maps};
use crate::{
    ExportPiece,
    fracture::{Cancel, Cancelled},
    shape::Shape,
};

/// Pieces with fewer voxels are splinters without use as meshes.
pub const SMALLEST_MESH: u64 = 8;

/// Statistics of all meshes of an export.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct MeshReport {
    /// Kind of the meshes.
    pub kind: MeshKind,
    /// Pieces with a smooth mesh because no part of the original lies in them (it lies in voxels of other pieces).
    pub without_original: usize,
    /// Pieces written as boxes of their volume, since they have almost no solid; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crumbs: Option<usize>,
    /// Number of pieces that have triangles.
    pub meshes: usize,
    /// Number of watertight meshes: every edge has two triangles, which traverse it in opposite directions.
    pub watertight: usize,
    /// Number of watertight meshes that stay so when points with equal 32-bit coordinates are merged.
    pub watertight_merged: usize,
    /// Number of watertight meshes with one fan of triangles at every point.
    pub manifold: usize,
    /// Number of watertight meshes that enclose nothing, or are inside out.
    pub without_volume: usize,
    /// Largest relative difference between the volumes of a mesh and its voxels, among pieces of 8 voxels or more. A
    /// crack's voxels are divided evenly, so for small pieces the difference means little.
    pub volume_error: f64,
    /// Triangles of all meshes before smooth outsides were simplified by half a voxel; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triangles_before: Option<u64>,
    /// Textures of crack faces, if they were baked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<TextureReport>,
    /// Whether crack faces have a relief as geometry.
    #[serde(skip)]
    pub has_relief: bool,
    /// Sums over all meshes; volume in cubic units of shape space.
    #[serde(flatten)]
    pub counts: MeshCheck,
}

/// Textures of the crack faces of an object.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TextureReport {
    /// The object; `None` for the only one of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<usize>,
    /// Texels a side.
    pub size: u32,
    /// Side of a texel, units of the file.
    pub texel: f64,
    /// Displacement for which the height map has 255, and minus that for 1; units of the file.
    pub height_range: f64,
    #[serde(skip)]
    is_coarser: bool,
}

impl TextureReport {
    /// What is told of maps for which a texel of `wanted` m was asked for, with `scale` units of the file per metre.
    #[must_use]
    pub fn of(object: Option<usize>, maps: &Maps, wanted: f64, scale: f64) -> Self {
        let Maps { size, texel, height_range, .. } = *maps;
        Self {
            object,
            size,
            texel: texel * scale,
            height_range: height_range * scale,
            is_coarser: texel > wanted,
        }
    }

    fn note(&self) -> Option<String> {
        let Self { size, texel, .. } = self;
        self.is_coarser.then(|| {
            format!(
                "textures of crack faces have texels of {texel:.3e} units, more than was asked for, to have room in {size} x \
                 {size}"
            )
        })
    }
}

impl MeshReport {
    /// Adds the mesh of a piece.
    pub fn add(&mut self, piece: &ExportPiece, check: MeshCheck) {
        if check.triangles == 0 {
            return;
        }
        self.meshes += 1;
        self.watertight += usize::from(check.is_watertight());
        self.watertight_merged += usize::from(check.is_watertight_merged());
        self.manifold += usize::from(check.is_manifold());
        self.without_volume += usize::from(check.is_watertight() && check.volume <= 0.0);
        let (voxels, volume) =
            (piece.octree().map(|octree| octree.mass.voxels), piece.shape.mass().volume_m3);
        if voxels.is_none_or(|voxels| voxels >= SMALLEST_MESH) && volume > 0.0 {
            self.volume_error = self.volume_error.max((check.volume / volume - 1.0).abs());
        }
        self.counts += check;
    }

    /// A warning for the user about defects and coarse textures; `None` if there are none.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let coarse = self.textures.iter().filter_map(TextureReport::note);
        let notes: Vec<String> = self.defects().into_iter().chain(self.crumbs_note()).chain(coarse).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn crumbs_note(&self) -> Option<String> {
        let count = self.crumbs?;
        let (who, are, them) = if count == 1 {
            ("piece has", "is a box of its", "it")
        } else {
            ("pieces have", "are boxes of their", "them")
        };
        Some(format!(
            "{count} {who} less than a voxel of solid, thinly spread, and {are} volume; --smallest merges or drops {them}"
        ))
    }

    fn defects(&self) -> Option<String> {
        let MeshCheck { inward_triangles, flat_triangles, .. } = self.counts;
        let all = [
            ((self.meshes - self.manifold) as u64, "meshes that are not closed manifolds"),
            (self.without_volume as u64, "closed meshes without a volume"),
            (inward_triangles, "triangles that face inward"),
            (flat_triangles, "triangles without area"),
        ];
        let wrong: Vec<String> = all
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let what_helps = match self.kind {
            _ if self.has_relief => {
                "the relief of two cracks that meet at a sharp edge may cross there: other edges, or a weaker relief, may help"
            }
            MeshKind::Original => {
                "the object's mesh may pass through itself there: repair it, or take smooth meshes"
            }
            MeshKind::Smooth | MeshKind::Voxels => "a finer level may help, or other meshes",
        };
        (!wrong.is_empty()).then(|| format!("among the pieces are {}; {what_helps}", wrong.join(", ")))
    }
}

/// Totals over the meshes of pieces; for octrees over their smooth meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshTally {
    /// Number of triangles.
    pub triangles: u64,
    /// Number of pieces with closed meshes.
    pub closed: u64,
}

impl MeshTally {
    /// Makes the meshes on all cores, counts, and drops them. Checks before every piece whether this was cancelled.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(shapes: &[Arc<Shape>], cancel: &Cancel) -> Result<Self, Cancelled> {
        let counted = shapes.par_iter().map(|shape| {
            cancel.check()?;
            let mesh = MeshCheck::of(&MeshKind::Smooth.of(shape));
            Ok(Self { triangles: mesh.triangles, closed: u64::from(mesh.is_watertight()) })
        });
        let sum =
            |a: Self, b: Self| Ok(Self { triangles: a.triangles + b.triangles, closed: a.closed + b.closed });
        counted.try_reduce(Self::default, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_and_what_is_not_is_not() {
        let mut report =
            MeshReport { meshes: 3, manifold: 3, kind: MeshKind::Original, ..MeshReport::default() };
        assert_eq!(report.note(), None);
        report.crumbs = Some(2);
        assert!(report.note().unwrap().starts_with("2 pieces have less than a voxel of solid"));
        report.crumbs = None;
        report.counts.inward_triangles = 2;
        let note = report.note().unwrap();
        assert!(note.contains("are 2 triangles that face inward; the object's mesh"), "{note}");
        report.without_volume = 1;
        assert!(report.note().unwrap().contains("are 1 closed meshes without a volume, 2 triangles"));
        (report.manifold, report.without_volume) = (2, 0);
        assert!(report.note().unwrap().contains("are 1 meshes that are not closed manifolds, 2 triangles"));
    }
}
