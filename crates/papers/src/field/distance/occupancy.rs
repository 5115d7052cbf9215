//! Which cells a fragment occupies, on grids of ever coarser cells: the fast "is it near at all?" of Glondu et al.
//! 2012, sec. 4.5.
//!
//! The paper keeps a bit for every fragment in each cell. Here each fragment has a bit for every cell: masks do not
//! grow with the number of fragments ever made, and a fracture writes the masks of the new fragments only. A coarse
//! cell is set if *any* of its eight cells is. (The paper takes the logical AND, by which fragments that fill no coarse
//! cell would be missed.)

use super::{
    flaw::Flaw,
    lattice::{Lattice, ROUND_A_NODE},
};
use glam::{DVec3, IVec3};

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
