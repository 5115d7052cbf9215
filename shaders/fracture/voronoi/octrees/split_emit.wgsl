// One level of copying each component's octree, writing the pairs of the next level in order.
// One thread takes one (component, node) pair.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/exact

// `last`: the next level is the last.
struct SplitParams { last: u32 }

@group(0) @binding(0) var<uniform> params: SplitParams;
@group(0) @binding(20) var<uniform> size: Counted;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> pairs: array<Pair>;
@group(0) @binding(3) var<storage, read> masks: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> next_pairs: array<Pair>;

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    let pair = pairs[i];
    let node = nodes[pair.source];
    var slot = offsets[i].x;
    for (var rest = masks[i] & 0xffu; rest != 0u; rest &= rest - 1u) {
        let c = firstTrailingBit(rest);
        let child = node_child(node, c);
        // The leaves stay where they are; this is where a node of the last level finds its own.
        let leaves = nodes[select(pair.source, child, params.last != 0u)].child_base;
        next_pairs[slot] = Pair(child, pair.object, (pair.key << 3u) | c, leaves, 0u);
        slot += 1u;
    }
}
