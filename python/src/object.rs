//! Objects that can be broken.
//!
//! In: a voxelised mesh. Out: its figures and voxels as arrays, its pieces, its picture.

use kintsugi::{Fracture, export::coordinates};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    arrays,
    engine::{Engine, or_cores},
    errors, json,
    mesh::Mesh,
    parameters,
    picture::{self, Settings},
    pieces::Pieces,
    running,
};

/// A mesh with its octree, ready to be broken; `voxelise` makes it. Lengths are in units of the mesh, axes are
/// right-handed with y up.
#[pyclass(frozen, module = "kintsugi")]
pub struct Object(pub kintsugi::Object);

#[pymethods]
impl Object {
    /// int : Level of the leaves: 2^level voxels along the longest side.
    #[getter]
    fn level(&self) -> u32 {
        self.0.grid.level
    }

    /// int : Cells of the octree: voxels at the surface, each a row of `coords`, and larger cells inside.
    #[getter]
    fn voxels(&self) -> u64 {
        self.0.mass.voxels
    }

    /// float : Volume of the octree, cubic units of the mesh.
    #[getter]
    fn volume(&self) -> f64 {
        self.0.mass.volume * self.0.grid.h.powi(3)
    }

    /// numpy.ndarray : (2, 3) float64. Lowest and highest corner of the triangles, units of the mesh.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, vec![self.0.bounds.low.to_array(), self.0.bounds.high.to_array()])
    }

    /// float : Edge of a voxel, units of the mesh.
    #[getter]
    fn edge(&self) -> f64 {
        self.0.grid.h
    }

    /// dict : Findings about the mesh, by the names of `health` in report.json: `closed`, `open_edges`, `volume`, ...
    #[getter]
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::serialized(py, &self.0.health)
    }

    /// list of str : Warnings of the reader; what voxelising found stands in `health["notes"]`.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    /// Mesh : The mesh that it was made of, turned so that y points up. Voxelising it again, at another level, does not
    /// check it again.
    #[getter]
    fn mesh(&self) -> Mesh {
        let object = &self.0;
        Mesh::from(kintsugi::import::ReadMesh::again(
            object.file.clone(),
            object.mesh.clone(),
            object.known.clone(),
            object.up,
            object.warnings.clone(),
        ))
    }

    /// numpy.ndarray : (4, 4) float64. Transform from the octree's grid, in which a voxel has the edge 1, to the mesh:
    /// `mesh = grid_to_mesh @ [x, y, z, 1]`.
    #[getter]
    fn grid_to_mesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::array(py, self.0.grid.to_mesh().transpose().to_cols_array().to_vec(), &[4, 4])
    }

    /// numpy.ndarray : (M, 3) int32. Voxels at the surface, in Morton order: x, y, z from 0 to 2^level - 1. Array
    /// `source` of voxels.npz.
    #[getter]
    fn coords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let leaves = &self.0.forest.leaves;
        let coords = py.detach(|| coordinates(leaves.keys.as_slice()));
        arrays::array(py, coords, &[leaves.len(), 3])
    }

    /// numpy.ndarray : (M,) float32. Share of each voxel of `coords` that is solid, above 0 to 1. Array
    /// `source_coverage` of voxels.npz.
    #[getter]
    fn coverage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::list(py, self.0.forest.leaves.coverage.clone())
    }

    /// tuple of numpy.ndarray : Where the object is hit where no impact is given, (3,) float64 in units of the mesh,
    /// and the unit direction of the blow, (3,) float64.
    #[getter]
    fn default_impact<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let impact = running::aside(py, || self.0.default_impact())?;
        Ok((arrays::vector(py, impact.point)?, arrays::vector(py, impact.direction)?))
    }

    /// Breaks the object. The same object, parameters and `rng` give the same bytes on every machine. Ctrl+C
    /// cancels the break.
    ///
    /// Parameters
    /// ----------
    /// seeds : int or array_like (S, 3)
    ///     How many Voronoi seeds are drawn, 1 to 8192; or the seeds themselves, points in units of the mesh.
    /// impact : array_like (3,), optional
    ///     Where the object is hit, units of the mesh; `default_impact` without it.
    /// direction : array_like (3,), optional
    ///     Which way the blow goes, any length but zero; towards the middle of the bounds without it.
    /// generations : int
    ///     How many times the largest eighth of the pieces breaks again, this break included; 1 to 64.
    /// progress : callable, optional
    ///     Called as progress(stage, fraction).
    /// engine : Engine, optional
    ///     Where it is broken; on the processor's cores without one.
    /// **parameters
    ///     All others by the names of the table `fracture` of a scene file: `rng=7`, `surface="rough"`,
    ///     `preset="radial"`, `interior={"material": "wood"}`. `kintsugi.parameters()` lists them.
    ///     `seeds_file="cracks.png"` breaks along the lines of a drawing, as seen along the blow.
    ///
    /// Returns
    /// -------
    /// Pieces
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If a parameter is unknown or out of range; the message names it.
    /// FractureError
    ///     If the method cannot break this object so.
    /// DeviceError
    ///     If the graphics adapter fails.
    #[pyo3(
        signature = (
            *, seeds=None, impact=None, direction=None, generations=1, progress=None, engine=None, **parameters
        ),
        text_signature = "($self, *, seeds=40, impact=None, direction=None, generations=1, progress=None, engine=None, \
                          **parameters)"
    )]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn fracture(
        &self,
        py: Python<'_>,
        seeds: Option<&Bound<'_, PyAny>>,
        impact: Option<&Bound<'_, PyAny>>,
        direction: Option<&Bound<'_, PyAny>>,
        generations: u32,
        progress: Option<&Bound<'_, PyAny>>,
        engine: Option<&Bound<'_, Engine>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Pieces> {
        let how = parameters::fracture(seeds, (impact, direction), generations, parameters)?;
        let (object, engine) = (self.0.clone(), or_cores(engine)?);
        let pieces = running::run(py, progress, move |watcher| broken(&object, &engine, &how, watcher))?;
        Ok(Pieces::new(pieces))
    }

    /// Draws the object, standing on a floor.
    ///
    /// Parameters
    /// ----------
    /// width, height : int
    ///     Pixels, 1 to 8192.
    /// view : {"three-quarter", "front", "back", "left", "right", "top"}
    ///     Side to look from.
    /// color_by : {"material", "piece", "normal", "crack", "level", ...}
    ///     What colours show; also a quantity of the bodies, by the names of `kintsugi render --color-by`.
    /// transparent : bool
    ///     Leaves out background and floor.
    /// engine : Engine, optional
    ///     Where it is drawn; on the processor's cores without one.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     (height, width, 4) uint8, sRGB and alpha.
    #[pyo3(
        signature = (width=640, height=480, *, view=None, color_by=None, transparent=false, engine=None),
        text_signature = "($self, width=640, height=480, *, view=\"three-quarter\", color_by=\"material\", \
                          transparent=False, engine=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn picture<'py>(
        &self,
        py: Python<'py>,
        width: u32,
        height: u32,
        view: Option<String>,
        color_by: Option<String>,
        transparent: bool,
        engine: Option<&Bound<'py, Engine>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (size, engine) = ([width, height], or_cores(engine)?);
        let settings = Settings { size, view, color_by, apart: 0.0, transparent, engine };
        let object = self.0.clone();
        picture::draw(py, settings, move |picture, engine| picture.draw_on(engine, &object))
    }

    fn __repr__(&self) -> String {
        let (file, level, voxels) = (&self.0.file, self.0.grid.level, self.0.mass.voxels);
        format!("Object({file:?}, level={level}, {voxels} voxels)")
    }
}

/// Breaks an object on the worker's thread.
fn broken(
    object: &kintsugi::Object,
    engine: &kintsugi::Engine,
    how: &Fracture,
    watcher: &running::Watcher,
) -> PyResult<kintsugi::Pieces> {
    engine.compute().takes(object.grid.level).map_err(errors::of_gpu)?;
    object.fracture_on(engine, how, watcher).map_err(errors::of)
}

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Object>()
}
