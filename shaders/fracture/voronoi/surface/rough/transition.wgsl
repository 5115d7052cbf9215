// The frame of the kernels that make what every crossed transition voxel has and rewrite the pairs for the descent
// below, as fracture/voronoi/surface/rough/node says: one thread takes one (object, node) pair; `counts` is
// scanned. A voxel with all vertices in one object is wholly that object's. Included by kernels that say, in
// keep_record, what a record holds.
//#include fracture/voronoi/surface/rough/node
//#include fracture/voronoi/surface/rough/vertices

@group(0) @binding(4) var<storage, read> counts: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> pairs: array<Pair>;
@group(0) @binding(6) var<storage, read_write> records: array<u32>;

fn thread(i: u32) {
    if i >= size.count || pairs[i].list_count == 0u {
        return;
    }
    var pair = pairs[i];
    let low = node_low(pair.key, shape.transition);
    let edge = node_edge(shape.transition);
    let crossed = pair_crossed(pair, low, edge);
    let record = counts[i].x;
    pair.list_first = record;
    pair.list_count = select(DEAD, 0u, !crossed && crack_object(0u) == pair.object);
    if counts[i + 1u].x != record {
        pair.list_count = CROSSED | keep_record(record, low, edge);
    }
    pairs[i] = pair;
}
