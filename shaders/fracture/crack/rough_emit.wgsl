// One level of the descent below the transition level, writing: the pairs of the next level in order, each with the triangles that
// touch its node.
// One thread takes one pair; `offsets` says where its children begin.
//#include shared/linear_id
//#include fracture/crack/node
//#include fracture/crack/noise
//#include fracture/crack/records

struct Params { pairs: u32, child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read> pairs: array<Pair>;
@group(0) @binding(5) var<storage, read> masks: array<u32>;
@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> next_pairs: array<Pair>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.pairs || (masks[i] & 0xffu) == 0u {
        return;
    }
    let pair = pairs[i];
    let half = octant_half(params.child_level, shape.transition);
    if pair.list_count != 0u {
        load_voxel(pair.list_first);
    }
    var slot = offsets[i].x;
    for (var c = 0u; c < 8u; c++) {
        if (masks[i] & (1u << c)) == 0u {
            continue;
        }
        var child = Pair(INSIDE, pair.object, (pair.key << 3u) | c, pair.list_first, pair.list_count);
        if pair.source != INSIDE {
            let node = nodes[params.node_base + pair.source];
            if (node_valid(node) & (1u << c)) != 0u {
                child.source = node_child(node, c);
            }
        }
        if pair.list_count != 0u {
            let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
            let touched = touching(pair.list_count & TRIANGLES, centre, half);
            // Untouched and kept: wholly the object's, unless its leaves are still to be voted on.
            child.list_count = select(0u, CROSSED | touched, touched != 0u || shape.votes != 0u);
        }
        next_pairs[slot] = child;
        slot += 1u;
    }
}
