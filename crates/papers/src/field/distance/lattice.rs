//! The cube grid that a field lies on: cells, and nodes at their corners.
//!
//! Cells are those of a coarse octree level, so far as the object's bounds reach; the hexahedra of the
//! paper's mesh.

use crate::geometry::Aabb;
use glam::{DVec3, IVec3};

/// Cells and nodes, x fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Node 0, local space.
    pub origin: DVec3,
    /// Edge of a cell, local units.
    pub cell: f64,
    /// Cells along each axis, at least 1.
    pub cells: IVec3,
}

/// Steps to the neighbours of a node: all corners of the cells that it is a corner of.
pub static NEIGHBOURS: [IVec3; 26] = neighbours();

const fn neighbours() -> [IVec3; 26] {
    let mut out = [IVec3::ZERO; 26];
    let (mut k, mut at) = (0, 0);
    while at < 27 {
        if at != 13 {
            out[k] = IVec3::new(at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1);
            k += 1;
        }
        at += 1;
    }
    out
}

/// Low corners of the eight cells round node 0, and corners of cell 0 from its low one when negated.
pub const ROUND_A_NODE: [IVec3; 8] = [
    IVec3::new(-1, -1, -1),
    IVec3::new(0, -1, -1),
    IVec3::new(-1, 0, -1),
    IVec3::new(0, 0, -1),
    IVec3::new(-1, -1, 0),
    IVec3::new(0, -1, 0),
    IVec3::new(-1, 0, 0),
    IVec3::new(0, 0, 0),
];

impl Lattice {
    /// Cells of edge `cell` that cover `low..high`; they begin at whole multiples of the edge from the local
    /// origin where `is_aligned`, else at `low`.
    #[must_use]
    pub fn around(Aabb { low, high }: Aabb, cell: f64, is_aligned: bool) -> Self {
        let origin = if is_aligned { (low / cell).floor() * cell } else { low };
        let cells = ((high - origin) / cell).ceil().as_ivec3().max(IVec3::ONE);
        Self { origin, cell, cells }
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        let n = self.cells + 1;
        n.x as usize * n.y as usize * n.z as usize
    }

    /// Index of a node, where there is one.
    #[must_use]
    pub fn node(&self, at: IVec3) -> Option<usize> {
        let n = self.cells + 1;
        let is_there = at.cmpge(IVec3::ZERO).all() && at.cmplt(n).all();
        is_there.then(|| (at.x + n.x * (at.y + n.y * at.z)) as usize)
    }

    /// Coordinates of a node.
    #[must_use]
    pub fn at(&self, node: usize) -> IVec3 {
        let n = self.cells + 1;
        let node = node as i32;
        IVec3::new(node % n.x, node / n.x % n.y, node / (n.x * n.y))
    }

    /// How far on the next row and the next layer are numbered.
    #[must_use]
    pub fn strides(&self) -> [isize; 2] {
        let n = self.cells + 1;
        [n.x as isize, n.x as isize * n.y as isize]
    }

    /// The neighbours of a node, with the steps to them.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = (usize, IVec3)> {
        let (at, cells) = (self.at(node), self.cells);
        let [row, layer] = [cells.x + 1, (cells.x + 1) * (cells.y + 1)];
        NEIGHBOURS.iter().filter_map(move |&step| {
            let to = at + step;
            let is_there = to.cmpge(IVec3::ZERO).all() && to.cmple(cells).all();
            is_there.then(|| ((to.x + row * to.y + layer * to.z) as usize, step))
        })
    }

    /// Where a node is, local space.
    #[must_use]
    pub fn place(&self, at: IVec3) -> DVec3 {
        self.origin + at.as_dvec3() * self.cell
    }

    /// The cell that a point lies in; of a point outside, the cell of an endless grid, as far as 32 bits go.
    #[must_use]
    pub fn cell_of(&self, p: DVec3) -> IVec3 {
        ((p - self.origin) / self.cell).floor().as_ivec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_and_found_again() {
        let lattice =
            Lattice::around(Aabb::new(DVec3::new(3.0, 9.0, 4.5), DVec3::new(17.0, 12.0, 8.0)), 4.0, true);
        assert_eq!((lattice.origin, lattice.cells), (DVec3::new(0.0, 8.0, 4.0), IVec3::new(5, 1, 1)));
        assert_eq!(lattice.nodes(), 6 * 2 * 2);
        for node in 0..lattice.nodes() {
            assert_eq!(lattice.node(lattice.at(node)), Some(node));
        }
        assert_eq!(lattice.node(IVec3::new(6, 0, 0)), None);
        for (node, step) in lattice.neighbours(7) {
            assert_eq!(lattice.at(node), lattice.at(7) + step);
        }
        assert_eq!(lattice.neighbours(0).count(), 7);
        assert!(NEIGHBOURS.iter().all(|way| *way != IVec3::ZERO && NEIGHBOURS.contains(&-*way)));
    }
}
