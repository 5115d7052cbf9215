// Domaradzki & Martyn 2018, sec. 5.3: at the transition level the vertices of voxels take their nearest seeds.
// Counts the voxels whose vertices belong to several objects.
// One thread takes one (object, node) pair.
//#include fracture/voronoi/surface/rough/vertices

@group(0) @binding(4) var<storage, read> pairs: array<Pair>;
@group(0) @binding(5) var<storage, read_write> counts: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    let pair = pairs[i];
    let low = node_low(pair.key, shape.transition);
    let edge = node_edge(shape.transition);
    let crossed = pair.list_count > 0u && pair_crossed(pair, low, edge) && crack_has(pair.object);
    counts[i] = vec2<u32>(u32(crossed), 0u);
}
