//! Where a body is weak, whatever loads it: the stress of its lowest elastic modes.
//!
//! In: a solver. Out: frequencies of the lowest modes, and for each cell how much stress they bring there. Loads that nobody
//! knows yet bend a body as its softest modes do (Zhou, Panozzo & Zorin 2013, section 4): slender parts show.
//!
//! Subspace iteration (Bathe & Wilson 1972): solve for the displacements under the inertia of each vector, and take the best
//! modes among the results. Masses are lumped at the nodes.

use glam::DVec3;
use kintsugi_core::fracture::Cancel;

use crate::{
    Convergence, ElasticError, Settings, Solution, Solver,
    field::{Field, LANES, add_times, dot, zeros, zip},
    rigid::place,
    transfer::masked,
};

/// Vectors beside those that are wanted, which make these converge faster.
const MORE: usize = 3;

/// The most rounds of solving.
const ROUNDS: usize = 8;

/// Largest relative change of the squares of the frequencies between two rounds at which the iteration ends.
const CHANGE: f64 = 2e-3;

/// How exactly each round solves.
const ROUND: Settings = Settings { tolerance: 1e-2, iterations: 40 };

/// The lowest modes of a body.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Angular frequencies, rad/s, ascending. Rigid motions of a free body are not among them.
    pub frequencies: Vec<f64>,
    /// For each cell of the body the largest magnitude of a principal stress in any mode, each mode with the same elastic
    /// energy; 1 in the weakest cell.
    pub weakness: Vec<f32>,
}

impl Solver {
    /// The lowest `count` elastic modes, from 1 to 12, and the weakness of each cell.
    ///
    /// # Errors
    /// [`ElasticError::Cancelled`].
    pub fn modes(&self, count: usize, cancel: &Cancel) -> Result<Modes, ElasticError> {
        let count = count.clamp(1, 12);
        let mut vectors: Vec<Field<f64>> = (0..count + MORE).map(|k| self.guess(k)).collect();
        let mut squares = vec![0.0; count];
        for _ in 0..ROUNDS {
            let mut results = Vec::with_capacity(vectors.len());
            let mut inertia = Vec::with_capacity(vectors.len());
            for vector in &vectors {
                let forces = self.inertia(vector);
                results.push(self.conjugate_gradients(&forces, Some(vector.clone()), &ROUND, cancel)?.0);
                inertia.push(forces);
            }
            let weighed: Vec<Field<f64>> = results.iter().map(|result| self.inertia(result)).collect();
            let n = results.len();
            let stiffness =
                symmetric(n, |i, j| 0.5 * (dot(&results[i], &inertia[j]) + dot(&results[j], &inertia[i])));
            let mass = symmetric(n, |i, j| dot(&results[i], &weighed[j]));
            let (values, shares) = generalised(&stiffness, &mass);
            vectors = shares.iter().map(|shares| self.combined(&results, shares)).collect();
            let change = |(old, new): (&f64, &f64)| (old / new - 1.0).abs() <= CHANGE;
            let is_done = squares.iter().zip(&values).all(change);
            squares = values[..count.min(n)].to_vec();
            if is_done {
                break;
            }
        }
        Ok(self.modes_of(&vectors, &squares))
    }

    fn modes_of(&self, vectors: &[Field<f64>], squares: &[f64]) -> Modes {
        let body = self.body();
        let material = body.material();
        let unit = (material.youngs_modulus / material.density).sqrt() / body.cell_size();
        let convergence = Convergence { iterations: 0, error: 0.0, is_converged: true };
        let mut weakness = vec![0.0f64; body.len()];
        for (vector, square) in vectors.iter().zip(squares) {
            // Vectors have a mass of one, so their energy is half the square of their frequency.
            let scale = body.cell_size() / square.max(f64::MIN_POSITIVE).sqrt();
            let strained = vector.iter().map(|chunk| chunk.map(|axis| axis.map(|u| scale * u))).collect();
            let solution = Solution::new(body, strained, convergence);
            for (most, stress) in weakness.iter_mut().zip(solution.stress()) {
                let [largest, _, least] = stress.principal();
                *most = most.max(largest.abs()).max(least.abs());
            }
        }
        let most = weakness.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(*value));
        Modes {
            frequencies: squares.iter().map(|square| square.max(0.0).sqrt() * unit).collect(),
            weakness: weakness.into_iter().map(|value| (value / most) as f32).collect(),
        }
    }

    /// A smooth vector to begin with: polynomials of the place, of degree three at most.
    fn guess(&self, k: usize) -> Field<f64> {
        let lattice = &self.body().lattices[0];
        let side = f64::from(1u32 << self.body().level()) / 2.0;
        let mut state = 0x9e37_79b9_u64.wrapping_mul(2 * k as u64 + 1);
        let coefficients: [f64; 60] = std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        });
        let mut field = zeros(lattice.chunks());
        for chunk in 0..lattice.chunks() {
            for lane in 0..LANES {
                let DVec3 { x, y, z } = (place(lattice, chunk, lane) - self.body().rigid.centre) / side;
                let (xx, yy, zz) = (x * x, y * y, z * z);
                let cubes =
                    [xx * x, xx * y, xx * z, yy * x, yy * y, yy * z, zz * x, zz * y, zz * z, x * y * z];
                let powers = [1.0, x, y, z, xx, yy, zz, y * z, z * x, x * y];
                for axis in 0..3 {
                    let all = powers.iter().chain(&cubes).zip(&coefficients[20 * axis..]);
                    field[chunk][axis][lane] = all.map(|(power, c)| power * c).sum();
                }
            }
        }
        zip(&mut field, self.free_bits(), |field, bits| *field = masked(*field, *bits));
        field
    }

    /// The masses times a vector; of a free body, times the vector without its rigid motions.
    fn inertia(&self, vector: &Field<f64>) -> Field<f64> {
        let mut out = vector.clone();
        zip(&mut out, &self.body().rigid.masses, |out, masses| {
            for axis in out {
                (0..LANES).for_each(|l| axis[l] *= masses[l]);
            }
        });
        if self.is_free() {
            self.body().rigid.relieve(&self.body().lattices[0], &mut out);
        }
        out
    }

    fn combined(&self, vectors: &[Field<f64>], shares: &[f64]) -> Field<f64> {
        let mut out = zeros(self.body().lattices[0].chunks());
        vectors.iter().zip(shares).for_each(|(vector, share)| add_times(&mut out, *share, vector));
        out
    }
}

