//! Kintsugi breaks voxel objects live.
//!
//! # In a handful of calls
//!
//! A mesh becomes an [`Object`], a [`Fracture`] breaks it into [`Pieces`], and these are written to files, moved as
//! bodies of a [`World`], or drawn as a [`Picture`]. Everything runs on the processor's cores, unless an [`Engine`] on
//! a graphics adapter is handed over; results have the same bytes. Lengths are in the units of the mesh, which a
//! [`World`] takes as metres; axes are right-handed, y up. `docs/library.md` leads through it.
//!
//! ```
//! use kintsugi::{Format, Fracture, Object};
//!
//! let vase = Object::open("builtin:vase", 5)?;
//! let pieces = vase.fracture(&Fracture::new().cells(12).random_seed(7))?;
//! assert!(pieces.len() > 1);
//! let folder = std::env::temp_dir().join("kintsugi-doc-broken-vase");
//! pieces.export(&folder, &[Format::Glb])?;
//! assert!(folder.join("pieces.glb").is_file() && folder.join("report.json").is_file());
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), kintsugi::Error>(())
//! ```
//!
//! # The rooms below
//!
//! They are in the order in which data flows:
//!
//! a file or a built-in shape becomes a [`mesh`]; [`voxelize`] turns it into leaf voxels with colour, normal and
//! coverage; [`svo`] arranges them as sparse voxel octrees; [`import`] runs these steps, with the unit, axis and edge
//! that [`measures`] has; a [`shape`] is the geometry of a body; [`fracture`] breaks a shape into parts, which are
//! shapes again; [`elastic`] computes the stress of a shape under loads; [`bodies`] moves shapes; [`render`] draws
//! them; [`scene`] is the document from which all of this can be rebuilt; [`ui`] and [`app`] are the window; [`export`]
//! writes results; [`cli`] is the commands. [`geometry`] has boxes, hulls, exact predicates and vector lanes for
//! several of these. [`gpu`] wraps wgpu, without voxels; [`compute`] chooses whether stages run there or on the
//! processor's cores. `files` reads the user's files, `memory` returns freed memory and requests large pages,
//! [`provenance`] is the origin of results, [`launch`] starts the program again, [`registry`] has the tables of methods
//! that settings choose from, [`threads`] lets forked processes work, and others go on without a wait.

#![deny(missing_docs)]
// Whether threads may share a shape depends on all its contents, down to a device's modules.
#![recursion_limit = "256"]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]

use kintsugi_core::files;
pub use kintsugi_core::{
    compute, fracture, import, measures, mesh, parameter, registry, shape, svo, threads, voxelize,
};
pub use kintsugi_elastic as elastic;
pub use kintsugi_export as export;
pub use kintsugi_geometry as geometry;
pub use kintsugi_gpu as gpu;
pub use kintsugi_physics as bodies;
pub use kintsugi_render as render;

pub mod launch;
pub mod memory;
pub mod papers;
pub mod provenance;
pub mod scene;
pub mod ui;
pub mod app;
pub mod cli;
#[cfg(test)]
mod corpus_tests;
mod facade;

pub use bodies::{BodyDef, World, WorldSettings};
pub use export::Format;
pub use facade::{
    Engine, Error, Export, Fracture, Matter, Object, Observer, Picture, Piece, Pieces, Play, Quiet, Subject,
    Viewpoint,
};
pub use glam;
pub use mesh::Mesh;

// So that the tests' shared helpers can name this crate alike from inside and from outside.
#[cfg(test)]
extern crate self as kintsugi;
