//! Lengths of a descent's lists, allocated before anything is counted, so that the host does not wait for a count.
//!
//! In: the source's counts and the seeds. Out: rooms level by level. The lengths follow from the source's nodes, which
//! are known, and from those that cracks cut inside, which are estimated by sampling the solid: how often does a point
//! a step further along an axis belong to another object? Per unit of volume and step that is the area of all cracks as
//! seen along the axes, which is also the number of nodes that they cut. If a list is too short, the device reports the
//! length that it needs, and the descent begins again with it.
//!
//! Data between levels of the descent: pairs of an object and an octree node. The copying of components uses them, too.

use crate::{
    fracture::{Pattern, Source, UNIT_BITS, voronoi::octrees::split_native::TreeRanges},
    gpu::{Buffer, Gpu, GpuError, IndirectCount, Submissions, shared},
};

/// Distances that are computed at most, for all places together, and places at most and at least.
const DISTANCES: usize = 400_000;
const PLACES: (usize, usize) = (64, 1024);
/// Levels of the source that places are drawn from.
const DRAWN: u32 = 5;
/// More than was estimated, in sixteenths, and in any case.
const SLACK: u64 = 18;
const LEAST: u64 = 1024;
/// Number of candidates of a pair that a crack cuts, in quarters: two between two cells, more at edges.
const LISTED: u64 = 10;

/// Room for pairs and their candidates, by parent level.
#[derive(Clone, Debug)]
pub(in crate::fracture) struct Capacities {
    pub pairs: Vec<u32>,
    pub candidates: Vec<u32>,
    /// For crossed voxels at the transition level.
    pub records: u32,
}

impl Capacities {
    /// Rooms for a descent of all of `objects` objects that begins with `listed` candidates; `rough`: crack surfaces
    /// are larger than the planes, by that many quarters.
    pub fn new(
        source: &Source<'_>,
        pattern: &Pattern,
        (objects, listed): (usize, usize),
        rough: u64,
    ) -> Self {
        let forest = source.forest;
        let ranges = TreeRanges::of(&forest.nodes, &forest.level_start, forest.leaves.len());
        let cut = cut_nodes(source, pattern) * (4 + rough) as f64 / 4.0;
        let (mut pairs, mut candidates) = (Vec::new(), Vec::new());
        for level in 0..forest.level {
            let stored = ranges.nodes(source.tree as usize, level as usize).len() as u64;
            // Each cut node is two objects'.
            let crossed = (2.0 * cut / 4f64.powi((forest.level - level) as i32)) as u64;
            // While nodes are larger than cells, all cells may lie in one node.
            let early = 16 * objects as u64 + LEAST;
            let most = (objects as u64) << (3 * level).min(32);
            pairs.push(clamped(((stored + crossed) * SLACK / 16 + early).min(most)));
            candidates.push(clamped(crossed * LISTED / 4 * SLACK / 16 + 8 * listed as u64 + 4 * LEAST));
        }
        let records = pairs.last().copied().unwrap_or(0);
        Self { pairs, candidates, records }
    }

    /// Small rooms, for few objects that are nearly empty.
    pub fn few(level: u32, (objects, listed): (usize, usize)) -> Self {
        let pairs = clamped(64 * objects as u64 + 4 * LEAST);
        let candidates = clamped(8 * listed as u64 + 8 * LEAST);
        let levels = level as usize;
        Self { pairs: vec![pairs; levels], candidates: vec![candidates; levels], records: 0 }
    }

    /// Room for hardly anything.
    #[cfg(test)]
    pub fn tiny(level: u32) -> Self {
        let levels = level as usize;
        Self { pairs: vec![2; levels], candidates: vec![2; levels], records: 1 }
    }

    /// For copying components out of octrees with such levels: nodes that several share are copied for each.
    pub fn of_parts(level_start: &[u32], components: usize) -> Self {
        let nodes = level_start.windows(2).map(|pair| u64::from(pair[1] - pair[0]));
        let pairs = nodes.map(|nodes| clamped(nodes * SLACK / 16 + 16 * components as u64)).collect();
        Self { pairs, candidates: vec![u32::MAX; level_start.len() - 1], records: 0 }
    }

