//! All passes of a search for contacts, in order, with one wait at the end.
//!
//! In: a [`SearchInput`] of the host. Out: a [`SearchOutput`]: near pairs, the chosen contacts, the admitted points.
//! Appends go to lists of limited length by counters that continue to count past the end; the host then enlarges them
//! and runs all passes again, from input that the passes do not change.

use super::{
    broad::BroadPasses,
    shared::{
        CANDIDATES, CELLS, CHOSEN, CONTACT_WORDS, CONTACTS, COUNTERS, ContactParams, FASTEST, HITS, NEAR,
        Old, PLANE_NODES, Slot, Solid, Task, WANTED,
    },
};
use crate::{
    broad_phase::passes::hierarchy::Hierarchy,
    collide::octree::{
        gpu::{DescentPasses, HEADER, HIT_WORDS, SearchLists},
        pair::{Directed, SurfelBuffer},
    },
    gpu::{
        Buffer, Gpu, GpuError, GrowAndRetry, IndirectCount, Recorder, bind, kernels, primitives::Scan,
        read_all,
    },
    svo::{Arena, MAX_PASSES_LEVEL},
};

kernels! {
    struct NarrowPasses {
        meet: "bodies/collide/octree/passes/meet",
        points: "bodies/collide/octree/passes/points",
        inside: "bodies/collide/octree/passes/inside",
        enter: "bodies/collide/octree/passes/enter",
        plane_descend: "bodies/collide/octree/passes/plane_descend",
        plane_points: "bodies/collide/octree/passes/plane_points",
        gather: "bodies/collide/octree/passes/gather",
        reduce: "bodies/collide/octree/passes/reduce",
    }
}

/// Input of a search.
#[derive(Default)]
pub struct SearchInput {
    /// Bodies.
    pub solids: Vec<Solid>,
    /// Tables for the look-up of levels and samples.
    pub tables: Vec<u32>,
    /// Words of it before the samples.
    pub given: usize,
    /// Forests.
    pub forests: usize,
    /// Near pairs of solids, if the host has them; else the passes find them.
    pub pairs: Option<Vec<[u32; 2]>>,
    /// Bodies at planes.
    pub tasks: Vec<Task>,
    /// Cached data of these tasks.
    pub task_slots: Vec<Slot>,
    /// Manifolds of the last search.
    pub old: Vec<Old>,
    /// Admitted and contact points of the last search.
    pub before: Vec<u32>,
    /// Length of the whole step, s.
    pub dt: f32,
    /// Substeps a step.
    pub substeps: u32,
    /// Searches in the step; 0: as the fastest pair needs.
    pub rounds: u32,
}

/// Output of the passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchOutput {
    /// (first solid, second, levels and flags, 0), in no order.
    pub near: Vec<[u32; 4]>,
    /// (slot, key, surfel of the other), those of a slot in the order of its manifold. The slot may have the bit
    /// [`AS_DEEPEST`](super::shared::AS_DEEPEST).
    pub chosen: Vec<[u32; 3]>,
    /// (slot, key, separation) of all that were let in, in no order.
    pub seen: Vec<[u32; 3]>,
    /// The fastest pair, see [`FASTEST`].
    pub fastest: f32,
    /// By forest: levels without samples, a bit each. If any bit is set, the rest is invalid.
    pub wanted: Vec<u32>,
}

/// The compiled passes and their lists.
pub struct ContactPasses {
    broad: BroadPasses,
    descent: DescentPasses,
    narrow: NarrowPasses,
    scan: Scan,
    hierarchy: Hierarchy,
    lists: Lists,
    /// From the counts of the last run: how much to dispatch and to read back.
    expected: GrowAndRetry<COUNTERS>,
}

/// Buffers that passes append to.
struct Lists {
    near: Buffer<u32>,
    pairs: Buffer<Directed>,
    search: SearchLists,
    contacts: Buffer<u32>,
    seen: Buffer<u32>,
    order: Buffer<u32>,
    chosen: Buffer<u32>,
    plane_nodes: [Buffer<u32>; 2],
    cells: Buffer<u32>,
}

/// Words of a near pair.
const NEAR_WORDS: usize = 4;
/// Words of what is seen, of what is chosen, of a cell at a plane.
const TRIPLE: usize = 3;

