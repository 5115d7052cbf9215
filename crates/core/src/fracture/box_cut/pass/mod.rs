//! Box cutting in compute passes (Chlubna sec. 3 and 4): one workgroup a cell, for many cells at once. The native twin
//! is [`cut`](super::cut).
//!
//! In: sites and a box. Out: the same cells to the byte, in the order of the sites, and how many of them the twin cut.
//!
//! Whole numbers decide everything; floats only say where they need not be asked
//! (`shaders/fracture/box_cut/pass/shape.wgsl` proves by how much these may be off, however a driver rounds) and which
//! neighbours are surely too far away to cut. So the cells have the planes, vertices and edges of the twin, in its
//! order.
//!
//! A cell has room for 64 planes in the memory of its workgroup (9 KB), of which random sites need half. One that needs
//! more, or so many neighbours that a software driver would end its loops, says so, and the twin cuts it. Records are
//! brought together by prefix sums and read back at once.
//!
//! Neighbours come from bins of a uniform grid, two sites a bin; up to [`SINGLE_BIN`] sites there is a single bin and
//! that is the linear scan. The twin's tree of spheres would need a stack and a heap a thread and go down by one thread
//! what a workgroup has 32 for; bins are looked at by all of them, side by side.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    cell::{Cell, distinct},
    complex::Point,
    cut::{Cutter, Rules},
    sphere_tree::{Finder, NearestBy},
};
use crate::{
    fracture::Passes,
    gpu::{
        AnyReadback, Buffer, Gpu, GpuError, GrowAndRetry, IndirectCount, PendingTimings, Readback, Recorder,
        bind, kernels, primitives::Scan, shared,
    },
};

mod record;
#[cfg(test)]
mod tests;

use record::Bins;
#[cfg(test)]
pub(crate) use tests::{layouts, run_every_kernel};

/// Threads a cell, as `shaders/fracture/box_cut/pass/shape.wgsl` has it.
#[cfg(test)]
pub(crate) const THREADS: u32 = 32;

/// Up to so many sites are looked at one after the other: a workgroup sorts them at once.
const SINGLE_BIN: usize = 128;
/// Words that a cell's record may have.
const RECORD: usize = 64 - 6 + 128 + 192;
/// Words of a record that there is room for at first; random sites need some 95.
const WORDS_A_CELL: usize = 128;
/// Cells of one dispatch: their records must fit a buffer, and a picture must not have to wait for all of them.
const MOST_CELLS: usize = 2048;
/// Of 256 threads a workgroup, 64 take one record.
const THREADS_A_RECORD: usize = 64;

kernels! {
    /// The compiled passes.
    pub(super) struct CellsPass {
        cells: "fracture/box_cut/pass/cells",
        gather: "fracture/box_cut/pass/gather",
    }
}

shared! {
    pub(super) struct CellParams {
        first: u32,
        count: u32,
        low_x: i32,
        low_y: i32,
        low_z: i32,
        high_x: i32,
        high_y: i32,
        high_z: i32,
        bins_x: i32,
        bins_y: i32,
        bins_z: i32,
        bin: i32,
        across_x: i32,
        across_y: i32,
        across_z: i32,
    }

    pub(super) struct GatherParams { cells: u32, record: u32, room: u32 }
}

/// The compiled passes and what they need of others.
pub(in crate::fracture) struct CellPasses {
    scan: Scan,
    pass: CellsPass,
    /// Words of a record that there is room for at first; tests make it too small.
    words_a_cell: usize,
    /// Sites that are looked at one after the other instead of by bins, at most; tests try either way.
    pub(super) single_bin: usize,
}

/// What came of some sites.
pub(super) struct Cells {
    /// One a site.
    pub cells: Vec<Cell>,
    /// How many of them the twin cut, since they had no room on the device.
    pub by_twin: usize,
}

/// What some cells left on the device, on its way.
struct Batch {
    heads: Readback<u32>,
    words: Readback<u32>,
    /// Of all records, and cells without one.
    total: Readback<[u32; 2]>,
}

