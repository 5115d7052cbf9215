// Bottom-up: drops the pairs below which no voxel of the object was found (the descent's test is a bound, not exact
// above leaves), and those that turned out to lie wholly inside: their parent holds them as internal.
// One thread takes one pair of a level; the level below has been done.
// The second word of an offset, which the descent needs no more, is 1 for what stays, and is scanned afterwards.
//#include shared/thread
//#include shared/counted

// All eight octants internal.
const WHOLE: u32 = 0xff00u;

struct PruneKeepParams { last: u32, root: u32 }

@group(0) @binding(0) var<uniform> params: PruneKeepParams;
@group(0) @binding(1) var<storage, read_write> offsets: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> below: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> masks_below: array<u32>;
@group(0) @binding(4) var<storage, read_write> masks: array<u32>;
@group(0) @binding(20) var<uniform> size: Counted;

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    var mask = masks[i];
    if params.last == 0u {
        var child = offsets[i].x;
        var before = below[child].y;
        for (var rest = mask & 0xffu; rest != 0u; rest &= rest - 1u) {
            let bit = rest & (~rest + 1u);
            let kept = below[child + 1u].y;
            if kept == before {
                mask &= ~bit;
                mask |= select(0u, bit << 8u, (masks_below[child] & 0xffffu) == WHOLE);
            }
            before = kept;
            child += 1u;
        }
        masks[i] = mask;
    }
    let octants = mask & 0xffffu;
    offsets[i].y = u32(octants != 0u && (octants != WHOLE || params.root != 0u));
}
