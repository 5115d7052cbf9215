// Random numbers of crack surfaces, in whole numbers so that every device agrees (2018, sec. 5.2: a procedural
// value for every vertex). Included by kernels that declare the uniform `shape`.
//#include fracture/voronoi/exact

// As crates/core/src/fracture/voronoi/surface/rough/points.rs packs it.
struct CrackUniform {
    salt: u32,
    offset: u32,
    strength: i32,
    amplitude: i32,
    frequency: u32,
    octaves: u32,
    face: i32,
    voxel: i32,
    votes: u32,
    transition: u32,
    gap: i32,
    irregularity: i32,
}

fn crack_hash(p: vec3<u32>, salt: u32) -> u32 {
    var h = salt;
    for (var a = 0u; a < 3u; a++) {
        h = (h ^ p[a]) * 0x9e3779b1u;
        h = (h ^ (h >> 15u)) * 0x85ebca77u;
        h = h ^ (h >> 13u);
    }
    h = h * 0xc2b2ae3du;
    return h ^ (h >> 16u);
}

fn crack_mix(a: u32, b: u32, t: u32) -> u32 {
    return (a * (256u - t) + b * t) >> 8u;
}

// Value noise, 0..=255; `p` in fixed point, `frequency` lattice cells a grid side. At most 2^14 * 2^16: no overflow.
fn crack_value_noise(p: vec3<u32>, frequency: u32, salt: u32) -> u32 {
    let scaled = p * frequency;
    let cell = scaled >> vec3<u32>(UNIT_BITS);
    let t = (scaled & vec3<u32>((1u << UNIT_BITS) - 1u)) >> vec3<u32>(6u);
    let smooth_t = (t * t * (vec3<u32>(768u) - 2u * t)) >> vec3<u32>(16u);
    var knots: array<u32, 8>;
    for (var c = 0u; c < 8u; c++) {
        knots[c] = crack_hash(cell + vec3<u32>(c & 1u, (c >> 1u) & 1u, c >> 2u), salt) >> 24u;
    }
    for (var c = 0u; c < 4u; c++) {
        knots[c] = crack_mix(knots[2u * c], knots[2u * c + 1u], smooth_t.x);
    }
    let low = crack_mix(knots[0], knots[1], smooth_t.y);
    let high = crack_mix(knots[2], knots[3], smooth_t.y);
    return crack_mix(low, high, smooth_t.z);
}

// Weight of a corner of the transition grid, 0..=255.
fn crack_weight(p: vec3<u32>) -> i32 {
    var sum = 0u;
    for (var octave = 0u; octave < shape.octaves; octave++) {
        let layer = crack_value_noise(p, shape.frequency << octave, shape.salt + octave * 0x3c6ef372u);
        sum += layer << (shape.octaves - 1u - octave);
    }
    return i32(sum / ((1u << shape.octaves) - 1u));
}

// -1..1 times `reach`, from one byte of a random word.
fn crack_stray(random: u32, byte: u32, reach: i32) -> i32 {
    return ((i32((random >> (8u * byte)) & 0xffu) - 128i) * reach) / 128i;
}
