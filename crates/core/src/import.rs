//! Import: from a mesh file, or a built-in shape, to an object that can be broken.
//!
//! In: the name of a file, or `builtin:` and a name, and a leaf level. Out: an [`Imported`]: mesh, octree, mass, health
//! report. It has two steps, so that a bad file is refused before a graphics adapter is opened and nothing is read
//! twice: [`read`] reads the file, [`ReadMesh::voxelise`] makes the octree. Window and commands both import by these
//! functions.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use crate::geometry::Aabb;
use glam::DVec3;

use crate::{
    fracture::interior::surface_color,
    mesh::{self, HealthReport, Mesh, MeshError, Objects, Units, Up},
    shape::{GridMass, Look, Octree, Original, Shape, grid_mass},
    svo::{Forest, Grid, MAX_LEVEL},
    voxelize::{Prepared, Progress, VoxelizeError, Voxelized},
};

/// A mesh that was read and has triangles.
#[derive(Clone, Debug)]
pub struct ReadMesh {
    /// The file's name as the user gave it.
    pub file: String,
    /// The triangles, in the file's units.
    pub mesh: Arc<Mesh>,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
    /// The axis of the file that points up: the mesh is turned by it.
    pub up: Up,
    /// Duration of reading.
    pub took: Duration,
    /// The checked mesh, once its voxels are wanted.
    prepared: KnownMesh,
}

/// Shared result of a mesh's check; clones share it.
pub type KnownMesh = Arc<OnceLock<Prepared>>;

/// A voxelised mesh file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file's name as the user gave it.
    pub file: String,
    /// One octree.
    pub forest: Arc<Forest>,
    /// The mesh that it was made of.
    pub mesh: Arc<Mesh>,
    /// Result of the mesh's check, for import at another level.
    pub known: KnownMesh,
    /// The axis of the file that points up: the mesh is turned by it.
    pub up: Up,
    /// Mean colour of its surface, sRGB.
    pub surface_color: [u8; 3],
    /// The octree as a shape in the mesh's own units, at density 1.
    pub shape: Arc<Shape>,
    /// Its place in the mesh's units.
    pub grid: Grid,
    /// Bounds of the triangles, mesh units.
    pub bounds: Aabb,
    /// Mass at density 1, grid units.
    pub mass: GridMass,
    /// Findings about the mesh.
    pub health: HealthReport,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
    /// Vertices in the file.
    pub vertices: usize,
    /// Triangles in the file.
    pub triangles: usize,
    /// Wall-clock time of reading and voxelising, s.
    pub seconds: f64,
}

/// Voxels with more than this number of times the mesh's volume cause a warning.
const MOST_TIMES: f64 = 1.5;
/// So do voxels with less than this.
const LEAST_TIMES: f64 = 0.995;
/// And a closed mesh with less volume than this, as a share of its area to the power of one and a half (of a ball: 0.094).
const LEAST_VOLUME: f64 = 1e-9;

/// Most objects of a file that are kept apart.
const MOST_OBJECTS: usize = 1000;
/// The same where nobody wants each part on its own: a tree's leaves and a car's screws hardly touch what they belong to.
const MOST_TOUCHING: usize = 100;

/// Why an import failed: one line.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file was refused.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The file has no triangles.
    #[error("{file}: it holds no triangles; export a mesh with faces")]
    Empty {
        /// The file.
        file: String,
    },
    /// The mesh could not be voxelised.
    #[error("{file}: {cause}")]
    Voxelize {
        /// The file.
        file: String,
        /// The reason.
        cause: VoxelizeError,
    },
    /// The file cannot have this unit, or voxels so small.
    #[error("{file}: {what}")]
    Measure {
        /// The file.
        file: String,
        /// What was wanted, and what to do.
        what: String,
    },
    /// The file has no object of this number.
    #[error(
        "{file}: it has {count} objects, and none of number {number}, counted from 0; open the file again"
    )]
    NoObject {
        /// The file.
        file: String,
        /// The wanted object.
        number: u32,
        /// The objects that there are.
        count: usize,
    },
    /// The worker ended without a result.
    #[error("the import stopped unexpectedly; try a lower level or another file")]
    Stopped,
}

impl ImportError {
    /// Whether the user cancelled it.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Voxelize { cause: VoxelizeError::Cancelled, .. } => true,
            Self::Mesh(error) => error.is_cancelled,
            _ => false,
        }
    }
}

