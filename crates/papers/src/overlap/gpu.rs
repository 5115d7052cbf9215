//! The overlap of pairs, in compute passes: the descent of both octrees (one dispatch a round, all pairs at once), the
//! means of the lattice's cells, the columns.
//!
//! In: pairs, the arena, surfels. Out: [`Overlap`]s like those of `of_bodies`. Appends go to lists of limited length by
//! atomic counters that continue to count past the end; the host then enlarges the lists and runs again. Means are sums
//! of whole numbers and the rest does not depend on any order, so that the same pairs give the same bytes; the host
//! sorts what comes back and adds the columns of a pair up.

use super::{Mean, Overlap, Stretch, finish, sizes};
use crate::{
    bodies::{
        Body,
        octrees::{OctreePair, SurfelBuffer, SurfelCache, cell_size, cells_to_world, place_on_gpu},
    },
    gpu::{Buffer, Gpu, GpuError, GrowAndRetry, Kernel, Recorder, StageTiming, bind, layout, shared},
    svo::{Arena, Key, MAX_PASSES_LEVEL, morton},
};
use glam::{DMat4, DVec3, IVec3};

/// As in `shaders/papers/overlap/meeting.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Meeting {
    to_a: [[f32; 4]; 3],
    to_b: [[f32; 4]; 3],
    half_box: [f32; 4],
    a: [u32; 4],
    b: [u32; 4],
}

layout!(Meeting as "Meeting" {
    to_a: [to_a_x, to_a_y, to_a_z], to_b: [to_b_x, to_b_y, to_b_z], half_box, a, b
});

shared! {
    pub(crate) struct OverlapParams {
        round: u32,
        frontier: u32,
        raws: u32,
        means: u32,
        columns: u32,
        raw_mask: u32,
        mean_mask: u32,
        pad: u32,
    }
}

/// Counters: pairs of nodes in each round, then these.
const RAWS: usize = 24;
const MEANS: usize = 25;
const COLUMNS: usize = 26;
const LOST: usize = 27;
pub(super) const COUNTERS: usize = 32;
const ITEM_WORDS: usize = 6;
const RAW_WORDS: usize = 9;
const MEAN_WORDS: usize = 8;
const COLUMN_WORDS: usize = 9;
/// Sums of a cell and surface.
const SUM_WORDS: usize = 14;

// A round opens a level of one of the two octrees.
const _: () = assert!(2 * MAX_PASSES_LEVEL as usize + 1 < RAWS);

/// The compiled passes and their lists.
pub struct OverlapPasses {
    pub(super) meet: Kernel,
    pub(super) lead: Kernel,
    pub(super) sum: Kernel,
    pub(super) mean: Kernel,
    pub(super) link: Kernel,
    pub(super) column: Kernel,
    pub(super) lists: Lists,
    /// From the counts of the last run: how much to dispatch.
    pub(super) expected: GrowAndRetry<COUNTERS>,
}

/// Buffers, all of words.
pub(super) struct Lists {
    counters: Buffer<u32>,
    frontier: [Buffer<u32>; 2],
    raws: Buffer<u32>,
    raw_table: Buffer<u32>,
    firsts: Buffer<u32>,
    leads: Buffer<u32>,
    sums: Buffer<u32>,
    means: Buffer<u32>,
    mean_table: Buffer<u32>,
    heads: Buffer<u32>,
    nexts: Buffer<u32>,
    columns: Buffer<u32>,
}

