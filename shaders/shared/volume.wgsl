// The material inside an object: a colour for every point of its grid (2016, sec. 4.4: generated procedurally).
// Points are in fixed point, 2^14 units a grid side, so every level and every generation shows the same volume.
// Whole numbers
// throughout: a device, another device and the reference (crates/core/src/fracture/interior/volume.rs) agree to the last bit.
//
// Words of a volume, as crates/core/src/fracture/interior/mod.rs packs them:
//   x  bits 0..24 base colour (sRGB), bits 24..32 material: 0 none, 1 plain, 2 clay, 3 stone, 4 marble, 5 wood, 6 porcelain,
//     7 glass, 8 concrete, 9 plaster, 10 brick
//   y  bits 0..24 second colour (sRGB)
//   z  bits 0..16 size of the features, 256 is 1; bits 16..32 strength of the relief, 256 is 1
//   w  seed
// Noise and weights are 0..65535, colours 8.8 fixed point.

fn volume_hash(v: vec3<u32>, salt: u32) -> u32 {
    var h = (v.x * 0x8da6b343u) ^ (v.y * 0xd8163841u) ^ (v.z * 0xcb1ab31fu) ^ (salt * 0x9e3779b1u);
    h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12u)) * 0x297a2d39u;
    return h ^ (h >> 15u);
}

fn volume_lerp(a: i32, b: i32, t: i32) -> i32 {
    return a + (((b - a) * t) >> 12u);
}

// Smooth noise with one knot every `cell` units.
fn volume_noise(q: vec3<u32>, cell: vec3<u32>, salt: u32) -> i32 {
    let at = q / cell;
    let t = vec3<i32>(((q - at * cell) << vec3<u32>(12u)) / cell);
    let t2 = (t * t) >> vec3<u32>(12u);
    let s = (t2 * (vec3<i32>(12288) - 2 * t)) >> vec3<u32>(12u);
    var c: array<i32, 8>;
    for (var k = 0u; k < 8u; k++) {
        c[k] = i32(volume_hash(at + vec3<u32>(k & 1u, (k >> 1u) & 1u, k >> 2u), salt) >> 16u);
    }
    let low = volume_lerp(volume_lerp(c[0], c[1], s.x), volume_lerp(c[2], c[3], s.x), s.y);
    let high = volume_lerp(volume_lerp(c[4], c[5], s.x), volume_lerp(c[6], c[7], s.x), s.y);
    return volume_lerp(low, high, s.z);
}

fn volume_even(q: vec3<u32>, cell: u32, salt: u32) -> i32 {
    return volume_noise(q, vec3<u32>(cell), salt);
}

// Colours.
fn volume_rgb(word: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(word & 0xffu, (word >> 8u) & 0xffu, (word >> 16u) & 0xffu)) << vec3<u32>(8u);
}

fn volume_mix(a: vec3<i32>, b: vec3<i32>, weight: i32) -> vec3<i32> {
    return a + (((b - a) * (clamp(weight, 0, 65536) >> 8u)) >> vec3<u32>(8u));
}

// Brighter by `percent` where the noise is highest, darker by as much where it is lowest.
fn volume_shade(c: vec3<i32>, noise: i32, percent: i32) -> vec3<i32> {
    let k = 4096 + (((noise - 32768) >> 4u) * percent) / 50;
    return clamp((c * k) >> vec3<u32>(12u), vec3<i32>(0), vec3<i32>(65280));
}

// A round speck in some of the cells: weight (0..65536) in x, the cell's hash in y. `chance` of 256, radii in units.
fn volume_speck(q: vec3<u32>, cell: u32, salt: u32, chance: u32, least: u32, most: u32) -> vec2<i32> {
    let at = q / cell;
    let h = volume_hash(at, salt);
    if (h & 0xffu) >= chance {
        return vec2<i32>(0);
    }
    let radius = least + ((((h >> 8u) & 0xffu) * (most - least)) >> 8u);
    let place = volume_hash(at, salt + 1u);
    let part = vec3<u32>(place & 0x3ffu, (place >> 10u) & 0x3ffu, place >> 22u);
    let centre = radius + ((part * (cell - 2u * radius)) >> vec3<u32>(10u));
    let d = vec3<i32>(q - at * cell) - vec3<i32>(centre);
    let d2 = d.x * d.x + d.y * d.y + d.z * d.z;
    let r2 = i32(radius * radius);
    return vec2<i32>(clamp(((r2 - d2) * 512) / r2, 0, 256) << 8u, i32(h >> 16u));
}

