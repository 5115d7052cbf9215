// Bricks: what a node and its children hold of the solid, two levels deep, as 64 bits. For the passes of the islands.
// Bit 8 c + k is octant k of octant c, so a byte is an octant of the node: x is the lower half in z, y the upper.
//#include shared/octree

struct Brick {
    low: u32,
    high: u32,
    // Label of the brick's solid where all of it is connected inside the brick, or one of the two below.
    root: u32,
}

const EMPTY: u32 = 0xffffffffu;
const SEVERAL: u32 = 0xfffffffeu;

// A neighbour that is part of a larger internal node: the owner's index with this bit. A neighbour that is not
// there: NONE.
const SOLID: u32 = 0x80000000u;
const NONE: u32 = 0xffffffffu;

// The 27 places round a node, n = 13 + x + 3 y + 9 z. Two nodes meet once if one looks in the 13 directions above 13.
const FACES: u32 = 0x00415410u;
const HALF: u32 = 0x07ffc000u;

fn direction(n: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(n % 3u, (n / 3u) % 3u, n / 9u)) - vec3<i32>(1i);
}

fn place_number(d: vec3<i32>) -> u32 {
    return u32(13i + d.x + 3i * d.y + 9i * d.z);
}

fn octant_place(c: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(c & 1u, (c >> 1u) & 1u, (c >> 2u) & 1u));
}

fn octant_of(brick: vec2<u32>, c: u32) -> u32 {
    return (select(brick.x, brick.y, c >= 4u) >> (8u * (c & 3u))) & 0xffu;
}

// The octants of octant a that lie at its side towards octant b of the same 2x2x2 block.
fn side_towards(a: u32, b: u32) -> u32 {
    let apart = a ^ b;
    var mask = 0xffu;
    mask &= select(0xffu, select(0x55u, 0xaau, (b & 1u) != 0u), (apart & 1u) != 0u);
    mask &= select(0xffu, select(0x33u, 0xccu, (b & 2u) != 0u), (apart & 2u) != 0u);
    return mask & select(0xffu, select(0x0fu, 0xf0u, (b & 4u) != 0u), (apart & 4u) != 0u);
}

// Number of octant c's child; meaningful only where c is valid.
fn child_of(child_base: u32, masks: u32, c: u32) -> u32 {
    return child_base + countOneBits(masks & 0xffu & ((1u << c) - 1u));
}
