// After the unions: every node's label becomes its component's smallest node index, and components are counted.
// One thread takes one node. counts.x = 1 where the node is its component's own label.
//#include shared/linear_id
//#include shared/octree

struct Params { nodes: u32, last: u32, level_start: array<vec4<u32>, 3> }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> hooked: array<u32>;
@group(0) @binding(3) var<storage, read_write> labels: array<u32>;
@group(0) @binding(4) var<storage, read_write> counts: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.nodes {
        return;
    }
    var x = i;
    while hooked[x] != x {
        x = hooked[x];
    }
    labels[i] = x;
    let in_last = i >= params.level_start[params.last / 4u][params.last % 4u];
    let own = select(node_internal(nodes[i]), node_internal(nodes[i]) | node_valid(nodes[i]), in_last);
    counts[i] = vec2<u32>(u32(x == i && own != 0u), 0u);
}
