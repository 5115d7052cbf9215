//! Meshes, and voxelising them.
//!
//! In: arrays of vertices and triangles, or a file. Out: a mesh whose triangles can be used; an object of it.

use std::path::PathBuf;

use kintsugi::{
    Observer as _,
    import::{ImportError, ReadMesh, display_name, read_while},
    measures::Measures,
    mesh::{Objects, Units, Up},
    svo::MAX_LEVEL,
    voxelize::Progress,
};
use pyo3::prelude::*;

use crate::{
    arrays::{self, Kept},
    errors,
    object::Object,
    running,
};

/// A triangle mesh in its own units. Triangles are counter-clockwise seen from outside.
///
/// Parameters
/// ----------
/// vertices : array_like, (N, 3), any type of number
///     Kept as float32.
/// triangles : array_like, (T, 3), whole numbers
///     Rows of `vertices`. Triangles that name a missing vertex, or one that is not finite, are left out; `warnings`
///     says so.
/// name : str
///     Name for messages and reports.
/// colors : array_like, (N, 3), whole numbers 0 to 255, optional
///     sRGB colours of the vertices.
///
/// Raises
/// ------
/// MeshError
///     If no triangle can be used.
/// ParameterError
///     If an array has another shape, or a number is out of range.
///
/// Notes
/// -----
/// Each array of a mesh is made at its first use, kept with the mesh, and cannot be written to: `mesh.vertices.copy()` can.
#[pyclass(frozen, module = "kintsugi")]
pub struct Mesh(pub ReadMesh, MeshArrays);

/// The arrays of a mesh.
#[derive(Default)]
struct MeshArrays {
    vertices: Kept,
    triangles: Kept,
    colors: Kept,
}

impl From<ReadMesh> for Mesh {
    fn from(mesh: ReadMesh) -> Self {
        Self(mesh, MeshArrays::default())
    }
}

