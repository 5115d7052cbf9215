// The fracture boundary set where the leaves themselves are the transition voxels: copies as descent/leaves_count
// finds them, by corners. One thread takes one copy. Included by kernels that say how a crossed leaf is divided
// (`divide`, which returns its triangles) and written (`write_leaf`).
//#include fracture/voronoi/surface/copy
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
    let is_crossed = copy.pair.list_count > 0u && pair_crossed(copy.pair, low, size);
    var touched = 0u;
    if is_crossed {
        touched = divide(low, size);
    }
    write_leaf(copy, is_crossed, touched, vec3<i32>(CRACK_EDGE / 2i), CRACK_EDGE / 2i);
}
