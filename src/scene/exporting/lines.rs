//! The breaks in the ancestry of the exported bodies.
//!
//! In: the exported bodies and the log of all breaks. Out: those breaks, with the numbers that files give to cells and
//! to pieces that broke again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::ExportOrder;
use crate::{
    export::{self, Generation},
    scene::{BreakRecord, Origin, Sandbox},
    svo::{Forest, Grid},
};

/// The breaks in the ancestry of the exported bodies.
pub(super) struct Lines<'a> {
    /// The breaks by their index in the log.
    pub breaks: BTreeMap<usize, &'a BreakRecord>,
    /// Number of each break's first cell among all breaks of its object.
    pub first_cell: BTreeMap<usize, u32>,
    /// Number of each break of a piece, among all of those.
    pub again: BTreeMap<usize, usize>,
}

impl<'a> Lines<'a> {
    /// The breaks of what an order exports.
    pub fn of_order(order: &ExportOrder, sandbox: &'a Sandbox) -> Self {
        Self::of(sandbox, order.pieces(sandbox).filter_map(|piece| piece.info.origin))
    }

    /// The breaks that led to these origins.
    pub fn of(sandbox: &'a Sandbox, origins: impl Iterator<Item = Origin>) -> Self {
        let log = sandbox.breaks();
        let origins: BTreeSet<Origin> = origins.collect();
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

    /// The breaks by their index in the log, each with the number of its first cell.
    pub fn numbered(&self) -> BTreeMap<usize, (&'a BreakRecord, u32)> {
        let breaks = self.breaks.iter().zip(self.first_cell.values());
        breaks.map(|((at, record), first)| (*at, (*record, *first))).collect()
    }

    /// The whole object's octree and its grid in shape space, if a single object is exported and its octree is still
    /// alive.
    pub fn source(&self) -> Option<(Arc<Forest>, Grid)> {
        let whole = self.breaks.values().find(|record| record.broken.is_none())?;
        Some((whole.forest()?, whole.grid?))
    }

    pub fn cell(&self, origin: Origin) -> Option<u32> {
        let cell = self.breaks.get(&origin.record)?.cells.get(origin.part)?;
        Some(self.first_cell.get(&origin.record)? + cell)
    }

    /// Pieces that broke again; their ids follow those of the `pieces` final ones.
    pub fn generations(&self, pieces: usize) -> Vec<Generation> {
        let again = self.again.iter().filter_map(|(at, i)| {
            let parent = self.parent(self.breaks.get(at)?.broken?, pieces);
            Some(Generation { id: pieces + i, parent })
        });
        again.collect()
    }

    /// Widest possible layer of dust between neighbours, m.
    pub fn widest_gap(&self) -> f64 {
        let of = |record: &&BreakRecord| {
            let params = &record.params;
            Some(export::widest_gap(&params.crack, params.surface, &record.grid?))
        };
        self.breaks.values().filter_map(of).fold(0.0, f64::max)
    }

    /// Id of the piece that broke into `origin`'s part; the ids follow those of the `pieces` final ones.
    pub fn parent(&self, origin: Origin, pieces: usize) -> Option<usize> {
        self.again.get(&origin.record).map(|i| pieces + i)
    }
}
