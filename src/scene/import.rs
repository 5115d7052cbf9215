//! Mesh files to octrees, on a worker thread with progress and cancel.
//!
//! In: the bodies of a scene. Out: one [`Imported`] a body; files that occur twice at one level are read once.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Instant,
};

use super::SceneBody;
use crate::{
    fracture::interior::surface_color,
    mesh::{self, HealthReport, Mesh, MeshError},
    shape::{GridMass, grid_mass},
    svo::{Forest, Grid},
    voxelize::{Progress, VoxelizeError, voxelize},
};

/// A voxelised mesh file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file as the scene names it.
    pub file: String,
    /// One octree.
    pub forest: Arc<Forest>,
    /// The mesh that it was made of.
    pub mesh: Arc<Mesh>,
    /// Mean colour of its surface, sRGB.
    pub surface_color: [u8; 3],
    /// Its place in the mesh's units.
    pub grid: Grid,
    /// Mass at density 1, grid units.
    pub mass: GridMass,
    /// Findings about the mesh.
    pub health: HealthReport,
    /// Odd things that the reader met.
    pub warnings: Vec<String>,
    /// Triangles in the file.
    pub triangles: usize,
    /// Wall-clock time of reading and voxelising, s.
    pub seconds: f64,
}

/// Why an import failed: one line.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file was refused.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The mesh could not be voxelised.
    #[error("{file}: {cause}")]
    Voxelize {
        /// The file.
        file: String,
        /// Why.
        cause: VoxelizeError,
    },
    /// The worker ended without an answer.
    #[error("the import stopped unexpectedly; try a lower level or another file")]
    Stopped,
}

impl ImportError {
    /// Whether the user asked for it to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Voxelize { cause: VoxelizeError::Cancelled, .. })
    }
}

/// The path to give to the mesh reader; `builtin:` names pass through.
#[must_use]
pub fn resolve_mesh_path(file: &str) -> PathBuf {
    PathBuf::from(file)
}

/// Reads and voxelises one file, waiting for it.
///
/// # Errors
/// [`ImportError`].
pub fn import(file: &str, level: u32, progress: &Progress) -> Result<Imported, ImportError> {
    let start = Instant::now();
    let (mesh, warnings) = mesh::load(&resolve_mesh_path(file))?;
    progress.set(0.05);
    let voxelized = voxelize(&mesh, level, progress)
        .map_err(|cause| ImportError::Voxelize { file: file.to_owned(), cause })?;
    let mass = grid_mass(&voxelized.forest, 0);
    progress.set(1.0);
    Ok(Imported {
        file: file.to_owned(),
        surface_color: surface_color(&voxelized.forest, 0),
        forest: Arc::new(voxelized.forest),
        grid: voxelized.grid,
        mass,
        health: voxelized.health,
        warnings: warnings.into_iter().map(|w| w.0).collect(),
        triangles: mesh.triangles.len(),
        mesh: Arc::new(mesh),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Imports on their way.
pub struct ImportJob {
    /// What the progress bar says.
    pub label: String,
    /// How far it is, and the wish to stop.
    pub progress: Progress,
    receiver: mpsc::Receiver<Result<Vec<Imported>, ImportError>>,
}

impl ImportJob {
    /// Starts importing the files of `bodies`, in order.
    #[must_use]
    pub fn start(bodies: &[SceneBody]) -> Self {
        let (sender, receiver) = mpsc::channel();
        let progress = Progress::default();
        let label = match bodies {
            [one] => format!("Importing {}", display_name(&one.file)),
            many => format!("Importing {} objects", many.len()),
        };
        let wanted: Vec<(String, u32)> = bodies.iter().map(|b| (b.file.clone(), b.level)).collect();
        let shared = progress.clone();
        std::thread::spawn(move || {
            // The receiver only disappears when the window has closed or opened something else.
            let _ = sender.send(import_all(&wanted, &shared));
        });
        Self { label, progress, receiver }
    }

    /// The result, once.
    pub fn poll(&self) -> Option<Result<Vec<Imported>, ImportError>> {
        match self.receiver.try_recv() {
            Ok(result) => Some(result),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => Some(Err(ImportError::Stopped)),
        }
    }
}

fn import_all(wanted: &[(String, u32)], progress: &Progress) -> Result<Vec<Imported>, ImportError> {
    let mut done: Vec<Imported> = Vec::with_capacity(wanted.len());
    for (i, (file, level)) in wanted.iter().enumerate() {
        let known = wanted[..i].iter().position(|earlier| earlier == &wanted[i]);
        let imported = match known {
            Some(earlier) => done[earlier].clone(),
            None => import(file, *level, progress)?,
        };
        done.push(imported);
    }
    Ok(done)
}

/// The name of a file for people: no folder, no ending, no `builtin:`.
#[must_use]
pub fn display_name(file: &str) -> String {
    match file.strip_prefix("builtin:") {
        Some(name) => name.to_owned(),
        None => {
            Path::new(file).file_stem().map_or_else(|| file.to_owned(), |s| s.to_string_lossy().into_owned())
        }
    }
}
