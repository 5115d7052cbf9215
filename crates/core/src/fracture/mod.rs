//! Breaking an object into pieces.
//!
//! [`voronoi`] breaks octrees: cells of seeds, walked down the octree (Domaradzki & Martyn 2016, sec. 4). [`box_cut`]
//! cuts meshes along cells of the same seeds (Chlubna); the common part of methods that cut meshes is in [`solid`].
//! [`cutter`] cuts octrees by a closed mesh, [`parts`] takes a mesh apart into its closed parts. The common part of all
//! methods is here: the recipe ([`break_shape`]), parameters ([`FractureParams`], [`Recipe`]), results ([`Fracture`]), the
//! material inside ([`interior`]), small pieces, and solving for a number of pieces.

pub mod box_cut;
mod breaker;
mod breaking;
mod cancel;
pub mod cutter;
pub mod generations;
pub mod interior;
mod methods;
mod params;
pub mod parts;
mod result;
mod sections;
mod small;
pub mod solid;
pub mod voronoi;

/// All that the kernels of all methods share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    [voronoi::testing::layouts(), box_cut::pass::layouts()].concat()
}

/// Dispatches every kernel of all methods.
#[cfg(test)]
pub(crate) fn run_every_kernel() {
    voronoi::testing::run_every_kernel();
    box_cut::pass::run_every_kernel();
}

#[cfg(test)]
pub(crate) use voronoi::testing::ball;

pub use breaker::{
    Break, BreakContext, Breaker, CutSource, Cutter, Kept, Lost, MethodEntry, MethodOption, Part, Passes,
    Pieces, PreviewTarget, Strike,
};
pub use breaking::break_shape;
#[cfg(any(test, feature = "testing"))]
pub use breaking::parts_of;
pub use cancel::{Cancel, CancelOnDrop, Cancelled};
pub use cutter::CutterMesh;
pub use generations::{BreakStep, BrokenObject, PieceRef};
pub use interior::{Insides, Interior, LATER, Material, RELIEFS, Relief, Volume};
pub use methods::{by_any_blow, methods, register};
pub use params::{
    CELLS, CHIPS, CRACK, Dab, FractureParams, INTERIOR, Impact, Labelling, MAX_DABS, MAX_SEEDS, MethodId,
    PATTERN, PRESETS, Paint, ParamProblem, PatternError, Preset, Recipe, SURFACE, SmallRule, Smallest,
    Surface,
};
pub use result::{Dropped, Fracture, FractureCounts, FractureError, Merge, Piece, Solved, Source};
pub use sections::{CrackSection, crack_sections};
pub use small::Rejoin;
#[cfg(any(test, feature = "testing"))]
pub use voronoi::reference;
pub use voronoi::{
    Fracturer, VoronoiDetail,
    faces::{VoronoiFace, voronoi_faces},
    islands::labelling,
    missed_fragments::{MissedFragments, missed_fragments},
    pattern::{
        CellSource, Cells, CrackPicture, KeptCells, Pattern, SeedSource, UNIT_BITS, middle_of, nearest_seed,
        shares_of_chips,
    },
    seams::Seams,
    surface::{dusty as dust, rough as crack},
};
