// Bitonic sort of keys, the part that stays within 512 of them (Batcher 1968). One workgroup: one block; one thread: one
// exchange a stage. Sequences of params.size up to params.last are merged; of longer ones the strides that are left.
//#include shared/linear_id
//#include bodies/broad_phase/passes/params

@group(0) @binding(0) var<uniform> params: HierarchyParams;
@group(0) @binding(1) var<storage, read_write> keys: array<vec2<u32>>;

var<workgroup> held: array<vec2<u32>, 512>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first = (workgroup.y * groups.x + workgroup.x) * 2u * WORKGROUP;
    if first >= params.keys {
        return;
    }
    held[local] = keys[first + local];
    held[local + WORKGROUP] = keys[first + local + WORKGROUP];
    for (var size = params.size; size <= params.last; size *= 2u) {
        for (var stride = min(size / 2u, WORKGROUP); stride > 0u; stride /= 2u) {
            workgroupBarrier();
            let low = 2u * stride * (local / stride) + local % stride;
            let a = held[low];
            let b = held[low + stride];
            let is_after = a.x > b.x || (a.x == b.x && a.y > b.y);
            if is_after == (((first + low) & size) == 0u) {
                held[low] = b;
                held[low + stride] = a;
            }
        }
    }
    workgroupBarrier();
    keys[first + local] = held[local];
    keys[first + local + WORKGROUP] = held[local + WORKGROUP];
}
