// How near a triangle is to a leaf's centre: distances in whole numbers, 1/4096 of the leaf's edge, at most two edges.
// Corners are counted from the centre, within 512 units of it on every axis, and so are differences of corners; the
// leaf's edge is 2^bits units (1 to 9). The same as crates/core/src/fracture/voronoi/surface/rough/facets.rs.
//#include fracture/voronoi/surface/plane
//#include fracture/voronoi/surface/rough/voxel

// Length of a vector.
fn distance_to(p: vec3<i32>, bits: u32) -> u32 {
    if all(p == vec3<i32>(0i)) {
        return 0u;
    }
    let size = scaled(p);
    return quotient(size.length, VOXEL_BITS - i32(bits) + size.shift, 1u);
}

fn segment_distance(a: vec3<i32>, b: vec3<i32>, bits: u32) -> u32 {
    let along = b - a;
    let foot = -dot(a, along);
    if foot <= 0i {
        return distance_to(a, bits);
    }
    if foot >= dot(along, along) {
        return distance_to(b, bits);
    }
    // Twice the area between the centre and the segment, over the segment's length.
    let area = whole_cross(a, b);
    if all(area == vec3<i32>(0i)) {
        return 0u;
    }
    let over = scaled(area);
    let base = scaled(along);
    return quotient(over.length, VOXEL_BITS - i32(bits) + over.shift - base.shift, base.length);
}

// Whether dot(a, b) >= 0, exactly, for components up to 2^19: b is taken apart into two parts of 10 bits.
fn not_against(a: vec3<i32>, b: vec3<i32>) -> bool {
    let high = dot(a, b >> vec3<u32>(10u));
    let low = dot(a, b & vec3<i32>(1023i));
    return high + (low >> 10u) >= 0i;
}

fn triangle_distance(a: vec3<i32>, b: vec3<i32>, c: vec3<i32>, bits: u32) -> u32 {
    let normal = whole_cross(b - a, c - a);
    if not_against(whole_cross(a, b), normal) && not_against(whole_cross(b, c), normal) && not_against(whole_cross(c, a), normal) {
        return u32(abs(plane_through(normal, dot(normal, a), bits).offset));
    }
    return min(segment_distance(a, b, bits), min(segment_distance(b, c, bits), segment_distance(c, a, bits)));
}
