// Bitonic sort of keys, one stride that is longer than a block (see sort_block). One thread: one exchange.
//#include shared/thread
//#include bodies/broad_phase/passes/params

@group(0) @binding(0) var<uniform> params: HierarchyParams;
@group(0) @binding(1) var<storage, read_write> keys: array<vec2<u32>>;

fn thread(id: u32) {
    if id >= params.keys / 2u {
        return;
    }
    let low = 2u * params.stride * (id / params.stride) + id % params.stride;
    let a = keys[low];
    let b = keys[low + params.stride];
    let is_after = a.x > b.x || (a.x == b.x && a.y > b.y);
    if is_after == ((low & params.size) == 0u) {
        keys[low] = b;
        keys[low + params.stride] = a;
    }
}
