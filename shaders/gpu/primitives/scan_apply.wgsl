// Second half of an exclusive prefix sum: every item becomes the sum of all items before it, in place, and the item after
// the last one the total. One workgroup does one block of 1024; `sums` holds the scanned block sums.
//#include gpu/primitives/scanned

@group(0) @binding(1) var<storage, read_write> items: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec2<u32>>;

var<workgroup> running: array<vec2<u32>, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.y * groups.x + workgroup.x;
    let first = (block * WORKGROUP + local) * 4u;
    let end = readable();
    let past = writable();
    var own: array<vec2<u32>, 4>;
    var sum = vec2<u32>(0u);
    for (var i = 0u; i < 4u; i++) {
        own[i] = sum;
        if first + i < end {
            sum += summed(items[first + i]);
        }
    }
    running[local] = sum;
    workgroupBarrier();
    for (var reach = 1u; reach < WORKGROUP; reach *= 2u) {
        var before = vec2<u32>(0u);
        if local >= reach {
            before = running[local - reach];
        }
        workgroupBarrier();
        running[local] += before;
        workgroupBarrier();
    }
    if block * SCAN_BLOCK >= past {
        return;
    }
    let base = sums[block] + running[local] - sum;
    for (var i = 0u; i < 4u; i++) {
        if first + i < past {
            let scanned = base + own[i];
            items[first + i] = vec2<u32>(select(scanned.x, items[first + i].x, params.second_only != 0u), scanned.y);
        }
    }
}
