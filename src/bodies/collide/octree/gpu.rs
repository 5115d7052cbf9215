//! The search in compute passes: one dispatch a level descends all pairs at once, one more asks for the hits.
//!
//! In: directed pairs, the arena. Out: hits, sorted. Appends go to lists of limited length by atomic counters
//! that count on past the end; the host then grows the lists and runs again. Their order differs from run to
//! run, so hits are sorted.

use super::{
    pair::{Directed, Hit},
    surfel_buffer::SurfelBuffer,
};
use crate::{
    gpu::{Buffer, Gpu, GpuError, Growing, Kernel, Recorder, StageTiming, bind, shared},
    svo::{Arena, MAX_PASSES_LEVEL},
};

/// Counters: nodes at each level, then candidates, then hits.
const CANDIDATES: usize = MAX_PASSES_LEVEL as usize + 1;
const HITS: usize = CANDIDATES + 1;
const COUNTERS: usize = HITS + 1;
/// The hits list begins with the counters, so that one readback fetches both.
const HEADER: usize = 16;
const HIT_WORDS: usize = 3;

shared! {
    pub(in crate::bodies) struct DescendParams { level: u32, nodes_capacity: u32, candidates_capacity: u32, pad: u32 }

    pub(in crate::bodies) struct HitParams { candidates_capacity: u32, hits_capacity: u32, pad: [u32; 2] }
}

/// The compiled passes and their lists.
pub struct SearchPasses {
    descend: Kernel,
    ask: Kernel,
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
}

/// Counters, packed hits and timings of one run.
type Found = ([u32; COUNTERS], Vec<u32>, Vec<StageTiming>);

impl SearchPasses {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let first = 1 << 14;
        Ok(Self {
            descend: Kernel::new(gpu, "bodies/collide/octree/descend"),
            ask: Kernel::new(gpu, "bodies/collide/octree/hits"),
            pairs: Buffer::zeroed(gpu, "pairs", 64)?,
            nodes: [Buffer::zeroed(gpu, "descent even", first)?, Buffer::zeroed(gpu, "descent odd", first)?],
            candidates: Buffer::zeroed(gpu, "candidates", first)?,
            counters: Buffer::zeroed(gpu, "descent counters", HEADER)?,
            hits: Buffer::zeroed(gpu, "hits", HEADER + HIT_WORDS * first)?,
            // Room for what the next step may bring; shrinks slowly.
            expected: Growing::new([1024; COUNTERS], |count, room| (count + count / 2 + 1024).max(room / 2)),
        })
    }

    /// Hits of all directed pairs, sorted. `firsts`: the first node of the level of a and b, for each pair.
    ///
    /// # Errors
    /// [`GpuError`]; nothing but the lists' lengths has changed then.
    pub fn find_hits(
        &mut self,
        gpu: &Gpu,
        arena: &Arena,
        surfels: &SurfelBuffer,
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
            let (counts, hits, timings) = self.run(gpu, (arena, surfels), &roots, depth, room)?;
            Ok((counts, (counts[HITS], hits, timings)))
        });
        self.expected = expected;
        let (count, hits, timings) = found?;
        Ok((decode(&hits, count as usize, firsts), timings))
    }

    fn grow(&mut self, gpu: &Gpu, room: &[u32; COUNTERS]) -> Result<(), GpuError> {
        let nodes = room[..CANDIDATES].iter().copied().max().unwrap_or(0) as usize;
        if nodes > self.nodes[0].len() {
            self.nodes =
                [Buffer::zeroed(gpu, "descent even", nodes)?, Buffer::zeroed(gpu, "descent odd", nodes)?];
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
        (arena, surfels): (&Arena, &SurfelBuffer),
        roots: &[[u32; 3]],
        depth: usize,
        room: &[u32; COUNTERS],
    ) -> Result<Found, GpuError> {
        let mut zero = [0u32; HEADER];
        zero[0] = roots.len() as u32;
        self.counters.write(gpu, 0, &zero);
        self.nodes[0].write(gpu, 0, roots);
        let Self { pairs, candidates, counters, hits, .. } = self;
        let (nodes, surfels) = (&arena.buffers()?.nodes, surfels.buffer());
        let mut rec = Recorder::new(gpu, "collide");
        rec.stage("octree pairs");
        let candidates_capacity = candidates.len() as u32;
        for (level, wanted) in room.iter().enumerate().take(depth) {
            let nodes_capacity = self.nodes[0].len() as u32;
            let params = DescendParams { level: level as u32, nodes_capacity, candidates_capacity, pad: 0 };
            let (here, below) = (&self.nodes[level % 2], &self.nodes[1 - level % 2]);
            let given = bind![pairs, nodes, here, below, candidates, counters];
            rec.run(&self.descend, 8 * *wanted as usize, &params, given)?;
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

#[cfg(test)]
impl SearchPasses {
    /// A kernel by the name of its file, to plant an error in it.
    pub fn kernel(&mut self, name: &str) -> &mut Kernel {
        if name == "hits" { &mut self.ask } else { &mut self.descend }
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
    vec![DescendParams::LAYOUT, HitParams::LAYOUT, Directed::LAYOUT, super::surfels::Surfel::LAYOUT]
}
