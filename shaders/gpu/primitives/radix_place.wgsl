// Last part of a pass of a radix sort: every key goes to its place by the digit, equal ones in the order in which they
// were. One workgroup: one tile, in rounds of one key a thread. In a round each digit has a bit for every thread that
// has such a key; the bits of the threads before a thread say how many of its digit come before it.
//#include gpu/primitives/radix

// The scanned counts.
@group(0) @binding(2) var<storage, read> starts: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sorted: array<vec2<u32>>;

const WORDS: u32 = WORKGROUP / 32u;

var<workgroup> marks: array<atomic<u32>, DIGITS * WORDS>;
// By digit: where its next key goes.
var<workgroup> next: array<u32, DIGITS>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = workgroup.y * groups.x + workgroup.x;
    if tile >= params.tiles {
        return;
    }
    next[local] = starts[count_of(local, tile)].x;
    for (var round = 0u; round < ROUNDS; round++) {
        for (var word = 0u; word < WORDS; word++) {
            atomicStore(&marks[local * WORDS + word], 0u);
        }
        workgroupBarrier();
        let place = place_of(tile, round, local);
        let own_word = local / 32u;
        let own_bit = 1u << (local % 32u);
        var item = vec2<u32>(0u);
        var digit = 0u;
        if place < size.count {
            item = keys[place];
            digit = digit_of(item.x);
            atomicOr(&marks[digit * WORDS + own_word], own_bit);
        }
        workgroupBarrier();
        if place < size.count {
            var before = countOneBits(atomicLoad(&marks[digit * WORDS + own_word]) & (own_bit - 1u));
            for (var word = 0u; word < own_word; word++) {
                before += countOneBits(atomicLoad(&marks[digit * WORDS + word]));
            }
            sorted[next[digit] + before] = item;
        }
        workgroupBarrier();
        for (var word = 0u; word < WORDS; word++) {
            next[local] += countOneBits(atomicLoad(&marks[local * WORDS + word]));
        }
    }
}
