//! The breaks that what is exported comes of, from the whole objects on.
//!
//! In: the wanted bodies and the log of all breaks. Out: those of their lines, with the numbers that files give to cells and
//! to pieces that broke again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::ExportOrder;
use crate::{
    export::{self, Generation},
    scene::{
        Sandbox,
        break_log::{BreakRecord, Origin},
    },
    svo::{Forest, Grid},
};

/// The breaks that the wanted bodies come of.
pub(super) struct Lines<'a> {
    /// By their index in the log.
    pub breaks: BTreeMap<usize, &'a BreakRecord>,
    /// Number of each one's first cell among the breaks of its object.
    pub first_cell: BTreeMap<usize, u32>,
    /// Place of each one that broke a piece among all such.
    pub again: BTreeMap<usize, usize>,
}

impl<'a> Lines<'a> {
    pub fn of(order: &ExportOrder, sandbox: &'a Sandbox) -> Self {
        let log = sandbox.breaks();
        let origins: BTreeSet<Origin> =
            order.bodies(sandbox).filter_map(|body| sandbox.info(body.id)?.origin).collect();
        let breaks: BTreeMap<usize, &BreakRecord> =
            origins.into_iter().flat_map(|origin| log.line(Some(origin))).collect();
        let mut cells: BTreeMap<usize, u32> = BTreeMap::new();
        let mut first_cell = BTreeMap::new();
        for (at, record) in &breaks {
            let next = cells.entry(record.object).or_default();
            first_cell.insert(*at, *next);
            *next += record.cell_count;
        }
        let again = breaks.iter().filter(|(_, record)| record.broken.is_some()).map(|(at, _)| *at);
        let again = again.zip(0..).collect();
        Self { breaks, first_cell, again }
    }

    /// The whole object's octree and its place in shape space, where a single object is looked at and its
    /// octree is still in memory.
    pub fn source(&self) -> Option<(Arc<Forest>, Grid)> {
        let whole = self.breaks.values().find(|record| record.broken.is_none())?;
        Some((whole.forest()?, whole.grid?))
    }

    pub fn cell(&self, origin: Origin) -> Option<u32> {
        let cell = self.breaks.get(&origin.record)?.cells.get(origin.part)?;
        Some(self.first_cell.get(&origin.record)? + cell)
    }

    /// The pieces that broke again, where `pieces` are left.
    pub fn generations(&self, pieces: usize) -> Vec<Generation> {
        let again = self.again.iter().filter_map(|(at, i)| {
            let parent = self.parent(self.breaks.get(at)?.broken?, pieces);
            Some(Generation { id: pieces + i, parent })
        });
        again.collect()
    }

    /// How wide dust may lie between neighbours, m.
    pub fn widest_gap(&self) -> f64 {
        let of = |record: &&BreakRecord| {
            let params = &record.params;
            Some(export::widest_gap(&params.crack, params.surface, &record.grid?))
        };
        self.breaks.values().filter_map(of).fold(0.0, f64::max)
    }

    /// Id of the piece that broke into what `origin` names, where `pieces` are left.
    pub fn parent(&self, origin: Origin, pieces: usize) -> Option<usize> {
        self.again.get(&origin.record).map(|i| pieces + i)
    }
}
