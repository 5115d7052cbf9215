//! The library for Python: the module `kintsugi._native`, which the package `kintsugi` shows to users.
//!
//! In: arrays, files, parameters by the names of scene files. Out: classes over the library's calls, with arrays of
//! NumPy. Every long call runs beside Python ([`running`]). Types that Python holds are immutable and shared, but for
//! those that say otherwise. Nothing here computes: a class holds a type of the library and turns its values into
//! Python's.

// Whether threads may share an engine depends on all its contents, down to a device's modules.
#![recursion_limit = "256"]

pub mod arrays;
pub mod engine;
pub mod errors;
pub mod json;
pub mod labelling;
pub mod mesh;
pub mod object;
pub mod overlays;
pub mod parameters;
pub mod picture;
pub mod piece;
pub mod pieces;
pub mod program;
pub mod recipe;
pub mod running;
pub mod scene;
pub mod world;

use pyo3::prelude::*;

// Breaks are faster with it, as in the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: kintsugi::memory::LargePages = kintsugi::memory::LargePages;

/// The compiled part of the package kintsugi. Import `kintsugi` instead.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    kintsugi::threads::note_process();
    kintsugi::papers::register();
    module.add("__version__", kintsugi::provenance::VERSION)?;
    errors::add_to(module)?;
    engine::add_to(module)?;
    mesh::add_to(module)?;
    object::add_to(module)?;
    parameters::add_to(module)?;
    pieces::add_to(module)?;
    piece::add_to(module)?;
    picture::add_to(module)?;
    labelling::add_to(module)?;
    overlays::add_to(module)?;
    world::add_to(module)?;
    scene::add_to(module)?;
    recipe::add_to(module)?;
    program::add_to(module)
}
