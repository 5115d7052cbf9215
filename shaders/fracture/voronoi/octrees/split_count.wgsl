// One level of copying each component's octree out of its cell's octree, counting.
// One thread takes one (component, node) pair. `object` of a pair is the component's rank.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/exact

struct SplitParams { last: u32 }

@group(0) @binding(0) var<uniform> params: SplitParams;
@group(0) @binding(20) var<uniform> size: Counted;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> components: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> pairs: array<Pair>;
@group(0) @binding(6) var<storage, read_write> masks: array<u32>;
@group(0) @binding(7) var<storage, read_write> counts: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    let pair = pairs[i];
    let label = components[pair.object].x;
    let node = nodes[pair.source];
    let mine = labels[pair.source] == label;
    let is_last = params.last != 0u;
    var alive = select(0u, node_valid(node), mine && is_last);
    var child = node.child_base;
    for (var rest = select(node_valid(node), 0u, is_last); rest != 0u; rest &= rest - 1u) {
        let range = ranges[child];
        alive |= select(0u, rest & (~rest + 1u), range.x <= label && label <= range.y);
        child += 1u;
    }
    masks[i] = alive | (select(0u, node_internal(node), mine) << 8u);
    counts[i] = vec2<u32>(countOneBits(alive), 0u);
}
