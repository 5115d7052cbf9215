// Below the island level a node belongs to its ancestor's component (2016, sec. 4.5.2: the result is carried down).
// One thread takes one node of one level and labels its stored children.
//#include shared/thread
//#include shared/octree

struct InheritParams { first: u32, count: u32 }

@group(0) @binding(0) var<uniform> params: InheritParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read_write> labels: array<u32>;

fn thread(i: u32) {
    if i >= params.count {
        return;
    }
    let node = nodes[params.first + i];
    for (var k = 0u; k < countOneBits(node_valid(node)); k++) {
        labels[node.child_base + k] = labels[params.first + i];
    }
}
