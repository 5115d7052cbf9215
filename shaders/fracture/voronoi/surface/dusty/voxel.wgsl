// One crossed voxel of the transition level with a gap between its objects (2018, sec. 5.3), packed into the words
// that `records` holds. Triangle 2 * edge + end belongs to the object at that end of a crossed edge: from its point
// there to its point on the next crossed edge round the same loop, and to the loop's centre; seen from outside the
// object, counter-clockwise.
//   words 0..4    objects of the corners, 16 bits each
//   words 4..16   per edge where the solid of the low end's object ends, and 10 bits up where that of the high end's begins; 0 where the
//                 edge is not crossed
//   words 16..24  centres of the loops: x, y, z, 10 bits each
//   words 24..30  per triangle a byte: the triangle that follows in its loop (5 bits) and the number of the loop (3 bits)
// Lengths are 1/512 of the voxel's edge.
//#include fracture/voronoi/surface/rough/voxel

const DUST_WORDS: u32 = 30u;

var<private> dust: array<u32, DUST_WORDS>;

fn dust_object(c: u32) -> u32 {
    return (dust[c >> 1u] >> (16u * (c & 1u))) & 0xffffu;
}

fn dust_crossed(e: u32) -> bool {
    return dust[4u + e] != 0u;
}

fn triangle_corner(t: u32) -> u32 {
    return select(edge_low(t >> 1u), edge_high(t >> 1u), (t & 1u) != 0u);
}

// Where a triangle begins.
fn dust_point(t: u32) -> vec3<i32> {
    let e = t >> 1u;
    var p = CRACK_EDGE * crack_corner(edge_low(e));
    p[edge_axis(e)] = i32((dust[4u + e] >> (10u * (t & 1u))) & 0x3ffu);
    return p;
}

fn dust_link(t: u32) -> u32 {
    return (dust[24u + (t >> 2u)] >> (8u * (t & 3u))) & 0xffu;
}

fn dust_next(t: u32) -> u32 {
    return dust_link(t) & 31u;
}

fn dust_centre(t: u32) -> vec3<i32> {
    let w = dust[16u + (dust_link(t) >> 5u)];
    return vec3<i32>(vec3<u32>(w & 0x3ffu, (w >> 10u) & 0x3ffu, w >> 20u));
}

// All triangles of the voxel, a bit each.
fn dust_triangles() -> u32 {
    var mask = 0u;
    for (var e = 0u; e < 12u; e++) {
        mask |= select(0u, 3u << (2u * e), dust_crossed(e));
    }
    return mask;
}

const NO_OBJECT: u32 = 0xffffffffu;

// The smallest object that is not below `least`, or NO_OBJECT.
fn object_from(least: u32) -> u32 {
    var found = NO_OBJECT;
    for (var c = 0u; c < 8u; c++) {
        let object = dust_object(c);
        found = select(found, object, object >= least && object < found);
    }
    return found;
}

// What the tests ask for again and again, filled in by dust_unpack: the points, and the objects in ascending order
// with their triangles.
var<private> dust_points: array<vec3<i32>, 24>;
var<private> ranked_objects: array<u32, 8>;
var<private> ranked_borders: array<u32, 8>;
var<private> ranks: u32;

fn dust_unpack() {
    for (var t = 0u; t < 24u; t++) {
        dust_points[t] = dust_point(t);
    }
    ranks = 0u;
    for (var object = object_from(0u); object != NO_OBJECT; object = object_from(object + 1u)) {
        var mask = 0u;
        for (var t = 0u; t < 24u; t++) {
            mask |= select(0u, 1u << t, dust_crossed(t >> 1u) && dust_object(triangle_corner(t)) == object);
        }
        ranked_objects[ranks] = object;
        ranked_borders[ranks] = mask;
        ranks += 1u;
    }
}

// The place of an object among the ranked ones.
fn rank_of(object: u32) -> u32 {
    var k = 0u;
    while k < ranks && ranked_objects[k] != object {
        k += 1u;
    }
    return k;
}
