//! The kinds of crack surface: the bisector plane, a rough surface through the voxels of a coarser level, or two such
//! surfaces with a gap of dust between them. `boundary_set` writes the voxels of all three, [`plane`] is the
//! arithmetic of their planes.

pub(in crate::fracture) mod boundary_set;
pub mod dusty;
pub(in crate::fracture) mod leaf_voxels;
pub(in crate::fracture) mod native;
pub mod planar;
pub mod plane;
#[cfg(test)]
mod plane_parity;
#[cfg(test)]
pub(in crate::fracture) mod random;
pub(in crate::fracture) mod refine;
pub mod rough;
