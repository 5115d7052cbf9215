//#include shared/volume
// What the structure of a material does to a point of a crack face: its displacement, and the normal of the displaced face.
// crates/core/src/fracture/interior/relief.rs is the same in Rust and says why space never folds. Knots are whole numbers
// and agree to the bit; all else is single precision.

const RELIEF_SALT = 32u;
// Share of a cell of fibres in which one passes into the next.
const RELIEF_FIBRE = 0.8;
const RELIEF_STEPS = 3.0;
const RELIEF_MIRROR = 1500.0;
// Ribs of glass: width of the first ones, how they widen, and how far they wander, in widths.
const RELIEF_RIB = 220.0;
const RELIEF_RIBS_WIDEN = 40.0;
const RELIEF_WANDER = 0.7;
const RELIEF_FAR = 4000.0;
// The rotation of the quaternion (5, 1, 2, 3).
const RELIEF_TURN = mat3x3<f32>(
    13.0 / 39.0, 34.0 / 39.0, -14.0 / 39.0,
    -26.0 / 39.0, 19.0 / 39.0, 22.0 / 39.0,
    26.0 / 39.0, 2.0 / 39.0, 29.0 / 39.0,
);
// A turn about y by an angle of the triangle 3, 4, 5.
const RELIEF_UPRIGHT = mat3x3<f32>(0.8, 0.0, -0.6, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8);

// A displacement and its derivatives, column k along axis k.
struct Layer {
    shift: vec3<f32>,
    slope: mat3x3<f32>,
}

// A point of a face on its way through the layers, in turned units of the material.
struct Layers {
    at: vec3<f32>,
    normal: vec3<f32>,
    // Normal of the smooth face, and how far the grains displaced the point along it.
    facing: vec3<f32>,
    out_of_grains: f32,
    strength: f32,
    // Smaller features do not show.
    finest: f32,
    salt: u32,
}

// Three whole numbers from 0 to 1023.
fn relief_knot(cell: vec3<i32>, salt: u32) -> vec3<f32> {
    let h = volume_hash(vec3<u32>(cell), salt);
    return vec3<f32>(vec3<u32>(h & 0x3ffu, (h >> 10u) & 0x3ffu, (h >> 20u) & 0x3ffu));
}

// Three noises from -1 to 1 with one knot per unit. `softness` is the share of a cell across x and z in which values change.
fn relief_noise(p: vec3<f32>, salt: u32, softness: f32) -> Layer {
    let low = floor(p);
    let soft = vec3<f32>(softness, 1.0, softness);
    let t = clamp((p - low - 0.5) / soft + 0.5, vec3<f32>(0.0), vec3<f32>(1.0));
    let s = t * t * (3.0 - 2.0 * t);
    let steep = t * (1.0 - t) * (6.0 / 511.5) / soft;
    let base = vec3<i32>(low);
    var k: array<vec3<f32>, 8>;
    for (var i = 0; i < 8; i++) {
        k[i] = relief_knot(base + vec3<i32>(i & 1, (i >> 1u) & 1, i >> 2u), salt);
    }
    let x00 = k[0] + (k[1] - k[0]) * s.x;
    let x10 = k[2] + (k[3] - k[2]) * s.x;
    let x01 = k[4] + (k[5] - k[4]) * s.x;
    let x11 = k[6] + (k[7] - k[6]) * s.x;
    let y0 = x00 + (x10 - x00) * s.y;
    let y1 = x01 + (x11 - x01) * s.y;
    let low_x = (k[1] - k[0]) + ((k[3] - k[2]) - (k[1] - k[0])) * s.y;
    let high_x = (k[5] - k[4]) + ((k[7] - k[6]) - (k[5] - k[4])) * s.y;
    let dx = low_x + (high_x - low_x) * s.z;
    let dy = (x10 - x00) + ((x11 - x01) - (x10 - x00)) * s.z;
    return Layer((y0 + (y1 - y0) * s.z) / 511.5 - 1.0, mat3x3<f32>(dx * steep.x, dy * steep.y, (y1 - y0) * steep.z));
}

