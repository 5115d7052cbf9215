// One level of the descent below the transition level, writing: the pairs of the next level in order, each with the
// triangles that touch its node. One thread takes one pair. Included by kernels that say what a record is and what
// a child's `list_count` is (`child_list`; rough/node says what it means).
//#include fracture/voronoi/descent/writing
//#include fracture/voronoi/surface/rough/descent

fn thread(i: u32) {
    if i >= size.count || (masks[i] & 0xffu) == 0u {
        return;
    }
    let pair = pairs[i];
    let half = octant_half(params.child_level, shape.transition);
    if pair.list_count != 0u {
        load_record(pair.list_first);
    }
    var slot = offsets[i].x;
    for (var c = 0u; c < 8u; c++) {
        if (masks[i] & (1u << c)) == 0u {
            continue;
        }
        var child = Pair(source_below(pair, c), pair.object, (pair.key << 3u) | c, pair.list_first, 0u);
        if pair.list_count != 0u {
            let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
            let touched = touched_triangles(pair.list_count & TRIANGLES, centre, half);
            child.list_count = child_list(pair.object, touched, centre);
        }
        next_pairs[slot] = child;
        slot += 1u;
    }
}
