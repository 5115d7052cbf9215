//! What an object was broken into.
//!
//! In: a break. Out: a list of pieces; arrays, report, files and a digest of all of it; what touches what.

use std::{path::PathBuf, sync::Arc};

use kintsugi::{
    Export, Format, Observer as _,
    export::{Bond, MeshKind, NamedArray, Numbers, ParameterReport, report::timings_ms},
    gpu::StageTiming,
};
use pyo3::{
    exceptions::{PyIndexError, PyTypeError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyIterator, PyList, PySlice, PyString},
};

use crate::{
    arrays,
    engine::{Engine, or_cores},
    errors, json,
    labelling::{self, Labelling},
    object::Object,
    overlays,
    picture::{self, Settings},
    piece::Piece,
    running,
};

/// What an object was broken into: a sequence of `Piece`, the largest first. `Object.fracture` makes it.
#[pyclass(frozen, module = "kintsugi")]
pub struct Pieces(pub Arc<kintsugi::Pieces>, PyOnceLock<Vec<Py<Piece>>>);

impl Pieces {
    /// The pieces of a break.
    pub fn new(pieces: kintsugi::Pieces) -> Self {
        Self::shared(Arc::new(pieces))
    }

    /// Pieces that others hold, too.
    pub fn shared(pieces: Arc<kintsugi::Pieces>) -> Self {
        Self(pieces, PyOnceLock::new())
    }

    /// The pieces as objects of Python, which keep their meshes.
    fn items(&self, py: Python<'_>) -> PyResult<&Vec<Py<Piece>>> {
        self.1.get_or_try_init(py, || {
            (0..self.0.len()).map(|id| Py::new(py, Piece::new(Arc::clone(&self.0), id))).collect()
        })
    }

    /// Times of the stages of all breaks.
    fn stages(pieces: &kintsugi::Pieces) -> Vec<StageTiming> {
        let steps = &pieces.broken().steps;
        steps.iter().flat_map(|step| step.result.timings.iter().cloned()).collect()
    }
}

