//! The physics checks P1 to P27, as far as they are there, most on the scenes that are shipped, played as `kintsugi
//! simulate` plays them.
//! Figures are printed. P14 (the broad phase finds what brute force finds) is tested beside its code; shapes
//! made in code are tested in `crates/physics/src/tests.rs`.

#![allow(
    clippy::disallowed_methods,
    reason = "what a test expects may differ in its last bits from system to system"
)]

mod p1_free_fall;
mod p2_weight;
mod p3_depth;
mod p4_drift;
mod p5_stack;
mod p6_slide;
mod p7_incline;
mod p8_rebound;
mod p9_collision;
mod p10_spin;
mod p11_slab;
mod p12_pile;
mod p13_bytes;
mod p15_birth;
mod p17_balls;
mod p18_unequal_stack;
mod p19_any_size;
mod p20_breaking;
mod p21_rolling;
mod p22_tunnelling;
mod p23_unequal_masses;
mod p26_birth;
mod p27_strength;
mod ways;
#[path = "../support/mod.rs"]
mod support;

use ways::Ways;

/// What pulls in the shipped scenes, m/s^2.
const G: f64 = 9.81;
