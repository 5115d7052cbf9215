//! Kintsugi breaks voxel objects live. Modules in the order in which data flows:
//!
//! a file or a built-in shape becomes a [`mesh`]; [`voxelize`] turns it into leaf voxels with colour, normal and
//! coverage; [`svo`] arranges them as sparse voxel octrees; [`import`] runs these steps; a [`shape`] is the geometry of
//! a body; [`fracture`] breaks a shape into parts, which are shapes again; [`bodies`] moves them; [`render`] draws
//! them; [`scene`] is the document from which all of this can be rebuilt; [`ui`] and [`app`] are the window; [`export`]
//! writes results; [`cli`] is the commands. [`geometry`] has boxes, hulls, exact predicates and vector lanes for
//! several of these. [`gpu`] wraps wgpu, without voxels; [`compute`] chooses whether stages run there or on the
//! processor's cores. `files` reads the user's files, `memory` returns freed memory and requests large pages,
//! [`provenance`] is the origin of results, [`registry`] has the tables of methods that settings choose from.

#![deny(missing_docs)]
// Whether threads may share a shape depends on all its contents, down to a device's modules.
#![recursion_limit = "256"]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]

use kintsugi_core::files;
pub use kintsugi_core::{compute, fracture, import, mesh, registry, shape, svo, voxelize};
pub use kintsugi_export as export;
pub use kintsugi_geometry as geometry;
pub use kintsugi_gpu as gpu;
pub use kintsugi_physics as bodies;
pub use kintsugi_render as render;

pub mod memory;
pub mod papers;
pub mod provenance;
pub mod scene;
pub mod ui;
pub mod app;
pub mod cli;

// So that the tests' shared helpers can name this crate alike from inside and from outside.
#[cfg(test)]
extern crate self as kintsugi;
