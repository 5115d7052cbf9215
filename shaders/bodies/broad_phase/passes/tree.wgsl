// The hierarchy over sorted Morton codes (Karras 2012, Maximizing Parallelism in the Construction of BVHs, sec. 3). One
// thread: one inner node; it finds its range and its split by itself. Equal codes, as of bodies in one place, are told
// apart by their place in the order.
//#include shared/thread
//#include bodies/broad_phase/passes/params
//#include bodies/broad_phase/passes/branch

@group(0) @binding(0) var<uniform> params: HierarchyParams;
@group(0) @binding(1) var<storage, read> keys: array<vec2<u32>>;
// (left, right, first leaf, last leaf)
@group(0) @binding(2) var<storage, read_write> branches: array<vec4<u32>>;
// Of the inner nodes, then of the leaves.
@group(0) @binding(3) var<storage, read_write> parents: array<u32>;
// Emptied here, filled by boxes.
@group(0) @binding(4) var<storage, read_write> bounds: array<i32>;

// Bits that the keys i and j have in common; less than any where there is no j.
fn shared_bits(i: i32, j: i32) -> i32 {
    if j < 0 || j >= i32(params.boxes) {
        return -1;
    }
    let differ = keys[i].x ^ keys[j].x;
    if differ == 0u {
        return 32 + i32(countLeadingZeros(u32(i) ^ u32(j)));
    }
    return i32(countLeadingZeros(differ));
}

fn adopt(child: u32, parent: u32) {
    let at = select(child, params.boxes - 1u + (child & ~LEAF), (child & LEAF) != 0u);
    parents[at] = parent;
}

fn thread(id: u32) {
    if id + 1u >= params.boxes {
        return;
    }
    let i = i32(id);
    let way = select(-1, 1, shared_bits(i, i + 1) > shared_bits(i, i - 1));
    let outside = shared_bits(i, i - way);
    var most = 2;
    while shared_bits(i, i + most * way) > outside {
        most *= 2;
    }
    var length = 0;
    for (var step = most / 2; step > 0; step /= 2) {
        if shared_bits(i, i + (length + step) * way) > outside {
            length += step;
        }
    }
    let j = i + length * way;
    let inside = shared_bits(i, j);
    var split = 0;
    var step = length;
    loop {
        step = (step + 1) / 2;
        if shared_bits(i, i + (split + step) * way) > inside {
            split += step;
        }
        if step <= 1 {
            break;
        }
    }
    let middle = i + split * way + min(way, 0);
    let first = min(i, j);
    let last = max(i, j);
    let left = u32(middle) | select(0u, LEAF, first == middle);
    let right = u32(middle + 1) | select(0u, LEAF, last == middle + 1);
    branches[id] = vec4<u32>(left, right, u32(first), u32(last));
    adopt(left, id);
    adopt(right, id);
    if id == 0u {
        parents[0] = NOBODY;
    }
    for (var k = 0u; k < BOX_WORDS; k++) {
        bounds[BOX_WORDS * id + k] = select(0x7fffffff, -0x7fffffff, k >= 3u);
    }
}