/// Reads a mesh file, or makes a built-in shape.
///
/// # Errors
/// [`ImportError::Mesh`] and [`ImportError::Empty`].
pub fn read(file: &str) -> Result<ReadMesh, ImportError> {
    read_while(file, &Progress::default())
}

/// Like [`read`], as long as `progress` is not cancelled.
///
/// # Errors
/// See [`read`]; also [`ImportError::Mesh`] if it is cancelled.
pub fn read_while(file: &str, progress: &Progress) -> Result<ReadMesh, ImportError> {
    let start = Instant::now();
    let (path, asked) = (PathBuf::from(file), progress.clone());
    let loaded = progress.wait_while_wanted(move || mesh::load_while(&path, &asked));
    let (mesh, warnings) = loaded.unwrap_or_else(|| Err(MeshError::cancelled(file)))?;
    if mesh.triangles.is_empty() {
        return Err(ImportError::Empty { file: file.to_owned() });
    }
    Ok(ReadMesh {
        file: file.to_owned(),
        mesh: Arc::new(mesh),
        warnings: warnings.into_iter().map(|w| w.0).collect(),
        up: Up::Y,
        took: start.elapsed(),
        prepared: Arc::default(),
    })
}

/// Reads and voxelises one file, waiting for it.
///
/// # Errors
/// [`ImportError`].
pub fn import(file: &str, level: u32, progress: &Progress) -> Result<Imported, ImportError> {
    read_while(file, progress)?.voxelise(level, progress)
}

/// The lowest level at which no voxel of an object of this length is wider than `edge`, both in one unit; `None` where the
/// finest is wider, or there is no length.
#[must_use]
pub fn level_for(length: f64, edge: f64) -> Option<u32> {
    let fits = |level: &u32| edge_at(length, *level) <= edge;
    (length > 0.0).then(|| (1..=MAX_LEVEL).find(fits)).flatten()
}

/// Edge of a voxel of an object of this length; the grid has a margin of one voxel all round.
#[must_use]
pub fn edge_at(length: f64, level: u32) -> f64 {
    length / f64::from(((1u32 << level.min(31)) - 2).max(1))
}

impl ReadMesh {
    /// Triangles of the caller's own, which may be anything, under a name for messages.
    ///
    /// # Errors
    /// [`ImportError::Mesh`] where no triangle can be used.
    pub fn of_mesh(name: &str, mesh: Mesh) -> Result<Self, ImportError> {
        let (mesh, warnings) = mesh::checked(name, mesh)?;
        let warnings = warnings.into_iter().map(|warning| warning.0).collect();
        Ok(Self::again(name.to_owned(), Arc::new(mesh), Arc::default(), Up::Y, warnings))
    }

    /// A mesh that was read before, with the result of its check.
    #[must_use]
    pub fn again(file: String, mesh: Arc<Mesh>, known: KnownMesh, up: Up, warnings: Vec<String>) -> Self {
        Self { file, mesh, warnings, up, took: Duration::ZERO, prepared: known }
    }

    /// The mesh with this axis of the file pointing up.
    #[must_use]
    pub fn stood_up(&self, up: Up) -> Self {
        if up == self.up {
            return self.clone();
        }
        let mesh = Arc::new(Mesh::clone(&self.mesh).turned(self.up.back()).turned(up));
        Self { mesh, up, prepared: Arc::default(), ..self.clone() }
    }

    /// The objects of the file with their names, which differ; empty where the file is one object, and as soon as `progress`
    /// is cancelled.
    ///
    /// # Errors
    /// A warning where they are too many to be kept apart.
    pub fn objects(&self, how: Objects, progress: &Progress) -> Result<Vec<(String, Self)>, String> {
        let groups = self.mesh.objects(how, progress);
        if groups.len() < 2 || progress.is_cancelled() {
            return Ok(Vec::new());
        }
        let (most, way) = match how {
            Objects::Touching => (MOST_TOUCHING, "choose apart, which keeps up to 1000 parts"),
            _ => (MOST_OBJECTS, "join some"),
        };
        if groups.len() > most {
            return Err(format!(
                "its {} objects are taken as one, since they are more than {most}; {way}, or choose together",
                groups.len()
            ));
        }
        let mut taken = BTreeSet::new();
        let mut objects = Vec::with_capacity(groups.len());
        for (parts, mesh) in groups.iter().zip(self.mesh.of_groups(&groups)) {
            let name = self.mesh.object_name(parts);
            let name = if name.is_empty() { display_name(&self.file) } else { name };
            let name = mesh::unlike(&name, |name| taken.contains(name));
            taken.insert(name.clone());
            let (mesh, took) = (Arc::new(mesh), Duration::ZERO);
            objects.push((name, Self { mesh, took, prepared: Arc::default(), ..self.clone() }));
        }
        Ok(objects)
    }

