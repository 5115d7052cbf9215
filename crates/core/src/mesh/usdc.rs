//! Binary USD (`.usdc`, a "crate file"): the same tree of prims as text of the layer would be read as.
//!
//! In: bytes of a layer of version 0.4 to 0.16. Out: its tables, of which `tree` makes the prims. Versions before 0.4 (2017) lay
//! their tables out otherwise, and `OpenUSD` itself reads them no more. Layout: pxr/usd/sdf/crateFile.cpp of `OpenUSD`.

mod bytes;
mod tables;
#[cfg(test)]
pub(super) mod tests;
mod tree;
mod values;

pub(super) use tables::{Binary, MARK};