impl Lists {
    fn new(gpu: &Gpu, room: &[u32; COUNTERS]) -> Result<Self, GpuError> {
        let of = |k: usize| room[k] as usize;
        let words = |label: &'static str, words: usize| Buffer::<u32>::zeroed(gpu, label, words);
        let plane_nodes = TRIPLE * most(room, PLANE_NODES);
        Ok(Self {
            near: words("near pairs", NEAR_WORDS * of(NEAR))?,
            pairs: Buffer::zeroed(gpu, "directed pairs", 2 * of(NEAR))?,
            search: SearchLists::new(gpu, most(room, 0), of(CANDIDATES), of(HITS))?,
            contacts: words("contacts", CONTACT_WORDS * of(CONTACTS))?,
            seen: words("seen contacts", TRIPLE * of(CONTACTS))?,
            order: words("contacts by pair", of(CONTACTS))?,
            chosen: words("chosen contacts", TRIPLE * of(CHOSEN))?,
            plane_nodes: [words("planes even", plane_nodes)?, words("planes odd", plane_nodes)?],
            cells: words("cells at planes", TRIPLE * of(CELLS))?,
        })
    }

    fn holds(&self, room: &[u32; COUNTERS]) -> bool {
        let of = |k: usize| room[k] as usize;
        NEAR_WORDS * of(NEAR) <= self.near.len()
            && self.search.holds(most(room, 0), of(CANDIDATES), of(HITS))
            && of(CONTACTS) <= self.order.len()
            && TRIPLE * of(CHOSEN) <= self.chosen.len()
            && TRIPLE * most(room, PLANE_NODES) <= self.plane_nodes[0].len()
            && TRIPLE * of(CELLS) <= self.cells.len()
    }
}

fn params(wanted: &SearchInput, room: &[u32; COUNTERS]) -> ContactParams {
    let solids = wanted.solids.len();
    ContactParams {
        solids: solids as u32,
        tasks: wanted.tasks.len() as u32,
        old: wanted.old.len() as u32,
        given: wanted.given as u32,
        near_room: room[NEAR],
        nodes_room: most(room, 0) as u32,
        hits_room: room[HITS],
        contacts_room: room[CONTACTS],
        chosen_room: room[CHOSEN],
        plane_nodes_room: most(room, PLANE_NODES) as u32,
        cells_room: room[CELLS],
        dt: wanted.dt,
        substeps: wanted.substeps,
        rounds: wanted.rounds,
        ..ContactParams::default()
    }
}

/// The most of any level.
fn most(room: &[u32; COUNTERS], first: usize) -> usize {
    room[first..=first + MAX_PASSES_LEVEL as usize].iter().copied().max().unwrap_or(0) as usize
}

/// Input of a run, which the passes do not change.
struct Input {
    solids: Buffer<Solid>,
    tables: Buffer<u32>,
    tasks: Buffer<Task>,
    old: Buffer<Old>,
    before: Buffer<u32>,
    /// (task, root, key) of bodies that are descended, and of crumbs.
    roots: [Vec<u32>; 2],
    counters: Vec<u32>,
}

impl Input {
    fn new(gpu: &Gpu, wanted: &SearchInput) -> Result<Self, GpuError> {
        let mut roots = [Vec::new(), Vec::new()];
        for (k, task) in wanted.tasks.iter().enumerate() {
            roots[usize::from(task.first == super::shared::NONE)].extend([k as u32, task.root, 0]);
        }
        let mut counters = vec![0; WANTED + wanted.forests];
        counters[PLANE_NODES] = (roots[0].len() / TRIPLE) as u32;
        counters[CELLS] = (roots[1].len() / TRIPLE) as u32;
        counters[NEAR] = wanted.pairs.as_ref().map_or(0, Vec::len) as u32;
        Ok(Self {
            solids: Buffer::from_slice(gpu, "solids", &wanted.solids)?,
            tables: Buffer::from_slice(gpu, "levels and samples", &wanted.tables)?,
            tasks: Buffer::from_slice(gpu, "bodies at planes", &wanted.tasks)?,
            old: Buffer::from_slice(gpu, "old manifolds", &wanted.old)?,
            before: Buffer::from_slice(gpu, "old contacts", &wanted.before)?,
            roots,
            counters,
        })
    }
}