    /// Those of [`ReadMesh::objects`] that have these numbers, in their order, however many there are.
    ///
    /// # Errors
    /// [`ImportError::NoObject`], [`ImportError::Mesh`] if `progress` is cancelled.
    pub fn some_objects(
        &self,
        how: Objects,
        numbers: &BTreeSet<u32>,
        progress: &Progress,
    ) -> Result<Vec<Self>, ImportError> {
        let groups = self.mesh.objects(how, progress);
        if progress.is_cancelled() {
            return Err(MeshError::cancelled(&self.file).into());
        }
        let count = groups.len();
        let mut wanted = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let missing = || ImportError::NoObject { file: self.file.clone(), number, count };
            wanted.push(groups.get(number as usize).ok_or_else(missing)?.clone());
        }
        let alone = |mesh: Arc<Mesh>| Self { mesh, prepared: Arc::default(), ..self.clone() };
        if count == 1 {
            return Ok(wanted.iter().map(|_| alone(Arc::clone(&self.mesh))).collect());
        }
        Ok(self.mesh.of_groups(&wanted).into_iter().map(|mesh| alone(Arc::new(mesh))).collect())
    }

    /// The octree of `level` with the mesh's data.
    ///
    /// # Errors
    /// [`ImportError::Voxelize`], also if the user cancelled it.
    pub fn voxelise(&self, level: u32, progress: &Progress) -> Result<Imported, ImportError> {
        let (mesh, asked) = (self.clone(), progress.clone());
        let imported = progress.wait_while_wanted(move || mesh.voxelise_here(level, &asked));
        let refused = |cause| ImportError::Voxelize { file: self.file.clone(), cause };
        let imported = imported.unwrap_or(Err(VoxelizeError::Cancelled)).map_err(refused)?;
        progress.set(1.0);
        Ok(imported)
    }

    fn voxelise_here(&self, level: u32, progress: &Progress) -> Result<Imported, VoxelizeError> {
        let start = Instant::now();
        if self.prepared.get().is_none() {
            let prepared = Prepared::while_wanted(&self.mesh, progress).of_voxels(self.voxel_edge());
            progress.go_on().ok_or(VoxelizeError::Cancelled)?;
            // Another thread may have checked the same mesh meanwhile, with the same result.
            let _ = self.prepared.set(prepared);
        }
        let voxelized = self.prepared().voxelize(level, progress)?;
        progress.go_on().ok_or(VoxelizeError::Cancelled)?;
        Ok(self.with_voxels(voxelized, start.elapsed()))
    }

    /// The checked mesh; the first call checks it.
    pub fn prepared(&self) -> &Prepared {
        self.prepared.get_or_init(|| Prepared::new(&self.mesh).of_voxels(self.voxel_edge()))
    }

    /// Edge of the file's own voxels, mesh units; `None` for a file of triangles, whatever its name ends with.
    #[must_use]
    pub fn voxel_edge(&self) -> Option<f64> {
        let is_whole = || self.mesh.positions.iter().flatten().all(|x| x.fract() == 0.0);
        let is_named = mesh::format_of(Path::new(&self.file)) == Some(mesh::Format::Vox);
        (is_named && is_whole()).then_some(1.0)
    }

    /// The mesh in metres, where the lengths of its file are in these units.
    #[must_use]
    pub fn in_metres(&self, units: Units) -> Self {
        if units == Units::M {
            return self.clone();
        }
        let mesh = Arc::new(Mesh::clone(&self.mesh).scaled(units.metres()));
        Self { mesh, prepared: Arc::default(), ..self.clone() }
    }

    /// Length of the longest side of the mesh, mesh units; 0 where it has no vertex.
    #[must_use]
    pub fn longest_side(&self) -> f64 {
        self.mesh.longest_side()
    }

    /// The lowest level at which no voxel is wider than `edge`, mesh units; `None` where the finest is wider, or there is
    /// no length to measure.
    #[must_use]
    pub fn level_for(&self, edge: f64) -> Option<u32> {
        level_for(self.longest_side(), edge)
    }

    /// The import of this mesh from its voxels, which took this time.
    #[must_use]
    pub fn with_voxels(&self, voxelized: Voxelized, took: Duration) -> Imported {
        let start = Instant::now();
        let corner = |p: [f32; 3]| DVec3::from_array(p.map(f64::from));
        let Voxelized { forest, grid, mut health, .. } = voxelized;
        let (mass, surface_color) = (grid_mass(&forest, 0), surface_color(&forest, 0));
        // Built-in shapes have colours that stand in for a material.
        let has_colors = !self.mesh.colors.is_empty() && !self.file.starts_with("builtin:");
        let is_bare = self.mesh.materials.is_empty() && !has_colors;
        let (forest, look) = (Arc::new(forest), Look { surface_color: Some(surface_color), is_bare });
        let octree = Octree { forest: Arc::clone(&forest), tree: 0, grid, mass };
        let checked = self.prepared.get().map(Prepared::checked);
        let original = Original::new(Arc::clone(&self.mesh), 1.0).known(checked);
        let doubts: Vec<String> = another_volume(&health, grid, mass.volume)
            .into_iter()
            .chain(hardly_any_voxels(grid, mass.voxels))
            .collect();
        health.notes.extend(doubts);
        Imported {
            file: self.file.clone(),
            up: self.up,
            surface_color,
            shape: Arc::new(Shape::octree(octree, 1.0, look).with_original(original)),
            forest,
            mesh: Arc::clone(&self.mesh),
            known: Arc::clone(&self.prepared),
            grid,
            bounds: Aabb::new(corner(health.bounds_low), corner(health.bounds_high)),
            mass,
            health,
            warnings: self.warnings.clone(),
            vertices: self.mesh.positions.len(),
            triangles: self.mesh.triangles.len(),
            seconds: (self.took + took + start.elapsed()).as_secs_f64(),
        }
    }
}

