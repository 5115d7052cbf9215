//! Linear elastic stress of a body on the cells of its octree.
//!
//! In: an octree, a level, a material; what holds the body, and loads. Out: displacements of the corners of the cells and
//! the stress in every cell.
//!
//! An [`ElasticBody`] is the cells of one shape. A [`Solver`] is such a body, held somewhere or free; it is made once and
//! solves for any number of loads. A [`Solution`] answers for cells ([`Solution::stress`], [`Solution::tension`]) and for
//! points ([`Solution::stress_at`]). Where a body is weak, whatever loads it, [`Weakness`] says, and [`FractureModes`] which of
//! its bonds are. Points are in shape space (metres, the axes of the imported object), forces in newtons, stresses
//! in pascals.
//!
//! Large bodies are solved in compute passes where there is a device ([`Solver::in_passes`]), to the same accuracy. Results have
//! the same bytes on any number of threads, and twice on one device: every sum has one order.
//!
//! ```
//! use kintsugi_core::{fracture::Cancel, mesh, shape::Octree, voxelize};
//! use kintsugi_elastic::{ElasticBody, Load, Material, Settings, Solver};
//! use std::sync::Arc;
//!
//! let vase = mesh::builtin("vase").ok_or("no vase")?;
//! let voxels = voxelize::voxelize(&vase, 5, &Default::default())?;
//! let octree = Octree::new(&Arc::new(voxels.forest), 0, voxels.grid);
//! let glass = Material { youngs_modulus: 70e9, poissons_ratio: 0.22, density: 2500.0 };
//! let body = Arc::new(ElasticBody::new(&octree, 4, glass)?);
//! let solver = Solver::free(&body);
//! let point = glam::DVec3::new(0.2, 0.5, 0.0);
//! let blow = Load::Blow { point, direction: -glam::DVec3::X, radius: 0.05, newtons: 100.0 };
//! let solution = solver.solve(&[blow], &Settings::DISPLAY, None, Cancel::never())?;
//! assert!(solution.tension().iter().any(|pascals| *pascals > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
// Whether threads may share a solver depends on all that it holds, down to a device's modules.
#![recursion_limit = "256"]
#![allow(
    clippy::needless_range_loop,
    reason = "a node, a lane or an axis is a place in several arrays at once"
)]

use kintsugi_gpu as gpu;

mod body;
mod cells;
mod coarsest;
mod element;
mod error;
mod field;
mod fracture_modes;
mod lattice;
mod loads;
mod material;
mod multigrid;
mod parts;
mod passes;
mod product;
mod rigid;
mod solution;
mod solver;
mod stress;
mod transfer;
mod weakness;
#[cfg(test)]
mod tests;

pub use body::{Cell, ElasticBody, Face};
pub use error::ElasticError;
pub use fracture_modes::{FractureMode, FractureModes, MOST_MODES, MOST_PARTS, ModeBond, ModePart};
pub use loads::Load;
pub use material::Material;
pub use parts::BodyParts;
pub use solution::{Convergence, Settings, Solution};
pub use solver::{FEWEST_IN_PASSES, Solver};
pub use stress::Stress;
pub use weakness::Weakness;
