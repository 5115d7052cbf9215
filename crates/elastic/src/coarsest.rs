//! The coarsest level, solved directly.
//!
//! In: a lattice of few nodes. Out: the solution for any forces there, by Cholesky's factor of the full matrix.

use rayon::prelude::*;

use crate::{
    element::Stiffness,
    field::{Field, LANES},
    lattice::Lattice,
};

/// A factor of the matrix of a small lattice.
pub(crate) struct Coarsest {
    /// Chunk, axis and lane of each unknown.
    unknowns: Vec<(u32, u8, u8)>,
    /// Rows of the lower triangle, one after the other.
    factor: Vec<f64>,
}

impl Coarsest {
    /// `springs` hold nodes to where they are; `free` has a bit for each unknown. Without holds, `shift` times the diagonal
    /// is added, so that rigid motions have a finite answer.
    pub fn new(
        lattice: &Lattice,
        stiffness: &Stiffness,
        scale: f64,
        (springs, free): (Option<&Field<f32>>, &[u32]),
        shift: f64,
    ) -> Self {
        let mut unknowns = Vec::new();
        let mut number = vec![[u32::MAX; 3 * LANES]; lattice.chunks()];
        for (chunk, bits) in free.iter().enumerate() {
            for lane in 0..LANES {
                for axis in 0..3 {
                    if bits >> (LANES * axis + lane) & 1 == 1 {
                        number[chunk][LANES * axis + lane] = unknowns.len() as u32;
                        unknowns.push((chunk as u32, axis as u8, lane as u8));
                    }
                }
            }
        }
        let n = unknowns.len();
        let mut matrix = vec![0.0; n * (n + 1) / 2];
        for chunk in 0..lattice.chunks() {
            for lane in 0..LANES {
                let fill = lattice.fill[chunk][lane];
                if fill == 0.0 {
                    continue;
                }
                let low = lattice.node(chunk, lane);
                let dofs: [u32; 24] = std::array::from_fn(|dof| {
                    let corner = std::array::from_fn(|axis| low[axis] + ((dof as u32 / 3) >> axis & 1));
                    let (chunk, lane) = lattice.find(corner);
                    number.get(chunk).map_or(u32::MAX, |number| number[LANES * (dof % 3) + lane])
                });
                for (a, i) in dofs.iter().enumerate() {
                    for (b, j) in dofs.iter().enumerate() {
                        if j <= i && *i != u32::MAX {
                            let (i, j) = (*i as usize, *j as usize);
                            matrix[i * (i + 1) / 2 + j] += scale * f64::from(fill) * stiffness[a][b];
                        }
                    }
                }
            }
        }
        for (i, (chunk, axis, lane)) in unknowns.iter().enumerate() {
            let diagonal = &mut matrix[i * (i + 1) / 2 + i];
            *diagonal *= 1.0 + shift;
            if let Some(springs) = springs {
                *diagonal += f64::from(springs[*chunk as usize][*axis as usize][*lane as usize]);
            }
        }
        factorise(&mut matrix, n, 1e-9);
        Self { unknowns, factor: matrix }
    }

    /// Place of each unknown in a vector (24 * chunk + 8 * axis + lane), and the inverse matrix, row by row and symmetric.
    pub fn inverse(&self) -> (Vec<u32>, Vec<f32>) {
        let place =
            |(chunk, axis, lane): &(u32, u8, u8)| 24 * chunk + 8 * u32::from(*axis) + u32::from(*lane);
        let n = self.unknowns.len();
        let mut rows = vec![0.0f32; n * n];
        rows.par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
            let mut x = vec![0.0; n];
            x[i] = 1.0;
            substitute(&self.factor, &mut x);
            row.iter_mut().zip(x).for_each(|(to, x)| *to = x as f32);
        });
        // Conjugate gradients want the same number on both sides of the diagonal, and rounding may give two.
        for i in 0..n {
            for j in 0..i {
                rows[n * i + j] = rows[n * j + i];
            }
        }
        (self.unknowns.iter().map(place).collect(), rows)
    }

    /// The displacements under `forces`.
    pub fn solve(&self, forces: &Field<f32>, to: &mut Field<f32>) {
        let mut x: Vec<f64> = self
            .unknowns
            .iter()
            .map(|(chunk, axis, lane)| f64::from(forces[*chunk as usize][*axis as usize][*lane as usize]))
            .collect();
        substitute(&self.factor, &mut x);
        for ((chunk, axis, lane), x) in self.unknowns.iter().zip(x) {
            to[*chunk as usize][*axis as usize][*lane as usize] = x as f32;
        }
    }
}

/// Cholesky's factor of a lower triangle, in its place. A pivot that rounding left at less than the `smallest` share of its
/// diagonal is set to that, so that the factor is one of some positive matrix whatever comes in.
///
/// A row of the factor is zero where the matrix is zero up to its first entry, so sums begin there.
pub(crate) fn factorise(matrix: &mut [f64], n: usize, smallest: f64) {
    let mut firsts: Vec<usize> = Vec::with_capacity(n);
    for i in 0..n {
        let (above, row) = matrix.split_at_mut(i * (i + 1) / 2);
        let first = row[..i].iter().position(|value| *value != 0.0).unwrap_or(i);
        for j in first..i {
            let other = &above[j * (j + 1) / 2..=j * (j + 1) / 2 + j];
            let from = first.max(firsts[j]);
            let known: f64 = row[from..j].iter().zip(&other[from..]).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - known) / other[j];
        }
        firsts.push(first);
        let diagonal = row[i];
        let pivot = diagonal - row[first..i].iter().map(|l| l * l).sum::<f64>();
        let least = smallest * diagonal.abs().max(f64::MIN_POSITIVE.sqrt());
        row[i] = if pivot > least { pivot } else { diagonal.abs().max(least) }.sqrt();
    }
}

/// Solves for `x`, in its place, by the factor of a lower triangle.
pub(crate) fn substitute(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    let row = |i: usize| &factor[i * (i + 1) / 2..(i + 1) * (i + 2) / 2];
    for i in 0..n {
        let row = row(i);
        let known: f64 = row[..i].iter().zip(&*x).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - known) / row[i];
    }
    for i in (0..n).rev() {
        let row = row(i);
        x[i] /= row[i];
        let value = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * value);
    }
}
