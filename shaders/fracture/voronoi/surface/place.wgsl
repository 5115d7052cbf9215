// Where every copy of the fracture boundary set goes, so that the passes after it can take one thread a copy: eight
// neighbouring leaves of a pair hold three copies on average, and a software driver runs through all eight for
// each. One thread takes one pair at the last parent level. out_place: x = Morton code, y = the pair, for now.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/exact

// Copies are written some at a time: those from `first` to before `end`.
struct PlaceParams { first: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: PlaceParams;
@group(0) @binding(20) var<uniform> size: Counted;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> out_place: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= size.count || offsets[i + 1u].x <= params.first || offsets[i].x >= params.end {
        return;
    }
    let key = pairs[i].key << 3u;
    var slot = offsets[i].x;
    for (var rest = masks[i] & 0xffu; rest != 0u; rest &= rest - 1u) {
        if slot >= params.first && slot < params.end {
            out_place[slot - params.first] = vec2<u32>(key | firstTrailingBit(rest), i);
        }
        slot += 1u;
    }
}
