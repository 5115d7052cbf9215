// Pairs of octrees that meet, and what the passes hand on. The same words as in
// crates/physics/src/collide/octree/overlap/gpu.rs. Lengths are cells of the first body, a, on whose lattice
// everything is gathered.

struct Meeting {
    // Rows of the affine map from cells of b to cells of a, and of its inverse.
    to_a_x: vec4<f32>,
    to_a_y: vec4<f32>,
    to_a_z: vec4<f32>,
    to_b_x: vec4<f32>,
    to_b_y: vec4<f32>,
    to_b_z: vec4<f32>,
    // Half the box that a cell of b takes up along the axes of a; and the volume of the smaller body's cell.
    half_box: vec4<f32>,
    // First node of the forest, root, level, what to add to a node's index to get its surfel's.
    a: vec4<u32>,
    b: vec4<u32>,
}

struct OverlapParams {
    round: u32,
    frontier: u32,
    raws: u32,
    means: u32,
    columns: u32,
    raw_mask: u32,
    mean_mask: u32,
    pad: u32,
}

// A point before it is averaged. `place`: Morton code of its lattice cell, and at bit 30 whose surface it is.
struct Raw {
    meeting: u32,
    place: u32,
    // From the cell's low corner.
    x: f32,
    y: f32,
    z: f32,
    nx: f32,
    ny: f32,
    nz: f32,
    weight: f32,
}

// An averaged point. `place` as in Raw; bit 31 says that it is of those that look against the lead.
struct Mean {
    meeting: u32,
    place: u32,
    x: f32,
    y: f32,
    z: f32,
    nx: f32,
    ny: f32,
    nz: f32,
}

// Counters: pairs of nodes in each round, then these.
const RAWS: u32 = 24u;
const MEANS: u32 = 25u;
const COLUMNS: u32 = 26u;
const LOST: u32 = 27u;

const INWARDS: f32 = 1e-3;
const LEAST_COSINE: f32 = 0.1;
// A table is at most half full; a longer search is an error that the host reports.
const NONE: u32 = 0xffffffffu;
const PROBES: u32 = 4096u;

fn rows(x: vec4<f32>, y: vec4<f32>, z: vec4<f32>, p: vec4<f32>) -> vec3<f32> {
    return vec3<f32>(dot(x, p), dot(y, p), dot(z, p));
}

fn cell_of(place: u32) -> vec3<u32> {
    return morton_decode(place & 0x3fffffffu);
}

fn owner_of(place: u32) -> u32 {
    return (place >> 30u) & 1u;
}

// Mixes two words.
fn hash(a: u32, b: u32) -> u32 {
    var h = (a * 0x9e3779b1u) ^ (b * 0x85ebca77u);
    h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12u)) * 0x297a2d39u;
    return h ^ (h >> 15u);
}
