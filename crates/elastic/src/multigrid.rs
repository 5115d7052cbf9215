//! One V-cycle over the levels of the octree, which stands in for the inverse of the stiffness matrix.
//!
//! In: forces at the nodes of the finest level. Out: displacements near those that the forces cause.
//!
//! The matrix of a coarser level is that of its own cells, twice as large, with the mean fill of their octants: a uniform
//! strain costs the same energy on all levels. Each level smooths by Chebyshev's polynomial of the stiffness over its 3 x 3
//! diagonal blocks (Adams, Brezina, Hu & Tuminaro 2003), the same before and after the coarser level, so the cycle is
//! symmetric and positive, as conjugate gradients need it. Held nodes of the finest level have no unknowns; on coarser
//! levels, where they may lie between nodes, they are springs, handed up as forces are.

use kintsugi_core::fracture::{Cancel, Cancelled};
use kintsugi_geometry::simd::{Simd, Work, wide};
use rayon::prelude::*;

use crate::{
    body::ElasticBody,
    coarsest::Coarsest,
    element::{self, Stiffness},
    field::{BLOCK, Chunk, Field, LANES, zeros, zip},
    lattice::Lattice,
    product::{Matrices, product},
    transfer::masked,
};

/// Products with the matrix on each level before the coarser one, and as many after it.
const SMOOTHINGS: usize = 2;

/// The part of the spectrum that the smoother damps evenly: from the largest eigenvalue down to this share of it.
const SMOOTHED: f64 = 1.0 / 8.0;

/// How stiff a held node is on coarser levels, beside a full cell.
const HELD: f32 = 4.0;

/// Added to the diagonal of the coarsest level of a free body.
const SHIFT: f64 = 1e-4;

/// One level of a held body.
pub(crate) struct Level {
    matrices: Matrices<f32>,
    /// Inverses of the 3 x 3 blocks on the diagonal (xx, yy, zz, yz, zx, xy); zero where nothing is free.
    pub inverse: Vec<[[f32; LANES]; 6]>,
    /// Bits of what is free.
    pub free: Vec<u32>,
    /// On coarser levels what holds nodes to where they are.
    pub springs: Option<Field<f32>>,
}

/// Vectors of one level while a cycle runs.
pub(crate) struct Vectors {
    /// Forces that are left.
    pub forces: Field<f32>,
    /// Displacements so far.
    pub sum: Field<f32>,
    /// The last change of the displacements.
    change: Field<f32>,
    /// The next one.
    next: Field<f32>,
}

/// All levels of a held body.
pub(crate) struct Multigrid {
    pub levels: Vec<Level>,
    pub coarsest: Coarsest,
    /// Factors of the last change and of the smoothed forces in each smoothing.
    pub smoothings: [(f32, f32); SMOOTHINGS],
}

impl Multigrid {
    /// `free` has the bits of what is not held of the finest level.
    pub fn new(body: &ElasticBody, free: Vec<u32>) -> Self {
        let stiffness = &body.stiffness;
        let is_held = free.iter().zip(&body.lattices[0].active).any(|(free, active)| free != active);
        let mut springs = is_held.then(|| held(&body.lattices[0], &free, stiffness));
        let mut levels: Vec<Level> = Vec::new();
        for (k, lattice) in body.lattices.iter().enumerate() {
            let own = if k == 0 { None } else { springs.clone() };
            let free = if k == 0 { free.clone() } else { lattice.active.clone() };
            levels.push(Level::new(lattice, stiffness, scale(k), own, free));
            if let (Some(above), Some(transfer)) = (&springs, body.transfers.get(k)) {
                let coarse = &body.lattices[k + 1];
                let mut sum = zeros(coarse.chunks());
                transfer.restrict(coarse, above, &mut sum);
                springs = Some(sum);
            }
        }
        let k = levels.len() - 1;
        let last = (levels[k].springs.as_ref(), &levels[k].free[..]);
        let shift = if is_held { 0.0 } else { SHIFT };
        let coarsest = Coarsest::new(&body.lattices[k], stiffness, scale(k), last, shift);
        Self { levels, coarsest, smoothings: chebyshev(element::largest_eigenvalue(stiffness)) }
    }

