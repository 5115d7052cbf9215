// Below the island level a node belongs to its ancestor's component (2016, sec. 4.5.2: the result is carried down).
// One thread takes one node of one level and labels its stored children.
//#include shared/linear_id
//#include shared/octree

struct Params { first: u32, count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read_write> labels: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.count {
        return;
    }
    let node = nodes[params.first + i];
    for (var k = 0u; k < countOneBits(node_valid(node)); k++) {
        labels[node.child_base + k] = labels[params.first + i];
    }
}
