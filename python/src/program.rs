//! The program, from Python.
//!
//! In: the words of a command line. Out: what the program prints and writes, and its exit code.

use std::path::PathBuf;

use kintsugi::launch::{Launch, set_launch};
use pyo3::prelude::*;

/// Runs the program `kintsugi` in this process, as the command of that name does. It prints to the process's own stdout
/// and stderr. A command takes over Ctrl+C, which ends the process; `kintsugi.run` starts a process of its own.
///
/// Parameters
/// ----------
/// arguments : sequence of str or os.PathLike
///     As `sys.argv`: the first is the program's own name.
/// launch : sequence of str or os.PathLike, optional
///     The command line that starts the program again, without the program's own arguments; for commands that run parts of
///     their work in processes of their own. Without it, the executable of this process.
/// share : str or os.PathLike, optional
///     The folder that has `assets/scenes`.
///
/// Returns
/// -------
/// int
///     The exit code: 0 done, 1 a result that is not good, 2 bad arguments or input, 3 no usable graphics adapter.
#[pyfunction]
#[pyo3(signature = (arguments, launch=None, share=None))]
pub fn main(
    py: Python<'_>,
    arguments: Vec<PathBuf>,
    launch: Option<Vec<PathBuf>>,
    share: Option<PathBuf>,
) -> u8 {
    // What Python has not written yet comes first. There may be no such stream.
    for stream in ["stdout", "stderr"] {
        let stream = py.import("sys").and_then(|sys| sys.getattr(stream));
        let _ = stream.and_then(|stream| stream.call_method0("flush"));
    }
    if let Some((program, before)) = launch.as_deref().and_then(<[PathBuf]>::split_first) {
        let arguments = before.iter().cloned().map(PathBuf::into_os_string).collect();
        set_launch(Launch { program: program.clone(), arguments, share });
    }
    kintsugi::app::report_panics();
    py.detach(|| kintsugi::cli::main(arguments.into_iter().map(PathBuf::into_os_string)))
}

/// Adds the function to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)
}