impl ContactPasses {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Self::with(gpu, [256; COUNTERS], &|path| crate::gpu::Kernel::new(gpu, path))
    }

    /// With these initial lengths of the lists, and kernels compiled by `kernel`, for tests that plant errors.
    pub(super) fn with(
        gpu: &Gpu,
        room: [u32; COUNTERS],
        kernel: &dyn Fn(&'static str) -> crate::gpu::Kernel,
    ) -> Result<Self, GpuError> {
        Ok(Self {
            broad: BroadPasses::compiled(kernel),
            descent: DescentPasses::with_kernels(kernel),
            narrow: NarrowPasses::with_kernels(kernel),
            scan: Scan::new(gpu),
            hierarchy: Hierarchy::new(gpu, 64)?,
            lists: Lists::new(gpu, &room)?,
            // Room for what the next step may bring; shrinks slowly, since a list that is too short costs a wait.
            expected: GrowAndRetry::new(room, |count, room| (count + count / 2 + 256).max(room - room / 256)),
        })
    }

    /// Runs the search.
    ///
    /// # Errors
    /// [`GpuError`]; only the lists' lengths have changed then.
    pub fn search(
        &mut self,
        gpu: &Gpu,
        arena: &Arena,
        surfels: &SurfelBuffer,
        wanted: &SearchInput,
    ) -> Result<SearchOutput, GpuError> {
        let solids = wanted.solids.len();
        if solids > self.hierarchy.room() {
            self.hierarchy = Hierarchy::new(gpu, solids + solids / 2)?;
        }
        let input = Input::new(gpu, wanted)?;
        let mut expected = self.expected.clone();
        for list in [NEAR, PLANE_NODES, CELLS] {
            expected.at_least(list, input.counters[list]);
        }
        let found = expected.run(|room| {
            if !self.lists.holds(room) {
                self.lists = Lists::new(gpu, room)?;
            }
            self.run(gpu, (arena, surfels), wanted, &input, room)
        });
        self.expected = expected;
        found
    }

    fn run(
        &self,
        gpu: &Gpu,
        (arena, surfels): (&Arena, &SurfelBuffer),
        wanted: &SearchInput,
        input: &Input,
        room: &[u32; COUNTERS],
    ) -> Result<([u32; COUNTERS], SearchOutput), GpuError> {
        let (params, lists) = (params(wanted, room), &self.lists);
        let slots_room = wanted.tasks.len() + params.near_room as usize;
        let slots = Buffer::<Slot>::zeroed(gpu, "slots", slots_room)?;
        let tally = Buffer::<[u32; 2]>::zeroed(gpu, "contacts of slots", slots_room + 1)?;
        let filled = Buffer::<u32>::zeroed(gpu, "filled slots", slots_room)?;
        let counters = Buffer::from_slice(gpu, "contact counters", &input.counters)?;
        slots.write(gpu, 0, &wanted.task_slots);
        lists.plane_nodes[0].write(gpu, 0, &input.roots[0]);
        lists.cells.write(gpu, 0, &input.roots[1]);
        let (near, solids, tables) = (&lists.near, &input.solids, &input.tables);
        let mut rec = Recorder::with_room(gpu, "contacts", 0);
        rec.stage("broad phase");
        match &wanted.pairs {
            Some(pairs) => {
                let words: Vec<u32> = pairs.iter().flat_map(|[a, b]| [*a, *b, 0, 0]).collect();
                near.write(gpu, 0, &words);
            }
            None => {
                let on = (&self.hierarchy, &self.scan);
                self.broad.record(&mut rec, on, &params, [tables, &counters], solids, near)?
            }
        }
        rec.stage("octree pairs");
        let (pairs, roots) = (&lists.pairs, lists.search.roots());
        let given = bind![solids, tables, old: input.old, near, pairs, roots, slots, counters];
        rec.run(&self.narrow.meet, room[NEAR] as usize, &params, given)?;
        self.descent.record(&mut rec, (arena, surfels), pairs, &lists.search, &counters, room)?;
        rec.stage("collision points");
        self.record_points(&mut rec, (arena, surfels), &params, input, &counters, room)?;
        rec.stage("planes");
        self.record_planes(&mut rec, arena, &params, input, &counters, room)?;
        rec.stage("manifolds");
        let Lists { contacts, seen, order, chosen, .. } = lists;
        let of_contacts = room[CONTACTS] as usize;
        let given = bind![slots, before: input.before, contacts, seen, tally, counters];
        rec.run(&self.narrow.enter, of_contacts, &params, given)?;
        self.scan.run(&mut rec, &tally, &IndirectCount::known(gpu, tally.len() - 1))?;
        rec.run(&self.narrow.gather, of_contacts, &params, bind![contacts, tally, filled, order, counters])?;
        let given = bind![slots, tally, order, contacts, chosen, counters];
        rec.run_groups(&self.narrow.reduce, slots_room, &params, given)?;
        rec.submit();
        self.read(gpu, &counters, wanted, room)
    }

    fn record_points(
        &self,
        rec: &mut Recorder<'_>,
        (arena, surfels): (&Arena, &SurfelBuffer),
        params: &ContactParams,
        input: &Input,
        counters: &Buffer<u32>,
        room: &[u32; COUNTERS],
    ) -> Result<(), GpuError> {
        let Input { solids, tables, .. } = input;
        let Lists { near, pairs, contacts, .. } = &self.lists;
        let (surfels, hits) = (surfels.buffer(), self.lists.search.hits());
        let given = bind![solids, tables, near, pairs, surfels, hits, contacts, counters];
        rec.run(&self.narrow.points, room[HITS] as usize, params, given)?;
        let crate::svo::ArenaBuffers { nodes, normals, colors, cuts } = arena.buffers()?;
        let given = bind![solids, nodes, normals, colors, cuts, counters, contacts];
        rec.run(&self.narrow.inside, room[CONTACTS] as usize, params, given)
    }

    fn record_planes(
        &self,
        rec: &mut Recorder<'_>,
        arena: &Arena,
        params: &ContactParams,
        input: &Input,
        counters: &Buffer<u32>,
        room: &[u32; COUNTERS],
    ) -> Result<(), GpuError> {
        let tasks = &input.tasks;
        if tasks.is_empty() {
            return Ok(());
        }
        let crate::svo::ArenaBuffers { nodes, normals, colors, cuts } = arena.buffers()?;
        let Lists { plane_nodes, cells, contacts, .. } = &self.lists;
        for level in 0..MAX_PASSES_LEVEL as usize {
            let (here, below) = (&plane_nodes[level % 2], &plane_nodes[1 - level % 2]);
            let params = ContactParams { level: level as u32, ..*params };
            let given = bind![tasks, nodes, here, below, cells, counters];
            rec.run(&self.narrow.plane_descend, 8 * room[PLANE_NODES + level] as usize, &params, given)?;
        }
        let given = bind![tasks, nodes, normals, colors, cuts, cells, contacts, counters];
        rec.run(&self.narrow.plane_points, room[CELLS] as usize, params, given)
    }

    fn read(
        &self,
        gpu: &Gpu,
        counters: &Buffer<u32>,
        wanted: &SearchInput,
        room: &[u32; COUNTERS],
    ) -> Result<([u32; COUNTERS], SearchOutput), GpuError> {
        let Lists { near, seen, chosen, .. } = &self.lists;
        let words = |list: usize, words: usize| words * room[list] as usize;
        let read = read_all(
            gpu,
            &[
                (counters, 0, counters.len()),
                (near, 0, words(NEAR, NEAR_WORDS)),
                (chosen, 0, words(CHOSEN, TRIPLE)),
                (seen, 0, words(CONTACTS, TRIPLE)),
            ],
        )?;
        let [counts, near, chosen, seen] = &read[..] else {
            return Ok(([0; COUNTERS], SearchOutput::default()));
        };
        let mut needed = [0; COUNTERS];
        needed.copy_from_slice(&counts[..COUNTERS]);
        let many = |list: usize| needed[list].min(room[list]) as usize;
        let triples = |list: &[u32], count: usize| -> Vec<[u32; 3]> {
            list.chunks_exact(TRIPLE).take(count).map(|w| [w[0], w[1], w[2]]).collect()
        };
        let raw = SearchOutput {
            near: near.chunks_exact(NEAR_WORDS).take(many(NEAR)).map(|w| [w[0], w[1], w[2], w[3]]).collect(),
            chosen: triples(chosen, many(CHOSEN)),
            seen: triples(seen, many(CONTACTS)).into_iter().filter(|s| s[0] != super::shared::NONE).collect(),
            fastest: f32::from_bits(counts[FASTEST]),
            wanted: counts[WANTED..WANTED + wanted.forests].to_vec(),
        };
        Ok((needed, raw))
    }
}

const _: () = assert!(HEADER == 16 && HIT_WORDS == TRIPLE);