#[pymethods]
impl Mesh {
    #[new]
    #[pyo3(
        signature = (vertices, triangles, *, name=None, colors=None),
        text_signature = "(vertices, triangles, *, name=\"mesh\", colors=None)"
    )]
    fn new(
        vertices: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        name: Option<String>,
        colors: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let name = name.unwrap_or_else(|| "mesh".to_owned());
        let positions = arrays::vertices("vertices", vertices)?;
        let triangles = arrays::triangles("triangles", triangles)?;
        let colors = match colors {
            Some(colors) => arrays::colors("colors", colors)?,
            None => Vec::new(),
        };
        if !colors.is_empty() && colors.len() != positions.len() {
            let (colors, vertices) = (colors.len(), positions.len());
            return Err(errors::parameter(format!(
                "colors has {colors} rows for {vertices} vertices; give one a vertex"
            )));
        }
        let mesh = kintsugi::Mesh { positions, triangles, colors, ..kintsugi::Mesh::default() };
        ReadMesh::of_mesh(&name, mesh).map(Self::from).map_err(|error| errors::of(error.into()))
    }

    /// Reads a mesh file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     An OBJ, PLY, STL, OFF, glTF, GLB, FBX, USD, USDZ or VOX file, or "builtin:" with vase, column, box, sphere,
    ///     shell, cavity, statue or another built-in shape.
    /// progress : callable, optional
    ///     Called as progress(stage, fraction).
    ///
    /// Returns
    /// -------
    /// Mesh
    ///
    /// Raises
    /// ------
    /// MeshError
    ///     If the file is missing, damaged or without triangles.
    #[staticmethod]
    #[pyo3(signature = (path, *, progress=None))]
    fn read(py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let file = path.to_string_lossy().into_owned();
        let read = running::run(py, progress, move |watcher| {
            let read = watcher.stage("read", |progress| read_while(&file, progress));
            read.map_err(|error| errors::of(error.into()))
        });
        read.map(Self::from)
    }

    /// numpy.ndarray : (N, 3) float32. Positions in units of the mesh.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.1.vertices.get(py, || arrays::rows(py, self.0.mesh.positions.clone()))
    }

    /// numpy.ndarray : (T, 3) uint32. Rows of `vertices`, counter-clockwise seen from outside.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.1.triangles.get(py, || arrays::rows(py, self.0.mesh.triangles.clone()))
    }

    /// numpy.ndarray or None : (N, 3) uint8. sRGB colours of the vertices, where the mesh has any.
    #[getter]
    fn colors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let colors = &self.0.mesh.colors;
        if colors.is_empty() {
            return Ok(None);
        }
        self.1.colors.get(py, || arrays::rows(py, colors.clone())).map(Some)
    }

    /// str : The file as it was named, or the name that was given.
    #[getter]
    fn name(&self) -> &str {
        &self.0.file
    }

    /// list of str : What was wrong with the file or the arrays and did not prevent reading; of the mesh of an `Object` also of how
    /// many objects that do not touch it is.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    /// str : SHA-256 of `vertices` and then `triangles`, little-endian: 64 hexadecimal digits. Colours do not count.
    #[getter]
    fn sha256(&self, py: Python<'_>) -> String {
        let mesh = &self.0.mesh;
        py.detach(|| mesh.digest())
    }

    /// The objects of the file (nodes of glTF, objects or groups of OBJ), each with its name, in the coordinates of the file.
    ///
    /// Parameters
    /// ----------
    /// which : {"touching", "apart", "together"}
    ///     Which parts of the file are one object: those that touch or overlap, none, or all of them.
    /// progress : callable, optional
    ///     Called as progress(stage, fraction).
    ///
    /// Returns
    /// -------
    /// list of tuple of (str, Mesh)
    ///     One where the file is one object.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If `which` is none of these, or there are too many objects.
    #[pyo3(
        signature = (which=None, *, progress=None),
        text_signature = "($self, which=\"touching\", *, progress=None)"
    )]
    fn objects(
        &self,
        py: Python<'_>,
        which: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(String, Self)>> {
        let how = match which {
            None | Some("touching") => Objects::Touching,
            Some("apart") => Objects::Apart,
            Some("together") => Objects::Together,
            Some(other) => {
                return Err(errors::parameter(format!(
                    "which is {other:?}; it must be one of touching, apart, together"
                )));
            }
        };
        let mesh = self.0.clone();
        let objects = running::run(py, progress, move |watcher| {
            let objects = watcher.stage("tell objects apart", |progress| mesh.objects(how, progress));
            let mut objects = objects.map_err(|why| errors::parameter(format!("{}: {why}", mesh.file)))?;
            if objects.is_empty() {
                objects.push((display_name(&mesh.file), mesh));
            }
            Ok(objects)
        })?;
        Ok(objects.into_iter().map(|(name, mesh)| (name, Self::from(mesh))).collect())
    }

    fn __repr__(&self) -> String {
        let mesh = &self.0.mesh;
        let (name, vertices, triangles) = (&self.0.file, mesh.positions.len(), mesh.triangles.len());
        format!("Mesh({name:?}, {vertices} vertices, {triangles} triangles)")
    }
}

/// The axis of this name.
fn up_of(name: &str) -> PyResult<Up> {
    let plain = name.replace("minus-", "-");
    Up::ALL.into_iter().find(|up| up.name() == plain).ok_or_else(|| {
        let known = Up::ALL.map(Up::name).join(", ");
        errors::parameter(format!("up is {name:?}; it must be one of {known}"))
    })
}

/// A leaf level in range.
pub fn level_of(level: i64) -> PyResult<u32> {
    let fine = u32::try_from(level).ok().filter(|level| (1..=MAX_LEVEL).contains(level));
    fine.ok_or_else(|| errors::parameter(format!("level is {level}; it must be from 1 to {MAX_LEVEL}")))
}

/// The edge of a voxel as Python gives it.
#[derive(FromPyObject)]
pub enum Length {
    /// Metres.
    Metres(f64),
    /// A number and a unit, as "2mm".
    Text(String),
}

