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

/// The forces at the nodes of a chunk. Without closures: these would be compiled apart from the vectors of `S`.
#[inline(always)]
pub(crate) fn product<T: Real, S: Simd>(
    lattice: &Lattice,
    matrices: &Matrices<T>,
    u: &[Chunk<T>],
    chunk: usize,
) -> Chunk<T> {
    let near = &lattice.near[chunk];
    let zero = T::Octet::<S>::splat(T::default());
    // The eight nodes, and those beside them in all 26 directions. A literal, so that nothing is set to zero first.
    let around = [
        beside::<T, S>(u, near, 0),
        beside::<T, S>(u, near, 1),
        beside::<T, S>(u, near, 2),
        beside::<T, S>(u, near, 3),
        beside::<T, S>(u, near, 4),
        beside::<T, S>(u, near, 5),
        beside::<T, S>(u, near, 6),
        beside::<T, S>(u, near, 7),
        beside::<T, S>(u, near, 8),
    ];
    let around = around.as_flattened();
    let mut sum = [zero; 3];
    if lattice.full[chunk] {
        for n in 0..27 {
            sum = add_block::<T, S>(sum, &matrices.full[n], &around[n]);
        }
        return [sum[0].array(), sum[1].array(), sum[2].array()];
    }
    for cell in 0..8 {
        let row = HERE - 3 * (cell >> 1 & 1) - 9 * (cell >> 2 & 1);
        let here = lattice.fill[near[row] as usize];
        let fill =
            if cell & 1 == 0 { here } else { late(lattice.fill[near[row - 1] as usize][LANES - 1], here) };
        if fill == [0.0; LANES] {
            continue;
        }
        let mut force = [zero; 3];
        // The cell's lowest corner, seen from the node.
        let low = HERE - (cell & 1) - 3 * (cell >> 1 & 1) - 9 * (cell >> 2 & 1);
        for corner in 0..8 {
            let n = low + (corner & 1) + 3 * (corner >> 1 & 1) + 9 * (corner >> 2 & 1);
            force = add_block::<T, S>(force, &matrices.cell[cell][corner], &around[n]);
        }
        let [a, b, c, d, e, f, g, h] = fill;
        let fill = [
            T::single(a),
            T::single(b),
            T::single(c),
            T::single(d),
            T::single(e),
            T::single(f),
            T::single(g),
            T::single(h),
        ];
        let fill = T::Octet::<S>::of(fill);
        sum =
            [sum[0].add(force[0].mul(fill)), sum[1].add(force[1].mul(fill)), sum[2].add(force[2].mul(fill))];
    }
    [sum[0].array(), sum[1].array(), sum[2].array()]
}

/// The nodes of row `row` of the nine round a chunk: before its own, at its own, after its own.
#[inline(always)]
fn beside<T: Real, S: Simd>(u: &[Chunk<T>], near: &[u32; 27], row: usize) -> [[T::Octet<S>; 3]; 3] {
    let before = &u[near[3 * row] as usize];
    let here = &u[near[3 * row + 1] as usize];
    let after = &u[near[3 * row + 2] as usize];
    let [ax, ay, az] = [before[0][LANES - 1], before[1][LANES - 1], before[2][LANES - 1]];
    let [bx, by, bz] = [after[0][0], after[1][0], after[2][0]];
    [
        [Octet::of(late(ax, here[0])), Octet::of(late(ay, here[1])), Octet::of(late(az, here[2]))],
        [Octet::of(here[0]), Octet::of(here[1]), Octet::of(here[2])],
        [Octet::of(early(here[0], bx)), Octet::of(early(here[1], by)), Octet::of(early(here[2], bz))],
    ]
}

/// Each number in the next lane, and another one in the first.
#[inline(always)]
fn late<T: Copy>(first: T, [a, b, c, d, e, f, g, _]: [T; LANES]) -> [T; LANES] {
    [first, a, b, c, d, e, f, g]
}

/// Each number in the lane before, and another one in the last.
#[inline(always)]
fn early<T: Copy>([_, b, c, d, e, f, g, h]: [T; LANES], last: T) -> [T; LANES] {
    [b, c, d, e, f, g, h, last]
}

/// Adds a block times the vectors of eight nodes.
#[inline(always)]
fn add_block<T: Real, S: Simd>(
    sum: [T::Octet<S>; 3],
    block: &[[T; 3]; 3],
    v: &[T::Octet<S>; 3],
) -> [T::Octet<S>; 3] {
    let [x, y, z] = *v;
    let [rx, ry, rz] = block;
    [row::<T, S>(sum[0], rx, x, y, z), row::<T, S>(sum[1], ry, x, y, z), row::<T, S>(sum[2], rz, x, y, z)]
}

#[inline(always)]
fn row<T: Real, S: Simd>(
    sum: T::Octet<S>,
    row: &[T; 3],
    x: T::Octet<S>,
    y: T::Octet<S>,
    z: T::Octet<S>,
) -> T::Octet<S> {
    // Only one addition waits for the sum so far.
    let here = x.mul(Octet::splat(row[0])).add(y.mul(Octet::splat(row[1]))).add(z.mul(Octet::splat(row[2])));
    sum.add(here)
}
