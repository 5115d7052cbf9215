//! Readers of what the window keeps of itself, for tests that feed them anything; in no program that ships.

use std::path::Path;

use super::{imports::apply_from, settings::Settings};
use crate::scene::Scene;

/// Whether settings were read from a file that are not the defaults.
#[must_use]
pub fn settings(path: &Path) -> bool {
    Settings::read_from(path) != Settings::default()
}

/// Applies to a scene of one mesh what a memory of imports says of the mesh.
pub fn import(path: &Path, scene: &mut Scene) {
    if let [body] = &mut scene.bodies[..] {
        apply_from(path, body);
    }
}
