//! The seams on the processor's cores: the words that `shaders/fracture/voronoi/seams.wgsl` writes.
//!
//! The shader tests every seed for every voxel. Here neighbouring voxels share a list, which shrinks from block to
//! smaller block (octree nodes over Morton codes): a seed stays while it could be in the list of a voxel of the block.
//!
//! Which can? Seed k is in the list of a voxel with centre c and nearest seed o where |c-k|² - |c-o|² < 1 + e·|o-k|₁, e
//! being the edge of the widened voxel. With |o-k|₁ <= √3·(|c-o| + |c-k|) that gives |c-k| < |c-o| + √3·e + 1. Over a
//! block with middle b whose voxels' centres are at most r away it becomes |b-k| < |b-o| + 2r + √3·e + 1, o being the
//! seed nearest to b; and 2r + √3·e is √3 times the edge of the widened block.

use rayon::prelude::*;

use super::{WORDS, head};
use crate::{
    fracture::{Pattern, UNIT_BITS, voronoi::descent::native::distance2},
    svo::{Key, KeySlice, morton},
};

/// As in `shaders/shared/seams.wgsl`.
const CELLS: usize = 14;
const ALL: u32 = 15;
const QUIET: u32 = 512;
const REACH: i32 = 128;

/// Voxels of one task.
const CHUNK: usize = 1024;

/// All words: the seeds, then a list for every voxel.
pub(super) fn words(keys: KeySlice<'_>, level: u32, pattern: &Pattern) -> Vec<u32> {
    let mut words = head(pattern);
    let first = words.len();
    words.resize(first + WORDS * keys.len(), 0);
    let records = words[first..].par_chunks_mut(WORDS * CHUNK);
    records.enumerate().for_each(|(chunk, records)| {
        let first = chunk * CHUNK;
        let keys = keys.slice(first..(first + CHUNK).min(keys.len()));
        let mut lists = Lists::new(level, pattern);
        for (key, record) in keys.iter().zip(records.chunks_exact_mut(WORDS)) {
            lists.write(key, record);
        }
    });
    words
}

/// A seed that may be in a list.
#[derive(Clone, Copy)]
struct Near {
    at: [i32; 3],
    seed: u32,
    object: u32,
}

/// The lists of the blocks round a voxel, the whole grid's first.
struct Lists {
    level: u32,
    /// Each behind the one of the block above, by ascending seed.
    seeds: Vec<Near>,
    /// Index of the first list element of the block of each level.
    starts: Vec<usize>,
    /// The voxel whose blocks these are.
    key: Key,
    distances: Vec<i32>,
}

impl Lists {
    fn new(level: u32, pattern: &Pattern) -> Self {
        let seeds = (0..).zip(&pattern.seeds).zip(&pattern.objects);
        let near = |((seed, at), object): ((u32, &[i32; 3]), &u32)| Near { at: *at, seed, object: *object };
        Self { level, seeds: seeds.map(near).collect(), starts: vec![0], key: 0, distances: Vec::new() }
    }

    /// Goes to the blocks of a voxel; afterwards the last list is that of its parent.
    fn go_to(&mut self, key: Key) {
        let differing = Key::BITS - (self.key ^ key).leading_zeros();
        // Blocks are kept for the levels at which the bits of the code are equal.
        let same = self.level.saturating_sub(differing.div_ceil(3)) as usize;
        if same + 1 < self.starts.len() {
            self.seeds.truncate(self.starts[same + 1]);
            self.starts.truncate(same + 1);
        }
        self.key = key;
        while (self.starts.len() as u32) < self.level {
            self.narrow(key);
        }
    }

    /// The list of the next smaller block round a voxel.
    fn narrow(&mut self, key: Key) {
        let block = self.starts.len() as u32;
        let edge = 1i32 << (UNIT_BITS - block);
        let middle = morton::decode(key >> (3 * (self.level - block))).map(|v| v as i32 * edge + edge / 2);
        let (first, end) = (self.starts[block as usize - 1], self.seeds.len());
        self.distances.clear();
        self.distances.extend(self.seeds[first..].iter().map(|near| distance2(middle, near.at)));
        let nearest = self.distances.iter().copied().min().unwrap_or(0);
        let farther = 3f64.sqrt() * f64::from(edge + 2 * REACH) + 2.0;
        let limit = (f64::from(nearest).sqrt() + farther).powi(2);
        self.starts.push(end);
        for k in 0..end - first {
            if f64::from(self.distances[k]) < limit {
                let near = self.seeds[first + k];
                self.seeds.push(near);
            }
        }
    }

    fn write(&mut self, key: Key, record: &mut [u32]) {
        self.go_to(key);
        let list = &self.seeds[self.starts[self.starts.len() - 1]..];
        let edge = 1i32 << (UNIT_BITS - self.level);
        let centre = morton::decode(key).map(|v| v as i32 * edge + edge / 2);
        self.distances.clear();
        self.distances.extend(list.iter().map(|near| distance2(centre, near.at)));
        let mut own = 0;
        for (k, distance) in self.distances.iter().enumerate() {
            if *distance < self.distances[own] {
                own = k;
            }
        }
        let (judge, nearest) = (list[own], self.distances[own]);
        let mut count = 1;
        let mut several = false;
        record[1] = judge.seed;
        for (k, (near, distance)) in list.iter().zip(&self.distances).enumerate() {
            let apart = (judge.at[0] - near.at[0]).abs()
                + (judge.at[1] - near.at[1]).abs()
                + (judge.at[2] - near.at[2]).abs();
            let reach = (edge + 2 * REACH) * apart;
            if k != own && distance - nearest < i32::from(k < own) + reach {
                several |= near.object != judge.object;
                if count < CELLS {
                    record[1 + count / 2] |= near.seed << (16 * (count % 2));
                }
                count += 1;
            }
        }
        let listed = if count > CELLS { ALL } else { count as u32 };
        record[0] = listed | if several { 0 } else { QUIET };
    }
}
