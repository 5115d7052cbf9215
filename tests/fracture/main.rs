//! What must hold of every fracture (F1 to F10), checked against the brute force on six shapes, on random
//! cases that shrink, on pieces of pieces, and on meshes from outside where there are any. One file for each
//! F holds its checks and what is its own; `checks.rs` lists them, `planted.rs` shows that each finds its
//! error.

#![allow(
    clippy::disallowed_methods,
    reason = "what a test expects may differ in its last bits from system to system"
)]

mod bed;
mod cases;
mod checks;
mod f1_boundary_set;
mod f2_mass;
mod f3_motion;
mod f4_pieces;
mod f5_partners;
mod f6_hidden;
mod f7_local;
mod f8_generations;
mod f9_bytes;
mod f10_dust;
mod meshes;
mod planted;
mod random;
mod shapes;
mod six;
#[path = "../support/mod.rs"]
mod support;
