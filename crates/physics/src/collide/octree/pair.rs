//! A pair of octrees and their levels, for the search and its passes.
//!
//! # Surfels and cell tables of the forests whose bodies came near each other, made on first use
//!
//! # The surfels of all forests whose bodies came near each other, on the GPU

use std::{collections::BTreeMap, sync::Arc};

use glam::{DMat4, DVec3};
use rayon::prelude::*;

use super::{
    MARGIN_CELLS,
    cell_table::CellTable,
    surfels::{Surfel, Surfels, first_of_level},
};
use crate::{
    Body,
    broad_phase::closer,
    geometry::Aabb,
    gpu::{Buffer, Gpu, GpuError},
    svo::{Arena, Forest},
};

/// One direction of a pair for kernels: surfels of `a` are tested against `b`. The same layout as
/// `shaders/bodies/collide/octree/pair.wgsl`. Cells are those of each body's level in this pair.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Directed {
    /// Rows of the affine map from cells of a to cells of b.
    pub rows: [[f32; 4]; 3],
    /// Motion of a against b in the coming step, cells of b; and the margin, cells of b.
    pub motion: [f32; 3],
    /// See `motion`.
    pub margin: f32,
    /// First node of the forest in the arena, root, level, number to add to a node's index to get its
    /// surfel's.
    pub a: [u32; 4],
    /// The same data of `b`.
    pub b: [u32; 4],
    /// Bounds of b's cells, cells of b; the last word is not used.
    pub low: [f32; 4],
    /// See `low`.
    pub high: [f32; 4],
}

crate::gpu::layout!(Directed as "Directed" {
    rows: [row_x, row_y, row_z], motion, margin, a, b, low, high
});

/// Surfel `a` (twice its index, plus its side) of directed pair `pair` is near surfel `b`. Surfels are
/// counted from the start of their forest's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Hit {
    /// Directed pair.
    pub pair: u32,
    /// Surfel of a, and side.
    pub a: u32,
    /// Surfel of b.
    pub b: u32,
}

/// A pair of bodies (indices) and the levels at which they collide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OctreePair {
    /// Indices of the bodies, ascending.
    pub bodies: [usize; 2],
    /// Their levels.
    pub levels: [u32; 2],
    /// Distance within which contacts are made, m.
    pub margin: f64,
    /// How far they may come towards each other in the coming step, m.
    pub way: f64,
    /// Edge of the larger cells, m.
    pub cell: f64,
}

impl OctreePair {
    /// Bodies `i` and `j`, which collide at `levels`.
    #[must_use]
    pub fn at(bodies: &[Body], [i, j]: [usize; 2], levels: [u32; 2], dt: f64) -> Self {
        let cell = cell_size(&bodies[i], levels[0]).max(cell_size(&bodies[j], levels[1]));
        let way = closer(&bodies[i], &bodies[j], dt);
        Self { bodies: [i, j], levels, margin: MARGIN_CELLS * cell + way, way, cell }
    }

