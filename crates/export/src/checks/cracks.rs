//! Recomputes from seeds and crack surfaces which objects own each boundary voxel: the most expensive checks, which
//! sample the voxels if there are very many.
//!
//! In: [`Solids`]. Out: a check.

use super::{
    Check, VoronoiDetail,
    nearest::SeedGrid,
    voxels::{Block, Solids, VoxelCopy},
};
use crate::{
    fracture::{
        Pattern, Surface,
        crack::{CrackUniform, reference::CrackReference},
        dust::voxel::DustReference,
    },
    svo::morton::{Key, decode},
};

/// Most distances that a search through all seeds would compute for the corner check; above it, voxels are sampled
/// evenly.
const DISTANCE_BUDGET: u64 = 4_000_000_000;

/// Most leaves compared with their crack surfaces; above it, voxels are sampled evenly.
const CRACK_BUDGET: usize = 1_000_000;

/// The sampled voxels, at equal intervals over all blocks.
struct Sample {
    /// Number of the first voxel of every block.
    firsts: Vec<usize>,
    voxels: usize,
    stride: usize,
}

impl Sample {
    fn new(voxels: &[usize], stride: impl FnOnce(usize) -> usize) -> Self {
        let mut firsts = Vec::with_capacity(voxels.len());
        let mut all = 0;
        for count in voxels {
            firsts.push(all);
            all += count;
        }
        Self { firsts, voxels: all, stride: stride(all).max(1) }
    }

    fn of_block<'b>(&self, at: usize, block: &'b Block<'_>) -> impl Iterator<Item = &'b [VoxelCopy]> {
        let before = self.firsts[at].next_multiple_of(self.stride) - self.firsts[at];
        block.voxels().skip(before).step_by(self.stride)
    }

    fn checked(&self) -> f64 {
        self.voxels.div_ceil(self.stride) as f64
    }
}

/// The copies of a voxel belong to exactly the objects that own one of its corners (2016, sec. 4.3), and an internal
/// cell of the source has become boundary only if there are several: no face separates two cells of one object (sec.
/// 4.7). A piece stands for all small pieces merged into it.
pub(super) fn corners(solids: &Solids<'_>, voxels: &[usize], pattern: &Pattern, level: u32) -> Check {
    let seeds = &pattern.seeds;
    let distances = |voxels: usize| voxels as u64 * 8 * seeds.len() as u64;
    let sample = Sample::new(voxels, |all| distances(all).div_ceil(DISTANCE_BUDGET) as usize);
    let seeds = SeedGrid::new(seeds);
    let found = solids.in_blocks(|at, block| {
        let (mut wrong, mut inner) = (0, 0);
        let mut corners = CornerCells::new(&seeds, level);
        for own in sample.of_block(at, block) {
            let key = own[0].key();
            let owners = corners.of_voxel(key);
            let mut wanted = owners.map(|s| pattern.objects[s as usize]).to_vec();
            wanted.sort_unstable();
            wanted.dedup();
            let was_inside = block.was_inside(key) == Some(true);
            wrong += usize::from(!solids.are_those_of(own, &wanted));
            inner += usize::from(was_inside && (own.len() == 1 || wanted.len() == 1));
        }
        (wrong, inner)
    });
    let (wrong, inner) = found.into_iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    Check::new(
        "copies_are_the_corner_cells",
        wrong == 0 && inner == 0,
        &[("voxels_checked", sample.checked()), ("wrong", wrong as f64), ("inner_faces", inner as f64)],
    )
}

/// The copies of a voxel belong to exactly the cells on both sides of the crack surface through it, or to the one cell
/// that contains it (2018, sec. 5.3).
pub(super) fn sides(
    solids: &Solids<'_>,
    voxels: &[usize],
    (step, pattern): (&VoronoiDetail, &Pattern),
    level: u32,
) -> Check {
    let sample = Sample::new(voxels, |all| all.div_ceil(CRACK_BUDGET));
    let crack = &step.recipe.crack;
    let wrong = crack.transition(level, step.recipe.surface).map_or(sample.voxels, |transition| {
        let words = CrackUniform::new(crack, step.recipe.rng, transition);
        let found = solids.in_blocks(|at, block| {
            let mut rough = CrackReference::new(pattern, words, level);
            let mut dusty = DustReference::new(pattern, words.with_gap(crack, level), level);
            let is_wrong = |own: &&[VoxelCopy]| {
                let key = own[0].key();
                let internal = block.was_inside(key) == Some(true);
                let (objects, touched) = if step.recipe.surface == Surface::Dusty {
                    let shares = dusty.leaf(decode(key));
                    (shares.objects, shares.touched)
                } else {
                    let fate = rough.leaf(decode(key), internal);
                    (fate.objects, fate.touched)
                };
                let objects: Vec<u32> = objects.into_iter().collect();
                !solids.are_those_of(own, &objects) || (internal && !touched)
            };
            sample.of_block(at, block).filter(is_wrong).count()
        });
        found.into_iter().sum()
    });
    Check::new(
        "copies_are_the_sides_of_the_crack",
        wrong == 0,
        &[("voxels_checked", sample.checked()), ("wrong", wrong as f64)],
    )
}

/// Cells of corners of voxels: the nearest seed of each, or the lowest of equally near ones. Exact, in 1/2^14 of the grid's
/// side. Up to eight voxels share a corner and follow each other closely in Morton order, so that recent corners are kept.
struct CornerCells<'a> {
    seeds: &'a SeedGrid<'a>,
    /// log2 of a voxel's edge in units of the seeds.
    voxel: u32,
    /// A corner and its cell, at the place that the corner's coordinates hash to.
    recent: Vec<([u32; 3], u32)>,
}

/// Number of corners that are kept, a power of two.
const RECENT: usize = 1 << 12;

impl<'a> CornerCells<'a> {
    fn new(seeds: &'a SeedGrid<'a>, level: u32) -> Self {
        Self { seeds, voxel: 14u32.saturating_sub(level), recent: vec![([u32::MAX; 3], 0); RECENT] }
    }

    fn of_voxel(&mut self, key: Key) -> [u32; 8] {
        let low = decode(key);
        std::array::from_fn(|c| self.of(std::array::from_fn(|k| low[k] + (c as u32 >> k & 1))))
    }

    fn of(&mut self, corner: [u32; 3]) -> u32 {
        let [x, y, z] = corner;
        // Corners of one cube of 16 voxels along each side have places of their own.
        let place = (x & 15 | (y & 15) << 4 | (z & 15) << 8) as usize;
        if self.recent[place].0 != corner {
            let at = corner.map(|v| i64::from(v) << self.voxel);
            self.recent[place] = (corner, self.seeds.nearest(at));
        }
        self.recent[place].1
    }
}
