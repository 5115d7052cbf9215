//! Which cells a fragment occupies, on grids of ever coarser cells: the fast "is it near at all?" of Glondu et al.
//! 2012, sec. 4.5.
//!
//! The paper keeps a bit for every fragment in each cell. Here each fragment has a bit for every cell: masks do not
//! grow with the number of fragments ever made, and a fracture writes the masks of the new fragments only. A coarse
//! cell is set if *any* of its eight cells is. (The paper takes the logical AND, by which fragments that fill no coarse
//! cell would be missed.)
//!
//! Errors that tests plant in the stages, to show that the checks find them. The program itself uses none.
//!
//! # The cube grid that a field lies on: cells, and nodes at their corners
//!
//! Cells are those of a coarse octree level, so far as the object's bounds reach; the hexahedra of the
//! paper's mesh.

use glam::{DVec3, IVec3};

use crate::geometry::Aabb;

/// Balls slightly larger than half a cell are tested on the next level: rounding must not lose a ball that just
/// touches.
const SLACK: f64 = 1.0 + 1e-9;

/// A bit for each cell of a box of cells.
#[derive(Clone, Debug, Default)]
pub struct CellBits {
    low: IVec3,
    size: IVec3,
    words: Vec<u64>,
}

impl CellBits {
    /// Nothing in the cells from `low` to before `high`.
    #[must_use]
    pub fn empty(low: IVec3, high: IVec3) -> Self {
        let size = (high - low).max(IVec3::ZERO);
        let count = size.x as usize * size.y as usize * size.z as usize;
        Self { low, size, words: vec![0; count.div_ceil(64)] }
    }

    fn bit(&self, cell: IVec3) -> Option<usize> {
        let (low, high) = self.range();
        let is_there = cell.cmpge(low).all() && cell.cmplt(high).all();
        is_there.then(|| {
            let at = cell - low;
            (at.x + self.size.x * (at.y + self.size.y * at.z)) as usize
        })
    }

    /// Whether the cell's bit is set; not beyond the box.
    #[must_use]
    pub fn has(&self, cell: IVec3) -> bool {
        self.bit(cell).is_some_and(|bit| self.words[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// Sets a cell's bit; what is beyond the box is passed over.
    pub fn set(&mut self, cell: IVec3) {
        if let Some(bit) = self.bit(cell) {
            self.words[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Number of cells whose bit is set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Low corner of the box, and the cell beyond its high one.
    #[must_use]
    pub fn range(&self) -> (IVec3, IVec3) {
        (self.low, self.low + self.size)
    }

    /// The bits for cells of twice the edge.
    fn coarser(&self, flaw: Flaw) -> Self {
        let (low, high) = self.range();
        let halved = |v: IVec3| v.map(|c| c.div_euclid(2));
        let mut out = Self::empty(halved(low), halved(high + 1));
        let (low, high) = out.range();
        for at in Self::box_of(low, high) {
            let below = ROUND_A_NODE.map(|corner| self.has(at * 2 - corner));
            if flaw.joins(&below) {
                out.set(at);
            }
        }
        out
    }

    /// All cells from `low` to before `high`, x fastest.
    pub fn box_of(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
        (low.z..high.z).flat_map(move |z| {
            (low.y..high.y).flat_map(move |y| (low.x..high.x).map(move |x| IVec3::new(x, y, z)))
        })
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.words[..])
    }
}

/// The cells of a fragment on all levels, finest first.
#[derive(Clone, Debug)]
pub struct Occupancy {
    levels: Vec<CellBits>,
}

impl Occupancy {
    /// Built from the cells that contain any of the fragment's solid.
    #[must_use]
    pub fn new(finest: CellBits, flaw: Flaw) -> Self {
        let mut levels = vec![finest];
        // Up to the level on which the fragment fills only cells that share one node.
        while let Some(last) = levels.last().filter(|last| last.size.max_element() > 2) {
            let next = last.coarser(flaw);
            levels.push(next);
        }
        Self { levels }
    }

    /// Cells of the field's level.
    #[must_use]
    pub fn finest(&self) -> &CellBits {
        &self.levels[0]
    }

    /// Whether the ball may touch one of the cells; true for balls larger than half a cell of the coarsest level.
    ///
    /// The level is that whose cells are just wider than the ball, so that the ball lies in the eight cells at the node
    /// nearest to its middle.
    #[must_use]
    pub fn meets(&self, lattice: &Lattice, p: DVec3, r: f64) -> bool {
        let mut cell = lattice.cell;
        for bits in &self.levels {
            if 2.0 * r * SLACK <= cell {
                return Self::meets_on(bits, lattice.origin, cell, p, r);
            }
            cell *= 2.0;
        }
        true
    }

    fn meets_on(bits: &CellBits, origin: DVec3, cell: f64, p: DVec3, r: f64) -> bool {
        let node = ((p - origin) / cell).round().as_ivec3();
        let reach = r * SLACK + cell * 1e-12;
        ROUND_A_NODE.iter().map(|step| node.saturating_add(*step)).any(|at| {
            if !bits.has(at) {
                return false;
            }
            let low = origin + at.as_dvec3() * cell;
            let apart = (low - p).max(p - low - cell).max(DVec3::ZERO);
            apart.length_squared() <= reach * reach
        })
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(CellBits::bytes).sum()
    }
}

/// A planted error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// Fronts use the direction to the surface as the direction away from it.
    #[cfg(test)]
    WrongFront,
    /// Directions lead into the solid.
    #[cfg(test)]
    FlippedDirection,
    /// A coarse cell has a fragment only where all its cells have it.
    #[cfg(test)]
    AndForOr,
    /// Nodes of one new fragment are assigned to the next.
    #[cfg(test)]
    FragmentsMixedUp,
}

impl Flaw {
    /// What a step of a front adds to the distance of a node with this direction.
    #[must_use]
    pub fn gained(self, direction: DVec3, back: DVec3) -> f64 {
        #[cfg(test)]
        if self == Self::WrongFront {
            return -direction.dot(back);
        }
        direction.dot(back)
    }

    /// The outward direction.
    #[must_use]
    pub fn outward(self, direction: DVec3) -> DVec3 {
        #[cfg(test)]
        if self == Self::FlippedDirection {
            return -direction;
        }
        direction
    }

    /// Whether a coarse cell has what its eight cells have.
    #[must_use]
    pub fn joins(self, below: &[bool; 8]) -> bool {
        #[cfg(test)]
        if self == Self::AndForOr {
            return !below.contains(&false);
        }
        below.contains(&true)
    }

    /// The index of the new fragment, of `count`, to which a node of the k-th is assigned.
    #[must_use]
    pub fn owner(self, k: usize, count: usize) -> usize {
        #[cfg(test)]
        if self == Self::FragmentsMixedUp {
            return (k + 1) % count;
        }
        let _ = count;
        k
    }
}

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
