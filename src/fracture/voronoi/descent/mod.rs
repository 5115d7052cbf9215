//! The descent (2016, sec. 4.1, 4.3, 4.4): every object (a Voronoi cell, or several that stay together, sec. 4.7) walks
//! the source octree and keeps the nodes that it may own a point of.
//!
//! In: one source octree and the seeds. Out: the pairs of every parent level and the fracture boundary set, both
//! object-major and in Morton order inside an object. The order follows from stable expansion, so neither of the
//! paper's sorts is needed.

use std::sync::OnceLock;

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Submissions, bind, kernels};

pub(in crate::fracture) mod candidates;
pub(in crate::fracture) mod native;
mod pairs;
pub(in crate::fracture) mod polytope;

#[cfg(test)]
pub(in crate::fracture) use pairs::DescentParams;
pub(in crate::fracture) use pairs::{Layer, Pair, totals};

use crate::fracture::{Pattern, Source};

pub(in crate::fracture) struct DescentPass {
    /// For objects that are one cell each.
    cells: Kernels,
    /// For objects of several cells; made by the first local fracture.
    merged: OnceLock<Kernels>,
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

/// A descent under way.
pub(in crate::fracture) struct Descent {
    /// Fixed point, and the rank of the object.
    pub seeds: Buffer<[i32; 4]>,
    /// Seeds that can own a point of a pair's node.
    pub candidates: Buffer<u32>,
    /// Levels that are done.
    pub layers: Vec<Layer>,
    /// The pairs of the next parent level, which is `layers.len()`.
    pub layer: Layer,
    /// Some object has several cells.
    pub merged: bool,
}

impl Descent {
    /// At the root: one pair for each object whose rank passes `wanted`.
    pub fn new(
        gpu: &Gpu,
        source: &Source<'_>,
        pattern: &Pattern,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Self, GpuError> {
        let (seeds, lists, mut roots) = root_pairs(pattern, source.tree);
        let merged = roots.len() != seeds.len();
        roots.retain(|root| wanted(root.object));
        Ok(Self {
            seeds: Buffer::from_slice(gpu, "seeds", &seeds)?,
            candidates: Buffer::from_slice(gpu, "candidates", &lists)?,
            layers: Vec::with_capacity(source.forest.level as usize),
            layer: Layer::new(gpu, Buffer::from_slice(gpu, "pairs", &roots)?)?,
            merged,
        })
    }

    /// As [`Descent::new`] for all objects. Where there are many seeds, lists are short from the start: only for
    /// surfaces that lie between the seeds, since others reach farther.
    pub fn planar(gpu: &Gpu, source: &Source<'_>, pattern: &Pattern) -> Result<Self, GpuError> {
        let single = (0u32..).zip(&pattern.objects).all(|(s, object)| s == *object);
        if !single || pattern.seeds.len() < candidates::MANY {
            return Self::new(gpu, source, pattern, |_| true);
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
        Ok(Self {
            seeds: Buffer::from_slice(gpu, "seeds", &seeds)?,
            candidates: Buffer::from_slice(gpu, "candidates", &lists)?,
            layers: Vec::with_capacity(source.forest.level as usize),
            layer: Layer::new(gpu, Buffer::from_slice(gpu, "pairs", &roots)?)?,
            merged: false,
        })
    }

    /// Which octants of its pairs go on, and where each one's begin; returns the totals.
    fn count(
        &self,
        work: &mut Submissions<'_>,
        kernel: &Kernel,
        source: &Source<'_>,
        child_level: u32,
        stage: &'static str,
    ) -> Result<[u32; 2], GpuError> {
        let Self { seeds, candidates, layer, .. } = self;
        let Layer { pairs, masks, offsets } = layer;
        let mut rec = work.record(stage);
        let given =
            bind![nodes: source.arena.buffers()?.nodes, seeds, candidates, pairs, masks, counts: offsets];
        rec.run(kernel, layer.len(), &layer.params(source, child_level), given)?;
        work.scan.run(&mut rec, offsets)?;
        work.submit(rec);
        layer.totals(work.gpu)
    }

    /// All levels, the last parent level among them.
    pub fn into_layers(self) -> Vec<Layer> {
        let Self { mut layers, layer, .. } = self;
        layers.push(layer);
        layers
    }

    /// The layer is done; `next` are the pairs below.
    pub fn push(&mut self, gpu: &Gpu, next: Buffer<Pair>) -> Result<(), GpuError> {
        self.layers.push(std::mem::replace(&mut self.layer, Layer::new(gpu, next)?));
        Ok(())
    }
}

impl DescentPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self { cells: Kernels::of(gpu, false), merged: OnceLock::new() }
    }

    fn kernels(&self, gpu: &Gpu, descent: &Descent) -> &Kernels {
        if descent.merged { self.merged.get_or_init(|| Kernels::of(gpu, true)) } else { &self.cells }
    }

    /// Goes on until the pairs are those of parent level `level`.
    pub fn descend(
        &self,
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        descent: &mut Descent,
        level: u32,
    ) -> Result<(), GpuError> {
        let gpu = work.gpu;
        let kernels = self.kernels(gpu, descent);
        for child_level in descent.layers.len() as u32 + 1..=level {
            let [children, listed] = descent.count(work, &kernels.count, source, child_level, "traverse")?;
            let Descent { seeds, candidates, layer, .. } = &*descent;
            let Layer { pairs, masks, offsets } = layer;
            let next_pairs = Buffer::zeroed(gpu, "pairs", children as usize)?;
            let next_candidates = Buffer::zeroed(gpu, "candidates", listed as usize)?;
            let mut rec = work.record("traverse");
            let params = layer.params(source, child_level);
            let nodes = &source.arena.buffers()?.nodes;
            let given = bind![nodes, seeds, candidates, pairs, masks, offsets, next_pairs, next_candidates];
            rec.run(&kernels.emit, layer.len(), &params, given)?;
            work.submit(rec);
            descent.push(gpu, next_pairs)?;
            descent.candidates = next_candidates;
        }
        Ok(())
    }

    /// At the last parent level: which leaves get a copy in each pair's object, and how many copies there are.
    pub fn count_leaves(
        &self,
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        descent: &Descent,
    ) -> Result<usize, GpuError> {
        let kernel = &self.kernels(work.gpu, descent).leaves_count;
        Ok(descent.count(work, kernel, source, source.forest.level, "boundary set")?[0] as usize)
    }
}

/// Seeds with the rank of their object as fourth word; the candidates at the root, where every seed may own a
/// point; one pair for each object. All seeds sorted by object, twice over, hold every object's list, its own seeds
/// first.
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
