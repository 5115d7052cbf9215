// Domaradzki & Martyn 2016, sec. 4.4 and 4.7: which leaves of each pair's node get a copy in the pair's object.
// One thread takes one pair at the last parent level. A boundary leaf is copied to every object that owns a corner; an internal one
// becomes a crack voxel of each of its objects when its corners lie in several, else it stays internal: a Voronoi face between
// two seeds of one object makes no surface.
//#include shared/linear_id
//#include fracture/owners

struct Params { pairs: u32, child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
@group(0) @binding(5) var<storage, read_write> masks: array<u32>;
@group(0) @binding(6) var<storage, read_write> counts: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.pairs {
        return;
    }
    let pair = pairs[i];
    var valid = 0u;
    var internal = 0xffu;
    if pair.source != INSIDE {
        let node = nodes[params.node_base + pair.source];
        valid = node_valid(node);
        internal = node_internal(node);
    }
    var copies = valid;
    var whole = internal;
    if pair.list_count > 0u {
        copies = 0u;
        whole = 0u;
        let edge = node_edge(params.child_level);
        let low = node_low(pair.key, params.child_level - 1u);
        let first = own_seed(pair);
        let first_seed = seeds[first].xyz;
        var own = 1u;
        while merged && own < pair.list_count && is_own(pair, candidates[pair.list_first + own]) {
            own += 1u;
        }
        var owned = 0u;
        for (var n = 0u; n < 27u; n++) {
            let x = corner_point(low, edge, n);
            // A tie belongs to the lower index; the object's own come in ascending order.
            var s = first;
            var d = distance2(x, first_seed);
            for (var k = 1u; merged && k < own; k++) {
                let r = candidates[pair.list_first + k];
                let other = distance2(x, seeds[r].xyz);
                if other < d {
                    d = other;
                    s = r;
                }
            }
            var mine = true;
            for (var k = own; k < pair.list_count && mine; k++) {
                let r = candidates[pair.list_first + k];
                mine = distance2(x, seeds[r].xyz) >= d + i32(r < s);
            }
            owned |= select(0u, 1u << n, mine);
        }
        for (var c = 0u; c < 8u; c++) {
            // The corners of octant c: bits 0, 1, 3, 4, 9, 10, 12, 13 shifted by its own number.
            let corners = 0x361bu << corner_number(c, 0u);
            let bit = (valid | internal) & (1u << c);
            if (owned & corners) == corners && (internal & bit) != 0u {
                whole |= bit;
            } else if (owned & corners) != 0u {
                copies |= bit;
            }
        }
    }
    masks[i] = copies | (whole << 8u);
    counts[i] = vec2<u32>(countOneBits(copies), 0u);
}
