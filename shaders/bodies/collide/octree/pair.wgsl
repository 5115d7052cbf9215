// Pairs, surfels and cells for the narrow phase. The same words as in crates/physics/src/collide/octree/pair.rs and
// surfels.rs.
//#include shared/octree

struct Directed {
    row_x: vec4<f32>,
    row_y: vec4<f32>,
    row_z: vec4<f32>,
    // Motion of a against b in the coming step, and the margin, cells of b.
    motion: vec3<f32>,
    margin: f32,
    // First node of the forest, root, level, what to add to a node's index to get its surfel's.
    a: vec4<u32>,
    b: vec4<u32>,
    // Bounds of b, cells of b.
    low: vec4<f32>,
    high: vec4<f32>,
}

// Counters: nodes at each level 0..10, then these.
const CANDIDATES: u32 = 11u;
const HITS: u32 = 12u;

fn to_b(pair: Directed, p: vec3<f32>) -> vec3<f32> {
    let q = vec4<f32>(p, 1.0);
    return vec3<f32>(dot(pair.row_x, q), dot(pair.row_y, q), dot(pair.row_z, q));
}

fn turn_to_b(pair: Directed, n: vec3<f32>) -> vec3<f32> {
    return normalize(vec3<f32>(dot(pair.row_x.xyz, n), dot(pair.row_y.xyz, n), dot(pair.row_z.xyz, n)));
}
