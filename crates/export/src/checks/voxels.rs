//! Checks of every voxel of a break: its owner before and after, and that no voxel was lost or added.
//!
//! In: [`Solids`]. Out: checks. Each is summed over the blocks of the grid ([`blocks`](super::blocks)).
//!
//! The solid of a break, processed in blocks of the grid: at level 10 the pieces have tens of millions of boundary
//! voxels, and each voxel's checks only need data at its place.
//!
//! In: the broken octree and its parts. Out: for each block its cubes and the copies of its voxels.

use std::{collections::BTreeSet, ops::Range};

use rayon::prelude::*;

use super::{BrokenObject, Check, VoronoiDetail};
use crate::{
    Cells,
    cells::CellIndex,
    fracture::{Fracture, Piece, Surface},
    svo::{Forest, morton::Key},
};

/// Counts, summed over all blocks.
#[derive(Default)]
struct Sums {
    source_leaves: u64,
    crack_voxels: u64,
    with_copies: u64,
    missing: u64,
    outside: u64,
    before: u64,
    after: u64,
    overlaps: u64,
    spans_outside: u64,
    hidden_copied: u64,
    voxels_gone: f64,
    volume_gone: f64,
    given_twice: f64,
}

/// Results of the checks in this file, and the number of voxels in every block.
pub(super) struct Found {
    pub boundary: Check,
    pub space: Check,
    pub hidden: Check,
    pub dust: Check,
    pub voxels: Vec<usize>,
}

impl Found {
    /// Processes every voxel. `parts` are those that corners miss, `before` is the volume of the broken octree.
    pub fn of(
        broken: &BrokenObject,
        solids: &Solids<'_>,
        (step, parts): (&VoronoiDetail, &[(Key, u32)]),
        before: f64,
    ) -> Self {
        let found = solids.in_blocks(|_, block| {
            let mut sums = Sums::default();
            let voxels = boundary(block, solids.kept, &mut sums);
            space(block, &mut sums);
            hidden(block, solids, parts, &mut sums);
            dust(block, solids, &mut sums);
            (sums, voxels)
        });
        let mut sums = Sums::default();
        found.iter().for_each(|(block, _)| sums.add(block));
        Self {
            boundary: sums.boundary(step),
            space: sums.space(step),
            hidden: sums.hidden(solids, parts),
            dust: sums.dust(step, before, broken.grid().h.powi(3)),
            voxels: found.into_iter().map(|(_, voxels)| voxels).collect(),
        }
    }
}

/// Counts voxels with and without copies, and misplaced ones; returns the number of voxels, not counting copies.
fn boundary(block: &Block<'_>, kept: usize, sums: &mut Sums) -> usize {
    let mut unique: Vec<Key> = block.copies.iter().map(|c| c.key()).collect();
    unique.dedup();
    let leaves =
        || block.source.starts.iter().zip(&block.source.leaves).filter(|(_, leaf)| **leaf != u32::MAX);
    sums.source_leaves = leaves().count() as u64;
    let mut rest = unique.iter().peekable();
    // Both lists ascend.
    let mut is_missing = |key: Key| {
        while rest.next_if(|own| **own < key).is_some() {}
        rest.peek() != Some(&&key)
    };
    sums.missing = leaves().filter(|(key, _)| is_missing(*key)).count() as u64;
    sums.outside = unique.iter().filter(|key| block.was_inside(**key).is_none()).count() as u64;
    let mut of_pieces: Vec<Key> = block.copies.iter().filter(|c| c.part() < kept).map(|c| c.key()).collect();
    sums.with_copies = of_pieces.len() as u64;
    of_pieces.dedup();
    sums.crack_voxels = of_pieces.iter().filter(|key| block.was_inside(**key) == Some(true)).count() as u64;
    unique.len()
}

/// Adds up the ranges of Morton codes covered by boundary voxels (not counting copies) and internal nodes.
fn space(block: &Block<'_>, sums: &mut Sums) {
    let mut spans: Vec<(u64, u64)> = block.voxels().map(|v| (v[0].key(), v[0].key() + 1)).collect();
    for (_, cells) in &block.parts {
        let internal = (0..cells.len()).filter(|i| cells.leaves[*i] == u32::MAX);
        spans.extend(internal.map(|i| (cells.starts.at(i), cells.end(i))));
    }
    spans.sort_unstable();
    let source = &block.source;
    sums.overlaps = spans.windows(2).filter(|w| w[1].0 < w[0].1).count() as u64;
    sums.after = spans.iter().map(|s| s.1 - s.0).sum();
    sums.before = source.volume();
    let whole = joined((0..source.len()).map(|i| (source.starts.at(i), source.end(i))));
    sums.spans_outside = joined(spans).iter().filter(|span| !within(span, &whole)).count() as u64;
}

