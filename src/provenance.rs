//! What made a result of this program: version, commit and command line, for reports, tables and pictures.
//!
//! In: the arguments that the program was started with, once. Out: words that `kintsugi repeat` can act on.

use std::{ffi::OsString, sync::OnceLock};

pub use kintsugi_export::provenance::{Provenance, VERSION};

use crate::mesh::Up;

/// Of its sources: twelve digits, a `+` where they had been changed, or `unknown`.
pub const COMMIT: &str = env!("KINTSUGI_COMMIT");

static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the program's arguments, the first of which is its own name; later calls change nothing.
pub fn started_with(arguments: &[OsString]) {
    let rest = arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    // Where the program lies says nothing of the result.
    let _ = COMMAND.set(std::iter::once("kintsugi".to_owned()).chain(rest).collect());
}

/// The command line as a list, beginning with `kintsugi`; empty in a program that uses the library.
#[must_use]
pub fn command() -> Vec<String> {
    COMMAND.get().cloned().unwrap_or_default()
}

/// Of this run of the program.
#[must_use]
pub fn here() -> Provenance {
    Provenance { commit: COMMIT.into(), command: command(), ..Provenance::default() }
}

/// Of this run, made of this mesh.
#[must_use]
pub fn of_mesh(mesh_sha256: String, up: Up) -> Provenance {
    Provenance { mesh_sha256: Some(mesh_sha256), up, ..here() }
}
