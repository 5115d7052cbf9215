// One level of the descent (Domaradzki & Martyn 2016, sec. 5.1.1). On the CPU: crates/physics/src/collide/octree/search.rs.
// One thread: one octant of one node of a that is still near b. Kept octants are nodes of the next level, or surfels
// (candidates) once the pair's level is reached.
//#include shared/thread
//#include bodies/collide/octree/pair

struct DescendParams {
    level: u32,
    nodes_capacity: u32,
    candidates_capacity: u32,
    pad: u32,
}

@group(0) @binding(0) var<uniform> params: DescendParams;
@group(0) @binding(1) var<storage, read> pairs: array<Directed>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
// (pair, node, key)
@group(0) @binding(3) var<storage, read> here: array<u32>;
@group(0) @binding(4) var<storage, read_write> below: array<u32>;
// (pair, node of a at its level)
@group(0) @binding(5) var<storage, read_write> candidates: array<u32>;
@group(0) @binding(6) var<storage, read_write> counters: array<atomic<u32>>;

//#include bodies/collide/octree/pair_cell

// Whether b has anything near the cell `key` of a, which is at `level`.
fn is_near(pair: Directed, key: u32, level: u32) -> bool {
    let size = f32(1u << (pair.a.z - level));
    let low = vec3<f32>(morton_decode(key));
    let centre = to_b(pair, (low + 0.5) * size);
    let scale = length(pair.row_x.xyz);
    // A surfel may lie half a cell outside its own cell, and looks 0.87 cells round itself.
    let radius = (0.867 * size + 0.5) * scale + max(pair.margin, 0.87);
    if any(centre < pair.low.xyz - radius) || any(centre > pair.high.xyz + radius) {
        return false;
    }
    var m = pair.b.z;
    while m > 0u && f32(1u << (pair.b.z - m)) * 0.5 < radius {
        m -= 1u;
    }
    if m == 0u {
        return true;
    }
    let at = vec3<i32>(floor(centre / f32(1u << (pair.b.z - m)) - 0.5));
    for (var c = 0; c < 8; c++) {
        if look_up(pair, m, at + vec3<i32>(c & 1, (c >> 1u) & 1, c >> 2u)) != EMPTY {
            return true;
        }
    }
    return false;
}

fn thread(id: u32) {
    let item = id >> 3u;
    if item >= min(atomicLoad(&counters[params.level]), params.nodes_capacity) {
        return;
    }
    let pair_index = here[3u * item];
    let pair = pairs[pair_index];
    if params.level >= pair.a.z {
        return;
    }
    let parent = nodes[pair.a.x + here[3u * item + 1u]];
    let c = id & 7u;
    if ((node_valid(parent) >> c) & 1u) == 0u {
        return;
    }
    let key = (here[3u * item + 2u] << 3u) | c;
    if !is_near(pair, key, params.level + 1u) {
        return;
    }
    let child = node_child(parent, c);
    if params.level + 1u < pair.a.z {
        let slot = atomicAdd(&counters[params.level + 1u], 1u);
        if slot < params.nodes_capacity {
            below[3u * slot] = pair_index;
            below[3u * slot + 1u] = child;
            below[3u * slot + 2u] = key;
        }
    } else {
        let slot = atomicAdd(&counters[CANDIDATES], 1u);
        if slot < params.candidates_capacity {
            candidates[2u * slot] = pair_index;
            candidates[2u * slot + 1u] = child;
        }
    }
}
