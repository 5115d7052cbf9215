// Smallest and largest component label below each node, so that a component's octree is copied without walking its
// neighbours'. One thread takes one node of one level; the level below has been done.
//#include shared/thread
//#include shared/octree

struct SplitRangeParams { first: u32, count: u32, level: u32, last: u32, island_last: u32 }

@group(0) @binding(0) var<uniform> params: SplitRangeParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> ranges: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= params.count {
        return;
    }
    let at = params.first + i;
    let node = nodes[at];
    var range = vec2<u32>(0xffffffffu, 0u);
    if params.level >= params.island_last || node_internal(node) != 0u {
        range = vec2<u32>(labels[at]);
    }
    if params.level < params.last {
        for (var k = 0u; k < countOneBits(node_valid(node)); k++) {
            let below = ranges[node.child_base + k];
            range = vec2<u32>(min(range.x, below.x), max(range.y, below.y));
        }
    }
    ranges[at] = range;
}
