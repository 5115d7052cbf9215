//! Contacts between octrees (Domaradzki & Martyn 2016, sec. 5.1), and between octrees and planes.
//!
//! One octree of a pair is descended to the pair's level, and its cells are looked up in the other; for every surfel of
//! one body near the other the opposing surface is searched. In: near pairs. Out: manifolds. On the CPU the search
//! (`search.rs`) gives hits, pairs of surfel numbers, of which
//! `points.rs` and `planes.rs` make manifolds; in compute passes (`passes/`) the whole of it, with the broad phase, is
//! one submission. What the passes choose is worked out again from its numbers in f64, so what they decide is only
//! which surfels meet, and which of them hold a pair.

#[cfg(test)]
mod brute;
mod cell_table;
mod gpu;
mod levels;
mod neighbour_lists;
mod pair;
#[cfg(test)]
mod parity;
mod passes;
mod planes;
mod points;
mod records;
mod search;
mod smooth;
mod surfels;

pub use levels::Levels;
pub use pair::{OctreePair, SurfelBuffer, SurfelCache, cell_size, cells_to_world, place_on_gpu};
#[cfg(test)]
pub(crate) use passes::run_every_kernel;
pub use surfels::{Cell, Surfel, Surfels, first_of_level, has_leaf_at, look_up};

/// All that the kernels share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    [gpu::layouts(), passes::layouts()].concat()
}

use super::{
    Body, BodyId, ContactGenerator, ContactQuery, Found, GeneratorEntry, GeneratorMemory, InOrder,
    LevelOfDetail, MARGIN_CELLS, Manifold, Partner, holds, most_searches,
};
use crate::{
    Plane,
    broad_phase::NearPair,
    context::StepContext,
    gpu::{Gpu, GpuError},
    shape::Kind,
    svo::Arena,
};
use neighbour_lists::NeighbourLists;
use passes::{ContactSearch, OfPairs};
use planes::{AtPlanes, PlaneAsk, descend_to, plane_manifolds};
use points::pair_manifolds;
use rayon::prelude::*;
use records::{Before, Records};
use search::find_hits;
use std::sync::Arc;

/// Whether it has an octree, or voxels for its surface.
fn has_voxels(partner: Partner) -> bool {
    matches!(partner, Partner::Shape(Kind::Octree | Kind::Mesh))
}

/// How the table has it.
pub const ENTRY: GeneratorEntry = GeneratorEntry {
    name: "octree",
    label: "octrees",
    about: "Samples of one octree's surface are looked up in the other, at the level that the scene gives the pair.",
    accepts: |[a, b]| has_voxels(a) && (has_voxels(b) || b == Partner::Plane),
    options: &[],
    make: |gpu| Ok(Box::new(OctreeGenerator::new(gpu)?)),
};

/// By body: how far beyond its voxels its cells may extend, m: half a cell of the coarsest level at which it collides.
#[must_use]
pub fn reach(bodies: &[Body], detail: LevelOfDetail<'_>) -> Vec<f64> {
    let levels = Levels::new(bodies, detail);
    bodies.iter().enumerate().map(|(i, body)| 0.5 * cell_size(body, levels.coarsest(i))).collect()
}

/// Fewer pairs are not worth a second thread for choosing what to do with them.
const MANY: usize = 256;

/// Name of the time for which a step waits for compute passes: broad phase, search and choice in one.
const PASSES: &str = "contact passes (device)";

/// Finds contacts of octrees with each other and with planes.
#[derive(Default)]
pub struct OctreeGenerator {
    cache: SurfelCache,
    passes: Option<ContactSearch>,
    lists: NeighbourLists,
    /// Data of the manifolds of the last search.
    records: Records,
    /// Levels of near pairs in this step, by ascending pair.
    levels: Vec<([usize; 2], [u32; 2])>,
}

/// Near pairs, sorted by what to do with them.
#[derive(Default)]
struct Sorted {
    /// To be searched.
    pairs: Vec<OctreePair>,
    /// By pair to be searched: its manifold of the last search.
    before: Vec<Option<usize>>,
    /// Manifolds of the last search that are still valid.
    carried: Vec<usize>,
}

/// What to do with a near pair.
enum ToDo {
    /// Its manifold of the last search, of this index, is still valid.
    Carry(usize),
    /// Search it; it had this manifold.
    Search(OctreePair, Option<usize>),
    Nothing,
}

