//! Geometry that several rooms need, once each, without a word of meshes, octrees or bodies.
//!
//! In and out: numbers, points and lists of them. Every result is the same on every processor, bit for bit.

mod aabb;
mod box_tree;
pub mod exact;
pub mod hull;
pub mod simd;
pub mod srgb;
pub mod triangle;
mod union_find;

pub use aabb::Aabb;
pub use box_tree::BoxTree;
pub use union_find::UnionFind;
