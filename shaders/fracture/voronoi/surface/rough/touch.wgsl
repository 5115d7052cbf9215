// Which triangles of the voxel in `crack` touch a closed box: exact, by looking for a gap along the 13 axes that
// can show one. With coordinates up to 512 everything stays below 2^30.
//#include fracture/voronoi/surface/rough/voxel

fn has_gap(axis: vec3<i32>, a: vec3<i32>, b: vec3<i32>, c: vec3<i32>, half: i32) -> bool {
    let p = dot(axis, a);
    let q = dot(axis, b);
    let r = dot(axis, c);
    let reach = half * (abs(axis.x) + abs(axis.y) + abs(axis.z));
    return min(p, min(q, r)) > reach || max(p, max(q, r)) < -reach;
}

// Corners relative to the box's centre; `half` is half its edge.
fn triangle_touches(a: vec3<i32>, b: vec3<i32>, c: vec3<i32>, half: i32) -> bool {
    if any(min(a, min(b, c)) > vec3<i32>(half)) || any(max(a, max(b, c)) < vec3<i32>(-half)) {
        return false;
    }
    let ab = b - a;
    let bc = c - b;
    let ca = a - c;
    let normal = whole_cross(ab, bc);
    if abs(dot(normal, a)) > half * (abs(normal.x) + abs(normal.y) + abs(normal.z)) {
        return false;
    }
    var apart = false;
    for (var k = 0u; k < 3u && !apart; k++) {
        let edge = select(select(ca, bc, k == 1u), ab, k == 0u);
        apart = has_gap(vec3<i32>(0i, edge.z, -edge.y), a, b, c, half)
            || has_gap(vec3<i32>(-edge.z, 0i, edge.x), a, b, c, half)
            || has_gap(vec3<i32>(edge.y, -edge.x, 0i), a, b, c, half);
    }
    return !apart;
}

// Those of the triangles in `mask` that touch the box.
fn touching(mask: u32, centre: vec3<i32>, half: i32) -> u32 {
    let v = voxel_point() - centre;
    var left = mask;
    var found = 0u;
    while left != 0u {
        let bit = firstTrailingBit(left);
        left &= left - 1u;
        let e = edge_point(bit >> 1u) - centre;
        let f = face_point(triangle_face(bit)) - centre;
        found |= select(0u, 1u << bit, triangle_touches(e, f, v, half));
    }
    return found;
}