fn relief_noise_of_cells(q: vec3<f32>, cell: f32, salt: u32) -> Layer {
    let over = 1.0 / cell;
    let here = relief_noise(q * over, salt, 1.0);
    return Layer(here.shift, here.slope * over);
}

// A layer times a number that has these derivatives.
fn relief_scaled(here: Layer, by: f32, slope: vec3<f32>) -> Layer {
    return Layer(here.shift * by, mat3x3<f32>(
        here.slope[0] * by + here.shift * slope.x,
        here.slope[1] * by + here.shift * slope.y,
        here.slope[2] * by + here.shift * slope.z,
    ));
}

// Strength of a layer whose features have this size.
fn relief_shown(here: Layers, size: f32) -> f32 {
    return here.strength * clamp((size / max(here.finest, 1e-3) - 1.5) / 1.5, 0.0, 1.0);
}

fn relief_add(here: Layers, layer: Layer, strong: f32) -> Layers {
    let x = vec3<f32>(1.0, 0.0, 0.0) + layer.slope[0] * strong;
    let y = vec3<f32>(0.0, 1.0, 0.0) + layer.slope[1] * strong;
    let z = vec3<f32>(0.0, 0.0, 1.0) + layer.slope[2] * strong;
    let n = cross(y, z) * here.normal.x + cross(z, x) * here.normal.y + cross(x, y) * here.normal.z;
    var next = here;
    next.at += layer.shift * strong;
    next.normal = n;
    return next;
}

fn relief_even(here: Layers, cell: f32, salt: u32, by: f32) -> Layers {
    let shown = relief_shown(here, cell);
    if shown == 0.0 {
        return here;
    }
    return relief_add(here, relief_noise_of_cells(here.at, cell, here.salt + salt), by * shown);
}

// Steps.
fn relief_chips(here: Layers, cell: f32, salt: u32, by: f32) -> Layers {
    let layer = relief_noise_of_cells(here.at, cell, here.salt + salt);
    let x = layer.shift * RELIEF_STEPS;
    let whole = floor(x);
    let t = clamp((x - whole) * 2.0 - 0.5, vec3<f32>(0.0), vec3<f32>(1.0));
    let stair = (whole + t * t * (3.0 - 2.0 * t)) / RELIEF_STEPS;
    let steep = t * (1.0 - t) * 12.0;
    let slope = mat3x3<f32>(layer.slope[0] * steep, layer.slope[1] * steep, layer.slope[2] * steep);
    return relief_add(here, Layer(stair, slope), by * relief_shown(here, cell / RELIEF_STEPS));
}

// Fibres along y: sizes of cells and displacements across and along.
fn relief_fibres(here: Layers, cell: vec2<f32>, salt: u32, along: vec2<f32>) -> Layers {
    let over = 1.0 / cell.xyx;
    let by = along.xyx;
    let layer = relief_noise(here.at * over, here.salt + salt, RELIEF_FIBRE);
    let slope = mat3x3<f32>(
        layer.slope[0] * over.x * by,
        layer.slope[1] * over.y * by,
        layer.slope[2] * over.z * by,
    );
    return relief_add(here, Layer(layer.shift * by, slope), relief_shown(here, cell.x * RELIEF_FIBRE));
}

// Grains on an even lattice, from which a crack stays away, by the share `part_of_way` of the way to their surface. Grains
// whose lattice points agree in all parities do not touch.
fn relief_grains(layers: Layers, cell: u32, salt: u32, part_of_way: f32) -> Layers {
    var here = layers;
    let side = f32(cell);
    let by = part_of_way * relief_shown(here, 0.5 * side);
    if by == 0.0 {
        return here;
    }
    let part = side / 256.0;
    for (var parity = 0u; parity < 8u; parity++) {
        let odd = vec3<f32>(vec3<u32>(parity & 1u, (parity >> 1u) & 1u, parity >> 2u));
        let corner = floor((here.at / side - odd) * 0.5 + 0.5) * 2.0 + odd;
        let h = volume_hash(vec3<u32>(vec3<i32>(corner)), here.salt + salt);
        let drawn = vec3<u32>(h & 0xffu, (h >> 8u) & 0xffu, (h >> 16u) & 0xffu);
        let offset = vec3<i32>((drawn * 154u) >> vec3<u32>(8u)) - 77;
        let radius = f32(77u + (((h >> 24u) * 92u) >> 8u)) * part;
        let out = here.at - (corner * side + vec3<f32>(offset) * part);
        let square = dot(out, out);
        if square >= radius * radius {
            continue;
        }
        let soft = max(radius * (1.0 / 6.0), here.finest);
        let over = 1.0 / sqrt(square + soft * soft);
        let distance = sqrt(square);
        let push = (radius - distance) * over * by;
        let falls = (-over / max(distance, 1e-6) - (radius - distance) * over * over * over) * by;
        here.at += out * push;
        let along = dot(out, here.normal);
        // By the smooth face: on a bent one stone and hollow would take turns near the rim of a grain.
        here.out_of_grains += push * dot(out, here.facing);
        here.normal = here.normal * (1.0 + push + falls * square) - out * (falls * along);
    }
    return here;
}