/// What is chosen of a mesh file; `None` for what is not named.
pub fn measures_of(units: Option<&str>, up: Option<&str>, edge: Option<Length>) -> PyResult<Measures> {
    let unit = |name: &str| {
        Units::ALL.into_iter().find(|unit| unit.name() == name).ok_or_else(|| {
            let known = Units::ALL.map(Units::name).join(", ");
            errors::parameter(format!("units is {name:?}; it must be one of {known}"))
        })
    };
    let voxel_size = match edge {
        None => None,
        Some(Length::Metres(edge)) if edge > 0.0 && edge.is_finite() => Some(edge),
        Some(Length::Metres(edge)) => {
            return Err(errors::parameter(format!(
                "voxel_size is {edge}; it must be a length above 0, in metres"
            )));
        }
        Some(Length::Text(text)) => {
            let length = Units::length(&text);
            Some(length.map_err(|wanted| errors::parameter(format!("voxel_size is {text:?}; {wanted}")))?)
        }
    };
    Ok(Measures { units: units.map(unit).transpose()?, up: up.map(up_of).transpose()?, voxel_size })
}

/// Makes an octree of a mesh (Domaradzki & Martyn 2016, sec. 3). A mesh of several objects that do not touch becomes one object; a
/// UserWarning, and `warnings` of the object, say of how many.
///
/// Parameters
/// ----------
/// mesh : Mesh
/// level : int, optional
///     Level of the leaves, 1 to 12: 2^level voxels along the longest side; in its place `voxel_size`.
/// up : {"y", "z", "x", "-y", "-z", "-x"}
///     The axis of the mesh that points up; the mesh is turned so that y does. "minus-z" is "-z", too.
/// progress : callable, optional
///     Called as progress(stage, fraction).
/// units : {"mm", "cm", "m", "in", "ft"}, optional
///     Unit of the mesh's lengths: the object is then in metres.
/// voxel_size : float or str, optional
///     Widest edge of a voxel, metres or a text as "2mm": the lowest level whose voxels are no wider.
///
/// Returns
/// -------
/// Object
///
/// Raises
/// ------
/// MeshError
///     If the mesh cannot be voxelised.
/// ParameterError
///     If `level`, `up`, `units` or `voxel_size` is out of range, or both or neither of `level` and `voxel_size` are given.
#[pyfunction]
#[pyo3(
    signature = (mesh, level=None, up=None, progress=None, *, units=None, voxel_size=None),
    text_signature = "(mesh, level=None, up=\"y\", progress=None, *, units=None, voxel_size=None)"
)]
pub fn voxelise(
    py: Python<'_>,
    mesh: &Bound<'_, Mesh>,
    level: Option<i64>,
    up: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
    units: Option<String>,
    voxel_size: Option<Length>,
) -> PyResult<Object> {
    let measures = measures_of(units.as_deref(), up.as_deref(), voxel_size)?;
    let level = level.map(level_of).transpose()?;
    if level.is_some() == measures.voxel_size.is_some() {
        return Err(errors::parameter("give either level or voxel_size"));
    }
    // A mesh that was turned before stays as it is, unless another axis is named.
    let measures = Measures { up: measures.up.filter(|up| !up.is_y()), ..measures };
    let mesh = mesh.get().0.clone();
    let object = running::run(py, progress, move |watcher| {
        let refused = |error: ImportError| errors::of(kintsugi::Error::from(error));
        let mut mesh = measures.apply(&mesh).map_err(refused)?;
        if mesh.mesh.parts.len() > 1 {
            let apart = |progress: &Progress| mesh.mesh.joined_objects(progress);
            let line = watcher.stage("tell objects apart", apart);
            let line = line.map(|line| format!("{line}; `Mesh.objects` gives each of them"));
            // A mesh of an object that was made before has the line.
            if let Some(line) = line.filter(|line| !mesh.warnings.contains(line)) {
                watcher.note(&format!("{}: {line}", mesh.file));
                mesh.warnings.push(line);
            }
        }
        let level = measures.level(&mesh, level, MAX_LEVEL).map_err(refused)?;
        kintsugi::Object::of(&mesh, level, watcher).map_err(errors::of)
    });
    object.map(Object)
}

/// Adds the class and the function to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Mesh>()?;
    module.add_function(wrap_pyfunction!(voxelise, module)?)
}
