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
        Assembly, Bond, BrokenObject, ExportError, ExportPiece, Format, FractureReport, InputReport,
        MeshKind, Meshes, ParameterReport, Source, Watch,
        checks::{self, Check},
        meshes::original::NotOriginal,
        touching::{SurfacePoints, pieces_beyond, sample_surface},
    },
    fracture::generations::Plan,
    geometry::Aabb,
    import::{ReadMesh, display_name},
    provenance,
    shape::{Octree, PieceMesh, Shape},
    voxelize::Progress,
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
    name: String,
    pub(super) beside: Vec<Source>,
    pub(super) assembly: Assembly,
    with_meshes: OnceLock<Assembly>,
    beyond: OnceLock<Vec<Vec<i32>>>,
}

impl Pieces {
    pub(crate) fn new(object: Object, plan: Plan, broken: BrokenObject, ran_on: RanOn) -> Self {
        let assembly = Assembly::of_break(&broken);
        let (with_meshes, beyond) = (OnceLock::new(), OnceLock::new());
        let (name, beside) = (display_name(&object.file), Vec::new());
        Self { object, plan, broken, ran_on, name, beside, assembly, with_meshes, beyond }
    }

    /// Has the object called `name`, and others of its file written whole beside its pieces: their names and meshes.
    pub fn stand_beside(&mut self, name: &str, others: &[(String, ReadMesh)]) {
        name.clone_into(&mut self.name);
        let source = |(name, read): &(String, ReadMesh)| Source {
            name: name.clone(),
            mesh: Arc::clone(&read.mesh),
            scale: 1.0,
        };
        self.beside = others.iter().map(source).collect();
    }

    /// The object that broke, by its name and mesh.
    pub(super) fn source(&self) -> Source {
        Source { name: self.name.clone(), mesh: Arc::clone(&self.object.mesh), scale: 1.0 }
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
        let mut input = InputReport::of(object);
        input.warnings.extend(object.missed(&self.plan));
        let read = (input, object.health.clone());
        let made_by = provenance::of_mesh(object.mesh.digest(), object.up);
        FractureReport::new(&self.broken, object.mass.volume, read, self.ran_on.clone(), parameters, checks)
            .made_by(made_by)
    }

    /// The piece beyond each triangle of each piece's mesh: by the id of the piece, then by triangle. A number below 0
    /// is [`OUTSIDE`](crate::export::touching::OUTSIDE) for the object's surface, or
    /// [`NO_PIECE`](crate::export::touching::NO_PIECE) for a crack with nothing beyond. The first call finds all.
    #[must_use]
    pub fn beyond(&self) -> &[Vec<i32>] {
        // Only cancelling ends the search early, and nothing cancels this one.
        self.beyond.get_or_init(|| pieces_beyond(self.with_meshes(), &unwatched()).unwrap_or_default())
    }

    /// Which pieces touch each other, by ascending pair of ids: the area of the crack between them, its centre, and its
    /// normal from the first to the second; lengths in units of the object's mesh.
    #[must_use]
    pub fn touching(&self) -> Vec<Bond> {
        crate::export::bonds(self.with_meshes(), &unwatched()).unwrap_or_default()
    }

    /// Cuts the object's mesh where that is wanted and can be; smooth meshes and cubes are made when they are asked
    /// for.
    pub(crate) fn give_meshes(
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
                if kind == MeshKind::Smooth {
                    pieces.dress(None, mesh, 1.0);
                }
            }
            return Ok(());
        }
        let cut = observer.stage("cut the mesh", |p| pieces.cut_original(mesh, 1.0, &self.broken, p));
        match (cut, kind) {
            (Ok(()), _) => Ok(()),
            (Err(NotOriginal::Cancelled), _) => Err(ExportError::Cancelled.into()),
            (Err(error), Some(_)) => Err(error.into()),
            (Err(error), None) => {
                pieces.dress(None, mesh, 1.0);
                let shown = if pieces.dresses.is_empty() {
                    ""
                } else {
                    "; materials and texture coordinates are those of the nearest place of the object's surface"
                };
                observer.note(&format!("the pieces' meshes are smooth ones: {error}{shown}"));
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

/// A watch that shows nothing and that nothing cancels.
fn unwatched() -> Watch {
    Watch::whole(&Progress::default())
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

    /// The id of the piece beyond each triangle of [`Piece::mesh`], or a number below 0, as [`Pieces::beyond`] has it.
    #[must_use]
    pub fn beyond(&self) -> &'a [i32] {
        self.pieces.beyond().get(self.entry.id).map(Vec::as_slice).unwrap_or_default()
    }

    /// `count` points spread evenly over [`Piece::mesh`], with the normals and numbers of their triangles: the same
    /// ones for the same `seed`. [`Piece::beyond`] says of these triangles what they border on.
    ///
    /// ```
    /// use kintsugi::{Fracture, Object, export::touching::OUTSIDE};
    ///
    /// let pieces = Object::open("builtin:box", 4)?.fracture(&Fracture::new().cells(6))?;
    /// let piece = pieces.get(0).unwrap();
    /// let points = piece.sample(100, 7);
    /// let on_cracks = points.triangles.iter().filter(|t| piece.beyond()[**t as usize] != OUTSIDE).count();
    /// assert!(on_cracks > 0 && on_cracks < points.positions.len());
    /// # Ok::<(), kintsugi::Error>(())
    /// ```
    #[must_use]
    pub fn sample(&self, count: usize, seed: u64) -> SurfacePoints {
        sample_surface(&self.mesh(), count, seed)
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

    /// Number of the piece that it broke off; `None` for a piece of the whole object. A piece that broke again has a number
    /// after those of all pieces.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.entry.parent
    }

    /// How many breaks led to it.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.entry.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fracture, export::touching::OUTSIDE};

    #[test]
    fn pieces_say_what_they_touch() {
        let pieces = Object::open("builtin:box", 4).unwrap().fracture(&Fracture::new().cells(6)).unwrap();
        assert_eq!(pieces.beyond().len(), pieces.len());
        let mut sums = vec![vec![0.0; pieces.len()]; pieces.len()];
        for piece in pieces.iter() {
            let (mesh, beyond) = (piece.mesh(), piece.beyond());
            assert_eq!(beyond.len(), mesh.triangles.len());
            for ((face, other), [a, b, c]) in mesh.faces.iter().zip(beyond).zip(mesh.corners_of_triangles()) {
                assert_eq!(*other == OUTSIDE, !face.side.is_crack());
                if let Ok(other) = usize::try_from(*other) {
                    sums[piece.id()][other] += 0.5 * (b - a).cross(c - a).length();
                }
            }
            let points = piece.sample(50, 1);
            assert_eq!((points.positions.len(), points.triangles.len()), (50, 50));
        }
        let touching = pieces.touching();
        assert!(!touching.is_empty());
        for Bond { pieces: [a, b], area, .. } in touching.into_iter().filter(|bond| bond.area > 0.05) {
            assert!((0.5 * (sums[a][b] + sums[b][a]) / area - 1.0).abs() < 0.05, "{a} {b}");
        }
    }
}
