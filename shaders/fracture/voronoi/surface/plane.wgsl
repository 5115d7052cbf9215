// Planes of leaves in whole numbers of 32 bits, line for line as crates/core/src/fracture/voronoi/surface/plane.rs has them;
// there is shown that nothing overflows. Rounding is half away from zero: the two sides of a crack see opposite
// planes, to the bit.

// A plane through a leaf, or near it.
struct Plane {
    // Out of the object; largest component 2^14 to 2^15.
    normal: vec3<i32>,
    // Length of the normal, rounded.
    length: u32,
    // Signed distance from the leaf's centre along the normal, 1/4096 voxel, within two voxels.
    offset: i32,
}

// Bits of the units of an offset in a voxel, and the largest offset.
const VOXEL_BITS: i32 = 12i;
const VOXEL: i32 = 4096i;
const FARTHEST: u32 = 8192u;

// Through the leaf's centre, facing +z: what is shown where nothing is known.
fn plane_up() -> Plane {
    return Plane(vec3<i32>(0i, 0i, 32768i), 32768u, 0i);
}

// A whole vector kept to 15 bits: it is `vector` * 2^shift, nearly.
struct Scaled {
    vector: vec3<i32>,
    length: u32,
    shift: i32,
}

// Square root of at most 3 * 2^30, rounded to the nearest whole number.
fn root(square: u32) -> u32 {
    // A float's root is one off at most, however a device rounds; these steps make it exact.
    var r = u32(sqrt(f32(square)));
    r -= select(0u, 1u, r * r > square);
    r -= select(0u, 1u, r * r > square);
    r += select(0u, 1u, (r + 1u) * (r + 1u) <= square);
    r += select(0u, 1u, (r + 1u) * (r + 1u) <= square);
    return r + select(0u, 1u, square - r * r > r);
}

fn scaled(vector: vec3<i32>) -> Scaled {
    let size = vec3<u32>(abs(vector));
    let largest = max(size.x, max(size.y, size.z));
    if largest == 0u {
        return Scaled(vec3<i32>(0i, 0i, 32768i), 32768u, 0i);
    }
    // Of 0 that is -1.
    let shift = bitcast<i32>(firstLeadingBit(largest - 1u)) - 14i;
    let down = u32(max(shift, 0i));
    let up = u32(max(-shift, 0i));
    let part = ((size << vec3<u32>(up)) + vec3<u32>((1u << down) >> 1u)) >> vec3<u32>(down);
    return Scaled(vec3<i32>(part) * sign(vector), root(dot(part, part)), shift);
}

// `numerator` * 2^shift / `denominator`, rounded and at most FARTHEST; the denominator is a length (1 to 56,756),
// the shift -14 to 31.
fn quotient(numerator: u32, shift: i32, denominator: u32) -> u32 {
    // A denominator takes 3 bits more; what a numerator loses beyond them is below the precision.
    let top = numerator >> u32(max(-3i - shift, 0i));
    let bottom = denominator << u32(clamp(-shift, 0i, 3i));
    let left = u32(max(shift, 0i));
    if top > (FARTHEST * bottom) >> left {
        return FARTHEST;
    }
    return ((top << left) + bottom / 2u) / bottom;
}

// `value` / `step`, rounded, halves away from zero.
fn rounded(value: i32, step: i32) -> i32 {
    return (abs(value) + step / 2i) / step * sign(value);
}

// Octahedral coordinates of a normal with components up to 2^15, in whole steps.
fn to_octahedral(normal: vec3<i32>, steps: u32) -> vec2<i32> {
    let size = vec3<u32>(abs(normal));
    let sum = max(size.x + size.y + size.z, 1u);
    var part = vec2<i32>((steps * size.xy + sum / 2u) / sum);
    if normal.z < 0i {
        part = vec2<i32>(i32(steps)) - part.yx;
    }
    return select(part, -part, normal.xy < vec2<i32>(0i));
}

// Its inverse, of no certain length.
fn from_octahedral(p: vec2<i32>, steps: i32) -> vec3<i32> {
    let z = steps - abs(p.x) - abs(p.y);
    let back = max(-z, 0i);
    return vec3<i32>(select(p - back, p + back, p < vec2<i32>(0i)), z);
}

fn plane_with_offset(normal: vec3<i32>, offset: i32) -> Plane {
    let n = scaled(normal);
    return Plane(n.vector, n.length, offset);
}

// The plane where dot(normal, x) is `height`, x counted from the leaf's centre; the leaf's edge is 2^bits of x's
// units.
fn plane_through(normal: vec3<i32>, height: i32, bits: u32) -> Plane {
    let n = scaled(normal);
    let size = quotient(u32(abs(height)), VOXEL_BITS - i32(bits) - n.shift, n.length);
    return Plane(n.vector, n.length, i32(size) * sign(height));
}

// The bisector of two seeds, facing `other`; `own_distance2` is the squared distance of the leaf's centre from `own`,
// `edge` the leaf's, a power of two.
fn bisector(own: vec3<i32>, own_distance2: i32, other: vec3<i32>, centre: vec3<i32>, edge: i32) -> Plane {
    let d = centre - other;
    return plane_through(other - own, dot(d, d) - own_distance2, u32(firstTrailingBit(edge)) + 1u);
}

// A leaf's own plane, from its normal and its colour word.
fn plane_of_surface(surface: vec2<u32>) -> Plane {
    let xy = vec2<i32>(bitcast<i32>(surface.x << 16u) >> 16u, bitcast<i32>(surface.x) >> 16u);
    let normal = from_octahedral(max(xy, vec2<i32>(-32767i)), 32767i);
    return plane_with_offset(normal, (bitcast<i32>(surface.y) >> 25u) * (VOXEL / 64i));
}

// Offset of a leaf's second plane, 1/4096 voxel; only where there is one.
fn plane_cut_offset(word: u32) -> i32 {
    return (i32(word >> 24u) - 128i) * (VOXEL / 128i);
}

// A leaf's second plane; only where there is one.
fn plane_of_cut(word: u32) -> Plane {
    let xy = vec2<i32>(bitcast<i32>(word << 20u) >> 20u, bitcast<i32>(word << 8u) >> 20u);
    return plane_with_offset(from_octahedral(xy, 2047i), plane_cut_offset(word));
}

// The same plane seen from its other side.
fn plane_turned(plane: Plane) -> Plane {
    return Plane(-plane.normal, plane.length, -plane.offset);
}

// As a leaf's normal.
fn plane_normal_word(plane: Plane) -> u32 {
    let q = to_octahedral(plane.normal, 32767u);
    return (bitcast<u32>(q.x) & 0xffffu) | (bitcast<u32>(q.y) << 16u);
}

// The colour word of a crack voxel; fracture/voronoi/surface/paint puts the colour in.
fn plane_crack_word(plane: Plane) -> u32 {
    let offset = clamp(rounded(plane.offset, VOXEL / 64i), -64i, 63i);
    return (1u << 24u) | ((bitcast<u32>(offset) & 0x7fu) << 25u);
}

// As a leaf's second plane.
fn plane_cut_word(plane: Plane) -> u32 {
    let q = to_octahedral(plane.normal, 2047u);
    let offset = clamp(rounded(plane.offset, VOXEL / 128i), -127i, 127i) + 128i;
    return (bitcast<u32>(q.x) & 0xfffu) | ((bitcast<u32>(q.y) & 0xfffu) << 12u) | (u32(offset) << 24u);
}
