// Hits: surfels of a that meet the surface of b (Domaradzki & Martyn 2016, sec. 5.1.2, have collision
// points). The reference is crates/physics/src/collide/octree/search.rs. One thread: one surfel of a near b. It looks
// for the surface of b that faces it: beside it, on the way out of b's inside, or ahead on its way.
//#include shared/thread
//#include bodies/collide/octree/pair
//#include bodies/collide/octree/surfel

// A surfel of a, in cells of b.
struct Probe {
    p: vec3<f32>,
    sharp: u32,
    n: vec3<f32>,
    // OUTSIDE, BEHIND or EDGE.
    place: u32,
}

struct HitParams {
    candidates_capacity: u32,
    hits_capacity: u32,
    pad0: u32,
    pad1: u32,
}

@group(0) @binding(0) var<uniform> params: HitParams;
@group(0) @binding(1) var<storage, read> pairs: array<Directed>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> surfels: array<Surfel>;
// (pair, node of a at its level)
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: array<atomic<u32>>;
// 16 words of header, then (pair, node of a and side, node of b)
@group(0) @binding(6) var<storage, read_write> hits: array<u32>;

//#include bodies/collide/octree/pair_cell

const OPPOSING: f32 = -0.1;
const BESIDE: f32 = 1.0;
const ROUNDING: f32 = 0.2;
// Before b's surface: no plane behind which a probe seems to be, beside its own end, counts. Behind it: any surface
// may be the way out, whichever way it looks. In a cell with an edge the plane does not tell.
const OUTSIDE: u32 = 0u;
const BEHIND: u32 = 1u;
const EDGE: u32 = 2u;
const MARCH: u32 = 6u;
// How far ahead a fast one looks, cells.
const AHEAD: u32 = 128u;
const NO_FACE: vec2<f32> = vec2<f32>(3.0e38, 3.0e38);

// Signed gap from b's surfel (of its side that faces the probe) to the probe, and the distance beside its centre.
fn facing(index: u32, probe: Probe) -> vec2<f32> {
    let s = surfels[index];
    if s.sharp != 0u && probe.sharp == 0u && probe.place != BEHIND {
        return NO_FACE;
    }
    var normal = normal_unpack(s.normal);
    if s.thickness > 0.0 && dot(normal, probe.n) > 0.0 {
        normal = -normal;
    }
    let opposing = dot(normal, probe.n) <= OPPOSING;
    if !opposing && probe.place != BEHIND {
        return NO_FACE;
    }
    let centre = vec3<f32>(s.x, s.y, s.z) + normal * s.thickness;
    if s.sharp != 0u && probe.sharp != 0u && opposing {
        normal = normalize(normal - probe.n);
    }
    let r = probe.p - centre;
    let gap = dot(r, normal);
    if probe.place == OUTSIDE && gap < -ROUNDING {
        return NO_FACE;
    }
    return vec2<f32>(gap, length(r - normal * gap));
}

fn cell_of_b(pair: Directed, p: vec3<f32>) -> u32 {
    return look_up(pair, pair.b.z, vec3<i32>(floor(p)));
}

fn beside(pair: Directed, probe: Probe) -> u32 {
    let at = vec3<i32>(floor(probe.p - 0.5));
    var least = 3.0e38;
    var best = EMPTY;
    for (var c = 0; c < 8; c++) {
        let b = look_up(pair, pair.b.z, at + vec3<i32>(c & 1, (c >> 1u) & 1, c >> 2u));
        if b >= INSIDE {
            continue;
        }
        let face = facing(b + pair.b.w, probe);
        let distance = dot(face, face);
        if face.y < BESIDE && face.x < pair.margin && distance < least {
            least = distance;
            best = b;
        }
    }
    return best;
}

// On which side of b's surface a point in the cell `here` is.
fn place_of(pair: Directed, here: u32, p: vec3<f32>) -> u32 {
    if here >= INSIDE {
        return select(OUTSIDE, BEHIND, here == INSIDE);
    }
    let s = surfels[here + pair.b.w];
    var along = dot(p - vec3<f32>(s.x, s.y, s.z), normal_unpack(s.normal));
    if s.thickness > 0.0 {
        along = abs(along);
    }
    return select(select(OUTSIDE, BEHIND, along < s.thickness), EDGE, s.sharp != 0u);
}

// From a point inside b to its nearest surface, along the axes and against the point's own normal.
fn out_of_the_inside(pair: Directed, probe: Probe) -> u32 {
    if cell_of_b(pair, probe.p) != INSIDE {
        return EMPTY;
    }
    var least = 3.0e38;
    var best = EMPTY;
    for (var d = 0u; d < 7u; d++) {
        var way = -probe.n;
        if d > 0u {
            way = vec3<f32>(0.0);
            way[(d - 1u) >> 1u] = select(1.0, -1.0, (d & 1u) == 0u);
        }
        for (var k = 1u; k <= MARCH; k++) {
            let b = cell_of_b(pair, probe.p + way * f32(k));
            if b == INSIDE {
                continue;
            }
            if b != EMPTY {
                let face = facing(b + pair.b.w, probe);
                let distance = dot(face, face);
                if face.x < 0.0 && distance < least {
                    least = distance;
                    best = b;
                }
            }
            break;
        }
    }
    return best;
}

fn ahead(pair: Directed, probe: Probe) -> u32 {
    let reach = length(pair.motion);
    if reach < 0.5 || cell_of_b(pair, probe.p) == INSIDE {
        return EMPTY;
    }
    let steps = min(u32(ceil(reach)), AHEAD);
    for (var k = 1u; k <= steps; k++) {
        let b = cell_of_b(pair, probe.p + pair.motion * (f32(k) / reach));
        if b < INSIDE {
            let face = facing(b + pair.b.w, probe);
            return select(EMPTY, b, face.x > 0.0 && face.x < pair.margin);
        }
    }
    return EMPTY;
}

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[CANDIDATES]), params.candidates_capacity) {
        return;
    }
    let pair_index = candidates[2u * id];
    let index = candidates[2u * id + 1u];
    let pair = pairs[pair_index];
    let s = surfels[index + pair.a.w];
    let sides = select(1u, 2u, s.thickness > 0.0);
    for (var side = 0u; side < sides; side++) {
        var normal = normal_unpack(s.normal);
        if side == 1u {
            normal = -normal;
        }
        let p = to_b(pair, vec3<f32>(s.x, s.y, s.z) + normal * s.thickness);
        let here = cell_of_b(pair, p);
        // Two flat surfaces meet once; the second direction adds what edges of the second body touch, and what is deep.
        if (pair_index & 1u) == 1u && s.sharp == 0u && here != INSIDE {
            continue;
        }
        let probe = Probe(p, s.sharp, turn_to_b(pair, normal), place_of(pair, here, p));
        var b = beside(pair, probe);
        if b == EMPTY {
            b = out_of_the_inside(pair, probe);
        }
        if b == EMPTY {
            b = ahead(pair, probe);
        }
        if b == EMPTY {
            continue;
        }
        let slot = atomicAdd(&counters[HITS], 1u);
        if slot < params.hits_capacity {
            hits[16u + 3u * slot] = pair_index;
            hits[16u + 3u * slot + 1u] = (index << 1u) | side;
            hits[16u + 3u * slot + 2u] = b;
        }
    }
}