    /// Limits the rooms to one binding of the device.
    #[must_use]
    pub fn within(mut self, gpu: &Gpu) -> Self {
        let [pairs, candidates] = most(gpu);
        self.pairs.iter_mut().for_each(|room| *room = (*room).min(pairs));
        self.candidates.iter_mut().for_each(|room| *room = (*room).min(candidates));
        self
    }

    /// Whether there was room for all pairs and candidates of every level. If not, enlarges the rooms: at the level to
    /// what was needed and a little more, and below, where nothing was counted yet, by the same factor.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] if it exceeds a binding of the device.
    pub fn held(&mut self, gpu: &Gpu, needed: &[[u32; 2]]) -> Result<bool, GpuError> {
        let mut held = true;
        let parts = [(&mut self.pairs, "pairs", size_of::<Pair>()), (&mut self.candidates, "candidates", 4)];
        for (part, ((capacities, what, size), most)) in parts.into_iter().zip(most(gpu)).enumerate() {
            let short = capacities.iter().zip(needed).position(|(room, needed)| needed[part] > *room);
            let Some(first) = short else { continue };
            let asked = needed[first][part];
            if asked > most {
                return Err(too_large(gpu, what, asked, size));
            }
            held = false;
            let share = f64::from(asked) / f64::from(capacities[first].max(1)) * 1.125;
            for room in &mut capacities[first..] {
                *room = clamped((f64::from(*room) * share) as u64 + 1).min(most);
            }
        }
        Ok(held)
    }

    /// Like [`Capacities::held`], for crossed voxels of that number of words.
    ///
    /// # Errors
    /// See [`Capacities::held`].
    pub fn held_records(&mut self, gpu: &Gpu, needed: u32, words: usize) -> Result<bool, GpuError> {
        let most = most_records(gpu, words);
        if needed > most {
            return Err(too_large(gpu, "crack surfaces", needed, 4 * words));
        }
        let held = needed <= self.records;
        if !held {
            self.records = clamped(u64::from(needed) * 9 / 8).min(most);
        }
        Ok(held)
    }
}

/// Largest numbers of pairs and candidates in one binding.
fn most(gpu: &Gpu) -> [u32; 2] {
    [size_of::<Pair>() as u64, 4].map(|size| clamped(gpu.max_binding() / size))
}

/// Largest number of crossed voxels of that number of words in one binding.
pub(in crate::fracture) fn most_records(gpu: &Gpu, words: usize) -> u32 {
    clamped(gpu.max_binding() / (4 * words as u64))
}

fn too_large(gpu: &Gpu, what: &str, elements: u32, size: usize) -> GpuError {
    let needed = u64::from(elements) * size as u64;
    GpuError::TooLarge { what: what.to_owned(), needed, allowed: gpu.max_binding() }
}

fn clamped(elements: u64) -> u32 {
    u32::try_from(elements).unwrap_or(u32::MAX)
}

/// A reproducible stream of numbers (xorshift).
struct Stream(u64);

impl Stream {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }
}

/// Cubes of solid: low corner and edge, units of the fracture. Stored nodes at the last visited level count as solid.
fn blocks(source: &Source<'_>) -> Vec<([i32; 3], i32)> {
    let forest = source.forest;
    let last = DRAWN.min(forest.level - 1);
    let mut found = Vec::new();
    let mut open: Vec<(u32, [i32; 3], u32)> = vec![(source.tree, [0; 3], 0)];
    while let Some((at, low, level)) = open.pop() {
        let edge = 1 << (UNIT_BITS - level - 1);
        let Some(node) = forest.nodes.get(at as usize).copied() else { continue };
        for octant in 0..8u32 {
            let low: [i32; 3] = std::array::from_fn(|a| low[a] + edge * (octant >> a & 1) as i32);
            if node.internal() >> octant & 1 == 1 || (level == last && node.valid() >> octant & 1 == 1) {
                found.push((low, edge));
            } else if node.valid() >> octant & 1 == 1 {
                open.push((node.child(octant), low, level + 1));
            }
        }
    }
    found
}

