// Attributes of the leaves that crack surfaces touch (2018, sec. 5.3: the normal is the triangle's). Lengths in
// units of the transition voxel.
//#include fracture/voronoi/surface/rough/nearest
//#include fracture/voronoi/surface/rough/touch
//#include fracture/voronoi/surface/copy

// A triangle's plane as seen from an object on one of its sides.
struct Facet {
    plane: Plane,
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
fn nearest_facet(mask: u32, object: u32, first: u32, centre: vec3<i32>, half: i32) -> Facet {
    let bits = u32(firstTrailingBit(half)) + 1u;
    let v = voxel_point() - centre;
    var found = NO_TRIANGLE;
    var least = 0xffffffffu;
    var left = mask;
    while left != 0u {
        let bit = firstTrailingBit(left);
        left &= left - 1u;
        let e = edge_point(bit >> 1u) - centre;
        let d = triangle_distance(e, face_point(triangle_face(bit)) - centre, v, bits);
        if d < least && (first == NO_TRIANGLE || is_ridge(bit, first, object)) {
            least = d;
            found = bit;
        }
    }
    if found == NO_TRIANGLE {
        return Facet(plane_up(), found);
    }
    let n = normal_out(found, object);
    return Facet(plane_through(n, dot(n, edge_point(found >> 1u) - centre), bits), found);
}

// Writes one copy. `touched` are the triangles of the voxel in `crack` that touch it; `centre` and `half` are the
// leaf's.
fn write_leaf(copy: Copy, is_crossed: bool, touched: u32, centre: vec3<i32>, half: i32) {
    let object = copy.pair.object;
    var objects = 1u;
    var shown = Facet(plane_up(), NO_TRIANGLE);
    var mine = 0u;
    if touched != 0u {
        objects = side_count(touched);
        mine = touched & triangles_of(object);
        shown = nearest_facet(mine, object, NO_TRIANGLE, centre, half);
    }
    var surface: vec2<u32>;
    var cut = 0u;
    if copy.leaf != NO_LEAF {
        surface = source_surface(copy.leaf);
        cut = source_cut(copy.leaf);
        if mine != 0u && !(cut_is_there(cut) && plane_cut_offset(cut) <= shown.plane.offset) {
            cut = plane_cut_word(shown.plane);
        }
    } else {
        surface = vec2<u32>(plane_normal_word(shown.plane), plane_crack_word(shown.plane));
        let second = nearest_facet(mine, object, shown.bit, centre, half);
        if second.bit != NO_TRIANGLE {
            cut = plane_cut_word(second.plane);
        }
    }
    write_out(copy, objects - 1u, surface, cut);
}
