// What the kernels of a radix sort share. A tile of keys is one workgroup's, in rounds of one key a thread; a digit of
// a tile is one thread's, as there are as many digits as threads.
//#include shared/counted

// `shift`: bits below the digit; `tiles`: of all keys for which there is room.
struct RadixParams { shift: u32, tiles: u32 }

@group(0) @binding(0) var<uniform> params: RadixParams;
@group(0) @binding(20) var<uniform> size: Counted;
// (key, value)
@group(0) @binding(1) var<storage, read> keys: array<vec2<u32>>;

// Values of a digit: eight bits, and the threads of a workgroup.
const DIGITS: u32 = WORKGROUP;
const ROUNDS: u32 = 4u;

fn digit_of(key: u32) -> u32 {
    return (key >> params.shift) & (DIGITS - 1u);
}

// The key of a thread in a round of a tile.
fn place_of(tile: u32, round: u32, local: u32) -> u32 {
    return (tile * ROUNDS + round) * WORKGROUP + local;
}

// Where a tile's count of a digit is: all tiles of the first digit, then all of the next, so that the sum of those before
// is where the tile's keys of the digit begin.
fn count_of(digit: u32, tile: u32) -> u32 {
    return digit * params.tiles + tile;
}
