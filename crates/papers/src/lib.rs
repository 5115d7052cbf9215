//! Methods, contacts and responses of published papers, to compare with those that are used by default.
//!
//! [`planes`] breaks convex meshes plane by plane (Bullet's Voronoi shatter). [`field`] finds contacts by distance
//! fields and sphere trees (Glondu et al. 2012). [`penalty`] answers contacts by a penalty on the intersection volume
//! (Domaradzki & Martyn 2016, sec. 5.2), which `overlap` measures. A program calls [`register`] before it opens scenes
//! that name them.

#![deny(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]
#![recursion_limit = "256"]

#[cfg(test)]
use kintsugi_core::{compute, import, mesh, voxelize};
use kintsugi_core::{fracture, shape, svo};
use kintsugi_geometry as geometry;
use kintsugi_gpu as gpu;
use kintsugi_physics as bodies;

#[cfg(test)]
mod degenerate_tests;
pub mod field;
#[cfg(test)]
mod kernel_tests;
mod overlap;
pub mod penalty;
pub mod planes;
mod shared_volume;
#[cfg(test)]
mod shared_volume_tests;

/// Adds this crate's method, generator and response to their tables, and the measure of what bodies share. A name that
/// another entry took before stays with that entry.
pub fn register() {
    _ = fracture::register(&planes::ENTRY);
    _ = bodies::register_generator(&field::ENTRY);
    _ = bodies::register_solver(&penalty::ENTRY);
    bodies::register_measure(|| Box::<shared_volume::WorldOverlaps>::default());
}