#[pymethods]
impl Pieces {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let items = self.items(py)?;
        if let Ok(slice) = index.cast::<PySlice>() {
            let span = slice.indices(items.len() as isize)?;
            let list = PyList::empty(py);
            let mut at = span.start;
            for _ in 0..span.slicelength {
                if let Some(item) = items.get(at as usize) {
                    list.append(item.bind(py))?;
                }
                at += span.step;
            }
            return Ok(list.into_any());
        }
        let wanted: isize = index.extract()?;
        let count = items.len() as isize;
        let at = if wanted < 0 { wanted + count } else { wanted };
        let item = usize::try_from(at).ok().and_then(|at| items.get(at));
        let item = item.ok_or_else(|| {
            PyIndexError::new_err(format!("piece {wanted} is out of range; there are {count} pieces"))
        })?;
        Ok(item.bind(py).clone().into_any())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let list = PyList::empty(py);
        for item in self.items(py)? {
            list.append(item.bind(py))?;
        }
        list.as_any().try_iter()
    }

    /// Object : What was broken.
    #[getter]
    fn object(&self) -> Object {
        Object(self.0.object().clone())
    }

    /// dict : All parameters of the break, also those left at their defaults, as `parameters` of report.json has them.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pieces = &self.0;
        let level = pieces.object().grid.level;
        json::serialized(py, &ParameterReport::of_break(pieces.broken(), pieces.plan(), level))
    }

    /// dict of str to float : Milliseconds of each stage of the break.
    #[getter]
    fn timings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_py(py, &serde_json::Value::Object(timings_ms(&Self::stages(&self.0))))
    }

    /// bool : Whether no crack met the object, so that it is one piece.
    #[getter]
    fn stayed_whole(&self) -> bool {
        self.0.stayed_whole()
    }

    /// The arrays of voxels.npz, without a file: voxels, pieces, cells, planes, seeds, by the names, shapes and types
    /// of docs/files.md.
    ///
    /// Parameters
    /// ----------
    /// names : sequence of str, optional
    ///     Which arrays are made; all, if left out. Others are not made.
    /// progress : callable, optional
    ///     Called as progress(stage, fraction).
    ///
    /// Returns
    /// -------
    /// dict of str to numpy.ndarray
    ///     In the order of the file: `source` (M, 3) int32, ..., `coords` (L, 3) int32, `piece` (L,) int32, `cell` (L,)
    ///     int32, `crack` (L,) uint8, `normal` (L, 3) float32, `coverage` (L,) float32, ..., `seeds` (S, 3) float64,
    ///     ...
    #[pyo3(signature = (names=None, *, progress=None))]
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let pieces = Arc::clone(&self.0);
        let all = running::run(py, progress, move |watcher| {
            watcher
                .stage("make arrays", |progress| pieces.arrays_while(names.as_deref(), progress))
                .map_err(errors::of)
        })?;
        let dict = PyDict::new(py);
        for NamedArray { name, shape, numbers } in all {
            let array = match numbers {
                Numbers::U8(list) => arrays::array(py, list, &shape)?,
                Numbers::I32(list) => arrays::array(py, list, &shape)?,
                Numbers::U32(list) => arrays::array(py, list, &shape)?,
                Numbers::F32(list) => arrays::array(py, list, &shape)?,
                Numbers::F64(list) => arrays::array(py, list, &shape)?,
            };
            dict.set_item(name, array)?;
        }
        Ok(dict)
    }

    /// Drawings of the inside as arrays, as overlays.npz has them.
    ///
    /// Parameters
    /// ----------
    /// names : sequence of str
    ///     What is drawn, by the names of the option --overlays.
    ///
    /// Returns
    /// -------
    /// dict of str to numpy.ndarray
    ///     By the names, shapes and types of docs/files.md.
    fn overlays<'py>(&self, py: Python<'py>, names: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        overlays::of_pieces(py, &self.0, words("names", Some(names))?)
    }

    /// The labels of the published iteration by which pieces are told apart, iteration by iteration (2016, sec. 4.5).
    ///
    /// Returns
    /// -------
    /// Labelling
    fn labelling(&self, py: Python<'_>) -> PyResult<Labelling> {
        labelling::of_pieces(py, &self.0)
    }

    /// Which pieces touch, and where.
    ///
    /// Parameters
    /// ----------
    /// progress : callable, optional
    ///     Called as progress(stage, fraction).
    ///
    /// Returns
    /// -------
    /// Touching
    #[pyo3(signature = (*, progress=None))]
    fn touching(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Touching> {
        let pieces = Arc::clone(&self.0);
        running::run(py, progress, move |watcher| {
            Ok(Touching(watcher.stage("find neighbours", |_| pieces.touching())))
        })
    }

    /// Checks the result from scratch: masses add up, pieces hang together, octrees are valid (docs/checks.md, F1 to
    /// F10).
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     Of each check: `name`, `ok`, and the `figures` behind it, a dict of str to float.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pieces = Arc::clone(&self.0);
        let checks = running::run(py, None, move |_| json::value_of(&pieces.check()))?;
        json::to_py(py, &checks)
    }

    /// The report of the break, as report.json has it, without files.
    ///
    /// Returns
    /// -------
    /// dict
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pieces = Arc::clone(&self.0);
        let report = running::run(py, None, move |_| {
            let mut report = pieces.report(&[], pieces.check());
            report.tell_times(&Self::stages(&pieces));
            json::value_of(&report)
        })?;
        json::to_py(py, &report)
    }

    /// Writes the pieces, voxels.npz and report.json into a folder, which is made if it does not exist. All files
    /// appear together, or none. docs/files.md describes every file.
    ///
    /// Parameters
    /// ----------
    /// folder : str or os.PathLike
    /// formats : sequence of str
    ///     Formats beside the arrays: "glb", "obj", "ply", "usda", "usdc", "usdz", "vox", "vdb", "vdb-fog".
    /// mesh : {"original", "smooth", "voxels"}, optional
    ///     Which mesh of a piece is written. Without it: the object's own triangles cut along the cracks where its mesh
    ///     is closed, else smooth ones.
    /// progress : callable, optional
    ///     Called as progress(stage, fraction).
    ///
    /// Returns
    /// -------
    /// dict
    ///     The report.
    ///
    /// Raises
    /// ------
    /// ExportError
    ///     If a file cannot be written, or "original" meshes cannot be made.
    /// ParameterError
    ///     If a format or a kind of mesh is unknown.
    #[pyo3(
        signature = (folder, formats=None, *, mesh=None, progress=None),
        text_signature = "($self, folder, formats=(), *, mesh=None, progress=None)"
    )]
    fn export<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        formats: Option<&Bound<'py, PyAny>>,
        mesh: Option<String>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = words("formats", formats)?;
        let formats = names.iter().map(|name| format_of(name)).collect::<PyResult<Vec<Format>>>()?;
        let mesh = mesh.map(|name| kind_of(&name)).transpose()?;
        let export = Export { formats, mesh, ..Export::default() };
        let pieces = Arc::clone(&self.0);
        let report = running::run(py, progress, move |watcher| {
            json::value_of(&pieces.export_as(&folder, &export, watcher).map_err(errors::of)?)
        })?;
        json::to_py(py, &report)
    }

    /// Draws the pieces where they were in the object, which stands on a floor.
    ///
    /// Parameters
    /// ----------
    /// width, height : int
    ///     Pixels, 1 to 8192.
    /// view : {"three-quarter", "front", "back", "left", "right", "top"}
    ///     Side to look from.
    /// color_by : {"material", "piece", "normal", "crack", "level", ...}
    ///     What colours show; also a quantity of the bodies, by the names of `kintsugi render --color-by`.
    /// apart : float
    ///     Moves pieces apart by this times their distance from the middle of the object.
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
        signature = (width=640, height=480, *, view=None, color_by=None, apart=0.0, transparent=false, engine=None),
        text_signature = "($self, width=640, height=480, *, view=\"three-quarter\", color_by=\"material\", apart=0.0, \
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
        apart: f64,
        transparent: bool,
        engine: Option<&Bound<'py, Engine>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (size, engine) = ([width, height], or_cores(engine)?);
        let settings = Settings { size, view, color_by, apart, transparent, engine };
        let pieces = Arc::clone(&self.0);
        picture::draw(py, settings, move |picture, engine| picture.draw_on(engine, &*pieces))
    }

    /// SHA-256 of `arrays()`: the same break has the same digest on every machine. Of each array are hashed, in order:
    /// its name, a zero byte, NumPy's name of its type ("<f4"), a zero byte, the number of axes and the length of each
    /// axis (uint64), and the elements in C order, all numbers little-endian.
    ///
    /// Returns
    /// -------
    /// str
    ///     64 hexadecimal digits.
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        let pieces = Arc::clone(&self.0);
        running::run(py, None, move |watcher| {
            watcher.stage("hash arrays", |progress| pieces.digest_while(progress)).map_err(errors::of)
        })
    }

    fn __repr__(&self) -> String {
        format!("Pieces(of {:?}, {} pieces)", self.0.object().file, self.0.len())
    }
}

