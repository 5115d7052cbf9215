//! What an object was broken into.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use glam::DVec3;

use super::{Error, Object, Observer, Quiet};
use crate::{
    compute::RanOn,
    export::{
        Assembly, BrokenObject, ExportPiece, Format, FractureReport, InputReport, MeshKind, Meshes,
        ParameterReport,
        checks::{self, Check},
    },
    fracture::generations::Plan,
    geometry::Aabb,
    provenance,
    shape::{Octree, PieceMesh, Shape},
};

/// What an object was broken into, by descending size: octree and mesh of every piece, and all that was found out on
/// the way.
///
/// ```
/// use kintsugi::{Fracture, Object};
///
/// let pieces = Object::open("builtin:box", 4)?.fracture(&Fracture::new().cells(6))?;
/// let whole: f64 = pieces.object().shape.mass().volume_m3;
/// let sum: f64 = pieces.iter().map(|piece| piece.volume()).sum();
/// assert!((sum / whole - 1.0).abs() < 1e-6, "nothing is lost");
/// let largest = pieces.get(0).unwrap();
/// assert!(largest.mesh().triangles.len() >= 4 && largest.octree().is_some());
/// # Ok::<(), kintsugi::Error>(())
/// ```
pub struct Pieces {
    object: Object,
    plan: Plan,
    broken: BrokenObject,
    ran_on: RanOn,
    pub(super) assembly: Assembly,
    with_meshes: OnceLock<Assembly>,
}

impl Pieces {
    pub(super) fn new(object: Object, plan: Plan, broken: BrokenObject, ran_on: RanOn) -> Self {
        let (assembly, with_meshes) = (Assembly::of_break(&broken), OnceLock::new());
        Self { object, plan, broken, ran_on, assembly, with_meshes }
    }

    /// How many pieces there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.assembly.pieces.len()
    }

    /// Whether there is no piece: all were dropped as too small.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.assembly.pieces.is_empty()
    }

    /// Whether no crack met the object, so that it is one piece.
    #[must_use]
    pub fn stayed_whole(&self) -> bool {
        self.broken.stayed_whole()
    }

    /// The pieces, the largest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Piece<'_>> {
        self.assembly.pieces.iter().map(|entry| Piece { entry, pieces: self })
    }

    /// Piece number `id`, from 0.
    #[must_use]
    pub fn get(&self, id: usize) -> Option<Piece<'_>> {
        self.assembly.pieces.get(id).map(|entry| Piece { entry, pieces: self })
    }

    /// What was broken.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// How it was broken.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The breaks one by one, with counts, timings and what the method knows beyond the pieces.
    #[must_use]
    pub fn broken(&self) -> &BrokenObject {
        &self.broken
    }

    /// Says which file the seeds of the first break came from, for reports.
    pub fn seeds_from(&mut self, file: Option<&Path>) {
        self.plan.params.seeds_file = file.map(|file| file.display().to_string());
    }

    /// Checks the result from scratch: masses add up, pieces hang together, octrees are valid (docs/checks.md, F1 to
    /// F10).
    #[must_use]
    pub fn check(&self) -> Vec<Check> {
        checks::check(&self.broken)
    }

    /// The report of this break, with these results of [`Pieces::check`], beside files in these formats.
    #[must_use]
    pub fn report(&self, formats: &[Format], checks: Vec<Check>) -> FractureReport {
        let object = &self.object;
        let parameters = ParameterReport {
            formats: formats.iter().map(|format| format.name.to_owned()).collect(),
            ..ParameterReport::of_break(&self.broken, &self.plan, object.grid.level)
        };
        let read = (InputReport::of(object), object.health.clone());
        let made_by = provenance::of_mesh(object.mesh.digest(), object.up);
        FractureReport::new(&self.broken, object.mass.volume, read, self.ran_on.clone(), parameters, checks)
            .made_by(made_by)
    }

    /// Cuts the object's mesh where that is wanted and can be; smooth meshes and cubes are made when they are asked
    /// for.
    pub(super) fn give_meshes(
        &self,
        pieces: &mut Assembly,
        kind: Option<MeshKind>,
        observer: &impl Observer,
    ) -> Result<(), Error> {
        let mesh = &self.object.mesh;
        if let Some(kind) = kind.filter(|kind| *kind != MeshKind::Original) {
            // What a method cut out of the mesh is written as it is, whatever is asked for.
            if !pieces.own_surfaces(mesh.materials.clone()) {
                pieces.meshes = Meshes::asked(kind);
            }
            return Ok(());
        }
        let cut = observer.stage("cut the mesh", |_| pieces.cut_original(mesh, 1.0, &self.broken));
        match (cut, kind) {
            (Ok(()), _) => Ok(()),
            (Err(error), Some(_)) => Err(error.into()),
            (Err(error), None) => {
                observer.note(&format!("the pieces' meshes are smooth ones: {error}"));
                Ok(())
            }
        }
    }

    /// The pieces with the meshes that an export without further wishes writes; the first call cuts them.
    fn with_meshes(&self) -> &Assembly {
        self.with_meshes.get_or_init(|| {
            let mut assembly = self.assembly.clone();
            // Without a kind that is insisted on, meshes are always found.
            let _ = self.give_meshes(&mut assembly, None, &Quiet);
            assembly
        })
    }
}

/// One of [`Pieces`].
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    entry: &'a ExportPiece,
    pieces: &'a Pieces,
}

impl<'a> Piece<'a> {
    /// Its number, from 0; larger pieces have smaller numbers.
    #[must_use]
    pub fn id(&self) -> usize {
        self.entry.id
    }

    /// What it is, with mass, centre and inertia at density 1; lengths in units of the mesh.
    #[must_use]
    pub fn shape(&self) -> &'a Arc<Shape> {
        &self.entry.shape
    }

    /// Its octree; `None` where the method cuts meshes.
    #[must_use]
    pub fn octree(&self) -> Option<&'a Octree> {
        self.entry.octree()
    }

    /// Its closed mesh, in units of the object's mesh: the object's own triangles cut along the cracks where that mesh
    /// is closed, else a smooth surface of its octree. The first call for any piece cuts the meshes of all.
    #[must_use]
    pub fn mesh(&self) -> Arc<PieceMesh> {
        Arc::clone(self.pieces.with_meshes().mesh(self.entry.id).mesh())
    }

    /// Volume, cubic units of the mesh; also its mass at density 1.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.entry.shape.mass().volume_m3
    }

    /// Leaf voxels that it has; 0 where the method cuts meshes.
    #[must_use]
    pub fn voxels(&self) -> u64 {
        self.entry.figures().voxels
    }

    /// Centre of mass, units of the mesh.
    #[must_use]
    pub fn centre(&self) -> DVec3 {
        self.entry.shape.mass().centre
    }

    /// A box along the axes that holds it, units of the mesh.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.entry.figures().bounds
    }

    /// Number of the Voronoi cell that it came of, over all breaks.
    #[must_use]
    pub fn cell(&self) -> Option<u32> {
        self.entry.cell
    }

    /// How many breaks led to it.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.entry.generation
    }
}
