//! The nodes of cells, eight in a row at a time.
//!
//! In: cells. Out: chunks of eight nodes along x that lie side by side in memory, and for each chunk where the 26 around it
//! are. Nodes are the corners of cells; a cell has the place of its lowest corner. Chunks without any node of a cell are not
//! stored; they are read as the chunk behind the last, whose values are zero.
//!
//! ```text
//! near of a chunk: 9 * (dz + 1) + 3 * (dy + 1) + (dx + 1), dx in chunks, dy and dz in nodes
//! ```

use kintsugi_core::svo::morton;
use rayon::prelude::*;

use crate::{cells::Cells, field::LANES};

/// The chunk itself in its list of near chunks.
pub(crate) const HERE: usize = 13;

/// All 24 bits of a chunk: bit 8 * axis + lane.
pub(crate) const ALL: u32 = 0xff_ffff;

/// Chunks of nodes of one level.
pub(crate) struct Lattice {
    /// Chunk, y, z of each chunk, by z, then y, then x; its first node has x = 8 * chunk.
    pub places: Vec<[u32; 3]>,
    /// First chunk of each row: `rows[z * side + y]`.
    rows: Vec<u32>,
    /// Nodes along y and z that rows are kept for.
    side: u32,
    /// Indices of the chunks around.
    pub near: Vec<[u32; 27]>,
    /// Fill of the cells whose lowest corners are these nodes, and a chunk of zeros.
    pub fill: Vec<[f32; LANES]>,
    /// Nodes that are corners of a cell, thrice: bit 8 * axis + lane.
    pub active: Vec<u32>,
    /// Whether all cells round all eight nodes are full.
    pub full: Vec<bool>,
}

impl Lattice {
    /// Of the cells of a level.
    pub fn new(cells: &Cells, level: u32) -> Self {
        let side = (1 << level) + 1;
        let chunks_of_cells = |&(key, _): &(u64, f32)| {
            let [x, y, z] = morton::decode(key);
            let at = u64::from(z) << 40 | u64::from(y) << 20 | u64::from(x / 8);
            // The corners of a cell in the last lane lie in the next chunk, too.
            (at, x % 8 == 7)
        };
        let mut chunks: Vec<u64> = Vec::new();
        for (at, is_last) in cells.iter().map(chunks_of_cells) {
            if chunks.last() != Some(&at) {
                chunks.push(at);
            }
            if is_last {
                chunks.push(at + 1);
            }
        }
        chunks.par_sort_unstable();
        chunks.dedup();
        let mut all: Vec<u64> =
            chunks.iter().flat_map(|at| [0, 1 << 20, 1 << 40, 1 << 40 | 1 << 20].map(|d| at + d)).collect();
        all.par_sort_unstable();
        all.dedup();
        let places: Vec<[u32; 3]> =
            all.iter().map(|at| [at & 0xf_ffff, at >> 20 & 0xf_ffff, at >> 40].map(|v| v as u32)).collect();

        let mut rows = vec![0; (side * side) as usize + 1];
        for [_, y, z] in &places {
            rows[(z * side + y) as usize + 1] += 1;
        }
        for row in 1..rows.len() {
            rows[row] += rows[row - 1];
        }
        let count = places.len();
        let mut lattice = Self {
            places,
            rows,
            side,
            near: Vec::new(),
            fill: vec![[0.0; LANES]; count + 1],
            active: Vec::new(),
            full: Vec::new(),
        };
        for (key, fill) in cells {
            let [x, y, z] = morton::decode(*key);
            let chunk = lattice.chunk_at([x / 8, y, z].map(|v| v as i32));
            lattice.fill[chunk as usize][(x % 8) as usize] = *fill;
        }
        lattice.near = lattice.places.par_iter().map(|place| lattice.around(*place)).collect();
        let corners: Vec<(u32, bool)> =
            (0..count).into_par_iter().map(|chunk| lattice.corners(chunk)).collect();
        (lattice.active, lattice.full) = corners.into_iter().unzip();
        lattice
    }

    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        self.places.len()
    }

    /// The index of the chunk at a place, or of the one behind the last.
    pub fn chunk_at(&self, [cx, y, z]: [i32; 3]) -> u32 {
        let side = self.side as i32;
        if cx < 0 || !(0..side).contains(&y) || !(0..side).contains(&z) {
            return self.chunks() as u32;
        }
        let row = (z * side + y) as usize;
        let range = self.rows[row] as usize..self.rows[row + 1] as usize;
        let found = self.places[range.clone()].binary_search_by_key(&(cx as u32), |place| place[0]);
        found.map_or(self.chunks(), |at| range.start + at) as u32
    }

    fn around(&self, place: [u32; 3]) -> [u32; 27] {
        let [cx, y, z] = place.map(|v| v as i32);
        std::array::from_fn(|n| {
            let n = n as i32;
            self.chunk_at([cx + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1])
        })
    }

    /// Fill of the eight cells round each node of a chunk; bit `axis` of a cell is set where it lies below the node.
    pub fn fills(&self, chunk: usize) -> [[f32; LANES]; 8] {
        let near = &self.near[chunk];
        std::array::from_fn(|cell| {
            let row = HERE - 3 * (cell >> 1 & 1) - 9 * (cell >> 2 & 1);
            let here = self.fill[near[row] as usize];
            if cell & 1 == 0 {
                return here;
            }
            let before = self.fill[near[row - 1] as usize];
            std::array::from_fn(|l| if l == 0 { before[LANES - 1] } else { here[l - 1] })
        })
    }

    fn corners(&self, chunk: usize) -> (u32, bool) {
        let fills = self.fills(chunk);
        let of_node = |l: usize| fills.iter().map(move |cell| cell[l]);
        let active = (0..LANES).fold(0, |bits, l| bits | u32::from(of_node(l).any(|fill| fill > 0.0)) << l);
        (active * 0x1_0101, (0..LANES).all(|l| of_node(l).all(|fill| fill == 1.0)))
    }

    /// The node in a lane of a chunk.
    pub fn node(&self, chunk: usize, lane: usize) -> [u32; 3] {
        let [cx, y, z] = self.places[chunk];
        [8 * cx + lane as u32, y, z]
    }

    /// Chunk and lane of a node.
    pub fn find(&self, [x, y, z]: [u32; 3]) -> (usize, usize) {
        (self.chunk_at([x / 8, y, z].map(|v| v as i32)) as usize, (x % 8) as usize)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.active.iter().map(|bits| (bits & 0xff).count_ones() as usize).sum()
    }
}
