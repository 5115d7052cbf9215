//! Between two levels: trilinear interpolation down, and its transpose up.
//!
//! In: a vector on one level. Out: the vector on the other. Both gather, so the order of sums is fixed.

use rayon::prelude::*;

use crate::{
    field::{BLOCK, Chunk, Field, LANES},
    lattice::{HERE, Lattice},
};

/// Where the chunks of a lattice and of the next coarser one lie in each other.
pub(crate) struct Transfer {
    /// For each fine chunk the coarse one that has the node at half its coordinates, rounded down.
    pub parents: Vec<u32>,
    /// For each coarse chunk and each of the nine rows of fine nodes round it (3 * (dz + 1) + (dy + 1)): the fine chunk
    /// before, and the two that begin where the coarse one does.
    pub children: Vec<[u32; 27]>,
}

impl Transfer {
    pub fn new(fine: &Lattice, coarse: &Lattice) -> Self {
        let parent = |place: &[u32; 3]| coarse.chunk_at(place.map(|v| (v / 2) as i32));
        let children = |place: &[u32; 3]| {
            let [cx, y, z] = place.map(|v| 2 * v as i32);
            std::array::from_fn(|n| {
                let n = n as i32;
                fine.chunk_at([cx + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1])
            })
        };
        Self {
            parents: fine.places.par_iter().map(parent).collect(),
            children: coarse.places.par_iter().map(children).collect(),
        }
    }

    /// Interpolates `from` at the fine nodes; writes to `to` and adds to `sum`. Only what `free` has a bit for is changed.
    pub fn prolong(
        &self,
        (fine, coarse): (&Lattice, &Lattice),
        free: &[u32],
        from: &Field<f32>,
        (to, sum): (&mut Field<f32>, &mut Field<f32>),
    ) {
        let chunk = |chunk: usize| {
            let [cx, y, z] = fine.places[chunk];
            let near = &coarse.near[self.parents[chunk] as usize];
            let first = 4 * (cx % 2) as usize;
            let share = 1.0 / ((1 + y % 2) * (1 + z % 2)) as f32;
            let mut out = Chunk::default();
            for axis in 0..3 {
                let mut row = [0.0f32; 5];
                for (dz, dy) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    if dy > y % 2 || dz > z % 2 {
                        continue;
                    }
                    let at = HERE + 9 * dz as usize + 3 * dy as usize;
                    let here = &from[near[at] as usize][axis];
                    (0..4).for_each(|k| row[k] += here[first + k]);
                    row[4] += if first == 0 { here[4] } else { from[near[at + 1] as usize][axis][0] };
                }
                for k in 0..4 {
                    out[axis][2 * k] = share * row[k];
                    out[axis][2 * k + 1] = 0.5 * share * (row[k] + row[k + 1]);
                }
            }
            masked(out, free[chunk])
        };
        let blocks = to.par_chunks_mut(BLOCK).zip(sum.par_chunks_mut(BLOCK)).enumerate();
        blocks.for_each(|(block, (to, sum))| {
            for (i, (to, sum)) in to.iter_mut().zip(sum).enumerate() {
                let at = block * BLOCK + i;
                if at < fine.chunks() {
                    *to = chunk(at);
                    for (sum, to) in sum.iter_mut().zip(&*to) {
                        (0..LANES).for_each(|l| sum[l] += to[l]);
                    }
                }
            }
        });
    }

    /// Adds up at the coarse nodes what the fine ones hand to them.
    pub fn restrict(&self, coarse: &Lattice, from: &Field<f32>, to: &mut Field<f32>) {
        let chunk = |chunk: usize| {
            let mut out = Chunk::default();
            for (row, fine) in self.children[chunk].chunks_exact(3).enumerate() {
                let share = [0.5, 1.0, 0.5][row % 3] * [0.5, 1.0, 0.5][row / 3];
                for axis in 0..3 {
                    let mut values = [0.0f32; 2 * LANES + 1];
                    values[0] = from[fine[0] as usize][axis][LANES - 1];
                    values[1..=LANES].copy_from_slice(&from[fine[1] as usize][axis]);
                    values[LANES + 1..].copy_from_slice(&from[fine[2] as usize][axis]);
                    for l in 0..LANES {
                        let sides = values[2 * l] + values[2 * l + 2];
                        out[axis][l] += share * (values[2 * l + 1] + 0.5 * sides);
                    }
                }
            }
            out
        };
        to.par_chunks_mut(BLOCK).enumerate().for_each(|(block, to)| {
            for (i, to) in to.iter_mut().enumerate() {
                let at = block * BLOCK + i;
                if at < coarse.chunks() {
                    *to = chunk(at);
                }
            }
        });
    }
}

/// Zeros where a bit (8 * axis + lane) is not set.
#[inline(always)]
pub(crate) fn masked<T: Copy + Default>(mut values: Chunk<T>, bits: u32) -> Chunk<T> {
    if bits != crate::lattice::ALL {
        for (axis, values) in values.iter_mut().enumerate() {
            for (lane, value) in values.iter_mut().enumerate() {
                if bits >> (LANES * axis + lane) & 1 == 0 {
                    *value = T::default();
                }
            }
        }
    }
    values
}
