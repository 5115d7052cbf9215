// Whole numbers of several words, in two's complement, the lowest word first: 64 bits in a vec2, 96 in a vec3. Only
// adding, multiplying and signs; crates/core/src/fracture/box_cut/cell.rs says how wide the numbers of a cell get.

// All 64 bits of a product, by halves: WGSL has no wider one.
fn multiplied(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
    return vec2<u32>((second << 16u) | (low & 0xffffu), high);
}

fn is_negative2(a: vec2<u32>) -> bool {
    return (a.y >> 31u) != 0u;
}

fn is_negative3(a: vec3<u32>) -> bool {
    return (a.z >> 31u) != 0u;
}

fn sum2(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn sum3(a: vec3<u32>, b: vec3<u32>) -> vec3<u32> {
    let low = sum2(a.xy, b.xy);
    // Whether the lower 64 bits ran over.
    let carry = low.y < a.y || (low.y == a.y && low.x < a.x);
    return vec3<u32>(low, a.z + b.z + u32(carry));
}

fn negated2(a: vec2<u32>) -> vec2<u32> {
    return sum2(~a, vec2<u32>(1u, 0u));
}

fn negated3(a: vec3<u32>) -> vec3<u32> {
    return sum3(~a, vec3<u32>(1u, 0u, 0u));
}

fn absolute2(a: vec2<u32>) -> vec2<u32> {
    return select(a, negated2(a), is_negative2(a));
}

fn absolute3(a: vec3<u32>) -> vec3<u32> {
    return select(a, negated3(a), is_negative3(a));
}

fn wide2(a: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(a), select(0u, 0xffffffffu, a < 0i));
}

// i32 x i32.
fn product2(a: i32, b: i32) -> vec2<u32> {
    let magnitude = multiplied(u32(abs(a)), u32(abs(b)));
    return select(magnitude, negated2(magnitude), (a < 0i) != (b < 0i));
}

// 64 bits x i32, where the product has no more than 63.
fn scaled2(a: vec2<u32>, b: i32) -> vec2<u32> {
    let size = absolute2(a);
    var magnitude = multiplied(size.x, u32(abs(b)));
    magnitude.y += size.y * u32(abs(b));
    return select(magnitude, negated2(magnitude), is_negative2(a) != (b < 0i));
}

// 96 bits x i32, where the product has no more than 95.
fn scaled3(a: vec3<u32>, b: i32) -> vec3<u32> {
    let size = absolute3(a);
    let factor = u32(abs(b));
    let low = multiplied(size.x, factor);
    let middle = multiplied(size.y, factor);
    let magnitude = sum3(vec3<u32>(low, 0u), vec3<u32>(0u, middle)) + vec3<u32>(0u, 0u, size.z * factor);
    return select(magnitude, negated3(magnitude), is_negative3(a) != (b < 0i));
}

// 64 bits x 64 bits, where the product has no more than 95.
fn product3(a: vec2<u32>, b: vec2<u32>) -> vec3<u32> {
    let m = absolute2(a);
    let n = absolute2(b);
    var magnitude = vec3<u32>(multiplied(m.x, n.x), m.y * n.y);
    magnitude = sum3(magnitude, vec3<u32>(0u, multiplied(m.x, n.y)));
    magnitude = sum3(magnitude, vec3<u32>(0u, multiplied(m.y, n.x)));
    return select(magnitude, negated3(magnitude), is_negative2(a) != is_negative2(b));
}

fn sign3(a: vec3<u32>) -> i32 {
    return select(select(1i, 0i, (a.x | a.y | a.z) == 0u), -1i, is_negative3(a));
}

// Rounded. The words of the size have one sign, so nothing cancels: off by less than 2^-21 of the value, however the
// device rounds (a unit in the last place, 2^-23, for each conversion and each sum on the way).
fn rounded2(a: vec2<u32>) -> f32 {
    let size = absolute2(a);
    let value = f32(size.y) * 4294967296.0 + f32(size.x);
    return select(value, -value, is_negative2(a));
}

fn rounded3(a: vec3<u32>) -> f32 {
    let size = absolute3(a);
    let value = (f32(size.z) * 4294967296.0 + f32(size.y)) * 4294967296.0 + f32(size.x);
    return select(value, -value, is_negative3(a));
}
