//! The kit that all tests of this folder share, and how they are named.
//!
//! | file | what it has |
//! |---|---|
//! | `adapter.rs` | the device, opened once a test program |
//! | `stage.rs` | a scene behind the window: open it, wait for what it does, step, break |
//! | `solids.rs` | solids made of voxels, for tests inside and outside the library |
//! | `program.rs` | runs the built program; folders to write to |
//! | `injure.rs` | damages files |
//! | `results.rs` | reads what the program wrote; a digest of bytes |
//! | `window.rs` | the program in a window of a display of its own: mouse, keys, what it shows |
//! | `plane_cut.rs`, `spheres.rs` | a method and a generator that the program does not have |
//! | `skip.rs` | what happens where the machine lacks something: the one place that decides |
//!
//! Test programs: `fracture/` has what must be true of every fracture (F1 to F10, a file each), `physics/` what
//! must be true of every motion (P1 to P23, P26 and P27, a file each; P14 is tested beside the broad phase), `sandbox/` the
//! engine behind the window, `cli/` the commands and their files, `window.rs` the window under a display of its
//! own, `window_exports.rs` what leaves it as pieces, `window_leaves.rs` what leaves it as motion and as a film,
//! `window_holds.rs` a structure from paint to export in it, `window_stage.rs` a stage set by hand in it,
//! `window_ends.rs` how it ends when nobody closes it, `random_use.rs` anything at all done to it,
//! `killed.rs` commands and windows that are killed, `method.rs`
//! and `generator.rs` a method and a generator from outside, `from_outside.rs` the same two in the window,
//! `licences.rs` the crates. Tests of one module's insides stand beside it in `src/`; so do small files of every kind
//! and damaged ones through every reader, in `src/corpus_tests.rs`.
//!
//! A test is named by the sentence that it proves. A check stands in a file that begins with its number
//! (`f4_pieces`, `p4_drift`); in `src/` the number begins its name. A test that compares two things has a
//! case with a planted error, or counts what it compared.

#![allow(dead_code, reason = "each test program uses a part of this")]

pub mod adapter;
pub mod injure;
pub mod plane_cut;
pub mod program;
pub mod results;
pub mod skip;
pub mod solids;
pub mod spheres;
pub mod stage;
pub mod window;
