//! The narrow phase in compute passes: one dispatch a level walks all pairs at once, one more asks for the hits.
//!
//! In: directed pairs, the arena. Out: hits, sorted. Appends go to lists of limited length by atomic counters that count on
//! past the end; the host then grows the lists and runs again. Their order differs from run to run, so hits are sorted.

use super::{Directed, Hit, Pair};
use crate::{
    bodies::{
        Body,
        surfels::{Shapes, Surfel},
    },
    gpu::{Buffer, Gpu, GpuError, Growing, Kernel, Recorder, StageTiming, bind, shared},
    svo::{Arena, MAX_LEVEL},
};

/// Counters: nodes at each level, then candidates, then hits.
const CANDIDATES: usize = MAX_LEVEL as usize + 1;
const HITS: usize = CANDIDATES + 1;
const COUNTERS: usize = HITS + 1;
/// The hits list begins with the counters, so that one readback fetches both.
const HEADER: usize = 16;
const HIT_WORDS: usize = 3;

shared! {
    pub(in crate::bodies) struct WalkParams {
        level: u32,
        nodes_capacity: u32,
        candidates_capacity: u32,
        pad: u32,
    }

    pub(in crate::bodies) struct HitParams {
        candidates_capacity: u32,
        hits_capacity: u32,
        pad: [u32; 2],
    }
}

/// The compiled passes and their lists.
pub struct GpuNarrow {
    walk: Kernel,
    ask: Kernel,
    surfels: Buffer<Surfel>,
    pairs: Buffer<Directed>,
    /// (pair, node, key), read and written in turn.
    nodes: [Buffer<[u32; 3]>; 2],
    /// (pair, node of a at its level).
    candidates: Buffer<[u32; 2]>,
    counters: Buffer<u32>,
    /// Header, then hits.
    hits: Buffer<u32>,
    /// From the counts of the last run: how much to dispatch and to read back.
    expected: Growing<COUNTERS>,
    uploaded: bool,
}

/// Counters, packed hits and timings of one walk.
type Walked = ([u32; COUNTERS], Vec<u32>, Vec<StageTiming>);