/// Whether a range lies in one of several sorted, merged ranges.
fn within(span: &(u64, u64), whole: &[(u64, u64)]) -> bool {
    let after = whole.partition_point(|w| w.0 <= span.0);
    after > 0 && span.1 <= whole[after - 1].1
}

/// Sorts ranges and merges adjacent ones.
fn joined(spans: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => out.push((start, end)),
        }
    }
    out
}

/// Counts parts that corners miss but that have a copy.
fn hidden(block: &Block<'_>, solids: &Solids<'_>, parts: &[(Key, u32)], sums: &mut Sums) {
    let (Some(first), Some(last)) = (block.copies.first(), block.copies.last()) else { return };
    let from = parts.partition_point(|part| part.0 < first.key());
    let here = parts[from..].iter().take_while(|part| part.0 <= last.key());
    let with_copy = |key: Key, cell: u32| {
        let first = block.copies.partition_point(|c| c.key() < key);
        let own = block.copies[first..].iter().take_while(|c| c.key() == key);
        // A merged piece may have the voxel through another of its cells.
        own.map(|c| &solids.cells[c.part()]).any(|cells| cells.as_slice() == [cell])
    };
    sums.hidden_copied = here.filter(|(key, cell)| with_copy(*key, *cell)).count() as u64;
}

/// Compares the parts' shares of every voxel with the source's.
fn dust(block: &Block<'_>, solids: &Solids<'_>, sums: &mut Sums) {
    let mut shares: Vec<(Key, f64)> = Vec::new();
    let mut inside: Vec<(Key, f64)> = Vec::new();
    for (forest, cells) in &block.parts {
        for i in 0..cells.len() {
            match cells.leaves[i] {
                u32::MAX => inside.push((cells.starts.at(i), (1u64 << (3 * cells.log_sizes[i])) as f64)),
                leaf => {
                    shares.push((cells.starts.at(i), f64::from(forest.leaves.coverage[leaf as usize])));
                }
            }
        }
    }
    // A stable sort, since shares are summed in the order of the parts.
    shares.sort_by_key(|share| share.0);
    inside.sort_by_key(|cube| cube.0);
    let source = &block.source;
    // The source's cubes ascend, too, so that each list is walked through once.
    let (mut next_cube, mut next_share) = (0, 0);
    for i in 0..source.len() {
        let span = source.starts.at(i)..source.end(i);
        let coverage = &solids.source.0.leaves.coverage;
        let leaf = source.leaves[i];
        let each = if leaf == u32::MAX { 1.0 } else { f64::from(coverage[leaf as usize]) };
        let cubes: f64 = in_span(&inside, &mut next_cube, &span).iter().map(|cube| cube.1).sum();
        let (mut given, mut touched) = (cubes, 0.0);
        for same in in_span(&shares, &mut next_share, &span).chunk_by(|a, b| a.0 == b.0) {
            let sum: f64 = same.iter().map(|share| share.1).sum();
            given += sum;
            touched += 1.0;
            sums.given_twice = sums.given_twice.max(sum / each - 1.0);
        }
        let size = (span.end - span.start) as f64;
        sums.voxels_gone += size - touched - cubes;
        sums.volume_gone += size * each - given;
    }
}

