//! Types of the contact passes and their host: structs of words, and the indices of counters. The same layouts as in
//! `shaders/bodies/collide/octree/passes/`.

use crate::gpu::{layout, shared};

/// A body as the passes see it (`solid.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Solid {
    /// Low corner of the box along the world's axes in which it stays for the step, lattice of the scene.
    pub low: [i32; 3],
    /// 1 where it moves.
    pub moves: u32,
    /// High corner.
    pub high: [i32; 3],
    /// Index of its family among those of the search.
    pub family: u32,
    /// Its grid's corner against the middle of the scene, m.
    pub origin: [f32; 3],
    /// Edge of a voxel, m.
    pub voxel: f32,
    /// Rounding error of `origin`, m.
    pub origin_rest: [f32; 3],
    /// How fast its farthest point turns, m/s.
    pub spin: f32,
    /// First row of the rotation to the world.
    pub turn_x: [f32; 3],
    /// Its own level.
    pub own: u32,
    /// Second row.
    pub turn_y: [f32; 3],
    /// The coarsest level at which it has a shape.
    pub shape: u32,
    /// Third row.
    pub turn_z: [f32; 3],
    /// Level of its leaves.
    pub leaf: u32,
    /// m/s.
    pub velocity: [f32; 3],
    /// First node of its forest in the arena.
    pub node_base: u32,
    /// Centre of mass, voxels.
    pub middle: [f32; 3],
    /// Its root.
    pub root: u32,
    /// Half its own box, m.
    pub half_box: [f32; 3],
    /// Index of its forest among those of the search.
    pub forest: u32,
    /// Bounds, voxels.
    pub low_voxel: [f32; 3],
    /// First leaf of its forest in the arena.
    pub leaf_base: u32,
    /// See `low_voxel`.
    pub high_voxel: [f32; 3],
    /// Equal for pieces of one object.
    pub sibling: u32,
}

layout!(Solid as "Solid" {
    low, moves, high, family, origin, voxel, origin_rest, spin, turn_x, own, turn_y, shape, turn_z, leaf,
    velocity, node_base, middle, root, half_box, forest, low_voxel, leaf_base, high_voxel, sibling
});

shared! {
    /// Parameters of all passes (`params.wgsl`).
    #[derive(Debug, Default)]
    pub struct ContactParams {
        /// Solids.
        solids: u32,
        /// Bodies at planes.
        tasks: u32,
        /// Manifolds of the last search.
        old: u32,
        /// Words of the table before the samples.
        given: u32,
        /// Room for near pairs.
        near_room: u32,
        /// Room for nodes of a level.
        nodes_room: u32,
        /// Room for hits.
        hits_room: u32,
        /// Room for contacts.
        contacts_room: u32,
        /// Room for chosen contacts.
        chosen_room: u32,
        /// Room for nodes of a level at planes.
        plane_nodes_room: u32,
        /// Room for cells at planes.
        cells_room: u32,
        /// Length of the whole step, s.
        dt: f32,
        /// Substeps a step.
        substeps: u32,
        /// Searches in the step; 0: as the fastest pair needs.
        rounds: u32,
        /// Boxes at this distance still count as near, m.
        slack: f32,
        /// Level of a descent.
        level: u32,
    }
}

/// A body at a plane (`task.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Task {
    /// Normal of the plane, body axes.
    pub normal: [f32; 3],
    /// How far the grid's corner is out of the plane's solid, m.
    pub distance: f32,
    /// Normal of the plane, world.
    pub facing: [f32; 3],
    /// Within which contacts are made by a body that does not move, m.
    pub margin: f32,
    /// First row of the rotation to the world.
    pub turn_x: [f32; 3],
    /// Edge of a voxel, m.
    pub voxel: f32,
    /// Second row.
    pub turn_y: [f32; 3],
    /// How fast its points move, m/s.
    pub speed: f32,
    /// Third row.
    pub turn_z: [f32; 3],
    /// First node of its forest in the arena.
    pub node_base: u32,
    /// Centre of mass, voxels.
    pub middle: [f32; 3],
    /// First leaf of its forest in the arena.
    pub leaf_base: u32,
    /// Its root.
    pub root: u32,
    /// Level at which it collides with planes.
    pub level: u32,
    /// Level of its leaves.
    pub leaf: u32,
    /// First node of its level; [`NONE`] for a crumb.
    pub first: u32,
}

layout!(Task as "Task" {
    normal, distance, facing, margin, turn_x, voxel, turn_y, speed, turn_z, node_base, middle, leaf_base, root, level,
    leaf, first
});

/// Cached data of a near pair, or of a body at a plane (`contact.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Slot {
    /// Edge of the larger cells, m.
    pub cell: f32,
    /// Within which contacts are made, m.
    pub margin: f32,
    /// A point that was not seen before may be no deeper, m.
    pub deepest: f32,
    /// Index of the first admitted point of the last search.
    pub seen: u32,
    /// How many.
    pub seen_count: u32,
    /// Index of the first contact point of the last search.
    pub known: u32,
    /// How many.
    pub known_count: u32,
    /// Unused.
    pub pad: u32,
}

layout!(Slot as "Slot" { cell, margin, deepest, seen, seen_count, known, known_count, pad });

/// A manifold of the last search (`meet.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Old {
    /// First solid.
    pub first: u32,
    /// Second solid.
    pub second: u32,
    /// Levels at which the bodies collided, packed; [`NONE`] without a record.
    pub levels: u32,
    /// Motion up to which it is valid, m.
    pub holds: f32,
    /// How fast points of one body move against the other, m/s.
    pub speed: f32,
    /// How far they have moved since, m.
    pub moved: f32,
    /// As in [`Slot`].
    pub seen: u32,
    /// See `seen`.
    pub seen_count: u32,
    /// See `seen`.
    pub known: u32,
    /// See `seen`.
    pub known_count: u32,
}

layout!(Old as "Old" { first, second, levels, holds, speed, moved, seen, seen_count, known, known_count });

/// Words of a contact, which only the passes look into.
pub const CONTACT_WORDS: usize = 16;

/// Counters. Nodes of each level of the descent come first.
pub const CANDIDATES: usize = 11;
/// Hits.
pub const HITS: usize = 12;
/// Near pairs.
pub const NEAR: usize = 13;
/// Collision points.
pub const CONTACTS: usize = 14;
/// Chosen ones.
pub const CHOSEN: usize = 15;
/// Nodes of each level of the descent at planes.
pub const PLANE_NODES: usize = 16;
/// Cells at planes.
pub const CELLS: usize = 27;
/// All that are lists' lengths.
pub const COUNTERS: usize = 28;
/// Motion of the fastest pair in the step, cells, as the bits of a float.
pub const FASTEST: usize = 28;
/// Index of the first flag word for levels without samples, a word per forest.
pub const WANTED: usize = 32;
/// Levels of a forest in the table of samples.
pub const LEVELS: usize = 13;
/// Marks a missing value.
pub const NONE: u32 = u32::MAX;
/// Beside the levels of a near pair: it is carried along.
pub const CARRIED: u32 = 256;
/// It was searched.
pub const SEARCHED: u32 = 512;
/// Beside the slot of a chosen contact: it was chosen as the deepest. A slot never has this bit, since a near pair
/// takes 16 bytes.
pub const AS_DEEPEST: u32 = 1 << 31;
