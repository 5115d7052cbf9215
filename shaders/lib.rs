//! The WGSL sources. A line `//#include shared/linear_id` stands for that file, once; `kintsugi-gpu` expands it.

#![deny(missing_docs)]

/// Every shader file: path in this folder without its ending, and text. The build script lists them.
pub const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
