// Boxes of the hierarchy, from the leaves up. One thread: one leaf, which grows the boxes of all above it. Karras (2012,
// sec. 4) lets the second of two children go on up, which wants the first one's box to be seen by another workgroup;
// WGSL does not promise that. Least and most of whole numbers need no order. Who finds itself within a box stops: whoever
// made the box so large goes on up.
//#include shared/thread
//#include bodies/broad_phase/passes/params
//#include bodies/broad_phase/passes/lattice
//#include bodies/broad_phase/passes/branch

@group(0) @binding(0) var<uniform> params: HierarchyParams;
@group(0) @binding(2) var<storage, read> keys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> parents: array<u32>;
@group(0) @binding(4) var<storage, read_write> bounds: array<atomic<i32>>;

fn thread(id: u32) {
    if id >= params.boxes {
        return;
    }
    var low = low_of(keys[id].y);
    var high = high_of(keys[id].y);
    var node = parents[params.boxes - 1u + id];
    while node != NOBODY {
        var grew = false;
        for (var k = 0u; k < 3u; k++) {
            grew |= atomicMin(&bounds[BOX_WORDS * node + k], low[k]) > low[k];
            grew |= atomicMax(&bounds[BOX_WORDS * node + 3u + k], high[k]) < high[k];
        }
        if !grew {
            break;
        }
        node = parents[node];
    }
}
