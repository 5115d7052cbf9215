// The cell that a workgroup cuts, in its memory: planes, vertices, edges, and sets of them as masks of bits; on which
// side of a plane a vertex lies. The native twin is crates/core/src/fracture/box_cut/cut.rs; what is exact is in exact.rs there.
//
// A place in an order is a count of the bits below, so that nothing depends on which thread comes first.
//#include fracture/box_cut/pass/wide

// Threads a cell: a cell has some 26 vertices and 40 edges, so 256 would mostly wait. Once in Rust: pass/mod.rs.
const THREADS: u32 = 32u;

// Room of a cell, with at most twice as many vertices and three times as many edges as planes (Euler). Planes without a
// face stay. Random sites need about half of it; what finds no room is cut by the twin.
const PLANES: u32 = 64u;
const VERTICES: u32 = 128u;
const EDGES: u32 = 192u;
const NONE: u32 = 0xffffffffu;

// A half-space `normal . y <= limit` in the coordinates of the cell, y = 2 (x - site). The six walls of the box come
// first.
var<workgroup> normals: array<vec3<i32>, PLANES>;
var<workgroup> limits: array<vec2<u32>, PLANES>;
// What lies beyond: a site; nothing of walls.
var<workgroup> beyond: array<u32, PLANES>;

// Three planes of a vertex, a byte each, the first one lowest; its rounded place and its squared distance from the
// site, rounded up (all zero of those that are gone); when it was made, as a number that ascends.
var<workgroup> threes: array<u32, VERTICES>;
var<workgroup> places: array<vec4<f32>, VERTICES>;
var<workgroup> births: array<u32, VERTICES>;
var<workgroup> alive: array<u32, 4>;

// Two lists of edges: one is read while the other is written. A byte each, from the lowest: two vertices, then two
// planes. Seen from outside, the ring of the first plane goes from the first vertex to the second counter-clockwise.
var<workgroup> edges: array<u32, 384>;

// Sets, each twice: those of one cut are emptied during the next one.
var<workgroup> masks: array<atomic<u32>, 76>;
const SET_WORDS: u32 = 38u;
// Of vertices: outside of the new plane, on it, made by it.
const OUTSIDE: u32 = 0u;
const TOUCHING: u32 = 4u;
const FRESH: u32 = 8u;
// Of edges: not dropped; split.
const STAYS: u32 = 12u;
const SPLITS: u32 = 18u;
// Of planes: whose face has a vertex inside.
const INSIDE: u32 = 24u;
// Of reports, two an edge: the first one to a plane that gets a new edge.
const ORDER: u32 = 26u;

// The first neighbour of a batch that may cut.
var<workgroup> next: atomic<u32>;
// Whether any vertex is outside of the plane that is asked about (1), or on it (2).
var<workgroup> verdict: atomic<u32>;
// The farthest vertex: squared distance rounded up, as bits of a float.
var<workgroup> farthest: atomic<u32>;
// Of every plane, where the new one leaves its face and where it enters it: a vertex, and in the upper half the number
// of the report.
var<workgroup> exits: array<u32, PLANES>;
var<workgroup> entries: array<u32, PLANES>;
// Places for new vertices; at the end the number of every vertex.
var<workgroup> names: array<u32, VERTICES>;

fn put(mask: u32, i: u32) {
    atomicOr(&masks[mask + (i >> 5u)], 1u << (i & 31u));
}

fn has(mask: u32, i: u32) -> bool {
    return ((atomicLoad(&masks[mask + (i >> 5u)]) >> (i & 31u)) & 1u) != 0u;
}

fn count_below(mask: u32, i: u32) -> u32 {
    var count = 0u;
    for (var w = 0u; w < (i >> 5u); w++) {
        count += countOneBits(atomicLoad(&masks[mask + w]));
    }
    if (i & 31u) != 0u {
        count += countOneBits(atomicLoad(&masks[mask + (i >> 5u)]) & ((1u << (i & 31u)) - 1u));
    }
    return count;
}

fn is_alive(v: u32) -> bool {
    return ((alive[v >> 5u] >> (v & 31u)) & 1u) != 0u;
}

// One beyond the last vertex that is there.
fn alive_end() -> u32 {
    var end = 0u;
    for (var w = 0u; w < 4u; w++) {
        end = select(end, 32u * w + 32u - countLeadingZeros(alive[w]), alive[w] != 0u);
    }
    return end;
}

fn alive_count() -> u32 {
    return countOneBits(alive[0]) + countOneBits(alive[1]) + countOneBits(alive[2]) + countOneBits(alive[3]);
}

// Numerators (each at most 69 bits) over a denominator above zero (51 bits).
struct Exact {
    x: vec3<u32>,
    y: vec3<u32>,
    z: vec3<u32>,
    denominator: vec2<u32>,
}

fn cross_part(a: i32, b: i32, c: i32, d: i32) -> vec2<u32> {
    return sum2(product2(a, d), negated2(product2(b, c)));
}

struct Cross {
    x: vec2<u32>,
    y: vec2<u32>,
    z: vec2<u32>,
}

fn crossed(a: vec3<i32>, b: vec3<i32>) -> Cross {
    return Cross(cross_part(a.y, a.z, b.y, b.z), cross_part(a.z, a.x, b.z, b.x), cross_part(a.x, a.y, b.x, b.y));
}