    /// As the bodies' own levels say.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn new(bodies: &[Body], i: usize, j: usize, dt: f64) -> Self {
        let none = crate::PairLevels::default();
        let detail = crate::LevelOfDetail { pairs: &none, far: None };
        Self::at(bodies, [i, j], super::Levels::new(bodies, detail).pair(i, j), dt)
    }

    /// First nodes of the levels of a and b, for both directions.
    #[cfg(test)]
    #[must_use]
    pub fn firsts(&self, bodies: &[Body]) -> [[u32; 2]; 2] {
        let first = |s: usize| first_of_level(&bodies[self.bodies[s]].def.octree().forest, self.levels[s]);
        [[first(0), first(1)], [first(1), first(0)]]
    }

    /// Whether the octrees of both bodies are in the arena.
    #[must_use]
    pub fn is_resident(&self, bodies: &[Body], arena: &Arena) -> bool {
        self.bodies.iter().all(|k| arena.slot(&bodies[*k].def.octree().forest).is_some())
    }

    /// Both directions, first a = lower body, as made by `meet.wgsl`; the octrees are in the arena.
    #[cfg(test)]
    #[must_use]
    pub fn directed(
        &self,
        bodies: &[Body],
        arena: &Arena,
        cache: &mut SurfelCache,
        dt: f64,
    ) -> [Directed; 2] {
        let mut both = self.geometry(bodies, dt);
        let at = [0, 1].map(|s| place_on_gpu(&bodies[self.bodies[s]], self.levels[s], arena, cache));
        for (d, record) in both.iter_mut().enumerate() {
            (record.a, record.b) = (at[d], at[1 - d]);
        }
        both
    }

    /// Both directions, without the places of nodes and surfels on the GPU.
    pub(super) fn geometry(&self, bodies: &[Body], dt: f64) -> [Directed; 2] {
        let to_world = [0, 1].map(|s| cells_to_world(&bodies[self.bodies[s]], self.levels[s]));
        let from_world = to_world.map(|m| m.inverse());
        [0, 1].map(|d| {
            let (a, b) = (&bodies[self.bodies[d]], &bodies[self.bodies[1 - d]]);
            let (level_a, level_b) = (self.levels[d], self.levels[1 - d]);
            let map = (from_world[1 - d] * to_world[d]).transpose();
            let row = |r: glam::DVec4| r.as_vec4().to_array();
            let motion = from_world[1 - d].transform_vector3(motion(a, b, dt));
            let tree = |body: &Body, level: u32| [0, body.def.octree().tree, level, 0];
            let Aabb { low, high } = b.def.octree().mass.bounds;
            let voxels = f64::from(1u32 << (b.def.octree().forest.level - level_b));
            let cells = |p: DVec3| p.as_vec3().extend(0.0).to_array();
            Directed {
                // Bounds of the cells, which may be larger than the voxels in them.
                low: cells((low / voxels).floor()),
                high: cells((high / voxels).ceil()),
                rows: [row(map.x_axis), row(map.y_axis), row(map.z_axis)],
                motion: motion.as_vec3().to_array(),
                margin: (self.margin / cell_size(b, level_b)) as f32,
                a: tree(a, level_a),
                b: tree(b, level_b),
            }
        })
    }
}

/// First node of the forest in the arena, root, level, number to add to a node's index to get its surfel's.
pub fn place_on_gpu(body: &Body, level: u32, arena: &Arena, cache: &mut SurfelCache) -> [u32; 4] {
    let octree = body.def.octree();
    let nodes = arena.slot(&octree.forest).map_or(0, |slot| slot.node_base);
    let surfels = cache.get(&octree.forest, level).gpu_base;
    [nodes, octree.tree, level, surfels.wrapping_sub(first_of_level(&octree.forest, level))]
}

/// Whether both are pieces of one object.
#[must_use]
pub fn are_siblings(a: &Body, b: &Body) -> bool {
    a.def.family == b.def.family && a.def.octree().grid == b.def.octree().grid
}

/// Edge of a cell of `level`, m.
#[must_use]
pub fn cell_size(body: &Body, level: u32) -> f64 {
    body.def.octree().cell_size(level)
}

/// Cells of `level` to world metres.
pub fn cells_to_world(body: &Body, level: u32) -> DMat4 {
    let scale = f64::from(1u32 << (body.def.octree().forest.level - level));
    body.world_from_grid() * DMat4::from_scale(DVec3::splat(scale))
}

/// How much closer a point of `a` and one of `b` may come in the coming `dt`, as a vector: along the relative
/// motion of the centres, made longer by rotation.
fn motion(a: &Body, b: &Body, dt: f64) -> DVec3 {
    let v = a.state.linear_velocity - b.state.linear_velocity;
    let speed = v.length();
    let towards = b.state.position - a.state.position;
    let direction = if speed > 1e-9 { v / speed } else { towards.normalize_or_zero() };
    direction * closer(a, b, dt)
}

/// Fewer pairs are not worth a second thread.
const MANY: usize = 256;

/// The samples of one forest at one level.
#[derive(Clone, Debug)]
pub struct CachedSurfels {
    /// The forest; held, so that its address names it.
    pub forest: Arc<Forest>,
    /// Its surfels.
    pub surfels: Arc<Surfels>,
    /// Index of the first in the GPU's surfel buffer, once they are there.
    pub gpu_base: u32,
}

/// Surfels by forest and level, built on first use.
#[derive(Debug, Default)]
pub struct SurfelCache {
    /// Keyed by address of the forest and level. Iterated only to fill the GPU's buffer, whose order does not affect
    /// results.
    pub entries: BTreeMap<(usize, u32), CachedSurfels>,
    /// Keyed by address of the forest (which an entry holds), tree and level.
    tables: BTreeMap<(usize, u32, u32), Option<CellTable>>,
    /// Whether the GPU's buffer is behind.
    pub stale: bool,
}

