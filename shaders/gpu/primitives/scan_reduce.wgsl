// First half of an exclusive prefix sum: the sum of every block of 1024 pairs of counters.
// One workgroup sums one block; one thread sums four neighbours.
//#include gpu/primitives/scanned

@group(0) @binding(1) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec2<u32>>;

var<workgroup> partial: array<vec2<u32>, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.y * groups.x + workgroup.x;
    let first = (block * WORKGROUP + local) * 4u;
    let end = readable();
    var sum = vec2<u32>(0u);
    for (var i = 0u; i < 4u; i++) {
        if first + i < end {
            sum += summed(items[first + i]);
        }
    }
    partial[local] = sum;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if local < half {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    if local == 0u && block * SCAN_BLOCK < writable() {
        sums[block] = partial[0];
    }
}
