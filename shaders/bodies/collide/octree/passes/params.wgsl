// What all contact passes take as numbers, and what they count. The same words as in
// crates/physics/src/collide/octree/passes/shared.rs.

struct ContactParams {
    solids: u32,
    tasks: u32,
    old: u32,
    // Entries of `tables` before the samples.
    given: u32,
    near_room: u32,
    nodes_room: u32,
    hits_room: u32,
    contacts_room: u32,
    chosen_room: u32,
    plane_nodes_room: u32,
    cells_room: u32,
    // Of the whole step, s.
    dt: f32,
    substeps: u32,
    // How often contacts are looked for in the step; 0: as the fastest pair needs.
    rounds: u32,
    // Boxes that are farther apart than they may come, m, still count as near.
    slack: f32,
    // Of one dispatch: level of the descent.
    level: u32,
}

// Counters beside those of the descent (pair.wgsl).
const NEAR: u32 = 13u;
const CONTACTS: u32 = 14u;
const CHOSEN: u32 = 15u;
const PLANE_NODES: u32 = 16u;
const CELLS: u32 = 27u;
// The fastest pair: the way it may go in the step, cells, as the bits of a float.
const FASTEST: u32 = 28u;
// By forest: levels of which there are no samples yet, a bit each.
const WANTED: u32 = 32u;
