//! Breaking meshes by Voronoi cells that are cut out of a box (Chlubna, "Brittle Body Simulation on GPU").
//!
//! In: a closed mesh, seeds. Out: closed pieces with the mesh's own triangles, texture coordinates and materials, and
//! caps on the cracks. The files stand in the order of the data: [`sites`] is the paper's own pattern of seeds; `nearest`
//! and `sphere_tree` give the neighbours of a site in the order of their distance, `exact` decides on which side of a
//! plane a vertex lies, `cut` cuts one cell out of the box, `cell` is what comes out, `pass` cuts all of them on a device
//! and `stage` knows where, [`complex`] puts them together; [`split`] cuts the mesh along them, [`pieces`] says what every
//! triangle shows. `breaker` is the recipe.

#[cfg(test)]
mod beside_octree_tests;
pub mod breaker;
#[cfg(test)]
mod breaker_tests;
mod cell;
#[cfg(test)]
mod cell_tests;
pub mod complex;
#[cfg(test)]
mod complex_tests;
mod cut;
pub(in crate::fracture) mod pass;
#[cfg(test)]
mod planted_tests;
pub mod sites;
mod sphere_tree;
pub mod split;
#[cfg(test)]
mod testing;

pub use breaker::{BoxCutDetail, METHOD};
pub use cell::{Cell, CellPlane, CellVertex, Edge, cells, cells_by};
pub use complex::{Beyond, Complex, Facet, Plane, Point, Vertex};
#[cfg(test)]
pub(crate) use pass::THREADS as CELL_THREADS;
pub use sphere_tree::{NearestBy, SphereNode, sphere_nodes};
