//! Single breaks of the recipe of a data set.
//!
//! In: recipe.json, and the objects that Python has voxelised of its meshes. Out: the files of one break after the other.
//! `kintsugi.data.Recipe` is what users see of it.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kintsugi::cli::{CliError, RecipeMaker as Maker};
use pyo3::prelude::*;

use crate::{
    engine::{Engine, or_cores},
    errors::Error,
    object::Object,
    running,
};

/// Makes single breaks of a recipe. Its calls wait for each other.
///
/// Parameters
/// ----------
/// file : str or os.PathLike
///     The recipe.json of a set.
/// meshes : str or os.PathLike, optional
///     The folder in which the files of its meshes are looked for, by their contents.
///
/// Raises
/// ------
/// Error
///     If the file is no recipe.
#[pyclass(frozen, module = "kintsugi")]
pub struct RecipeMaker(Arc<Mutex<Maker>>);

/// Mesh, level, axis that points up, unit, and edge of a voxel of an object.
type ObjectOf = (String, Option<u32>, String, Option<String>, Option<f64>);

#[pymethods]
impl RecipeMaker {
    #[new]
    #[pyo3(signature = (file, meshes=None))]
    fn new(file: PathBuf, meshes: Option<PathBuf>) -> PyResult<Self> {
        let maker = Maker::read(&file, meshes.as_deref()).map_err(failed)?;
        Ok(Self(Arc::new(Mutex::new(maker))))
    }

    /// What the object of a job follows from.
    ///
    /// Returns
    /// -------
    /// tuple of str, int or None, str, str or None, float or None
    ///     SHA-256 of the mesh file (the name of a built-in shape), level, axis that points up, unit, and edge of a voxel in
    ///     metres, which decides where there is no level. Jobs with the same have the same object.
    fn object_of(&self, py: Python<'_>, job: usize) -> PyResult<ObjectOf> {
        let maker = Arc::clone(&self.0);
        // Another thread may be making a break, and other threads of Python go on meanwhile.
        py.detach(move || {
            let found = lock(&maker).object_of(job).map_err(failed);
            found.map(|(mesh, level, measures)| {
                let units = measures.units.map(|units| units.name().to_owned());
                let level = measures.voxel_size.is_none().then_some(level);
                (mesh, level, measures.up.unwrap_or_default().name().to_owned(), units, measures.voxel_size)
            })
        })
    }

    /// The file of a job's mesh, or "builtin:" and the name of its shape.
    fn mesh(&self, py: Python<'_>, job: usize) -> PyResult<OsString> {
        let maker = Arc::clone(&self.0);
        // Files are read to tell them by their contents.
        py.detach(move || lock(&maker).mesh(job).map(PathBuf::into_os_string).map_err(failed))
    }

    /// Makes the break of a job.
    ///
    /// Parameters
    /// ----------
    /// job : int
    /// object : Object
    ///     The mesh of the job, voxelised as `object_of` says.
    /// folder : str or os.PathLike
    ///     Where its files are put, as in the folder of a set.
    /// engine : Engine, optional
    ///     Where it is broken; on the processor's cores without one.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If it fails, or is not the recipe's break; its files are in the folder then all the same.
    #[pyo3(signature = (job, object, folder, engine=None))]
    fn make(
        &self,
        py: Python<'_>,
        job: usize,
        object: &Bound<'_, Object>,
        folder: PathBuf,
        engine: Option<&Bound<'_, Engine>>,
    ) -> PyResult<()> {
        let (maker, object, engine) = (Arc::clone(&self.0), object.get().0.clone(), or_cores(engine)?);
        running::run(py, None, move |_| lock(&maker).make(job, &object, &engine, &folder).map_err(failed))
    }
}

fn lock(maker: &Mutex<Maker>) -> MutexGuard<'_, Maker> {
    maker.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: CliError) -> PyErr {
    Error::new_err(error.to_string())
}

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RecipeMaker>()
}