/// Words of a sequence; one word may come by itself.
fn words(name: &str, of: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(of) = of else { return Ok(Vec::new()) };
    if of.cast::<PyString>().is_ok() {
        return Ok(vec![of.extract()?]);
    }
    let wrong = |_: PyErr| PyTypeError::new_err(format!("{name} must be a sequence of str"));
    let items = of.try_iter().map_err(wrong)?;
    let word =
        |item: PyResult<Bound<'_, PyAny>>| -> PyResult<String> { item?.extract::<String>().map_err(wrong) };
    items.map(word).collect()
}

/// The format of this name.
fn format_of(name: &str) -> PyResult<Format> {
    Format::named(name).ok_or_else(|| {
        let known = Format::names(|_| true);
        errors::parameter(format!("there is no format {name}; there are {known}"))
    })
}

/// The kind of mesh of this name.
fn kind_of(name: &str) -> PyResult<MeshKind> {
    let all = [MeshKind::Original, MeshKind::Smooth, MeshKind::Voxels];
    all.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let known = all.map(MeshKind::name).join(", ");
        errors::parameter(format!("mesh is {name:?}; it must be one of {known}"))
    })
}

/// Which pieces touch: a row for each pair of neighbours. `Pieces.touching` makes it. Each access makes an array.
#[pyclass(frozen, module = "kintsugi")]
pub struct Touching(Vec<Bond>);

impl Touching {
    fn vectors<'py>(&self, py: Python<'py>, of: fn(&Bond) -> [f64; 3]) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, self.0.iter().map(of).collect())
    }
}

#[pymethods]
impl Touching {
    /// numpy.ndarray : (K, 2) int32. Numbers of the two pieces, the lower one first; rows ascend.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, self.0.iter().map(|bond| bond.pieces.map(|piece| piece as i32)).collect())
    }

    /// numpy.ndarray : (K,) float64. Area of the crack that both share, square units of the mesh.
    #[getter]
    fn area<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::list(py, self.0.iter().map(|bond| bond.area).collect())
    }

    /// numpy.ndarray : (K, 3) float64. Centre of that area, units of the mesh.
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vectors(py, |bond| bond.centre.to_array())
    }

    /// numpy.ndarray : (K, 3) float64. Mean unit normal, from the first piece to the second.
    #[getter]
    fn normal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vectors(py, |bond| bond.normal.to_array())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("Touching({} pairs)", self.0.len())
    }
}

/// Adds the classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Pieces>()?;
    module.add_class::<Touching>()
}
