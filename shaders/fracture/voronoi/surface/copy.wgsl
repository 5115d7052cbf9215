// The frame of the kernels that write the attributes of the fracture boundary set: one thread takes one copy.
// out_place:   x = Morton code, y = the pair (so fracture/voronoi/surface/place leaves it); then the source
// leaf (28 bits, NO_LEAF for a new
//              crack voxel), and how its shares are counted (4 bits)
// out_surface: x = packed normal, y = packed colour word
// out_cuts:    second plane
//#include shared/thread
//#include fracture/voronoi/descent/source

struct CopyParams { copies: u32, level: u32, node_base: u32, leaf_base: u32 }

@group(0) @binding(0) var<uniform> params: CopyParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> pairs: array<Pair>;
@group(0) @binding(3) var<storage, read> source_normals: array<u32>;
@group(0) @binding(4) var<storage, read> source_colors: array<u32>;
@group(0) @binding(5) var<storage, read> source_cuts: array<u32>;
@group(0) @binding(6) var<storage, read_write> out_place: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> out_surface: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> out_cuts: array<u32>;

const NO_LEAF: u32 = 0x0fffffffu;

struct Copy {
    slot: u32,
    pair: Pair,
    key: u32,
    leaf: u32,
}

fn copy_at(slot: u32) -> Copy {
    let place = out_place[slot];
    let pair = pairs[place.y];
    return Copy(slot, pair, place.x, min(source_below(pair, place.x & 7u), NO_LEAF));
}

// Normal, colour word and second plane of the source's leaf.
fn source_surface(leaf: u32) -> vec2<u32> {
    return vec2<u32>(source_normals[params.leaf_base + leaf], source_colors[params.leaf_base + leaf]);
}

fn source_cut(leaf: u32) -> u32 {
    return source_cuts[params.leaf_base + leaf];
}

// `shares` as crates/core/src/fracture/result.rs counts them.
fn write_out(copy: Copy, shares: u32, surface: vec2<u32>, cut: u32) {
    out_place[copy.slot] = vec2<u32>(copy.key, copy.leaf | (shares << 28u));
    out_surface[copy.slot] = surface;
    out_cuts[copy.slot] = cut;
}
