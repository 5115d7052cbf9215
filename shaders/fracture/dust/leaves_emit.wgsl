// The fracture boundary set of a dusty fracture, with its attributes.
// One thread takes one pair at the last parent level and writes its copies.
// out_place:   x = Morton code, y = source leaf (28 bits, all ones for a new crack voxel) and dust_code (4 bits)
// out_surface, out_cuts: as fracture/leaves_emit writes them
//#include shared/linear_id
//#include fracture/crack/node
//#include fracture/crack/noise
//#include fracture/dust/attributes
//#include fracture/dust/records

struct Params { pairs: u32, child_level: u32, node_base: u32, leaf_base: u32, interior: vec4<u32> }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read> pairs: array<Pair>;
@group(0) @binding(5) var<storage, read> masks: array<u32>;
@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read> source_normals: array<u32>;
@group(0) @binding(8) var<storage, read> source_colors: array<u32>;
@group(0) @binding(9) var<storage, read> source_cuts: array<u32>;
@group(0) @binding(10) var<storage, read_write> out_place: array<vec2<u32>>;
@group(0) @binding(11) var<storage, read_write> out_surface: array<vec2<u32>>;
@group(0) @binding(12) var<storage, read_write> out_cuts: array<u32>;

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
    var node = Node(0u, 0u);
    if pair.source != INSIDE {
        node = nodes[params.node_base + pair.source];
    }
    let half = octant_half(params.child_level, shape.transition);
    if pair.list_count != 0u {
        load_dust(pair.list_first);
    }
    var slot = offsets[i].x;
    for (var c = 0u; c < 8u; c++) {
        if (masks[i] & (1u << c)) == 0u {
            continue;
        }
        let key = (pair.key << 3u) | c;
        let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
        let touched = dust_touching(pair.list_count & TRIANGLES, centre, half);
        let leaf = select(NO_LEAF, node_child(node, c), (node_valid(node) & (1u << c)) != 0u);
        let point = node_low(key, params.child_level) + vec3<i32>(node_edge(params.child_level) / 2i);
        write_share(slot, pair.object, key, leaf, pair.list_count != 0u, touched, centre, half, point);
        slot += 1u;
    }
}
