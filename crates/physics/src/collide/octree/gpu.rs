//! The descent of pairs and the search for hits in compute passes: one dispatch per level descends all pairs at once,
//! one more finds the hits.
//!
//! In: directed pairs and their roots, the arena. Out: hits, unsorted. Appends go to lists of limited length by atomic
//! counters that continue to count past the end; the host then enlarges the lists and runs again.

#[cfg(test)]
use super::pair::Hit;
use super::pair::{Directed, SurfelBuffer};
use crate::{
    gpu::{Buffer, Gpu, GpuError, Recorder, bind, kernels, shared},
    svo::{Arena, MAX_PASSES_LEVEL},
};

/// Counters: nodes at each level, then candidates, then hits.
const CANDIDATES: usize = MAX_PASSES_LEVEL as usize + 1;
#[cfg(test)]
const HITS: usize = CANDIDATES + 1;
/// Words before the hits.
pub const HEADER: usize = 16;
/// Words of a hit.
pub const HIT_WORDS: usize = 3;

shared! {
    pub(crate) struct DescendParams { level: u32, nodes_capacity: u32, candidates_capacity: u32, pad: u32 }

    pub(crate) struct HitParams { candidates_capacity: u32, hits_capacity: u32, pad: [u32; 2] }
}

kernels! {
    /// The compiled passes.
    pub struct DescentPasses {
        descend: "bodies/collide/octree/descend",
        ask: "bodies/collide/octree/hits",
    }
}

/// Their lists.
pub struct SearchLists {
    /// (pair, node, key), read and written in turn.
    nodes: [Buffer<[u32; 3]>; 2],
    /// (pair, node of a at its level).
    candidates: Buffer<[u32; 2]>,
    /// Header, then hits.
    hits: Buffer<u32>,
}

impl SearchLists {
    /// Allocates lists for these numbers of nodes of a level, candidates and hits.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn new(gpu: &Gpu, nodes: usize, candidates: usize, hits: usize) -> Result<Self, GpuError> {
        Ok(Self {
            nodes: [Buffer::zeroed(gpu, "descent even", nodes)?, Buffer::zeroed(gpu, "descent odd", nodes)?],
            candidates: Buffer::zeroed(gpu, "candidates", candidates)?,
            hits: Buffer::zeroed(gpu, "hits", HEADER + HIT_WORDS * hits)?,
        })
    }

    /// Whether the lists have room for these numbers.
    #[must_use]
    pub fn holds(&self, nodes: usize, candidates: usize, hits: usize) -> bool {
        nodes <= self.nodes[0].len()
            && candidates <= self.candidates.len()
            && HEADER + HIT_WORDS * hits <= self.hits.len()
    }

    /// Buffer for the roots: (directed pair, root, 0).
    #[must_use]
    pub fn roots(&self) -> &Buffer<[u32; 3]> {
        &self.nodes[0]
    }

    /// Where hits are: a header, then (directed pair, node of a and side, node of b).
    #[must_use]
    pub fn hits(&self) -> &Buffer<u32> {
        &self.hits
    }

    /// Number of nodes of a level for which there is room.
    #[must_use]
    pub fn nodes_room(&self) -> u32 {
        self.nodes[0].len() as u32
    }
}

impl DescentPasses {
    /// Records the descent of all `pairs` from the roots in `lists`, which the first counter counts, and the question
    /// for their hits; `room` is how much is expected of what the counters count.
    ///
    /// # Errors
    /// [`GpuError::Binding`].
    pub fn record(
        &self,
        rec: &mut Recorder<'_>,
        (arena, surfels): (&Arena, &SurfelBuffer),
        pairs: &Buffer<Directed>,
        lists: &SearchLists,
        counters: &Buffer<u32>,
        room: &[u32],
    ) -> Result<(), GpuError> {
        let SearchLists { candidates, hits, .. } = lists;
        let (nodes, surfels) = (&arena.buffers()?.nodes, surfels.buffer());
        let candidates_capacity = candidates.len() as u32;
        for (level, wanted) in room.iter().enumerate().take(MAX_PASSES_LEVEL as usize) {
            let nodes_capacity = lists.nodes_room();
            let params = DescendParams { level: level as u32, nodes_capacity, candidates_capacity, pad: 0 };
            let (here, below) = (&lists.nodes[level % 2], &lists.nodes[1 - level % 2]);
            let given = bind![pairs, nodes, here, below, candidates, counters];
            rec.run(&self.descend, 8 * *wanted as usize, &params, given)?;
        }
        let hits_capacity = ((hits.len() - HEADER) / HIT_WORDS) as u32;
        let params = HitParams { candidates_capacity, hits_capacity, pad: [0; 2] };
        let given = bind![pairs, nodes, surfels, candidates, counters, hits];
        rec.run(&self.ask, room[CANDIDATES] as usize, &params, given)
    }
}

/// The search by itself, for pairs made by the host: tests compare its hits with those of the CPU.
#[cfg(test)]
pub struct SearchPasses(DescentPasses);

#[cfg(test)]
impl SearchPasses {
    pub fn new(gpu: &Gpu) -> Self {
        Self(DescentPasses::new(gpu))
    }

    /// A kernel by the name of its file, to plant an error in it.
    pub fn kernel(&mut self, name: &str) -> &mut crate::gpu::Kernel {
        if name == "hits" { &mut self.0.ask } else { &mut self.0.descend }
    }

    /// Hits of all directed pairs, sorted. `firsts`: the first node of the level of a and b, for each pair.
    pub fn find_hits(
        &self,
        gpu: &Gpu,
        arena: &Arena,
        surfels: &SurfelBuffer,
        directed: &[Directed],
        firsts: &[[u32; 2]],
    ) -> Vec<Hit> {
        let pairs = Buffer::from_slice(gpu, "pairs", directed).expect("room");
        let roots: Vec<[u32; 3]> = directed.iter().enumerate().map(|(d, r)| [d as u32, r.a[1], 0]).collect();
        let mut room = [1 << 10; HITS + 1];
        loop {
            let lists = SearchLists::new(gpu, 1 << 17, 1 << 17, 1 << 17).expect("room");
            lists.roots().write(gpu, 0, &roots);
            let mut counts = [0u32; HEADER];
            counts[0] = roots.len() as u32;
            let counters = Buffer::from_slice(gpu, "counters", &counts).expect("room");
            let mut rec = Recorder::new(gpu, "collide");
            self.0.record(&mut rec, (arena, surfels), &pairs, &lists, &counters, &room).expect("bound");
            rec.submit();
            let counts = counters.read(gpu).expect("counters");
            let enough = counts.iter().zip(&room).all(|(needed, room)| needed <= room);
            assert!(counts.iter().all(|&count| count <= 1 << 17), "{counts:?}");
            if enough {
                return decode(&lists.hits().read(gpu).expect("hits"), counts[HITS] as usize, firsts);
            }
            room.iter_mut().zip(counts).for_each(|(room, needed)| *room = needed.max(*room));
        }
    }
}

/// Kernels name nodes; hits name surfels.
#[cfg(test)]
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

/// Types that the kernels of the narrow phase share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::Shared;
    vec![DescendParams::LAYOUT, HitParams::LAYOUT, Directed::LAYOUT, super::surfels::Surfel::LAYOUT]
}
