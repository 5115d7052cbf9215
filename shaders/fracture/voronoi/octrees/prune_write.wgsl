// Writes the surviving pairs of one level as octree nodes, breadth-first and tree-major (2016, sec. 4.6: all
// octrees at once). One thread takes one pair. node_info: x = tree (rank of its object among the objects that own a
// voxel), y = Morton code.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/exact

// Whether anybody asks for (tree, Morton code) of the nodes.
override with_info: bool = true;

// `moved`: leaves stay where the source of a pair has them, which its list says.
struct PruneWriteParams { last: u32, node_base: u32, child_base: u32, moved: u32 }

@group(0) @binding(0) var<uniform> params: PruneWriteParams;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> below: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> roots: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> out_nodes: array<Node>;
@group(0) @binding(7) var<storage, read_write> out_info: array<vec2<u32>>;
@group(0) @binding(20) var<uniform> size: Counted;

fn thread(i: u32) {
    if i >= size.count || offsets[i + 1u].y == offsets[i].y {
        return;
    }
    var child = offsets[i].x;
    if params.last == 0u {
        child = params.child_base + below[child].y;
    } else if params.moved != 0u {
        child = pairs[i].list_first;
    }
    let slot = params.node_base + offsets[i].y;
    out_nodes[slot] = Node(child, masks[i] & 0xffffu);
    if with_info {
        out_info[slot] = vec2<u32>(roots[pairs[i].object].y, pairs[i].key);
    }
}