// Fired clay: a soft body with patches richer in iron, grit that was kneaded in, fine pores.
fn volume_clay(q: vec3<u32>, base: vec3<i32>, second: vec3<i32>, salt: u32) -> vec3<i32> {
    let patches = volume_even(q, 2100u, salt);
    var c = volume_mix(base, second, max(patches - 22000, 0) >> 1u);
    c = volume_shade(c, volume_even(q, 620u, salt + 1u), 8);
    c = volume_shade(c, volume_even(q, 150u, salt + 2u), 9);
    c = volume_shade(c, volume_even(q, 61u, salt + 3u), 5);
    let grit = volume_speck(q, 310u, salt + 4u, 110u, 34u, 88u);
    let pale = volume_mix(c, vec3<i32>(62000, 58500, 52500), 17000);
    c = volume_mix(c, select(volume_mix(c, second, 44000), pale, grit.y > 36000), grit.x);
    let pore = volume_speck(q, 240u, salt + 6u, 70u, 22u, 50u);
    return volume_mix(c, vec3<i32>(0), (pore.x * 3) / 8);
}

// Granite: grains of four kinds that meet along crooked borders.
fn volume_stone(q: vec3<u32>, base: vec3<i32>, second: vec3<i32>, salt: u32) -> vec3<i32> {
    let cell = 250u;
    let bend = vec3<u32>(vec3<i32>(
        volume_even(q, 140u, salt),
        volume_even(q, 140u, salt + 1u),
        volume_even(q, 140u, salt + 2u),
    ) >> vec3<u32>(9u));
    let p = q + bend + vec3<u32>(cell / 2u);
    let corner = p / cell;
    let inside = vec3<i32>(p - corner * cell);
    var nearest = 0x7fffffff;
    var kind = 0u;
    for (var k = 0u; k < 8u; k++) {
        let o = vec3<u32>(k & 1u, (k >> 1u) & 1u, k >> 2u);
        let h = volume_hash(corner + o, salt + 3u);
        // A grain's middle keeps away from its cell's borders, so the eight cells round a point hold the nearest.
        let drawn = vec3<u32>(h & 0xffu, (h >> 8u) & 0xffu, (h >> 16u) & 0xffu);
        let middle = vec3<i32>(o * cell) + vec3<i32>((drawn * 170u) >> vec3<u32>(8u)) - 85;
        let d = inside - middle;
        let d2 = d.x * d.x + d.y * d.y + d.z * d.z;
        if d2 < nearest {
            nearest = d2;
            kind = volume_hash(corner + o, salt + 4u);
        }
    }
    let draw = kind & 0xffu;
    var c = base;
    if draw >= 226u {
        c = second;
    } else if draw >= 184u {
        c = volume_mix(base, vec3<i32>(65280), 18000);
    } else if draw >= 104u {
        let gray = (base.x + base.y + base.y + base.z) >> 2u;
        c = (volume_mix(base, vec3<i32>(gray), 40000) * 13) >> vec3<u32>(4u);
    }
    c = volume_shade(c, i32(kind >> 16u), 9);
    c = volume_shade(c, volume_even(q, 66u, salt + 5u), 8);
    return volume_shade(c, volume_even(q, 1700u, salt + 6u), 6);
}

// Marble: clouds, and veins along bent sheets that come and go.
fn volume_marble(q: vec3<u32>, base: vec3<i32>, second: vec3<i32>, salt: u32) -> vec3<i32> {
    let bend = vec3<u32>(vec3<i32>(
        volume_even(q, 1500u, salt) + (volume_even(q, 430u, salt + 3u) >> 2u),
        volume_even(q, 1500u, salt + 1u) + (volume_even(q, 430u, salt + 4u) >> 2u),
        volume_even(q, 1500u, salt + 2u) + (volume_even(q, 430u, salt + 5u) >> 2u),
    ) >> vec3<u32>(5u));
    let p = q + bend;
    var c = volume_mix(base, second, volume_even(p, 2600u, salt + 6u) / 5);
    // Broad sheets: a folded wave across a slanted direction.
    let along = (p.x * 5u + p.y * 7u + p.z * 3u) >> 3u;
    let fold = abs(i32(along % 2700u) - 1350);
    let here = max(volume_even(q, 1900u, salt + 7u) - 17000, 0);
    c = volume_mix(c, second, (max(420 - fold, 0) * (here >> 4u)) >> 5u);
    c = volume_mix(c, second, (max(110 - fold, 0) * (here >> 4u)) >> 2u);
    // Fine veins between them.
    let thin = abs(volume_even(p, 1250u, salt + 8u) - 32768);
    let there = max(volume_even(q, 1400u, salt + 9u) - 22000, 0);
    c = volume_mix(c, second, (max(1900 - thin, 0) * (there >> 4u)) >> 7u);
    return volume_shade(c, volume_even(q, 75u, salt + 10u), 3);
}

