// The geometry of hits, in single precision; the host works out in double precision what is chosen in the end
// (crates/physics/src/collide/octree/points.rs, contact_points). One thread: one hit.
//#include shared/thread
//#include bodies/collide/octree/pair
//#include bodies/collide/octree/surfel
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/contact

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> solids: array<Solid>;
@group(0) @binding(2) var<storage, read> tables: array<u32>;
@group(0) @binding(3) var<storage, read> near: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> pairs: array<Directed>;
@group(0) @binding(5) var<storage, read> surfels: array<Surfel>;
// 16 words of header, then (directed pair, node of a and side, node of b).
@group(0) @binding(6) var<storage, read> hits: array<u32>;
@group(0) @binding(7) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(8) var<storage, read_write> counters: array<atomic<u32>>;

//#include bodies/collide/octree/passes/levels

const OPPOSING: f32 = -0.1;
// How far siblings may overlap at birth, and have moved against each other since, cells.
const BIRTH_CELLS: f32 = 7.0;
const BIRTH_WAY: f32 = 2.0;

fn normalized_or(v: vec3<f32>, other: vec3<f32>) -> vec3<f32> {
    let size = length(v);
    return select(other, v / max(size, 1.0e-30), size > 1.0e-30);
}

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[HITS]), params.hits_room) {
        return;
    }
    let at = 16u + 3u * id;
    let d = hits[at] & 1u;
    let side = hits[at + 1u] & 1u;
    let pair = pairs[hits[at]];
    let number = hits[at] >> 1u;
    let solid = near[number].xy;
    let a = solids[select(solid.x, solid.y, d == 1u)];
    let b = solids[select(solid.y, solid.x, d == 1u)];
    let sample = surfels[(hits[at + 1u] >> 1u) + pair.a.w];
    let plane = surfels[hits[at + 2u] + pair.b.w];

    let own = normal_unpack(sample.normal) * select(1.0, -1.0, side == 1u);
    let p = vec3<f32>(sample.x, sample.y, sample.z) + own * sample.thickness;
    let q = to_b(pair, p);
    let against = turn_to_b(pair, own);
    var normal = normal_unpack(plane.normal);
    if plane.thickness > 0.0 && dot(normal, against) > 0.0 {
        normal = -normal;
    }
    let centre = vec3<f32>(plane.x, plane.y, plane.z) + normal * plane.thickness;
    let sharp = plane.sharp != 0u && sample.sharp != 0u && dot(normal, against) <= OPPOSING;
    // The other's edge meets the plane here; or both lie at edges, where neither plane is right but the mean of both is.
    let face = sharp && sample.sharp == ON_FACE && plane.sharp == ON_EDGE;
    let edges = sharp && !face && (sample.sharp == ON_FACE) == (plane.sharp == ON_FACE);
    // Where two pieces of one object overlapped when they were made, that is their zero.
    let at_birth = p - centre;
    var zero = 0.0;
    if a.sibling == b.sibling && pair.a.z == pair.b.z && length(at_birth) < BIRTH_CELLS {
        let way_out = select(select(normal, normalized_or(normal - own, normal), edges), -own, face);
        zero = min(dot(at_birth, way_out), 0.0) * clamp(BIRTH_WAY - length(q - p), 0.0, 1.0);
    }
    if edges {
        normal = normalized_or(normal - against, normal);
    }
    if face {
        normal = -against;
    }
    let gap = dot(q - centre, normal);
    let size = cell_of(b, pair.b.z);
    let separation = (gap - zero) * size;
    if separation >= pair.margin * size {
        return;
    }
    // Against the origin of the first body, whichever was sampled.
    let between_both = select(q - normal * (0.5 * gap), centre + normal * (0.5 * gap), face);
    var position = turned(b, between_both * size);
    if d == 0u {
        position += between(a, b);
    }
    // Behind the surface of a, where it is a's.
    let on_a = to_b(pairs[hits[at] ^ 1u], centre);
    let slot = atomicAdd(&counters[CONTACTS], 1u);
    if slot < params.contacts_room {
        let surfel = (hits[at + 1u] >> 1u) + pair.a.w - sample_of(a.forest, pair.a.z).x;
        let other = hits[at + 2u] + pair.b.w - sample_of(b.forest, pair.b.z).x;
        contacts[slot] = Contact(
            params.tasks + number,
            (d << 31u) | (surfel << 1u) | side,
            other,
            OPEN,
            position,
            separation,
            turned(b, normal) * select(1.0, -1.0, d == 1u),
            gap,
            select(q * f32(1u << (b.leaf - pair.b.z)), on_a * f32(1u << (a.leaf - pair.a.z)), face),
            select(solid.y, solid.x, (d == 1u) != face),
        );
    }
}
