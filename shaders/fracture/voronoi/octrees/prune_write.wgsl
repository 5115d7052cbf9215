// Writes the surviving pairs of one level as octree nodes, breadth-first and tree-major (2016, sec. 4.6: all
// octrees at once). One thread takes one pair. node_info: x = tree (rank of its object among the objects that own a
// voxel), y = Morton code.
//#include shared/thread
//#include fracture/voronoi/exact

struct PruneWriteParams { pairs: u32, last: u32, node_base: u32, child_base: u32 }

@group(0) @binding(0) var<uniform> params: PruneWriteParams;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> keep: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> kept_below: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read> kept_roots: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> out_nodes: array<Node>;
@group(0) @binding(8) var<storage, read_write> out_info: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= params.pairs || keep[i + 1u].x == keep[i].x {
        return;
    }
    var child = offsets[i].x;
    if params.last == 0u {
        child = params.child_base + kept_below[child].x;
    }
    let slot = params.node_base + keep[i].x;
    out_nodes[slot] = Node(child, masks[i] & 0xffffu);
    out_info[slot] = vec2<u32>(kept_roots[pairs[i].object].x, pairs[i].key);
}
