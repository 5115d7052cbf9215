// A picture of all directions: what lies behind the scene, what is mirrored in it, and the diffuse light that comes of it.
// crates/render/src/surroundings.rs packs it and computes the same on the cores.

// Head: width and height of the picture, then of its coarse copy; cosine and sine of its turn, its brightness; nine
// coefficients of the diffuse light, three channels each. From SURROUNDINGS_HEAD on the coarse copy, then the picture, rows
// from the top: nine bits each of red, green and blue, and their exponent e, a unit being 2^(e - 24). One word without a
// picture.
@group(0) @binding(8) var<storage, read> surroundings: array<u32>;

const SURROUNDINGS_HEAD = 36u;

// The angle with this sine and cosine, times any length, as a share of a turn: -0.5 to 0.5. A driver's own function may be
// off by more than a texel.
fn turns(sine: f32, cosine: f32) -> f32 {
    let s = abs(sine);
    let c = abs(cosine);
    let t = min(s, c) / max(max(s, c), 1e-20);
    let u = t * t;
    var angle = 0.0012172733;
    angle = angle * u - 0.0057869423;
    angle = angle * u + 0.013229986;
    angle = angle * u - 0.02140294;
    angle = angle * u + 0.031627335;
    angle = angle * u - 0.053039465;
    angle = (angle * u + 0.15915482) * t;
    angle = select(angle, 0.25 - angle, s > c);
    angle = select(angle, 0.5 - angle, cosine < 0.0);
    return select(angle, -angle, sine < 0.0);
}

// A direction of the world in the picture.
fn in_picture(direction: vec3<f32>) -> vec3<f32> {
    let c = bitcast<f32>(surroundings[4]);
    let s = bitcast<f32>(surroundings[5]);
    return vec3<f32>(direction.x * c - direction.z * s, direction.y, direction.x * s + direction.z * c);
}

fn picture_texel(at: u32) -> vec3<f32> {
    let word = surroundings[at];
    let unit = bitcast<f32>(((word >> 27u) + 103u) << 23u);
    return vec3<f32>(vec3<u32>(word, word >> 9u, word >> 18u) & vec3<u32>(511u)) * unit;
}

// Mixes the four texels nearest to a direction of a picture that begins at `first`.
fn picture_light(first: u32, size: vec2<u32>, d: vec3<f32>) -> vec3<f32> {
    let across = (0.5 + turns(d.x, -d.z)) * f32(size.x) - 0.5;
    let down = clamp((0.5 - 2.0 * turns(d.y, sqrt(d.x * d.x + d.z * d.z))) * f32(size.y) - 0.5, 0.0, f32(size.y) - 1.0);
    let left = floor(across);
    let top = floor(down);
    // The first and the last column meet.
    let columns = vec2<u32>(vec2<i32>(i32(left), i32(left) + 1) + i32(size.x)) % size.x;
    let above = first + u32(top) * size.x;
    let below = first + min(u32(top) + 1u, size.y - 1u) * size.x;
    let share = across - left;
    let upper_left = picture_texel(above + columns.x);
    let lower_left = picture_texel(below + columns.x);
    let upper = upper_left + (picture_texel(above + columns.y) - upper_left) * share;
    let lower = lower_left + (picture_texel(below + columns.y) - lower_left) * share;
    return (upper + (lower - upper) * (down - top)) * bitcast<f32>(surroundings[6]);
}

// The light from a direction, unit.
fn surroundings_light(direction: vec3<f32>) -> vec3<f32> {
    let first = SURROUNDINGS_HEAD + surroundings[2] * surroundings[3];
    return picture_light(first, vec2<u32>(surroundings[0], surroundings[1]), in_picture(direction));
}

// The same, blurred.
fn surroundings_blurred(direction: vec3<f32>) -> vec3<f32> {
    return picture_light(SURROUNDINGS_HEAD, vec2<u32>(surroundings[2], surroundings[3]), in_picture(direction));
}

// What a white matt surface with this normal reflects of it (Ramamoorthi & Hanrahan 2001).
fn surroundings_diffuse(normal: vec3<f32>) -> vec3<f32> {
    let n = in_picture(normal);
    var products = array<f32, 9>(
        1.0, n.y, n.z, n.x, n.x * n.y, n.y * n.z, 3.0 * n.z * n.z - 1.0, n.x * n.z, n.x * n.x - n.y * n.y);
    var sum = vec3<f32>(0.0);
    for (var k = 0u; k < 9u; k++) {
        let at = 7u + 3u * k;
        let factor = vec3<u32>(surroundings[at], surroundings[at + 1u], surroundings[at + 2u]);
        sum += bitcast<vec3<f32>>(factor) * products[k];
    }
    return max(sum, vec3<f32>(0.0)) * bitcast<f32>(surroundings[6]);
}
