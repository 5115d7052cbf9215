//! How a shape is broken: what every method takes and gives.
//!
//! In: a shape, a [`Strike`]. Out: a [`Break`], whose parts are shapes again. A method is a [`Breaker`] and one
//! entry in the table of methods, from which scene files, commands and panels are made. What only one
//! method knows stays with it: its result carries it along as [`Break::detail`], for readers that look inside.
//!
//! # What methods prepare before they break: compute passes, which take a while to compile

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    Cancel, Fracture, FractureCounts, FractureError, FractureParams, Impact, KeptCells, ParamProblem,
    Pattern, Seams, SeedSource, Solved, solid::CutMesh,
};
use crate::{
    compute::Compute,
    geometry::Aabb,
    gpu::{GpuError, StageTiming},
    shape::{Geometry, Octree, Shape},
    svo::{Arena, KeyArray},
};

/// A number that a method lets its user choose, beyond the parameters that all share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodOption {
    /// As scene files and `--option NAME=VALUE` name it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Where nobody says.
    pub default: f64,
    /// Least and greatest.
    pub range: (f64, f64),
    /// Whether only whole numbers mean something.
    pub whole: bool,
}

impl MethodOption {
    /// The octree level of voxels for parts that have none of their method.
    #[must_use]
    pub const fn voxel_level(help: &'static str) -> Self {
        Self { name: "voxel_level", help, default: 6.0, range: (3.0, 9.0), whole: true }
    }
}

/// A line of the table.
pub struct MethodEntry {
    /// As scene files and commands name it: small letters and hyphens.
    pub name: &'static str,
    /// As the panel names it.
    pub label: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// The paper that it is from.
    pub source: &'static str,
    /// Whether it breaks along Voronoi cells of the seeds that [`cells_of`](super::voronoi::cells_of) draws. Where it does
    /// not, the panel leaves out what is said of seeds, and no cells can be chosen to stay.
    pub by_seeds: bool,
    /// Whether it breaks voxels: cracks can be rough and dusty, and islands are told apart at a level. Where it does not,
    /// the panel leaves that out.
    pub of_voxels: bool,
    /// Its own parameters.
    pub options: &'static [MethodOption],
    /// The method itself.
    pub breaker: &'static dyn Breaker,
}

/// What a break may use.
#[derive(Clone, Copy)]
pub struct BreakContext<'a> {
    /// Octrees where stages run; an octree that breaks must be there.
    pub arena: &'a Arena,
    /// What methods have prepared.
    pub passes: &'a Passes,
    /// Asked whether anybody still waits.
    pub cancel: &'a Cancel,
}

/// A blow as the struck shape sees it. All places are in the shape's local space.
#[derive(Clone, Copy)]
pub struct Strike<'a> {
    /// Where it lands and which way it goes.
    pub impact: Impact,
    /// What was asked for.
    pub params: &'a FractureParams,
    /// Bounds of which radii are fractions; `None`: those of the shape.
    pub bounds: Option<Aabb>,
    /// Cells that were painted to stay.
    pub painted: Option<&'a KeptCells>,
    /// Seeds from a file, instead of those of the pattern.
    pub seeds: Option<&'a SeedSource>,
    /// Leaf level that the parameters speak of, where the shape is a coarser copy of an octree: what counts in
    /// voxels shrinks with them.
    pub full_level: Option<u32>,
    /// Only to be looked at: that every cell stays is no error, and a number of pieces is not solved for.
    pub preview: bool,
}

impl<'a> Strike<'a> {
    /// A blow with nothing special about it.
    #[must_use]
    pub fn new(impact: Impact, params: &'a FractureParams) -> Self {
        let (bounds, painted, seeds) = (None, None, None);
        Self { impact, params, bounds, painted, seeds, full_level: None, preview: false }
    }
}

/// One part of what broke.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is made of; keeps the source's shape space, density and look.
    pub shape: Arc<Shape>,
    /// The cell that it came of, as the method counts cells; several parts may share one.
    pub cell: u32,
    /// What parts are ordered by and small ones told by: voxels of an octree; a method without voxels counts volume
    /// in millionths of the source's.
    pub size: u64,
}

