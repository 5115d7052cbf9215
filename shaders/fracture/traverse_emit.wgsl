// One level of the descent, writing: the pairs of the next level, in order (object-major, Morton order inside an object), each with
// the candidates that can still own a point of it.
// One thread takes one pair; `offsets` says where its children and their candidates begin.
//#include shared/linear_id
//#include fracture/candidates

struct Params { pairs: u32, child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
@group(0) @binding(5) var<storage, read> masks: array<u32>;
@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> next_pairs: array<Pair>;
@group(0) @binding(8) var<storage, read_write> next_candidates: array<u32>;

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
    let alive = masks[i] & 0xffu;
    let contested = masks[i] >> 16u;
    let edge = node_edge(params.child_level);
    var t = pair.object;
    var t_seed = seeds[t].xyz;
    var slot = offsets[i].x;
    var listed = offsets[i].y;
    for (var c = 0u; c < 8u; c++) {
        if (alive & (1u << c)) == 0u {
            continue;
        }
        var child: Pair;
        child.source = INSIDE;
        if pair.source != INSIDE {
            let node = nodes[params.node_base + pair.source];
            if (node_valid(node) & (1u << c)) != 0u {
                child.source = node_child(node, c);
            }
        }
        child.object = pair.object;
        child.key = (pair.key << 3u) | c;
        child.list_first = listed;
        if (contested & (1u << c)) != 0u {
            let centre = node_low(child.key, params.child_level) + vec3<i32>(edge / 2i);
            if merged {
                t = judge(pair, centre);
                t_seed = seeds[t].xyz;
            }
            var first = 0u;
            if !merged {
                next_candidates[listed] = t;
                listed += 1u;
                first = 1u;
            }
            for (var k = first; k < pair.list_count; k++) {
                let r = candidates[pair.list_first + k];
                if (merged && r == t) || duel(t, t_seed, r, seeds[r].xyz, centre, edge).contested {
                    next_candidates[listed] = r;
                    listed += 1u;
                }
            }
        }
        child.list_count = listed - child.list_first;
        next_pairs[slot] = child;
        slot += 1u;
    }
}
