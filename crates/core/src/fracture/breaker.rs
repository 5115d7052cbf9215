//! How a shape is broken: what every method takes and gives.
//!
//! In: a shape, a [`Strike`]. Out: a [`Break`], whose parts are shapes again. A method is a [`Breaker`] and one
//! entry in the table [`super::methods`], from which scene files, commands and panels are made. What only one
//! method knows stays with it: its result carries it along as [`Break::detail`], for those who look inside.

use std::{
    any::Any,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use glam::DVec3;

use super::{
    FractureCounts, FractureError, FractureParams, Fracturer, Impact, ParamProblem, Seams, Solved,
    box_cut::CellPasses, voronoi::pattern::KeptCells,
};
use crate::{
    compute::Compute,
    fracture::Cancel,
    gpu::{Gpu, GpuError, StageTiming},
    shape::{Geometry, Octree, Shape},
    svo::{Arena, KeyArray},
};

/// The stages of the methods, made ready when a break first asks for them.
#[derive(Default)]
pub struct Passes {
    stages: OnceLock<Fracturer>,
    /// Those of box cutting, on a device.
    cells: OnceLock<CellPasses>,
    /// Held by who compiles them.
    compiling: Mutex<()>,
    tried: AtomicBool,
}

impl Passes {
    /// The stages, to run there; the first call compiles the compute passes where they are such, which takes a while.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refused one; the next call tries again.
    pub fn compiled(&self, compute: impl Into<Compute>) -> Result<&Fracturer, GpuError> {
        let _alone = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = self.stages.get() {
            return Ok(ready);
        }
        let made = Fracturer::new(compute);
        self.tried.store(true, Ordering::Release);
        made.map(|made| self.stages.get_or_init(|| made))
    }

    /// The passes of box cutting; the first call compiles them.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refused one; the next call tries again.
    pub(in crate::fracture) fn cells(&self, gpu: &Gpu) -> Result<&CellPasses, GpuError> {
        let _alone = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = self.cells.get() {
            return Ok(ready);
        }
        let made = CellPasses::new(gpu)?;
        Ok(self.cells.get_or_init(|| made))
    }

    /// The passes, where they are compiled already.
    #[must_use]
    pub fn ready(&self) -> Option<&Fracturer> {
        self.stages.get()
    }

    /// Whether compiling them has ended once, well or not.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.tried.load(Ordering::Acquire)
    }
}

/// What a break may use.
#[derive(Clone, Copy)]
pub struct BreakContext<'a> {
    /// Octrees where stages run; an octree that breaks must be there.
    pub arena: &'a Arena,
    /// Their stages.
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
    pub bounds: Option<crate::geometry::Aabb>,
    /// Cells that were painted to stay.
    pub painted: Option<&'a KeptCells>,
    /// Seeds from a file, instead of those of the pattern.
    pub points: Option<&'a [DVec3]>,
    /// Leaf level that the parameters speak of, where the shape is a coarser copy of an octree: what counts in
    /// voxels shrinks with them.
    pub full_level: Option<u32>,
    /// Only to be looked at: that every cell stays is no error, and a number of pieces is not solved for.
    pub preview: bool,
    /// Whether parts of cells that the voxels' corners miss are counted, which takes time on the CPU.
    pub count_hidden: bool,
}

impl<'a> Strike<'a> {
    /// A blow with nothing special about it.
    #[must_use]
    pub fn new(impact: Impact, params: &'a FractureParams) -> Self {
        let (bounds, painted, points) = (None, None, None);
        Self {
            impact,
            params,
            bounds,
            painted,
            points,
            full_level: None,
            preview: false,
            count_hidden: false,
        }
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
#[derive(Clone)]
pub struct Break {
    /// By descending [`Part::size`].
    pub parts: Vec<Part>,
    /// What is in no part.
    pub lost: Lost,
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
    /// Parts by descending size, equal ones in the order in which they were made, and nothing else to say.
    #[must_use]
    pub fn of_parts(mut parts: Vec<Part>, params: &FractureParams) -> Self {
        parts.sort_by_key(|part| std::cmp::Reverse(part.size));
        let cells: std::collections::BTreeSet<u32> = parts.iter().map(|part| part.cell).collect();
        let pieces = parts.len() as u64;
        let cells = cells.len() as u64;
        Self {
            lost: Lost::default(),
            before_m3: None,
            counts: FractureCounts { cells, islands: pieces - cells, pieces, ..FractureCounts::default() },
            timings: Vec::new(),
            solved: None,
            params: params.clone(),
            kept: None,
            detail: None,
            parts,
        }
    }

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

/// A method of breaking.
pub trait Breaker: Send + Sync {
    /// Whether it can break shapes of this geometry.
    fn accepts(&self, geometry: &Geometry) -> bool;

    /// The first parameter that does not suit it, beyond what [`FractureParams::problem`] finds for every method.
    fn problem(&self, params: &FractureParams) -> Option<ParamProblem> {
        let _ = params;
        None
    }

    /// Breaks a shape. Reads the source and changes nothing, so a failure loses nothing.
    ///
    /// # Errors
    /// [`FractureError::Params`] for what cannot be broken so, [`FractureError::Gpu`] for the device's.
    fn fracture(
        &self,
        context: &BreakContext<'_>,
        source: &Shape,
        strike: &Strike<'_>,
    ) -> Result<Break, FractureError>;

    /// Where it would crack, as lines on the surface, without breaking; `None` where the method has no such lines,
    /// and only its parts can be shown. Does not wait for the device where it need not.
    ///
    /// # Errors
    /// As [`Breaker::fracture`].
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
