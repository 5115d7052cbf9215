//! The descent (2016, sec. 4.1, 4.3, 4.4): every object (a Voronoi cell, or several that stay together, sec. 4.7) walks
//! the source octree and keeps the nodes that it may own a point of.
//!
//! In: one source octree and the seeds. Out: the pairs of every parent level and the fracture boundary set, both
//! object-major and in Morton order inside an object. The order follows from stable expansion, so neither of the
//! paper's sorts is needed.
//!
//! The host never waits for a count: the counts of each level stay on the device, and lists are allocated beforehand
//! ([`Capacities`]). The lengths that they need are written to a report, which is read once at the end.

use std::sync::OnceLock;

use crate::gpu::{
    Buffer, Gpu, GpuError, IndirectCount, Kernel, Recorder, Submissions, bind, kernels, shared,
};

pub(in crate::fracture) mod candidates;
mod capacities;
pub(in crate::fracture) mod native;
mod report;

#[cfg(test)]
pub(in crate::fracture) use capacities::DescentParams;
pub(in crate::fracture) use capacities::{Capacities, Layer, Pair, most_records};
pub(in crate::fracture) use report::{Needs, Report};

use crate::fracture::{Pattern, Source};

pub(in crate::fracture) struct DescentPass {
    /// For objects that are one cell each.
    cells: Kernels,
    /// For objects of several cells; made by the first local fracture.
    merged: OnceLock<Kernels>,
    holders: Kernel,
}

kernels! {
    struct Kernels {
        count: "fracture/voronoi/descent/count",
        emit: "fracture/voronoi/descent/emit",
        leaves_count: "fracture/voronoi/descent/leaves_count",
    }
}

impl Kernels {
    fn of(gpu: &Gpu, merged: bool) -> Self {
        let constants = [("merged", f64::from(u8::from(merged)))];
        Self::with_kernels(&|path| Kernel::with_constants(gpu, path, &constants))
    }
}

shared! {
    pub(in crate::fracture) struct HoldersParams { octants: u32 }
}

/// A descent in progress.
pub(in crate::fracture) struct Descent {
    /// Fixed point, and the rank of the object.
    pub seeds: Buffer<[i32; 4]>,
    /// Seeds that can own a point of a pair's node, at the last of the levels.
    pub candidates: Buffer<u32>,
    /// The pairs of all levels so far.
    pub layers: Vec<Layer>,
    /// Some object has several cells.
    pub merged: bool,
    /// Lengths that the lists need.
    pub needs: Needs,
    /// Number of objects, and number of candidates at the root.
    size: (usize, usize),
    /// Pairs that it began with.
    pub begun: usize,
}