impl CellPasses {
    /// Compiles them.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refuses one.
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let (scan, pass) = (Scan::new(gpu), CellsPass::new(gpu));
        let passes = Self { scan, pass, words_a_cell: WORDS_A_CELL, single_bin: SINGLE_BIN };
        gpu.check()?;
        Ok(passes)
    }

    /// Those that all breaks of a program share; the first call compiles them.
    ///
    /// # Errors
    /// As [`CellPasses::new`]; the next call tries again.
    pub fn shared(all: &Passes, gpu: &Gpu) -> Result<Arc<Self>, GpuError> {
        all.prepared(|| Self::new(gpu))
    }

    /// The cells of `sites` in the box from `low` to `high`. Waits once, and again where records had no room.
    ///
    /// Sites and box must lie within [`REACH`](super::complex::REACH).
    pub(super) fn run(&self, gpu: &Gpu, sites: &[Point], low: Point, high: Point) -> Result<Cells, GpuError> {
        let mut cells: Vec<Cell> = (0..sites.len() as u32).map(Cell::empty).collect();
        let distinct = distinct(sites);
        if distinct.is_empty() || (0..3).any(|k| low[k] >= high[k]) {
            return Ok(Cells { cells, by_twin: 0 });
        }
        let bins = Bins::new(sites, &distinct, self.single_bin);
        let batches = self.batches(gpu, &bins, low, high)?;
        let mut made: Vec<(u32, Option<Cell>)> = Vec::with_capacity(distinct.len());
        for (batch, placed) in batches.iter().zip(bins.placed.chunks(MOST_CELLS)) {
            let (heads, words) = (batch.heads.view()?, batch.words.view()?);
            let mut start = 0;
            let records: Vec<(u32, u32, &[u32])> = placed
                .iter()
                .zip(heads.iter())
                .map(|(site, head)| {
                    let end = start + record::words(*head);
                    let own = words.get(start..end).unwrap_or_default();
                    start = end;
                    (site[3] as u32, *head, own)
                })
                .collect();
            let read = |(site, head, words): &(u32, u32, &[u32])| {
                (*site, record::cell(sites, *site, (low, high), *head, words))
            };
            made.par_extend(records.par_iter().with_min_len(16).map(read));
        }
        let unmade: Vec<u32> =
            made.iter().filter(|(_, cell)| cell.is_none()).map(|(site, _)| *site).collect();
        for (site, cell) in made {
            if let Some(cell) = cell {
                cells[site as usize] = cell;
            }
        }
        if !unmade.is_empty() {
            let finder = Finder::new(NearestBy::for_count(sites.len()), sites, &distinct);
            let by_twin: Vec<Cell> = unmade
                .par_iter()
                .map_init(Cutter::default, |cutter, site| {
                    cutter.cell(&Rules::EXACT, &finder, sites, *site, low, high)
                })
                .collect();
            by_twin.into_iter().for_each(|cell| {
                let site = cell.site as usize;
                cells[site] = cell;
            });
        }
        Ok(Cells { cells, by_twin: unmade.len() })
    }

    /// Cuts all cells that begin in `bins`, and brings their records to the host.
    fn batches(&self, gpu: &Gpu, bins: &Bins, low: Point, high: Point) -> Result<Vec<Batch>, GpuError> {
        let count = bins.placed.len();
        let most = count.min(MOST_CELLS);
        let sites = Buffer::from_slice(gpu, "sites", &bins.placed)?;
        let starts = Buffer::from_slice(gpu, "bins of sites", &bins.starts)?;
        let records = Buffer::<u32>::zeroed(gpu, "records of cells", most * RECORD)?;
        let heads = Buffer::<u32>::zeroed(gpu, "lengths of cells", most)?;
        let sizes = Buffer::<[u32; 2]>::zeroed(gpu, "sizes of cells", most + 1)?;
        let room = (most * self.words_a_cell) as u32;
        GrowAndRetry::new([room], |needed, _| needed).run(|[room]| {
            let packed = Buffer::<u32>::zeroed(gpu, "cells", *room as usize)?;
            let mut pending: Vec<PendingTimings> = Vec::new();
            let mut batches = Vec::new();
            for first in (0..count).step_by(MOST_CELLS) {
                let cells = (count - first).min(MOST_CELLS);
                let mut rec = Recorder::with_room(gpu, "cells", 0);
                let params = bins.params(first, cells, low, high);
                let given = bind![sites, bins: starts, records, heads, sizes];
                rec.run_groups(&self.pass.cells, cells, &params, given)?;
                self.scan.run(&mut rec, &sizes, &IndirectCount::known(gpu, cells))?;
                let params = GatherParams { cells: cells as u32, record: RECORD as u32, room: *room };
                let given = bind![sizes, records, packed];
                rec.run(&self.pass.gather, cells * THREADS_A_RECORD, &params, given)?;
                batches.push(Batch {
                    heads: Readback::copy(&mut rec, &heads, 0, cells),
                    words: Readback::copy(&mut rec, &packed, 0, *room as usize),
                    total: Readback::copy(&mut rec, &sizes, cells, 1),
                });
                pending.push(rec.submit_pending());
            }
            let copies: Vec<&dyn AnyReadback> = batches
                .iter()
                .flat_map(|batch| [&batch.heads as &dyn AnyReadback, &batch.words, &batch.total])
                .collect();
            PendingTimings::collect_with(gpu, pending, &copies)?;
            let mut needed = 0;
            for batch in &batches {
                needed = needed.max(batch.total.to_vec()?.first().map_or(0, |total| total[0]));
            }
            Ok(([needed], batches))
        })
    }
}
