//! Pieces as a list: what each is called and how large it is, in which order and which sizes are listed, which are
//! selected.
//!
//! In: bodies and what is known about them. Out: plain rows for a panel, a histogram of sizes, names to select. Nothing
//! in here changes a body.

mod histogram;
mod rows;
mod selection;

pub use histogram::Histogram;
pub use rows::{PieceRow, SizeRange, SizeUnit, SortBy, SortOrder, listed, unit_of};
pub use selection::Selection;
