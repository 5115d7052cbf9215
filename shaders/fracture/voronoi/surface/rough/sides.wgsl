// Whose side a point of a crossed voxel lies on that no triangle passes through.
//#include fracture/voronoi/surface/rough/voxel

// Exact: the regions are cones. From the voxel point through p to a wall, there from the face point to one of the
// wall's edges, there the edge point tells the two corners apart. Each step compares fractions by cross
// multiplication; all products stay below 2^29.
fn cone_object(p: vec3<i32>) -> u32 {
    let v = voxel_point();
    let d = p - v;
    let gap = select(v, vec3<i32>(CRACK_EDGE) - v, d > vec3<i32>(0i));
    var axis = 0u;
    for (var k = 1u; k < 3u; k++) {
        if abs(d[k]) * gap[axis] > abs(d[axis]) * gap[k] {
            axis = k;
        }
    }
    let side = u32(d[axis] > 0i);
    let face = 2u * axis + side;
    let b = (axis + 1u) % 3u;
    let c = (axis + 2u) % 3u;
    if crack[10u + face] == 0u {
        return crack_object(side << axis);
    }
    // Where the ray meets the wall, seen from the face point, times `scale`.
    let f = face_point(face);
    let scale = abs(d[axis]);
    let across = vec2<i32>((v[b] - f[b]) * scale + d[b] * gap[axis], (v[c] - f[c]) * scale + d[c] * gap[axis]);
    let at = vec2<i32>(f[b], f[c]);
    let rest = select(at, vec2<i32>(CRACK_EDGE) - at, across > vec2<i32>(0i));
    // The wall's edge that is met: it lies at an end of axis b and runs along c, or the other way round.
    let end_of_b = abs(across.x) * rest.y >= abs(across.y) * rest.x;
    let ends = select(across.y, across.x, end_of_b);
    let runs = select(across.x, across.y, end_of_b);
    let reach = select(rest.y, rest.x, end_of_b);
    let start = select(at.x, at.y, end_of_b);
    let ends_axis = select(c, b, end_of_b);
    let runs_axis = select(b, c, end_of_b);
    let end = u32(ends > 0i);
    let low = (side << axis) | (end << ends_axis);
    // Number of the edge: the places of `low` on the two axes after the one it runs along.
    let e = 4u * runs_axis + ((low >> ((runs_axis + 1u) % 3u)) & 1u) + 2u * ((low >> ((runs_axis + 2u) % 3u)) & 1u);
    let beyond = (start - edge_offset(e)) * abs(ends) + runs * reach > 0i;
    return crack_object(low | (u32(beyond) << runs_axis));
}

// 2018, sec. 5.3: every triangle votes for the end of its edge on whose side p lies; the lowest object of the most
// voted.
fn elected_object(p: vec3<i32>) -> u32 {
    var votes = array<u32, 8>();
    let v = voxel_point();
    var left = crack_triangles();
    while left != 0u {
        let bit = firstTrailingBit(left);
        left &= left - 1u;
        let edge = bit >> 1u;
        let e = edge_point(edge);
        let normal = whole_cross(face_point(triangle_face(bit)) - e, v - e);
        let high = dot(normal, p - e) * sign(normal[edge_axis(edge)]) > 0i;
        let object = crack_object(select(edge_low(edge), edge_high(edge), high));
        // Counted at the first corner of that object.
        var corner = 0u;
        while crack_object(corner) != object {
            corner += 1u;
        }
        votes[corner] += 1u;
    }
    var winner = 0u;
    for (var c = 1u; c < 8u; c++) {
        let ahead = votes[c] > votes[winner];
        if ahead || (votes[c] == votes[winner] && votes[c] > 0u && crack_object(c) < crack_object(winner)) {
            winner = c;
        }
    }
    return crack_object(winner);
}