impl Descent {
    /// At the root: one pair per object whose rank passes `wanted`.
    pub fn new(
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        pattern: &Pattern,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Self, GpuError> {
        let (seeds, lists, mut roots) = root_pairs(pattern, source.tree);
        let merged = roots.len() != seeds.len();
        roots.retain(|root| wanted(root.object));
        Self::begin(work, source.forest.level, &seeds, &lists, &roots, merged)
    }

    fn begin(
        work: &mut Submissions<'_>,
        level: u32,
        seeds: &[[i32; 4]],
        lists: &[u32],
        roots: &[Pair],
        merged: bool,
    ) -> Result<Self, GpuError> {
        let mut layers = Vec::with_capacity(level as usize);
        layers.push(Layer::roots(work, roots)?);
        let listed = roots.iter().map(|root| root.list_count as usize).sum();
        Ok(Self {
            seeds: Buffer::from_slice(work.gpu, "seeds", seeds)?,
            candidates: Buffer::from_slice(work.gpu, "candidates", lists)?,
            layers,
            merged,
            needs: Needs::new(work, level as usize)?,
            size: (seeds.len(), listed),
            begun: roots.len(),
        })
    }

    /// Like [`Descent::new`] for all objects. For many seeds lists are short from the start: valid only for surfaces
    /// that lie between the seeds, since others extend farther.
    pub fn planar(
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        pattern: &Pattern,
    ) -> Result<Self, GpuError> {
        let single = (0u32..).zip(&pattern.objects).all(|(s, object)| s == *object);
        if !single || pattern.seeds.len() < candidates::MANY {
            return Self::new(work, source, pattern, |_| true);
        }
        let short = candidates::at_root(pattern, source.forest.level);
        let mut lists: Vec<u32> = Vec::with_capacity(short.list.len() + pattern.seeds.len());
        let mut roots: Vec<Pair> = Vec::with_capacity(pattern.seeds.len());
        for (cell, (first, count)) in (0u32..).zip(short.ranges) {
            let (list_first, list_count) = (lists.len() as u32, count + 1);
            roots.push(Pair { source: source.tree, object: cell, key: 0, list_first, list_count });
            lists.push(cell);
            lists.extend_from_slice(&short.list[first as usize..(first + count) as usize]);
        }
        let seeds: Vec<[i32; 4]> =
            (0i32..).zip(&pattern.seeds).map(|(rank, s)| [s[0], s[1], s[2], rank]).collect();
        Self::begin(work, source.forest.level, &seeds, &lists, &roots, false)
    }

    /// Number of objects, and of candidates at the root, on which rooms depend.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// The level that comes next.
    pub fn layer(&self) -> &Layer {
        &self.layers[self.layers.len() - 1]
    }

    /// Counts the octants of its pairs that continue, and where each pair's begin.
    fn count(
        &self,
        rec: &mut Recorder<'_>,
        work: &Submissions<'_>,
        kernel: &Kernel,
        source: &Source<'_>,
        child_level: u32,
    ) -> Result<(), GpuError> {
        let Self { seeds, candidates, .. } = self;
        let Layer { pairs, masks, offsets, count } = self.layer();
        let nodes = &source.arena.buffers()?.nodes;
        let given = bind![size: count, nodes, seeds, candidates, pairs, masks, counts: offsets];
        rec.run_counted(kernel, count, &Layer::params(source, child_level), given)?;
        work.scan.run(rec, offsets, count)
    }

    /// Makes the pairs of the next level, if there is room for the counted pairs and candidates.
    pub fn plan(
        &self,
        rec: &mut Recorder<'_>,
        work: &Submissions<'_>,
        next: &IndirectCount,
        room: [u32; 2],
    ) -> Result<(), GpuError> {
        let Layer { offsets, count, .. } = self.layer();
        work.plan.run(rec, (offsets, count), (next, room), (&self.needs.words, self.layers.len()))
    }

    /// The copies that the counted leaves ask for are reported.
    pub fn plan_copies(&self, rec: &mut Recorder<'_>, work: &Submissions<'_>) -> Result<(), GpuError> {
        let scratch = IndirectCount::unknown(work.gpu);
        let Layer { offsets, count, .. } = self.layer();
        work.plan.run(
            rec,
            (offsets, count),
            (&scratch, [u32::MAX; 2]),
            (&self.needs.words, self.needs.copies()),
        )
    }

    /// As many crossed voxels as `counts` says, if there is room for them.
    pub fn plan_records(
        &self,
        rec: &mut Recorder<'_>,
        work: &Submissions<'_>,
        counts: &Buffer<[u32; 2]>,
        room: u32,
    ) -> Result<(), GpuError> {
        let scratch = IndirectCount::unknown(work.gpu);
        let here = (counts, &self.layer().count);
        work.plan.run(rec, here, (&scratch, [room, u32::MAX]), (&self.needs.words, self.needs.records()))
    }

    /// Returns the buffers.
    pub fn give(self, work: &mut Submissions<'_>) {
        work.give(self.candidates);
        self.layers.into_iter().for_each(|layer| layer.give(work));
    }
}

impl DescentPass {
    pub fn new(gpu: &Gpu) -> Self {
        let holders = Kernel::new(gpu, "fracture/voronoi/descent/holders");
        Self { cells: Kernels::of(gpu, false), merged: OnceLock::new(), holders }
    }

    fn kernels(&self, gpu: &Gpu, descent: &Descent) -> &Kernels {
        if descent.merged { self.merged.get_or_init(|| Kernels::of(gpu, true)) } else { &self.cells }
    }