/// What of the source is in no part.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// Volume that became dust, m^3.
    pub dust_m3: f64,
    /// Small parts that were taken away.
    pub dropped: Vec<Part>,
}

/// What stayed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its cells, ascending.
    pub cells: Vec<u32>,
    /// Index of its largest part; `None` where nothing is left of it.
    pub part: Option<usize>,
    /// Parts that it is: one, unless they do not touch.
    pub parts: usize,
}

/// What came of a blow.
#[derive(Clone, Default)]
pub struct Break {
    /// By descending [`Part::size`].
    pub parts: Vec<Part>,
    /// Objects of the cells of each part, ascending: several where small parts joined it. Cells that stayed together are
    /// one object, which the smallest of them names.
    pub objects: Vec<Vec<u32>>,
    /// What is in no part.
    pub lost: Lost,
    /// The seeds that it broke by; `None` for a method without.
    pub pattern: Option<Pattern>,
    /// Volume of what broke as the method measures it, m^3: of a mesh that is cut the mesh's, although the shape is that of
    /// its voxels. `None`: that of the shape.
    pub before_m3: Option<f64>,
    /// Counts, as report.json names them.
    pub counts: FractureCounts,
    /// Time per stage.
    pub timings: Vec<StageTiming>,
    /// How a number of pieces was solved for.
    pub solved: Option<Solved>,
    /// As it broke: parameters that give the same parts again.
    pub params: FractureParams,
    /// What stayed together, where something was to.
    pub kept: Option<Kept>,
    /// What the method knows beyond that; see [`Break::detail_as`].
    pub detail: Option<Arc<dyn Any + Send + Sync>>,
}

impl Break {
    /// The method's own detail, where it is a `T`.
    #[must_use]
    pub fn detail_as<T: Any>(&self) -> Option<&T> {
        self.detail.as_ref()?.downcast_ref()
    }

    /// Whether nothing came off.
    #[must_use]
    pub fn stayed_whole(&self) -> bool {
        self.parts.len() < 2 && self.lost.dropped.is_empty()
    }

    /// Volume of all parts and of what was taken away, m^3.
    #[must_use]
    pub fn volume_m3(&self) -> f64 {
        let volume = |parts: &[Part]| parts.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>();
        volume(&self.parts) + volume(&self.lost.dropped)
    }
}

/// What a preview draws its seams on: an octree of the body, perhaps coarser than the body's own.
#[derive(Clone, Copy)]
pub struct PreviewTarget<'a> {
    /// The body's shape.
    pub shape: &'a Shape,
    /// The octree.
    pub octree: &'a Octree,
    /// Morton codes of its boundary voxels, ascending, where stages run.
    pub voxels: &'a KeyArray,
}

/// What is to be cut.
#[derive(Clone, Copy)]
pub struct CutSource<'a> {
    /// What the cut may use.
    pub context: BreakContext<'a>,
    /// What is struck.
    pub shape: &'a Shape,
    /// The blow.
    pub strike: Strike<'a>,
}

impl<'a> CutSource<'a> {
    /// The voxels of the shape, or those that stand in for it.
    ///
    /// # Errors
    /// [`FractureError::Params`] where it has none.
    pub fn octree(&self) -> Result<&'a Octree, FractureError> {
        self.shape.as_octree().ok_or_else(|| {
            FractureError::Params("this body has no voxels that a pattern of seeds could be drawn in".into())
        })
    }
}

/// The pieces that a cut makes, which may still be too small, and may belong together. Their cells are indices of seeds in
/// the pattern.
pub enum Pieces {
    /// Octrees on the grid of the source. Those that touch share the voxels of the crack between them.
    Octrees(Fracture),
    /// Closed surfaces that were cut out of a mesh.
    Meshes(CutMesh),
}