impl Lists {
    pub(super) fn new(gpu: &Gpu, expected: &[u32; COUNTERS]) -> Result<Self, GpuError> {
        let items = expected[..RAWS].iter().copied().max().unwrap_or(0) as usize;
        let [raws, means, columns] = [RAWS, MEANS, COLUMNS].map(|k| expected[k] as usize);
        let make = |label: &'static str, words: usize| Buffer::zeroed(gpu, label, words);
        Ok(Self {
            counters: make("overlap counters", COUNTERS)?,
            frontier: [make("overlap even", ITEM_WORDS * items)?, make("overlap odd", ITEM_WORDS * items)?],
            raws: make("overlap points", RAW_WORDS * raws)?,
            raw_table: make("overlap cells", (2 * raws).next_power_of_two())?,
            firsts: make("overlap firsts", raws)?,
            leads: make("overlap leads", raws)?,
            sums: make("overlap sums", SUM_WORDS * raws)?,
            means: make("overlap means", MEAN_WORDS * means)?,
            mean_table: make("overlap columns by cell", (6 * means).next_power_of_two())?,
            heads: make("overlap heads", 3 * means)?,
            nexts: make("overlap nexts", 3 * means)?,
            columns: make("overlap columns", COLUMN_WORDS * columns)?,
        })
    }

    /// Entries for which there is room.
    fn room(&self, counter: usize) -> usize {
        match counter {
            RAWS => self.raws.len() / RAW_WORDS,
            MEANS => self.means.len() / MEAN_WORDS,
            COLUMNS => self.columns.len() / COLUMN_WORDS,
            _ => self.frontier[0].len() / ITEM_WORDS,
        }
    }
}

/// Means and columns of all meetings.
type Found = (Vec<(u32, Mean)>, Vec<(u32, Stretch)>);