    /// Goes on until the pairs are those of parent level `level`.
    pub fn descend(
        &self,
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        (descent, capacities): (&mut Descent, &Capacities),
        level: u32,
    ) -> Result<(), GpuError> {
        let kernels = self.kernels(work.gpu, descent);
        for child_level in descent.layers.len() as u32..=level {
            let mut rec = work.record("traverse");
            descent.count(&mut rec, work, &kernels.count, source, child_level)?;
            let room = [capacities.pairs[child_level as usize], capacities.candidates[child_level as usize]];
            let next = Layer::new(work, room[0])?;
            let next_candidates: Buffer<u32> = work.room("candidates", room[1] as usize)?;
            descent.plan(&mut rec, work, &next.count, room)?;
            let Descent { seeds, candidates, .. } = &*descent;
            let Layer { pairs, masks, offsets, count } = descent.layer();
            let nodes = &source.arena.buffers()?.nodes;
            let given = bind![
                size: count, nodes, seeds, candidates, pairs, masks, offsets,
                next_pairs: next.pairs, next_candidates,
            ];
            rec.run_counted(&kernels.emit, count, &Layer::params(source, child_level), given)?;
            work.submit(rec);
            descent.layers.push(next);
            work.give(std::mem::replace(&mut descent.candidates, next_candidates));
        }
        Ok(())
    }

    /// At the last parent level: which leaves get a copy in each pair's object, and how many copies there are.
    pub fn count_leaves(
        &self,
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        descent: &Descent,
    ) -> Result<(), GpuError> {
        let kernel = &self.kernels(work.gpu, descent).leaves_count;
        let mut rec = work.record("boundary set");
        descent.count(&mut rec, work, kernel, source, source.forest.level)?;
        descent.plan_copies(&mut rec, work)?;
        work.submit(rec);
        Ok(())
    }

    /// Marks the objects that have a voxel, of a descent that went down to counted leaves.
    pub fn holders(
        &self,
        work: &mut Submissions<'_>,
        descent: &Descent,
        objects: usize,
    ) -> Result<Buffer<u32>, GpuError> {
        let holders = Buffer::zeroed(work.gpu, "holders", objects)?;
        let mut rec = work.record("traverse");
        for (level, Layer { pairs, masks, count, .. }) in descent.layers.iter().enumerate() {
            // At the leaves only stored octants count: above, all that may hold something.
            let octants = if level + 1 == descent.layers.len() { 0xffff } else { 0xff00 };
            let given = bind![size: count, pairs, masks, holders];
            rec.run_counted(&self.holders, count, &HoldersParams { octants }, given)?;
        }
        work.submit(rec);
        Ok(holders)
    }
}

/// Seeds with the rank of their object as fourth word; the candidates at the root, where every seed may own a point;
/// one pair for each object. All seeds sorted by object, twice over, contain every object's list, its own seeds first.
fn root_pairs(pattern: &Pattern, tree: u32) -> (Vec<[i32; 4]>, Vec<u32>, Vec<Pair>) {
    let mut sorted: Vec<u32> = (0..pattern.seeds.len() as u32).collect();
    sorted.sort_by_key(|s| pattern.objects[*s as usize]);
    let mut seeds: Vec<[i32; 4]> = pattern.seeds.iter().map(|s| [s[0], s[1], s[2], 0]).collect();
    let mut roots: Vec<Pair> = Vec::new();
    for (at, same) in
        sorted.chunk_by(|a, b| pattern.objects[*a as usize] == pattern.objects[*b as usize]).enumerate()
    {
        for s in same {
            seeds[*s as usize][3] = at as i32;
        }
        let list_first = roots.last().map_or(0, |last| last.list_first + last.list_count);
        roots.push(Pair {
            source: tree,
            object: at as u32,
            key: 0,
            list_first,
            list_count: same.len() as u32,
        });
    }
    // A single object has no rivals, and so no list.
    let list_count = if roots.len() > 1 { sorted.len() as u32 } else { 0 };
    for root in &mut roots {
        root.list_count = list_count;
    }
    (seeds, sorted.repeat(2), roots)
}
