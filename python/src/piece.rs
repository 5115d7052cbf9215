//! One piece of a broken object, and its mesh as arrays.
//!
//! In: pieces and a number. Out: figures; triangles with what lies beyond them; points of the surface.

use std::sync::Arc;

use kintsugi::{
    Observer as _,
    shape::{Corner, PieceMesh as Surface},
};
use pyo3::{prelude::*, sync::PyOnceLock};

use crate::{
    arrays::{self, Kept},
    errors::{Error, parameter},
    running,
};

/// One of the pieces of a broken object: `pieces[i]`. Lengths are in units of the mesh.
#[pyclass(frozen, module = "kintsugi")]
pub struct Piece {
    /// The pieces that it is one of.
    pub pieces: Arc<kintsugi::Pieces>,
    /// Its number.
    pub id: usize,
    mesh: PyOnceLock<Py<PieceMesh>>,
}

impl Piece {
    /// Piece number `id`.
    pub fn new(pieces: Arc<kintsugi::Pieces>, id: usize) -> Self {
        Self { pieces, id, mesh: PyOnceLock::new() }
    }

    fn get(&self) -> PyResult<kintsugi::Piece<'_>> {
        self.pieces.get(self.id).ok_or_else(|| gone(self.id))
    }
}

fn gone(id: usize) -> PyErr {
    Error::new_err(format!("there is no piece {id}"))
}

#[pymethods]
impl Piece {
    /// int : Its number, from 0; larger pieces have smaller numbers.
    #[getter]
    fn id(&self) -> usize {
        self.id
    }

    /// int or None : Number of the Voronoi cell that it came of, over all breaks.
    #[getter]
    fn cell(&self) -> PyResult<Option<u32>> {
        Ok(self.get()?.cell())
    }

    /// int or None : Number of the piece that it broke off; None for a piece of the whole object. Pieces that broke
    /// again have numbers after those of all pieces, and stand in `broken_again` of the report.
    #[getter]
    fn parent(&self) -> PyResult<Option<usize>> {
        Ok(self.get()?.parent())
    }

    /// int : How many breaks led to it.
    #[getter]
    fn generation(&self) -> PyResult<u32> {
        Ok(self.get()?.generation())
    }

    /// int : Cells of its octree: voxels at its surface and larger cells inside; 0 where the method cuts meshes.
    #[getter]
    fn voxels(&self) -> PyResult<u64> {
        Ok(self.get()?.voxels())
    }

    /// float : Volume, cubic units of the mesh; also its mass at density 1.
    #[getter]
    fn volume(&self) -> PyResult<f64> {
        Ok(self.get()?.volume())
    }

    /// numpy.ndarray : (3,) float64. Centre of mass, units of the mesh.
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::vector(py, self.get()?.centre())
    }

    /// numpy.ndarray : (2, 3) float64. Lowest and highest corner of a box that holds it, units of the mesh.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bounds = self.get()?.bounds();
        arrays::rows(py, vec![bounds.low.to_array(), bounds.high.to_array()])
    }

    /// PieceMesh : Its closed mesh: the object's own triangles cut along the cracks where that mesh is closed, else a
    /// smooth surface of its voxels. The first access for any piece cuts the meshes of all; each piece keeps its own.
    #[getter]
    fn mesh(&self, py: Python<'_>) -> PyResult<Py<PieceMesh>> {
        let mesh = self.mesh.get_or_try_init(py, || -> PyResult<Py<PieceMesh>> {
            let (pieces, id) = (Arc::clone(&self.pieces), self.id);
            let mesh = running::run(py, None, move |watcher| {
                let mesh = watcher.stage("make the mesh", |_| pieces.get(id).map(|piece| piece.mesh()));
                mesh.ok_or_else(|| gone(id))
            })?;
            let (pieces, arrays) = (Arc::clone(&self.pieces), MeshArrays::default());
            Py::new(py, PieceMesh { mesh, pieces, id: self.id, arrays })
        })?;
        Ok(mesh.clone_ref(py))
    }

    /// Even points on its surface (weighted sample elimination, Yuksel 2015).
    ///
    /// Parameters
    /// ----------
    /// count : int
    ///     Number of points.
    /// seed : int
    ///     The same seed gives the same points on every machine.
    ///
    /// Returns
    /// -------
    /// Points
    #[pyo3(signature = (count, seed=0))]
    fn sample(&self, py: Python<'_>, count: usize, seed: u64) -> PyResult<Points> {
        if u32::try_from(count).is_err() {
            return Err(parameter(format!("count is {count}; it must be from 0 to {}", u32::MAX)));
        }
        let (pieces, id) = (Arc::clone(&self.pieces), self.id);
        running::run(py, None, move |watcher| {
            let points = watcher.stage("sample the surface", |_| points_of(&pieces, id, count, seed));
            points.ok_or_else(|| gone(id))
        })
    }

    fn __repr__(&self) -> PyResult<String> {
        let piece = self.get()?;
        Ok(format!("Piece({}, volume={:?}, {} voxels)", self.id, piece.volume(), piece.voxels()))
    }
}

