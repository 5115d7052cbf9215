// Attributes of the leaves that an object gets of a crossed voxel with gaps. A crack voxel's surface is the plane
// of the nearest triangle of its object's border; where the object only fills up what another's border leaves of
// the voxel, that border seen from the other side. A boundary leaf keeps its own surface and gets that plane as its
// second one, unless the cut of an earlier fracture takes more away. Lengths in units of the transition voxel.
//#include fracture/voronoi/surface/rough/nearest
//#include fracture/voronoi/surface/dusty/shares
//#include fracture/voronoi/surface/copy

// The plane of the nearest triangle in `mask`: normal, and signed distance from the centre, leaf voxels.
fn nearest_border(mask: u32, centre: vec3<i32>, leaf_edge: f32) -> vec4<f32> {
    var plane = vec4<f32>(0.0, 0.0, 1.0, 0.0);
    var nearest = 1e30;
    var left = mask;
    while left != 0u {
        let t = firstTrailingBit(left);
        left &= left - 1u;
        let a = vec3<f32>(dust_points[t] - centre);
        let b = vec3<f32>(dust_points[dust_next(t)] - centre);
        let c = vec3<f32>(dust_centre(t) - centre);
        let normal = cross(b - a, c - a);
        let size = length(normal);
        let distance = triangle_distance2(vec3<f32>(0.0), a, b, c);
        if size > 0.0 && distance < nearest {
            nearest = distance;
            plane = vec4<f32>(normal, dot(normal, a) / leaf_edge) / size;
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
    // Normal out of the object, distance in voxels.
    var plane = vec4<f32>(0.0, 0.0, 1.0, 0.0);
    if is_crossed {
        code = dust_code(touched, centre);
        is_cut = dust_gets(object, touched, centre) == TAKES;
        let rank = rank_of(object);
        let own = touched & ranked_borders[rank];
        if own != 0u {
            plane = nearest_border(own, centre, f32(2i * half));
        } else if is_cut {
            var lower = 0u;
            for (var k = 0u; k < rank; k++) {
                lower |= touched & ranked_borders[k];
            }
            plane = -nearest_border(lower, centre, f32(2i * half));
        }
    }
    var surface: vec2<u32>;
    var cut = 0u;
    if copy.leaf != NO_LEAF {
        surface = source_surface(copy.leaf);
        cut = source_cut(copy.leaf);
        if is_cut && !(cut_is_there(cut) && cut_offset(cut) <= plane.w) {
            cut = cut_pack(plane.xyz, plane.w);
        }
    } else {
        surface = vec2<u32>(normal_pack(plane.xyz), crack_word(plane.w));
    }
    write_out(copy, code, surface, cut);
}
