//! Incomplete factors of symmetric matrices in blocks of six.
//!
//! In: blocks on and below the diagonal. Out: a factor, which keeps nothing where the matrix has nothing: exact for trees that
//! are eliminated from their leaves on. It is found in double and kept in single precision: it only preconditions, and half
//! the memory is half the time.

use super::{
    block::{Block, Six},
    coarse::Coarse,
};

/// Six numbers and two that stay zero, so that lanes are full.
type Lanes = [f32; 8];
/// A block by columns.
type Columns = [Lanes; 6];

/// An incomplete factor of K.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    /// The parts in the order of elimination; pinned ones are not among them.
    order: Vec<u32>,
    /// Inverses of the lower triangles on the diagonal, in that order.
    diagonal: Vec<Columns>,
    /// Where the blocks of each part in that order begin among those below the diagonal, and where the last one's end.
    start: Vec<u32>,
    /// The later parts (places in the order) that each is bonded to, with their blocks.
    below: Vec<(u32, Columns)>,
    coarse: Option<Coarse>,
}

impl Factor {
    /// Of a matrix with these blocks on the diagonal, in the order of elimination, and with these below it, by place of the
    /// column and then of the row; with what adds to its inverse.
    pub fn new(
        order: Vec<u32>,
        diagonal: &[Block],
        below: &[Vec<(u32, Block)>],
        coarse: Option<Coarse>,
    ) -> Self {
        let mut shift = 0.0;
        loop {
            if let Some((diagonal, below)) = factored(diagonal, below, shift) {
                let mut start = vec![0];
                for own in &below {
                    start.push(start[start.len() - 1] + own.len() as u32);
                }
                let below = below.iter().flatten().map(|(later, block)| (*later, columns(block))).collect();
                let diagonal = diagonal.iter().map(|lower| columns(&inverse_of_lower(lower))).collect();
                return Self { order, diagonal, start, below, coarse };
            }
            // Incomplete factors of sound matrices may fail; a stiffer diagonal helps (Manteuffel 1980).
            shift = if shift == 0.0 { 1e-3 } else { shift * 4.0 };
        }
    }

    /// Sets `out` to the inverse of the product of the factors times `v`; zero where a part was pinned. `x` is scratch.
    pub fn apply(&self, v: &[Six], x: &mut Vec<Lanes>, out: &mut [Six]) {
        x.clear();
        x.extend(self.order.iter().map(|part| v[*part as usize].lanes()));
        let below = |at: usize| &self.below[self.start[at] as usize..self.start[at + 1] as usize];
        for at in 0..x.len() {
            let own = times(&self.diagonal[at], &x[at]);
            x[at] = own;
            for (later, block) in below(at) {
                let less = times(block, &own);
                x[*later as usize].iter_mut().zip(less).for_each(|(value, less)| *value -= less);
            }
        }
        for at in (0..x.len()).rev() {
            let mut products = [[0.0; 8]; 6];
            for (later, block) in below(at) {
                add_products(&mut products, block, &x[*later as usize]);
            }
            let mut own = x[at];
            own.iter_mut().zip(&products).for_each(|(value, less)| *value -= sum(less));
            products = [[0.0; 8]; 6];
            add_products(&mut products, &self.diagonal[at], &own);
            for (value, sums) in x[at].iter_mut().zip(&products) {
                *value = sum(sums);
            }
        }
        out.fill(Six::ZERO);
        for (part, own) in self.order.iter().zip(x) {
            out[*part as usize] = Six::of_lanes(own);
        }
        if let Some(coarse) = &self.coarse {
            coarse.add(v, out);
        }
    }
}

fn columns(block: &Block) -> Columns {
    std::array::from_fn(|column| {
        std::array::from_fn(|row| block.0.get(row).map_or(0.0, |row| row[column] as f32))
    })
}

/// The block times `v`.
fn times(block: &Columns, v: &Lanes) -> Lanes {
    let mut out = [0.0; 8];
    for (column, v) in block.iter().zip(v) {
        out.iter_mut().zip(column).for_each(|(value, entry)| *value += entry * v);
    }
    out
}

/// Adds the products of each column with `v`, entry by entry: their sums are the transpose times `v`.
fn add_products(sums: &mut [Lanes; 6], block: &Columns, v: &Lanes) {
    for (sums, column) in sums.iter_mut().zip(block) {
        for ((sum, entry), v) in sums.iter_mut().zip(column).zip(v) {
            *sum += entry * v;
        }
    }
}

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
