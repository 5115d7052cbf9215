// Attributes of the leaves that crack surfaces touch (2018, sec. 5.3: the normal is the triangle's). Lengths in
// units of the transition voxel.
//#include fracture/voronoi/surface/rough/nearest
//#include fracture/voronoi/surface/rough/touch
//#include fracture/voronoi/surface/copy

// A triangle's plane as seen from an object on one of its sides.
struct Plane {
    // Out of the object, unit length.
    normal: vec3<f32>,
    // From the leaf's centre along it, voxels.
    offset: f32,
    // The triangle; NO_TRIANGLE where there is none.
    bit: u32,
}

const NO_TRIANGLE: u32 = 32u;

// Normal of a triangle out of an object, not of unit length. The plane is never parallel to its edge: the normal's
// part along it tells the low end from the high end.
fn normal_out(bit: u32, object: u32) -> vec3<i32> {
    let edge = bit >> 1u;
    let e = edge_point(edge);
    let n = whole_cross(face_point(triangle_face(bit)) - e, voxel_point() - e);
    let at_high = crack_object(edge_high(edge)) == object;
    return n * select(1i, -1i, (n[edge_axis(edge)] > 0i) == at_high);
}

// How far the points of triangle `bit` stand out before the plane of triangle `other`: the most and the least,
// times that normal's length.
fn before(bit: u32, other: u32, object: u32) -> vec2<i32> {
    let n = normal_out(other, object);
    let e = edge_point(other >> 1u);
    let a = dot(n, edge_point(bit >> 1u) - e);
    let b = dot(n, face_point(triangle_face(bit)) - e);
    let c = dot(n, voxel_point() - e);
    return vec2<i32>(max(a, max(b, c)), min(a, min(b, c)));
}

// Whether the object is what lies behind both triangles: each is behind the other's plane, and they are not in one
// plane. Elsewhere the second plane would take away what is the object's.
fn is_ridge(bit: u32, other: u32, object: u32) -> bool {
    let a = before(bit, other, object);
    let b = before(other, bit, object);
    return a.x <= 0i && b.x <= 0i && min(a.y, b.y) < 0i;
}

// The plane of the triangle in `mask` nearest to the centre, lowest bit first; of those that make a ridge with
// `first` if that is a triangle.
fn nearest_plane(mask: u32, object: u32, first: u32, centre: vec3<i32>, half: i32) -> Plane {
    let p = vec3<f32>(centre);
    let v = vec3<f32>(voxel_point());
    var found = NO_TRIANGLE;
    var least = 1e30;
    var left = mask;
    while left != 0u {
        let bit = firstTrailingBit(left);
        left &= left - 1u;
        let e = vec3<f32>(edge_point(bit >> 1u));
        let d = triangle_distance2(p, e, vec3<f32>(face_point(triangle_face(bit))), v);
        if d < least && (first == NO_TRIANGLE || is_ridge(bit, first, object)) {
            least = d;
            found = bit;
        }
    }
    if found == NO_TRIANGLE {
        return Plane(vec3<f32>(0.0, 0.0, 1.0), 0.0, found);
    }
    let n = vec3<f32>(normal_out(found, object));
    let unit = n / max(length(n), 1.0);
    let to_plane = vec3<f32>(edge_point(found >> 1u) - centre);
    return Plane(unit, dot(to_plane, unit) / f32(2i * half), found);
}

// Writes one copy. `touched` are the triangles of the voxel in `crack` that touch it; `centre` and `half` are the
// leaf's.
fn write_leaf(copy: Copy, is_crossed: bool, touched: u32, centre: vec3<i32>, half: i32) {
    let object = copy.pair.object;
    var objects = 1u;
    var plane = Plane(vec3<f32>(0.0, 0.0, 1.0), 0.0, NO_TRIANGLE);
    var mine = 0u;
    if touched != 0u {
        objects = side_count(touched);
        mine = touched & triangles_of(object);
        plane = nearest_plane(mine, object, NO_TRIANGLE, centre, half);
    }
    var surface: vec2<u32>;
    var cut = 0u;
    if copy.leaf != NO_LEAF {
        surface = source_surface(copy.leaf);
        cut = source_cut(copy.leaf);
        if mine != 0u && !(cut_is_there(cut) && cut_offset(cut) <= plane.offset) {
            cut = cut_pack(plane.normal, plane.offset);
        }
    } else {
        surface = vec2<u32>(normal_pack(plane.normal), crack_word(plane.offset));
        let second = nearest_plane(mine, object, plane.bit, centre, half);
        if second.bit != NO_TRIANGLE {
            cut = cut_pack(second.normal, second.offset);
        }
    }
    write_out(copy, objects - 1u, surface, cut);
}
