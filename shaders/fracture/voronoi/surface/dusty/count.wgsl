// One level of the descent below the transition level, counting; at the leaf level, counting copies.
// One thread takes one (object, node) pair and decides each octant: dropped, alive (goes on; a leaf gets a copy), or whole (inside the
// solid and inside the object).
//#include fracture/voronoi/surface/rough/descent_count
//#include fracture/voronoi/surface/dusty/records
//#include fracture/voronoi/surface/dusty/shares

fn thread(i: u32) {
    if i >= params.pairs {
        return;
    }
    let pair = pairs[i];
    let octants = octants_of(pair);
    var alive = octants.x;
    var whole = octants.y;
    if pair.list_count == DEAD {
        alive = 0u;
        whole = 0u;
    } else if pair.list_count != 0u {
        load_dust(pair.list_first);
        let half = octant_half(params.child_level, shape.transition);
        for (var c = 0u; c < 8u; c++) {
            let bit = 1u << c;
            if ((alive | whole) & bit) == 0u {
                continue;
            }
            let centre = octant_centre(pair.key, c, params.child_level, shape.transition);
            let touched = dust_touching(pair.list_count & TRIANGLES, centre, half);
            let gets = dust_gets(pair.object, touched, centre);
            if gets == NOTHING {
                alive &= ~bit;
                whole &= ~bit;
            } else if gets == TAKES && (whole & bit) != 0u {
                alive |= bit;
                whole &= ~bit;
            }
        }
    }
    write_counts(i, alive, whole);
}