    /// Bits of what is free on the finest level.
    pub fn free(&self) -> &[u32] {
        &self.levels[0].free
    }

    /// Vectors for all levels.
    pub fn vectors(&self, body: &ElasticBody) -> Vec<Vectors> {
        let of = |lattice: &Lattice| {
            let [forces, sum, change, next] = [(); 4].map(|()| zeros(lattice.chunks()));
            Vectors { forces, sum, change, next }
        };
        body.lattices.iter().map(of).collect()
    }

    /// Forces of a displacement of a level.
    #[cfg(test)]
    pub fn forces_of(&self, k: usize, body: &ElasticBody, u: &Field<f32>) -> Field<f32> {
        struct All<'a>(&'a Level, &'a Lattice, &'a Field<f32>, Field<f32>);
        impl Work for All<'_> {
            type Out = Field<f32>;
            #[inline(always)]
            fn run<S: Simd>(mut self) -> Field<f32> {
                for chunk in 0..self.1.chunks() {
                    self.3[chunk] = self.0.forces::<S>(self.1, self.2, chunk);
                }
                self.3
            }
        }
        wide(All(&self.levels[k], &body.lattices[k], u, zeros(body.lattices[k].chunks())))
    }

    /// From the forces of the finest level to its displacements.
    pub fn cycle(
        &self,
        body: &ElasticBody,
        vectors: &mut [Vectors],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.cycle_from(0, body, vectors, cancel)
    }

    fn cycle_from(
        &self,
        k: usize,
        body: &ElasticBody,
        vectors: &mut [Vectors],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        cancel.check()?;
        let Some((own, coarser)) = vectors.split_first_mut() else { return Ok(()) };
        let (Some(next), Some(transfer)) = (coarser.first_mut(), body.transfers.get(k)) else {
            self.coarsest.solve(&own.forces, &mut own.sum);
            return Ok(());
        };
        let (level, lattice, coarse) = (&self.levels[k], &body.lattices[k], &body.lattices[k + 1]);
        level.begin(own, self.smoothings[0].1);
        for factors in &self.smoothings[1..] {
            level.smooth(lattice, own, *factors);
        }
        level.subtract(lattice, own);
        transfer.restrict(coarse, &own.forces, &mut next.forces);
        self.cycle_from(k + 1, body, coarser, cancel)?;
        let from = &coarser[0].sum;
        transfer.prolong((lattice, coarse), &level.free, from, (&mut own.change, &mut own.sum));
        for factors in &self.smoothings {
            level.smooth(lattice, own, *factors);
        }
        Ok(())
    }
}

/// The stiffness of a cell of a level beside that of the finest.
pub(crate) fn scale(k: usize) -> f64 {
    f64::from(1u32 << k)
}

/// Springs at what is held.
fn held(lattice: &Lattice, free: &[u32], stiffness: &Stiffness) -> Field<f32> {
    let mut springs = zeros(lattice.chunks());
    for (i, spring) in springs.iter_mut().take(lattice.chunks()).enumerate() {
        let full = [[HELD * 8.0 * stiffness[0][0] as f32; LANES]; 3];
        *spring = masked(full, lattice.active[i] & !free[i]);
    }
    springs
}

/// Factors of Chebyshev's polynomials over the smoothed part of the spectrum (Saad 2003, algorithm 12.1).
fn chebyshev(largest: f64) -> [(f32, f32); SMOOTHINGS] {
    let (middle, half) = (0.5 * largest * (1.0 + SMOOTHED), 0.5 * largest * (1.0 - SMOOTHED));
    let sigma = middle / half;
    let mut rho = 1.0 / sigma;
    let mut factors = [(0.0, (1.0 / middle) as f32); SMOOTHINGS];
    for factor in &mut factors[1..] {
        let next = 1.0 / (2.0 * sigma - rho);
        *factor = ((next * rho) as f32, (2.0 * next / half) as f32);
        rho = next;
    }
    factors
}