/// Cuts one source, several times where a number of pieces is solved for. A closure of the type of [`Cutter::cut`] is one.
pub trait Cutter {
    /// Cuts along the cells of a pattern, which has no seeds for a method that is not [`MethodEntry::by_seeds`]. The
    /// parameters are those of the blow, but for the numbers that are solved for.
    ///
    /// # Errors
    /// As [`break_shape`](super::break_shape).
    fn cut(&self, pattern: &Pattern, params: &FractureParams) -> Result<Pieces, FractureError>;

    /// Adds what the method alone knows to the break that came of its last cut; pieces of octrees are handed over.
    fn finish(&self, done: &mut Break, octrees: Option<Fracture>) {
        let _ = (done, octrees);
    }
}

impl<F: Fn(&Pattern, &FractureParams) -> Result<Pieces, FractureError>> Cutter for F {
    fn cut(&self, pattern: &Pattern, params: &FractureParams) -> Result<Pieces, FractureError> {
        self(pattern, params)
    }
}

/// A method of breaking. It only cuts: [`break_shape`](super::break_shape) draws the pattern, solves for a number of
/// pieces, joins what stays together and what is too small, and makes parts of the rest.
pub trait Breaker: Send + Sync {
    /// Whether it can break shapes of this geometry.
    fn accepts(&self, geometry: &Geometry) -> bool;

    /// The first parameter that does not suit it, beyond those that do not suit any method.
    fn problem(&self, params: &FractureParams) -> Option<ParamProblem> {
        let _ = params;
        None
    }

    /// Whether parts that are meshes have the same triangles, corner for corner, on both sides of a crack: bonds can then hold
    /// them together, and several become one mesh again.
    fn shares_faces(&self) -> bool {
        false
    }

    /// Prepares what cutting there needs and takes a while to make; a cut without it prepares by itself.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refused something.
    fn prepare(&self, passes: &Passes, compute: &Compute) -> Result<(), GpuError> {
        let _ = (passes, compute);
        Ok(())
    }

    /// What cuts a source. Reads the source and changes nothing, so a failure loses nothing.
    ///
    /// # Errors
    /// [`FractureError::Params`] for what cannot be cut so, [`FractureError::Gpu`] for the device's.
    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError>;

    /// Where it would crack, as lines on the surface, without breaking; `None` where the method has no such lines,
    /// and only its parts can be shown. Does not wait for the device where it need not.
    ///
    /// # Errors
    /// As [`Breaker::cutter`].
    fn seams(
        &self,
        context: &BreakContext<'_>,
        target: &PreviewTarget<'_>,
        strike: &Strike<'_>,
    ) -> Result<Option<Seams>, FractureError> {
        let _ = (context, target, strike);
        Ok(None)
    }
}

/// What methods have prepared, each under a type of its own.
#[derive(Default)]
pub struct Passes(Mutex<HashMap<TypeId, Arc<Slot>>>);

#[derive(Default)]
struct Slot {
    ready: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Held by the thread that prepares.
    preparing: Mutex<()>,
    tried: AtomicBool,
}

impl Passes {
    fn slot<T: Any>(&self) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(TypeId::of::<T>()).or_default())
    }

    /// The `T` of this device, which the first call makes. A call on another thread waits for it.
    ///
    /// # Errors
    /// That of `make`; the next call tries again.
    pub fn prepared<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<T, GpuError>,
    ) -> Result<Arc<T>, GpuError> {
        let slot = self.slot::<T>();
        let _alone = slot.preparing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = self.ready() {
            return Ok(ready);
        }
        let made = make();
        slot.tried.store(true, Ordering::Release);
        let made = Arc::new(made?);
        let _ = slot.ready.set(Arc::clone(&made) as _);
        Ok(made)
    }

    /// The `T`, where it is there already. Does not wait.
    #[must_use]
    pub fn ready<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.slot::<T>().ready.get()?).downcast().ok()
    }

    /// Whether making the `T` has ended once, well or not.
    #[must_use]
    pub fn is_settled<T: Any>(&self) -> bool {
        self.slot::<T>().tried.load(Ordering::Acquire)
    }
}
