//! Types of the contact passes and their host: structs of words, and the indices of counters. The same layouts as in
//! `shaders/bodies/collide/octree/passes/`.

use crate::gpu::shared;

shared! {
    /// A body as the passes see it (`solid.wgsl`).
    #[derive(Debug, Default, PartialEq)]
    pub struct Solid {
        /// Low corner of the box along the world's axes in which it stays for the step, lattice of the scene.
        low: [i32; 3],
        /// 1 where it moves.
        moves: u32,
        /// High corner.
        high: [i32; 3],
        /// Index of its family among those of the search.
        family: u32,
        /// Its grid's corner against the middle of the scene, m.
        origin: [f32; 3],
        /// Edge of a voxel, m.
        voxel: f32,
        /// Rounding error of `origin`, m.
        origin_rest: [f32; 3],
        /// How fast its farthest point turns, m/s.
        spin: f32,
        /// First row of the rotation to the world.
        turn_x: [f32; 3],
        /// Its own level.
        own: u32,
        /// Second row.
        turn_y: [f32; 3],
        /// The coarsest level at which it has a shape.
        shape: u32,
        /// Third row.
        turn_z: [f32; 3],
        /// Level of its leaves.
        leaf: u32,
        /// m/s.
        velocity: [f32; 3],
        /// First node of its forest in the arena.
        node_base: u32,
        /// Centre of mass, voxels.
        middle: [f32; 3],
        /// Its root.
        root: u32,
        /// Half its own box, m.
        half_box: [f32; 3],
        /// Index of its forest among those of the search.
        forest: u32,
        /// Bounds, voxels.
        low_voxel: [f32; 3],
        /// First leaf of its forest in the arena.
        leaf_base: u32,
        /// See `low_voxel`.
        high_voxel: [f32; 3],
        /// Equal for pieces of one object.
        sibling: u32,
    }

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

    /// A body at a plane (`task.wgsl`).
    #[derive(Debug, Default, PartialEq)]
    pub struct Task {
        /// Normal of the plane, body axes.
        normal: [f32; 3],
        /// How far the grid's corner is out of the plane's solid, m.
        distance: f32,
        /// Normal of the plane, world.
        facing: [f32; 3],
        /// Within which contacts are made by a body that does not move, m.
        margin: f32,
        /// First row of the rotation to the world.
        turn_x: [f32; 3],
        /// Edge of a voxel, m.
        voxel: f32,
        /// Second row.
        turn_y: [f32; 3],
        /// How fast its points move, m/s.
        speed: f32,
        /// Third row.
        turn_z: [f32; 3],
        /// First node of its forest in the arena.
        node_base: u32,
        /// Centre of mass, voxels.
        middle: [f32; 3],
        /// First leaf of its forest in the arena.
        leaf_base: u32,
        /// Its root.
        root: u32,
        /// Level at which it collides with planes.
        level: u32,
        /// Level of its leaves.
        leaf: u32,
        /// First node of its level; [`NONE`] for a crumb.
        first: u32,
    }

    /// Cached data of a near pair, or of a body at a plane (`contact.wgsl`).
    #[derive(Debug, Default, PartialEq)]
    pub struct Slot {
        /// Edge of the larger cells, m.
        cell: f32,
        /// Within which contacts are made, m.
        margin: f32,
        /// A point that was not seen before may be no deeper, m.
        deepest: f32,
        /// Index of the first admitted point of the last search.
        seen: u32,
        /// How many.
        seen_count: u32,
        /// Index of the first contact point of the last search.
        known: u32,
        /// How many.
        known_count: u32,
        /// Unused.
        pad: u32,
    }

    /// A manifold of the last search (`meet.wgsl`).
    #[derive(Debug, Default, PartialEq)]
    pub struct Old {
        /// First solid.
        first: u32,
        /// Second solid.
        second: u32,
        /// Levels at which the bodies collided, packed; [`NONE`] without a record.
        levels: u32,
        /// Motion up to which it is valid, m.
        holds: f32,
        /// How fast points of one body move against the other, m/s.
        speed: f32,
        /// How far they have moved since, m.
        moved: f32,
        /// As in [`Slot`].
        seen: u32,
        /// See `seen`.
        seen_count: u32,
        /// See `seen`.
        known: u32,
        /// See `seen`.
        known_count: u32,
    }
}

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
