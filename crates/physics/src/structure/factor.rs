//! Incomplete factors of symmetric matrices in blocks of six.
//!
//! In: blocks on and below the diagonal. Out: a factor, which keeps nothing where the matrix has nothing: exact for trees that
//! are eliminated from their leaves on. It is found in double and kept in single precision: it only preconditions, and half
//! the memory is half the time. A large structure is cut into domains, each with a factor of its own that keeps nothing
//! of other domains (block Jacobi), so that all cores apply it at once; what it lacks, the coarse half carries across.
//! The domains do not depend on the cores.

use rayon::prelude::*;

use super::{
    block::{Block, Six},
    coarse::Coarse,
};
use crate::geometry::simd::{Simd, Work, wide};

/// Six numbers and two that stay zero, so that lanes are full.
type Lanes = [f32; 8];
/// A block by columns.
type Columns = [Lanes; 6];

/// The rows of a matrix that make one domain.
#[derive(Default)]
pub(super) struct Rows {
    /// The parts in the order of elimination; pinned ones are not among them.
    pub order: Vec<u32>,
    /// Blocks on the diagonal, in that order.
    pub diagonal: Vec<Block>,
    /// Blocks below it, by place of the column and then of the row.
    pub below: Vec<Vec<(u32, Block)>>,
}

/// Vectors of all domains while a factor is applied.
pub(super) type Scratch = Vec<Vec<Lanes>>;

/// An incomplete factor of K.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    domains: Vec<Domain>,
    coarse: Option<Coarse>,
}

/// The factor of the rows of some parts.
#[derive(Clone, Debug)]
struct Domain {
    order: Vec<u32>,
    /// Inverses of the lower triangles on the diagonal, in that order.
    diagonal: Vec<Columns>,
    /// Where the blocks of each part in that order begin among those below the diagonal, and where the last one's end.
    start: Vec<u32>,
    /// The later parts (places in the order) that each is bonded to, with their blocks.
    below: Vec<(u32, Columns)>,
}

impl Factor {
    /// Of a matrix with these rows; with what adds to its inverse.
    pub fn new(domains: &[Rows], coarse: impl FnOnce() -> Option<Coarse> + Send) -> Self {
        let factors = || -> Vec<Domain> { domains.par_iter().map(Domain::new).collect() };
        let (coarse, domains) = rayon::join(coarse, factors);
        Self { domains, coarse }
    }

    /// Sets `out` to the inverse of the product of the factors times `v`; zero where a part was pinned. `x` is scratch.
    pub fn apply(&self, v: &[Six], x: &mut Scratch, out: &mut [Six]) {
        x.resize_with(self.domains.len(), Vec::new);
        let solve = |(domain, x): (&Domain, &mut Vec<Lanes>)| {
            x.clear();
            x.extend(domain.order.iter().map(|part| v[*part as usize].lanes()));
            wide(Substitution { domain, x });
        };
        let coarse = || self.coarse.as_ref().map(|coarse| coarse.motions(v));
        // A structure of one domain is too small to be shared out.
        let motions = match self.domains.len() {
            0 | 1 => {
                self.domains.iter().zip(x.iter_mut()).for_each(solve);
                coarse()
            }
            _ => rayon::join(coarse, || self.domains.par_iter().zip(x.par_iter_mut()).for_each(solve)).0,
        };
        out.fill(Six::ZERO);
        for (domain, x) in self.domains.iter().zip(x) {
            for (part, own) in domain.order.iter().zip(x) {
                out[*part as usize] = Six::of_lanes(own);
            }
        }
        if let (Some(coarse), Some(motions)) = (&self.coarse, motions) {
            coarse.spread(&motions, out);
        }
    }
}

impl Domain {
    fn new(rows: &Rows) -> Self {
        let mut shift = 0.0;
        loop {
            if let Some((diagonal, below)) = factored(&rows.diagonal, &rows.below, shift) {
                let mut start = vec![0];
                for own in &below {
                    start.push(start[start.len() - 1] + own.len() as u32);
                }
                let below = below.iter().flatten().map(|(later, block)| (*later, columns(block))).collect();
                let diagonal = diagonal.iter().map(|lower| columns(&inverse_of_lower(lower))).collect();
                return Self { order: rows.order.clone(), diagonal, start, below };
            }
            // Incomplete factors of sound matrices may fail; a stiffer diagonal helps (Manteuffel 1980).
            shift = if shift == 0.0 { 1e-3 } else { shift * 4.0 };
        }
    }

