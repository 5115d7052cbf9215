//! Where stages run.
//!
//! In: `cpu`, `gpu` or `auto`. Out: an engine, which calls take as `engine`.

use kintsugi::compute::Choice;
use pyo3::prelude::*;

use crate::{errors, running};

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
pub struct Engine(pub kintsugi::Engine);

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
        running::run(py, None, move |_| kintsugi::Engine::open(choice).map_err(errors::of)).map(Self)
    }

    /// str : "cpu", or "gpu" where stages run on a graphics adapter.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.compute().name()
    }

    /// str : The adapter, or the number of threads.
    #[getter]
    fn adapter(&self) -> String {
        self.0.compute().describe()
    }

    fn __repr__(&self) -> String {
        format!("Engine({:?}): {}", self.name(), self.adapter())
    }
}

/// The engine that was given, else the processor's cores.
pub fn or_cores(engine: Option<&Bound<'_, Engine>>) -> kintsugi::Engine {
    engine.map_or_else(kintsugi::Engine::cores, |engine| engine.get().0.clone())
}

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Engine>()
}