// Where three planes meet, by Cramer's rule.
fn exact_vertex(three: u32) -> Exact {
    let i = three & 0xffu;
    let j = (three >> 8u) & 0xffu;
    let k = (three >> 16u) & 0xffu;
    let a = normals[i];
    let bc = crossed(normals[j], normals[k]);
    let ca = crossed(normals[k], a);
    let ab = crossed(a, normals[j]);
    let denominator = sum2(sum2(scaled2(bc.x, a.x), scaled2(bc.y, a.y)), scaled2(bc.z, a.z));
    let flip = is_negative2(denominator);
    // The sign goes to the limits, of which there are fewer.
    let da = select(limits[i], negated2(limits[i]), flip);
    let db = select(limits[j], negated2(limits[j]), flip);
    let dc = select(limits[k], negated2(limits[k]), flip);
    return Exact(
        sum3(sum3(product3(bc.x, da), product3(ca.x, db)), product3(ab.x, dc)),
        sum3(sum3(product3(bc.y, da), product3(ca.y, db)), product3(ab.y, dc)),
        sum3(sum3(product3(bc.z, da), product3(ca.z, db)), product3(ab.z, dc)),
        absolute2(denominator),
    );
}

// -1 inside, 0 on the plane, 1 outside.
fn exact_side(three: u32, normal: vec3<i32>, limit: vec2<u32>) -> i32 {
    let at = exact_vertex(three);
    let dot = sum3(sum3(scaled3(at.x, normal.x), scaled3(at.y, normal.y)), scaled3(at.z, normal.z));
    return sign3(sum3(dot, negated3(product3(at.denominator, limit))));
}

// A squared distance that is surely not too small: raised by 2^-16, more than twice what the coordinates may be off by
// and the roundings of its own.
fn raised(squared_distance: f32) -> f32 {
    return squared_distance * 1.0000153;
}

// Rounds the vertex `v`, whose three planes are known. Its coordinates are off by less than 2^-19 of themselves: 2^-21
// for either whole number and 2.5 units in the last place for the division.
fn place_vertex(v: u32) {
    let at = exact_vertex(threes[v]);
    let place = vec3<f32>(rounded3(at.x), rounded3(at.y), rounded3(at.z)) / rounded2(at.denominator);
    places[v] = vec4<f32>(place, raised(dot(place, place)));
}

// How far outside of a plane the vertex `v` lies, and by how much that may be off. Each of the three products is off by
// 2^-19 of itself for the place; 2^-21 of the limit is lost in rounding it; two units in the last place for each of the
// products and sums, in whatever order, fused or not, are 2^-20 of all of them. That is less than 2^-18 of the sum of
// all sizes; the bound is twice that, which pays for its own roundings. A vertex that is gone lies in the site, inside
// of every bisector.
fn outside_by(v: u32, normal: vec3<f32>, limit: f32) -> vec2<f32> {
    let terms = normal * places[v].xyz;
    let sizes = abs(terms);
    return vec2<f32>(
        terms.x + terms.y + terms.z - limit,
        0.00000762939453125 * (sizes.x + sizes.y + sizes.z + abs(limit)),
    );
}

// -1 inside of a plane, 0 on it, 1 outside: by floats where these cannot err, else by whole numbers.
fn side_of(v: u32, normal: vec3<i32>, limit: vec2<u32>) -> i32 {
    let by = outside_by(v, vec3<f32>(normal), rounded2(limit));
    if abs(by.x) > by.y {
        return select(-1i, 1i, by.x > 0.0);
    }
    return exact_side(threes[v], normal, limit);
}

// The box from `low` to `high`, seen from a site: walls, corners, edges, in the order of the twin.
fn start_as_box(local: u32, site: vec3<i32>, low: vec3<i32>, high: vec3<i32>) {
    for (var m = local; m < 2u * SET_WORDS; m += THREADS) {
        atomicStore(&masks[m], 0u);
    }
    if local < 6u {
        let axis = local >> 1u;
        let is_high = (local & 1u) != 0u;
        var normal = vec3<i32>(0i);
        normal[axis] = select(-1i, 1i, is_high);
        normals[local] = normal;
        limits[local] = wide2(2i * select(site[axis] - low[axis], high[axis] - site[axis], is_high));
        beyond[local] = NONE;
    }
    if local < 4u {
        alive[local] = select(0u, 0xffu, local == 0u);
    }
    if local == 0u {
        atomicStore(&verdict, 0u);
        atomicStore(&next, NONE);
        atomicStore(&farthest, 0u);
    }
    workgroupBarrier();
    if local < 8u {
        let side = vec3<u32>(local & 1u, (local >> 1u) & 1u, local >> 2u);
        threes[local] = side.x | ((2u + side.y) << 8u) | ((4u + side.z) << 16u);
        births[local] = local;
        // Whole numbers below 2^18, so exact.
        let corner = vec3<f32>(2i * (select(low, high, side == vec3<u32>(1u)) - site));
        places[local] = vec4<f32>(corner, raised(dot(corner, corner)));
        atomicMax(&farthest, bitcast<u32>(places[local].w));
    }
    if local < 12u {
        let axis = local >> 2u;
        let next = (axis + 1u) % 3u;
        let last = (axis + 2u) % 3u;
        // Round the axis: (0, 0), (1, 0), (1, 1), (0, 1).
        let b = (local & 3u) >> 1u;
        let a = (local & 1u) ^ b;
        let start = (a << next) | (b << last);
        let first = 2u * next + a;
        let second = 2u * last + b;
        let planes = select(second | (first << 8u), first | (second << 8u), a == b);
        edges[local] = start | ((start | (1u << axis)) << 8u) | (planes << 16u);
    }
}
