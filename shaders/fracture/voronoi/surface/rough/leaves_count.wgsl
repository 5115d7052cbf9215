// Domaradzki & Martyn 2018, sec. 5.3: which leaves of each pair's node get a copy in the pair's object.
// One thread takes one pair at the last parent level. A leaf that a crack surface touches is copied to every object on either side of it
// there; another belongs to the object that it lies in, or that wins the vote.
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
    var copies = valid;
    var whole = internal;
    if pair.list_count != 0u {
        copies = 0u;
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
                var state = octant_state(pair.object, touched, centre, is_inside, false);
                if touched == 0u && !is_inside && shape.votes != 0u {
                    state = select(NOTHING, HOLDS, elected_object(centre) == pair.object);
                }
                if state == HOLDS && is_inside {
                    whole |= bit;
                } else if state != NOTHING {
                    copies |= bit;
                }
            }
        }
    }
    write_counts(i, copies, whole);
}
