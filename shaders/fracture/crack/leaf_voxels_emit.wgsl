// The fracture boundary set where the leaves themselves are the transition voxels: copies as fracture/leaves_count finds them, by
// corners, attributes from the crack surface of each leaf; out_* as fracture/leaves_emit writes them.
// One thread takes one pair at the last parent level and writes its copies.
//#include shared/linear_id
//#include fracture/crack/corners
//#include fracture/crack/attributes

struct Params { pairs: u32, child_level: u32, node_base: u32, leaf_base: u32, interior: vec4<u32> }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
@group(0) @binding(5) var<storage, read> pairs: array<Pair>;
@group(0) @binding(6) var<storage, read> masks: array<u32>;
@group(0) @binding(7) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read> source_normals: array<u32>;
@group(0) @binding(9) var<storage, read> source_colors: array<u32>;
@group(0) @binding(10) var<storage, read> source_cuts: array<u32>;
@group(0) @binding(11) var<storage, read_write> out_place: array<vec2<u32>>;
@group(0) @binding(12) var<storage, read_write> out_surface: array<vec2<u32>>;
@group(0) @binding(13) var<storage, read_write> out_cuts: array<u32>;

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
    let size = node_edge(params.child_level);
    var slot = offsets[i].x;
    for (var c = 0u; c < 8u; c++) {
        if (masks[i] & (1u << c)) == 0u {
            continue;
        }
        let key = (pair.key << 3u) | c;
        let low = node_low(key, params.child_level);
        var touched = 0u;
        if pair.list_count > 0u && pair_crossed(pair, low, size) {
            crack_separate(low, size);
            touched = crack_triangles();
        }
        let leaf = select(NO_LEAF, node_child(node, c), (node_valid(node) & (1u << c)) != 0u);
        let centre = vec3<i32>(CRACK_EDGE / 2i);
        write_copy(slot, pair.object, key, leaf, touched, centre, CRACK_EDGE / 2i, low + vec3<i32>(size / 2i));
        slot += 1u;
    }
}
