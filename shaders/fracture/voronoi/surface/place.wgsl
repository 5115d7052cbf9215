// Where every copy of the fracture boundary set goes, so that the passes after it can take one thread a copy: eight neighbouring
// leaves of a pair hold three copies on average, and a software driver runs through all eight for each.
// One thread takes one pair at the last parent level. out_place: x = Morton code, y = the pair, for now.
//#include shared/linear_id
//#include fracture/voronoi/exact

struct Params { pairs: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> out_place: array<vec2<u32>>;

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
    let key = pairs[i].key << 3u;
    var slot = offsets[i].x;
    for (var rest = masks[i] & 0xffu; rest != 0u; rest &= rest - 1u) {
        out_place[slot] = vec2<u32>(key | firstTrailingBit(rest), i);
        slot += 1u;
    }
}