impl OverlapPasses {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let mut room = [1 << 12; COUNTERS];
        room[RAWS] = 1 << 14;
        Self::with_room(gpu, room)
    }

    /// Like [`OverlapPasses::new`], with these initial lengths of the lists.
    pub(super) fn with_room(gpu: &Gpu, room: [u32; COUNTERS]) -> Result<Self, GpuError> {
        let kernel = |path| Kernel::new(gpu, path);
        Ok(Self {
            meet: kernel("papers/overlap/meet"),
            lead: kernel("papers/overlap/lead"),
            sum: kernel("papers/overlap/sum"),
            mean: kernel("papers/overlap/mean"),
            link: kernel("papers/overlap/link"),
            column: kernel("papers/overlap/column"),
            lists: Lists::new(gpu, &room)?,
            // Room for what comes next; shrinks slowly.
            expected: GrowAndRetry::new(room, |count, room| (count + count / 2 + 1024).max(room / 2)),
        })
    }

    /// The overlap of each of `pairs`, in their order.
    ///
    /// # Errors
    /// [`GpuError`]; only the lists' lengths have changed then.
    pub fn find(
        &mut self,
        gpu: &Gpu,
        arena: &Arena,
        surfels: &mut SurfelBuffer,
        (pairs, bodies, cache): (&[OctreePair], &[Body], &mut SurfelCache),
    ) -> Result<(Vec<Overlap>, Vec<StageTiming>), GpuError> {
        if pairs.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        surfels.prepare(gpu, pairs, bodies, cache)?;
        let meetings: Vec<Meeting> = pairs.iter().map(|pair| meeting(pair, bodies, arena, cache)).collect();
        let meetings = Buffer::from_slice(gpu, "meetings", &meetings)?;
        let mut items = Vec::with_capacity(ITEM_WORDS * pairs.len());
        for (k, pair) in pairs.iter().enumerate() {
            let [a, b] = pair.bodies.map(|i| bodies[i].def.octree().tree);
            items.extend([k as u32, a, 0, b, 0, 0]);
        }
        let rounds = pairs.iter().map(|pair| pair.levels[0] + pair.levels[1]).max().unwrap_or(0) as usize;
        let mut expected = self.expected.clone();
        expected.at_least(0, pairs.len() as u32);
        let counted = expected.run(|room| {
            if (0..LOST).any(|k| room[k] as usize > self.lists.room(k)) {
                self.lists = Lists::new(gpu, room)?;
            }
            let (counts, timings) = self.run(gpu, (arena, surfels), &meetings, &items, rounds, room)?;
            let mut needed = counts;
            if counts[LOST] != 0 {
                // A table that was searched for too long was too small.
                for list in [RAWS, MEANS] {
                    needed[list] = counts[list].max(2 * room[list]);
                }
            }
            Ok((needed, (counts, timings)))
        });
        self.expected = expected;
        let (counts, timings) = counted?;
        let (means, stretches) = self.read(gpu, &counts)?;
        Ok((hand_over(pairs, bodies, &means, stretches), timings))
    }

    fn params(&self, round: usize, room: &[u32; COUNTERS]) -> OverlapParams {
        OverlapParams {
            round: round as u32,
            frontier: self.lists.room(0) as u32,
            raws: room[RAWS],
            means: room[MEANS],
            columns: room[COLUMNS],
            raw_mask: self.lists.raw_table.len() as u32 - 1,
            mean_mask: self.lists.mean_table.len() as u32 - 1,
            pad: 0,
        }
    }

    fn run(
        &self,
        gpu: &Gpu,
        (arena, surfels): (&Arena, &SurfelBuffer),
        meetings: &Buffer<Meeting>,
        items: &[u32],
        rounds: usize,
        room: &[u32; COUNTERS],
    ) -> Result<([u32; COUNTERS], Vec<StageTiming>), GpuError> {
        let Lists { counters, frontier, raws, firsts, leads, sums, means, heads, nexts, columns, .. } =
            &self.lists;
        let (raw_table, mean_table) = (&self.lists.raw_table, &self.lists.mean_table);
        let mut zero = [0u32; COUNTERS];
        zero[0] = (items.len() / ITEM_WORDS) as u32;
        counters.write(gpu, 0, &zero);
        frontier[0].write(gpu, 0, items);
        let mut rec = Recorder::new(gpu, "overlap");
        for cleared in [raw_table, leads, sums, mean_table, heads] {
            rec.encoder().clear_buffer(cleared.raw(), 0, None);
        }
        rec.stage("overlap descent");
        let (nodes, surfels) = (&arena.buffers()?.nodes, surfels.buffer());
        for round in 0..rounds {
            let (here, below) = (&frontier[round % 2], &frontier[1 - round % 2]);
            let given = bind![meetings, nodes, surfels, here, below, raws, counters];
            rec.run(&self.meet, 8 * room[round] as usize, &self.params(round, room), given)?;
        }
        rec.stage("overlap means");
        let params = self.params(rounds, room);
        let (of_raws, of_means) = (room[RAWS] as usize, 3 * room[MEANS] as usize);
        rec.run(&self.lead, of_raws, &params, bind![raws, table: raw_table, firsts, leads, counters])?;
        rec.run(&self.sum, of_raws, &params, bind![raws, firsts, leads, sums, counters])?;
        rec.run(&self.mean, of_raws, &params, bind![raws, firsts, leads, sums, means, counters])?;
        rec.run(&self.link, of_means, &params, bind![means, table: mean_table, heads, nexts, counters])?;
        rec.stage("overlap columns");
        let given = bind![meetings, nodes, surfels, means, heads, nexts, columns, counters];
        rec.run(&self.column, of_means, &params, given)?;
        let timings = rec.submit_timed()?;
        let mut counts = [0; COUNTERS];
        counts.copy_from_slice(&counters.read(gpu)?);
        Ok((counts, timings))
    }

    fn read(&self, gpu: &Gpu, counts: &[u32; COUNTERS]) -> Result<Found, GpuError> {
        let read = |list: &Buffer<u32>, words: usize| match words {
            0 => Ok(Vec::new()),
            _ => list.read_range(gpu, 0, words),
        };
        let means = read(&self.lists.means, MEAN_WORDS * counts[MEANS] as usize)?;
        let columns = read(&self.lists.columns, COLUMN_WORDS * counts[COLUMNS] as usize)?;
        let vector = |w: &[u32]| DVec3::from([w[0], w[1], w[2]].map(|v| f64::from(f32::from_bits(v))));
        let mean = |w: &[u32]| {
            let cell = IVec3::from(morton::decode(Key::from(w[1] & 0x3fff_ffff)).map(|v| v as i32));
            let (owner, back) = (w[1] >> 30 & 1, w[1] >> 31 == 1);
            (w[0], Mean { cell, owner, back, p: vector(&w[2..]), n: vector(&w[5..]) })
        };
        let stretch = |w: &[u32]| {
            let length = f64::from(f32::from_bits(w[5]));
            let owners = [w[1] >> 2 & 1, w[1] >> 3 & 1];
            let axis = (w[1] & 3) as usize;
            (w[0], Stretch { axis, middle: vector(&w[2..]), length, owners, normal: vector(&w[6..]) })
        };
        let mut means: Vec<_> = means.chunks_exact(MEAN_WORDS).map(mean).collect();
        let mut stretches: Vec<_> = columns.chunks_exact(COLUMN_WORDS).map(stretch).collect();
        means.sort_by_key(|(k, m)| (*k, m.order()));
        stretches.sort_by(|(i, s), (j, t)| {
            let across = |s: &Stretch| (s.axis, [1, 2].map(|k| s.middle[(s.axis + k) % 3].floor() as i32));
            (i, across(s)).cmp(&(j, across(t))).then(s.middle[s.axis].total_cmp(&t.middle[t.axis]))
        });
        Ok((means, stretches))
    }
}

