// Leaves that a fracture left on the device, a part of them, into the arena in the order of the nodes. One thread takes one
// node whose children are leaves; `places` says where the fracture wrote the first of these.
//#include shared/thread
//#include shared/octree

// Nodes of the forest's last level in the arena, its first leaf there, and which leaves the part has.
struct TakeLeavesParams { first_node: u32, nodes: u32, leaf_base: u32, first: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: TakeLeavesParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read> surface: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> cuts: array<u32>;
@group(0) @binding(5) var<storage, read_write> out_normals: array<u32>;
@group(0) @binding(6) var<storage, read_write> out_colors: array<u32>;
@group(0) @binding(7) var<storage, read_write> out_cuts: array<u32>;

fn thread(i: u32) {
    if i >= params.nodes {
        return;
    }
    let node = nodes[params.first_node + i];
    let count = countOneBits(node_valid(node));
    let written = places[i];
    let first = params.leaf_base + node.child_base;
    for (var k = 0u; k < count; k++) {
        let leaf = written + k;
        if leaf >= params.first && leaf < params.end {
            let words = surface[leaf - params.first];
            out_normals[first + k] = words.x;
            out_colors[first + k] = words.y;
            out_cuts[first + k] = cuts[leaf - params.first];
        }
    }
}
