// Bottom-up: drops the pairs below which no voxel of the cell was found (the descent's test is a bound, not exact above leaves).
// One thread takes one pair of a level; the level below has been done.
//#include shared/linear_id

struct Params { pairs: u32, last: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> kept_below: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> masks: array<u32>;
@group(0) @binding(4) var<storage, read_write> keep: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.pairs {
        return;
    }
    var mask = masks[i];
    if params.last == 0u {
        var child = offsets[i].x;
        var before = kept_below[child].x;
        for (var rest = mask & 0xffu; rest != 0u; rest &= rest - 1u) {
            child += 1u;
            let kept = kept_below[child].x;
            mask &= ~select(0u, rest & (~rest + 1u), kept == before);
            before = kept;
        }
        masks[i] = mask;
    }
    keep[i] = vec2<u32>(u32((mask & 0xffffu) != 0u), 0u);
}
