//! Origin of this program's results: version, commit and command line, for reports, tables and pictures.
//!
//! In: the arguments that the program was started with, once. Out: the command line for `kintsugi repeat`; words of
//! other command lines, quoted.

use std::{ffi::OsString, sync::OnceLock};

pub use kintsugi_export::provenance::{Provenance, VERSION};

use crate::mesh::Up;

/// Commit of the sources: twelve digits, with `+` if they had changes, or `unknown`.
pub const COMMIT: &str = env!("KINTSUGI_COMMIT");

static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Stores the program's arguments, the first of which is its own name; later calls change nothing.
pub fn started_with(arguments: &[OsString]) {
    let rest = arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    // The program's path does not affect the result.
    let _ = COMMAND.set(std::iter::once("kintsugi".to_owned()).chain(rest).collect());
}

/// The command line as a list, beginning with `kintsugi`; empty in a program that uses the library.
#[must_use]
pub fn command() -> Vec<String> {
    COMMAND.get().cloned().unwrap_or_default()
}

/// The origin of results of this run.
#[must_use]
pub fn here() -> Provenance {
    Provenance { commit: COMMIT.into(), command: command(), ..Provenance::default() }
}

/// The origin of a result of this run from this mesh.
#[must_use]
pub fn of_mesh(mesh_sha256: String, up: Up) -> Provenance {
    Provenance { mesh_sha256: Some(mesh_sha256), up, ..here() }
}

/// Quotes a word for a POSIX shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
