// Domaradzki & Martyn 2016, sec. 4.4: the fracture boundary set with its attributes.
// One thread takes one copy. A boundary leaf keeps its colour and normal. A crack voxel's surface is the exact
// bisector plane towards the nearest of the other objects' cells of its corners, its second plane stands for the
// rest; fracture/voronoi/surface/paint gives it its colour. A boundary leaf that a crack passes through keeps its
// own surface and gets the crack as its second plane, or the chamfer of several cracks, those of earlier fractures
// among them.
//#include fracture/voronoi/descent/candidates
//#include fracture/voronoi/surface/copy
//#include fracture/voronoi/surface/planar/chamfer
//#include fracture/voronoi/descent/corner_owners

@group(0) @binding(9) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(10) var<storage, read> candidates: array<u32>;

// The corners that a seed owns, a bit each.
fn corners_of(seed: u32) -> u32 {
    var mask = 0u;
    for (var k = 0u; k < 8u; k++) {
        mask |= u32(owners[k] == seed) << k;
    }
    return mask;
}

// The corners that lie in an object of several cells.
fn corners_in(object: i32) -> u32 {
    var mask = 0u;
    for (var k = 0u; k < 8u; k++) {
        mask |= u32(seeds[owners[k]].w == object) << k;
    }
    return mask;
}

fn thread(slot: u32) {
    if slot >= params.copies {
        return;
    }
    let copy = copy_at(slot);
    let pair = copy.pair;
    let edge = node_edge(params.level);
    let low = node_low(copy.key, params.level);
    let centre = low + vec3<i32>(edge / 2i);
    // Corners of other objects.
    var others = 0u;
    if pair.list_count > 0u {
        find_owners(pair, low, edge);
        others = 0xffu;
        if merged {
            others &= ~corners_in(i32(pair.object));
        } else {
            others &= ~corners_of(pair.object);
        }
    }
    // Where two cells of one object meet at the crack, its solid is their union: the cell whose nearest face is
    // farthest shows. Two objects that meet so choose the same plane, unless both have several cells there.
    var s = seeds[pair.object].xyz;
    if merged && others != 0u {
        var farthest = -0x7fffffffi;
        var left = 0xffu & ~others;
        while left != 0u {
            let own = owners[firstTrailingBit(left)];
            left &= ~corners_of(own);
            let candidate = seeds[own].xyz;
            let candidate_d = distance2(centre, candidate);
            var near_face = 0x7fffffffi;
            for (var rest = others; rest != 0u; rest &= rest - 1u) {
                let other = owners[firstTrailingBit(rest)];
                near_face = min(near_face, bisector(candidate, candidate_d, seeds[other].xyz, centre, edge).offset);
            }
            if near_face > farthest {
                farthest = near_face;
                s = candidate;
            }
        }
    }
    let d = distance2(centre, s);
    let is_boundary = copy.leaf != NO_LEAF;
    var surface = vec2<u32>(0u);
    var plane = plane_up();
    var cut = 0u;
    var cuts: Cuts;
    cuts.count = 0u;
    if is_boundary {
        surface = source_surface(copy.leaf);
        plane = plane_of_surface(surface);
        cut = source_cut(copy.leaf);
        if others != 0u && cut_is_there(cut) {
            cuts_add(&cuts, plane_of_cut(cut));
        }
    }
    var other_objects = 0u;
    var left = others;
    var uncounted = others;
    while left != 0u {
        let k = firstTrailingBit(left);
        let other = owners[k];
        left &= ~corners_of(other);
        other_objects += (uncounted >> k) & 1u;
        if merged {
            uncounted &= ~corners_in(seeds[other].w);
        }
        cuts_add(&cuts, bisector(s, d, seeds[other].xyz, centre, edge));
    }
    if !is_boundary {
        if others != 0u {
            // The nearest crack is the leaf's own surface.
            let nearest = cuts_nearest(&cuts);
            plane = cuts.planes[nearest];
            cuts.count -= 1u;
            cuts.planes[nearest] = cuts.planes[cuts.count];
        }
        surface = vec2<u32>(plane_normal_word(plane), plane_crack_word(plane));
    }
    if others != 0u {
        cut = cuts_word(&cuts, plane);
    }
    write_out(copy, other_objects, surface, cut);
}
