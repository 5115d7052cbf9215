// The fracture boundary set where the leaves themselves are the transition voxels: copies as fracture/voronoi/descent/leaves_count finds them, by
// corners, attributes from the crack surface of each leaf.
//#include fracture/voronoi/surface/rough/attributes
//#include fracture/voronoi/surface/rough/corners

@group(0) @binding(9) var<uniform> shape: CrackUniform;
@group(0) @binding(10) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(11) var<storage, read> candidates: array<u32>;

fn thread(slot: u32) {
    if slot >= params.copies {
        return;
    }
    let copy = copy_at(slot);
    let size = node_edge(params.level);
    let low = node_low(copy.key, params.level);
    var touched = 0u;
    if copy.pair.list_count > 0u && pair_crossed(copy.pair, low, size) {
        crack_separate(low, size);
        touched = crack_triangles();
    }
    write_copy(copy, touched, vec3<i32>(CRACK_EDGE / 2i), CRACK_EDGE / 2i);
}
