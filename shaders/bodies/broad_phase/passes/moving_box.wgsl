// The box of a body that moves, as pairs.wgsl sees it. The same words as in crates/physics/src/broad_phase/passes/moving_box.rs.

struct MovingBox {
    // Box along the world's axes which it does not leave in the step, lattice of the scene.
    low: vec3<i32>,
    moves: u32,
    high: vec3<i32>,
    // Whether single precision can tell it apart as it is turned.
    measured: u32,
    // Its middle against that of the scene, m, and what rounding takes from it.
    centre: vec3<f32>,
    // How far its farthest point turns in the step, m.
    spin: f32,
    centre_rest: vec3<f32>,
    // Rows of the rotation to the world.
    turn_x: vec3<f32>,
    turn_y: vec3<f32>,
    turn_z: vec3<f32>,
    // Half its edges, m.
    half_edges: vec3<f32>,
    // How far it moves in the step, m.
    travel: vec3<f32>,
}