// Place as seen from where cracks in glass begin, and its distance.
fn relief_off_origin(here: Layers, scale: f32) -> vec4<f32> {
    let place = (relief_knot(vec3<i32>(0), here.salt + 9u) / 511.5 - 1.0) * 4000.0 + (8192.0 + 16384.0);
    let out = here.at - RELIEF_TURN * (place / scale);
    return vec4<f32>(out, sqrt(dot(out, out) + 1.0));
}

// Ribs round the origin.
fn relief_ripples(here: Layers, scale: f32) -> Layers {
    let out = relief_off_origin(here, scale);
    let distance = out.w;
    let way = out.xyz / distance;
    let wander = relief_noise_of_cells(here.at, 1700.0, here.salt + 1u);
    let towards = relief_noise_of_cells(here.at, 12000.0, here.salt + 2u);
    // Ribs lie farther apart the farther they are from the origin.
    let width = RELIEF_RIB + distance / RELIEF_RIBS_WIDEN;
    let phase = distance / width + wander.shift.x * RELIEF_WANDER;
    let sideways = vec3<f32>(wander.slope[0].x, wander.slope[1].x, wander.slope[2].x);
    let phase_slope = way * (RELIEF_RIB / (width * width)) + sideways * RELIEF_WANDER;
    let part = phase - floor(phase);
    let first = part < 0.5;
    let half = select(part - 0.5, part, first);
    let side = select(-1.0, 1.0, first);
    let wave = side * half * (0.5 - half) * 16.0;
    let steep = side * (0.5 - 2.0 * half) * 16.0;
    let far = distance * distance / (distance * distance + RELIEF_MIRROR * RELIEF_MIRROR);
    let far_slope = way * (2.0 * far * (1.0 - far) / distance);
    let height_slope = phase_slope * (steep * far) + far_slope * wave;
    return relief_add(here, relief_scaled(towards, wave * far, height_slope), 13.0 * relief_shown(here, 150.0));
}

// Streaks that run away from the origin.
fn relief_hackle(here: Layers, scale: f32) -> Layers {
    let out = relief_off_origin(here, scale);
    let distance = out.w;
    let way = out.xyz / distance;
    let reach = 1400.0 + distance / 40.0;
    let streak = relief_noise(way * (reach / 60.0), here.salt + 3u, 1.0);
    let across = reach / (60.0 * distance);
    let along = 1.0 / (60.0 * 40.0);
    let on_way = (streak.slope * way) * (along - across);
    let slope = mat3x3<f32>(
        streak.slope[0] * across + on_way * way.x,
        streak.slope[1] * across + on_way * way.y,
        streak.slope[2] * across + on_way * way.z,
    );
    let far = distance * distance / (distance * distance + RELIEF_FAR * RELIEF_FAR);
    let layer = Layer(streak.shift, slope);
    let by = 0.004 * relief_shown(here, 60.0 * distance / reach);
    return relief_add(here, relief_scaled(layer, distance * far, way * (far * (3.0 - 2.0 * far))), by);
}

struct Relief {
    // Unit normal of the displaced face.
    normal: vec3<f32>,
    // Place of the colour, whole units of the grid.
    place: vec3<i32>,
    // Whether the grain at the point went with the other side.
    is_hollow: bool,
}

