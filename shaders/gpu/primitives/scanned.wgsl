// What the kernels of a prefix sum share: how many items there are, at the list itself (depth 0) or at the sums of its
// blocks, and which of the two counters is summed.
//#include shared/counted

// `second_only`: the first counter stays as it is.
struct ScanParams { depth: u32, second_only: u32 }

@group(0) @binding(0) var<uniform> params: ScanParams;
@group(0) @binding(20) var<uniform> size: Counted;

// Items that are written: one more than there are in the list, the total.
fn writable() -> u32 {
    var items = size.count + 1u;
    for (var d = 0u; d < params.depth; d++) {
        items = (items + SCAN_BLOCK - 1u) / SCAN_BLOCK;
    }
    return items;
}

fn readable() -> u32 {
    return select(writable(), size.count, params.depth == 0u);
}

fn summed(item: vec2<u32>) -> vec2<u32> {
    return select(item, vec2<u32>(0u, item.y), params.second_only != 0u);
}