    #[inline(always)]
    fn below(&self, at: usize) -> &[(u32, Columns)] {
        &self.below[self.start[at] as usize..self.start[at + 1] as usize]
    }
}

/// Multiplies by the inverses of both factors of a domain, in place.
struct Substitution<'a> {
    domain: &'a Domain,
    x: &'a mut [Lanes],
}

impl Work for Substitution<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { domain, x } = self;
        for at in 0..x.len() {
            let own = times(&domain.diagonal[at], &x[at]);
            x[at] = own;
            for (later, block) in domain.below(at) {
                let less = times(block, &own);
                for (value, less) in x[*later as usize].iter_mut().zip(&less) {
                    *value -= less;
                }
            }
        }
        for at in (0..x.len()).rev() {
            let mut products = [[0.0; 8]; 6];
            for (later, block) in domain.below(at) {
                add_products(&mut products, block, &x[*later as usize]);
            }
            let mut own = x[at];
            for (value, less) in own.iter_mut().zip(&products) {
                *value -= sum(less);
            }
            products = [[0.0; 8]; 6];
            add_products(&mut products, &domain.diagonal[at], &own);
            for (value, sums) in x[at].iter_mut().zip(&products) {
                *value = sum(sums);
            }
        }
    }
}

fn columns(block: &Block) -> Columns {
    std::array::from_fn(|column| {
        std::array::from_fn(|row| block.0.get(row).map_or(0.0, |row| row[column] as f32))
    })
}

/// The block times `v`.
#[inline(always)]
fn times(block: &Columns, v: &Lanes) -> Lanes {
    let mut out = [0.0; 8];
    for (column, v) in block.iter().zip(v) {
        for (value, entry) in out.iter_mut().zip(column) {
            *value += entry * v;
        }
    }
    out
}

/// Adds the products of each column with `v`, entry by entry: their sums are the transpose times `v`.
#[inline(always)]
fn add_products(sums: &mut [Lanes; 6], block: &Columns, v: &Lanes) {
    for (sums, column) in sums.iter_mut().zip(block) {
        for ((sum, entry), v) in sums.iter_mut().zip(column).zip(v) {
            *sum += entry * v;
        }
    }
}

#[inline(always)]
fn sum([a, b, c, d, e, f, g, h]: &Lanes) -> f32 {
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

fn inverse_of_lower(lower: &Block) -> Block {
    let mut identity = Block::ZERO;
    (0..6).for_each(|k| identity.0[k][k] = 1.0);
    // X L^T = 1 has X = L^-T.
    identity.divided_by_upper(lower).transposed()
}

type Blocks = (Vec<Block>, Vec<Vec<(u32, Block)>>);

/// The factors of the matrix whose diagonal is greater by a share of `shift`; `None` if there are none.
fn factored(diagonal: &[Block], below: &[Vec<(u32, Block)>], shift: f64) -> Option<Blocks> {
    let (mut diagonal, mut below) = (diagonal.to_vec(), below.to_vec());
    for own in &mut diagonal {
        for k in 0..6 {
            own.0[k][k] *= 1.0 + shift;
        }
    }
    for at in 0..diagonal.len() {
        let lower = diagonal[at].cholesky()?;
        diagonal[at] = lower;
        below[at].sort_unstable_by_key(|(later, _)| *later);
        let mut own = std::mem::take(&mut below[at]);
        for (_, block) in &mut own {
            *block = block.divided_by_upper(&lower);
        }
        for (k, (column, left)) in own.iter().enumerate() {
            diagonal[*column as usize].subtract_product(left, left);
            for (row, right) in &own[k + 1..] {
                let list = &mut below[*column as usize];
                if let Some((_, there)) = list.iter_mut().find(|(later, _)| later == row) {
                    there.subtract_product(right, left);
                }
            }
        }
        below[at] = own;
    }
    Some((diagonal, below))
}