fn points_of(pieces: &kintsugi::Pieces, id: usize, count: usize, seed: u64) -> Option<Points> {
    let piece = pieces.get(id)?;
    let (found, mesh, beyond) = (piece.sample(count, seed), piece.mesh(), piece.beyond());
    let cracks = found.triangles.iter().map(|triangle| is_crack(&mesh, *triangle as usize));
    let others = found.triangles.iter().map(|triangle| beyond.get(*triangle as usize).copied().unwrap_or(-1));
    let (cracks, others) = (cracks.collect(), others.collect());
    Some(Points {
        crack: cracks,
        beyond: others,
        positions: found.positions,
        normals: found.normals,
        triangles: found.triangles,
        arrays: PointArrays::default(),
    })
}

fn is_crack(mesh: &Surface, triangle: usize) -> bool {
    mesh.faces.get(triangle).is_some_and(|face| face.side.is_crack())
}

/// The closed mesh of a piece: `piece.mesh`. Adjacent triangles share vertices whatever their attributes, which belong
/// to corners of triangles. Each array is made at its first use, kept with the mesh, and cannot be written to:
/// `piece.mesh.vertices.copy()` can.
#[pyclass(frozen, module = "kintsugi")]
pub struct PieceMesh {
    mesh: Arc<Surface>,
    pieces: Arc<kintsugi::Pieces>,
    id: usize,
    arrays: MeshArrays,
}

/// The arrays of a piece's mesh.
#[derive(Default)]
struct MeshArrays {
    vertices: Kept,
    triangles: Kept,
    crack: Kept,
    beyond: Kept,
    beyond_cell: Kept,
    normals: Kept,
    uv: Kept,
    colors: Kept,
}

impl PieceMesh {
    /// An array (T, 3, N) of the corners.
    fn corners<'py, T: numpy::Element, const N: usize>(
        &self,
        py: Python<'py>,
        kept: &Kept,
        of: fn(&Corner) -> [T; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        kept.get(py, || {
            let all: Vec<[T; N]> = self.mesh.corners.iter().flatten().map(of).collect();
            arrays::array(py, all.into_flattened(), &[self.mesh.corners.len(), 3, N])
        })
    }
}

