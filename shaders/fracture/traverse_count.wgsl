// Domaradzki & Martyn 2016, sec. 4.1 and 4.3: one level of the descent, counting.
// One thread takes one (object, node) pair and decides each octant: dropped, alive (goes on), or whole (inside the solid and inside
// the object: an internal node of the object's octree, nothing is stored for it).
// masks: alive (8 bits), whole (8 bits), alive and contested by rivals (8 bits).
//#include shared/linear_id
//#include fracture/candidates

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
    let edge = node_edge(params.child_level);
    var t = pair.object;
    var t_seed = seeds[t].xyz;
    var alive = 0u;
    var whole = 0u;
    var contested = 0u;
    var listed = 0u;
    for (var c = 0u; c < 8u; c++) {
        let bit = 1u << c;
        if ((valid | internal) & bit) == 0u {
            continue;
        }
        let centre = node_low((pair.key << 3u) | c, params.child_level) + vec3<i32>(edge / 2i);
        if merged {
            t = judge(pair, centre);
            t_seed = seeds[t].xyz;
        }
        // An object that is one cell has only rivals after its judge.
        var own = 1u;
        if merged {
            own = 0u;
        }
        var rivals = 0u;
        for (var k = own; k < pair.list_count; k++) {
            let r = candidates[pair.list_first + k];
            var stays = merged && r == t;
            if !stays {
                let outcome = duel(t, t_seed, r, seeds[r].xyz, centre, edge);
                if outcome.lost {
                    // Only an object's single candidate can be beaten everywhere: nobody is nearer to the centre than another judge.
                    own = 0u;
                    break;
                }
                stays = outcome.contested;
            }
            let is_rival = !merged || !is_own(pair, r);
            own += u32(stays && !is_rival);
            rivals += u32(stays && is_rival);
        }
        if own == 0u && pair.list_count > 0u {
            continue;
        }
        if rivals == 0u && (internal & bit) != 0u {
            whole |= bit;
            continue;
        }
        alive |= bit;
        if rivals > 0u {
            contested |= bit;
            listed += own + rivals;
        }
    }
    masks[i] = alive | (whole << 8u) | (contested << 16u);
    counts[i] = vec2<u32>(countOneBits(alive), listed);
}