/// The entries of an ascending list whose Morton codes lie in `span`; `next` is where the search for the span before
/// ended.
fn in_span<'a>(list: &'a [(Key, f64)], next: &mut usize, span: &Range<Key>) -> &'a [(Key, f64)] {
    let mut count_below = |end: Key| {
        *next += list[*next..].iter().take_while(|entry| entry.0 < end).count();
        *next
    };
    let first = count_below(span.start);
    &list[first..count_below(span.end)]
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.source_leaves += other.source_leaves;
        self.crack_voxels += other.crack_voxels;
        self.with_copies += other.with_copies;
        self.missing += other.missing;
        self.outside += other.outside;
        self.before += other.before;
        self.after += other.after;
        self.overlaps += other.overlaps;
        self.spans_outside += other.spans_outside;
        self.hidden_copied += other.hidden_copied;
        self.voxels_gone += other.voxels_gone;
        self.volume_gone += other.volume_gone;
        self.given_twice = self.given_twice.max(other.given_twice);
    }

    /// Not counting copies, the boundary voxels of pieces and dropped parts are those of the source, except for dust,
    /// plus internal cells of the source. Cracks closed again by merging are not counted.
    fn boundary(&self, step: &VoronoiDetail) -> Check {
        let counts = &step.fracture.counts;
        let counted = counts.source_leaves == self.source_leaves
            && counts.crack_voxels == self.crack_voxels
            && counts.fbs == self.with_copies;
        let is_whole = self.missing == 0 || step.recipe.surface == Surface::Dusty;
        Check::new(
            "boundary_is_source_plus_crack",
            is_whole && self.outside == 0 && counted,
            &[
                ("source_leaves", self.source_leaves as f64),
                ("crack_voxels", self.crack_voxels as f64),
                ("with_copies", self.with_copies as f64),
                ("missing", self.missing as f64),
                ("outside", self.outside as f64),
            ],
        )
    }

    /// Boundary voxels (not counting copies) and the pieces' internal nodes cover the source exactly, except for voxels
    /// counted as dust.
    fn space(&self, step: &VoronoiDetail) -> Check {
        let dust = step.fracture.counts.dust_voxels;
        Check::new(
            "voxels_before_are_voxels_after",
            self.spans_outside == 0
                && self.overlaps == 0
                && self.before == self.after + dust
                && (dust == 0 || step.recipe.surface == Surface::Dusty),
            &[
                ("before", self.before as f64),
                ("after", self.after as f64),
                ("dust", dust as f64),
                ("overlaps", self.overlaps as f64),
                ("outside", self.spans_outside as f64),
            ],
        )
    }

    /// Cells that own a part of a voxel's inside but none of its corners get no copy: no piece has one of `parts`.
    fn hidden(&self, solids: &Solids<'_>, parts: &[(Key, u32)]) -> Check {
        let mut voxels: Vec<Key> = parts.iter().map(|part| part.0).collect();
        voxels.dedup();
        let with_piece: BTreeSet<u32> = solids.cells.iter().flatten().copied().collect();
        let cells: BTreeSet<u32> = parts.iter().map(|part| part.1).collect();
        Check::new(
            "hidden_parts_are_counted",
            self.hidden_copied == 0,
            &[
                ("hidden", parts.len() as f64),
                ("voxels", voxels.len() as f64),
                ("cells", cells.len() as f64),
                ("cells_without_a_piece", cells.difference(&with_piece).count() as f64),
                ("copied", self.hidden_copied as f64),
            ],
        )
    }

    /// The parts of the source missing from the pieces, voxel by voxel, equal what was counted as dust; no voxel is
    /// given away twice; and only dusty surfaces produce dust.
    fn dust(&self, step: &VoronoiDetail, before: f64, cube: f64) -> Check {
        let counted = step.fracture.counts.dust_voxels as f64;
        let error = (self.volume_gone - step.fracture.dust_volume).abs() / before.max(f64::MIN_POSITIVE);
        let is_dusty = step.recipe.surface == Surface::Dusty;
        let is_counted = self.voxels_gone == counted && (is_dusty || self.voxels_gone == 0.0);
        Check::new(
            "dust_is_what_is_gone",
            is_counted && error <= 1e-6 && self.given_twice <= 1e-6,
            &[
                ("voxels_gone", self.voxels_gone),
                ("voxels_counted", counted),
                ("mass_gone", self.volume_gone * cube),
                ("mass_counted", step.fracture.dust_volume * cube),
                ("worst_relative_error", error),
                ("worst_given_twice", self.given_twice),
            ],
        )
    }
}

/// log2 of a block's largest edge in voxels, which limits the memory of the blocks in progress to a few megabytes.
const MOST_LOG_SIZE: u32 = 7;

/// A part's copy of a voxel, packed in one word. Morton codes have 36 bits, parts 28.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VoxelCopy(u64);

impl VoxelCopy {
    fn new(key: Key, part: u32) -> Self {
        Self(key << 28 | u64::from(part))
    }

    pub fn key(self) -> Key {
        self.0 >> 28
    }

    pub fn part(self) -> usize {
        (self.0 & 0xfff_ffff) as usize
    }
}

