//! The input of the contact passes: all data of the host before a search, in single precision.
//!
//! In: a query, the data of its manifolds, the levels of the step. Out: a [`SearchInput`], and the bodies and planes
//! that its indices refer to. Values from old manifolds are computed in double precision: how far a pair has moved
//! since, and how fast it moves now.
//!
//! # Bodies in the format of the contact passes
//!
//! In: bodies, their boxes, the levels of the step, the arena. Out: a [`Solid`] for each body with a box, in order of
//! body. Positions are relative to the middle of the scene and in two parts, so that they are exact far from the
//! world's origin; boxes are whole numbers of a lattice that covers the scene, rounded the same way for all, so that
//! boxes that overlap overlap there, too.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DMat3, DVec3};

use super::{
    super::{
        pair::{SurfelCache, cell_size},
        planes::PlaneAsk,
        records::Before,
        surfels::first_of_level,
    },
    search::SearchInput,
    shared::{LEVELS, NONE, Old, Slot, Solid, Task},
};
use crate::{
    Body, Family, LevelOfDetail, Obb, PairLevels,
    body::index_of,
    broad_phase::passes::moving_box::{FAR, Lattice, in_two, middle},
    collide::{
        ContactQuery, InOrder, MARGIN_CELLS, RelativePose, carry_way,
        octree::{Levels, planes::plane_asks},
        speed_between,
    },
    geometry::Aabb,
    svo::{Arena, Forest},
};

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

    /// Whether there is nothing to search: neither pairs nor bodies at planes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.wanted.pairs.as_ref().is_some_and(Vec::is_empty)
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
    // Other pairs are at rest, or hulls are their surface.
    let mut searched = wanted.pairs.is_some().then(|| InOrder::new(query.pairs, |pair| pair.bodies));
    for (k, manifold) in before.manifolds().iter().enumerate() {
        let index = |id| index_of(bodies, id);
        let (Some(i), Some(j)) = (index(manifold.first), manifold.second.and_then(index)) else { continue };
        if searched.as_mut().is_some_and(|searched| searched.find(&[i, j]).is_none()) {
            continue;
        }
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

/// All solids of a search.
#[derive(Default)]
pub struct Solids {
    /// By ascending body.
    pub items: Vec<Solid>,
    /// By solid: its body.
    pub bodies: Vec<usize>,
    /// By body: its solid, or [`NONE`].
    pub of_body: Vec<u32>,
    /// Forests, by the number that a solid has.
    pub forests: Vec<Arc<Forest>>,
    /// Levels of pairs of families: the smaller index, the larger, the level.
    pub given: Vec<u32>,
}

impl Solids {
    /// The solids of `bodies`; `None` if an octree is not in the arena.
    #[must_use]
    pub fn new(
        bodies: &[Body],
        boxes: &[Option<Obb>],
        levels: &Levels<'_>,
        pair_levels: &PairLevels,
        arena: &Arena,
    ) -> Option<Self> {
        let mut out = Self { of_body: vec![NONE; bodies.len()], ..Self::default() };
        let known =
            || bodies.iter().zip(boxes).enumerate().filter_map(|(k, (b, o))| Some((k, b, o.as_ref()?)));
        let middle = middle(known().map(|(_, body, _)| body.state.position));
        let lattice = Lattice::new(known().map(|(_, _, obb)| obb.aabb()));
        let (mut forests, mut families, mut siblings) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (k, body, obb) in known() {
            let octree = body.def.octree();
            let slot = arena.slot(&octree.forest)?;
            let forest = number(&mut forests, Arc::as_ptr(&octree.forest) as usize);
            if forest as usize == out.forests.len() {
                out.forests.push(Arc::clone(&octree.forest));
            }
            let family = number(&mut families, body.def.family);
            let grid =
                (octree.grid.level, octree.grid.origin.to_array().map(f64::to_bits), octree.grid.h.to_bits());
            let sibling = number(&mut siblings, (family, grid));
            let origin = body.world_from_grid().transform_point3(DVec3::ZERO) - middle;
            let [origin, origin_rest] = in_two(origin);
            // Rows of the rotation are columns of its transpose.
            let turn = DMat3::from_quat(body.state.rotation).transpose();
            let row = |v: DVec3| v.as_vec3().to_array();
            let Aabb { low, high } = obb.aabb();
            let Aabb { low: low_voxel, high: high_voxel } = octree.mass.bounds;
            let speed = |v: f64| v.min(FAR) as f32;
            out.of_body[k] = out.items.len() as u32;
            out.bodies.push(k);
            out.items.push(Solid {
                low: lattice.at(low),
                moves: u32::from(body.moves()),
                high: lattice.at(high),
                family,
                origin,
                voxel: octree.grid.h as f32,
                origin_rest,
                spin: speed(body.state.angular_velocity.length() * body.def.radius()),
                turn_x: row(turn.x_axis),
                own: levels.chosen(k),
                turn_y: row(turn.y_axis),
                shape: levels.shape(k),
                turn_z: row(turn.z_axis),
                leaf: octree.forest.level,
                velocity: row(body.state.linear_velocity.clamp(DVec3::splat(-FAR), DVec3::splat(FAR))),
                node_base: slot.node_base,
                middle: row(body.def.shape.centre()),
                root: octree.tree,
                half_box: row(obb.half),
                forest,
                low_voxel: row(low_voxel),
                leaf_base: slot.leaf_base,
                high_voxel: row(high_voxel),
                sibling,
            });
        }
        out.given = given(pair_levels, &families);
        Some(out)
    }

    /// The table for the look-up of levels and samples: the levels of pairs, then for each forest and level the index
    /// of its first sample and of its first node; these come from `sample`.
    #[must_use]
    pub fn tables(&self, sample: impl Fn(&Arc<Forest>, u32) -> [u32; 2]) -> Vec<u32> {
        let mut out = self.given.clone();
        for forest in &self.forests {
            out.extend((0..LEVELS as u32).flat_map(|level| match level <= forest.level {
                true => sample(forest, level),
                false => [NONE, 0],
            }));
        }
        out
    }
}

/// The number of a name: in the order in which they come.
fn number<K: Ord>(known: &mut BTreeMap<K, u32>, name: K) -> u32 {
    let next = known.len() as u32;
    *known.entry(name).or_insert(next)
}

fn given(pair_levels: &PairLevels, families: &BTreeMap<Family, u32>) -> Vec<u32> {
    let known =
        pair_levels.all().filter_map(|(a, b, level)| Some((*families.get(&a)?, *families.get(&b)?, level)));
    known.flat_map(|(a, b, level)| [a.min(b), a.max(b), level]).collect()
}
