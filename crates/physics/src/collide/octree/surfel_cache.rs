//! Surfels and cell tables of the forests whose bodies came near each other, made on first use.

use super::{cell_table::CellTable, pair::OctreePair, surfels::Surfels};
use crate::{Body, svo::Forest};
use rayon::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

/// Fewer pairs are not worth a second thread.
const MANY: usize = 256;

/// The samples of one forest at one level.
#[derive(Clone, Debug)]
pub struct CachedSurfels {
    /// The forest; held, so that its address names it.
    pub forest: Arc<Forest>,
    /// Its surfels.
    pub surfels: Arc<Surfels>,
    /// Index of the first in the GPU's surfel buffer, once they are there.
    pub gpu_base: u32,
}

/// Surfels by forest and level, built on first use.
#[derive(Debug, Default)]
pub struct SurfelCache {
    /// Keyed by address of the forest and level. Iterated only to fill the GPU's buffer, whose order does not affect
    /// results.
    pub entries: BTreeMap<(usize, u32), CachedSurfels>,
    /// Keyed by address of the forest (which an entry holds), tree and level.
    tables: BTreeMap<(usize, u32, u32), Option<CellTable>>,
    /// Whether the GPU's buffer is behind.
    pub stale: bool,
}

impl SurfelCache {
    /// The surfels of `forest` at `level`.
    pub fn get(&mut self, forest: &Arc<Forest>, level: u32) -> &CachedSurfels {
        let key = (Arc::as_ptr(forest) as usize, level);
        let stale = &mut self.stale;
        self.entries.entry(key).or_insert_with(|| {
            *stale = true;
            CachedSurfels {
                forest: Arc::clone(forest),
                surfels: Arc::new(Surfels::build(forest, level)),
                gpu_base: 0,
            }
        })
    }

    /// The cached surfels of `forest` at `level`.
    #[must_use]
    pub fn entry(&self, forest: &Arc<Forest>, level: u32) -> Option<&CachedSurfels> {
        self.entries.get(&(Arc::as_ptr(forest) as usize, level))
    }

    /// The surfels of `forest` at `level`, if they are cached.
    #[must_use]
    pub fn known(&self, forest: &Arc<Forest>, level: u32) -> Option<&Surfels> {
        self.entry(forest, level).map(|cached| &*cached.surfels)
    }

    /// Makes the surfels and flat tables of these pairs that are not there yet, on all cores.
    pub fn tabulate(&mut self, pairs: &[OctreePair], bodies: &[Body]) {
        let tables = &self.tables;
        let wanted = |pair: &OctreePair| {
            let sides = pair.bodies.map(|k| &bodies[k]).into_iter().zip(pair.levels);
            sides.filter(|(body, level)| !tables.contains_key(&table_key(body, *level))).collect::<Vec<_>>()
        };
        let lacks = pairs.par_iter().with_min_len(MANY).flat_map_iter(wanted).collect::<Vec<_>>();
        let mut missing = BTreeMap::new();
        for (body, level) in lacks {
            self.get(&body.def.octree().forest, level);
            missing.insert(table_key(body, level), (body, level));
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let build = |(body, level): (&Body, u32)| {
            CellTable::build(
                &body.def.octree().forest,
                body.def.octree().tree,
                level,
                body.def.octree().mass.bounds,
            )
        };
        let made: Vec<_> = missing.into_par_iter().map(|(key, work)| (key, build(work))).collect();
        self.tables.extend(made);
    }

    /// The flat table of a body's cells at `level`, if it is small enough to have one and is cached.
    #[must_use]
    pub fn table(&self, body: &Body, level: u32) -> Option<&CellTable> {
        self.tables.get(&table_key(body, level)).and_then(Option::as_ref)
    }

    /// Forgets forests that no body uses.
    pub fn keep(&mut self, mut used: impl FnMut(&Arc<Forest>) -> bool) {
        let before = self.entries.len();
        self.entries.retain(|_, cached| used(&cached.forest));
        self.stale |= before != self.entries.len();
        let entries = &self.entries;
        self.tables.retain(|&(forest, _, level), _| entries.contains_key(&(forest, level)));
    }
}

fn table_key(body: &Body, level: u32) -> (usize, u32, u32) {
    (Arc::as_ptr(&body.def.octree().forest) as usize, body.def.octree().tree, level)
}
