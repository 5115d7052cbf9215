// One round of the simultaneous walk of two octrees (Domaradzki & Martyn 2016, sec. 5.1.1), and the collision
// points where it ends (sec. 5.1.2). The reference is crates/physics/src/collide/octree/overlap/mod.rs, Walk.
// One thread: one octant of the node that is cut, against the other node. What still overlaps goes to the next round.
//#include shared/thread
//#include bodies/collide/octree/cell
//#include bodies/collide/octree/surfel
//#include papers/overlap/meeting

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> meetings: array<Meeting>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> surfels: array<Surfel>;
// (meeting, node and key of a, node and key of b, levels of both)
@group(0) @binding(4) var<storage, read> here: array<u32>;
@group(0) @binding(5) var<storage, read_write> below: array<u32>;
@group(0) @binding(6) var<storage, read_write> raws: array<Raw>;
@group(0) @binding(7) var<storage, read_write> counters: array<atomic<u32>>;

// Boxes share something if it is wider than this; less is rounding.
const SLIVER: f32 = 1e-3;
const LEAST_WEIGHT: f32 = 1.0 / 1024.0;

struct At {
    node: u32,
    key: u32,
    level: u32,
}

fn octant(at: At, tree: vec4<u32>, c: u32) -> At {
    var node = INSIDE;
    if at.node != INSIDE {
        let parent = nodes[tree.x + at.node];
        if ((node_internal(parent) >> c) & 1u) == 0u {
            node = select(EMPTY, node_child(parent, c), ((node_valid(parent) >> c) & 1u) == 1u);
        }
    }
    return At(node, (at.key << 3u) | c, at.level + 1u);
}

fn emit(index: u32, m: Meeting, owner: u32, p: vec3<f32>, n: vec3<f32>, weight: f32) {
    let last = vec3<f32>(f32((1u << m.a.z) - 1u));
    let cell = clamp(floor(p - n * INWARDS), vec3<f32>(0.0), last);
    let slot = atomicAdd(&counters[RAWS], 1u);
    if slot < params.raws {
        let place = morton_encode(vec3<u32>(cell)) | (owner << 30u);
        let q = p - cell;
        raws[slot] = Raw(index, place, q.x, q.y, q.z, n.x, n.y, n.z, weight);
    }
}

// The point on one side of a boundary cell's surfel next to `p`, and its normal; cells of that body.
fn on_surface(s: Surfel, side: u32, key: u32, p: vec3<f32>) -> array<vec3<f32>, 2> {
    let n = normal_unpack(s.normal) * select(1.0, -1.0, side == 1u);
    let q = vec3<f32>(s.x, s.y, s.z) + n * s.thickness;
    let low = vec3<f32>(morton_decode(key));
    // The plane goes on beyond the cell, the surface of this cell does not.
    return array(clamp(p - n * dot(p - q, n), low, low + 1.0), n);
}

fn touch(index: u32, m: Meeting, a: At, b: At, middle: vec3<f32>, weight: f32) {
    if a.node != INSIDE {
        let s = surfels[a.node + m.a.w];
        for (var side = 0u; side < select(1u, 2u, s.thickness > 0.0); side++) {
            let found = on_surface(s, side, a.key, middle);
            let in_b = rows(m.to_b_x, m.to_b_y, m.to_b_z, vec4<f32>(found[0] - found[1] * INWARDS, 1.0));
            if look_up_in(m.b, m.b.z, vec3<i32>(floor(in_b))) != EMPTY {
                emit(index, m, 0u, found[0], found[1], weight);
            }
        }
    }
    if b.node != INSIDE {
        let s = surfels[b.node + m.b.w];
        let near = rows(m.to_b_x, m.to_b_y, m.to_b_z, vec4<f32>(middle, 1.0));
        for (var side = 0u; side < select(1u, 2u, s.thickness > 0.0); side++) {
            let found = on_surface(s, side, b.key, near);
            let p = rows(m.to_a_x, m.to_a_y, m.to_a_z, vec4<f32>(found[0], 1.0));
            let n = normalize(rows(m.to_a_x, m.to_a_y, m.to_a_z, vec4<f32>(found[1], 0.0)));
            if look_up_in(m.a, m.a.z, vec3<i32>(floor(p - n * INWARDS))) != EMPTY {
                emit(index, m, 1u, p, n, weight);
            }
        }
    }
}

fn thread(id: u32) {
    let item = id >> 3u;
    if item >= min(atomicLoad(&counters[params.round]), params.frontier) {
        return;
    }
    let c = id & 7u;
    let index = here[6u * item];
    let m = meetings[index];
    let levels = here[6u * item + 5u];
    var a = At(here[6u * item + 1u], here[6u * item + 2u], levels & 0xffu);
    var b = At(here[6u * item + 3u], here[6u * item + 4u], levels >> 8u);
    let boundary = vec2<bool>(a.node != INSIDE, b.node != INSIDE);
    let opens = vec2<bool>(a.level < m.a.z, b.level < m.b.z);
    let box_b = 2.0 * m.half_box.xyz * f32(1u << (m.b.z - b.level));
    let larger_a = f32(1u << (m.a.z - a.level)) >= max(box_b.x, max(box_b.y, box_b.z));
    // Internal nodes are cut last: only where a single boundary cell lies in them.
    let open_a = opens.x && boundary.x && (larger_a || !(opens.y && boundary.y));
    let open_b = !open_a && opens.y && boundary.y;
    if open_a || (!open_b && opens.x) {
        a = octant(a, m.a, c);
    } else {
        b = octant(b, m.b, c);
    }
    if a.node == EMPTY || b.node == EMPTY || (a.node == INSIDE && b.node == INSIDE) {
        return;
    }
    let size_a = f32(1u << (m.a.z - a.level));
    let size_b = f32(1u << (m.b.z - b.level));
    let low_a = vec3<f32>(morton_decode(a.key)) * size_a;
    let middle_b = (vec3<f32>(morton_decode(b.key)) + 0.5) * size_b;
    let centre = rows(m.to_a_x, m.to_a_y, m.to_a_z, vec4<f32>(middle_b, 1.0));
    let half = m.half_box.xyz * size_b;
    let low = max(low_a, centre - half);
    let high = min(low_a + size_a, centre + half);
    let shared_box = high - low;
    if any(shared_box <= vec3<f32>(SLIVER)) {
        return;
    }
    if a.level == m.a.z && b.level == m.b.z {
        let weight = shared_box.x * shared_box.y * shared_box.z / m.half_box.w;
        touch(index, m, a, b, (low + high) * 0.5, clamp(weight, LEAST_WEIGHT, 1.0));
        return;
    }
    let slot = atomicAdd(&counters[params.round + 1u], 1u);
    if slot < params.frontier {
        below[6u * slot] = index;
        below[6u * slot + 1u] = a.node;
        below[6u * slot + 2u] = a.key;
        below[6u * slot + 3u] = b.node;
        below[6u * slot + 4u] = b.key;
        below[6u * slot + 5u] = a.level | (b.level << 8u);
    }
}
