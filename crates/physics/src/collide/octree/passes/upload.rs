//! The input of the contact passes: all data of the host before a search, in single precision.
//!
//! In: a query, the data of its manifolds, the levels of the step. Out: a [`SearchInput`], and the bodies and planes
//! that its indices refer to. Values from old manifolds are computed in double precision: how far a pair has moved
//! since, and how fast it moves now.

use super::{
    super::{
        cells::first_of_level, pair::cell_size, planes::PlaneAsk, records::Before, surfel_cache::SurfelCache,
    },
    search::SearchInput,
    shared::{NONE, Old, Slot, Task},
    solids::Solids,
};
use crate::{
    LevelOfDetail,
    body::index_of,
    collide::{
        ContactQuery, MARGIN_CELLS, RelativePose, carry_way,
        octree::{Levels, planes::plane_asks},
        speed_between,
    },
    svo::{Arena, Forest},
};
use glam::{DMat3, DVec3};
use std::sync::Arc;

/// A question, and what its numbers mean.
pub struct Upload {
    /// Input of the passes.
    pub wanted: SearchInput,
    /// Bodies.
    pub solids: Solids,
    /// By task: body and number of the plane.
    pub tasks: Vec<[usize; 2]>,
}

/// Number of contact searches in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// As the fastest near pair needs, with this maximum.
    AsNeeded(u32),
    /// So often.
    Known(u32),
}

impl Upload {
    /// The input for all pairs of `query`, or, with `finds_pairs`, for all near pairs that the passes find. `dt` of the
    /// query is that of the whole step. `None` if an octree is not in the arena.
    #[must_use]
    pub fn new(
        query: &ContactQuery<'_>,
        before: Before<'_>,
        detail: LevelOfDetail<'_>,
        arena: &Arena,
        (finds_pairs, rounds): (bool, Rounds),
    ) -> Option<Self> {
        let levels = Levels::new(query.bodies, detail);
        let solids = Solids::new(query.bodies, query.boxes, &levels, detail.pairs, arena)?;
        let (rounds, substeps) = match rounds {
            Rounds::AsNeeded(substeps) => (0, substeps),
            Rounds::Known(rounds) => (rounds, rounds),
        };
        let solid = |k: usize| solids.of_body[k];
        let pairs = (!finds_pairs).then(|| {
            let each = query.pairs.iter().map(|pair| pair.bodies.map(solid));
            each.filter(|pair| !pair.contains(&NONE)).collect()
        });
        let mut wanted = SearchInput {
            solids: solids.items.clone(),
            given: solids.given.len(),
            forests: solids.forests.len(),
            pairs,
            dt: query.dt as f32,
            substeps,
            rounds,
            ..SearchInput::default()
        };
        add_old(&mut wanted, query, before, &solids);
        let tasks = add_tasks(&mut wanted, query, before, &levels, &solids);
        Some(Self { wanted, solids, tasks })
    }

    /// Writes where the samples made so far are.
    pub fn look_up(&mut self, cache: &SurfelCache) {
        self.wanted.tables = self.solids.tables(|forest: &Arc<Forest>, level| {
            let base = cache.entry(forest, level).map_or(NONE, |cached| cached.gpu_base);
            [base, first_of_level(forest, level)]
        });
    }
}

/// A name of a point of a pair, which in [`super::super::points`] has the direction in bit 32, in 32 bits.
#[must_use]
pub fn packed(key: u64) -> u32 {
    ((key >> 32) as u32) << 31 | key as u32
}

/// Inverse of [`packed`].
#[must_use]
pub fn unpacked(key: u32) -> u64 {
    u64::from(key >> 31) << 32 | u64::from(key & 0x7fff_ffff)
}

/// Both levels of a pair in one word.
#[must_use]
pub fn packed_levels(levels: [u32; 2]) -> u32 {
    levels[0] | levels[1] << 4
}

fn add_old(wanted: &mut SearchInput, query: &ContactQuery<'_>, before: Before<'_>, solids: &Solids) {
    let bodies = query.bodies;
    for (k, manifold) in before.manifolds().iter().enumerate() {
        let index = |id| index_of(bodies, id);
        let (Some(i), Some(j)) = (index(manifold.first), manifold.second.and_then(index)) else { continue };
        let [first, second] = [i, j].map(|k| solids.of_body[k]);
        if first == NONE || second == NONE {
            continue;
        }
        let (a, b) = (&bodies[i], &bodies[j]);
        let mut old = Old { first, second, levels: NONE, ..Old::default() };
        if let Some(record) = before.record(k) {
            let radius = a.def.radius().min(b.def.radius());
            let (holds, speed) = (carry_way(manifold.resolution_m), speed_between(a, Some(b)));
            let moved = RelativePose::new(a, Some(b)).way(&record.pose, radius);
            old.levels = packed_levels(record.levels);
            (old.holds, old.speed, old.moved) = (holds as f32, speed as f32, moved as f32);
            // Manifolds that are certainly valid are not searched.
            if speed * query.dt > holds || moved > holds {
                old.seen = wanted.before.len() as u32;
                old.seen_count = record.seen.len() as u32;
                let words =
                    record.seen.iter().flat_map(|(key, depth)| [packed(*key), (*depth as f32).to_bits()]);
                wanted.before.extend(words);
            }
        }
        old.known = wanted.before.len() as u32;
        old.known_count = manifold.points.len() as u32;
        wanted.before.extend(manifold.points.iter().map(|p| packed(p.key)));
        wanted.old.push(old);
    }
}

fn add_tasks(
    wanted: &mut SearchInput,
    query: &ContactQuery<'_>,
    before: Before<'_>,
    levels: &Levels<'_>,
    solids: &Solids,
) -> Vec<[usize; 2]> {
    let mut tasks = Vec::new();
    for ask in plane_asks(query, &|k| levels.own(k), before) {
        let solid = solids.of_body[ask.index];
        if solid == NONE || ask.is_carried {
            continue;
        }
        let solid = &solids.items[solid as usize];
        for (number, plane) in ask.planes(query.planes) {
            let known = wanted.before.len();
            wanted.before.extend(ask.known_at(number).map(|p| p.key as u32));
            let cell = cell_size(ask.body, ask.level);
            wanted.task_slots.push(Slot {
                cell: cell as f32,
                deepest: f32::MIN,
                known: known as u32,
                known_count: (wanted.before.len() - known) as u32,
                ..Slot::default()
            });
            let forest = &ask.body.def.octree().forest;
            let in_body = DMat3::from_quat(ask.body.state.rotation).transpose() * plane.normal;
            let corner = ask.body.world_from_grid().transform_point3(DVec3::ZERO);
            wanted.tasks.push(Task {
                normal: in_body.as_vec3().to_array(),
                distance: plane.distance(corner) as f32,
                facing: plane.normal.as_vec3().to_array(),
                margin: (MARGIN_CELLS * cell) as f32,
                turn_x: solid.turn_x,
                voxel: solid.voxel,
                turn_y: solid.turn_y,
                speed: PlaneAsk::speed(ask.body) as f32,
                turn_z: solid.turn_z,
                node_base: solid.node_base,
                middle: solid.middle,
                leaf_base: solid.leaf_base,
                root: solid.root,
                level: ask.level,
                leaf: solid.leaf,
                first: if ask.body.def.is_crumb() { NONE } else { first_of_level(forest, ask.level) },
            });
            tasks.push([ask.index, number]);
        }
    }
    tasks
}
