//! The transition level (2018, sec. 5.2, 5.3): vertices take their nearest seeds, and every crossed voxel gets its
//! crack surface.
//!
//! In: a planar descent whose next pairs are those of the transition level. Out: the same pairs, rewritten for the
//! descent below (see `shaders/fracture/voronoi/surface/rough/node.wgsl`), and the crossed voxels.

use crate::{
    fracture::{
        FractureError,
        voronoi::descent::{Descent, Layer, most_records},
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Submissions, bind},
    svo::{Key, morton},
};

use super::{TransitionVoxel, cracking::Cracking, native};

/// Words of a crossed voxel, as `shaders/fracture/voronoi/surface/rough/voxel.wgsl` draws them.
const WORDS: usize = 17;
/// Words of one with gaps, as `shaders/fracture/voronoi/surface/dusty/voxel.wgsl` draws them.
const DUST_WORDS: usize = 30;

pub(in crate::fracture) struct TransitionPass {
    count: Kernel,
    write: Kernel,
    words: usize,
}

impl TransitionPass {
    pub fn with_kernels(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            count: kernel("fracture/voronoi/surface/rough/transition_count"),
            write: kernel("fracture/voronoi/surface/rough/transition_write"),
            words: WORDS,
        }
    }

    /// With a border for each object instead of one surface.
    pub fn dusty(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            count: kernel("fracture/voronoi/surface/rough/transition_count"),
            write: kernel("fracture/voronoi/surface/dusty/transition_write"),
            words: DUST_WORDS,
        }
    }

    /// Words of a crossed voxel.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the records, [`WORDS`] or [`DUST_WORDS`] each, one for every pair with a crossed voxel: `None` if there
    /// are more than `room`; the descent's report has the needed number.
    pub fn run(
        &self,
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        descent: &Descent,
        room: u32,
    ) -> Result<Buffer<u32>, GpuError> {
        let (Descent { seeds, candidates, .. }, shape) = (descent, &crack.shape);
        let Layer { pairs, count, .. } = descent.layer();
        let counts: Buffer<[u32; 2]> = work.room("crossed voxels", pairs.len() + 1)?;
        let room = room.min(pairs.len() as u32).min(most_records(work.gpu, self.words));
        let records = work.room("crack surfaces", room as usize * self.words)?;
        let mut rec = work.record("transition");
        let given = bind![size: count, shape, seeds, candidates, pairs, counts];
        rec.run_bare(&self.count, count, given)?;
        work.scan.run(&mut rec, &counts, count)?;
        descent.plan_records(&mut rec, work, &counts, room)?;
        let given = bind![size: count, shape, seeds, candidates, counts, pairs, records];
        rec.run_bare(&self.write, count, given)?;
        work.submit(rec);
        work.give(counts);
        Ok(records)
    }
}

/// The distinct crossed voxels of a descent that ran the pass and ended with that number of pairs, in Morton order.
/// `ids` are the object ids by rank.
pub(in crate::fracture) fn read_voxels(
    gpu: &Gpu,
    (descent, pairs): (&Descent, usize),
    records: &Buffer<u32>,
    ids: &[u32],
) -> Result<Vec<TransitionVoxel>, FractureError> {
    let words = records.read(gpu)?;
    let mut places: Vec<(u32, u32)> = descent
        .layer()
        .pairs
        .read_range(gpu, 0, pairs)?
        .iter()
        .filter(|pair| pair.list_count & CROSSED != 0)
        .map(|pair| (pair.key, pair.list_first))
        .collect();
    places.sort_unstable();
    places.dedup_by_key(|place| place.0);
    let voxels = places.iter().map(|(key, record)| {
        let at = *record as usize * WORDS;
        let record = words.get(at..at + WORDS)?;
        unpack(morton::decode(Key::from(*key)), record, ids)
    });
    voxels
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| GpuError::Driver("a crack surface came back damaged; update the driver".into()).into())
}

/// Set in the pairs of crossed nodes.
const CROSSED: u32 = 1 << 30;

fn unpack(place: [u32; 3], words: &[u32], ids: &[u32]) -> Option<TransitionVoxel> {
    let half = |word: usize, index: usize| words[word + index / 2] >> (16 * (index % 2)) & 0xffff;
    let mut objects = [0; 8];
    for (c, object) in objects.iter_mut().enumerate() {
        *object = *ids.get(half(0, c) as usize)?;
    }
    let edge_points = std::array::from_fn(|edge| {
        let offset = half(4, edge) as i32;
        let low = native::edge_corners(edge)[0];
        let mut point = [0, 1, 2].map(|a| super::UNITS * (low >> a & 1) as i32);
        point[edge / 4] = offset;
        (offset != 0).then_some(point)
    });
    let face_points = std::array::from_fn(|face| {
        let (word, axis) = (words[10 + face], face / 2);
        let mut point = [0; 3];
        point[axis] = super::UNITS * (face % 2) as i32;
        point[(axis + 1) % 3] = (word & 0xffff) as i32;
        point[(axis + 2) % 3] = (word >> 16) as i32;
        (word != 0).then_some(point)
    });
    let voxel_point = [0, 10, 20].map(|shift| (words[16] >> shift & 0x3ff) as i32);
    Some(TransitionVoxel { place, objects, edge_points, face_points, voxel_point })
}
