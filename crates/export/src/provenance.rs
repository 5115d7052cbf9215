//! Origin of a result: version, commit and command line, for reports, tables and pictures.
//!
//! The program fills a [`Provenance`] in; `kintsugi repeat` reads it.

use serde::{Deserialize, Serialize};

use crate::mesh::Up;

/// Version of Kintsugi.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Origin of a result. The version and the backend are separate fields of reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Commit of the sources: twelve digits, with `+` if they had changes, or `unknown`.
    pub commit: String,
    /// The command line as a list, beginning with `kintsugi`; empty in a program that uses the library.
    pub command: Vec<String>,
    /// Digest of the mesh as it was broken or drawn, [`crate::mesh::Mesh::digest`]; `None` for a scene.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh_sha256: Option<String>,
    /// The axis of the mesh's file that points up, if it is not y.
    #[serde(skip_serializing_if = "Up::is_y")]
    pub up: Up,
    /// The output path of this file in the command, if its name does not follow from it: a picture among several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}