fn volume_root(square: u32) -> u32 {
    var r = u32(sqrt(f32(square)));
    // The float's root is at most a few off; these steps make it exact.
    for (var k = 0u; k < 4u && r * r > square; k++) {
        r -= 1u;
    }
    for (var k = 0u; k < 4u && (r + 1u) * (r + 1u) <= square; k++) {
        r += 1u;
    }
    return r;
}

// Wood: growth rings round a leaning upright axis beside the grid's middle, fibres along it, rays across.
fn volume_wood(point: vec3<i32>, q: vec3<u32>, words: vec4<u32>, base: vec3<i32>, second: vec3<i32>, salt: u32) -> vec3<i32> {
    let h = volume_hash(vec3<u32>(1u, 2u, 3u), salt);
    let axis = vec2<i32>(6000 + i32(h & 0xfffu), 6000 + i32((h >> 12u) & 0xfffu));
    let lean = vec2<i32>(i32((h >> 24u) & 0xfu) - 8, i32(h >> 28u) - 8);
    let d = clamp(point.xz - axis - (((point.y - 8192) * lean) >> vec2<u32>(7u)), vec2<i32>(-32000), vec2<i32>(32000));
    let r = volume_root(u32(d.x * d.x) + u32(d.y * d.y));
    let wide = volume_noise(q, vec3<u32>(2200u, 7000u, 2200u), salt);
    let narrow = volume_noise(q, vec3<u32>(420u, 3600u, 420u), salt + 1u);
    let wander = (wide >> 6u) + (narrow >> 10u);
    let out = (r * 256u) / max(words.z & 0xffffu, 1u) + u32(wander);
    let rings = out + u32(volume_noise(vec3<u32>(out, 0u, 0u), vec3<u32>(1300u), salt + 2u) >> 7u);
    let year = rings / 560u;
    let part = i32(((rings - year * 560u) << 12u) / 560u);
    // Wood darkens over the year and is pale again at once in spring.
    let grown = (((part * part) >> 12u) * part) >> 12u;
    let dark = select((4096 - part) * 12, grown, part < 3780);
    let strength = 34000 + i32(volume_hash(vec3<u32>(year, 0u, 0u), salt + 3u) >> 17u) * 3 / 4;
    var c = volume_mix(base, second, (clamp(dark, 0, 4096) * (strength >> 4u)) >> 8u);
    c = volume_shade(c, volume_noise(q, vec3<u32>(85u, 2400u, 85u), salt + 4u), 9);
    c = volume_shade(c, volume_noise(q, vec3<u32>(900u, 5200u, 900u), salt + 5u), 7);
    let vessel = volume_noise(q, vec3<u32>(58u, 1100u, 58u), salt + 6u);
    c = volume_mix(c, (second * 3) >> vec3<u32>(2u), max(vessel - 46000, 0) * 2);
    let way = vec2<u32>(((d * 2048) / max(i32(r), 64)) + 4096);
    let ray = volume_noise(vec3<u32>(way.x, q.y, way.y), vec3<u32>(26u, 420u, 26u), salt + 7u);
    return volume_mix(c, volume_mix(base, vec3<i32>(65280), 6000), max(ray - 54000, 0) * 3);
}

// The grain of the relief (shared/relief) in which a point lies, of the lattice of `cell` units: 1 in x and its number in
// y. Salts of reliefs begin at 32.
fn volume_grain(q: vec3<u32>, cell: u32, relief_salt: u32) -> vec2<u32> {
    let v = vec3<i32>(q);
    let turned = vec3<i32>(
        13 * v.x - 26 * v.y + 26 * v.z,
        34 * v.x + 19 * v.y + 2 * v.z,
        -14 * v.x + 22 * v.y + 29 * v.z,
    );
    let p = volume_floor(turned, 39);
    let side = i32(cell);
    let corner = volume_floor(p, side);
    let part = side / 256;
    for (var k = 0u; k < 8u; k++) {
        let at = corner + vec3<i32>(vec3<u32>(k & 1u, (k >> 1u) & 1u, k >> 2u));
        let h = volume_hash(vec3<u32>(at), relief_salt);
        let radius = (77 + i32(((h >> 24u) * 92u) >> 8u)) * part;
        let drawn = vec3<u32>(h & 0xffu, (h >> 8u) & 0xffu, (h >> 16u) & 0xffu);
        let d = p - at * side - (vec3<i32>((drawn * 154u) >> vec3<u32>(8u)) - 77) * part;
        if d.x * d.x + d.y * d.y + d.z * d.z < radius * radius {
            return vec2<u32>(1u, volume_hash(vec3<u32>(at), relief_salt + 8u));
        }
    }
    return vec2<u32>(0u);
}

// Quotients rounded down.
fn volume_floor(v: vec3<i32>, by: i32) -> vec3<i32> {
    let q = v / by;
    return q - select(vec3<i32>(0), vec3<i32>(1), q * by > v);
}