impl Level {
    fn new(
        lattice: &Lattice,
        stiffness: &Stiffness,
        scale: f64,
        springs: Option<Field<f32>>,
        free: Vec<u32>,
    ) -> Self {
        let blocks: [[[f64; 3]; 3]; 8] = std::array::from_fn(|corner| {
            element::block(stiffness, corner, corner).map(|row| row.map(|k| scale * k))
        });
        let inverse = (0..lattice.chunks()).into_par_iter().map(|chunk| {
            let fills = lattice.fills(chunk);
            let spring = springs.as_ref().map_or([[0.0; LANES]; 3], |springs| springs[chunk]);
            let mut out = [[0.0; LANES]; 6];
            for lane in 0..LANES {
                let free = [0, 1, 2].map(|axis| free[chunk] >> (LANES * axis + lane) & 1 == 1);
                if free == [false; 3] {
                    continue;
                }
                let mut sum = glam::DMat3::ZERO;
                for (fill, block) in fills.iter().zip(&blocks) {
                    sum += glam::DMat3::from_cols_array_2d(block) * f64::from(fill[lane]);
                }
                for i in 0..3 {
                    sum.col_mut(i)[i] += f64::from(spring[i][lane]);
                    if !free[i] {
                        // A unit row and column leave the others' inverse alone.
                        let zero = |a: usize, b: usize| a != b && (a == i || b == i);
                        for (a, b) in [(i, 0), (i, 1), (i, 2), (0, i), (1, i), (2, i)] {
                            if zero(a, b) {
                                sum.col_mut(a)[b] = 0.0;
                            }
                        }
                    }
                }
                let inverse = sum.inverse();
                let places = [(0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1)];
                for (to, (a, b)) in out.iter_mut().zip(places) {
                    to[lane] = if free[a] && free[b] { inverse.col(a)[b] as f32 } else { 0.0 };
                }
            }
            out
        });
        Self { matrices: Matrices::new(stiffness, scale), inverse: inverse.collect(), free, springs }
    }

    /// The first smoothing of displacements that are zero.
    fn begin(&self, own: &mut Vectors, factor: f32) {
        let Vectors { forces, sum, change, .. } = own;
        change
            .par_chunks_mut(BLOCK)
            .zip(sum.par_chunks_mut(BLOCK))
            .zip(forces.par_chunks(BLOCK).zip(self.inverse.par_chunks(BLOCK)))
            .for_each(|((change, sum), (forces, inverse))| {
                for (((change, sum), force), inverse) in change.iter_mut().zip(sum).zip(forces).zip(inverse) {
                    *change = times(inverse, force).map(|axis| axis.map(|v| factor * v));
                    *sum = *change;
                }
            });
    }

    /// Takes the forces of the last change away, smooths what is left, and adds that to the displacements.
    fn smooth(&self, lattice: &Lattice, own: &mut Vectors, factors: (f32, f32)) {
        let Vectors { forces, sum, change, next } = own;
        let change_before = &*change;
        next.par_chunks_mut(BLOCK)
            .zip(sum.par_chunks_mut(BLOCK).zip(forces.par_chunks_mut(BLOCK)))
            .enumerate()
            .for_each(|(block, (next, (sum, forces)))| {
                let change = change_before;
                wide(Smooth {
                    level: self,
                    lattice,
                    first: block * BLOCK,
                    change,
                    next,
                    sum,
                    forces,
                    factors,
                });
            });
        std::mem::swap(change, next);
    }

    /// Takes the forces of the last change away.
    fn subtract(&self, lattice: &Lattice, own: &mut Vectors) {
        let Vectors { forces, change, .. } = own;
        forces.par_chunks_mut(BLOCK).enumerate().for_each(|(block, forces)| {
            wide(Subtract { level: self, lattice, first: block * BLOCK, change, forces });
        });
    }

