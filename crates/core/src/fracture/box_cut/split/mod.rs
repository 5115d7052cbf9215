//! Splitting a closed mesh by the cells of a Voronoi complex, exactly, with caps closed from the cut (paper: Chlubna,
//! section 5, "Model geometry splitting").
//!
//! In: the complex of the cells, and a mesh, both in units. Out: for every connected part of the solid in a cell, a
//! closed piece: parts of the mesh's triangles, and caps on the facets of the complex, which the two pieces at a
//! crack share, mirrored.
//!
//! Where this differs from the paper: there, a cell's caps are what the planes of the cell's triangles leave of it,
//! as half-spaces; that is right only where the surface in the cell is convex. Here a cap is the part of a facet
//! inside the solid, closed from the cuts through the surface, and right for any closed mesh. And the paper uses a
//! tolerance for rounding; here all that decides how things hang together is decided exactly (`exact`), and positions
//! are rounded only when they are written.
//!
//! The steps, each a file: `walk` cuts triangles into shards, `crossings` finds where the complex's edges are inside
//! the solid, `caps` closes the cuts and triangulates them (`simple`, `triangulate`), `components` joins
//! shards and caps into surfaces, `shells` puts voids into the pieces round them, `thin` glues sheets of no thickness
//! to their neighbours, `pieces` writes the meshes. Vertices are known by what made them (`made`).

mod error;
mod exact;
mod mesh;
mod skeleton;
mod walk;
mod crossings;
mod caps;
mod triangulate;
mod components;
mod thin;
#[cfg(test)]
mod tests;

use crate::fracture::box_cut::complex::Complex;
use caps::Fault;
use crossings::Crossings;
use glam::DVec3;
use mesh::Makers;
use skeleton::Skeleton;

pub use error::SplitError;
pub use exact::{FINE_BITS, Fine};
pub use mesh::{FineMesh, fine};

/// A connected part of the solid in a cell, closed.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitPiece {
    /// Whose part it is.
    pub cell: u32,
    /// Units. Corners of the mesh have the bits that they came with; a vertex that several pieces have, the same in
    /// all.
    pub positions: Vec<DVec3>,
    /// Counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Where each triangle comes from.
    pub faces: Vec<SplitFace>,
    /// Of each corner of each triangle: barycentric weights in the source triangle; zero for caps.
    pub weights: Vec<[[f32; 3]; 3]>,
}

impl SplitPiece {
    /// Cubic units.
    pub fn volume(&self) -> f64 {
        // From a corner of its own, so that far pieces lose no digits.
        let origin = self.positions.first().copied().unwrap_or_default();
        let six: f64 = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|index| self.positions[index as usize] - origin);
                a.dot(b.cross(c))
            })
            .sum();
        six / 6.0
    }
}

/// Where a triangle of a piece comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SplitFace {
    /// Part of this triangle of the mesh.
    Outside(u32),
    /// Part of the cap on this facet of the complex.
    Cap(u32),
}

/// Splits the mesh: pieces by ascending cell. The same input gives the same bytes on any number of threads.
///
/// The mesh must lie strictly inside the complex's box, on the fine grid too.
pub fn split(mesh: &FineMesh, complex: &Complex) -> Result<Vec<SplitPiece>, SplitError> {
    run(mesh, complex, Fault::default())
}

fn run(mesh: &FineMesh, complex: &Complex, fault: Fault) -> Result<Vec<SplitPiece>, SplitError> {
    mesh.check_inside(complex)?;
    let skeleton = Skeleton::new(complex)?;
    let makers = Makers { mesh, complex, skeleton: &skeleton };
    let shards = walk::walk(makers, fault)?;
    let crossings = Crossings::new(makers, &shards)?;
    let caps = caps::caps(makers, &shards, &crossings, fault)?;
    let surface = components::Surface { makers, shards: &shards, caps: &caps };
    let components = components::components(&surface, fault)?;
    let glued = thin::glue(&surface, &components)?;
    Ok(caps::pieces(&surface, &components, &glued, fault))
}
