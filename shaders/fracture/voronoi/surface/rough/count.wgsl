// Domaradzki & Martyn 2018, sec. 5.3: one level of the descent below the transition level, counting.
// One thread takes one (object, node) pair and decides each octant as fracture/voronoi/descent/count does, by crack surfaces instead of cells.
//#include fracture/voronoi/surface/rough/descent_count
//#include fracture/voronoi/surface/rough/records

fn thread(i: u32) {
    if i >= params.pairs {
        return;
    }
    let pair = pairs[i];
    let octants = octants_of(pair);
    let valid = octants.x;
    let internal = octants.y;
    var alive = valid;
    var whole = internal;
    if pair.list_count != 0u {
        alive = 0u;
        whole = 0u;
        if pair.list_count != DEAD {
            load_voxel(pair.list_first);
            let half = octant_half(params.child_level, shape.transition);
            for (var c = 0u; c < 8u; c++) {
                let bit = 1u << c;
                if ((valid | internal) & bit) == 0u {
                    continue;
                }
                let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
                let touched = touching(pair.list_count & TRIANGLES, centre, half);
                let is_inside = (internal & bit) != 0u;
                let state = octant_state(pair.object, touched, centre, is_inside, shape.votes != 0u);
                if state == HOLDS && is_inside {
                    whole |= bit;
                } else if state != NOTHING {
                    alive |= bit;
                }
            }
        }
    }
    write_counts(i, alive, whole);
}