#[pymethods]
impl PieceMesh {
    /// numpy.ndarray : (N, 3) float64. Positions, units of the object's mesh.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let positions = self.mesh.positions.iter();
        let rows = || arrays::rows(py, positions.map(|position| position.to_array()).collect());
        self.arrays.vertices.get(py, rows)
    }

    /// numpy.ndarray : (T, 3) uint32. Rows of `vertices`, counter-clockwise seen from outside.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.triangles.get(py, || arrays::rows(py, self.mesh.triangles.clone()))
    }

    /// numpy.ndarray : (T,) bool. Whether a triangle is of a crack, and not of the object's surface.
    #[getter]
    fn crack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let faces = self.mesh.faces.iter();
        let list = || arrays::list(py, faces.map(|face| face.side.is_crack()).collect());
        self.arrays.crack.get(py, list)
    }

    /// numpy.ndarray : (T,) int32. The piece on the other side of a crack face; -1 on the object's surface, -2 where no
    /// piece is beyond the crack. The first access for any piece finds those of all.
    #[getter]
    fn beyond<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.beyond.get(py, || {
            let (pieces, id) = (Arc::clone(&self.pieces), self.id);
            let beyond = running::run(py, None, move |watcher| {
                let found =
                    watcher.stage("find neighbours", |_| pieces.get(id).map(|piece| piece.beyond().to_vec()));
                found.ok_or_else(|| gone(id))
            })?;
            arrays::list(py, beyond)
        })
    }

    /// numpy.ndarray : (T,) int32. The Voronoi cell on the other side of a crack face, over all breaks; -1 where it is
    /// unknown and on the object's surface.
    #[getter]
    fn beyond_cell<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let faces = self.mesh.faces.iter();
        let cells = faces.map(|face| face.beyond.map_or(-1, |cell| cell as i32));
        self.arrays.beyond_cell.get(py, || arrays::list(py, cells.collect()))
    }

    /// numpy.ndarray : (T, 3, 3) float32. Unit normals of the corners.
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.corners(py, &self.arrays.normals, |corner| corner.normal.to_array())
    }

    /// numpy.ndarray : (T, 3, 2) float32. Texture coordinates of the corners: the object's own on its surface; on
    /// cracks in units of the mesh.
    #[getter]
    fn uv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.corners(py, &self.arrays.uv, |corner| corner.uv)
    }

    /// numpy.ndarray : (T, 3, 3) uint8. sRGB colours of the corners.
    #[getter]
    fn colors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.corners(py, &self.arrays.colors, |corner| corner.color)
    }

    fn __repr__(&self) -> String {
        let (vertices, triangles) = (self.mesh.positions.len(), self.mesh.triangles.len());
        format!("PieceMesh(of piece {}, {vertices} vertices, {triangles} triangles)", self.id)
    }
}

/// Points on the surface of a piece: `piece.sample(count)`. Each array is made at its first use, kept with the points, and
/// cannot be written to: `points.positions.copy()` can.
#[pyclass(frozen, module = "kintsugi")]
pub struct Points {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    crack: Vec<bool>,
    beyond: Vec<i32>,
    triangles: Vec<u32>,
    arrays: PointArrays,
}

/// The arrays of points.
#[derive(Default)]
struct PointArrays {
    positions: Kept,
    normals: Kept,
    crack: Kept,
    beyond: Kept,
    triangle: Kept,
}

#[pymethods]
impl Points {
    /// numpy.ndarray : (n, 3) float32. Positions, units of the object's mesh.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.positions.get(py, || arrays::rows(py, self.positions.clone()))
    }

    /// numpy.ndarray : (n, 3) float32. Unit normals.
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.normals.get(py, || arrays::rows(py, self.normals.clone()))
    }

    /// numpy.ndarray : (n,) bool. Whether a point is on a crack face, and not on the object's surface.
    #[getter]
    fn crack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.crack.get(py, || arrays::list(py, self.crack.clone()))
    }

    /// numpy.ndarray : (n,) int32. The piece on the other side of the crack face; -1 on the object's surface, -2 where
    /// no piece is beyond the crack.
    #[getter]
    fn beyond<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.beyond.get(py, || arrays::list(py, self.beyond.clone()))
    }

    /// numpy.ndarray : (n,) uint32. Rows of `triangles` of the piece's mesh that the points are on.
    #[getter]
    fn triangle<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.triangle.get(py, || arrays::list(py, self.triangles.clone()))
    }

    fn __len__(&self) -> usize {
        self.positions.len()
    }

    fn __repr__(&self) -> String {
        format!("Points({})", self.positions.len())
    }
}

/// Adds the classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Piece>()?;
    module.add_class::<PieceMesh>()?;
    module.add_class::<Points>()
}
