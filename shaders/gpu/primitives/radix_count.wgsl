// First part of a pass of a radix sort: how often each digit occurs in each tile. One workgroup: one tile.
//#include gpu/primitives/radix

@group(0) @binding(2) var<storage, read_write> counts: array<vec2<u32>>;

var<workgroup> tally: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = workgroup.y * groups.x + workgroup.x;
    if tile >= params.tiles {
        return;
    }
    atomicStore(&tally[local], 0u);
    workgroupBarrier();
    for (var round = 0u; round < ROUNDS; round++) {
        let place = place_of(tile, round, local);
        if place < size.count {
            atomicAdd(&tally[digit_of(keys[place].x)], 1u);
        }
    }
    workgroupBarrier();
    counts[count_of(local, tile)] = vec2<u32>(atomicLoad(&tally[local]), 0u);
}
