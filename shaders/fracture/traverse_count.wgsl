// Domaradzki & Martyn 2016, sec. 4.1 and 4.3: one level of the descent, counting.
// One thread takes one (cell, node) pair and decides each octant: dropped, alive (goes on), or whole (inside the solid and inside
// the cell: an internal node of the cell's octree, nothing is stored for it).
//#include shared/linear_id
//#include fracture/voronoi

struct Params { pairs: u32, child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read> rivals: array<u32>;
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
    let s = seeds[pair.cell].xyz;
    var alive = 0u;
    var whole = 0u;
    var listed = 0u;
    for (var c = 0u; c < 8u; c++) {
        let bit = 1u << c;
        if ((valid | internal) & bit) == 0u {
            continue;
        }
        let centre = node_low((pair.key << 3u) | c, params.child_level) + vec3<i32>(edge / 2i);
        var contested = 0u;
        var lost = false;
        for (var k = 0u; k < pair.rival_count; k++) {
            let r = rivals[pair.rival_first + k];
            if r == pair.cell {
                continue;
            }
            let outcome = duel(pair.cell, s, r, seeds[r].xyz, centre, edge);
            if outcome.lost {
                lost = true;
                break;
            }
            contested += u32(outcome.contested);
        }
        if lost {
            continue;
        }
        if contested == 0u && (internal & bit) != 0u {
            whole |= bit;
        } else {
            alive |= bit;
            listed += contested;
        }
    }
    masks[i] = alive | (whole << 8u);
    counts[i] = vec2<u32>(countOneBits(alive), listed);
}
