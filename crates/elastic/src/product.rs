//! The product of the stiffness matrix and a vector, without the matrix.
//!
//! In: a lattice, the matrix of one cell, a vector. Out: forces at the nodes.
//!
//! Each node gathers from its eight cells, in one order, so nothing is written twice and the bytes do not depend on the
//! number of threads. Where all cells round eight nodes are full, their matrices are added up beforehand to 27 blocks, which
//! takes 243 products a node instead of 576.

use kintsugi_geometry::simd::Simd;

use crate::{
    element::{self, Stiffness},
    field::{Chunk, LANES, Octet, Real},
    lattice::{HERE, Lattice},
};

/// The stiffness of a cell, by blocks, and of eight full cells round a node.
pub(crate) struct Matrices<T> {
    /// Block of two corners of a cell.
    cell: [[[[T; 3]; 3]; 8]; 8],
    /// Block of a node and the node at 9 * (dz + 1) + 3 * (dy + 1) + (dx + 1).
    full: [[[T; 3]; 3]; 27],
}

impl<T: Real> Matrices<T> {
    /// Of the matrix of a cell, `scale` times.
    pub fn new(stiffness: &Stiffness, scale: f64) -> Self {
        let block = |a, b| element::block(stiffness, a, b).map(|row| row.map(|k| scale * k));
        let mut full = [[[0.0; 3]; 3]; 27];
        for a in 0..8 {
            for b in 0..8 {
                let offset = |axis: usize| (b >> axis & 1) + 1 - (a >> axis & 1);
                let to = &mut full[9 * offset(2) + 3 * offset(1) + offset(0)];
                for (to, from) in to.iter_mut().flatten().zip(block(a, b).into_iter().flatten()) {
                    *to += from;
                }
            }
        }
        let rounded = |block: [[f64; 3]; 3]| block.map(|row| row.map(T::of));
        Self {
            cell: std::array::from_fn(|a| std::array::from_fn(|b| rounded(block(a, b)))),
            full: full.map(rounded),
        }
    }
}

/// Eight numbers of a row that has one more at either end.
#[inline(always)]
fn eight<T: Real>(row: &[T; LANES + 2], from: usize) -> [T; LANES] {
    row.get(from..).and_then(|row| row.first_chunk()).copied().unwrap_or_default()
}

/// The forces at the nodes of a chunk.
#[inline(always)]
pub(crate) fn product<T: Real, S: Simd>(
    lattice: &Lattice,
    matrices: &Matrices<T>,
    u: &[Chunk<T>],
    chunk: usize,
) -> Chunk<T> {
    let near = &lattice.near[chunk];
    // The nine rows round the chunk, with a node more at either end.
    let mut rows = [[[T::default(); LANES + 2]; 3]; 9];
    for (row, to) in rows.iter_mut().enumerate() {
        let [before, here, after] = [0, 1, 2].map(|dx| &u[near[3 * row + dx] as usize]);
        for axis in 0..3 {
            to[axis][0] = before[axis][LANES - 1];
            to[axis][1..=LANES].copy_from_slice(&here[axis]);
            to[axis][LANES + 1] = after[axis][0];
        }
    }
    let zero = T::Octet::<S>::splat(T::default());
    let mut sum = [zero; 3];
    if lattice.full[chunk] {
        for (row, values) in rows.iter().enumerate() {
            for dx in 0..3 {
                sum = add_block::<T, S>(sum, &matrices.full[3 * row + dx], values, dx);
            }
        }
        return sum.map(Octet::array);
    }
    for cell in 0..8 {
        let row = HERE - 3 * (cell >> 1 & 1) - 9 * (cell >> 2 & 1);
        let here = &lattice.fill[near[row] as usize];
        let fill = if cell & 1 == 0 {
            *here
        } else {
            let before = lattice.fill[near[row - 1] as usize][LANES - 1];
            let [a, b, c, d, e, f, g, _] = *here;
            [before, a, b, c, d, e, f, g]
        };
        if fill == [0.0; LANES] {
            continue;
        }
        let mut force = [zero; 3];
        for corner in 0..8 {
            let offset = |axis: usize| (corner >> axis & 1) + 1 - (cell >> axis & 1);
            let row = 3 * offset(2) + offset(1);
            force = add_block::<T, S>(force, &matrices.cell[cell][corner], &rows[row], offset(0));
        }
        let fill = T::Octet::<S>::of(fill.map(T::single));
        sum = std::array::from_fn(|axis| sum[axis].add(force[axis].mul(fill)));
    }
    sum.map(Octet::array)
}

/// Adds a block times the nodes `from` on of a row.
#[inline(always)]
fn add_block<T: Real, S: Simd>(
    sum: [T::Octet<S>; 3],
    block: &[[T; 3]; 3],
    row: &[[T; LANES + 2]; 3],
    from: usize,
) -> [T::Octet<S>; 3] {
    let v: [T::Octet<S>; 3] = std::array::from_fn(|axis| Octet::of(eight(&row[axis], from)));
    std::array::from_fn(|i| {
        let times = |j: usize| v[j].mul(Octet::splat(block[i][j]));
        sum[i].add(times(0)).add(times(1)).add(times(2))
    })
}
