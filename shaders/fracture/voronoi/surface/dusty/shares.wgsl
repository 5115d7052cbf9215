// Who gets a box of the voxel in `dust`: exact tests of boxes and points against the objects' borders. With
// coordinates up to 512 everything stays below 2^30.
//#include fracture/voronoi/surface/rough/node
//#include fracture/voronoi/surface/dusty/voxel

// Those of the triangles in `mask` that touch the closed box.
fn dust_touching(mask: u32, centre: vec3<i32>, half: i32) -> u32 {
    var left = mask;
    var found = 0u;
    while left != 0u {
        let t = firstTrailingBit(left);
        left &= left - 1u;
        let a = dust_points[t] - centre;
        let b = dust_points[dust_next(t)] - centre;
        found |= select(0u, 1u << t, triangle_touches(a, b, dust_centre(t) - centre, half));
    }
    return found;
}

// In the (y, z) plane: positive where p lies at smaller y than the line from a up to b.
fn hand(a: vec3<i32>, b: vec3<i32>, p: vec3<i32>) -> i32 {
    return (b.y - a.y) * (p.z - a.z) - (b.z - a.z) * (p.y - a.y);
}

// The same with p an infinitesimal step along +y and a still smaller one along +z from where it is, so that it is
// on no line.
fn is_left(a: vec3<i32>, b: vec3<i32>, p: vec3<i32>) -> bool {
    let h = hand(a, b, p);
    let step = select(b.y - a.y, a.z - b.z, a.z != b.z);
    return select(h > 0i, step > 0i, h == 0i);
}

// Whether p, on no triangle, lies in the polyhedron of the object of a rank: the parity of what a ray along +x
// crosses until the wall x = 1, and on the wall the parity of what a ray along +y crosses until its edge. Segments
// of the wall are those of triangles with two points on it.
fn dust_holds(rank: u32, p: vec3<i32>) -> bool {
    let object = ranked_objects[rank];
    var odd = false;
    var left = ranked_borders[rank];
    while left != 0u {
        let t = firstTrailingBit(left);
        left &= left - 1u;
        let a = dust_points[t];
        let b = dust_points[dust_next(t)];
        let c = dust_centre(t);
        if a.x == CRACK_EDGE && b.x == CRACK_EDGE {
            let a_above = a.z > p.z;
            let crosses = a_above != (b.z > p.z) && select(hand(a, b, p), hand(b, a, p), a_above) > 0i;
            odd = odd != crosses;
        }
        let first = is_left(a, b, p);
        if hand(a, b, c) != 0i && first == is_left(b, c, p) && first == is_left(c, a, p) {
            let normal = whole_cross(b - a, c - a);
            odd = odd != (sign(dot(normal, a - p)) * sign(normal.x) > 0i);
        }
    }
    // The edge from corner 3 up to corner 7.
    let low = dust_object(3u) == object;
    let high = dust_object(7u) == object;
    var at_end = low;
    if low != high {
        at_end = (dust_points[22u + u32(high)].z > p.z) == low;
    }
    return odd != at_end;
}

// What an object gets of a box that the triangles in `mask` touch (fracture/voronoi/surface/rough/node names the
// answers). Objects are asked in ascending order, and the first that has the whole box leaves nothing to those
// after it.
fn dust_gets(object: u32, mask: u32, centre: vec3<i32>) -> u32 {
    let own = rank_of(object);
    let touched = (mask & ranked_borders[own]) != 0u;
    if !touched && !dust_holds(own, centre) {
        return NOTHING;
    }
    var contested = touched;
    for (var k = 0u; k < own; k++) {
        if (mask & ranked_borders[k]) != 0u {
            contested = true;
        } else if dust_holds(k, centre) {
            return NOTHING;
        }
    }
    return select(HOLDS, TAKES, contested);
}

// How the shares of a leaf are counted: objects - 1, and 8 more where one part remains as dust, so that 0..8 are
// whole leaves.
fn dust_code(mask: u32, centre: vec3<i32>) -> u32 {
    var objects = 0u;
    for (var k = 0u; k < ranks; k++) {
        if (mask & ranked_borders[k]) != 0u {
            objects += 1u;
        } else if dust_holds(k, centre) {
            return objects;
        }
    }
    return objects + 7u;
}
