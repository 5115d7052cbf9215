// A collision point on its way to a manifold, and what it is held against. The same words as in
// crates/physics/src/collide/octree/passes/shared.rs.

struct Contact {
    // Bodies at planes first, then near pairs.
    slot: u32,
    // Direction of the pair (bit 31), surfel and side; at planes the surfel, of crumbs eight times the leaf and the corner.
    key: u32,
    // Surfel of the other body.
    other: u32,
    state: u32,
    // Where it is, in axes of the world: against the origin of the first body.
    position: vec3<f32>,
    separation: f32,
    // From the second body, or the plane, to the first.
    normal: vec3<f32>,
    // To the plane of the other's surfel, cells; 0 at planes.
    gap: f32,
    // In voxels of the solid whose surface it met.
    voxel: vec3<f32>,
    solid: u32,
}

const OPEN: u32 = 0u;
// Let in, and loyal: among the points that held the pair before.
const LET_IN: u32 = 1u;
const LOYAL: u32 = 2u;
const DROPPED: u32 = 4u;

// What is known of a near pair, or of a body at a plane.
struct Slot {
    // Edge of the larger cells, m.
    cell: f32,
    // Distance within which contacts are made, m.
    margin: f32,
    // A point that was not seen before may be no deeper, m.
    deepest: f32,
    // In `before`: points that were let in before (key, separation), ascending; how many.
    seen: u32,
    seen_count: u32,
    // In `before`: points that held the pair (key); how many.
    known: u32,
    known_count: u32,
    pad: u32,
}
