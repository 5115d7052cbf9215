// Separation points of a crossed voxel (2018, sec. 5.2), from the owners of its corners alone, so that neighbours
// agree on shared edges and faces. Included by kernels that declare `shape`, `seeds` (xyz, and w = the object) and
// `candidates`.
//#include fracture/voronoi/surface/rough/noise
//#include fracture/voronoi/surface/rough/voxel
//#include fracture/voronoi/descent/corner_owners

// 512 * part / whole, rounded down, for part <= whole < 2^30: the product would not fit.
fn share_of_edge(part: u32, whole: u32) -> i32 {
    if part >= whole {
        return CRACK_EDGE;
    }
    var rest = part;
    var quotient = 0u;
    for (var k = 0u; k < 9u; k++) {
        rest <<= 1u;
        quotient <<= 1u;
        if rest >= whole {
            rest -= whole;
            quotient |= 1u;
        }
    }
    return i32(quotient);
}

fn within_edge(v: i32) -> i32 {
    return clamp(v, 1i, CRACK_EDGE - 1i);
}

// Whether the corners belong to several objects; fills in the objects.
fn crack_crossed() -> bool {
    var differ = false;
    for (var k = 0u; k < CRACK_WORDS; k++) {
        crack[k] = 0u;
    }
    for (var c = 0u; c < 8u; c++) {
        crack[c >> 1u] |= u32(seeds[owners[c]].w) << (16u * (c & 1u));
        differ = differ || seeds[owners[c]].w != seeds[owners[0]].w;
    }
    return differ;
}

// Offset of the separation point on edge e: f(a, b) of eq. 3.
fn edge_separation(e: u32, low: vec3<i32>, size: i32, weight_a: i32, weight_b: i32) -> i32 {
    let difference = weight_a - weight_b;
    if shape.offset == 0u {
        return CRACK_EDGE / 2i + (shape.amplitude * difference) / (2i * (weight_a + weight_b + 1i));
    }
    let a = low + size * crack_corner(edge_low(e));
    let b = low + size * crack_corner(edge_high(e));
    let s = seeds[owners[edge_low(e)]].xyz;
    let t = seeds[owners[edge_high(e)]].xyz;
    // How much farther t is than s: not negative at a, not positive at b, linear in between.
    let first = distance2(a, t) - distance2(a, s);
    let last = distance2(b, t) - distance2(b, s);
    let crossing = within_edge(share_of_edge(u32(first), u32(first - last)));
    return CRACK_EDGE / 2i + ((crossing - CRACK_EDGE / 2i) * shape.strength) / 256i
        + (shape.amplitude * difference) / 255i;
}

// `low` and `size` of the voxel in fixed point; after crack_crossed.
fn crack_separate(low: vec3<i32>, size: i32) {
    var weights: array<i32, 8>;
    for (var c = 0u; c < 8u; c++) {
        weights[c] = crack_weight(vec3<u32>(low + size * crack_corner(c)));
    }
    for (var e = 0u; e < 12u; e++) {
        let a = edge_low(e);
        let b = edge_high(e);
        if crack_object(a) != crack_object(b) {
            let offset = within_edge(edge_separation(e, low, size, weights[a], weights[b]));
            crack[4u + (e >> 1u)] |= u32(offset) << (16u * (e & 1u));
        }
    }
    var voxel_sum = vec3<i32>(0i);
    var faces = 0i;
    for (var f = 0u; f < 6u; f++) {
        let axis = f >> 1u;
        let side = f & 1u;
        let b = (axis + 1u) % 3u;
        let c = (axis + 2u) % 3u;
        var sum = vec3<i32>(0i);
        var count = 0i;
        // Two edges along b, two along c.
        for (var k = 0u; k < 4u; k++) {
            let e = select(4u * b + (k & 1u) + 2u * side, 4u * c + side + 2u * (k & 1u), k >= 2u);
            if edge_offset(e) != 0i {
                sum += edge_point(e);
                count += 1i;
            }
        }
        if count > 0i {
            var origin = low;
            origin[axis] += i32(side) * size;
            let random = crack_hash(vec3<u32>(origin), shape.salt ^ (0xface0000u + axis));
            let u = within_edge(sum[b] / count + crack_stray(random, 0u, shape.face));
            let v = within_edge(sum[c] / count + crack_stray(random, 1u, shape.face));
            crack[10u + f] = u32(u) | (u32(v) << 16u);
            voxel_sum += face_point(f);
            faces += 1i;
        }
    }
    let random = crack_hash(vec3<u32>(low), shape.salt ^ 0x0b0d0000u);
    var p = vec3<i32>(0i);
    for (var a = 0u; a < 3u; a++) {
        p[a] = within_edge(voxel_sum[a] / max(faces, 1i) + crack_stray(random, a, shape.voxel));
    }
    crack[16] = u32(p.x) | (u32(p.y) << 10u) | (u32(p.z) << 20u);
}
