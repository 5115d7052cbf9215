//! The product of the stiffness matrix and a vector, without the matrix.
//!
//! In: a lattice, the matrix of one cell, a vector. Out: forces at the nodes.
//!
//! Each node gathers from its eight cells, in one order, so nothing is written twice and the bytes do not depend on the
//! number of threads. A cube looks the same from all its corners, but for signs: the block of a node and a neighbour is one
//! block of constants, each times a sum or a difference of the fills of the cells that the two share. That takes 27 blocks a
//! node instead of 64. Where all cells round eight nodes are full, these sums are constants, too.

use kintsugi_geometry::simd::Simd;

use crate::{
    element::{self, Stiffness},
    field::{Chunk, LANES, Octet, Real},
    lattice::{HERE, Lattice},
};

/// The stiffness of cells, by blocks of a node and the node at 9 * (dz + 1) + 3 * (dy + 1) + (dx + 1).
pub(crate) struct Matrices<T> {
    /// Of one cell that has both as corners: the one above the node along axes without an offset.
    pub cell: [[[T; 3]; 3]; 27],
    /// Of eight full cells round the node.
    full: [[[T; 3]; 3]; 27],
}

impl<T: Real> Matrices<T> {
    /// Of the matrix of a cell, `scale` times.
    pub fn new(stiffness: &Stiffness, scale: f64) -> Self {
        let block = |a, b| element::block(stiffness, a, b).map(|row| row.map(|k| scale * k));
        let (mut cell, mut full) = ([[[0.0; 3]; 3]; 27], [[[0.0; 3]; 3]; 27]);
        for a in 0..8 {
            for b in 0..8 {
                let offset = |axis: usize| (b >> axis & 1) + 1 - (a >> axis & 1);
                let n = 9 * offset(2) + 3 * offset(1) + offset(0);
                for (to, from) in full[n].iter_mut().flatten().zip(block(a, b).into_iter().flatten()) {
                    *to += from;
                }
                if a & !(a ^ b) == 0 {
                    cell[n] = block(a, b);
                }
            }
        }
        let rounded = |block: [[f64; 3]; 3]| block.map(|row| row.map(T::of));
        Self { cell: cell.map(rounded), full: full.map(rounded) }
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
    let mut sum = [zero; 3];
    if lattice.full[chunk] {
        for row in 0..9 {
            let [before, here, after] = beside::<T, S>(u, near, row);
            sum = add_full::<T, S>(sum, &matrices.full[3 * row], &before);
            sum = add_full::<T, S>(sum, &matrices.full[3 * row + 1], &here);
            sum = add_full::<T, S>(sum, &matrices.full[3 * row + 2], &after);
        }
        return [sum[0].array(), sum[1].array(), sum[2].array()];
    }
    let fills = fills::<T, S>(lattice, near);
    for z in 0..3 {
        for y in 0..3 {
            let row = 3 * z + y;
            let [before, here, after] = beside::<T, S>(u, near, row);
            let blocks = &matrices.cell;
            sum = add_block::<T, S>(sum, &blocks[3 * row], &before, &fills, [0, y, z]);
            sum = add_block::<T, S>(sum, &blocks[3 * row + 1], &here, &fills, [1, y, z]);
            sum = add_block::<T, S>(sum, &blocks[3 * row + 2], &after, &fills, [2, y, z]);
        }
    }
    [sum[0].array(), sum[1].array(), sum[2].array()]
}

/// Fills of the cells round eight nodes, along each axis: of the cell below the node, of the one above, their sum, and by how
/// much the one above is fuller. In the order z, y, x.
type Fills<V> = [[[V; 4]; 4]; 4];

/// Along an axis, the offset of a neighbour (0, 1, 2 for -1, 0, 1) to the fills of cells that have both as corners.
const SHARED: [usize; 3] = [0, 2, 1];

/// The same with the sign of a displacement across the axis, seen from the other side of a cell.
const SIGNED: [usize; 3] = [0, 3, 1];

#[inline(always)]
fn fills<T: Real, S: Simd>(lattice: &Lattice, near: &[u32; 27]) -> Fills<T::Octet<S>> {
    let along_x = [
        [along_x::<T, S>(lattice, near, HERE - 12), along_x::<T, S>(lattice, near, HERE - 9)],
        [along_x::<T, S>(lattice, near, HERE - 3), along_x::<T, S>(lattice, near, HERE)],
    ];
    let low = along::<T, S>(&along_x[0][0], &along_x[0][1]);
    let high = along::<T, S>(&along_x[1][0], &along_x[1][1]);
    let [y0, y1, y2, y3] = [
        along::<T, S>(&low[0], &high[0]),
        along::<T, S>(&low[1], &high[1]),
        along::<T, S>(&low[2], &high[2]),
        along::<T, S>(&low[3], &high[3]),
    ];
    // From y, z, x to z, y, x.
    [
        [y0[0], y1[0], y2[0], y3[0]],
        [y0[1], y1[1], y2[1], y3[1]],
        [y0[2], y1[2], y2[2], y3[2]],
        [y0[3], y1[3], y2[3], y3[3]],
    ]
}

/// Fills along x of the cells of a row.
#[inline(always)]
fn along_x<T: Real, S: Simd>(lattice: &Lattice, near: &[u32; 27], row: usize) -> [T::Octet<S>; 4] {
    let here = lattice.fill[near[row] as usize];
    let before = lattice.fill[near[row - 1] as usize][LANES - 1];
    let (below, above) = (octet::<T, S>(late(before, here)), octet::<T, S>(here));
    [below, above, below.add(above), above.sub(below)]
}

#[inline(always)]
fn octet<T: Real, S: Simd>([a, b, c, d, e, f, g, h]: [f32; LANES]) -> T::Octet<S> {
    let [a, b, c, d] = [T::single(a), T::single(b), T::single(c), T::single(d)];
    let [e, f, g, h] = [T::single(e), T::single(f), T::single(g), T::single(h)];
    Octet::of([a, b, c, d, e, f, g, h])
}

/// Below, above, sum and difference along another axis.
#[inline(always)]
fn along<T: Real, S: Simd>(below: &[T::Octet<S>; 4], above: &[T::Octet<S>; 4]) -> [[T::Octet<S>; 4]; 4] {
    let [a, b, c, d] = *below;
    let [e, f, g, h] = *above;
    [
        [a, b, c, d],
        [e, f, g, h],
        [a.add(e), b.add(f), c.add(g), d.add(h)],
        [e.sub(a), f.sub(b), g.sub(c), h.sub(d)],
    ]
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

/// Adds a block times the vectors of eight neighbours.
#[inline(always)]
fn add_full<T: Real, S: Simd>(
    [a, b, c]: [T::Octet<S>; 3],
    [rx, ry, rz]: &[[T; 3]; 3],
    [x, y, z]: &[T::Octet<S>; 3],
) -> [T::Octet<S>; 3] {
    // Only one addition waits for the sum so far.
    [
        a.add(x.mul(Octet::splat(rx[0])).add(y.mul(Octet::splat(rx[1]))).add(z.mul(Octet::splat(rx[2])))),
        b.add(x.mul(Octet::splat(ry[0])).add(y.mul(Octet::splat(ry[1]))).add(z.mul(Octet::splat(ry[2])))),
        c.add(x.mul(Octet::splat(rz[0])).add(y.mul(Octet::splat(rz[1]))).add(z.mul(Octet::splat(rz[2])))),
    ]
}

/// The same where cells differ. Seen from another corner, a cell's stiffness along one axis against a displacement along
/// another has the product of both axes' signs.
#[inline(always)]
fn add_block<T: Real, S: Simd>(
    [a, b, c]: [T::Octet<S>; 3],
    [rx, ry, rz]: &[[T; 3]; 3],
    [x, y, z]: &[T::Octet<S>; 3],
    fills: &Fills<T::Octet<S>>,
    [dx, dy, dz]: [usize; 3],
) -> [T::Octet<S>; 3] {
    let same = fills[SHARED[dz]][SHARED[dy]][SHARED[dx]];
    let xy = fills[SHARED[dz]][SIGNED[dy]][SIGNED[dx]];
    let yz = fills[SIGNED[dz]][SIGNED[dy]][SHARED[dx]];
    let zx = fills[SIGNED[dz]][SHARED[dy]][SIGNED[dx]];
    let [own_x, own_y, own_z] = [same.mul(*x), same.mul(*y), same.mul(*z)];
    let fx = own_x.mul(Octet::splat(rx[0])).add(xy.mul(*y).mul(Octet::splat(rx[1])));
    let fy = own_y.mul(Octet::splat(ry[1])).add(xy.mul(*x).mul(Octet::splat(ry[0])));
    let fz = own_z.mul(Octet::splat(rz[2])).add(zx.mul(*x).mul(Octet::splat(rz[0])));
    [
        a.add(fx.add(zx.mul(*z).mul(Octet::splat(rx[2])))),
        b.add(fy.add(yz.mul(*z).mul(Octet::splat(ry[2])))),
        c.add(fz.add(yz.mul(*y).mul(Octet::splat(rz[1])))),
    ]
}
