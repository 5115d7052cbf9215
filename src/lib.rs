//! Kintsugi breaks voxel objects live. Modules in the order in which data flows:
//!
//! a file or a built-in shape becomes a [`mesh`]; [`voxelize`] turns it into leaf voxels with colour, normal
//! and coverage; [`svo`] arranges them as sparse voxel octrees; [`import`] is that whole way in; a [`shape`] is
//! what a body is; [`fracture`] breaks a shape into parts, which are shapes again; [`bodies`] moves them;
//! [`render`] draws them;
//! [`scene`] is the document that all of this can be rebuilt from; [`ui`] and [`app`] are the window;
//! [`export`] writes results; [`cli`] is the commands. [`gpu`] knows wgpu and nothing of voxels,
//! [`compute`] says whether stages run there or on the processor's cores. `files` reads what a user names,
//! `memory` gives back what was freed and asks for large pages, [`provenance`] says what made a result.

#![deny(missing_docs)]
// Whether a shape may be shared by threads is asked of all that it holds, down to a device's modules.
#![recursion_limit = "256"]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]

pub mod gpu;
pub mod compute;
mod files;
mod memory;
pub mod provenance;
pub mod mesh;
pub mod svo;
pub mod voxelize;
pub mod shape;
pub mod fracture;
pub mod import;
pub mod bodies;
pub mod render;
pub mod scene;
pub mod export;
pub mod ui;
pub mod app;
pub mod cli;
mod facade;
#[cfg(test)]
mod kernel_tests;
#[cfg(test)]
#[path = "../tests/support/injure.rs"]
mod injure;
#[cfg(test)]
#[path = "../tests/support/skip.rs"]
mod skip;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: memory::LargePages = memory::LargePages;

pub use bodies::{BodyDef, World, WorldSettings};
pub use export::Format;
pub use facade::{
    Engine, Error, Export, Fracture, Matter, Object, Observer, Picture, Piece, Pieces, Quiet, Subject,
    Viewpoint,
};
pub use glam;
pub use mesh::Mesh;

// So that the tests' shared helpers can name this crate alike from inside and from outside.
#[cfg(test)]
extern crate self as kintsugi;