fn meeting(pair: &OctreePair, bodies: &[Body], arena: &Arena, cache: &mut SurfelCache) -> Meeting {
    let world_from_cells = [0, 1].map(|s| cells_to_world(&bodies[pair.bodies[s]], pair.levels[s]));
    let a_from_b = world_from_cells[0].inverse() * world_from_cells[1];
    let (half, least_cell) = sizes(&a_from_b);
    let rows = |m: DMat4| {
        let m = m.transpose();
        [m.x_axis, m.y_axis, m.z_axis].map(|row| row.as_vec4().to_array())
    };
    let mut tree = |s: usize| place_on_gpu(&bodies[pair.bodies[s]], pair.levels[s], arena, cache);
    Meeting {
        to_a: rows(a_from_b),
        to_b: rows(a_from_b.inverse()),
        half_box: half.as_vec3().extend(least_cell as f32).to_array(),
        a: tree(0),
        b: tree(1),
    }
}

/// Adds up what each pair's columns say.
fn hand_over(
    pairs: &[OctreePair],
    bodies: &[Body],
    means: &[(u32, Mean)],
    stretches: Vec<(u32, Stretch)>,
) -> Vec<Overlap> {
    let mut stretches = stretches.into_iter().peekable();
    let mut rest = means;
    let mut out = Vec::with_capacity(pairs.len());
    for (k, pair) in pairs.iter().enumerate() {
        let count = rest.partition_point(|(meeting, _)| *meeting <= k as u32);
        let (own, later) = rest.split_at(count);
        rest = later;
        let points: Vec<Mean> = own.iter().map(|(_, mean)| *mean).collect();
        let columns =
            std::iter::from_fn(|| stretches.next_if(|(meeting, _)| *meeting == k as u32)).map(|(_, s)| s);
        let [a, b] = pair.bodies.map(|i| &bodies[i]);
        let (size, to_world) = (cell_size(a, pair.levels[0]), cells_to_world(a, pair.levels[0]));
        out.push(finish([Some(a.id), Some(b.id)], pair.levels, size, &to_world, &points, columns.collect()));
    }
    out
}

/// Types that the kernels of pairs share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::{Layout, Shared};
    vec![
        Meeting::LAYOUT,
        OverlapParams::LAYOUT,
        Layout::words("Raw", RAW_WORDS),
        Layout::words("Mean", MEAN_WORDS),
        Layout::words("Stretch", COLUMN_WORDS),
    ]
}