/// The search in passes with the device and the octrees on it.
type OnDevice<'p, 'g> = (&'p mut ContactSearch, (&'g Gpu, &'g Arena));

impl OctreeGenerator {
    /// A generator without cached data.
    ///
    /// # Errors
    /// [`GpuError`] if the passes cannot be made.
    pub fn new(gpu: Option<&Gpu>) -> Result<Self, GpuError> {
        // By the default settings a software adapter does not search; if a setting chooses it, its passes are made
        // then.
        let passes = match gpu.filter(|gpu| !gpu.is_software()) {
            Some(gpu) => Some(ContactSearch::new(gpu)?),
            None => None,
        };
        Ok(Self { passes, ..Self::default() })
    }

    /// Pairs to be searched, and which manifolds of the last search are carried along: those of pairs that have hardly
    /// moved. Pairs that come near each other only later in the step are searched then.
    fn sort_out(&self, query: &ContactQuery<'_>, before: Before<'_>) -> Sorted {
        let bodies = query.bodies;
        let mut levels_of = InOrder::new(&self.levels, |known| known.0);
        let mut manifold_of = InOrder::new(query.old, Manifold::order);
        let known = query.pairs.iter().filter_map(|near| {
            let at = levels_of.find(&near.bodies)?;
            let [a, b] = near.bodies.map(|k| bodies[k].id);
            Some((near.bodies, self.levels[at].1, manifold_of.find(&(false, a, Some(b)))))
        });
        let known: Vec<_> = known.collect();
        let sort = |(pair, levels, known): &([usize; 2], [u32; 2], Option<usize>)| {
            let [a, b] = pair.map(|k| &bodies[k]);
            let carried = known.filter(|&k| {
                let record = before.record(k).filter(|record| record.levels == *levels);
                record.is_some_and(|r| holds(query.old[k].resolution_m, &r.pose, a, Some(b), query.dt))
            });
            match carried {
                Some(k) => ToDo::Carry(k),
                None if query.may_meet(*pair) => {
                    ToDo::Search(OctreePair::at(bodies, *pair, *levels, query.dt), *known)
                }
                None => ToDo::Nothing,
            }
        };
        let todo: Vec<ToDo> = known.par_iter().with_min_len(MANY).map(sort).collect();
        let mut out = Sorted::default();
        for todo in todo {
            match todo {
                ToDo::Carry(k) => out.carried.push(k),
                ToDo::Search(pair, known) => {
                    out.pairs.push(pair);
                    out.before.push(known);
                }
                ToDo::Nothing => {}
            }
        }
        out
    }

    /// The passes, where the settings want them.
    fn passes<'p, 'g>(
        passes: &'p mut Option<ContactSearch>,
        cx: &StepContext<'g>,
    ) -> Result<Option<OnDevice<'p, 'g>>, GpuError> {
        let Some((gpu, arena)) = cx.gpu.filter(|(gpu, _)| cx.settings.narrow.wants(gpu)) else {
            return Ok(None);
        };
        let search = match passes.take() {
            Some(search) => search,
            None => ContactSearch::new(gpu)?,
        };
        Ok(Some((passes.insert(search), (gpu, arena))))
    }

    /// Manifolds of pairs, on the CPU.
    fn search(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        record_of: &[Option<usize>],
    ) -> OfPairs {
        let before = Before::new(query.old, &self.records, record_of);
        let sorted = self.sort_out(query, before);
        cx.lap("broad phase");
        let hits = match sorted.pairs.is_empty() {
            true => Vec::new(),
            false => {
                find_hits(&sorted.pairs, query.bodies, &mut self.cache, cx.settings.dt, Some(&mut self.lists))
            }
        };
        cx.lap("narrow phase");
        let before = Before::new(query.old, &self.records, record_of);
        let pairs = sorted.pairs.iter().zip(&sorted.before);
        let found = pair_manifolds(pairs, &hits, query.bodies, &self.cache, before);
        OfPairs { found, carried: sorted.carried, searched: sorted.pairs.len() }
    }
}

impl ContactGenerator for OctreeGenerator {
    fn reach(&self, bodies: &[Body], detail: LevelOfDetail<'_>) -> Vec<f64> {
        reach(bodies, detail)
    }

    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], detail: LevelOfDetail<'_>) {
        let levels = Levels::new(bodies, detail);
        let level = |near: &mut NearPair| {
            let [i, j] = near.bodies;
            let own = levels.pair(i, j);
            near.resolution_m = cell_size(&bodies[i], own[0]).max(cell_size(&bodies[j], own[1]));
            (near.bodies, own)
        };
        pairs.par_iter_mut().with_min_len(MANY).map(level).collect_into_vec(&mut self.levels);
    }

    fn look_ahead(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        rounds: Option<u32>,
    ) -> Result<Option<Vec<NearPair>>, GpuError> {
        let Some((search, on)) = Self::passes(&mut self.passes, cx)? else { return Ok(None) };
        let record_of = self.records.of(query.old);
        let before = Before::new(query.old, &self.records, &record_of);
        let given = (before, cx.detail, &mut self.cache);
        let most = cx.settings.substeps.min(most_searches(query.old));
        let near = search.look_ahead(on, query, given, (rounds, most))?;
        cx.lap(PASSES);
        Ok(near.map(|(pairs, levels)| {
            self.levels = levels;
            pairs
        }))
    }

    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        let (bodies, old) = (query.bodies, query.old);
        let record_of = self.records.of(old);
        let before = Before::new(old, &self.records, &record_of);
        let answer = match Self::passes(&mut self.passes, cx)? {
            Some((search, on)) => search.find(on, query, (before, cx.detail, &mut self.cache))?,
            None => None,
        };
        let levels = Levels::new(bodies, cx.detail);
        let own: Vec<u32> = (0..bodies.len()).map(|i| levels.own(i)).collect();
        let (of_pairs, at_planes) = match &answer {
            Some(answer) => {
                cx.lap(PASSES);
                let of_pairs = answer.of_pairs(query, &self.cache, before);
                let look = &|ask: &PlaneAsk<'_>, number: usize, plane: &Plane, surfels: &Surfels| {
                    answer.at_plane(ask, number, plane, surfels)
                };
                (of_pairs, plane_manifolds(query, &own, &mut self.cache, before, look))
            }
            None => {
                let of_pairs = self.search(cx, query, &record_of);
                let before = Before::new(old, &self.records, &record_of);
                (of_pairs, plane_manifolds(query, &own, &mut self.cache, before, &descend_to))
            }
        };
        cx.report.pairs += of_pairs.searched;
        let OfPairs { mut found, carried, .. } = of_pairs;
        let AtPlanes { found: more, carried: still } = at_planes;
        found.extend(more);
        let carried = [carried, still].concat();

        let (manifolds, records) = found.into_iter().unzip();
        let resting = (0..old.len()).filter(|&k| old[k].rests(bodies));
        let known = carried.iter().copied().chain(resting).filter_map(|k| record_of[k]);
        self.records.renew(known, records);
        Ok(Found { manifolds, carried })
    }

    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        self.records.get(manifold.first, manifold.second).map(|record| record.collision_points)
    }

    fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.records.forget(id);
        self.lists.forget(id);
        self.cache.keep(|forest| left.iter().any(|b| Arc::ptr_eq(&b.def.octree().forest, forest)));
    }

    fn cleared(&mut self) {
        self.records = Records::default();
        self.lists = NeighbourLists::default();
        self.cache.keep(|_| false);
    }

    fn memory(&self) -> GeneratorMemory {
        Some(Arc::new(self.records.clone()))
    }

    fn recall(&mut self, memory: &GeneratorMemory) {
        let known = memory.as_ref().and_then(|memory| memory.downcast_ref::<Records>());
        self.records = known.cloned().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        PairLevels, StepReport, WorldSettings,
        broad_phase::bounds,
        context::StageClock,
        testing::{ball, block, body, by_octrees, grid, world},
    };
    use glam::{DVec3, Vec3};

    /// Of bodies that nothing is near no samples and tables are made.
    #[test]
    fn only_what_meets_is_sampled() {
        let small = Arc::new(block(4, [4; 3], [12; 3]));
        let large = Arc::new(ball(6, Vec3::splat(32.0), 28.0));
        let mut w = by_octrees(world(WorldSettings::default()));
        for i in 0..2 {
            w.add(body(&small, 0, grid(4, 1.0), 4, DVec3::Y * (0.5 * f64::from(i) + 9.0)));
        }
        w.add(body(&large, 0, grid(6, 5.0), 6, DVec3::X * 1000.0 + DVec3::Y * 9.0));
        let mut generator = OctreeGenerator::new(None).expect("no passes");
        let none = PairLevels::default();
        let detail = LevelOfDetail { pairs: &none, far: None };
        let mut pairs = [NearPair { bodies: [0, 1], way: 0.0, resolution_m: f64::MAX }];
        generator.begin(&w.bodies, &mut pairs, detail);
        assert_eq!(pairs[0].resolution_m, 1.0 / 16.0);
        let reach = generator.reach(&w.bodies, detail);
        let boxes: Vec<_> =
            w.bodies.iter().zip(reach).map(|(b, reach)| bounds(b, reach, 0.01, DVec3::ZERO)).collect();
        let planes = w.settings.planes();
        let query = ContactQuery {
            bodies: &w.bodies,
            pairs: &pairs,
            at_planes: &[0, 1, 2],
            planes: &planes,
            old: &[],
            boxes: &boxes,
            dt: 0.01,
        };
        let (mut report, mut clock) = (StepReport::default(), StageClock::new());
        let mut cx = StepContext {
            gpu: None,
            settings: &w.settings,
            detail,
            report: &mut report,
            clock: &mut clock,
            substeps: None,
        };
        let found = generator.find(&mut cx, &query).expect("on the CPU nothing fails").manifolds;
        assert_eq!((found.len(), report.pairs, generator.cache.entries.len()), (1, 1, 1));
        assert_eq!(generator.collision_points(&found[0]).map(|points| points > 3), Some(true));
        generator.cleared();
        assert!(generator.cache.entries.is_empty() && generator.collision_points(&found[0]).is_none());
    }
}