// The relief at a point of the grid, in units of which a side has 2^14, on a face with this unit normal. Layers whose
// features are smaller than about twice `finest` are left out.
fn relief_at(words: vec4<u32>, point: vec3<f32>, normal: vec3<f32>, finest: f32) -> Relief {
    let strength = f32(words.z >> 16u) / 256.0;
    let material = words.x >> 24u;
    if material == 0u || strength == 0.0 {
        return Relief(normal, vec3<i32>(point), false);
    }
    let scale = f32(max(words.z & 0xffffu, 1u)) / 256.0;
    var turn = RELIEF_TURN;
    if material == 5u {
        turn = RELIEF_UPRIGHT;
    }
    let start = turn * ((point + 16384.0) / scale);
    var here = Layers(start, turn * normal, turn * normal, 0.0, strength, finest / scale, words.w * 64u + RELIEF_SALT);
    switch material {
        case 2u: {
            here = relief_chips(here, 1100.0, 0u, 70.0);
            here = relief_even(here, 150.0, 1u, 17.0);
            here = relief_even(here, 61.0, 2u, 8.0);
        }
        case 3u: {
            here = relief_even(here, 1400.0, 0u, 110.0);
            here = relief_even(here, 60.0, 1u, 6.0);
        }
        case 4u: {
            here = relief_even(here, 1500.0, 0u, 120.0);
            here = relief_even(here, 180.0, 1u, 18.0);
            here = relief_even(here, 70.0, 2u, 9.0);
            here = relief_even(here, 36.0, 3u, 4.5);
        }
        case 5u: {
            here = relief_fibres(here, vec2<f32>(700.0, 16000.0), 0u, vec2<f32>(25.0, 240.0));
            here = relief_fibres(here, vec2<f32>(190.0, 9000.0), 1u, vec2<f32>(9.0, 110.0));
            here = relief_fibres(here, vec2<f32>(64.0, 5000.0), 2u, vec2<f32>(2.5, 36.0));
        }
        case 6u: {
            here = relief_even(here, 1900.0, 0u, 190.0);
            here = relief_even(here, 420.0, 1u, 12.0);
            here = relief_even(here, 52.0, 2u, 2.0);
        }
        case 7u: {
            here = relief_even(here, 2600.0, 0u, 200.0);
            here = relief_ripples(here, scale);
            here = relief_hackle(here, scale);
        }
        case 8u: {
            here = relief_even(here, 2100.0, 0u, 160.0);
            here = relief_even(here, 140.0, 1u, 15.0);
            here = relief_even(here, 56.0, 2u, 7.0);
        }
        case 9u: {
            here = relief_even(here, 900.0, 0u, 70.0);
            here = relief_even(here, 260.0, 1u, 30.0);
            here = relief_even(here, 110.0, 2u, 14.0);
            here = relief_even(here, 50.0, 3u, 7.0);
        }
        case 10u: {
            here = relief_even(here, 800.0, 0u, 75.0);
            here = relief_even(here, 240.0, 4u, 24.0);
            here = relief_even(here, 110.0, 1u, 14.0);
            here = relief_even(here, 48.0, 2u, 7.0);
        }
        default: {
            here = relief_even(here, 500.0, 0u, 40.0);
            here = relief_even(here, 140.0, 1u, 12.0);
            here = relief_even(here, 55.0, 2u, 4.0);
        }
    }
    let back = transpose(turn);
    let place = vec3<i32>(point + back * (here.at - start) * scale);
    switch material {
        case 2u: { here = relief_grains(here, 256u, 4u, 0.4); }
        case 3u: {
            here = relief_grains(here, 256u, 2u, 0.55);
            here = relief_grains(here, 128u, 4u, 0.5);
        }
        case 8u: {
            here = relief_grains(here, 1024u, 3u, 0.55);
            here = relief_grains(here, 512u, 4u, 0.55);
        }
        case 10u: { here = relief_grains(here, 256u, 3u, 0.4); }
        default: {}
    }
    return Relief(normalize(back * here.normal), place, here.out_of_grains < 0.0);
}
