// A body as the contact passes see it, and what two of them are to each other. The same words as in
// crates/physics/src/collide/octree/passes/shared.rs. World space, metres; bodies' axes are their grids'.

struct Solid {
    // Box along the world's axes in which it stays for the step, lattice of the scene.
    low: vec3<i32>,
    moves: u32,
    high: vec3<i32>,
    family: u32,
    // The grid's corner against the middle of the scene, and what rounding takes from it.
    origin: vec3<f32>,
    // Edge of a voxel.
    voxel: f32,
    origin_rest: vec3<f32>,
    // How fast its farthest point turns, m/s.
    spin: f32,
    // Rows of the rotation to the world; levels: its own, the coarsest at which it has a shape, the leaves'.
    turn_x: vec3<f32>,
    own: u32,
    turn_y: vec3<f32>,
    shape: u32,
    turn_z: vec3<f32>,
    leaf: u32,
    velocity: vec3<f32>,
    // In the arena.
    node_base: u32,
    // Centre of mass, voxels.
    middle: vec3<f32>,
    root: u32,
    // Half its own box, m.
    half_box: vec3<f32>,
    forest: u32,
    // Bounds, voxels.
    low_voxel: vec3<f32>,
    leaf_base: u32,
    high_voxel: vec3<f32>,
    // Equal for pieces of one object.
    sibling: u32,
}

fn turned(s: Solid, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(s.turn_x, v), dot(s.turn_y, v), dot(s.turn_z, v));
}

fn turned_back(s: Solid, v: vec3<f32>) -> vec3<f32> {
    return s.turn_x * v.x + s.turn_y * v.y + s.turn_z * v.z;
}

// From the origin of a to that of b. What both parts have in common goes first, so that far from the middle of the scene
// nothing is lost.
fn between(a: Solid, b: Solid) -> vec3<f32> {
    return (b.origin - a.origin) + (b.origin_rest - a.origin_rest);
}

// How fast points of the two may come closer, m/s.
fn closing(a: Solid, b: Solid) -> f32 {
    return length(a.velocity - b.velocity) + a.spin + b.spin;
}

fn cell_of(s: Solid, level: u32) -> f32 {
    return s.voxel * f32(1u << (s.leaf - min(level, s.leaf)));
}
