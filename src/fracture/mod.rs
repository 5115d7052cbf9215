//! Breaking an octree into pieces.
//!
//! [`voronoi`] is how: cells of seeds, walked down the octree (Domaradzki & Martyn 2016, sec. 4). What every way of breaking shares is
//! here: what is asked for ([`FractureParams`], [`Recipe`]), what comes out ([`Fracture`]), what shows inside ([`interior`]), small
//! pieces, and solving for a number of pieces.

pub mod interior;
mod params;
mod result;
mod small;
mod solve;
pub mod voronoi;

pub use interior::{Interior, Material, Volume};
pub use params::{FractureParams, Impact, ParamProblem, Preset, Recipe, SmallRule, Smallest, Surface};
pub use result::{Dropped, Fracture, FractureCounts, FractureError, Merge, Piece, Solved, Source};
pub use voronoi::{
    Fracturer,
    faces::{VoronoiFace, voronoi_faces},
    hidden::{Hidden, hidden},
    islands::labelling::{self, Labelling},
    pattern::{MAX_SEEDS, Pattern, PatternError, UNIT_BITS},
    reference,
    seams::Seams,
    surface::{dusty as dust, rough as crack},
};
