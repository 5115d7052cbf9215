//! What made a result: version, commit and command line, for reports, tables and pictures.
//!
//! In: the arguments that the program was started with, once. Out: words that `kintsugi repeat` can act on.

use std::{ffi::OsString, sync::OnceLock};

use serde::{Deserialize, Serialize};

use crate::mesh::Up;

/// Of Kintsugi.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
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

/// What made a result. Its version, and where its stages ran, stand beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// As [`COMMIT`].
    pub commit: String,
    /// As [`command`].
    pub command: Vec<String>,
    /// Of the mesh as it was broken or drawn, as [`crate::mesh::Mesh::digest`]; of a scene none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh_sha256: Option<String>,
    /// The axis of the mesh's file that points up, where it is not y.
    #[serde(skip_serializing_if = "Up::is_y")]
    pub up: Up,
    /// Where the command wrote this file, where its name does not say it: a picture among several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl Provenance {
    /// Of this run of the program.
    #[must_use]
    pub fn here() -> Self {
        Self { commit: COMMIT.into(), command: command(), ..Self::default() }
    }

    /// Of this run, made of this mesh.
    #[must_use]
    pub fn of_mesh(mesh_sha256: String, up: Up) -> Self {
        Self { mesh_sha256: Some(mesh_sha256), up, ..Self::here() }
    }
}
