//! Incomplete factors of symmetric matrices in blocks of six.
//!
//! In: blocks on and below the diagonal. Out: a factor, which keeps nothing where the matrix has nothing: exact for trees that
//! are eliminated from their leaves on.

use super::block::{Block, Six};

/// An incomplete factor of K.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    /// The parts in the order of elimination; pinned ones are not among them.
    order: Vec<u32>,
    /// The lower triangles on the diagonal, in that order.
    diagonal: Vec<Block>,
    /// For each part in that order: the later parts (places in the order) that it is bonded to, with their blocks.
    below: Vec<Vec<(u32, Block)>>,
}

impl Factor {
    /// Of a matrix with these blocks on the diagonal, in the order of elimination, and with these below it, by place of the
    /// column and then of the row.
    pub fn new(order: Vec<u32>, diagonal: &[Block], below: &[Vec<(u32, Block)>]) -> Self {
        let mut shift = 0.0;
        loop {
            if let Some((diagonal, below)) = factored(diagonal, below, shift) {
                return Self { order, diagonal, below };
            }
            // Incomplete factors of sound matrices may fail; a stiffer diagonal helps (Manteuffel 1980).
            shift = if shift == 0.0 { 1e-3 } else { shift * 4.0 };
        }
    }

    /// The inverse of the product of the factors, times `v`; zero where a part was pinned.
    pub fn apply(&self, v: &[Six]) -> Vec<Six> {
        let mut x: Vec<Six> = self.order.iter().map(|part| v[*part as usize]).collect();
        for at in 0..x.len() {
            let own = self.diagonal[at].solve_lower(x[at]);
            x[at] = own;
            for (later, block) in &self.below[at] {
                x[*later as usize] -= block.times(own);
            }
        }
        for at in (0..x.len()).rev() {
            let mut own = x[at];
            for (later, block) in &self.below[at] {
                own -= block.transpose_times(x[*later as usize]);
            }
            x[at] = self.diagonal[at].solve_upper(own);
        }
        let mut out = vec![Six::ZERO; v.len()];
        for (part, own) in self.order.iter().zip(x) {
            out[*part as usize] = own;
        }
        out
    }
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
