//! What a pair shares: points on both surfaces, columns from entry to exit, volume and its gradient (Domaradzki & Martyn
//! 2016, sec. 5.1.2 and 5.1.3), for a response that needs it, for the log and for drawing.

use crate::BodyId;
use glam::DVec3;

/// Averaged collision point of one cell and one of the two surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollisionPoint {
    /// World, m.
    pub position: DVec3,
    /// Out of the body whose surface it is; world, unit.
    pub normal: DVec3,
    /// Owner of the surface: 0 is the first body, 1 the other.
    pub owner: u32,
}

/// A stretch of one column of the lattice that lies inside both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Lattice axis along which it runs, 0 to 2.
    pub axis: u32,
    /// World direction of that axis, unit.
    pub direction: DVec3,
    /// Its middle, world, m.
    pub middle: DVec3,
    /// From entry to exit, m.
    pub length: f64,
    /// Cross-section, m^2: a cell's, and less along axes that overestimate the volume.
    pub area: f64,
    /// Owners of the entry and the exit.
    pub owners: [u32; 2],
    /// Mean of both surfaces' normals, out of the first; world, unit.
    pub normal: DVec3,
}

impl Column {
    /// How the length changes with the first body's motion along `direction`: 1, -1, or 0 where both ends are
    /// of one body.
    #[must_use]
    pub fn sign(&self) -> f64 {
        f64::from(self.owners[0]) - f64::from(self.owners[1])
    }
}

/// The overlap of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The body whose lattice is used.
    pub first: BodyId,
    /// The other body; `None` is a plane.
    pub second: Option<BodyId>,
    /// Levels at which they collide (0 for a plane).
    pub levels: [u32; 2],
    /// Edge of a cell, m.
    pub cell: f64,
    /// Collision points, by ascending cell.
    pub points: Vec<CollisionPoint>,
    /// Columns along all three axes.
    pub columns: Vec<Column>,
    /// Volume as the columns of each axis find it, m^3.
    pub volumes: [f64; 3],
    /// Volume by the axis with the most columns, m^3: across something thin, the others are as coarse as the
    /// cells.
    pub volume: f64,
    /// How the volume grows as the first body moves, m^2, world.
    pub gradient: DVec3,
}
