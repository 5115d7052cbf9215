//! FILE to an octree: reading, voxelising, and saying in one line what is wrong. No GPU.

use std::{path::Path, sync::Arc};

use glam::DVec3;

use crate::{
    export::InputReport,
    fracture::interior::surface_color,
    mesh::{self, HealthReport, Mesh},
    shape::{Look, Octree, Shape},
    svo::{Forest, Grid},
    voxelize::{Voxelized, voxelize},
};

use super::{CliError, progress::Reporter};

/// An object that can be broken.
pub struct Object {
    /// What breaks: the octree, in the mesh's own units, at density 1.
    pub shape: Arc<Shape>,
    /// One tree.
    pub forest: Arc<Forest>,
    /// Where it lies in the mesh.
    pub grid: Grid,
    /// Bounds of the triangles, mesh units (low, high).
    pub bounds: (DVec3, DVec3),
    /// What was read.
    pub input: InputReport,
    /// What was found out about it.
    pub health: HealthReport,
}

impl Object {
    /// What was voxelised, and what was read for it.
    #[must_use]
    pub fn new(voxelized: Voxelized, input: InputReport) -> Self {
        let corner = |p: [f32; 3]| DVec3::from_array(p.map(f64::from));
        let forest = Arc::new(voxelized.forest);
        let look = Look { surface_color: Some(surface_color(&forest, 0)) };
        let shape = Shape::octree(Octree::new(&forest, 0, voxelized.grid), 1.0, look);
        Self {
            shape: Arc::new(shape),
            bounds: (corner(voxelized.health.bounds_low), corner(voxelized.health.bounds_high)),
            forest,
            grid: voxelized.grid,
            input,
            health: voxelized.health,
        }
    }
}

/// Whether `file` is a scene by its name.
pub fn is_scene(file: &Path) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// Puts the file's name before a message that lacks it.
pub fn about(file: &Path, message: impl std::fmt::Display) -> CliError {
    let (file, message) = (file.display().to_string(), message.to_string());
    let line = if message.contains(&file) { message } else { format!("{file}: {message}") };
    CliError::Input(line)
}

/// Reads a mesh; oddities become warnings.
///
/// # Errors
/// [`CliError::Input`].
pub fn load_mesh(file: &Path, reporter: &Reporter) -> Result<(Mesh, InputReport), CliError> {
    if is_scene(file) {
        return Err(about(file, "this command takes a mesh, not a scene; `kintsugi simulate` runs scenes"));
    }
    let (mesh, warnings) = reporter.stage("read", |_| mesh::load(file)).map_err(|e| about(file, e))?;
    if mesh.triangles.is_empty() {
        return Err(about(file, "it holds no triangles; export a mesh with faces"));
    }
    let warnings: Vec<String> = warnings.into_iter().map(|w| w.0).collect();
    for warning in &warnings {
        reporter.warn(&format!("{}: {warning}", file.display()));
    }
    let report = InputReport {
        file: file.display().to_string(),
        vertices: mesh.positions.len(),
        triangles: mesh.triangles.len(),
        warnings,
    };
    Ok((mesh, report))
}

/// Reads and voxelises a mesh.
///
/// # Errors
/// [`CliError::Input`].
pub fn load_object(file: &Path, level: u32, reporter: &Reporter) -> Result<Object, CliError> {
    let (mesh, input) = load_mesh(file, reporter)?;
    let voxelized = reporter
        .stage("voxelise", |progress| voxelize(&mesh, level, progress))
        .map_err(|error| about(file, error))?;
    Ok(Object::new(voxelized, input))
}