/// The broken octree and its parts: the pieces, then the dropped parts.
pub(super) struct Solids<'a> {
    /// The octree that was broken.
    pub source: (&'a Forest, usize),
    parts: Vec<(&'a Forest, usize)>,
    /// Number of parts that are pieces.
    pub kept: usize,
    /// Cells of each part, ascending: its own, and those of small pieces merged into it.
    pub cells: Vec<Vec<u32>>,
    /// Whether any small pieces were merged.
    merged: bool,
}

/// The part of all solids in one cube of the grid, to which larger cubes are clipped.
pub(super) struct Block<'a> {
    /// Cubes of the broken octree.
    pub source: Cells,
    index: CellIndex,
    /// Forest and cubes of each part in the block.
    pub parts: Vec<(&'a Forest, Cells)>,
    /// Copies of boundary voxels, by voxel, then by part.
    pub copies: Vec<VoxelCopy>,
}

impl<'a> Solids<'a> {
    pub fn of(source: (&'a Forest, u32), fracture: &'a Fracture) -> Self {
        let trees = |forest: &'a Forest, pieces: &'a [Piece]| {
            pieces.iter().map(move |piece| (forest, piece.tree as usize))
        };
        let mut parts: Vec<_> = trees(&fracture.forest, &fracture.pieces).collect();
        if let Some(dropped) = &fracture.dropped {
            parts.extend(trees(&dropped.forest, &dropped.pieces));
        }
        let dropped = fracture.dropped.iter().flat_map(|dropped| &dropped.pieces);
        let mut cells: Vec<Vec<u32>> =
            fracture.pieces.iter().chain(dropped).map(|piece| vec![piece.cell]).collect();
        for merge in &fracture.merges {
            if let Some(own) = cells.get_mut(merge.piece) {
                own.clone_from(&merge.cells);
            }
        }
        let merged = !fracture.merges.is_empty();
        Self { source: (source.0, source.1 as usize), parts, kept: fracture.pieces.len(), cells, merged }
    }

    /// The pieces.
    pub fn pieces(&self) -> &[(&'a Forest, usize)] {
        &self.parts[..self.kept]
    }

    /// Whether a voxel's copies belong to the `wanted` objects: one for each, or at least one if small pieces were
    /// merged.
    pub fn are_those_of(&self, own: &[VoxelCopy], wanted: &[u32]) -> bool {
        let held = |cell: &u32| own.iter().filter(|c| self.cells[c.part()].contains(cell)).count();
        wanted.iter().all(|cell| if self.merged { held(cell) > 0 } else { held(cell) == 1 })
            && own.iter().all(|c| self.cells[c.part()].iter().any(|cell| wanted.contains(cell)))
    }

    /// The octree level whose nodes are the blocks; even a coarse grid has several blocks, for all cores.
    fn block_level(&self) -> u32 {
        let level = self.source.0.level;
        level - level.saturating_sub(2).clamp(1, MOST_LOG_SIZE)
    }

    fn block(&self, key: Key, level: u32) -> Block<'a> {
        let source = Cells::within(self.source.0, self.source.1, (key, level));
        let (mut parts, mut copies) = (Vec::new(), Vec::new());
        for (part, (forest, tree)) in (0..).zip(&self.parts) {
            let cells = Cells::within(forest, *tree, (key, level));
            if !cells.is_empty() {
                let leaves = cells.starts.iter().zip(&cells.leaves).filter(|(_, leaf)| **leaf != u32::MAX);
                copies.extend(leaves.map(|(key, _)| VoxelCopy::new(key, part)));
                parts.push((*forest, cells));
            }
        }
        copies.sort_unstable();
        Block { index: CellIndex::new(&source), source, parts, copies }
    }

    /// Results of `look` for every block of the grid with its number, in Morton order.
    pub fn in_blocks<T: Send>(&self, look: impl Fn(usize, &Block<'a>) -> T + Sync) -> Vec<T> {
        let level = self.block_level();
        (0..1usize << (3 * level))
            .into_par_iter()
            .with_max_len(1)
            .map(|key| look(key, &self.block(key as Key, level)))
            .collect()
    }
}

impl Block<'_> {
    /// The copies of each voxel that has any.
    pub fn voxels(&self) -> impl Iterator<Item = &[VoxelCopy]> {
        self.copies.chunk_by(|a, b| a.key() == b.key())
    }

    /// Whether a voxel was an internal cell of the broken octree; `None` if it was outside.
    pub fn was_inside(&self, key: Key) -> Option<bool> {
        self.index.find(&self.source, key).map(|i| self.source.leaves[i] == u32::MAX)
    }
}
