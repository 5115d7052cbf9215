// One crossed voxel of the transition level, packed into the words that `records` holds, and its triangles.
// crates/core/src/fracture/voronoi/surface/rough/native.rs draws the numbering of corners, edges, faces and triangles.
//   words 0..4    objects of the corners, 16 bits each
//   words 4..10   offsets of the edge separation points from the edges' low ends, 16 bits each; 0 where the edge is not crossed
//   words 10..16  face separation points: place on the next axis after the face's, and 16 bits up on the one after; 0 where there is none
//   word  16      voxel separation point: x, y, z, 10 bits each
// Lengths are 1/512 of the voxel's edge.

const CRACK_WORDS: u32 = 17u;
const CRACK_EDGE: i32 = 512i;

var<private> crack: array<u32, CRACK_WORDS>;

// WGSL has a cross product for floats only.
fn whole_cross(a: vec3<i32>, b: vec3<i32>) -> vec3<i32> {
    return a.yzx * b.zxy - a.zxy * b.yzx;
}

fn crack_corner(c: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(c & 1u, (c >> 1u) & 1u, c >> 2u));
}

fn crack_object(c: u32) -> u32 {
    return (crack[c >> 1u] >> (16u * (c & 1u))) & 0xffffu;
}

// Whether an object owns a corner.
fn crack_has(object: u32) -> bool {
    var found = false;
    for (var c = 0u; c < 8u; c++) {
        found = found || crack_object(c) == object;
    }
    return found;
}

fn edge_axis(e: u32) -> u32 {
    return e >> 2u;
}

fn edge_low(e: u32) -> u32 {
    let axis = edge_axis(e);
    return ((e & 1u) << ((axis + 1u) % 3u)) | (((e >> 1u) & 1u) << ((axis + 2u) % 3u));
}

fn edge_high(e: u32) -> u32 {
    return edge_low(e) | (1u << edge_axis(e));
}

fn edge_offset(e: u32) -> i32 {
    return i32((crack[4u + (e >> 1u)] >> (16u * (e & 1u))) & 0xffffu);
}

fn edge_point(e: u32) -> vec3<i32> {
    var p = CRACK_EDGE * crack_corner(edge_low(e));
    p[edge_axis(e)] = edge_offset(e);
    return p;
}

fn face_point(f: u32) -> vec3<i32> {
    let axis = f >> 1u;
    var p = vec3<i32>(0i);
    p[axis] = CRACK_EDGE * i32(f & 1u);
    p[(axis + 1u) % 3u] = i32(crack[10u + f] & 0xffffu);
    p[(axis + 2u) % 3u] = i32(crack[10u + f] >> 16u);
    return p;
}

fn voxel_point() -> vec3<i32> {
    let w = crack[16];
    return vec3<i32>(vec3<u32>(w & 0x3ffu, (w >> 10u) & 0x3ffu, w >> 20u));
}

fn triangle_face(bit: u32) -> u32 {
    let e = bit >> 1u;
    let axis = edge_axis(e);
    return select(2u * ((axis + 1u) % 3u) + (e & 1u), 2u * ((axis + 2u) % 3u) + ((e >> 1u) & 1u), (bit & 1u) != 0u);
}

// All triangles of the voxel.
fn crack_triangles() -> u32 {
    var mask = 0u;
    for (var e = 0u; e < 12u; e++) {
        mask |= select(0u, 3u << (2u * e), edge_offset(e) != 0i);
    }
    return mask;
}

// Triangles of which an object is a side.
fn triangles_of(object: u32) -> u32 {
    var mask = 0u;
    for (var e = 0u; e < 12u; e++) {
        let is_side = crack_object(edge_low(e)) == object || crack_object(edge_high(e)) == object;
        mask |= select(0u, 3u << (2u * e), is_side && edge_offset(e) != 0i);
    }
    return mask;
}

// How many objects are sides of the triangles in `mask`.
fn side_count(mask: u32) -> u32 {
    var corners = 0u;
    for (var e = 0u; e < 12u; e++) {
        corners |= select(0u, (1u << edge_low(e)) | (1u << edge_high(e)), ((mask >> (2u * e)) & 3u) != 0u);
    }
    var count = 0u;
    for (var c = 0u; c < 8u; c++) {
        var is_new = ((corners >> c) & 1u) != 0u;
        for (var k = 0u; k < c; k++) {
            is_new = is_new && !(((corners >> k) & 1u) != 0u && crack_object(k) == crack_object(c));
        }
        count += u32(is_new);
    }
    return count;
}