impl GpuNarrow {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let first = 1 << 14;
        Ok(Self {
            walk: Kernel::new(gpu, "bodies/walk"),
            ask: Kernel::new(gpu, "bodies/hits"),
            surfels: Buffer::zeroed(gpu, "surfels", 1)?,
            pairs: Buffer::zeroed(gpu, "pairs", 64)?,
            nodes: [Buffer::zeroed(gpu, "walk even", first)?, Buffer::zeroed(gpu, "walk odd", first)?],
            candidates: Buffer::zeroed(gpu, "candidates", first)?,
            counters: Buffer::zeroed(gpu, "walk counters", HEADER)?,
            hits: Buffer::zeroed(gpu, "hits", HEADER + HIT_WORDS * first)?,
            // Room for what the next step may bring; shrinks slowly.
            expected: Growing::new([1024; COUNTERS], |count, room| (count + count / 2 + 1024).max(room / 2)),
            uploaded: false,
        })
    }

    /// Brings the surfels that these pairs need to the GPU.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn prepare(
        &mut self,
        gpu: &Gpu,
        pairs: &[Pair],
        bodies: &[Body],
        shapes: &mut Shapes,
    ) -> Result<(), GpuError> {
        for pair in pairs {
            for (&body, level) in pair.bodies.iter().zip(pair.levels) {
                shapes.get(&bodies[body].def.octree().forest, level);
            }
        }
        if !shapes.stale && self.uploaded {
            return Ok(());
        }
        let total: usize = shapes.entries.values().map(|s| s.surfels.items.len()).sum();
        if total > self.surfels.len() {
            self.surfels = Buffer::zeroed(gpu, "surfels", total + total / 2)?;
        }
        let mut base = 0;
        for shape in shapes.entries.values_mut() {
            self.surfels.write(gpu, base, &shape.surfels.items);
            shape.gpu_base = base as u32;
            base += shape.surfels.items.len();
        }
        shapes.stale = false;
        self.uploaded = true;
        Ok(())
    }

    /// Those of all shapes that were prepared.
    #[must_use]
    pub fn surfels(&self) -> &Buffer<Surfel> {
        &self.surfels
    }

    /// Hits of all directed pairs, sorted. `firsts`: the first node of the level of a and b, for each pair.
    ///
    /// # Errors
    /// [`GpuError`]; nothing but the lists' lengths has changed then.
    pub fn find_hits(
        &mut self,
        gpu: &Gpu,
        arena: &Arena,
        directed: &[Directed],
        firsts: &[[u32; 2]],
    ) -> Result<(Vec<Hit>, Vec<StageTiming>), GpuError> {
        if directed.len() > self.pairs.len() {
            self.pairs = Buffer::zeroed(gpu, "pairs", directed.len() * 3 / 2)?;
        }
        self.pairs.write(gpu, 0, directed);
        let roots: Vec<[u32; 3]> = directed.iter().enumerate().map(|(d, r)| [d as u32, r.a[1], 0]).collect();
        let depth = directed.iter().map(|r| r.a[2]).max().unwrap_or(0) as usize;
        let mut expected = self.expected.clone();
        expected.at_least(0, directed.len() as u32);
        let found = expected.run(|room| {
            self.grow(gpu, room)?;
            let (counts, hits, timings) = self.run(gpu, arena, &roots, depth, room)?;
            Ok((counts, (counts[HITS], hits, timings)))
        });
        self.expected = expected;
        let (count, hits, timings) = found?;
        Ok((decode(&hits, count as usize, firsts), timings))
    }

    fn grow(&mut self, gpu: &Gpu, room: &[u32; COUNTERS]) -> Result<(), GpuError> {
        let nodes = room[..CANDIDATES].iter().copied().max().unwrap_or(0) as usize;
        if nodes > self.nodes[0].len() {
            self.nodes = [Buffer::zeroed(gpu, "walk even", nodes)?, Buffer::zeroed(gpu, "walk odd", nodes)?];
        }
        if room[CANDIDATES] as usize > self.candidates.len() {
            self.candidates = Buffer::zeroed(gpu, "candidates", room[CANDIDATES] as usize)?;
        }
        let words = HEADER + HIT_WORDS * room[HITS] as usize;
        if words > self.hits.len() {
            self.hits = Buffer::zeroed(gpu, "hits", words)?;
        }
        Ok(())
    }

    fn run(
        &self,
        gpu: &Gpu,
        arena: &Arena,
        roots: &[[u32; 3]],
        depth: usize,
        room: &[u32; COUNTERS],
    ) -> Result<Walked, GpuError> {
        let mut zero = [0u32; HEADER];
        zero[0] = roots.len() as u32;
        self.counters.write(gpu, 0, &zero);
        self.nodes[0].write(gpu, 0, roots);
        let Self { surfels, pairs, candidates, counters, hits, .. } = self;
        let nodes = &arena.nodes;
        let mut rec = Recorder::new(gpu, "collide");
        rec.stage("octree pairs");
        let candidates_capacity = candidates.len() as u32;
        for level in 0..depth {
            let nodes_capacity = self.nodes[0].len() as u32;
            let params = WalkParams { level: level as u32, nodes_capacity, candidates_capacity, pad: 0 };
            let (here, below) = (&self.nodes[level % 2], &self.nodes[1 - level % 2]);
            let given = bind![pairs, nodes, here, below, candidates, counters];
            rec.run(&self.walk, 8 * room[level] as usize, &params, given)?;
        }
        rec.stage("collision points");
        let hits_capacity = ((hits.len() - HEADER) / HIT_WORDS) as u32;
        let params = HitParams { candidates_capacity, hits_capacity, pad: [0; 2] };
        let given = bind![pairs, nodes, surfels, candidates, counters, hits];
        rec.run(&self.ask, room[CANDIDATES] as usize, &params, given)?;
        rec.encoder().copy_buffer_to_buffer(counters.raw(), 0, hits.raw(), 0, (HEADER * 4) as u64);
        let timings = rec.submit_timed()?;
        let words = HEADER + HIT_WORDS * room[HITS] as usize;
        let hits = hits.read_range(gpu, 0, words)?;
        let mut counts = [0; COUNTERS];
        counts.copy_from_slice(&hits[..COUNTERS]);
        Ok((counts, hits, timings))
    }
}

/// Kernels name nodes; hits name surfels.
fn decode(words: &[u32], count: usize, firsts: &[[u32; 2]]) -> Vec<Hit> {
    let mut hits: Vec<Hit> = words[HEADER..HEADER + HIT_WORDS * count]
        .chunks_exact(HIT_WORDS)
        .filter_map(|w| {
            let [first_a, first_b] = *firsts.get(w[0] as usize)?;
            Some(Hit { pair: w[0], a: w[1].wrapping_sub(first_a << 1), b: w[2].wrapping_sub(first_b) })
        })
        .collect();
    hits.sort_unstable();
    hits
}

/// What the kernels of the narrow phase share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::Shared;
    vec![WalkParams::LAYOUT, HitParams::LAYOUT, Directed::LAYOUT, Surfel::LAYOUT]
}
