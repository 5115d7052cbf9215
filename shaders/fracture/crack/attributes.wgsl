// Attributes of the leaves that crack surfaces touch (2018, sec. 5.3: the normal is the triangle's). Included by kernels that declare
// source_normals, source_colors, source_cuts, out_place, out_surface, out_cuts and `params` with leaf_base and interior.
// Lengths in units of the transition voxel.
//#include fracture/crack/nearest
//#include fracture/crack/touch
//#include fracture/material

// A triangle's plane as seen from an object on one of its sides.
struct Plane {
    // Out of the object, unit length.
    normal: vec3<f32>,
    // From the leaf's centre along it, voxels.
    offset: f32,
    // The object on the other side.
    beyond: u32,
}

fn crack_plane(bit: u32, object: u32, centre: vec3<i32>, half: i32) -> Plane {
    let edge = bit >> 1u;
    let e = edge_point(edge);
    let n = whole_cross(face_point(triangle_face(bit)) - e, voxel_point() - e);
    // The plane is never parallel to its edge: the normal's part along it tells the low end from the high end.
    let at_high = crack_object(edge_high(edge)) == object;
    let out = vec3<f32>(n * select(1i, -1i, (n[edge_axis(edge)] > 0i) == at_high));
    let unit = out / max(length(out), 1.0);
    let beyond = crack_object(select(edge_high(edge), edge_low(edge), at_high));
    return Plane(unit, dot(vec3<f32>(e - centre), unit) / f32(2i * half), beyond);
}

// The plane of the triangle in `mask` nearest to the centre, lowest bit first, leaving out triangles towards `except`. Without one,
// an offset beyond any that a leaf can have.
fn nearest_plane(mask: u32, object: u32, except: u32, centre: vec3<i32>, half: i32) -> Plane {
    let p = vec3<f32>(centre);
    let v = vec3<f32>(voxel_point());
    var found = Plane(vec3<f32>(0.0, 0.0, 1.0), 2.0, object);
    var least = 1e30;
    var left = mask;
    while left != 0u {
        let bit = firstTrailingBit(left);
        left &= left - 1u;
        let e = vec3<f32>(edge_point(bit >> 1u));
        let d = triangle_distance2(p, e, vec3<f32>(face_point(triangle_face(bit))), v);
        if d < least {
            let plane = crack_plane(bit, object, centre, half);
            if plane.beyond != except {
                least = d;
                found = plane;
            }
        }
    }
    return found;
}

// Writes one copy. `leaf` is the source's, or NO_LEAF; `touched` are the triangles of the voxel in `crack` that touch it.
fn write_copy(slot: u32, object: u32, key: u32, leaf: u32, touched: u32, centre: vec3<i32>, half: i32, point: vec3<i32>) {
    var copies = 1u;
    var plane = Plane(vec3<f32>(0.0, 0.0, 1.0), 0.0, object);
    var mine = 0u;
    if touched != 0u {
        copies = side_count(touched);
        mine = touched & triangles_of(object);
        plane = nearest_plane(mine, object, object, centre, half);
    }
    var surface: vec2<u32>;
    var cut = 0u;
    if leaf != NO_LEAF {
        surface = vec2<u32>(source_normals[params.leaf_base + leaf], source_colors[params.leaf_base + leaf]);
        cut = source_cuts[params.leaf_base + leaf];
        if mine != 0u && !(cut_is_there(cut) && cut_offset(cut) <= plane.offset) {
            cut = cut_pack(plane.normal, plane.offset);
        }
    } else {
        surface = vec2<u32>(normal_pack(plane.normal), color_word(interior_color(point), plane.offset));
        if copies > 2u {
            let second = nearest_plane(mine, object, plane.beyond, centre, half);
            if second.beyond != object {
                cut = cut_pack(second.normal, second.offset);
            }
        }
    }
    out_place[slot] = vec2<u32>(key, leaf | ((copies - 1u) << 28u));
    out_surface[slot] = surface;
    out_cuts[slot] = cut;
}
