//! The fragment distance field of Glondu et al. 2012, sec. 4: contacts of objects that break.
//!
//! In: the shape of an object, and of all its fragments. Out: for every fragment the depth of a point in it and the
//! direction out, without a rebuild after a fracture. [`FamilyField`] is the field, one for an object and all its
//! fragments; a [`Fragment`] of it is an [`Interior`].
//!
//! *The surface* of an octree are the polygons in which the leaves' planes and cuts cross their voxels
//! (`leaf.rs`), that of a mesh its triangles. *Inside* is what lies below planes and cuts, voxel by voxel.
//! `family.rs` has the field, `nodes.rs` the recipe: exact values from the surface at the start
//! (`octree_solid.rs`, and `solid.rs` for meshes); after a fracture exact values in cut cells, and fronts from there.
//! `fragment.rs` are the queries, `octree_solid.rs` has the directions of smooth surfaces, `occupancy.rs` the grid of
//! bits that rejects distant points. `family.rs` slices the field for display, too.

mod family;
mod fragment;
mod leaf;
mod nodes;
mod occupancy;
mod octree_solid;
mod polygon;
mod solid;
#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod direction_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use super::interior;

pub use family::{FamilyField, FieldError, FragmentId, MAX_FIELD_LEVEL, Node, Slice, SliceSample};
pub use fragment::{Fragment, Wall};
pub use interior::{Depth, Interior};
pub use leaf::{Foot, LeafPlane};
pub use nodes::Update;
pub use occupancy::Lattice;
pub use octree_solid::OctreeSolid;
