// Where every copy of the fracture boundary set goes, so that the passes after it can take one thread a copy: eight
// neighbouring leaves of a pair hold three copies on average, and a software driver runs through all eight for
// each. One thread takes one pair at the last parent level. out_place: x = Morton code, y = the pair, for now.
//#include shared/thread
//#include fracture/voronoi/exact

struct PlaceParams { pairs: u32 }

@group(0) @binding(0) var<uniform> params: PlaceParams;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> out_place: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= params.pairs {
        return;
    }
    let key = pairs[i].key << 3u;
    var slot = offsets[i].x;
    for (var rest = masks[i] & 0xffu; rest != 0u; rest &= rest - 1u) {
        out_place[slot] = vec2<u32>(key | firstTrailingBit(rest), i);
        slot += 1u;
    }
}
