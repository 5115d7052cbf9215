// One level of the descent below the transition level, writing: the pairs of the next level in order, each with the triangles that
// touch its node.
// One thread takes one pair; `offsets` says where its children begin.
//#include fracture/voronoi/surface/rough/descent_emit
//#include fracture/voronoi/surface/rough/records

fn thread(i: u32) {
    if i >= params.pairs || (masks[i] & 0xffu) == 0u {
        return;
    }
    let pair = pairs[i];
    let half = octant_half(params.child_level, shape.transition);
    if pair.list_count != 0u {
        load_voxel(pair.list_first);
    }
    var slot = offsets[i].x;
    for (var c = 0u; c < 8u; c++) {
        if (masks[i] & (1u << c)) == 0u {
            continue;
        }
        var child = Pair(source_below(pair, c), pair.object, (pair.key << 3u) | c, pair.list_first, pair.list_count);
        if pair.list_count != 0u {
            let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
            let touched = touching(pair.list_count & TRIANGLES, centre, half);
            // Untouched and kept: wholly the object's, unless its leaves are still to be voted on.
            child.list_count = select(0u, CROSSED | touched, touched != 0u || shape.votes != 0u);
        }
        next_pairs[slot] = child;
        slot += 1u;
    }
}
