//! Voronoi shatter of a convex object plane by plane, on the processor in double precision.
//!
//! In: the triangles of a convex object and sites. Out: [`Shard`]s, convex polyhedra that fill the object. After
//! "Voronoi Fracture and Destruction", which describes Bullet's demo: the planes of the object and those half way to
//! the other sites, nearest first, are put together until no further site can matter; a shard's vertices are where
//! three planes meet inside all others.
//!
//! Where the text is not sound, and what is done here:
//!
//! - *A single site* has no other to add a plane for, and the text finds vertices only after it added one: no shard. A
//!   cell begins with the corners of the object here.
//! - *Equal sites* have no plane between them (a vector of length zero is normalised), and nearly equal ones have
//!   planes to a third that cannot be told apart. The later of two within a millionth of the size has no cell.
//! - *The stop rule* holds: a plane at half the distance of a site is beyond all vertices if that is more than twice
//!   the farthest vertex. It needs vertices that are all there, which the text cannot say of its own: thresholds on
//!   nearly parallel planes lose some, the rule then stops early and planes go that still bound the shard. Corners are
//!   not lost here, see `cell.rs`.
//! - *Planes that coincide* (the two triangles of a cube's side) each give all vertices again. They are merged here.
//! - *Sizes*: the text's tolerances are fixed numbers, all of a thing of 1 mm. Here they are shares of the size.
//! - *Convex or not* is never asked. Here it is, see `gather.rs`.
//!
//! Planes are not moved about the site, as in the text, but about the middle of the object: a mesh's corner is then the
//! same point in all cells, and those of a site far away lose no digits.

mod object;
mod breaker;
#[cfg(test)]
mod breaker_tests;
mod cell;
mod polyhedron;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod planted_tests;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use breaker::{ENTRY, PlanesDetail};
pub use object::{Plane, Planes};

use glam::{DMat3, DVec3};

/// Points of the object nearer to a plane than this share of its size lie on it: the same as for convex bodies, and
/// above the rounding of meshes in single precision. Where faces meet at so small angles that this leaves gaps, the
/// next is taken.
const FLAT: [f64; 4] = [1e-6, 1e-7, 1e-9, 1e-11];

/// Corners of a cell nearer than this share of the size to a plane that is added lie on it. A thing of just that size
/// may lie on one plane and not on another that is the same to within rounding, and faces then do not close; the cell
/// is cut again with the next of these. Of 1 000 cells that are made to be so, about one is.
const TOUCH: [f64; 6] = [1e-12, 1e-11, 1e-10, 3e-12, 3e-11, 1e-9];

/// Sites nearer to each other than this share of the size are equal: planes between each of them and a third would
/// coincide to within the tolerances in one place and not in another.
const SAME_SITE: f64 = 1e-6;

/// Sites farther from the object than this many of its sizes are refused: planes between two of them would be off by
/// more than the first of [`TOUCH`].
const FARTHEST_SITE: f64 = 1e4;

/// What lies beyond a face of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Beyond {
    /// Nothing: it is part of the object's surface, in this one of its [`Planes`].
    Mesh(usize),
    /// The shard of another site.
    Site(usize),
}

/// A convex piece of the object, in the object's own space.
#[derive(Clone, Debug, PartialEq)]
pub struct Shard {
    /// Whose cell it is.
    pub site: usize,
    /// Each once.
    pub vertices: Vec<DVec3>,
    /// Rings of vertex indices, counter-clockwise from outside. No two lie in one plane.
    pub faces: Vec<Vec<u32>>,
    /// What lies beyond each face; ascending.
    pub beyond: Vec<Beyond>,
    /// Length unit cubed.
    pub volume: f64,
    /// Of mass.
    pub centre: DVec3,
    /// About the centre, at density 1.
    pub inertia: DMat3,
}

/// Why an object was not shattered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShatterError {
    /// A vertex lies outside a triangle's plane.
    #[error(
        "the object is not convex (vertex {vertex} lies {outside:.3e} outside the face of triangle {triangle}): take \
         the octree or the box-cut method, or ask for its convex hull"
    )]
    NotConvex {
        /// The one farthest outside.
        vertex: DVec3,
        /// How far, in the object's unit of length.
        outside: f64,
        /// Index of the triangle.
        triangle: usize,
    },
    /// The triangles leave a gap.
    #[error(
        "the object's surface is not closed: close its holes, take the octree method, or ask for its convex hull"
    )]
    NotClosed,
    /// There is nothing to break, or it is larger or smaller than numbers can hold the volume of.
    #[error(
        "the object has no volume (all its triangles lie in one plane, or it has none), or no usual size"
    )]
    Flat,
    /// A coordinate is not a number, or infinite.
    #[error("{what} {index} has a coordinate that is not finite: correct it or leave it out")]
    NotFinite {
        /// A triangle or a site.
        what: &'static str,
        /// Which of them.
        index: usize,
    },
    /// Its convex hull has more faces than can be held against its corners in a moment.
    #[error(
        "the object is round and fine: its convex hull has {faces} faces, each of which would be held against every \
         corner; simplify the mesh, or take the box-cut method"
    )]
    TooFine {
        /// How many.
        faces: usize,
    },
    /// A site is too far away for its planes to be exact.
    #[error(
        "site {site} is more than {FARTHEST_SITE:e} times the object's size away: move it nearer or leave it out"
    )]
    FarSite {
        /// Index of the site.
        site: usize,
    },
}

/// Shatters the object that `triangles` bound (with `hull` its convex hull) into the cells of `sites`. Whoever wants to
/// know the triangles that lie on a face makes [`Planes`] first.
///
/// Shards are ascending by site. A site whose cell lies outside the object has none, nor has one within a millionth of
/// the size of an earlier one. Without sites there are no shards. The same input gives the same bytes on any number of
/// threads.
///
/// # Errors
/// [`ShatterError`] where the object is not convex and no hull is asked for, not closed, flat, or not finite.
pub fn shatter(triangles: &[[DVec3; 3]], sites: &[DVec3], hull: bool) -> Result<Vec<Shard>, ShatterError> {
    Planes::new(triangles, hull)?.shatter(sites)
}
