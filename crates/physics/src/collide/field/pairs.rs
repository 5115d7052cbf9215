//! What is known of pairs that were met, so that they are met more quickly the next time.
//!
//! In: the names of two bodies. Out: what their last meeting left ([`PairMemory`]). All of it says how long something would
//! take, and nothing of what it comes to: contacts are the same with it and without, so it is no part of what a world knows
//! at a moment, and is forgotten whenever that is given back.

use super::spheres::Kept;
use crate::BodyId;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Threads seldom want the same of so many.
const SHARDS: usize = 64;
/// What was not met in so many searches is forgotten.
const FORGOTTEN: u64 = 256;

/// What is known of a pair; of either body's points in the other.
#[derive(Debug, Default)]
pub struct PairMemory {
    /// What the last query left.
    pub kept: [Kept; 2],
    /// How deep points were in a sibling where both were made, local units.
    pub births: [Vec<(u32, f64)>; 2],
    /// The search in which they met last.
    met: u64,
}

impl PairMemory {
    /// Whether they were not met before.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.met == 0
    }
}

type Shard = Mutex<HashMap<[BodyId; 2], PairMemory>>;

/// What is known of all pairs.
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
        // Whoever panicked while it held this left it whole: a pair is there or is not.
        let mut shard = self.shard(pair).lock().unwrap_or_else(PoisonError::into_inner);
        shard.remove(&pair).unwrap_or_default()
    }

    /// Puts it back.
    pub fn put(&self, pair: [BodyId; 2], memory: PairMemory) {
        let memory = PairMemory { met: self.search, ..memory };
        self.shard(pair).lock().unwrap_or_else(PoisonError::into_inner).insert(pair, memory);
    }

    /// Another search begins.
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
