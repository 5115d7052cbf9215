//! Cached data of pairs that were searched, which makes the next search faster.
//!
//! In: the ids of two bodies. Out: the data of their last search ([`PairMemory`]). It affects only the time of a
//! search: contacts are the same with it and without. So it is no part of a world's snapshot, and is dropped when a
//! snapshot is restored.

use super::spheres::QueryCache;
use crate::bodies::BodyId;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// With this number of shards, threads seldom want the same one.
const SHARDS: usize = 64;
/// A pair without a search for this number of searches is dropped.
const FORGOTTEN: u64 = 256;

/// Cached data of a pair; of either body's points in the other.
#[derive(Debug, Default)]
pub struct PairMemory {
    /// The data of the last query.
    pub kept: [QueryCache; 2],
    /// How deep points were in a sibling where both were made, local units.
    pub births: [Vec<(u32, f64)>; 2],
    /// Number of the search that used the pair last.
    met: u64,
}

impl PairMemory {
    /// Whether the pair is new.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.met == 0
    }
}

type Shard = Mutex<HashMap<[BodyId; 2], PairMemory>>;

/// The cached data of all pairs.
pub struct Pairs {
    shards: Vec<Shard>,
    search: u64,
}

impl Default for Pairs {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Shard::default()).collect(), search: 0 }
    }
}

impl Pairs {
    fn shard(&self, pair: [BodyId; 2]) -> &Shard {
        let [a, b] = pair.map(|id| id.0 as usize);
        &self.shards[(a.wrapping_mul(31).wrapping_add(b)) % SHARDS]
    }

    /// Takes out what is known of a pair.
    pub fn take(&self, pair: [BodyId; 2]) -> PairMemory {
        // A thread that panicked with this lock left the data valid: a pair is there or is not.
        let mut shard = self.shard(pair).lock().unwrap_or_else(PoisonError::into_inner);
        shard.remove(&pair).unwrap_or_default()
    }

    /// Puts it back.
    pub fn put(&self, pair: [BodyId; 2], memory: PairMemory) {
        let memory = PairMemory { met: self.search, ..memory };
        self.shard(pair).lock().unwrap_or_else(PoisonError::into_inner).insert(pair, memory);
    }

    /// Begins another search.
    pub fn next_search(&mut self) {
        self.search += 1;
        if self.search.is_multiple_of(FORGOTTEN) {
            let since = self.search - FORGOTTEN;
            self.retain(|_, memory| memory.met >= since);
        }
    }

    /// Keeps the pairs of which that is said.
    pub fn retain(&mut self, mut stays: impl FnMut(&[BodyId; 2], &mut PairMemory) -> bool) {
        for shard in &mut self.shards {
            shard
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .retain(|pair, memory| stays(pair, memory));
        }
    }
}
