//! What made a result: version, commit and command line, for reports, tables and pictures.
//!
//! The program fills a [`Provenance`] in; `kintsugi repeat` reads it.

use serde::{Deserialize, Serialize};

use crate::mesh::Up;

/// Of Kintsugi.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What made a result. Its version, and where its stages ran, stand beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Of the sources: twelve digits, a `+` where they had been changed, or `unknown`.
    pub commit: String,
    /// The command line as a list, beginning with `kintsugi`; empty in a program that uses the library.
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
