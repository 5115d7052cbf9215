//! From a mesh to the pieces of a broken object, in the order in which data flows:
//!
//! a file or a built-in shape becomes a [`mesh`]; [`voxelize`] turns it into leaf voxels with colour, normal and
//! coverage; [`svo`] arranges them as sparse voxel octrees; [`import`] runs these steps; a [`shape`] is the geometry of
//! a body; [`fracture`] breaks a shape into parts, which are shapes again. [`compute`] chooses whether stages run on a
//! device or on the processor's cores; [`files`] reads the user's files, [`registry`] has the tables of entries that
//! settings choose by name, [`threads`] lets forked processes work.

#![deny(missing_docs)]
// Whether threads may share a shape depends on all that the shape holds, down to a device's modules.
#![recursion_limit = "256"]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]

use kintsugi_geometry as geometry;
use kintsugi_gpu as gpu;

pub mod compute;
pub mod files;
pub mod memory;
pub mod parameter;
pub mod registry;
pub mod threads;
pub mod mesh;
pub mod svo;
pub mod voxelize;
pub mod shape;
pub mod fracture;
pub mod import;
pub mod measures;
mod table;

/// Damaged files, for tests of readers.
#[cfg(test)]
#[path = "../../../tests/support/injure.rs"]
mod injure;

#[cfg(test)]
mod kernel_tests;

// The tests' shared helpers name the crate that they test `kintsugi`.
#[cfg(test)]
extern crate self as kintsugi;
