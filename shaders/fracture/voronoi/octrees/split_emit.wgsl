// One level of copying each component's octree, writing the pairs of the next level in order.
// One thread takes one (component, node) pair.
//#include shared/thread
//#include fracture/voronoi/exact

struct SplitParams { pairs: u32, last: u32 }

@group(0) @binding(0) var<uniform> params: SplitParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> pairs: array<Pair>;
@group(0) @binding(3) var<storage, read> masks: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> next_pairs: array<Pair>;

fn thread(i: u32) {
    if i >= params.pairs {
        return;
    }
    let pair = pairs[i];
    let node = nodes[pair.source];
    var slot = offsets[i].x;
    for (var rest = masks[i] & 0xffu; rest != 0u; rest &= rest - 1u) {
        let c = firstTrailingBit(rest);
        next_pairs[slot] = Pair(node_child(node, c), pair.object, (pair.key << 3u) | c, 0u, 0u);
        slot += 1u;
    }
}
