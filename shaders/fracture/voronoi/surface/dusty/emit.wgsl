// One level of the descent below the transition level, writing the pairs of the next level, in order, each with the triangles that touch
// it; with none where it is wholly the object's.
// One thread takes one pair; `offsets` says where its children begin.
//#include fracture/voronoi/surface/rough/descent_emit
//#include fracture/voronoi/surface/dusty/records
//#include fracture/voronoi/surface/dusty/shares

fn thread(i: u32) {
    if i >= params.pairs || (masks[i] & 0xffu) == 0u {
        return;
    }
    let pair = pairs[i];
    let half = octant_half(params.child_level, shape.transition);
    if pair.list_count != 0u {
        load_dust(pair.list_first);
    }
    var slot = offsets[i].x;
    for (var c = 0u; c < 8u; c++) {
        if (masks[i] & (1u << c)) == 0u {
            continue;
        }
        var child = Pair(source_below(pair, c), pair.object, (pair.key << 3u) | c, pair.list_first, 0u);
        if pair.list_count != 0u {
            let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
            let touched = dust_touching(pair.list_count & TRIANGLES, centre, half);
            if dust_gets(pair.object, touched, centre) == TAKES {
                child.list_count = CROSSED | touched;
            }
        }
        next_pairs[slot] = child;
        slot += 1u;
    }
}
