//! Drawings as data: arrays of one break in an archive, and a PLY file for each kind of drawing.
//!
//! In: an [`Inside`] and the numbering of ids. Out: files, described in `docs/files.md`, or the same arrays in memory; each
//! maker writes its own.

use std::{path::PathBuf, rc::Rc};

use glam::DVec3;

use super::{Cut, Inside};
use crate::{
    compute::Compute,
    export::{Arrays as _, Collected, Element, ExportError, Npz, PlainPly},
    gpu::GpuError,
    render::piece_color,
    svo::Grid,
};

/// Crack surfaces (2018, sec. 5.2), leaf units. Empty if they are planar or made at the leaf level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrackArrays {
    /// Low corner and edge of every crossed voxel of the transition level.
    pub voxels: Vec<[i32; 4]>,
    /// Object of each corner; bits 0, 1, 2 of the corner's number are its x, y, z.
    pub objects: Vec<[i32; 8]>,
    /// Vertices of triangles; the normal by the right-hand rule points from the first object to the second.
    pub triangles: Vec<[[f64; 3]; 3]>,
    /// The objects on both sides of each triangle. For dusty surfaces the first is the object whose border it is.
    pub triangle_cells: Vec<[i32; 2]>,
    /// Row of `voxels` for each triangle.
    pub triangle_voxels: Vec<i32>,
    /// Separation points.
    pub points: Vec<[f64; 3]>,
    /// Kind of each point: 0 on an edge, 1 in a face, 2 in the voxel; for dusty surfaces 0 for ends on edges and 2 for
    /// centres of fans.
    pub point_kinds: Vec<i32>,
    /// Row of `voxels` for each point.
    pub point_voxels: Vec<i32>,
}

/// Why a drawing could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OverlayFileError {
    /// An error of a file.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// An error of the device that labels.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// What takes the arrays of a break.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum ArraySink {
    /// An archive.
    File(Npz),
    /// Memory.
    Memory(Collected<'static>),
}

impl ArraySink {
    /// Adds an array of `shape`, C order.
    ///
    /// # Errors
    /// [`ExportError::Format`] when `data` does not fill the shape; [`ExportError::Write`] of the archive.
    pub fn array<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), ExportError> {
        match self {
            Self::File(npz) => npz.array(name, shape, data),
            Self::Memory(arrays) => arrays.array(name, shape, data),
        }
    }

    /// The same for an array that is made part by part.
    ///
    /// # Errors
    /// As [`ArraySink::array`], and the first error of a part.
    pub fn array_of_parts<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        parts: impl Iterator<Item = Result<Vec<T>, ExportError>>,
    ) -> Result<(), ExportError> {
        match self {
            Self::File(npz) => npz.array_of_parts(name, shape, parts),
            Self::Memory(arrays) => arrays.array_of_parts(name, shape, parts),
        }
    }

    /// Ends an archive.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn finish(self) -> Result<(), ExportError> {
        match self {
            Self::File(npz) => npz.finish(),
            Self::Memory(_) => Ok(()),
        }
    }
}

/// The files of one break, while makers write them.
pub struct OverlayFiles<'a> {
    /// The data to write.
    pub inside: &'a Inside,
    /// The backend of the labelling.
    pub compute: &'a Compute,
    /// Place of the object's grid in the mesh.
    pub grid: Grid,
    /// Number of the first seed, and of its object: both are numbered consecutively over all breaks.
    pub first_seed: i32,
    /// Piece id of every tree of the fracture's forest; -1 for none.
    pub piece_of_tree: Vec<i32>,
    /// Cuts of the drawings that lie on one, each once.
    pub cuts: Vec<Cut>,
    /// Folder of PLY files and tables; `None`: they are not written.
    pub folder: Option<PathBuf>,
    /// The arrays.
    pub npz: ArraySink,
    /// Arrays that several makers share, once they are written.
    pub(super) cracks: Option<Rc<CrackArrays>>,
    pub(super) has_label_voxels: bool,
}

impl<'a> OverlayFiles<'a> {
    /// Files of one break, empty at first.
    #[must_use]
    pub fn new(
        inside: &'a Inside,
        (compute, grid): (&'a Compute, Grid),
        (first_seed, piece_of_tree): (i32, Vec<i32>),
        (npz, folder): (ArraySink, Option<PathBuf>),
    ) -> Self {
        Self {
            inside,
            compute,
            grid,
            first_seed,
            piece_of_tree,
            cuts: vec![Cut::default()],
            folder,
            npz,
            cracks: None,
            has_label_voxels: false,
        }
    }

    /// Writes points of the grid, their colours, numbers and polygons as a PLY file in the mesh's units, if there is a
    /// folder.
    pub(super) fn ply(
        &self,
        name: &str,
        grid_points: &[[f64; 3]],
        rest: PlainPly<'_>,
    ) -> Result<(), ExportError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let (origin, h) = (self.grid.origin, self.grid.h);
        let points = grid_points.iter().map(|p| (origin + h * DVec3::from(*p)).to_array()).collect();
        PlainPly { points, ..rest }.write(&folder.join(name))
    }
}

/// A column of rows.
pub(super) fn column<const N: usize>(rows: &[[i32; N]], at: usize) -> Vec<i32> {
    rows.iter().map(|row| row[at]).collect()
}

/// The colours that cells and pieces have in pictures.
pub(super) fn colors(ids: &[i32]) -> Vec<[u8; 3]> {
    ids.iter().map(|id| piece_color(*id as u32)).collect()
}

/// A colour without its opacity.
pub(super) fn rgb([r, g, b, _]: [u8; 4]) -> [u8; 3] {
    [r, g, b]
}
