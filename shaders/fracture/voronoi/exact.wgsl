// Exact Voronoi tests in fixed point: 2^14 units a grid side at every level (so ties are the same
// everywhere). Nothing here leaves an i32. Seeds lie at most half a side outside the grid, in -2^13..=3*2^13, and
// points inside it, so one axis differs by at most 1.5*2^14 and a squared distance is at most 3 * 2.25 * 2^28 <
// 1.82e9 < 2^31; a difference of two such, both at least 0, is smaller still. Two seeds are at most 2^15 apart on
// an axis and a box below the root has an edge of at most 2^13, so edge * |s-r|_1 <= 3 * 2^28 < 0.81e9. The two are
// compared, never added.
//#include shared/octree

const UNIT_BITS: u32 = 14u;
// A pair's source when the whole node is inside the solid and has no stored node.
const INSIDE: u32 = 0xffffffffu;

// Whether an object may be several cells. Set when the pipeline is made: without local fracture the general code
// costs half as much again.
override merged: bool = true;

// One object meeting one octree node. An object is one Voronoi cell, or several that stay together (2016, sec.
// 4.7); `object` is its rank among the objects. Its candidates are a range of the list: every seed that can own a
// point of the node, the object's own first, each part by ascending index. No candidates: the whole node is the
// object's.
struct Pair {
    source: u32,
    object: u32,
    key: u32,
    list_first: u32,
    list_count: u32,
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

// Whether rival r owns every corner of a box against s, or some point of it. Exact for corners: |x-r|^2 - |x-s|^2
// is linear in x. A tie belongs to the lower seed index.
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
