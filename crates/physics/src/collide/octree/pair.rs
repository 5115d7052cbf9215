//! A pair of octrees and their levels, for the search and its passes.

use super::{MARGIN_CELLS, cells::first_of_level, surfel_cache::SurfelCache};
use crate::geometry::Aabb;
use crate::{Body, broad_phase::closer, svo::Arena};
use glam::{DMat4, DVec3};

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
