// One level of the descent below the transition level, counting; at the leaf level, counting copies.
// One thread takes one (object, node) pair and decides each octant: dropped, alive (goes on; a leaf gets a copy), or whole (inside the
// solid and inside the object).
//#include shared/linear_id
//#include fracture/crack/node
//#include fracture/crack/noise
//#include fracture/dust/records
//#include fracture/dust/shares

struct Params { pairs: u32, child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read> pairs: array<Pair>;
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
    var alive = 0u;
    var whole = 0xffu;
    if pair.source != INSIDE {
        let node = nodes[params.node_base + pair.source];
        alive = node_valid(node);
        whole = node_internal(node);
    }
    if pair.list_count == DEAD {
        alive = 0u;
        whole = 0u;
    } else if pair.list_count != 0u {
        load_dust(pair.list_first);
        let half = octant_half(params.child_level, shape.transition);
        for (var c = 0u; c < 8u; c++) {
            let bit = 1u << c;
            if ((alive | whole) & bit) == 0u {
                continue;
            }
            let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
            let touched = dust_touching(pair.list_count & TRIANGLES, centre, half);
            let gets = dust_gets(pair.object, touched, centre);
            if gets == NOTHING {
                alive &= ~bit;
                whole &= ~bit;
            } else if gets == TAKES && (whole & bit) != 0u {
                alive |= bit;
                whole &= ~bit;
            }
        }
    }
    masks[i] = alive | (whole << 8u);
    counts[i] = vec2<u32>(countOneBits(alive), 0u);
}
