//! Owners of the 27 corners that the eight leaves of one node share.
//!
//! Corner n is at (n % 3, n / 3 % 3, n / 9) edges from the node's low corner. They are kept in nine rows along x, of
//! four lanes each, the last of them idle, so that a row is one vector of the processor.

use crate::fracture::voronoi::descent::native::{Candidate, distance2};

/// The corners of octant 0, a bit each.
const OCTANT: u32 = 0x361b;

/// Bits of the corners in the lanes of all rows.
const BITS: [u32; 36] = {
    let mut bits = [0; 36];
    let mut lane = 0;
    while lane < 36 {
        if lane % 4 < 3 {
            bits[lane] = 1 << (lane / 4 * 3 + lane % 4);
        }
        lane += 1;
    }
    bits
};

/// Gathers the bits of octants, which lie where their low corners do, to eight.
fn gather(bits: u32) -> u32 {
    bits & 3 | bits >> 1 & 0xc | bits >> 5 & 0x30 | bits >> 6 & 0xc0
}

/// Octants of which a corner is among `corners`.
pub(in crate::fracture) fn touched(corners: u32) -> u32 {
    let x = corners | corners >> 1;
    let xy = x | x >> 3;
    gather(xy | xy >> 9)
}

/// Octants of which all corners are.
pub(super) fn covered(corners: u32) -> u32 {
    let x = corners & corners >> 1;
    let xy = x & x >> 3;
    gather(xy & xy >> 9)
}

/// The corners of one octant: bit k for the one at (k & 1, k >> 1 & 1, k >> 2).
pub(in crate::fracture) fn of_octant(corners: u32, octant: u32) -> u32 {
    let shift = (octant & 1) + 3 * (octant >> 1 & 1) + 9 * (octant >> 2);
    gather(corners >> shift & OCTANT)
}

/// How much farther from all corners of a node with its low corner at `low` one seed is than another one that is at
/// `from`, `from_distance2` from that corner. Products wrap, what they make up fits.
fn leads(low: [i32; 3], edge_bits: u32, from: [i32; 3], from_distance2: i32, to: [i32; 3]) -> [i32; 36] {
    let step = [0, 1, 2].map(|a| (from[a] - to[a]) << (edge_bits + 1));
    let at = distance2(low, to).wrapping_sub(from_distance2);
    let along_x = [0, step[0], step[0].wrapping_mul(2), 0];
    let mut leads = [0; 36];
    for (row, lanes) in (0i32..).zip(leads.chunks_exact_mut(4)) {
        let first =
            at.wrapping_add(step[1].wrapping_mul(row % 3)).wrapping_add(step[2].wrapping_mul(row / 3));
        for (lane, x) in lanes.iter_mut().zip(along_x) {
            *lane = first.wrapping_add(x);
        }
    }
    leads
}

/// Calls `claim` for every candidate that owns a corner, in order, with those corners; the first of equally near ones
/// owns it. `edge_bits` is that of a leaf.
pub(in crate::fracture) fn find_owners(
    list: &[Candidate],
    low: [i32; 3],
    edge_bits: u32,
    mut claim: impl FnMut(&Candidate, u32),
) {
    let Some((first, rivals)) = list.split_first() else { return };
    let from_distance2 = distance2(low, first.at);
    if let [rival] = rivals {
        let lead = leads(low, edge_bits, first.at, from_distance2, rival.at);
        let mut theirs = 0;
        for lane in 0..36 {
            theirs |= if lead[lane] < 0 { BITS[lane] } else { 0 };
        }
        let all = 0x07ff_ffff;
        if theirs != all {
            claim(first, all & !theirs);
        }
        if theirs != 0 {
            claim(rival, theirs);
        }
        return;
    }
    let mut best = [0i32; 36];
    let mut owner = [0u32; 36];
    for (k, rival) in (1u32..).zip(rivals) {
        let lead = leads(low, edge_bits, first.at, from_distance2, rival.at);
        for lane in 0..36 {
            let nearer = lead[lane] < best[lane];
            best[lane] = if nearer { lead[lane] } else { best[lane] };
            owner[lane] = if nearer { k } else { owner[lane] };
        }
    }
    for (k, candidate) in (0u32..).zip(list) {
        let mut own = 0;
        for lane in 0..36 {
            own |= if owner[lane] == k { BITS[lane] } else { 0 };
        }
        if own != 0 {
            claim(candidate, own);
        }
    }
}
