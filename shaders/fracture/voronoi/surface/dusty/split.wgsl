// Splits the edge separation points of a voxel and links its triangles to loops (2018, sec. 5.3: the technique of
// marching cubes). Included by kernels that declare `shape` and `seeds`.
//#include fracture/voronoi/surface/rough/points
//#include fracture/voronoi/surface/dusty/voxel

// Half the gap at a corner. Value noise keeps to the middle; stretched, it also reaches its ends.
fn half_gap(corner: vec3<u32>) -> i32 {
    let salt = shape.salt ^ 0x6a09e667u;
    var sum = 0u;
    for (var octave = 0u; octave < shape.octaves; octave++) {
        let layer = crack_value_noise(corner, shape.frequency << octave, salt + octave * 0x3c6ef372u);
        sum += layer << (shape.octaves - 1u - octave);
    }
    let noise = clamp(2i * i32(sum / ((1u << shape.octaves) - 1u)) - 128i, 0i, 255i);
    let share = 256i - shape.irregularity * noise / 256i;
    return shape.gap * share / 131072i;
}

// The triangle that follows t in its loop. Let a be t's corner, b the edge's other end. Of the two faces at the
// edge, the one whose border runs from b to a when one goes round it counter-clockwise, seen from outside, is the
// one that t's segment lies on. Going on along that border, a and maybe one or two corners more are the object's;
// the segment ends where the border leaves it.
fn following(t: u32) -> u32 {
    let axis = edge_axis(t >> 1u);
    let a = triangle_corner(t);
    let object = dust_object(a);
    // The border turns at a into the axis after the edge's, or the one after that: which, the corner's place alone
    // decides.
    let turn = (axis + 1u + (countOneBits(a) & 1u)) % 3u;
    let second = a ^ (1u << turn);
    let third = second ^ (1u << axis);
    let fourth = a ^ (1u << axis);
    var last = third;
    var other = fourth;
    if dust_object(second) != object {
        last = a;
        other = second;
    } else if dust_object(third) != object {
        last = second;
        other = third;
    }
    let along = firstTrailingBit(last ^ other);
    let low = min(last, other);
    let e = 4u * along + ((low >> ((along + 1u) % 3u)) & 1u) + 2u * ((low >> ((along + 2u) % 3u)) & 1u);
    return 2u * e + u32(last > other);
}

// Fills in `dust` from `owners`; `low` and `size` of the voxel in fixed point.
fn dust_split(low: vec3<i32>, size: i32) {
    for (var k = 0u; k < DUST_WORDS; k++) {
        dust[k] = 0u;
    }
    var weights: array<i32, 8>;
    var halves: array<i32, 8>;
    for (var c = 0u; c < 8u; c++) {
        let corner = vec3<u32>(low + size * crack_corner(c));
        weights[c] = crack_weight(corner);
        halves[c] = half_gap(corner);
        dust[c >> 1u] |= u32(seeds[owners[c]].w) << (16u * (c & 1u));
    }
    for (var e = 0u; e < 12u; e++) {
        let a = edge_low(e);
        let b = edge_high(e);
        if dust_object(a) != dust_object(b) {
            let at = within_edge(edge_separation(e, low, size, weights[a], weights[b]));
            dust[4u + e] = u32(within_edge(at - halves[a])) | (u32(within_edge(at + halves[b])) << 10u);
        }
    }
    var open = dust_triangles();
    var loops = 0u;
    while open != 0u {
        var t = firstTrailingBit(open);
        var sum = vec3<i32>(0i);
        var count = 0i;
        while (open & (1u << t)) != 0u {
            open &= ~(1u << t);
            sum += dust_point(t);
            count += 1i;
            let next = following(t);
            dust[24u + (t >> 2u)] |= (next | (loops << 5u)) << (8u * (t & 3u));
            t = next;
        }
        let centre = clamp(sum / count, vec3<i32>(1i), vec3<i32>(CRACK_EDGE - 1i));
        dust[16u + loops] = u32(centre.x) | (u32(centre.y) << 10u) | (u32(centre.z) << 20u);
        loops += 1u;
    }
}
