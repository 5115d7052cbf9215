// Domaradzki & Martyn 2018, sec. 5.3: makes every object's border in every crossed transition voxel and rewrites the pairs for the descent
// below, as fracture/crack/node says.
// One thread takes one (object, node) pair; `counts` is scanned.
//#include shared/linear_id
//#include fracture/crack/corners
//#include fracture/crack/node
//#include fracture/dust/split

struct Params { pairs: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> candidates: array<u32>;
@group(0) @binding(4) var<storage, read> counts: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> pairs: array<Pair>;
@group(0) @binding(6) var<storage, read_write> records: array<u32>;

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
    var pair = pairs[i];
    if pair.list_count == 0u {
        return;
    }
    let low = node_low(pair.key, shape.transition);
    let size = node_edge(shape.transition);
    let crossed = pair_crossed(pair, low, size);
    let record = counts[i].x;
    pair.list_first = record;
    pair.list_count = select(DEAD, 0u, !crossed && crack_object(0u) == pair.object);
    if counts[i + 1u].x != record {
        dust_split(low, size);
        for (var k = 0u; k < DUST_WORDS; k++) {
            records[record * DUST_WORDS + k] = dust[k];
        }
        pair.list_count = CROSSED | dust_triangles();
    }
    pairs[i] = pair;
}
