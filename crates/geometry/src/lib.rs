//! Geometry that several crates use: boxes, trees of boxes, triangles, polygons, hulls, principal axes, exact predicates, union-find,
//! SIMD lanes, sRGB.
//!
//! In and out: numbers, points and lists of them. Every result is the same on every processor, bit for bit.

#![deny(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests compare with the functions of the system")
)]

mod aabb;
mod box_tree;
pub mod exact;
pub mod hull;
mod inertia;
pub mod polygon;
pub mod simd;
pub mod srgb;
pub mod triangle;
mod union_find;

pub use aabb::Aabb;
pub use box_tree::BoxTree;
pub use inertia::principal;
pub use union_find::UnionFind;
