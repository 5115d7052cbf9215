//! Where stages run.
//!
//! In: `cpu`, `gpu` or `auto`. Out: an engine, which calls take as `engine`.

use kintsugi::compute::Choice;
use pyo3::prelude::*;

use crate::{
    errors::{self, DeviceError},
    running,
};

/// Where octrees are broken and pictures are drawn: on the processor's cores or on a graphics adapter. Results have the
/// same bytes. An adapter compiles its passes at the first call, so keep one engine and hand it to all calls.
///
/// Parameters
/// ----------
/// choice : {"cpu", "gpu", "auto"}
///     "cpu": the processor's cores; no graphics driver is touched. "gpu": the graphics adapter, also one that is only
///     software. "auto": the adapter where it is a real one, else the cores.
///
/// Raises
/// ------
/// DeviceError
///     If "gpu" finds no adapter.
/// ParameterError
///     If `choice` is none of these words.
#[pyclass(frozen, module = "kintsugi")]
pub struct Engine {
    engine: kintsugi::Engine,
    /// The process that opened it.
    process: u32,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (choice=None), text_signature = "(choice=\"cpu\")")]
    fn new(py: Python<'_>, choice: Option<String>) -> PyResult<Self> {
        let choice = match choice.as_deref() {
            None | Some("cpu") => Choice::Cpu,
            Some("gpu") => Choice::Gpu,
            Some("auto") => Choice::Auto,
            Some(other) => {
                return Err(errors::parameter(format!(
                    "choice is {other:?}; it must be \"cpu\", \"gpu\" or \"auto\""
                )));
            }
        };
        let engine = running::run(py, None, move |_| kintsugi::Engine::open(choice).map_err(errors::of))?;
        Ok(Self { engine, process: std::process::id() })
    }

    /// str : "cpu", or "gpu" where stages run on a graphics adapter.
    #[getter]
    fn name(&self) -> &'static str {
        self.engine.compute().name()
    }

    /// str : The adapter, or the number of threads.
    #[getter]
    fn adapter(&self) -> String {
        self.engine.compute().describe()
    }

    fn __repr__(&self) -> String {
        format!("Engine({:?}): {}", self.name(), self.adapter())
    }
}

/// The engine that was given, else the processor's cores.
///
/// # Errors
/// `DeviceError` for the adapter of a process that this one was forked from: its driver's threads stayed there.
pub fn or_cores(engine: Option<&Bound<'_, Engine>>) -> PyResult<kintsugi::Engine> {
    let Some(Engine { engine, process }) = engine.map(|engine| engine.get()) else {
        return Ok(kintsugi::Engine::cores());
    };
    if engine.compute().gpu().is_some() && *process != std::process::id() {
        let why = "the engine's adapter belongs to the process that this one was forked from";
        let what = "start workers by multiprocessing.get_context(\"spawn\"), or use Engine(\"cpu\")";
        return Err(DeviceError::new_err(format!("{why}; {what}")));
    }
    Ok(engine.clone())
}

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Engine>()
}