type Square = Vec<Vec<f64>>;

fn symmetric(n: usize, of: impl Fn(usize, usize) -> f64) -> Square {
    let mut out = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            (out[i][j], out[j][i]) = (of(i, j), of(i, j));
        }
    }
    out
}

/// Ascending values and vectors (as rows) of A v = value B v, v B v = 1, by Cholesky's factor of B and Jacobi's rotations.
/// Vectors that depend on others so much that B has no factor get a large value.
fn generalised(a: &Square, b: &Square) -> (Vec<f64>, Square) {
    let n = a.len();
    let mut factor = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
            let left = b[i][j] - known;
            factor[i][j] = if i == j {
                left.max(1e-12 * b[i][i]).max(f64::MIN_POSITIVE).sqrt()
            } else {
                left / factor[j][j]
            };
        }
    }
    // Rows of the factor's inverse, and C = inverse A inverse^T.
    let mut inverse = vec![vec![0.0; n]; n];
    for j in 0..n {
        inverse[j][j] = 1.0 / factor[j][j];
        for i in j + 1..n {
            let known: f64 = (j..i).map(|k| factor[i][k] * inverse[k][j]).sum();
            inverse[i][j] = -known / factor[i][i];
        }
    }
    let half = |i: usize, k: usize| (0..n).map(|j| inverse[i][j] * a[j][k]).sum::<f64>();
    let halves: Square = (0..n).map(|i| (0..n).map(|k| half(i, k)).collect()).collect();
    let mut c = symmetric(n, |i, j| (0..n).map(|k| halves[i][k] * inverse[j][k]).sum());
    let mut turned: Square = (0..n).map(|i| inverse[i].clone()).collect();
    for _ in 0..40 {
        for p in 0..n {
            for q in p + 1..n {
                if c[p][q] == 0.0 {
                    continue;
                }
                let theta = (c[q][q] - c[p][p]) / (2.0 * c[p][q]);
                let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                for k in 0..n {
                    let (x, y) = (c[k][p], c[k][q]);
                    (c[k][p], c[k][q]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
                for k in 0..n {
                    let (x, y) = (c[p][k], c[q][k]);
                    (c[p][k], c[q][k]) = (cosine * x - sine * y, sine * x + cosine * y);
                    let (x, y) = (turned[p][k], turned[q][k]);
                    (turned[p][k], turned[q][k]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| c[*i][*i].total_cmp(&c[*j][*j]));
    (order.iter().map(|i| c[*i][*i]).collect(), order.iter().map(|i| turned[*i].clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_vectors_solve_their_equation() {
        let n = 5;
        let a = symmetric(n, |i, j| if i == j { 3.0 + i as f64 } else { 1.0 / (1.0 + (i + 2 * j) as f64) });
        let b = symmetric(n, |i, j| if i == j { 2.0 } else { 0.3 / (1.0 + (i * j) as f64) });
        let (values, vectors) = generalised(&a, &b);
        assert!(values.is_sorted());
        for (value, v) in values.iter().zip(&vectors) {
            let times = |m: &Square, i: usize| (0..n).map(|j| m[i][j] * v[j]).sum::<f64>();
            for i in 0..n {
                assert!((times(&a, i) - value * times(&b, i)).abs() < 1e-12);
            }
            let mass: f64 = (0..n).map(|i| v[i] * times(&b, i)).sum();
            assert!((mass - 1.0).abs() < 1e-12);
        }
    }
}
