// Attributes of the leaves that an object gets of a crossed voxel with gaps. A crack voxel's surface is the plane
// of the nearest triangle of its object's border; where the object only fills up what another's border leaves of
// the voxel, that border seen from the other side. A boundary leaf keeps its own surface and gets that plane as its
// second one, unless the cut of an earlier fracture takes more away. Lengths in units of the transition voxel.
//#include fracture/voronoi/surface/rough/nearest
//#include fracture/voronoi/surface/dusty/shares
//#include fracture/voronoi/surface/copy

// The plane of the nearest triangle in `mask`, lowest bit first.
fn nearest_border(mask: u32, centre: vec3<i32>, half: i32) -> Plane {
    let bits = u32(firstTrailingBit(half)) + 1u;
    var plane = plane_up();
    var nearest = 0xffffffffu;
    var left = mask;
    while left != 0u {
        let t = firstTrailingBit(left);
        left &= left - 1u;
        let a = dust_points[t] - centre;
        let b = dust_points[dust_next(t)] - centre;
        let c = dust_centre(t) - centre;
        let normal = whole_cross(b - a, c - a);
        let distance = triangle_distance(a, b, c, bits);
        if any(normal != vec3<i32>(0i)) && distance < nearest {
            nearest = distance;
            plane = plane_through(normal, dot(normal, a), bits);
        }
    }
    return plane;
}

// Writes one copy. `touched` are the triangles of the voxel in `dust` that touch it, if it lies in a crossed one;
// `centre` and `half` are the leaf's.
fn write_leaf(copy: Copy, is_crossed: bool, touched: u32, centre: vec3<i32>, half: i32) {
    let object = copy.pair.object;
    var code = 0u;
    var is_cut = false;
    var plane = plane_up();
    if is_crossed {
        code = dust_code(touched, centre);
        is_cut = dust_gets(object, touched, centre) == TAKES;
        let rank = rank_of(object);
        let own = touched & ranked_borders[rank];
        if own != 0u {
            plane = nearest_border(own, centre, half);
        } else if is_cut {
            var lower = 0u;
            for (var k = 0u; k < rank; k++) {
                lower |= touched & ranked_borders[k];
            }
            plane = plane_turned(nearest_border(lower, centre, half));
        }
    }
    var surface: vec2<u32>;
    var cut = 0u;
    if copy.leaf != NO_LEAF {
        surface = source_surface(copy.leaf);
        cut = source_cut(copy.leaf);
        if is_cut && !(cut_is_there(cut) && plane_cut_offset(cut) <= plane.offset) {
            cut = plane_cut_word(plane);
        }
    } else {
        surface = vec2<u32>(plane_normal_word(plane), plane_crack_word(plane));
    }
    write_out(copy, code, surface, cut);
}
