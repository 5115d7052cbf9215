// One level of the descent below the transition level, counting; at the leaf level, counting copies. One thread
// takes one (object, node) pair and decides each octant: dropped, alive (goes on; a leaf gets a copy), or whole
// (inside the solid and inside the object). Included by kernels that say what a record is (`load_record`,
// `touched_triangles`) and what an object gets of an octant (`octant_gets`: NOTHING, TAKES or HOLDS).
//#include fracture/voronoi/descent/counting
//#include fracture/voronoi/surface/rough/descent

fn thread(i: u32) {
    if i >= size.count {
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
            load_record(pair.list_first);
            let half = octant_half(params.child_level, shape.transition);
            for (var c = 0u; c < 8u; c++) {
                let bit = 1u << c;
                if ((valid | internal) & bit) == 0u {
                    continue;
                }
                let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
                let touched = touched_triangles(pair.list_count & TRIANGLES, centre, half);
                let is_inside = (internal & bit) != 0u;
                let gets = octant_gets(pair.object, touched, centre, is_inside);
                if gets == HOLDS && is_inside {
                    whole |= bit;
                } else if gets != NOTHING {
                    alive |= bit;
                }
            }
        }
    }
    write_counts(i, alive, whole);
}