    /// Forces of a displacement.
    #[inline(always)]
    fn forces<S: Simd>(&self, lattice: &Lattice, u: &Field<f32>, chunk: usize) -> Chunk<f32> {
        let mut q = masked(product::<f32, S>(lattice, &self.matrices, u, chunk), self.free[chunk]);
        if let Some(springs) = &self.springs {
            for axis in 0..3 {
                (0..LANES).for_each(|l| q[axis][l] += springs[chunk][axis][l] * u[chunk][axis][l]);
            }
        }
        q
    }
}

struct Smooth<'a> {
    level: &'a Level,
    lattice: &'a Lattice,
    first: usize,
    change: &'a Field<f32>,
    next: &'a mut [Chunk<f32>],
    sum: &'a mut [Chunk<f32>],
    forces: &'a mut [Chunk<f32>],
    factors: (f32, f32),
}

impl Work for Smooth<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let (last, new) = self.factors;
        let chunks = self.next.iter_mut().zip(self.sum).zip(self.forces).enumerate();
        for (i, ((next, sum), forces)) in chunks {
            let chunk = self.first + i;
            if chunk >= self.lattice.chunks() {
                return;
            }
            let q = self.level.forces::<S>(self.lattice, self.change, chunk);
            for axis in 0..3 {
                (0..LANES).for_each(|l| forces[axis][l] -= q[axis][l]);
            }
            let smoothed = times(&self.level.inverse[chunk], forces);
            let before = &self.change[chunk];
            for axis in 0..3 {
                for l in 0..LANES {
                    next[axis][l] = last * before[axis][l] + new * smoothed[axis][l];
                    sum[axis][l] += next[axis][l];
                }
            }
        }
    }
}

struct Subtract<'a> {
    level: &'a Level,
    lattice: &'a Lattice,
    first: usize,
    change: &'a Field<f32>,
    forces: &'a mut [Chunk<f32>],
}

impl Work for Subtract<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for (i, forces) in self.forces.iter_mut().enumerate() {
            let chunk = self.first + i;
            if chunk >= self.lattice.chunks() {
                return;
            }
            let q = self.level.forces::<S>(self.lattice, self.change, chunk);
            for axis in 0..3 {
                (0..LANES).for_each(|l| forces[axis][l] -= q[axis][l]);
            }
        }
    }
}

/// A symmetric 3 x 3 matrix for each lane, times its vector.
#[inline(always)]
fn times(m: &[[f32; LANES]; 6], v: &Chunk<f32>) -> Chunk<f32> {
    let mut out = Chunk::default();
    for l in 0..LANES {
        let [xx, yy, zz, yz, zx, xy] = [0, 1, 2, 3, 4, 5].map(|i| m[i][l]);
        let [x, y, z] = [v[0][l], v[1][l], v[2][l]];
        out[0][l] = xx * x + xy * y + zx * z;
        out[1][l] = xy * x + yy * y + yz * z;
        out[2][l] = zx * x + yz * y + zz * z;
    }
    out
}

/// The product with the stiffness of the finest level, in doubles.
pub(crate) fn exact_product(
    lattice: &Lattice,
    matrices: &Matrices<f64>,
    free: &[u32],
    u: &Field<f64>,
    to: &mut Field<f64>,
) {
    struct Multiply<'a>(
        &'a Lattice,
        &'a Matrices<f64>,
        &'a [u32],
        &'a Field<f64>,
        usize,
        &'a mut [Chunk<f64>],
    );
    impl Work for Multiply<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self) {
            let Self(lattice, matrices, free, u, first, to) = self;
            for (i, to) in to.iter_mut().enumerate() {
                if first + i < lattice.chunks() {
                    *to = masked(product::<f64, S>(lattice, matrices, u, first + i), free[first + i]);
                }
            }
        }
    }
    to.par_chunks_mut(BLOCK)
        .enumerate()
        .for_each(|(block, to)| wide(Multiply(lattice, matrices, free, u, block * BLOCK, to)));
}

/// Rounds forces, times `scale`, to floats.
pub(crate) fn round(from: &Field<f64>, scale: f64, to: &mut Field<f32>) {
    zip(to, from, |to, from| {
        for (to, from) in to.iter_mut().zip(from) {
            (0..LANES).for_each(|l| to[l] = (scale * from[l]) as f32);
        }
    });
}
