// Exact Voronoi tests in fixed point: 2^14 units a grid side at every level (design: ties are then the same everywhere).
// Seeds lie at most half a side outside the grid, so squared distances stay below 2^31 and fit an i32.
//#include shared/octree

const UNIT_BITS: u32 = 14u;
// A pair's source when the whole node is inside the solid and has no stored node.
const INSIDE: u32 = 0xffffffffu;

// One Voronoi cell meeting one octree node; `rivals` is a range of the rival list.
struct Pair {
    source: u32,
    cell: u32,
    key: u32,
    rival_first: u32,
    rival_count: u32,
}

fn distance2(a: vec3<i32>, b: vec3<i32>) -> i32 {
    let d = a - b;
    return d.x * d.x + d.y * d.y + d.z * d.z;
}

// Edge of a node at `level`, units.
fn node_edge(level: u32) -> i32 {
    return 1i << (UNIT_BITS - level);
}

fn node_low(key: u32, level: u32) -> vec3<i32> {
    return vec3<i32>(morton_decode(key)) * node_edge(level);
}

// Whether rival r owns every corner of a box against s, or some point of it. Exact for corners: |x-r|^2 - |x-s|^2 is linear in x.
// A tie belongs to the lower seed index.
struct Duel {
    lost: bool,
    contested: bool,
}

fn duel(s_index: u32, s: vec3<i32>, r_index: u32, r: vec3<i32>, centre: vec3<i32>, edge: i32) -> Duel {
    let difference = distance2(centre, r) - distance2(centre, s);
    let apart = abs(s - r);
    let reach = edge * (apart.x + apart.y + apart.z);
    let bias = select(0i, 1i, r_index < s_index);
    return Duel(difference < bias - reach, difference < bias + reach);
}