impl Imported {
    /// Its grid in metres, for this number of metres per unit of the mesh.
    #[must_use]
    pub fn grid_in_metres(&self, meters_per_unit: f64) -> Grid {
        let Grid { level, origin, h } = self.grid;
        Grid { level, origin: origin * meters_per_unit, h: h * meters_per_unit }
    }

    /// Its shape of `density`, kg/m^3, with its grid at `grid` (shape space, m).
    #[must_use]
    pub fn shape_at(&self, grid: Grid, density: f64) -> Shape {
        let octree = Octree { forest: Arc::clone(&self.forest), tree: 0, grid, mass: self.mass };
        let original = Original::new(Arc::clone(&self.mesh), grid.h / self.grid.h)
            .known(self.known.get().map(Prepared::checked));
        Shape::octree(octree, density, *self.shape.look()).with_original(original)
    }
}

/// Warning if voxels (`volume` of them) have another volume than the mesh. Voxels at the surface count by what planes
/// leave of them, so that those of a sound mesh have no less than the mesh, to a thousandth.
fn another_volume(health: &HealthReport, grid: Grid, volume: f64) -> Option<String> {
    let HealthReport { closed, volume: of_mesh, area, .. } = *health;
    if !closed {
        return None;
    }
    let (level, times) = (grid.level, volume * grid.h.powi(3) / of_mesh);
    if of_mesh <= LEAST_VOLUME * area * area.sqrt() {
        return Some(format!(
            "Its mesh is closed and encloses {of_mesh:.2e} cubic units, next to nothing: its sides cancel, or face each other; \
             give it a thickness, or take smooth meshes, which have that of the voxels"
        ));
    }
    if times > MOST_TIMES {
        return Some(format!(
            "At level {level} it has {times:.3} times the volume of its mesh, and so the mass: what is thinner than a \
             voxel ({:.2e} units) has that of one; choose a higher level, or make it thicker",
            grid.h
        ));
    }
    (times < LEAST_TIMES).then(|| {
        format!(
            "At level {level} it has {times:.3} times the volume of its mesh ({of_mesh:.4e} cubic units): parts that pass \
             through each other count twice in the mesh, and meshes cut from it overlap; unite the parts in a modelling \
             program, or take smooth meshes, which are those of the voxels"
        )
    })
}

/// Warning if the object has fewer voxels in all than half of what its longest side has.
fn hardly_any_voxels(grid: Grid, voxels: u64) -> Option<String> {
    (2 * voxels < u64::from(grid.side())).then(|| {
        let (level, h) = (grid.level, grid.h);
        let what = if voxels == 1 { "a single voxel".to_owned() } else { format!("{voxels} voxels in all") };
        format!(
            "At level {level} it is {what}, so that hardly anything can break: its parts lie so far apart that each is about \
             as large as a voxel ({h:.2e} units); take away what lies far off, or break the parts one by one"
        )
    })
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

#[cfg(test)]
mod leaving_tests;

#[cfg(test)]
mod tests;
