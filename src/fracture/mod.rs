//! Breaking an octree into pieces (Domaradzki & Martyn 2016, sec. 4).

mod params;
mod pieces;

pub use params::{FractureParams, Impact, Pattern, PatternError, Surface};
pub use pieces::{Fracture, FractureCounts, FractureError, Fracturer, Piece, Source};
