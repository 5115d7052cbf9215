//! The list of pieces: their names and sizes, its order and filter, and the selection.
//!
//! In: bodies and their data. Out: plain rows for a panel, a histogram of sizes, ids to select. Nothing here changes a
//! body.

mod histogram;
mod rows;
mod selection;

pub use histogram::Histogram;
pub use rows::{PieceRow, SizeRange, SizeUnit, SortBy, SortOrder, listed, unit_of};
pub use selection::Selection;
