// Lists the components: components[k] = (label, tree).
// One thread takes one node; `ranks` is the scanned count of islands_flatten.
//#include shared/linear_id

struct Params { nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> info: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> ranks: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> components: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i < params.nodes && ranks[i + 1u].x != ranks[i].x {
        components[ranks[i].x] = vec2<u32>(i, info[i].x);
    }
}
