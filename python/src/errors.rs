//! The exceptions of the package.
//!
//! In: errors of the library. Out: exceptions with the same line of text; each class is an `Error`.

use kintsugi::{export::ExportError as NotWritten, fracture::FractureError as NotBroken, gpu::GpuError};
use pyo3::{create_exception, exceptions::PyException, prelude::*};

create_exception!(
    kintsugi,
    Error,
    PyException,
    "An error of this package; every other one is a subclass. The message says what is wrong and what to do."
);
create_exception!(
    kintsugi,
    MeshError,
    Error,
    "A mesh cannot be read or voxelised: a file is missing or damaged, or no triangle can be used."
);
create_exception!(
    kintsugi,
    ParameterError,
    Error,
    "A parameter is unknown, out of range, of another shape than wanted, or contradicts another one."
);
create_exception!(
    kintsugi,
    FractureError,
    Error,
    "The method cannot break the object with these parameters."
);
create_exception!(kintsugi, ExportError, Error, "A result cannot be written.");
create_exception!(kintsugi, SceneError, Error, "A scene cannot be read, or names what does not exist.");
create_exception!(
    kintsugi,
    DeviceError,
    Error,
    "The graphics adapter failed, lacks memory, or does not exist."
);

/// Text on one line.
fn line(error: &impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The exception of an error of the library.
pub fn of(error: kintsugi::Error) -> PyErr {
    use kintsugi::Error as Failed;
    match error {
        Failed::Import(error) => MeshError::new_err(line(&error)),
        Failed::Parameter(text) => parameter(text),
        Failed::Direction => parameter(line(&error)),
        Failed::Fracture(error) => of_fracture(error),
        Failed::NotOriginal(error) => ExportError::new_err(line(&error)),
        Failed::Export(error) => of_export(error),
        Failed::Gpu(error) => of_gpu(error),
        Failed::Scene(text) => SceneError::new_err(line(&text)),
    }
}

/// The exception of a break that failed.
pub fn of_fracture(error: NotBroken) -> PyErr {
    match error {
        NotBroken::Gpu(error) => of_gpu(error),
        NotBroken::Params(_) | NotBroken::Cancelled => FractureError::new_err(line(&error)),
    }
}

/// The exception of a device that failed.
pub fn of_gpu(error: GpuError) -> PyErr {
    DeviceError::new_err(line(&error))
}

/// The exception of a result that cannot be written.
pub fn of_export(error: NotWritten) -> PyErr {
    ExportError::new_err(line(&error))
}

/// The exception of a parameter.
pub fn parameter(text: impl Into<String>) -> PyErr {
    let text: String = text.into();
    ParameterError::new_err(line(&text))
}

/// Adds the exceptions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("MeshError", py.get_type::<MeshError>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("FractureError", py.get_type::<FractureError>())?;
    module.add("ExportError", py.get_type::<ExportError>())?;
    module.add("SceneError", py.get_type::<SceneError>())?;
    module.add("DeviceError", py.get_type::<DeviceError>())
}