impl SurfelCache {
    /// The surfels of `forest` at `level`.
    pub fn get(&mut self, forest: &Arc<Forest>, level: u32) -> &CachedSurfels {
        let key = (Arc::as_ptr(forest) as usize, level);
        let stale = &mut self.stale;
        self.entries.entry(key).or_insert_with(|| {
            *stale = true;
            CachedSurfels {
                forest: Arc::clone(forest),
                surfels: Arc::new(Surfels::build(forest, level)),
                gpu_base: 0,
            }
        })
    }

    /// The cached surfels of `forest` at `level`.
    #[must_use]
    pub fn entry(&self, forest: &Arc<Forest>, level: u32) -> Option<&CachedSurfels> {
        self.entries.get(&(Arc::as_ptr(forest) as usize, level))
    }

    /// The surfels of `forest` at `level`, if they are cached.
    #[must_use]
    pub fn known(&self, forest: &Arc<Forest>, level: u32) -> Option<&Surfels> {
        self.entry(forest, level).map(|cached| &*cached.surfels)
    }

    /// Makes the surfels and flat tables of these pairs that are not there yet, on all cores.
    pub fn tabulate(&mut self, pairs: &[OctreePair], bodies: &[Body]) {
        let tables = &self.tables;
        let wanted = |pair: &OctreePair| {
            let sides = pair.bodies.map(|k| &bodies[k]).into_iter().zip(pair.levels);
            sides.filter(|(body, level)| !tables.contains_key(&table_key(body, *level))).collect::<Vec<_>>()
        };
        let lacks = pairs.par_iter().with_min_len(MANY).flat_map_iter(wanted).collect::<Vec<_>>();
        let mut missing = BTreeMap::new();
        for (body, level) in lacks {
            self.get(&body.def.octree().forest, level);
            missing.insert(table_key(body, level), (body, level));
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let build = |(body, level): (&Body, u32)| {
            CellTable::build(
                &body.def.octree().forest,
                body.def.octree().tree,
                level,
                body.def.octree().mass.bounds,
            )
        };
        let made: Vec<_> = missing.into_par_iter().map(|(key, work)| (key, build(work))).collect();
        self.tables.extend(made);
    }

    /// The flat table of a body's cells at `level`, if it is small enough to have one and is cached.
    #[must_use]
    pub fn table(&self, body: &Body, level: u32) -> Option<&CellTable> {
        self.tables.get(&table_key(body, level)).and_then(Option::as_ref)
    }

    /// Forgets forests that no body uses.
    pub fn keep(&mut self, mut used: impl FnMut(&Arc<Forest>) -> bool) {
        let before = self.entries.len();
        self.entries.retain(|_, cached| used(&cached.forest));
        self.stale |= before != self.entries.len();
        let entries = &self.entries;
        self.tables.retain(|&(forest, _, level), _| entries.contains_key(&(forest, level)));
    }
}

fn table_key(body: &Body, level: u32) -> (usize, u32, u32) {
    (Arc::as_ptr(&body.def.octree().forest) as usize, body.def.octree().tree, level)
}

/// One buffer for all; a forest's first index is `CachedSurfels::gpu_base`.
pub struct SurfelBuffer {
    surfels: Buffer<Surfel>,
    uploaded: bool,
}

impl SurfelBuffer {
    /// Empty.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { surfels: Buffer::zeroed(gpu, "surfels", 1)?, uploaded: false })
    }

    /// Brings the surfels that these pairs need to the GPU. A cache fills one buffer only: it notes where in
    /// it its surfels are.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn prepare(
        &mut self,
        gpu: &Gpu,
        pairs: &[OctreePair],
        bodies: &[Body],
        cache: &mut SurfelCache,
    ) -> Result<(), GpuError> {
        for pair in pairs {
            for (&body, level) in pair.bodies.iter().zip(pair.levels) {
                cache.get(&bodies[body].def.octree().forest, level);
            }
        }
        self.upload(gpu, cache)
    }

    /// Brings all surfels of the cache to the GPU that are not there yet.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn upload(&mut self, gpu: &Gpu, cache: &mut SurfelCache) -> Result<(), GpuError> {
        if !cache.stale && self.uploaded {
            return Ok(());
        }
        let total: usize = cache.entries.values().map(|s| s.surfels.items.len()).sum();
        if total > self.surfels.len() {
            self.surfels = Buffer::zeroed(gpu, "surfels", total + total / 2)?;
        }
        let mut base = 0;
        for cached in cache.entries.values_mut() {
            self.surfels.write(gpu, base, &cached.surfels.items);
            cached.gpu_base = base as u32;
            base += cached.surfels.items.len();
        }
        cache.stale = false;
        self.uploaded = true;
        Ok(())
    }

    /// The surfels.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<Surfel> {
        &self.surfels
    }
}