/// About how many leaf-sized nodes of the solid the cracks cut.
fn cut_nodes(source: &Source<'_>, pattern: &Pattern) -> f64 {
    let seeds = &pattern.seeds;
    let places = (DISTANCES / (4 * seeds.len().max(1))).clamp(PLACES.0, PLACES.1);
    let blocks = blocks(source);
    let volume = |edge: i32| (i64::from(edge) as u64).pow(3);
    let mut ends: Vec<u64> = Vec::with_capacity(blocks.len());
    for (_, edge) in &blocks {
        ends.push(ends.last().copied().unwrap_or(0) + volume(*edge));
    }
    let total = ends.last().copied().unwrap_or(0);
    let owner = |place: [i32; 3]| {
        let apart = |seed: &[i32; 3]| -> i64 { (0..3).map(|a| i64::from(place[a] - seed[a]).pow(2)).sum() };
        let nearest = seeds.iter().zip(&pattern.objects).min_by_key(|(seed, _)| apart(seed));
        nearest.map(|(_, object)| *object)
    };
    // Short beside a cell, or a step crosses several cracks and counts one.
    let step = (f64::from(1 << UNIT_BITS) / (12.0 * libm::cbrt(seeds.len() as f64))).max(1.0) as i32;
    let (mut stream, mut crossings) = (Stream(0x9e37_79b9_7f4a_7c15), 0u32);
    for _ in 0..places {
        let at = stream.below(total);
        let Some((low, edge)) = blocks.get(ends.partition_point(|end| *end <= at)) else { break };
        let place: [i32; 3] = std::array::from_fn(|a| low[a] + stream.below(*edge as u64) as i32);
        let here = owner(place);
        for axis in 0..3 {
            let mut there = place;
            there[axis] += step;
            crossings += u32::from(owner(there) != here);
        }
    }
    let leaf = f64::from(1i32 << (UNIT_BITS - source.forest.level));
    total as f64 / leaf.powi(3) * (leaf / f64::from(step)) * f64::from(crossings) / places as f64
}

shared! {
    /// Parameters of the kernels of every descent: the level of their octants, and where the source begins.
    pub(in crate::fracture) struct DescentParams { child_level: u32, node_base: u32 }

    /// One object (or component) meeting one octree node.
    #[derive(Debug, Default)]
    pub(in crate::fracture) struct Pair { source: u32, object: u32, key: u32, list_first: u32, list_count: u32 }
}

/// The pairs of one parent level in order, their octant masks (low byte stored children, next byte internal), and where
/// each pair's children begin in the level below (one element more than pairs; the last is the total). Their number is
/// on the device; the buffers may be longer.
pub(in crate::fracture) struct Layer {
    pub pairs: Buffer<Pair>,
    pub masks: Buffer<u32>,
    pub offsets: Buffer<[u32; 2]>,
    pub count: IndirectCount,
}

impl Layer {
    /// Pairs made by the host: the roots.
    pub fn roots(work: &mut Submissions<'_>, roots: &[Pair]) -> Result<Self, GpuError> {
        let pairs = Buffer::from_slice(work.gpu, "pairs", roots)?;
        let count = IndirectCount::known(work.gpu, roots.len());
        Self::of(work, pairs, count)
    }

    /// Room for `most` pairs.
    pub fn new(work: &mut Submissions<'_>, most: u32) -> Result<Self, GpuError> {
        let pairs = work.room("pairs", most as usize)?;
        let count = IndirectCount::unknown(work.gpu);
        Self::of(work, pairs, count)
    }

    fn of(work: &mut Submissions<'_>, pairs: Buffer<Pair>, count: IndirectCount) -> Result<Self, GpuError> {
        Ok(Self {
            masks: work.room("octant masks", pairs.len())?,
            offsets: work.room("child offsets", pairs.len() + 1)?,
            pairs,
            count,
        })
    }

    /// Number of pairs for which there is room.
    pub fn room(&self) -> usize {
        self.pairs.len()
    }

    /// For a descent of its pairs, whose octants are of `child_level`.
    pub fn params(source: &Source<'_>, child_level: u32) -> DescentParams {
        DescentParams { child_level, node_base: source.slot.node_base }
    }

    /// Returns the buffers.
    pub fn give(self, work: &mut Submissions<'_>) {
        work.give(self.pairs);
        work.give(self.masks);
        work.give(self.offsets);
    }
}
