// A body at a plane. The same words as in crates/physics/src/collide/octree/passes/shared.rs.

struct Task {
    // Of the plane, in the body's axes; how far the grid's corner is out of the plane's solid, m.
    normal: vec3<f32>,
    distance: f32,
    // Of the plane, world; distance within which contacts are made by a body that does not move, m.
    facing: vec3<f32>,
    margin: f32,
    // Rows of the rotation to the world.
    turn_x: vec3<f32>,
    // Edge of a voxel, m.
    voxel: f32,
    turn_y: vec3<f32>,
    // How fast its points move, m/s.
    speed: f32,
    turn_z: vec3<f32>,
    // In the arena.
    node_base: u32,
    // Centre of mass, voxels.
    middle: vec3<f32>,
    leaf_base: u32,
    root: u32,
    // At which it meets planes, and of its leaves.
    level: u32,
    leaf: u32,
    // First node of its level; NONE for a crumb, which stands on the corners of its voxels.
    first: u32,
}
