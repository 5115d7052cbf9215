// Reorders the leaves for the components' octrees.
// One thread takes one (component, node) pair at the last parent level and moves its leaves.
//#include shared/thread
//#include fracture/voronoi/exact

struct SplitParams { pairs: u32, last: u32 }

@group(0) @binding(0) var<uniform> params: SplitParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> pairs: array<Pair>;
@group(0) @binding(3) var<storage, read> masks: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> place: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read> surface: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read> cuts: array<u32>;
@group(0) @binding(8) var<storage, read_write> out_place: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read_write> out_surface: array<vec2<u32>>;
@group(0) @binding(10) var<storage, read_write> out_cuts: array<u32>;

fn thread(i: u32) {
    if i >= params.pairs || (masks[i] & 0xffu) == 0u {
        return;
    }
    let first = nodes[pairs[i].source].child_base;
    for (var k = 0u; k < countOneBits(masks[i] & 0xffu); k++) {
        out_place[offsets[i].x + k] = place[first + k];
        out_surface[offsets[i].x + k] = surface[first + k];
        out_cuts[offsets[i].x + k] = cuts[first + k];
    }
}