// Concrete: cement with sand and two sizes of gravel.
fn volume_concrete(q: vec3<u32>, base: vec3<i32>, second: vec3<i32>, salt: u32, is_hollow: bool) -> vec3<i32> {
    var c = volume_shade(base, volume_even(q, 1900u, salt), 7);
    c = volume_shade(c, volume_even(q, 330u, salt + 1u), 6);
    c = volume_shade(c, volume_even(q, 60u, salt + 2u), 9);
    let sand = volume_speck(q, 100u, salt + 3u, 150u, 12u, 34u);
    let pale = volume_mix(base, vec3<i32>(65280), 22000);
    c = volume_mix(c, select(second, pale, sand.y > 30000), (sand.x * 3) / 4);
    var grain = volume_grain(q, 1024u, salt + 32u + 3u);
    if grain.x == 0u {
        grain = volume_grain(q, 512u, salt + 32u + 4u);
    }
    if grain.x == 0u || is_hollow {
        return c;
    }
    let draw = grain.y & 0xffu;
    var stone = volume_mix(base, second, 24000);
    if draw >= 206u {
        stone = volume_mix(base, second, 52000);
    } else if draw >= 150u {
        stone = volume_mix(base, vec3<i32>(65280), 20000);
    } else if draw >= 70u {
        stone = (base * vec3<i32>(17, 15, 12)) >> vec3<u32>(4u);
    }
    stone = volume_shade(stone, i32(grain.y >> 16u), 12);
    return volume_shade(stone, volume_even(q, 85u, salt + 5u), 7);
}

// Brick: coarse red clay with crushed brick in it.
fn volume_brick(q: vec3<u32>, base: vec3<i32>, second: vec3<i32>, salt: u32) -> vec3<i32> {
    var c = volume_shade(base, volume_even(q, 1000u, salt), 10);
    c = volume_shade(c, volume_even(q, 150u, salt + 1u), 11);
    c = volume_shade(c, volume_even(q, 56u, salt + 2u), 8);
    let grog = volume_speck(q, 330u, salt + 3u, 120u, 26u, 90u);
    let pale = volume_mix(base, vec3<i32>(65280), 15000);
    return volume_mix(c, select(volume_mix(c, second, 50000), pale, grog.y > 34000), (grog.x * 3) / 4);
}

// sRGB bytes in bits 0..24. `is_hollow` leaves out grains of gravel.
fn volume_color(words: vec4<u32>, point: vec3<i32>, is_hollow: bool) -> u32 {
    return volume_of(words.x >> 24u, words, point, is_hollow);
}

// The same, for kernels that know the material when they are made.
fn volume_of(material: u32, words: vec4<u32>, point: vec3<i32>, is_hollow: bool) -> u32 {
    let base = volume_rgb(words.x);
    let second = volume_rgb(words.y);
    let salt = words.w * 64u;
    // Shifted so that all of it is positive, also what lies a side outside the grid.
    let q = (vec3<u32>(max(point + 16384, vec3<i32>(0))) * 256u) / max(words.z & 0xffffu, 1u);
    var c = base;
    switch material {
        case 2u: { c = volume_clay(q, base, second, salt); }
        case 3u: { c = volume_stone(q, base, second, salt); }
        case 4u: { c = volume_marble(q, base, second, salt); }
        case 5u: { c = volume_wood(point, q, words, base, second, salt); }
        case 6u: {
            c = volume_mix(base, second, volume_even(q, 2600u, salt) >> 2u);
            c = volume_shade(c, volume_even(q, 90u, salt + 1u), 2);
            c = volume_mix(c, second, volume_speck(q, 520u, salt + 2u, 30u, 18u, 36u).x >> 1u);
        }
        case 7u: {
            c = volume_mix(base, second, volume_even(q, 3100u, salt) >> 1u);
            c = volume_shade(c, volume_even(q, 700u, salt + 1u), 2);
        }
        case 8u: { c = volume_concrete(q, base, second, salt, is_hollow); }
        case 9u: {
            c = volume_shade(c, volume_even(q, 1600u, salt), 3);
            c = volume_shade(c, volume_even(q, 190u, salt + 1u), 4);
            c = volume_shade(c, volume_even(q, 52u, salt + 2u), 4);
            c = volume_mix(c, second, (volume_speck(q, 210u, salt + 3u, 80u, 16u, 42u).x * 5) / 8);
        }
        case 10u: { c = volume_brick(q, base, second, salt); }
        default: {}
    }
    let b = vec3<u32>(min((c + 128) >> vec3<u32>(8u), vec3<i32>(255)));
    return b.x | (b.y << 8u) | (b.z << 16u);
}
